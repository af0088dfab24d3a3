"""From moments to evidence: what the groups that a query hits say of one aggregate. Arrays only, no engine.

A row of value v counts x in its case; over the rows of v its mean is p_v. Every aggregate is a sum over the selected
v of w_v f_v p_v, or the ratio of two such sums. Axes: C cells, K cases, V sensitive values, n selected values, J
value sets, as in `moments`.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate, Pair
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence
from sqlanon.estimators.moments import Moments, SelectedValues


@dataclass(frozen=True)
class SolvedAggregate:
    """Hold the unbiased estimate of one aggregate, C x J: its value, standard error, growth and curve (`Evidence`)."""

    value: Array
    std_error: Array
    growth: Array
    curve: Array


class Inference:
    """Turn the moments of one query into evidence, aggregate by aggregate: here by the uniform estimate alone.

    upper_bound: whether a standard error is only a bound. exact: whether all answers so far are exact.
    """

    def __init__(self, moments: Moments, selected: SelectedValues) -> None:
        """Take moments and selected values."""
        self.moments, self.selected = moments, selected
        self.rows = moments.count("uniform")
        self.hits_everyone = self.rows == moments.row_count
        self.upper_bound, self.exact = False, True

    def about(self, selected: SelectedValues) -> Self:
        """Return the same inference about other selected values."""
        found = copy(self)
        found.selected = selected
        return found

    def correlate(self, pair: Pair, other: "Inference", both: Moments | None = None) -> Array | None:
        """Return the correlation of the errors of a pair of sums, the second over the values of `other`: C x J.

        both: moments of the hits that both count, where these are not the same. None where it is not known, which is
        everywhere here.
        """
        return None

    def answer(self, aggregate: LinearAggregate, estimate: Callable[[Evidence], Estimate]) -> Estimate:
        """Estimate one aggregate, C x J, from its evidence."""
        evidence = self.gather_evidence(aggregate)
        self.exact &= bool(evidence.exact.all())
        return estimate(evidence)

    def gather_evidence(self, aggregate: LinearAggregate) -> Evidence:
        """Return what is known of one aggregate, C x J."""
        least, most = self._bound(aggregate)
        uniform = aggregate.function.estimate([self._sum_uniform(aggregate, part) for part in aggregate.parts()])
        uniform = np.clip(uniform, np.fmax(least, -np.inf), np.fmin(most, np.inf))
        solved = self._solve(aggregate)
        exact = self._tell_exact(aggregate) | (least == most)
        value, error = np.where(exact, uniform, solved.value), np.where(exact, 0.0, solved.std_error)
        # SUM and AVG over no row are NULL, whatever the estimators would make of it.
        null = aggregate.is_null(self.moments, self.selected)
        uniform, value, error, least, most = (
            np.where(null, np.nan, array) for array in (uniform, value, error, least, most)
        )
        growth, curve, low, high = (
            np.where(exact | null, 0.0, array)
            for array in (solved.growth, solved.curve, *self._bound_left_out(aggregate, value))
        )
        return Evidence(
            plain=uniform, unbiased=value, std_error=error, least=least, most=most, exact=exact & ~null, growth=growth,
            curve=curve, left_out_low=low, left_out_high=high,
        )  # fmt: skip

    def _bound(self, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Return the least and the largest answer that the release allows, C x J; NaN where none is known."""
        return aggregate.function.bound(self.moments, self.selected, aggregate)

    def _tell_exact(self, aggregate: LinearAggregate) -> BoolArray:
        """Tell where the release leaves one answer alone: every value selected alike, or every row hit (or none)."""
        alike = np.array(
            [self._selects_all(aggregate, number) for number in range(self.selected.set_count)], dtype=bool
        )
        shape = (len(self.rows), self.selected.set_count)
        exact = np.broadcast_to(alike, shape)
        if aggregate.number is not None:
            return exact
        is_certain = np.ones(shape, dtype=bool)
        for value_set, case in self.selected.pairs():
            is_certain[:, value_set] &= self.hits_everyone[:, case] | (self.rows[:, case] == 0)
        return exact | is_certain

    def _selects_all(self, aggregate: LinearAggregate, value_set: int) -> bool:
        inside = self.selected.set == value_set
        return bool(
            inside.sum() == len(self.moments.totals)
            and np.ptp(self.selected.case[inside]) == 0
            and np.ptp(aggregate.weights[inside]) == 0
            and np.ptp(aggregate.present[inside]) == 0
        )

    def _solve(self, aggregate: LinearAggregate) -> SolvedAggregate:
        """Return the unbiased estimate; NaN where there is none, which is everywhere here."""
        shape = (len(self.rows), self.selected.set_count)
        return SolvedAggregate(np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape), np.zeros(shape))

    def _bound_left_out(self, aggregate: LinearAggregate, value: Array) -> tuple[Array, Array]:
        """Return by how much rows that the release leaves out may move the answer down and up, C x J."""
        return np.zeros_like(value), np.zeros_like(value)

    def _sum_uniform(self, aggregate: LinearAggregate, part: tuple[int, Array]) -> Array:
        """Return sum over groups of w_v n_g s_g(v)/|g|, C x J; what is whole but for rounding is made whole."""
        degree, weights = part
        column = self.moments.columns[aggregate.column(degree)]
        return round_whole(self.selected.sum_by_set(self.selected.gather(column), weights))


def round_whole(values: Array) -> Array:
    """Return values, those rounded that are whole numbers but for the rounding of a sum; the shape stays."""
    whole = np.rint(values)
    return np.where(np.abs(values - whole) <= 1e-9 + 1e-13 * np.abs(whole), whole, values)
