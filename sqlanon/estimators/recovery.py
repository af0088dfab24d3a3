"""From the published figures of a randomized release to evidence. Arrays only, no engine.

Every aggregate is a sum of w_v x_v, or the ratio of two; axes as in `sums`. The set that is asked for is a column of 0
and 1.

For the sum X of weights w over the n rows of a condition, two answers are known: the unbiased one, with its error, and
m, which takes values for unrelated, all of them together (`pooling`). X may stand out as a whole (`standing_out`): were
values unrelated, its distance from what is expected of everybody would have the variance se² + K, K = n² t Var w, and
S = n² (E |w - E w|)².

An average is e + R x / (x² + Var x), x the count and R what its numbers less e sum to, both found in this way: where
the count is known that is R / x more than e, where it is not R is mostly noise. A sum is the average times the count,
so that counts, sums and averages of one question agree. e: of numbers of the rows, their mean over the condition; of
values, theirs over the asked values in the whole release.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.estimators.aggregates import COUNT, SUM, LinearAggregate, Pair, correlate
from sqlanon.estimators.evidence import (
    NORMAL_QUANTILE,
    Array,
    BoolArray,
    Estimate,
    Evidence,
    join_fields,
    score_interval,
)
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.one_core import on_one_core
from sqlanon.estimators.pooling import NOT_APART, Everybody, gained
from sqlanon.estimators.randomized_sums import Sums, Weighted

SETS_AT_ONCE = 500_000  # numbers x sets: what a processor's cache holds is several times faster
# Of several columns: standard errors of the unbiased count in a condition's rows; with more it tells next to nothing,
# and its own error is hardly known. Then it counts for nothing.
LEAST_TELLING, NOTHING = 16.0, 1e150
WIDER = 2.0  # then, times the posterior's deviation: the largest cells differ from the expected as few others do


@dataclass(frozen=True)
class Recovery:
    """Turn the published moments of one query into evidence, aggregate by aggregate.

    sums: published figures and the closed forms of the columns read. unseen: the count up to which a value may well
    have gone unpublished. everybody: the whole release, which shrinkage weighs a condition against; None for the closed
    form, and where no sensitive column is read.
    missing: how many values are asked for by name that nobody publishes, of a question about one set.
    """

    sums: Sums
    unseen: float
    everybody: Everybody | None = None
    missing: int = 0
    exact, upper_bound = True, False  # nothing more is said of such answers

    @property
    def moments(self) -> Moments:
        """Return the published moments."""
        return self.sums.moments

    @property
    def rows(self) -> Array:
        """Return the hits, C x K."""
        return self.sums.rows

    def about(self, selected: SelectedValues) -> "Recovery":
        """Return the same figures for other asked values."""
        return replace(self, sums=replace(self.sums, asked=selected))

    @on_one_core()
    def answer(self, measured: LinearAggregate, estimate: Callable[[Evidence], Estimate]) -> Estimate:
        """Estimate one aggregate, C x J, some sets at a time; a count is no larger than f' of what is asked."""
        asked, found = self.sums.asked, list[Estimate]()
        step = max(1, SETS_AT_ONCE // max(1, self.rows.size * len(self.sums.mass)))
        for start in range(0, max(asked.set_count, 1), step):
            some, inside = asked.cut(start, min(start + step, asked.set_count))
            part, of_part = self.about(some), measured.choose(inside)
            estimated = estimate(part.evidence(of_part))
            value = np.minimum(estimated.value, part._highest(of_part))
            found.append(replace(estimated, value=value, low=np.minimum(estimated.low, value)))
        return join_fields(found, axis=1)

    def correlate(self, pair: Pair, other: "Recovery", both: Moments | None) -> Array | None:
        """Return the correlation of the errors of a pair of sums, the second over the values of `other`: C x J.

        both: moments of the hits that both count, where these are not the same. It is what the draws of the rows make
        it, so that of different rows it is none; None where it is not followed: between cases, and of averages.
        """
        if both is not None and not both.columns["uniform"].any():
            return np.zeros((len(self.rows), self.sums.asked.set_count))
        averages = pair.one.function.is_ratio or pair.other.function.is_ratio
        if averages or self.sums.case_count > 1 or not self.sums.counts:
            return None
        weighted = [
            recovery.sums.weighted(aggregate.degree, aggregate.weights)
            for recovery, aggregate in ((self, pair.one), (other, pair.other))
        ]
        pulled = [self.sums.closed.pulled(part.weights[0]) for part in weighted]
        terms = []
        sides = (both or self.moments, self.moments, other.moments)
        for turn, (first, second) in enumerate([(0, 1), (0, 0), (1, 1)]):
            published = sides[turn].columns[pair.turned(turn).product_column][:, 0]
            terms.append(self.sums.closed.solved(published) @ self.sums.closed.spread(pulled[first], pulled[second]).T)
        return correlate(*terms)

    # -- evidence ------------------------------------------------------------------------------

    def evidence(self, measured: LinearAggregate) -> Evidence:
        """Return what is known of the aggregate `measured`, C x J."""
        least, most = measured.function.bound(self.moments, self.sums.asked, measured)
        parts = [self.sums.weighted(degree, weights) for degree, weights in measured.parts()]
        plain = measured.function.estimate([self.sums.summed(part, measured) for part in parts])
        unbiased, error, growth, curve, jump = self._unbiased(parts, measured)
        evidence = Evidence(
            plain=plain, unbiased=unbiased, std_error=error, least=least, most=most,
            exact=np.full(plain.shape, not self.sums.counts), growth=growth, curve=curve, jump=jump,
        )  # fmt: skip
        if self.everybody is None:
            return self._bounded(evidence, measured)
        value, variance, tells = self._asked(measured, unbiased, error)
        evidence = self._bounded(replace(evidence, shrunk=value), measured)
        low, high = score_interval(evidence)
        if len(self.sums.counts) == 1:  # what it is drawn to is no reason to leave the interval
            drawn = np.minimum(np.maximum(np.asarray(evidence.shrunk), np.fmax(low, -np.inf)), np.fmin(high, np.inf))
            return replace(evidence, shrunk=drawn)
        if not measured.function.counts:
            return evidence
        # of several columns the unbiased count may tell nothing
        half = NORMAL_QUANTILE * np.sqrt(variance) * np.where(tells, 1.0, WIDER)
        low = np.where(tells, np.minimum(low, value - half), value - half)
        high = np.where(tells, np.maximum(high, value + half), value + half)
        error = (high - low) / 2 / NORMAL_QUANTILE
        return replace(evidence, unbiased=(low + high) / 2, std_error=error, growth=0.0, jump=0.0)

    def _unbiased(
        self, parts: Sequence[Weighted], measured: LinearAggregate
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Return the unbiased answer, C x J, its error, growth, curve and jump (`Evidence`).

        By how much it differs from what is solved by how readily values meet is its systematic part.
        """
        value, other = (
            measured.function.estimate([self.sums.summed(part, measured, solve) for part in parts])
            for solve in (self.sums.closed.solved, self.sums.closed.solved_by_meetings)
        )
        variance, growth, curve, jump = self.sums.of_draws(parts, measured, value)
        variance = variance + self.sums.of_departures(parts, measured, value) + np.nan_to_num(value - other) ** 2
        if len(parts) == self.sums.case_count == 1:
            variance = variance + self.sums.of_orders(parts[0], measured)
        return value, np.sqrt(variance), growth, curve, jump

    def _bounded(self, evidence: Evidence, measured: LinearAggregate) -> Evidence:
        """Leave room for values never published, and NULL where no row is counted."""
        evidence = self._leave_room(evidence, measured)
        empty = measured.is_null(self.moments, self.sums.asked)
        if not measured.function.counts:
            empty |= np.isnan(evidence.plain)
        # an average over rows of which nothing is known is anything that the rows allow
        unknown = np.isnan(evidence.unbiased)
        shown = evidence.plain if evidence.shrunk is None else evidence.shrunk
        figures = {
            "plain": evidence.plain,
            "unbiased": np.where(unknown, shown, evidence.unbiased),
            "std_error": np.where(unknown, np.inf, evidence.std_error),
            "least": evidence.least,
            "most": evidence.most,
            "shrunk": np.full(empty.shape, np.nan) if evidence.shrunk is None else shown,
        }
        growth, curve = np.where(unknown, 0.0, evidence.growth), np.where(unknown, np.inf, evidence.curve)
        known = {name: np.where(empty, np.nan, array) for name, array in figures.items()}
        return replace(evidence, exact=evidence.exact & ~empty, growth=growth, curve=curve, **known)

    def _leave_room(self, evidence: Evidence, measured: LinearAggregate) -> Evidence:
        """Leave room in counts for values that were never published: about 3 rows of each."""
        if not measured.function.counts or not self.sums.counts:
            return evidence
        # there may be as many rows of each value that nobody publishes: a list names them, or the question does
        asked, mass = self.sums.asked, self.sums.mass[self.sums.asked.code]
        named = np.bincount(asked.set, mass == 0, asked.set_count) + self.missing
        published = np.bincount(asked.set, mass * self.sums.counts[0].sum(), asked.set_count)
        room = self.unseen * np.maximum(named, 1)
        hits = np.minimum(self.sums.rows.max(axis=1)[:, None], room)
        rare = (named > 0) & (published <= room)  # chosen for what is not there
        error = np.where(rare, np.hypot(evidence.std_error, hits / NORMAL_QUANTILE), evidence.std_error)
        return replace(
            evidence,
            most=np.maximum(evidence.most, np.where(evidence.plain > 0, 0, hits)),
            least=np.maximum(0, np.where(evidence.least > 0, evidence.least - hits, evidence.least)),
            std_error=np.where(error == 0, hits / NORMAL_QUANTILE, error),
        )

    def _highest(self, measured: LinearAggregate) -> Array | float:
        """Return the most that a count `measured` should be, J: f' of what is asked; infinity where nothing says."""
        if not measured.function.counts or len(self.sums.counts) != 1 or self.sums.case_count > 1:
            return np.inf
        asked = self.sums.asked
        return np.bincount(asked.set, self.sums.counts[0][asked.code], asked.set_count).astype(float)

    # -- the asked sets --------------------------------------------------------------------------

    def _asked(self, measured: LinearAggregate, unbiased: Array, error: Array) -> tuple[Array, Array, BoolArray]:
        """Return the answer about the asked sets and, of a count, its variance and whether the unbiased one tells
        anything, C x J, given that and its error.
        """
        if measured.function.counts:
            return self._draw(measured, unbiased, error)
        counted, centred, centre = self._centred(measured)
        present = LinearAggregate(COUNT, None, measured.present, measured.present)
        drawn = []
        for linear in (present, centred):
            parts = [counted.sums.weighted(*part) for part in linear.parts()]
            drawn.append(counted._draw(linear, *counted._unbiased(parts, linear)[:2])[:2])
        (count, variance), (rest, _) = drawn
        count = np.maximum(count, 0.0)
        known = count**2 + variance
        average = centre + np.divide(rest * count, known, out=np.zeros_like(rest), where=known > 0)
        return average if measured.function.is_ratio else average * count, variance, np.ones(average.shape, dtype=bool)

    def _centred(self, measured: LinearAggregate) -> tuple["Recovery", LinearAggregate, Array]:
        """Return the figures of the rows that an aggregate counts, the sum of what it measures less e, and e, C x J."""
        if measured.number is None:
            if self.sums.case_count > 1:
                weights = measured.weights * measured.present
                return self, LinearAggregate(SUM, None, weights, measured.present), np.zeros((1, 1))
            mass = self.sums.mass[self.sums.asked.code]
            total, rows = (
                self.sums.asked.sum_by_set(mass[None], weights) for weights in (measured.weights, measured.present)
            )
            centre = np.divide(total, rows, out=np.zeros_like(total), where=rows > 0)
            weights = (measured.weights - centre[0, self.sums.asked.set]) * measured.present
            return self, LinearAggregate(SUM, None, weights, measured.present), centre
        columns, number = dict(self.moments.columns), measured.number
        count, total, square = (columns[f"{name}_uniform_{number}"] for name in ("count", "sum", "square"))
        rows = count.sum(axis=(1, 2), keepdims=True)
        centre = np.divide(total.sum(axis=(1, 2), keepdims=True), rows, out=np.zeros_like(rows), where=rows > 0)
        centre *= not measured.is_product
        columns |= {
            "uniform": count, "count_uniform_0": count, "sum_uniform_0": total - centre * count,
            "square_uniform_0": square - 2 * centre * total + centre**2 * count,
        }  # fmt: skip
        counted = replace(self, sums=replace(self.sums, moments=replace(self.moments, columns=columns)))
        return counted, replace(measured, function=SUM, number=0), centre[:, 0]

    def _draw(self, measured: LinearAggregate, unbiased: Array, error: Array) -> tuple[Array, Array, BoolArray]:
        """Return a count, or a sum about its mean, its variance, and whether the unbiased answer tells anything, C x J.

        unbiased, error: that answer, and its error, of which as much as is kept of the answer makes the variance.
        """
        (part,) = [self.sums.weighted(degree, weights) for degree, weights in measured.parts()]
        everybody, total = self.everybody, float(self.sums.counts[0].sum())
        assert everybody is not None
        mass = everybody.likely
        pooled, expected, prior, size, whole, noise = np.zeros((6, *unbiased.shape))
        for case, weights in part.weights.items():
            published, hits = (self.sums.published(measured, degree, case) for degree in (part.degree, 0))
            rows, mean = np.maximum(hits.sum(axis=1), 1.0), weights @ mass
            if part.degree:
                scale = np.sqrt(np.maximum(self.sums.published(measured, 2, case).sum(axis=1), 0.0) * rows)
                observed = np.divide(published, scale[:, None], out=np.zeros_like(published), where=scale[:, None] > 0)
                differing, likely = everybody.differ_in_sums(observed, 1 / rows)
            else:
                scale, observed = rows, published / rows[:, None] - everybody.published
                differing, likely = everybody.differ(observed, np.maximum(1 / rows - 1 / total, 0.0))
            among = published.sum(axis=1)[:, None] * (part.base[case] + mean)
            expected, pooled = expected + among, pooled + among + scale[:, None] * (differing @ weights.T)
            prior = prior + (scale**2 * likely)[:, None] * np.maximum(weights**2 @ mass - mean**2, 0.0)
            size = size + scale[:, None] * (np.abs(weights - mean[:, None]) @ mass)
            whole, apart = whole + scale[:, None], (weights - mean[:, None]) / everybody.strengths
            noise = noise + (scale**2 / rows)[:, None] * (apart**2 @ mass)
        if len(everybody.columns) > 1:
            error = np.maximum(error, np.sqrt(noise) / 2)  # what is solved may be noise, and so is an error read off it
            tells = LEAST_TELLING * error <= whole
            unbiased, error = np.where(tells, unbiased, pooled), np.where(tells, error, NOTHING)
        noise = error**2
        gain = gained(unbiased - expected, noise + prior, size**2, NOT_APART)
        kept = np.divide(prior + gain * noise, prior + noise, out=np.ones_like(noise), where=noise > 0)
        return pooled + gain * (unbiased - pooled), kept * noise, error < NOTHING
