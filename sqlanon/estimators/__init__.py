"""Estimators of aggregates by method and name: pure functions from evidence to estimates."""

from collections.abc import Callable

from sqlanon.errors import UsageError
from sqlanon.estimators import closed_form, iterative, least_squares, matrix, ridge, shrinkage, uniform
from sqlanon.estimators.evidence import Estimate, Evidence

# the first of a method is its default
ESTIMATORS: dict[str, dict[str, Callable[[Evidence], Estimate]]] = {
    "anatomy": {
        "shrinkage": shrinkage.estimate,
        "least_squares": least_squares.estimate,
        "ridge": ridge.estimate,
        "uniform": uniform.estimate,
    },
    # one system for groups of several classes is biased: no least_squares, and nothing that is made of it
    "robust": {
        "ridge": ridge.estimate,
        "uniform": uniform.estimate,
    },
    "splu": {
        "shrinkage": shrinkage.estimate,
        "closed_form": closed_form.estimate,
        "matrix": matrix.estimate,
        "iterative": iterative.estimate,
    },
    "uncertain": {"uniform": uniform.estimate},
}
NAMES = tuple(dict.fromkeys(name for own in ESTIMATORS.values() for name in own))


def estimator_of(method: str, name: str | None) -> tuple[str, Callable[[Evidence], Estimate]]:
    """Return a method's estimator with its name; the default where none is named.

    Raises UsageError where releases of this method are not answered by it.
    """
    own = ESTIMATORS[method]
    chosen = next(iter(own)) if name is None else name
    if chosen not in own:
        raise UsageError(f"no estimator {chosen!r} for a release of {method}; choose one of {', '.join(own)}")
    return chosen, own[chosen]
