"""Name the estimators; their arrays are imported when an answer needs one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from sqlanon.errors import UsageError
from sqlanon.removed import removed

if TYPE_CHECKING:
    from sqlanon.estimators.evidence import Estimate, Evidence

# The first is the default.
OF_GROUPS = ("ridge", "uniform")
OF_RANDOMIZED = ("shrinkage", "closed_form", "matrix", "iterative")
UNIFORM_ALONE = ("uniform",)
ESTIMATOR_NAMES = tuple(dict.fromkeys((*OF_GROUPS, *OF_RANDOMIZED, *UNIFORM_ALONE)))


def choose_estimator(
    names: Sequence[str], method: str, name: str | None
) -> "tuple[str, Callable[[Evidence], Estimate]]":
    """Return one of the estimators of a form with its name; the first where none is named.

    names: those of the form, its first choice first. method: what made the release. Raises UsageError where releases of
    this form are not answered by it.
    """
    estimator = names[0] if name is None else name
    if estimator not in names:
        raise UsageError(
            removed("estimator", estimator)
            or f"no estimator {estimator!r} for a release of {method}; choose one of {', '.join(names)}"
        )
    return estimator, _bound_errors(load_estimator(estimator))


def _bound_errors(estimate: "Callable[[Evidence], Estimate]") -> "Callable[[Evidence], Estimate]":
    """Return an estimator whose standard errors are no larger than what the release allows.

    Answers are cut to bounds, and whatever lies between two bounds deviates by at most half their distance. (Intervals
    and weights are made of the standard error before the cut.)
    """
    import numpy as np

    def bounded(evidence: "Evidence") -> "Estimate":
        answer = estimate(evidence)
        with np.errstate(invalid="ignore"):  # bounds may both be infinite
            half = (np.asarray(evidence.most) - np.asarray(evidence.least)) / 2
        error = np.where(half < answer.std_error, half, answer.std_error)
        return replace(answer, std_error=error)

    return bounded


def load_estimator(name: str) -> "Callable[[Evidence], Estimate]":
    """Return the function of the estimator `name`; numpy is imported with it, and scipy where it needs that."""
    estimate: Callable[[Evidence], Estimate] = import_module(f"sqlanon.estimators.{name}").estimate
    return estimate
