"""Aggregates of a randomized release as sums of w_v x_v, x_v the true figure of the hits that have value v.

Axes: C cells, K cases, V combinations of published values of the columns read, J asked sets, as in `moments`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import combinations_with_replacement

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.channels import Joint
from sqlanon.estimators.evidence import Array
from sqlanon.estimators.moments import Moments, SelectedValues

ENDS = ((np.min, -np.inf), (np.max, np.inf))
LEAST_SPREAD = 1e-9  # of scores, and of a squared slope


@dataclass(frozen=True)
class Weighted:
    """One linear part of an aggregate: Σ_k <w_k, x_k> + base Φ.

    degree: the power of the measured expression. weights: by case, J x V. base: by case, J.
    """

    degree: int
    weights: dict[int, Array]
    base: dict[int, Array]


@dataclass(frozen=True)
class Sums:
    """Write aggregates as weights, and sum what is published, or solved by a channel, by them; their variances, C x J.

    moments: published figures under `uniform`. counts: f' of each column read. closed: their closed forms. departed:
    the share of the decoy groups' rows that have left. derived: whether f' is held to be random. Of variances, measured
    is the aggregate, parts the linear sums that it is made of (part: its only one), and closed its closed form, C x J.
    The variance is that of the closed form, whichever estimator answers: of the rows' draws, and of rows that have
    departed.
    """

    moments: Moments
    asked: SelectedValues
    counts: Sequence[Array]
    closed: Joint
    departed: float
    derived: bool

    @cached_property
    def rows(self) -> Array:
        """Return the hits, C x K."""
        return self.moments.count("uniform")

    @property
    def case_count(self) -> int:
        """Return K."""
        return int(self.rows.shape[1])

    @cached_property
    def mass(self) -> Array:
        """Return how likely each combination is, by the published counts."""
        return reduce(lambda mass, count: np.outer(mass, count / count.sum()).ravel(), self.counts, np.ones(1))

    def weighted(self, degree: int, weights: Array) -> Weighted:
        """Return weights of the n asked values as J x V by case, less a base weight whose part of the answer is exact.

        degree: the power of the measured expression.
        """
        differences: dict[int, Array] = {}
        bases: dict[int, Array] = {}
        for case in range(self.case_count):
            inside = self.asked.case == case
            full = np.zeros((self.asked.set_count, len(self.mass)))
            np.add.at(full, (self.asked.set[inside], self.asked.code[inside]), weights[inside])
            base = self._base(full)
            differences[case], bases[case] = full - base[:, None], base
        return Weighted(degree, differences, bases)

    def _base(self, full: Array) -> Array:
        """Return the weight that is taken of every hit, J: that of most rows, or the mean of unequal weights."""
        if not self.counts:
            return full[:, 0]
        mean = full @ self.mass
        if self.case_count > 1:
            return np.asarray(mean)
        used = full != 0
        least, most = (end(full, axis=1, where=used, initial=-sign) for end, sign in ENDS)
        return np.where(least < most, mean, np.where(used @ self.mass > 0.5, least, 0.0))

    def published(self, measured: LinearAggregate, degree: int, case: int) -> Array:
        """Return the published sums of the `degree`-th power of what is `measured` over the hits of a case, C x V."""
        return self.moments.columns[measured.column(degree)][:, case]

    def summed(
        self, part: Weighted, measured: LinearAggregate, solve: Callable[[Array], Array] = lambda published: published
    ) -> Array:
        """Return base Φ + <w, x> of a `part` of `measured`, C x J; x is what `solve` makes of published figures."""
        total = np.zeros((len(self.rows), self.asked.set_count))
        for case, weights in part.weights.items():
            published = self.published(measured, part.degree, case)
            total += solve(published) @ weights.T + published.sum(axis=1)[:, None] * part.base[case]
        return total

    # -- variances -----------------------------------------------------------------------------

    def of_draws(
        self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return the variance of the closed form, C x J, its growth and curve (`Evidence`), and a row's jump."""
        none = np.zeros_like(closed)
        if not self.counts:
            return none, none, none, none
        if self.case_count > 1:
            return self._variance_bound(parts, measured, closed), none, none, none
        if self.derived and measured.number is None and not measured.function.is_ratio:
            variance, growth, jump = self._count_variance(parts[0], measured)
            return variance, growth, none, jump
        pulled = [self.closed.pulled(part.weights[0]) for part in parts]
        # an average of what rows have weighs its sum and its rows alike
        alike = np.array_equal(parts[0].weights[0], parts[-1].weights[0])
        spread, terms = self.closed.spread(pulled[0], pulled[0]), []
        for one, other in combinations_with_replacement(range(len(parts)), 2):
            if other and not alike:
                spread = self.closed.spread(pulled[one], pulled[other])
            terms.append(self._term(spread, measured, parts[one].degree + parts[other].degree, one == other))
        if self.derived and measured.log is not None:
            terms[0] = np.maximum(terms[0], self._vary_together(parts[0].weights[0], measured))
        if len(parts) == 1:
            steps = np.ptp(pulled[0], axis=1)
            return np.maximum(terms[0], 0.0), none, none, none + (steps if measured.function.counts else 0.0)
        bottom = self.summed(parts[1], measured, self.closed.solved)
        top, both, rows = terms  # of (A - x B) / B: Fieller's interval
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.maximum(top - 2 * closed * both + closed**2 * rows, 0.0) / bottom**2
            growth, curve = 2 * (closed * rows - both) / bottom**2, np.maximum(rows, 0.0) / bottom**2
        variance, growth, curve = (np.where(bottom > 0, one, np.nan) for one in (variance, growth, curve))
        return variance, growth, curve, none

    def _term(self, spread: Array, measured: LinearAggregate, degree: int, alone: bool) -> Array:
        """Return the covariance of two linear estimates, C x J, the channel taken as known; alone: a variance.

        spread: what a row of each value adds, J x V. degree: the power of what is measured that both come to.
        """
        solved = self.closed.solved(self.published(measured, degree, 0))
        covariance = solved @ spread.T
        if not alone:
            return np.asarray(covariance)
        total = solved.sum(axis=1)[:, None]
        return np.clip(covariance, total * spread.min(axis=1), total * spread.max(axis=1))

    def _vary_together(self, weights: Array, measured: LinearAggregate) -> Array:
        """Return the variance of Σ w e, C x J, where e goes with w; 0 where it does not.

        Who has most of e may have the largest w, and publishes mostly another: what is solved of the squares of e then
        misses what the sum misses. So e² is taken to go with w as exp(2 b z) does, z the normal score of w, b the slope
        of ln |e|, which all rows tell alike, as far as it is more than chance. weights: w, J x V.
        """
        from scipy.special import ndtri  # slow to load, and few answers need it

        scores = np.zeros_like(weights)
        for score, line in zip(scores, weights, strict=True):
            different, place = np.unique(line, return_inverse=True)
            if len(different) > 2:  # of one value and the others each is told by itself
                mass = np.bincount(place, self.mass)
                score[:] = ndtri(np.clip(np.cumsum(mass) - mass / 2, 1e-6, 1 - 1e-6))[place]
        scores -= (scores @ self.mass)[:, None]
        size = np.maximum(scores**2 @ self.mass, LEAST_SPREAD)
        log = replace(measured, number=measured.log)
        counts, sums, squares = (self.published(log, degree, 0) for degree in range(3))
        rows = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        mean = sums.sum(axis=1, keepdims=True) / rows
        variance = np.maximum(squares.sum(axis=1, keepdims=True) / rows - mean**2, 0.0)
        slope = self.closed.solved(sums - mean * counts) @ scores.T / rows / size
        spread, chance = (self.closed.spread(each, each) for each in map(self.closed.pulled, (weights, scores)))
        chance = variance / rows * (chance @ self.mass) / size**2
        kept = np.clip(1 - chance / np.maximum(slope**2, LEAST_SPREAD), 0.0, 1.0)
        tilted = self.mass * np.exp(np.clip(2 * (kept * slope)[:, :, None] * scores, -500.0, 500.0))
        each = np.einsum("cjv,jv->cj", tilted, spread) / tilted.sum(axis=2)
        return np.asarray(self.published(measured, 2, 0).sum(axis=1)[:, None] * each * (kept * slope != 0))

    def _count_variance(self, part: Weighted, measured: LinearAggregate) -> tuple[Array, Array, Array]:
        """Hold the published count f' in q to be random as well: each row of a value w adds u_v φ + d_v, where
        u = w/D and d = -w dq/df (Φ - x)/D.
        """
        (channel,) = self.closed.channels
        hits = self.published(measured, 0, 0)
        total, everyone = hits.sum(axis=1), channel.rows
        solved = channel.solved(hits)
        steps = channel.slope * np.clip(total[:, None] - solved, 0, total[:, None]) / channel.difference
        weights = part.weights[0]
        d = -weights * steps[:, None]  # C x J x V
        added = weights / channel.difference + d
        variance, growth, jump = np.zeros((3, len(hits), self.asked.set_count))
        for each, x, rows in ((added, solved, total), (d, channel.counts - solved, everyone - total)):
            spread, size = self.closed.spread(each, each), rows[:, None]
            least, most = spread.min(axis=2), spread.max(axis=2)
            found = np.matmul(spread, x[:, :, None])[:, :, 0]
            variance += np.maximum(np.clip(found, size * least, size * most), 0.0)
            if measured.function.counts and each is added:
                growth = np.where(part.base[0], -1, 1) * (most - least) * (weights != 0).any(axis=1)
                jump = np.ptp(added, axis=2) * (size > 0)
        return variance, growth, jump

    def of_orders(self, part: Weighted, measured: LinearAggregate) -> Array | float:
        """Return the variance that comes of the one order in which values stand in each block, C x J.

        Who does not differ from everybody in a condition, d_w = x_w/f_w - |P|/N = 0, meets others as everybody does.
        """
        if len(self.counts) != 1:
            return 0.0
        (channel,) = self.closed.channels
        published = self.published(measured, part.degree, 0)
        total, among = published.sum(axis=1, keepdims=True), np.maximum(channel.counts, 1.0)
        counts = channel.solved(published)
        if published.min(initial=0.0) >= 0:  # what is solved is noise, too, of which a half is told by its sign
            counts = np.clip(counts, 0.0, total)
            counts *= np.divide(total, counts.sum(axis=1, keepdims=True), out=np.ones_like(total), where=total > 0)
        square = (counts / among - total / channel.rows) ** 2 @ among
        likely = (channel.gamma - 1) / channel.gamma**2 * square / channel.rows
        return np.asarray(likely[:, None] * (channel.pulled(part.weights[0]) ** 2 @ channel.blocks))

    def of_departures(self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array) -> Array | float:
        """Return the variance that comes of rows that have left decoy groups, C x J; `ClosedForm.company` says why."""
        if not self.departed or len(self.counts) != 1:
            return 0.0
        (channel,) = self.closed.channels
        pulled = np.zeros((2, len(self.rows), self.asked.set_count, len(self.mass)))
        for turn, part in enumerate(parts):
            for case, weights in part.weights.items():
                published = self.published(measured, part.degree, case)
                others = published.sum(axis=1, keepdims=True) - channel.solved(published)
                pulled[turn] += weights * others[:, None, :]
        company = channel.company(self.departed)
        if len(parts) == 1:
            return np.asarray(pulled[0] ** 2 @ company)
        top = (pulled[0] - closed[..., None] * pulled[1]) ** 2 @ company
        return measured.function.estimate([top, self.summed(parts[1], measured, self.closed.solved) ** 2])

    def _variance_bound(self, parts: Sequence[Weighted], measured: LinearAggregate, closed: Array) -> Array:
        """Bound the variance of a mixed condition from the variances of its cases.

        A row publishes one value, in one case: what two cases add is negatively correlated where both add
        positive numbers of one column, so that their variances bound that of the sum; else standard errors add.
        """
        bounds = [self._case_bound(part, measured) for part in parts]
        if len(parts) == 1:
            return bounds[0]
        bottom = self.summed(parts[1], measured, self.closed.solved)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = (np.sqrt(bounds[0]) + np.abs(closed) * np.sqrt(bounds[1])) ** 2
            return np.where(bottom > 0, top / bottom**2, np.nan)

    def _case_bound(self, part: Weighted, measured: LinearAggregate) -> Array:
        variances, deviations = np.zeros((2, len(self.rows), self.asked.set_count))
        apart = len(self.counts) == 1 and part.degree == 0
        for case, weights in part.weights.items():
            apart &= bool((weights + part.base[case][:, None] > -1e-9).all())
            pulled = self.closed.pulled(weights)
            spread = self.closed.spread(pulled, pulled)
            counts = self.closed.solved(self.published(measured, 2 * part.degree, case))
            mass = counts.sum(axis=1)[:, None]
            case_variance = np.clip(counts @ spread.T, mass * spread.min(axis=1), mass * spread.max(axis=1))
            variances += np.maximum(case_variance, 0)
            deviations += np.sqrt(np.maximum(case_variance, 0))
        return variances if apart else deviations**2
