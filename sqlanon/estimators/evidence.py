"""What a release says of answers, and what an estimator makes of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NORMAL_QUANTILE = 1.959963984540054  # 97.5 % of the normal distribution


@dataclass(frozen=True)
class Evidence:
    """Hold what is known of one aggregate, arrays of one shape (cells x asked sets), NaN for NULL.

    uniform, least_squares: the two estimates, not cut. std_error: of least squares, given the microdata.
    least, most: bounds that the release proves. exact: where the release determines the answer.
    """

    uniform: Array
    least_squares: Array
    std_error: Array
    least: Array
    most: Array
    exact: NDArray[np.bool_]


@dataclass(frozen=True)
class Estimate:
    """Hold an aggregate's values, standard errors and 95 % intervals, shaped as the evidence."""

    value: Array
    std_error: Array
    low: Array
    high: Array


def within(values: Array, evidence: Evidence) -> Array:
    """Cut `values` to the bounds of the evidence; NaN stays."""
    return np.minimum(np.maximum(values, np.fmax(evidence.least, -np.inf)), np.fmin(evidence.most, np.inf))


def interval(evidence: Evidence) -> tuple[Array, Array]:
    """Return the normal 95 % interval of least squares, cut to the bounds; NaN where there is none."""
    half = NORMAL_QUANTILE * evidence.std_error
    return within(evidence.least_squares - half, evidence), within(evidence.least_squares + half, evidence)
