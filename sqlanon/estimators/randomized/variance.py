"""The variance of answers from a randomized release: from the rows' draws, the orders of values, departed rows.

Axes as in `sums`. The variance is that of the closed form, whichever estimator answers.
"""

from collections.abc import Sequence

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.channel import Array, Joint, Weighted
from sqlanon.estimators.closed_form import ClosedForm
from sqlanon.estimators.randomized.sums import Sums

LARGEST_DERIVED = 200_000_000  # cells x sets x values for which counts are held to be random, too


class Variance:
    """The variances of one query's aggregates, C x J.

    measured: the aggregate. parts: the linear sums that it is made of; part: its only one. closed: its closed form, C x
    J.
    """

    def __init__(self, sums: Sums, closed: Joint, repeated: tuple[Sequence[Joint], float], departed: float) -> None:
        """Take sums, and what `Recovery` is given of the same names."""
        self._sums, self._closed, self._repeated, self._departed = sums, closed, repeated, departed

    def of(self, sums: Sums) -> "Variance":
        """Return the variances of other sums of the same release."""
        return Variance(sums, self._closed, self._repeated, self._departed)

    def of_draws(
        self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array
    ) -> tuple[Array, Array, Array]:
        """Return the variance of the closed form, C x J, by how much it grows with the answer, and a row's jump."""
        none = np.zeros_like(closed)
        if not self._sums.counts:
            return none, none, none
        if self._sums.case_count > 1:
            return self._variance_bound(parts, measured, closed), none, none
        if measured.number is None and not measured.function.is_ratio and len(self._sums.counts) == 1:
            work = closed.size * len(self._sums.mass)
            if work <= LARGEST_DERIVED:
                return self._count_variance(parts[0], measured)
        pairs = [(0, 0)] if len(parts) == 1 else [(0, 0), (0, 1), (1, 1)]
        terms = [self._term(parts[place], parts[other_place], measured) for place, other_place in pairs]
        jump = np.ptp(self._closed.pulled(parts[0].weights[0]), axis=1) if measured.function.counts else 0.0
        return self._of_ratio(terms, parts, measured, closed), none, none + jump

    def _term(self, part: Weighted, other_part: Weighted, measured: LinearAggregate) -> Array:
        """Return the covariance of two linear estimates, C x J, the channel taken as known."""
        solved = self._closed.solved(self._sums.published(measured, part.degree + other_part.degree, 0))
        spread = self._closed.spread(self._closed.pulled(part.weights[0]), self._closed.pulled(other_part.weights[0]))
        covariance = solved @ spread.T
        if part is not other_part:
            return np.asarray(covariance)
        total = solved.sum(axis=1)[:, None]
        return np.clip(covariance, total * spread.min(axis=1), total * spread.max(axis=1))

    def _of_ratio(
        self, terms: Sequence[Array], parts: Sequence[Weighted], measured: LinearAggregate, closed: Array
    ) -> Array:
        if len(terms) == 1:
            return np.maximum(terms[0], 0.0)
        bottom = self._sums.summed(parts[1], measured, self._closed)
        total = np.maximum(terms[0] - 2 * closed * terms[1] + closed**2 * terms[2], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom > 0, total / bottom**2, np.nan)

    def _count_variance(self, part: Weighted, measured: LinearAggregate) -> tuple[Array, Array, Array]:
        """Hold the published count f' in q to be random as well: each row of a value w adds u_v φ + d_v, where
        u = w/D and d = -w dq/df (Φ - x)/D.
        """
        (channel,) = self._closed.channels
        assert isinstance(channel, ClosedForm)
        hits = self._sums.published(measured, 0, 0)
        total, everyone = hits.sum(axis=1), channel.rows
        solved = channel.solved(hits)
        steps = channel.slope * np.clip(total[:, None] - solved, 0, total[:, None]) / channel.difference
        variance, growth, jump = np.zeros((3, len(hits), self._sums.set_count))
        for value_set, weights in enumerate(part.weights[0]):
            u = weights / channel.difference
            d = -weights * steps
            inside, outside = self._closed.spread(u + d, u + d), self._closed.spread(d, d)
            inside_variance = np.clip(
                (solved * inside).sum(axis=1), total * inside.min(axis=1), total * inside.max(axis=1)
            )
            others, outside_rows = ((channel.counts - solved) * outside).sum(axis=1), everyone - total
            rest = np.clip(others, outside_rows * outside.min(axis=1), outside_rows * outside.max(axis=1))
            variance[:, value_set] = np.maximum(inside_variance, 0) + np.maximum(rest, 0)
            if measured.function.counts:
                sign = -1 if part.base[0][value_set] else 1
                growth[:, value_set] = sign * np.ptp(inside, axis=1) * (weights != 0).any()
                jump[:, value_set] = np.ptp(u + d, axis=1) * (total > 0)
        return variance, growth, jump

    def of_orders(self, part: Weighted, measured: LinearAggregate) -> Array:
        """Return the variance that comes of the one order of values that each block has drawn, C x J.

        With T of that order the closed form's expectation is <x, T h>; its spread over orders is not in the rows' own.
        """
        channels, factor = self._repeated
        published = self._sums.published(measured, part.degree, 0)
        if len(channels) < 2:
            return np.zeros((len(published), self._sums.set_count))
        total = np.abs(published).sum(axis=1, keepdims=True)
        counts = np.clip(self._closed.solved(published), -total * (published.min(initial=0.0) < 0), total)
        counts = counts * np.divide(published.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True) + 1e-300)
        pulled = self._closed.pulled(part.weights[0])
        means = np.stack([counts @ channel.expected(pulled).T for channel in channels])
        return np.asarray(means.var(axis=0, ddof=1) * factor)

    def of_departures(self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array) -> Array | float:
        """Return the variance that comes of rows that have left decoy groups, C x J; `ClosedForm.company` says why."""
        if not self._departed or len(self._sums.counts) != 1:
            return 0.0
        (channel,) = self._closed.channels
        assert isinstance(channel, ClosedForm)
        pulled = np.zeros((2, len(self._sums.rows), self._sums.set_count, len(self._sums.mass)))
        for turn, part in enumerate(parts):
            for case, weights in part.weights.items():
                published = self._sums.published(measured, part.degree, case)
                others = published.sum(axis=1, keepdims=True) - channel.solved(published)
                pulled[turn] += weights * others[:, None, :]
        company = channel.company(self._departed)
        if len(parts) == 1:
            return np.asarray(pulled[0] ** 2 @ company)
        squares = [(pulled[0] - closed[..., None] * pulled[1]) ** 2 @ company, self._squared(parts[1], measured)]
        return measured.function.estimate(squares)

    def _squared(self, part: Weighted, measured: LinearAggregate) -> Array:
        return self._sums.summed(part, measured, self._closed) ** 2

    def _variance_bound(self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array) -> Array:
        """Bound the variance of a mixed condition from the variances of its cases.

        A row publishes one value, in one case: what two cases add is negatively correlated where both add
        positive numbers of one column, so that their variances bound that of the sum; else standard errors add.
        """
        bounds = [self._case_bound(part, measured) for part in parts]
        if len(parts) == 1:
            return bounds[0]
        bottom = self._sums.summed(parts[1], measured, self._closed)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = (np.sqrt(bounds[0]) + np.abs(closed) * np.sqrt(bounds[1])) ** 2
            return np.where(bottom > 0, top / bottom**2, np.nan)

    def _case_bound(self, part: Weighted, measured: LinearAggregate) -> Array:
        variances, deviations = np.zeros((2, len(self._sums.rows), self._sums.set_count))
        apart = len(self._sums.counts) == 1 and part.degree == 0
        for case, weights in part.weights.items():
            apart &= bool((weights + part.base[case][:, None] > -1e-9).all())
            pulled = self._closed.pulled(weights)
            spread = self._closed.spread(pulled, pulled)
            counts = self._closed.solved(self._sums.published(measured, 2 * part.degree, case))
            mass = counts.sum(axis=1)[:, None]
            case_variance = np.clip(counts @ spread.T, mass * spread.min(axis=1), mass * spread.max(axis=1))
            variances += np.maximum(case_variance, 0)
            deviations += np.sqrt(np.maximum(case_variance, 0))
        return variances if apart else deviations**2
