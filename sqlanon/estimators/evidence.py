"""The evidence that a release holds about answers, and what every estimator, a function by its name, makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Joined = TypeVar("Joined")  # a dataclass of arrays
NORMAL_QUANTILE = 1.959963984540054  # 97.5 % of the normal distribution


@dataclass(frozen=True)
class Evidence:
    """Hold what is known of one aggregate, arrays of one shape (cells x value sets), NaN for NULL.

    plain: the estimate biased towards independence (of groups, uniform; of randomized values, the published figure).
    unbiased: the estimate without that bias. Neither is cut to the bounds.
    std_error: of `unbiased`, given the microdata. least, most: bounds that the release proves.
    exact: where the release determines the answer. growth, curve: were the true answer x, the variance would be
    std_error^2 + growth (x - unbiased) + curve (x - unbiased)^2. jump: by how much one row can move the answer.
    left_out_low, left_out_high: by how much rows that the release leaves out may move it, <= 0 and >= 0.
    shrunk: the estimate of a method that weighs the two in a way of its own, NaN where it has none.
    """

    plain: Array
    unbiased: Array
    std_error: Array
    least: Array
    most: Array
    exact: BoolArray
    growth: Array | float = 0.0
    curve: Array | float = 0.0
    jump: Array | float = 0.0
    left_out_low: Array | float = 0.0
    left_out_high: Array | float = 0.0
    shrunk: Array | None = None


@dataclass(frozen=True)
class Estimate:
    """Hold an aggregate's values, standard errors and 95 % intervals, shaped as the evidence.

    centre: what the interval was drawn around before it was cut to bounds.
    """

    value: Array
    std_error: Array
    low: Array
    high: Array
    centre: Array


def join_fields(found: Sequence[Joined], axis: int) -> Joined:
    """Return what was found of some things each, in fields that are arrays, as one of all, along an axis."""
    fields = zip(*(vars(one).values() for one in found), strict=True)
    return type(found[0])(*(np.concatenate(field, axis=axis) for field in fields))


def clip_to_bounds(values: Array, evidence: Evidence) -> Array:
    """Return `values`, shaped as the evidence, cut to its bounds; NaN stays."""
    return np.minimum(np.maximum(values, np.fmax(evidence.least, -np.inf)), np.fmin(evidence.most, np.inf))


def score_interval(evidence: Evidence) -> tuple[Array, Array]:
    """Return low and high of the evidence's 95 % score interval, cut to its bounds; NaN where nothing is unbiased.

    {x: (x - unbiased)^2 <= z^2 (std_error^2 + growth (x - unbiased) + curve (x - unbiased)^2)}, which without growth
    and curve is unbiased ± z std_error. Of a ratio it is Fieller's interval: all that the bounds allow where
    z^2 curve >= 1. Half a jump is added at both ends, for figures that move in steps.
    """
    level = NORMAL_QUANTILE**2
    # With d = x - unbiased the ends solve (1 - z² curve) d² - z² growth d - z² se² = 0, a quadratic of leading
    # coefficient `leading` and half its linear one `shift`: d = (shift ± √(shift² + leading z² se²)) / leading.
    shift, leading = level * evidence.growth / 2, 1 - level * np.asarray(evidence.curve)
    divisor = np.where(leading > 0, leading, 1.0)
    half = np.sqrt(np.maximum(shift**2 + divisor * level * evidence.std_error**2, 0.0)) + np.asarray(evidence.jump) / 2
    # Where the leading coefficient is not positive, the parabola opens downwards and every x far away belongs to it.
    endless = (leading <= 0) & ~(np.isnan(evidence.least) & np.isnan(evidence.most))
    low = np.where(endless, -np.inf, evidence.unbiased + (shift - half) / divisor)
    high = np.where(endless, np.inf, evidence.unbiased + (shift + half) / divisor)
    # The bounds hold for the rows that are published: what is left out comes after the cut.
    return clip_to_bounds(low, evidence) + evidence.left_out_low, clip_to_bounds(
        high, evidence
    ) + evidence.left_out_high


def bound_error(evidence: Evidence) -> Array:
    """Return the standard error, at most half of the distance of the bounds: no distribution between them has more."""
    # fmin passes over NaN, which stands where no bound is known
    largest = np.maximum(evidence.most - evidence.least, 0.0) / 2
    return np.where(np.isnan(evidence.std_error), np.nan, np.fmin(evidence.std_error, largest))


def closed_form(evidence: Evidence) -> Estimate:
    """Return the unbiased estimate of the evidence and its interval; the plain one where there is none."""
    low, high = score_interval(evidence)
    value = np.where(np.isnan(evidence.unbiased), evidence.plain, evidence.unbiased)
    return Estimate(clip_to_bounds(value, evidence), bound_error(evidence), low, high, value)


def uniform(evidence: Evidence) -> Estimate:
    """Return the plain estimate: of groups the paper's: every row of one may own each of its values.

    It pulls every answer towards independence; its error is bias: std_error, low and high are NULL (NaN) except where
    the evidence is exact.
    """
    exact = evidence.exact
    value = clip_to_bounds(evidence.plain, evidence)
    low = high = np.where(exact, value, np.nan)
    return Estimate(value, np.where(exact, 0.0, np.nan), low, high, value)


iterative = uniform  # of counts that are guessed in turns, which have no standard error either


def shrinkage(evidence: Evidence) -> Estimate:
    """Return U + w (LS - U), unbiased where there is evidence, plain where there is none; or what is `shrunk`.

    w = max(0, 1 - se² / (LS - U)²), LS the unbiased estimate and U the plain one. Answers about randomized
    values are weighed against what everybody has instead (`recovery.py`). The interval
    is the unbiased estimate's, drawn out to hold such an answer.
    """
    difference = evidence.unbiased - evidence.plain
    # A standard error wider than all that the release allows is no evidence either.
    usable = ~np.isnan(difference) & ~(evidence.std_error > evidence.most - evidence.least)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.nan_to_num(np.maximum(1 - (evidence.std_error / difference) ** 2, 0.0), nan=0.0)
    step = np.where(usable, weight * difference, 0.0)
    start = np.where(np.isnan(evidence.plain), evidence.unbiased, evidence.plain)
    low, high = score_interval(evidence)
    value = clip_to_bounds(start + step, evidence)
    if evidence.shrunk is not None:
        value = np.where(np.isnan(evidence.shrunk), value, clip_to_bounds(evidence.shrunk, evidence))
        low, high = np.minimum(low, value), np.maximum(high, value)
    return Estimate(value, bound_error(evidence), low, high, np.where(usable, evidence.unbiased, value))


def ridge(evidence: Evidence) -> Estimate:
    """Return the posterior mean and its 95 % interval; the evidence's plain estimate where there is no such answer.

    Of a ratio A/R, both less what the plain estimate makes of them, the value d is told for which E (A - d R)² is
    least: the plain one and a r / (r² + Var R) more, a and r the posterior means. Where the rows that count are many
    that is a/r; where they are hardly known, a/r is mostly noise. The interval stays that of a/r (Fieller's).
    """
    answer = closed_form(evidence)
    curve = np.asarray(evidence.curve)  # Var R / r²
    drawn = clip_to_bounds(evidence.plain + (evidence.unbiased - evidence.plain) / (1 + curve), evidence)
    return replace(answer, value=np.where((curve > 0) & ~np.isnan(drawn), drawn, answer.value))
