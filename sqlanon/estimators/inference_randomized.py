"""From the published figures of a randomized release to evidence. Arrays only, no engine.

Axes: C cells, K cases, V combinations of published values of the columns read, J asked sets, as in `moments`.
Every aggregate is a sum of w_v x_v, or the ratio of two, x_v the true figure of the hits that have value v.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.channel import Array, Channel, Joint, Weighted
from sqlanon.estimators.closed_form import ClosedForm
from sqlanon.estimators.empirical_bayes.answers import Shrunk, shrunk
from sqlanon.estimators.empirical_bayes.whole import Whole
from sqlanon.estimators.evidence import NORMAL_QUANTILE, Evidence
from sqlanon.estimators.moments import LinearAggregate, Moments, SelectedValues, bound_answer, is_empty
from sqlanon.estimators.propagation import Pair, correlate

MUCH_BIAS = 0.5  # standard errors of systematic part from which on the matrix answers by default
LARGEST_DERIVED = 200_000_000  # cells x sets x values for which counts are held to be random, too


class Recovery:
    """Turn the published moments of one query into evidence, aggregate by aggregate."""

    def __init__(
        self,
        moments: Moments,
        asked: SelectedValues,
        counts: Sequence[Array],
        closed: Joint,
        matrix: Joint | None,
        repeated: tuple[Sequence[Joint], float],
        unseen: float,
        whole: Whole | None = None,
        departed: float = 0.0,
    ) -> None:
        """Take moments (published figures under `uniform`), asked values, and the channels of the columns read.

        counts: f' of each column's values. repeated: the matrix's channels as single orders of the values in their
        blocks would have them, and the factor of their variance. unseen: the count up to which a value may well have
        gone unpublished. whole: the release's own figures that shrinkage weighs a condition against; None: it has none.
        departed: the share of the decoy groups' rows that have left.
        """
        self.moments, self.asked, self.counts, self.closed, self.matrix = moments, asked, counts, closed, matrix
        self.unseen, self.repeated, self.whole, self.departed = unseen, repeated, whole, departed
        self.rows = moments.count("uniform")
        self.case_count = self.rows.shape[1]
        self.values = int(np.prod(closed.shape))
        mass = np.ones(1)
        for own in counts:
            mass = np.outer(mass, own / own.sum()).ravel()
        self.mass = mass  # how likely each combination is, by the published counts

    def narrow(self, chosen: NDArray[np.bool_]) -> "Recovery":
        """Return the same figures for some of the asked values (n)."""
        if chosen.all():
            return self
        narrowed = copy(self)
        narrowed.asked = self.asked.narrow(chosen)
        return narrowed

    def correlate(self, pair: Pair, other: "Recovery") -> Array | None:
        """Return the correlation of the errors of a pair of sums, C x J, as the draws of the rows make it.

        None where it is not followed: between cases.
        """
        if self.case_count > 1 or not self.counts:
            return None
        weighted = [
            recovery._weighted(one.degree, one.weights, one)
            for recovery, one in ((self, pair.one), (other, pair.other))
        ]
        pulled = [self.closed.pulled(one.weights[0]) for one in weighted]
        terms = []
        for turn, (first, second) in enumerate([(0, 1), (0, 0), (1, 1)]):
            published = self.moments.columns[pair.turned(turn).product_column("uniform")][:, 0]
            terms.append(self.closed.solved(published) @ self.closed.spread(pulled[first], pulled[second]).T)
        return correlate(*terms)

    # -- evidence ------------------------------------------------------------------------------

    def evidence(self, measured: LinearAggregate, estimator: str) -> Evidence:
        """Return what is known of one aggregate, C x J; the unbiased estimate is the estimator's own."""
        least, most = bound_answer(self.moments, self.asked, measured)
        parts = [self._weighted(degree, weights, measured) for degree, weights in measured.parts()]
        plain = _ratio([self._summed(part, measured, None) for part in parts])
        closed = _ratio([self._summed(part, measured, self.closed) for part in parts])
        variance, growth, jump = self._variance(parts, measured, closed)
        variance = variance + self._departure_variance(parts, measured, closed)
        orders = self._company_variance(parts[0], measured) if len(parts) == self.case_count == 1 else 0.0
        unbiased, error = self._corrected(parts, measured, closed, variance, orders, estimator)
        found = Evidence(plain, unbiased, error, least, most, np.zeros(plain.shape, dtype=bool), growth, jump=jump)
        if estimator == "shrinkage" and self.whole is not None and len(parts) == 1:
            found = self._weighed(found, shrunk(self.whole, self.moments, measured, parts[0]), parts[0], measured)
        return self._bounded(found, measured)

    def _weighed(self, found: Evidence, posterior: Shrunk, part: Weighted, measured: LinearAggregate) -> Evidence:
        """Add the answer weighed against the margins; of several columns, its interval takes the unbiased one's place.

        The prior's variance of a count grows with the count, and so does that of the interval.
        """
        found = replace(found, shrunk=posterior.value)
        if len(self.counts) < 2 or np.isnan(posterior.variance).any():
            return found
        error, growth = np.sqrt(posterior.variance), np.zeros_like(posterior.variance)
        if measured.function == "count":
            most_asked = part.base[0] > 0
            smaller = np.where(most_asked, self.rows[:, :1] - posterior.wide, posterior.wide)
            rate = np.divide(posterior.variance, np.maximum(smaller, error), out=growth, where=error > 0)
            growth = np.where(most_asked, -rate, rate)
        return replace(found, unbiased=posterior.wide, std_error=error, growth=growth, jump=0.0)

    def _bounded(self, found: Evidence, measured: LinearAggregate) -> Evidence:
        """Leave room for values never published, and NULL where no row is counted."""
        least, most, error = self._unseen(measured, found.plain, found.least, found.most, found.std_error)
        gone = is_empty(self.moments, self.asked, measured) & (measured.function != "count")
        if measured.function != "count":
            gone |= np.isnan(found.plain)
        plain, unbiased, error, least, most = (
            np.where(gone, np.nan, array) for array in (found.plain, found.unbiased, error, least, most)
        )
        exact = np.full(plain.shape, not self.counts) & ~gone
        value = None if found.shrunk is None else np.where(gone, np.nan, found.shrunk)
        return Evidence(plain, unbiased, error, least, most, exact, found.growth, jump=found.jump, shrunk=value)

    def highest(self, measured: LinearAggregate) -> Array | None:
        """Return the largest value that a count should take, J: the published count f' of what is asked."""
        if measured.function != "count" or len(self.counts) != 1 or self.case_count > 1:
            return None
        found = np.zeros(self.asked.set_count)
        np.add.at(found, self.asked.set, self.counts[0][self.asked.code])
        return found

    def _corrected(
        self,
        parts: Sequence[Weighted],
        measured: LinearAggregate,
        closed: Array,
        variance: Array,
        orders: Array | float,
        estimator: str,
    ) -> tuple[Array, Array]:
        """Choose between closed form and matrix; b = closed - matrix is the closed form's systematic part.

        variance: of the rows' draws. orders: of the orders that values stand in, which no estimator sees.
        """
        if self.matrix is None or not self.counts:
            return closed, np.sqrt(variance)
        solved = _ratio([self._summed(part, measured, self.matrix) for part in parts])
        if estimator == "matrix":
            return solved, np.sqrt(variance + orders)
        bias = np.nan_to_num(closed - solved)
        if estimator == "shrinkage":
            closed = np.where(np.abs(bias) > MUCH_BIAS * np.sqrt(variance), solved, closed)
        return closed, np.sqrt(variance + orders + bias**2)

    def _unseen(
        self, measured: LinearAggregate, plain: Array, least: Array, most: Array, error: Array
    ) -> tuple[Array, Array, Array]:
        """Leave room in counts for values that were never published: about 3 rows."""
        if measured.function != "count" or not self.counts:
            return least, most, error
        hits = np.minimum(self.rows.max(axis=1), self.unseen)[:, None]
        most = np.maximum(most, np.where(plain > 0, 0, hits))
        least = np.maximum(0, np.where(least > 0, least - hits, least))
        return least, most, np.where(error == 0, hits / NORMAL_QUANTILE, error)

    # -- linear estimates ----------------------------------------------------------------------

    def _weighted(self, degree: int, weights: Array, measured: LinearAggregate) -> Weighted:
        """Write the weights as J x V for each case, less a base weight whose part of the answer is exact."""
        found: dict[int, Array] = {}
        bases: dict[int, Array] = {}
        for case in range(self.case_count):
            inside = self.asked.case == case
            full = np.zeros((self.asked.set_count, self.values))
            np.add.at(full, (self.asked.set[inside], self.asked.code[inside]), weights[inside])
            base = self._base(full, weights)
            found[case], bases[case] = full - base[:, None], base
        return Weighted(degree, found, bases)

    def _base(self, full: Array, weights: Array) -> Array:
        """Return the weight that is taken of every hit: that of most rows, or the mean of unequal weights."""
        if not self.counts:
            return full[:, 0]
        used = weights[weights != 0]
        if self.case_count > 1 or (len(used) and np.ptp(used) > 0):
            return np.asarray(full @ self.mass)
        return np.where((full != 0) @ self.mass > 0.5, used[0] if len(used) else 0.0, 0.0)

    def _published(self, measured: LinearAggregate, degree: int, case: int) -> Array:
        return self.moments.columns[measured.column(degree, "uniform")][:, case]

    def _summed(self, part: Weighted, measured: LinearAggregate, channel: Channel | None) -> Array:
        """Return base Φ + <w, x> with x solved by a channel, or taken as published: C x J."""
        total = np.zeros((len(self.rows), self.asked.set_count))
        for case, weights in part.weights.items():
            published = self._published(measured, part.degree, case)
            solved = published if channel is None else channel.solved(published)
            total += solved @ weights.T + published.sum(axis=1)[:, None] * part.base[case]
        return total

    # -- the variance --------------------------------------------------------------------------

    def _variance(
        self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array
    ) -> tuple[Array, Array, Array]:
        """Return the variance of the closed form, C x J, by how much it grows with the answer, and a row's jump."""
        none = np.zeros_like(closed)
        if not self.counts:
            return none, none, none
        if self.case_count > 1:
            return self._variance_bound(parts, measured, closed), none, none
        if measured.number is None and measured.function != "avg" and len(self.counts) == 1:
            work = closed.size * self.values
            if work <= LARGEST_DERIVED:
                return self._count_variance(parts[0], measured)
        pairs = [(0, 0)] if len(parts) == 1 else [(0, 0), (0, 1), (1, 1)]
        terms = [self._term(parts[one], parts[other], measured) for one, other in pairs]
        jump = np.ptp(self.closed.pulled(parts[0].weights[0]), axis=1) if measured.function == "count" else 0.0
        return self._of_ratio(terms, parts, measured, closed), none, none + jump

    def _term(self, one: Weighted, other: Weighted, measured: LinearAggregate) -> Array:
        """Return the covariance of two linear estimates, C x J, the channel taken as known."""
        solved = self.closed.solved(self._published(measured, one.degree + other.degree, 0))
        spread = self.closed.spread(self.closed.pulled(one.weights[0]), self.closed.pulled(other.weights[0]))
        found = solved @ spread.T
        if one is not other:
            return np.asarray(found)
        total = solved.sum(axis=1)[:, None]
        return np.clip(found, total * spread.min(axis=1), total * spread.max(axis=1))

    def _of_ratio(
        self, terms: Sequence[Array], parts: Sequence[Weighted], measured: LinearAggregate, closed: Array
    ) -> Array:
        if len(terms) == 1:
            return np.maximum(terms[0], 0.0)
        bottom = self._summed(parts[1], measured, self.closed)
        total = np.maximum(terms[0] - 2 * closed * terms[1] + closed**2 * terms[2], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom > 0, total / bottom**2, np.nan)

    def _count_variance(self, part: Weighted, measured: LinearAggregate) -> tuple[Array, Array, Array]:
        """Hold the published count f' in q to be random as well: each row of a value w adds u_v φ + d_v, where
        u = w/D and d = -w dq/df (Φ - x)/D.
        """
        (channel,) = self.closed.channels
        assert isinstance(channel, ClosedForm)
        hits = self._published(measured, 0, 0)
        total, everyone = hits.sum(axis=1), channel.rows
        solved = channel.solved(hits)
        steps = channel.slope * np.clip(total[:, None] - solved, 0, total[:, None]) / channel.difference
        variance, growth, jump = np.zeros((3, len(hits), self.asked.set_count))
        for chosen, weights in enumerate(part.weights[0]):
            u = weights / channel.difference
            d = -weights * steps
            inside, outside = self.closed.spread(u + d, u + d), self.closed.spread(d, d)
            own = np.clip((solved * inside).sum(axis=1), total * inside.min(axis=1), total * inside.max(axis=1))
            others, left = ((channel.counts - solved) * outside).sum(axis=1), everyone - total
            rest = np.clip(others, left * outside.min(axis=1), left * outside.max(axis=1))
            variance[:, chosen] = np.maximum(own, 0) + np.maximum(rest, 0)
            if measured.function == "count":
                sign = -1 if part.base[0][chosen] else 1
                growth[:, chosen] = sign * np.ptp(inside, axis=1) * (weights != 0).any()
                jump[:, chosen] = np.ptp(u + d, axis=1) * (total > 0)
        return variance, growth, jump

    def _company_variance(self, part: Weighted, measured: LinearAggregate) -> Array:
        """Return the variance that comes of the one order of values that each block has drawn, C x J.

        With T of that order the closed form's expectation is <x, T h>; its spread over orders is not in the rows' own.
        """
        channels, factor = self.repeated
        published = self._published(measured, part.degree, 0)
        if len(channels) < 2:
            return np.zeros((len(published), self.asked.set_count))
        total = np.abs(published).sum(axis=1, keepdims=True)
        figures = np.clip(self.closed.solved(published), -total * (published.min() < 0), total)
        figures = figures * np.divide(published.sum(axis=1, keepdims=True), figures.sum(axis=1, keepdims=True) + 1e-300)
        pulled = self.closed.pulled(part.weights[0])
        means = np.stack([figures @ channel.expected(pulled).T for channel in channels])
        return np.asarray(means.var(axis=0, ddof=1) * factor)

    def _departure_variance(self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array) -> Array | float:
        """Return the variance that comes of rows that have left decoy groups, C x J; `ClosedForm.company` says why."""
        if not self.departed or len(self.counts) != 1:
            return 0.0
        (channel,) = self.closed.channels
        assert isinstance(channel, ClosedForm)
        pulled = np.zeros((2, len(self.rows), self.asked.set_count, self.values))
        for turn, part in enumerate(parts):
            for case, weights in part.weights.items():
                published = self._published(measured, part.degree, case)
                others = published.sum(axis=1, keepdims=True) - channel.solved(published)
                pulled[turn] += weights * others[:, None, :]
        company = channel.company(self.departed)
        if len(parts) == 1:
            return np.asarray(pulled[0] ** 2 @ company)
        return _ratio([(pulled[0] - closed[..., None] * pulled[1]) ** 2 @ company, self._squared(parts[1], measured)])

    def _squared(self, part: Weighted, measured: LinearAggregate) -> Array:
        return self._summed(part, measured, self.closed) ** 2

    def _variance_bound(self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array) -> Array:
        """Bound the variance of a mixed condition from the variances of its cases.

        A row publishes one value, in one case: what two cases add is negatively correlated where both add
        positive numbers of one column, so that their variances bound that of the sum; else standard errors add.
        """
        found = [self._case_bound(part, measured) for part in parts]
        if len(parts) == 1:
            return found[0]
        bottom = self._summed(parts[1], measured, self.closed)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = (np.sqrt(found[0]) + np.abs(closed) * np.sqrt(found[1])) ** 2
            return np.where(bottom > 0, top / bottom**2, np.nan)

    def _case_bound(self, part: Weighted, measured: LinearAggregate) -> Array:
        variances, deviations = np.zeros((2, len(self.rows), self.asked.set_count))
        apart = len(self.counts) == 1 and part.degree == 0
        for case, weights in part.weights.items():
            apart &= bool((weights + part.base[case][:, None] > -1e-9).all())
            pulled = self.closed.pulled(weights)
            spread = self.closed.spread(pulled, pulled)
            figures = self.closed.solved(self._published(measured, 2 * part.degree, case))
            mass = figures.sum(axis=1)[:, None]
            own = np.clip(figures @ spread.T, mass * spread.min(axis=1), mass * spread.max(axis=1))
            variances += np.maximum(own, 0)
            deviations += np.sqrt(np.maximum(own, 0))
        return variances if apart else deviations**2


def _ratio(parts: Sequence[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(parts[1] > 0, parts[0] / parts[1], np.nan)


def states(figures: Array, whole: Array, shape: Sequence[int], codes: NDArray[np.int64]) -> Array:
    """Return the paper's published states of each cell and asked combination: (C n) x 2 x 2 ….

    figures: the hits by published values, C x V. whole: the release's rows by published values, V. codes: n.
    The first axis of a state: 0 where the quasi part fails; the others: 1 where the value is the asked one.
    """
    both = np.stack([whole - figures, figures], axis=1)
    found = both.reshape(*both.shape[:2], *shape)
    for axis in range(2, 2 + len(shape)):
        rest = found.sum(axis=axis, keepdims=True) - found
        found = np.stack([rest, found], axis=-1)
    places = np.unravel_index(codes, tuple(shape))
    picked = np.moveaxis(found, (0, 1), (len(shape), len(shape) + 1))[places]  # n x C x 2 x 2 …
    return picked.swapaxes(0, 1).reshape(-1, *([2] * (1 + len(shape))))
