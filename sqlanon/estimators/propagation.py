"""The errors of an expression over several estimates: the delta method, and its interval over all they may be at once.

Axes: n answers, k estimates that the expression f reads, P points at which f is evaluated.

std_error² = g_1² + g_2² + 2 ρ g_1 g_2 of two estimates with g_i = se_i ∂f/∂x_i and ρ their correlation, the slope taken
across one standard error to each side, so that steps (round) count by what they come to; where ρ is not known, and of
more estimates, it is at most Σ |g_i|. The 95 % interval is the range of f over all that the estimates may be at once:
points of an ellipse about their centres of which D, the distances to the ends of their own intervals, are the axes if
ρ = 0; where it is not known, and of more estimates, a line along which all of them raise f. For a single estimate that
is f over its interval, for a sum the delta method's, for a ratio Fieller's.

A linear estimate is Σ_v a_v m_v with m_v the mean of what is measured over v's rows. Its error is that of the m_v, so
that the covariance of two pairs what they measure on a row with the directions of their a.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray

DIRECTIONS = 48  # points on the rim, beside those where f is steepest
SIDES = np.array([[1.0, 1.0], [1.0, -1.0]])  # the ellipse's axes: two estimates rise together, or one against the other
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
    """Return two estimates' correlation: `top` their covariance, `one`, `other` their variances.

    0 without error, NaN where an error is not known (infinite).
    """
    with np.errstate(invalid="ignore"):
        size = np.sqrt(np.maximum(one, 0.0) * np.maximum(other, 0.0))
    told = np.where(np.isfinite(size), 0.0, np.nan)
    return np.asarray(np.clip(np.divide(top, size, out=told, where=(size > 0) & np.isfinite(size)), -1.0, 1.0))


@dataclass(frozen=True)
class Estimates:
    """Hold k estimates of n answers, each n x k, and the correlation of two (n): NaN where it is not followed."""

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


def propagate(estimates: Estimates, slopes: Array) -> Array:
    """Return the standard error of f, n, of `slopes` g (n x k)."""
    if slopes.shape[1] != 2:
        return np.asarray(np.abs(slopes).sum(axis=1))
    with np.errstate(invalid="ignore"):  # slopes are endless where a divisor may be 0
        together = 2 * _complete(estimates, slopes) * slopes.prod(axis=1)
        return np.asarray(np.sqrt(np.maximum((slopes**2).sum(axis=1) + together, 0.0)))


def region_points(estimates: Estimates, slopes: Array) -> Array:
    """Return points that `estimates` may be at once, n x P x k; slopes: g (n x k).

    Of two the ellipse's centre, its rim, where f is steepest as well, and half way between.
    """
    if slopes.shape[1] == 2:
        rho, angle = _complete(estimates, slopes), np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
        axes = np.sqrt(np.maximum(np.stack([1 + rho, 1 - rho], axis=1), 0.0) / 2)
        steepest = axes * (slopes @ SIDES)
        length = np.linalg.norm(steepest, axis=1, keepdims=True)
        steepest = np.divide(steepest, length, out=np.zeros_like(steepest), where=(length > 0) & np.isfinite(length))
        steepest = steepest[:, None]
        rim = np.broadcast_to(np.stack([np.cos(angle), np.sin(angle)], axis=1), (len(slopes), DIRECTIONS, 2))
        rim = np.concatenate([steepest, -steepest, rim], axis=1)
        along = np.concatenate([np.zeros((len(slopes), 1, 2)), rim, rim / 2], axis=1) * axes[:, None]
        share = along @ SIDES
    else:
        share = np.linspace(-1.0, 1.0, ALONG)[None, :, None] * np.where(slopes < 0, -1.0, 1.0)[:, None]
    below, above = estimates.centre - estimates.low, estimates.high - estimates.centre
    moved = np.where(share > 0, share * above[:, None, :], share * below[:, None, :])
    return np.asarray(estimates.centre[:, None, :] + moved)


def _complete(estimates: Estimates, slopes: Array) -> Array:
    """Return the correlation of two estimates, n; where it is not known, what makes the error of `slopes` largest."""
    return np.where(
        np.isnan(estimates.correlation), np.where(slopes.prod(axis=1) < 0, -1.0, 1.0), estimates.correlation
    )
