"""Shrinkage (the default): U + w (LS - U), unbiased where there is evidence, the plain estimate where there is none.

w = max(0, 1 - se² / (LS - U)²), and the interval is the unbiased estimate's. LS and U are least squares and uniform
for groups, the closed form and the published figure for randomized values. Counts and sums of randomized values are
weighed against what their margins say instead, all values of a condition together (`empirical_bayes`), wherever their
channels can be inverted.
"""

import numpy as np

from sqlanon.estimators.evidence import Array, Estimate, Evidence, bound_error, clip_to_bounds, score_interval


def weigh_difference(difference: Array, std_error: Array) -> Array:
    """Return w for the `difference` LS - U and `std_error`, that of LS (one shape); 0 where LS says nothing (NaN)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = 1 - (std_error / difference) ** 2
    return np.nan_to_num(np.maximum(weight, 0.0), nan=0.0)


def estimate(evidence: Evidence) -> Estimate:
    """Return the mixture of both, or that of another making (`shrunk` of the evidence) where there is one.

    The interval is the unbiased estimate's, drawn out to hold such an answer.
    """
    difference = evidence.unbiased - evidence.plain
    # A standard error wider than all that the release allows is no evidence either.
    usable = ~np.isnan(difference) & ~(evidence.std_error > evidence.most - evidence.least)
    step = np.where(usable, weigh_difference(difference, evidence.std_error) * difference, 0.0)
    start = np.where(np.isnan(evidence.plain), evidence.unbiased, evidence.plain)
    low, high = score_interval(evidence)
    value = clip_to_bounds(start + step, evidence)
    if evidence.shrunk is not None:
        value = np.where(np.isnan(evidence.shrunk), value, clip_to_bounds(evidence.shrunk, evidence))
        low, high = np.minimum(low, value), np.maximum(high, value)
    return Estimate(value, bound_error(evidence), low, high, np.where(usable, evidence.unbiased, value))
