"""The errors of an expression over several estimates: the delta method, and its interval over all they may be at once.

Axes: n answers, k estimates that the expression f reads, P points at which f is evaluated.

std_error² = g R g with R the estimates' correlations and g_i = se_i ∂f/∂x_i, the slope taken across one standard error
to each side, so that steps (round) count by what they come to. The 95 % interval is the range of f over the estimates'
95 % region {c + D L u: |u| <= 1}, L L = R, D the distances from the centre to the ends of their own intervals: for a
single estimate that is f over its interval, for a sum the delta method's, for a ratio Fieller's.

A linear estimate is Σ_v a_v m_v with m_v the mean of what is measured over v's rows. Its error is that of the m_v, so
that the covariance of two pairs what they measure on a row with the directions of their a.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray

DIRECTIONS = 48  # points on the region's surface, beside those where f is steepest
ALONG = 25  # points along one interval


@dataclass(frozen=True)
class Pair:
    """Two sums over rows, and the number of the product of what they measure; None: it is no measure of its own."""

    one: LinearAggregate
    other: LinearAggregate
    product: int | None

    def turned(self, turn: int) -> "Pair":
        """Return the pair itself (`turn` 0), or each of its sums with itself (1, 2)."""
        if turn == 0:
            return self
        single = (self.one, self.other)[turn - 1]
        return Pair(single, single, None)

    @property
    def product_column(self) -> str:
        """Return the moments' `uniform` column of what the two measure, multiplied."""
        if self.product is not None:
            return f"sum_uniform_{self.product}"
        if self.one.number is None:
            return self.other.column(self.other.degree)
        return self.one.column(2 if self.one.number == self.other.number else 1)


def correlate(top: Array, one: Array, other: Array) -> Array:
    """Return two estimates' correlation: `top` their covariance, `one`, `other` their variances; 0 without error."""
    size = np.sqrt(np.maximum(one, 0.0) * np.maximum(other, 0.0))
    return np.asarray(np.clip(np.divide(top, size, out=np.zeros_like(top), where=size > 0), -1.0, 1.0))


@dataclass(frozen=True)
class Estimates:
    """Hold k estimates of n answers, each n x k, and their correlations n x k x k (NaN where they are not known)."""

    value: Array
    centre: Array
    std_error: Array
    low: Array
    high: Array
    correlation: Array

    def tell_known(self) -> BoolArray:
        """Return which answers have errors and intervals of all that they read and that is not NULL, n."""
        known = np.isfinite(self.value + self.centre + self.std_error + self.low + self.high)
        return np.asarray((known | np.isnan(self.value)).all(axis=1))

    def choose(self, answers: BoolArray) -> "Estimates":
        """Return the estimates of some answers."""
        return Estimates(*(array[answers] for array in vars(self).values()))


def step_points(estimates: Estimates) -> Array:
    """Return points one standard error below and above in each of `estimates`, others at their values: n x 2k x k."""
    count = estimates.value.shape[1]
    points = np.repeat(estimates.value[:, None, :], 2 * count, axis=1)
    for place in range(count):
        for turn, sign in enumerate((-1, 1)):
            moved = estimates.value[:, place] + sign * estimates.std_error[:, place]
            # beyond its interval an estimate may be what f has no value for
            points[:, 2 * place + turn, place] = np.clip(moved, estimates.low[:, place], estimates.high[:, place])
    return points


def measure_slopes(estimates: Estimates, points: Array, values: Array) -> Array:
    """Return g, n x k, from `values`: f (n x 2k) at `points`, the `step_points` of the `estimates`."""
    count = estimates.value.shape[1]
    slopes = np.zeros(estimates.value.shape)
    for place in range(count):
        width = points[:, 2 * place + 1, place] - points[:, 2 * place, place]
        rise = values[:, 2 * place + 1] - values[:, 2 * place]
        np.divide(estimates.std_error[:, place] * rise, width, out=slopes[:, place], where=width > 0)
    return slopes


def complete_correlation(estimates: Estimates, slopes: Array) -> Array:
    """Return the correlations of `estimates`, n x k x k; where not known, what makes the error of `slopes` largest."""
    sign = np.where(slopes < 0, -1.0, 1.0)
    return np.where(np.isnan(estimates.correlation), sign[:, :, None] * sign[:, None, :], estimates.correlation)


def propagate(slopes: Array, correlation: Array) -> Array:
    """Return the standard error of f, n: √(g R g) of `slopes` g (n x k) and `correlation` R (n x k x k)."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("ni,nij,nj->n", slopes, correlation, slopes), 0.0)))


def region_points(estimates: Estimates, slopes: Array, correlation: Array) -> Array:
    """Return points of the 95 % region, n x P x k: its centre, its surface, and half way between.

    estimates: whose centre and ends they are made of. slopes, correlation: g and R, as `propagate` takes them.
    """
    below, above = estimates.centre - estimates.low, estimates.high - estimates.centre
    if estimates.value.shape[1] == 1:
        share = np.linspace(-1.0, 1.0, ALONG)[None, :, None]
    else:
        eigen, vectors = np.linalg.eigh(correlation)
        root = vectors * np.sqrt(np.maximum(eigen, 0.0))[:, None, :]
        # f is steepest along Lᵀ g
        steepest = np.einsum("nij,ni->nj", root, slopes)
        length = np.linalg.norm(steepest, axis=1, keepdims=True)
        steepest = np.divide(steepest, length, out=np.zeros_like(steepest), where=length > 0)
        fixed = np.broadcast_to(_directions(slopes.shape[1]), (len(slopes), DIRECTIONS, slopes.shape[1]))
        surface = np.concatenate([steepest[:, None], -steepest[:, None], fixed], axis=1)
        ball = np.concatenate([np.zeros((len(slopes), 1, slopes.shape[1])), surface, surface / 2], axis=1)
        share = np.einsum("nij,npj->npi", root, ball)
    moved = np.where(share > 0, share * above[:, None, :], share * below[:, None, :])
    return np.asarray(estimates.centre[:, None, :] + moved)


def _directions(count: int) -> Array:
    """Return unit vectors spread over the sphere of `count` dimensions, the same in every run."""
    if count == 2:
        angle = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    drawn = np.random.default_rng(count).standard_normal((DIRECTIONS, count))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
