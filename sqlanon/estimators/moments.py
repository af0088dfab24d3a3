"""What a query's hits say of counts and sums, as arrays, and the bounds that they prove.

Axes: C cells (combinations of quasi keys), K cases (sensitive values for which a condition over both sides reads the
same), V sensitive values, n selected values, J value sets (combinations of sensitive keys).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.evidence import Array, BoolArray, IntArray


@dataclass(frozen=True)
class SelectedValues:
    """Hold the values that a query's sensitive part selects: code, case and set of each, length n."""

    code: IntArray
    case: IntArray
    set: IntArray
    set_count: int

    def narrow(self, chosen: BoolArray) -> "SelectedValues":
        """Return the selection with some of its values (n) only; its sets keep their numbers."""
        return SelectedValues(self.code[chosen], self.case[chosen], self.set[chosen], self.set_count)

    def join(self, other: "SelectedValues") -> "SelectedValues":
        """Return the values of both, one behind the other."""
        both = (
            np.concatenate([getattr(selection, name) for selection in (self, other)])
            for name in ("code", "case", "set")
        )
        code, case, value_set = both
        return SelectedValues(code, case, value_set, self.set_count)

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs (set, case) that hold a value."""
        return sorted(set(zip(self.set.tolist(), self.case.tolist(), strict=True)))

    def gather(self, array: Array) -> Array:
        """Take from C x K x V what each selected value counts in its own case: C x n."""
        return np.asarray(array[:, self.case, self.code])

    def sum_by_set(self, gathered: Array, weights: Array) -> Array:
        """Sum gathered (C x n) times weights (n) over each set: C x J."""
        sums = np.zeros((self.set_count, len(gathered)))
        np.add.at(sums, self.set, (gathered * weights).T)
        return sums.T

    def sum_by_case(self, gathered: Array, case_count: int) -> Array:
        """Sum gathered (C x n) over each set and case: C x J x K."""
        sums = np.zeros((self.set_count, case_count, len(gathered)))
        np.add.at(sums, (self.set, self.case), gathered.T)
        return sums.transpose(2, 0, 1)

    def range_by_case(self, lows: Array, highs: Array, case_count: int) -> tuple[Array, Array]:
        """Take the least of `lows` and the largest of `highs` (C x n, NaN skipped) per set and case: C x J x K."""
        shape = (self.set_count, case_count, len(lows))
        least, largest = np.full(shape, np.nan), np.full(shape, np.nan)
        np.fmin.at(least, (self.set, self.case), lows.T)
        np.fmax.at(largest, (self.set, self.case), highs.T)
        return least.transpose(2, 0, 1), largest.transpose(2, 0, 1)


@dataclass(frozen=True)
class Moments:
    """Hold the columns of the moment query as arrays C x K x V, and the release's totals f (V)."""

    columns: Mapping[str, Array]
    totals: Array

    @property
    def row_count(self) -> float:
        """Return N, the rows of the release."""
        return float(self.totals.sum())

    def count(self, column: str) -> Array:
        """Return the rows of QIT that were counted, C x K: the sum of all values' uniform estimates."""
        return np.asarray(np.rint(self.columns[column].sum(axis=2)))


@dataclass(frozen=True)
class LinearAggregate:
    """One aggregate as arrays see it: the sum over the selected v of w_v f_v p_v, for AVG the ratio of two such sums.

    function: count, sum or avg. number: of the measured expression e over rows; None: every hit counts 1.
    weights: w of the selected values, length n, 0 for NULL. present: 1 where w is not NULL, else 0.
    """

    function: str
    number: int | None
    weights: Array
    present: Array

    @property
    def degree(self) -> int:
        """Return the power of e in the numerator."""
        return 0 if self.number is None else 1

    def parts(self) -> list[tuple[int, Array]]:
        """Return the numerator, and for AVG the denominator, as (power of e, weights)."""
        return [(self.degree, self.weights), (0, self.present)][: 2 if self.function == "avg" else 1]

    def column(self, degree: int, kind: str) -> str:
        """Return the moments' column for e^degree; kind is `shared` or `uniform`."""
        if self.number is None:
            return kind
        return f"{('count', 'sum', 'square')[degree]}_{kind}_{self.number}"


def bound_answer(moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
    """Return the least and the largest answer that the release allows, C x J; NaN where none is known."""
    least, most = _bound_rows(moments, selected)
    if aggregate.function == "count":
        return least.sum(axis=2), most.sum(axis=2)
    if aggregate.number is None:
        return _bound_weights(moments, selected, aggregate)
    return _bound_measures(moments, selected, aggregate, (least, most))


def is_empty(moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> BoolArray:
    """Tell where surely no row is counted, C x J: there SUM and AVG are NULL."""
    column = moments.columns[aggregate.column(0, "shared")]
    return np.asarray(selected.sum_by_set(selected.gather(column), aggregate.present) == 0)


def _bound_hits(moments: Moments, selected: SelectedValues) -> Array:
    """Bound the hits of each selected value, C x n: at most f_v, and at most its places beside hits, b_v."""
    return np.minimum(selected.gather(moments.columns["shared"]), moments.totals[selected.code])


def _bound_rows(moments: Moments, selected: SelectedValues) -> tuple[Array, Array]:
    """Bound the selected rows that are hits, C x J x K: by groups, by totals, by inclusion and exclusion."""
    rows = moments.count("uniform")
    cases = rows.shape[1]
    most = selected.sum_by_case(_bound_hits(moments, selected), cases)
    totals = selected.sum_by_case(np.broadcast_to(moments.totals[selected.code], (1, len(selected.code))), cases)
    # |hits ∩ selected| >= |hits| + |selected| - N: so many rows have no room outside.
    forced = rows[:, None, :] + totals - moments.row_count
    return np.maximum(forced, 0.0), np.minimum(most, rows[:, None, :])


def _bound_weights(moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
    """Bound SUM and AVG of an expression that has one value w_v per sensitive value."""
    most, weights = _bound_hits(moments, selected), aggregate.weights
    if aggregate.function == "sum":
        ones = np.ones_like(weights)
        low, high = np.minimum(weights * most, 0.0), np.maximum(weights * most, 0.0)
        return selected.sum_by_set(low, ones), selected.sum_by_set(high, ones)
    # A mean lies between the least and the largest w of a value that some hit may have.
    possible = np.where((most > 0) & (aggregate.present > 0), weights, np.nan)
    low, high = selected.range_by_case(possible, possible, moments.count("uniform").shape[1])
    return np.fmin.reduce(low, axis=2), np.fmax.reduce(high, axis=2)


def _bound_measures(
    moments: Moments, selected: SelectedValues, aggregate: LinearAggregate, bounds: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Bound SUM and AVG of an expression of the rows by its least and largest value and its positive part."""
    rows, number = moments.count("uniform"), aggregate.number
    lows, highs = (selected.gather(moments.columns[f"{name}_{number}"]) for name in ("least", "largest"))
    low, high = selected.range_by_case(lows, highs, rows.shape[1])
    if aggregate.function == "avg":
        return np.fmin.reduce(low, axis=2), np.fmax.reduce(high, axis=2)
    # Rows whose e is NULL may be among the selected ones, or all outside: the bounds of the count widen by them.
    count = moments.count(f"count_uniform_{number}")
    least = np.maximum(bounds[0] - (rows - count)[:, None, :], 0)
    most = np.minimum(bounds[1], count[:, None, :])
    positive = moments.columns[f"positive_uniform_{number}"].sum(axis=2)[:, None, :]
    negative = positive - moments.columns[f"sum_uniform_{number}"].sum(axis=2)[:, None, :]
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    # The slack keeps a bound that is reached from cutting into the rounding of a sum.
    # Where every e that may count is 0, there is nothing to round.
    slack = np.where((low == 0) & (high == 0), 0.0, 1e-9 * (positive + negative))
    # Fewest rows where each adds, most where each takes off; never beyond the sum of all negative or positive e.
    bottom = np.maximum(-negative - slack, np.where(low < 0, most, least) * low - slack)
    top = np.minimum(positive + slack, np.where(high > 0, most, least) * high + slack)
    # Where no e is negative no sum is, whatever was rounded.
    bottom = np.where(low >= 0, np.maximum(bottom, 0.0), bottom)
    top = np.where(high <= 0, np.minimum(top, 0.0), top)
    return bottom.sum(axis=2), top.sum(axis=2)
