"""What a release says of answers, and what an estimator makes of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NORMAL_QUANTILE = 1.959963984540054  # 97.5 % of the normal distribution


@dataclass(frozen=True)
class Evidence:
    """Hold what is known of one aggregate, arrays of one shape (cells x asked sets), NaN for NULL.

    plain: what the release says at first sight, biased towards independence (of groups, uniform; of randomized
    values, the published figure). unbiased: the estimate that takes the bias out. Neither is cut.
    std_error: of `unbiased`, given the microdata. least, most: bounds that the release proves.
    exact: where the release determines the answer. growth, curve: the variance, were the answer x, is
    std_error^2 + growth (x - unbiased) + curve (x - unbiased)^2. jump: by how much one row can move the answer.
    less, more: by how much rows that the release leaves out may move the answer down (<= 0) and up (>= 0).
    shrunk: the estimate of a method that weighs the two in a way of its own, NaN where it has none.
    """

    plain: Array
    unbiased: Array
    std_error: Array
    least: Array
    most: Array
    exact: NDArray[np.bool_]
    growth: Array | float = 0.0
    curve: Array | float = 0.0
    jump: Array | float = 0.0
    less: Array | float = 0.0
    more: Array | float = 0.0
    shrunk: Array | None = None


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
    """Return the 95 % score interval of the unbiased estimate, cut to the bounds; NaN where there is none.

    It holds the x with (x - unbiased)^2 <= z^2 (se^2 + growth (x - unbiased) + curve (x - unbiased)^2); of no growth
    and no curve, plus or minus z se. Of a ratio this is Fieller's: as wide as the bounds where z^2 curve >= 1.
    Half a jump more on both sides corrects for figures that move in steps; what is left out comes after the cut.
    """
    level = NORMAL_QUANTILE**2
    shift, lean = level * evidence.growth / 2, 1 - level * np.asarray(evidence.curve)
    bent = np.where(lean > 0, lean, 1.0)
    half = np.sqrt(np.maximum(shift**2 + bent * level * evidence.std_error**2, 0.0)) + np.asarray(evidence.jump) / 2
    wide = (lean <= 0) & ~(np.isnan(evidence.least) & np.isnan(evidence.most))
    low = np.where(wide, -np.inf, evidence.unbiased + (shift - half) / bent)
    high = np.where(wide, np.inf, evidence.unbiased + (shift + half) / bent)
    return within(low, evidence) + evidence.less, within(high, evidence) + evidence.more


def unbiased(evidence: Evidence) -> Estimate:
    """Answer with the unbiased estimate and its interval; with the plain one where there is no such answer."""
    low, high = interval(evidence)
    value = np.where(np.isnan(evidence.unbiased), evidence.plain, evidence.unbiased)
    return Estimate(within(value, evidence), evidence.std_error, low, high)


def without_error(evidence: Evidence) -> Estimate:
    """Answer with the plain estimate; std_error, low and high are NULL (NaN) except where it is exact."""
    exact = evidence.exact
    value = within(evidence.plain, evidence)
    return Estimate(value, np.where(exact, 0.0, np.nan), *(np.where(exact, value, np.nan),) * 2)
