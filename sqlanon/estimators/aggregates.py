"""The aggregates that recipients ask for, an object each: of which sums one is made, how, and within which bounds.

SQL, arrays and sentences ask the object, and nobody compares its name. Axes as in `moments`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.estimators.moments import Moments, SelectedValues


@dataclass(frozen=True)
class LinearAggregate:
    """One aggregate as arrays see it: made of sums over the selected v of w_v f_v p_v.

    function: what it makes of them. number: of the measured expression e over rows; None: every hit counts 1.
    weights: w of the selected values, length n, 0 for NULL. present: 1 where w is not NULL, else 0.
    """

    function: "Function"
    number: int | None
    weights: Array
    present: Array

    @property
    def degree(self) -> int:
        """Return the power of e in the numerator."""
        return 0 if self.number is None else 1

    def parts(self) -> list[tuple[int, Array]]:
        """Return the sums that it is made of, as (power of e, weights)."""
        return self.function.parts(self)

    def column(self, degree: int, kind: str) -> str:
        """Return the moments' column for e^degree; kind is `shared` or `uniform`."""
        if self.number is None:
            return kind
        return f"{('count', 'sum', 'square')[degree]}_{kind}_{self.number}"

    def is_null(self, moments: Moments, selected: SelectedValues) -> BoolArray:
        """Tell where surely no row is counted, C x J, and the answer is NULL."""
        column = moments.columns[self.column(0, "shared")]
        empty = np.asarray(selected.sum_by_set(selected.gather(column), self.present) == 0)
        return empty & (not self.function.counts)


class Function:
    """An aggregate function of SQL; `name` is its own in lower case.

    counts: whether it is a number of rows, which is 0 over none and moves by one; others are NULL over no row.
    is_ratio: whether it is the first of two sums by the second, the rows that are counted.
    """

    name: str
    counts = False
    is_ratio = False

    def parts(self, aggregate: LinearAggregate) -> list[tuple[int, Array]]:
        """Return the sums that it is made of, as (power of e, weights)."""
        return [(aggregate.degree, aggregate.weights)]

    def bound(self, moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Return the least and the largest answer that the release allows, C x J; NaN where none is known."""
        raise NotImplementedError

    def estimate(self, sums: Sequence[Array]) -> Array:
        """Return the answer from its sums; NaN where there is none."""
        return sums[0]

    def write(self, total: str, rows: str, is_met: str) -> str:
        """Write the answer in SQL, from the sum, the number of rows, and the condition that a row is counted."""
        return f"case when {is_met} then coalesce({total}, 0) end"

    @property
    def of_values(self) -> "Function":
        """The function that says the same of an argument's values."""
        return self


class Count(Function):
    """COUNT(*); COUNT of an argument is the sum of 1 over the rows where it is not NULL."""

    name = "count"
    counts = True

    def bound(self, moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Return the least and the most selected rows that are hits, C x J."""
        least, most = _bound_rows(moments, selected)
        return least.sum(axis=2), most.sum(axis=2)

    def write(self, total: str, rows: str, is_met: str) -> str:
        """Write the count, which is 0 over no row."""
        return f"coalesce({total}, 0)"

    @property
    def of_values(self) -> Function:
        """The sum: its argument is 1 or NULL."""
        return SUM


class Sum(Function):
    """SUM of an argument."""

    name = "sum"

    def bound(self, moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Bound by the hits of each value, or by the least and largest e and its positive part, C x J."""
        if aggregate.number is not None:
            return _bound_measured_sum(moments, selected, aggregate.number)
        most, weights = _bound_hits(moments, selected), aggregate.weights
        ones = np.ones_like(weights)
        low, high = np.minimum(weights * most, 0.0), np.maximum(weights * most, 0.0)
        return selected.sum_by_set(low, ones), selected.sum_by_set(high, ones)


class Average(Function):
    """AVG of an argument: its sum by the rows where it is not NULL."""

    name = "avg"
    is_ratio = True

    def parts(self, aggregate: LinearAggregate) -> list[tuple[int, Array]]:
        """Return the sum, and the rows that are counted."""
        return [*super().parts(aggregate), (0, aggregate.present)]

    def bound(self, moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Bound a mean by the least and the largest value that some hit may have, C x J."""
        if aggregate.number is None:
            most = _bound_hits(moments, selected)
            lows = highs = np.where((most > 0) & (aggregate.present > 0), aggregate.weights, np.nan)
        else:
            lows, highs = _gather_extremes(moments, selected, aggregate.number)
        low, high = selected.range_by_case(lows, highs, moments.count("uniform").shape[1])
        return np.fmin.reduce(low, axis=2), np.fmax.reduce(high, axis=2)

    def estimate(self, sums: Sequence[Array]) -> Array:
        """Divide; NaN over no rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(sums[1] > 0, sums[0] / sums[1], np.nan)

    def write(self, total: str, rows: str, is_met: str) -> str:
        """Write the quotient."""
        return f"case when {is_met} then {total} / {rows} end"


COUNT, SUM, AVG = Count(), Sum(), Average()
FUNCTIONS: dict[str, Function] = {function.name: function for function in (COUNT, SUM, AVG)}


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


def _gather_extremes(moments: Moments, selected: SelectedValues, number: int) -> tuple[Array, Array]:
    """Return the least and the largest e beside each selected value, C x n each."""
    low, high = (selected.gather(moments.columns[f"{name}_{number}"]) for name in ("least", "largest"))
    return low, high


def _bound_measured_sum(moments: Moments, selected: SelectedValues, number: int) -> tuple[Array, Array]:
    """Bound the sum of an expression of the rows by its least and largest value and its positive part, C x J."""
    rows = moments.count("uniform")
    low, high = selected.range_by_case(*_gather_extremes(moments, selected, number), rows.shape[1])
    least, most = _bound_rows(moments, selected)
    # Rows whose e is NULL may be among the selected ones, or all outside: the bounds of the count widen by them.
    count = moments.count(f"count_uniform_{number}")
    least = np.maximum(least - (rows - count)[:, None, :], 0)
    most = np.minimum(most, count[:, None, :])
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
