"""From the published figures of a randomized release to evidence. Arrays only, no engine.

Every aggregate is a sum of w_v x_v, or the ratio of two; axes as in `sums`.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.channel import Array, Joint, Weighted
from sqlanon.estimators.empirical_bayes.whole import Counts, Whole
from sqlanon.estimators.evidence import NORMAL_QUANTILE, Evidence, score_interval
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.propagation import Pair, correlate
from sqlanon.estimators.randomized.sums import Sums
from sqlanon.estimators.randomized.variance import Variance

# Aggregates from counts and sums that are weighed against what the margins say. A count or a sum of numbers
# by value is Σ_v w_v x_v, taken at the posterior mean x̂ (`whole`). Where the wide prior's mean x̌ and
# variance say more than the likeliest prior allows, x̂ goes only as near as one standard error to x̌ (limited
# translation: Efron and Morris 1972), for what stands out may be more than a normal prior holds.
NUMBERS_AT_ONCE = 4_000_000
TABLES = 20  # of a condition's values while it is weighed; an asked set takes a number for each value of a column


@dataclass(frozen=True)
class Shrunk:
    """Hold a value, C x J; for counts of one case also the mean and variance under the wide prior, else NaN."""

    value: Array
    wide: Array
    variance: Array


def shrunk(whole: Whole, moments: Moments, measured: LinearAggregate, part: Weighted) -> Shrunk:
    """Return a count or a sum for every condition and asked set, C x J, made of some conditions at a time.

    whole: what the release's own figures say of its cells. moments: of the published values, under `uniform`. measured,
    part: the aggregate, and its one linear part. (The ratio of two such answers is no good average: a small count
    that is shrunk to next to nothing makes it large.)
    """
    cells, cases, values = moments.columns["uniform"].shape
    sets = len(part.weights[0])
    if not cells or not sets:
        none = np.zeros((cells, sets))
        return Shrunk(none, none, none)
    step = max(1, NUMBERS_AT_ONCE // max(cases * values * TABLES, sets * max(whole.spectra.shape)))
    batches = [_Batch(whole, moments, measured, slice(start, start + step)) for start in range(0, cells, step)]
    done = [_answered(batch, part) for batch in batches]
    return Shrunk(
        *(np.concatenate([getattr(answer, name) for answer in done]) for name in ("value", "wide", "variance"))
    )


def _answered(batch: "_Batch", part: Weighted) -> Shrunk:
    value = batch.summed(part)
    if part.degree or len(part.weights) > 1:
        none = np.full_like(value, np.nan)
        return Shrunk(value, none, none)
    counts = batch.counts(0)
    wide = batch.totalled(part, 0, counts.wide)
    variance = counts.variance(part.weights[0])
    error = np.sqrt(variance)
    return Shrunk(np.clip(value, wide - error, wide + error), wide, variance)


class _Batch:
    """Some of the conditions of a query, with what is known of their counts by case."""

    def __init__(self, whole: Whole, moments: Moments, measured: LinearAggregate, cells: slice) -> None:
        self.whole, self.moments, self.measured, self.cells = whole, moments, measured, cells
        self._counts: dict[int, Counts] = {}

    def published(self, degree: int, case: int) -> Array:
        """Return the published counts, sums or sums of squares of a case, C x V."""
        return self.moments.columns[self.measured.column(degree, "uniform")][self.cells, case]

    def counts(self, case: int) -> Counts:
        """Return what is known of the rows that the aggregate counts."""
        if case not in self._counts:
            self._counts[case] = self.whole.counts(self.published(0, case))
        return self._counts[case]

    def summed(self, part: Weighted) -> Array:
        """Return base Φ + <w, x̂> over the cases, C x J."""
        return np.asarray(sum(self.totalled(part, case, self._true(part.degree, case)) for case in part.weights))

    def totalled(self, part: Weighted, case: int, counts: Array) -> Array:
        """Return base Φ + <w, x> of one case for true counts x, C x J."""
        total = self.published(part.degree, case).sum(axis=1)[:, None]
        return np.asarray(counts @ part.weights[case].T + total * part.base[case])

    def _true(self, degree: int, case: int) -> Array:
        counts = self.counts(case).mean
        if degree == 0:
            return counts
        squares = self.published(2, case).sum(axis=1)
        return self.whole.sums(self.published(1, case), squares, self.published(0, case), counts)


LEAST_TELLING = (
    16.0  # standard errors of the unbiased estimate in a condition's rows; with more it says next to nothing
)
MUCH_BIAS = 0.5  # standard errors of systematic part from which on the matrix answers by default


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
        self.unseen, self.whole = unseen, whole
        self.sums = Sums(moments, asked, counts)
        self.variance = Variance(self.sums, closed, repeated, departed)

    def narrow(self, chosen: NDArray[np.bool_]) -> "Recovery":
        """Return the same figures for some of the asked values: where `chosen` (n) is true."""
        if chosen.all():
            return self
        narrowed = copy(self)
        narrowed.asked = self.asked.narrow(chosen)
        narrowed.sums = self.sums.of(narrowed.asked)
        narrowed.variance = self.variance.of(narrowed.sums)
        return narrowed

    def under(self, moments: Moments) -> "Recovery":
        """Return the same release's figures of other hits: those under a condition of FILTER."""
        changed = copy(self)
        changed.moments, changed.sums = moments, Sums(moments, self.asked, self.counts)
        changed.variance = self.variance.of(changed.sums)
        return changed

    def correlate(self, pair: Pair, other: "Recovery", both: Moments) -> Array | None:
        """Return the correlation of the errors of a pair of sums, the second over the values of `other`: C x J.

        both: moments of the hits that both count. It is what the draws of the rows make it; None where it is not
        followed: between cases.
        """
        if self.sums.case_count > 1 or not self.counts:
            return None
        weighted = [
            recovery.sums.weighted(aggregate.degree, aggregate.weights)
            for recovery, aggregate in ((self, pair.one), (other, pair.other))
        ]
        pulled = [self.closed.pulled(part.weights[0]) for part in weighted]
        terms = []
        sides = (both, self.moments, other.moments)
        for turn, (first, second) in enumerate([(0, 1), (0, 0), (1, 1)]):
            published = sides[turn].columns[pair.turned(turn).product_column("uniform")][:, 0]
            terms.append(self.closed.solved(published) @ self.closed.spread(pulled[first], pulled[second]).T)
        return correlate(*terms)

    # -- evidence ------------------------------------------------------------------------------

    def evidence(self, measured: LinearAggregate, estimator: str) -> Evidence:
        """Return what is known of the aggregate `measured`, C x J; the unbiased estimate is that of `estimator`."""
        least, most = measured.function.bound(self.moments, self.asked, measured)
        parts = [self.sums.weighted(degree, weights) for degree, weights in measured.parts()]
        plain = measured.function.estimate([self.sums.summed(part, measured, None) for part in parts])
        closed = measured.function.estimate([self.sums.summed(part, measured, self.closed) for part in parts])
        variance, growth, jump = self.variance.of_draws(parts, measured, closed)
        variance = variance + self.variance.of_departures(parts, measured, closed)
        orders = self.variance.of_orders(parts[0], measured) if len(parts) == self.sums.case_count == 1 else 0.0
        unbiased, error = self._corrected(parts, measured, closed, variance, orders, estimator)
        evidence = Evidence(
            plain=plain, unbiased=unbiased, std_error=error, least=least, most=most,
            exact=np.zeros(plain.shape, dtype=bool), growth=growth, jump=jump,
        )  # fmt: skip
        if estimator == "shrinkage" and self.whole is not None and len(parts) == 1:
            evidence = self._weighed(evidence, shrunk(self.whole, self.moments, measured, parts[0]), parts[0], measured)
        return self._bounded(evidence, measured)

    def _weighed(self, evidence: Evidence, posterior: Shrunk, part: Weighted, measured: LinearAggregate) -> Evidence:
        """Add the answer weighed against the margins; of several columns, its interval takes the unbiased one's place.

        The prior's variance of a count grows with the count, and so does that of the interval.
        """
        if len(self.counts) < 2 or np.isnan(posterior.variance).any():
            return replace(evidence, shrunk=posterior.value)
        error, growth = np.sqrt(posterior.variance), np.zeros_like(posterior.variance)
        if measured.function.counts:
            most_asked = part.base[0] > 0
            smaller = np.where(most_asked, self.sums.rows[:, :1] - posterior.wide, posterior.wide)
            rate = np.divide(posterior.variance, np.maximum(smaller, error), out=growth, where=error > 0)
            growth = np.where(most_asked, -rate, rate)
        wide = replace(
            evidence, shrunk=posterior.value, unbiased=posterior.wide, std_error=error, growth=growth, jump=0.0
        )
        return self._heed(evidence, wide, self.sums.rows[:, :1]) if measured.function.counts else wide

    @staticmethod
    def _heed(evidence: Evidence, wide: Evidence, rows: Array) -> Evidence:
        """Let the interval under the wide prior hold the unbiased one as well, wherever that tells anything.

        The prior supposes that cells differ from what their margins say as most cells do; the largest may not, and
        which they are is not known.
        """
        tells = LEAST_TELLING * evidence.std_error <= rows
        (low, high), (own_low, own_high) = score_interval(wide), score_interval(evidence)
        low, high = np.minimum(low, own_low), np.maximum(high, own_high)
        return replace(
            wide,
            unbiased=np.where(tells, (low + high) / 2, wide.unbiased),
            std_error=np.where(tells, (high - low) / 2 / NORMAL_QUANTILE, wide.std_error),
            growth=np.where(tells, 0.0, wide.growth),
        )

    def _bounded(self, evidence: Evidence, measured: LinearAggregate) -> Evidence:
        """Leave room for values never published, and NULL where no row is counted."""
        least, most, error = self._unseen(measured, evidence.plain, evidence.least, evidence.most, evidence.std_error)
        empty = measured.is_null(self.moments, self.asked)
        if not measured.function.counts:
            empty |= np.isnan(evidence.plain)
        plain, unbiased, error, least, most = (
            np.where(empty, np.nan, array) for array in (evidence.plain, evidence.unbiased, error, least, most)
        )
        exact = np.full(plain.shape, not self.counts) & ~empty
        value = None if evidence.shrunk is None else np.where(empty, np.nan, evidence.shrunk)
        return Evidence(
            plain=plain, unbiased=unbiased, std_error=error, least=least, most=most, exact=exact,
            growth=evidence.growth, jump=evidence.jump, shrunk=value,
        )  # fmt: skip

    def highest(self, measured: LinearAggregate) -> Array | None:
        """Return the most that a count `measured` should be, J: f' of what is asked; None where that says nothing."""
        if not measured.function.counts or len(self.counts) != 1 or self.sums.case_count > 1:
            return None
        largest = np.zeros(self.asked.set_count)
        np.add.at(largest, self.asked.set, self.counts[0][self.asked.code])
        return largest

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
        solved = measured.function.estimate([self.sums.summed(part, measured, self.matrix) for part in parts])
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
        if not measured.function.counts or not self.counts:
            return least, most, error
        hits = np.minimum(self.sums.rows.max(axis=1), self.unseen)[:, None]
        most = np.maximum(most, np.where(plain > 0, 0, hits))
        least = np.maximum(0, np.where(least > 0, least - hits, least))
        return least, most, np.where(error == 0, hits / NORMAL_QUANTILE, error)
