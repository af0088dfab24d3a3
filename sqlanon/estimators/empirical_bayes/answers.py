"""Aggregates from counts and sums that are weighed against what the margins say.

A count or a sum of numbers by value is Σ_v w_v x_v, taken at the posterior mean x̂ (`whole`). Where the wide prior's
mean x̌ and variance say more than the likeliest prior allows, x̂ goes only as near as one standard error to x̌ (limited
translation: Efron and Morris 1972), for what stands out may be more than a normal prior holds.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.channel import Array, Weighted
from sqlanon.estimators.empirical_bayes.whole import Counts, Whole
from sqlanon.estimators.moments import Moments

NUMBERS_AT_ONCE = 4_000_000
TABLES = 20  # of a condition's values while it is weighed; an asked set takes a number for each value of a column


@dataclass(frozen=True)
class Shrunk:
    """Hold a value, C x J; for counts of one case also the mean and variance under the wide prior, else NaN."""

    value: Array
    wide: Array
    variance: Array


def shrunk(whole: Whole, moments: Moments, measured: LinearAggregate, part: Weighted) -> Shrunk:
    """Answer a count or a sum for every condition and asked set, C x J, some conditions at a time.

    moments: of the published values, under `uniform`. (The ratio of two such answers is no good average: a small count
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

    def totalled(self, part: Weighted, case: int, figures: Array) -> Array:
        """Return base Φ + <w, x> of one case for true figures x, C x J."""
        total = self.published(part.degree, case).sum(axis=1)[:, None]
        return np.asarray(figures @ part.weights[case].T + total * part.base[case])

    def _true(self, degree: int, case: int) -> Array:
        counts = self.counts(case).mean
        if degree == 0:
            return counts
        squares = self.published(2, case).sum(axis=1)
        return self.whole.sums(self.published(1, case), squares, self.published(0, case), counts)
