"""Name the estimators of each method; their arrays are imported when an answer needs one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.errors import UsageError

if TYPE_CHECKING:
    from sqlanon.estimators.evidence import Estimate, Evidence

# The first of a method is its default. Groups of several classes make one system of normal equations biased, so that
# robust has no least_squares, and nothing that is made of it.
ESTIMATORS: dict[str, tuple[str, ...]] = {
    "anatomy": ("shrinkage", "least_squares", "ridge", "uniform"),
    "robust": ("ridge", "uniform"),
    "splu": ("shrinkage", "closed_form", "matrix", "iterative"),
    "uncertain": ("uniform",),
}
ESTIMATOR_NAMES = tuple(dict.fromkeys(name for names in ESTIMATORS.values() for name in names))


def choose_estimator(method: str, name: str | None) -> "tuple[str, Callable[[Evidence], Estimate]]":
    """Return a method's estimator with its name; the default where none is named.

    Raises UsageError where releases of this method are not answered by it.
    """
    names = ESTIMATORS[method]
    chosen = names[0] if name is None else name
    if chosen not in names:
        raise UsageError(f"no estimator {chosen!r} for a release of {method}; choose one of {', '.join(names)}")
    return chosen, load_estimators()[chosen]


def load_estimators() -> "dict[str, Callable[[Evidence], Estimate]]":
    """Import every estimator and return them by name; numpy and scipy come with them."""
    from sqlanon.estimators import closed_form, iterative, least_squares, matrix, ridge, shrinkage, uniform

    modules = (closed_form, iterative, least_squares, matrix, ridge, shrinkage, uniform)
    return {module.__name__.rpartition(".")[2]: module.estimate for module in modules}
