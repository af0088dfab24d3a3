"""Shrinkage (the default): least squares where it has evidence, uniform where it has none.

The answer is U + w (LS - U) with w = max(0, 1 - se^2 / (LS - U)^2); the interval is least squares'.
"""

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Estimate, Evidence, interval, within


def weight(difference: NDArray[np.float64], std_error: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return w for the difference LS - U and the standard error of LS; 0 where LS says nothing (NaN)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - (std_error / difference) ** 2
    return np.nan_to_num(np.maximum(found, 0.0), nan=0.0)


def estimate(evidence: Evidence) -> Estimate:
    """Answer with the mixture of both; the interval is least squares'."""
    difference = evidence.least_squares - evidence.uniform
    step = np.where(np.isnan(difference), 0.0, weight(difference, evidence.std_error) * difference)
    start = np.where(np.isnan(evidence.uniform), evidence.least_squares, evidence.uniform)
    low, high = interval(evidence)
    return Estimate(within(start + step, evidence), evidence.std_error, low, high)
