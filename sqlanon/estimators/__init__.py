"""Name the estimators of each form of release; their arrays are imported when an answer needs one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.errors import UsageError

if TYPE_CHECKING:
    from sqlanon.estimators.evidence import Estimate, Evidence

# The first of a form is its default. Groups of several classes make one system of normal equations biased, so that
# they have no least_squares, and nothing that is made of it.
ESTIMATORS: dict[str, tuple[str, ...]] = {
    "qit_st": ("shrinkage", "least_squares", "ridge", "uniform"),
    "class_qit_st": ("ridge", "uniform"),
    "randomized": ("shrinkage", "closed_form", "matrix", "iterative"),
    "uncertain": ("uniform",),
}
ESTIMATOR_NAMES = tuple(dict.fromkeys(name for names in ESTIMATORS.values() for name in names))


def choose_estimator(form: str, method: str, name: str | None) -> "tuple[str, Callable[[Evidence], Estimate]]":
    """Return an estimator of a form with its name; the default where none is named.

    method: what made the release. Raises UsageError where releases of this form are not answered by it.
    """
    names = ESTIMATORS[form]
    chosen = names[0] if name is None else name
    if chosen not in names:
        raise UsageError(f"no estimator {chosen!r} for a release of {method}; choose one of {', '.join(names)}")
    return chosen, load_estimators()[chosen]


def load_estimators() -> "dict[str, Callable[[Evidence], Estimate]]":
    """Import every estimator and return them by name; numpy and scipy come with them."""
    from sqlanon.estimators import closed_form, iterative, least_squares, matrix, ridge, shrinkage, uniform

    modules = (closed_form, iterative, least_squares, matrix, ridge, shrinkage, uniform)
    return {module.__name__.rpartition(".")[2]: module.estimate for module in modules}
