"""Shrinkage (the default): the unbiased estimate where it has evidence, the plain one where it has none.

The answer is P + w (U - P) with w = max(0, 1 - se^2 / (U - P)^2); the interval is the unbiased one's. U and P are
least squares and uniform for groups, the closed form and the published figure for randomized values. A standard
error wider than all that the release allows is no evidence either. Counts and sums of randomized values are weighed
against what their margins say instead, all values of a condition together (`empirical_bayes`).
"""

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Estimate, Evidence, interval, within


def weight(difference: NDArray[np.float64], std_error: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return w for the difference U - P and the standard error of U; 0 where U says nothing (NaN)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - (std_error / difference) ** 2
    return np.nan_to_num(np.maximum(found, 0.0), nan=0.0)


def estimate(evidence: Evidence) -> Estimate:
    """Answer with the mixture of both; the interval is the unbiased one's, drawn out to a mixture of other making."""
    difference = evidence.unbiased - evidence.plain
    known = ~np.isnan(difference) & ~(evidence.std_error > evidence.most - evidence.least)
    step = np.where(known, weight(difference, evidence.std_error) * difference, 0.0)
    start = np.where(np.isnan(evidence.plain), evidence.unbiased, evidence.plain)
    low, high = interval(evidence)
    value = within(start + step, evidence)
    if evidence.shrunk is not None:
        value = np.where(np.isnan(evidence.shrunk), value, within(evidence.shrunk, evidence))
        low, high = np.minimum(low, value), np.maximum(high, value)
    return Estimate(value, evidence.std_error, low, high)
