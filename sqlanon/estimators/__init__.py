"""Estimators of aggregates from QIT and ST, by name: pure functions from evidence to estimates."""

from collections.abc import Callable

from sqlanon.estimators import least_squares, shrinkage, uniform
from sqlanon.estimators.evidence import Estimate, Evidence

ESTIMATORS: dict[str, Callable[[Evidence], Estimate]] = {
    "shrinkage": shrinkage.estimate,
    "least_squares": least_squares.estimate,
    "uniform": uniform.estimate,
}
