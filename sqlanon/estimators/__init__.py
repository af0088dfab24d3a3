"""Name the estimators; their arrays are imported when an answer needs one."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from sqlanon.errors import UsageError
from sqlanon.removed import removed

if TYPE_CHECKING:
    from sqlanon.estimators.evidence import Estimate, Evidence

# The first is the default.
OF_GROUPS = ("ridge", "uniform")
OF_PEOPLE = ("shrinkage", "uniform")
OF_RANDOMIZED = ("shrinkage", "closed_form", "iterative")
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
    return estimator, getattr(import_module("sqlanon.estimators.evidence"), estimator)
