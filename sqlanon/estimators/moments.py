"""What a query's hits say of counts and sums, as arrays, and the bounds that they prove.

Axes: C cells (combinations of quasi keys), K cases (values that a mixed condition does not tell apart),
V sensitive values, n asked values, J asked sets (combinations of sensitive keys).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class SelectedValues:
    """Hold the values that a query's sensitive part leaves: code, case and set of each, length n."""

    code: Whole
    case: Whole
    set: Whole
    set_count: int

    def combos(self) -> list[tuple[int, int]]:
        """Return the pairs (set, case) that hold a value."""
        return sorted(set(zip(self.set.tolist(), self.case.tolist(), strict=True)))

    def gathered(self, array: Array) -> Array:
        """Take from C x K x V what each asked value counts in its own case: C x n."""
        return np.asarray(array[:, self.case, self.code])

    def sum_by_set(self, gathered: Array, weights: Array) -> Array:
        """Sum gathered (C x n) times weights (n) over each asked set: C x J."""
        found = np.zeros((self.set_count, len(gathered)))
        np.add.at(found, self.set, (gathered * weights).T)
        return found.T

    def by_case(self, gathered: Array, case_count: int) -> Array:
        """Sum gathered (C x n) over each set and case: C x J x K."""
        found = np.zeros((self.set_count, case_count, len(gathered)))
        np.add.at(found, (self.set, self.case), gathered.T)
        return found.transpose(2, 0, 1)

    def extreme(self, gathered: Array, case_count: int, largest: bool) -> Array:
        """Take the least or the largest of gathered (C x n, NaN left out) per set and case: C x J x K."""
        found = np.full((self.set_count, case_count, len(gathered)), np.nan)
        choose = np.fmax if largest else np.fmin
        choose.at(found, (self.set, self.case), gathered.T)
        return found.transpose(2, 0, 1)


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
    """One aggregate as arrays see it: the sum over the asked v of w_v f_v p_v, for AVG over such a sum.

    function: count, sum or avg. number: the measured expression e of the rows; None: every hit counts 1.
    weights: w of the asked values, length n, 0 for NULL. present: 1 where w is not NULL, else 0.
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


def bound_answer(moments: Moments, asked: SelectedValues, measured: LinearAggregate) -> tuple[Array, Array]:
    """Return the least and the largest answer that the release allows, C x J; NaN for none known."""
    least, most = _row_bounds(moments, asked)
    if measured.function == "count":
        return least.sum(axis=2), most.sum(axis=2)
    if measured.number is None:
        return _weight_bounds(moments, asked, measured)
    return _value_bounds(moments, asked, measured, least, most)


def is_empty(moments: Moments, asked: SelectedValues, measured: LinearAggregate) -> NDArray[np.bool_]:
    """Tell where surely no row is counted, C x J: there SUM and AVG are NULL."""
    column = moments.columns[measured.column(0, "shared")]
    return np.asarray(asked.sum_by_set(asked.gathered(column), measured.present) == 0)


def _most(moments: Moments, asked: SelectedValues) -> Array:
    """Bound the hits of each asked value, C x n: at most f_v, and at most its places beside hits, b_v."""
    return np.minimum(asked.gathered(moments.columns["shared"]), moments.totals[asked.code])


def _row_bounds(moments: Moments, asked: SelectedValues) -> tuple[Array, Array]:
    """Bound the asked rows that are hits, C x J x K: by groups, by totals, by inclusion and exclusion."""
    rows = moments.count("uniform")
    cases = rows.shape[1]
    most = asked.by_case(_most(moments, asked), cases)
    totals = asked.by_case(np.broadcast_to(moments.totals[asked.code], (1, len(asked.code))), cases)
    forced = rows[:, None, :] + totals - moments.row_count
    return np.maximum(forced, 0.0), np.minimum(most, rows[:, None, :])


def _weight_bounds(moments: Moments, asked: SelectedValues, measured: LinearAggregate) -> tuple[Array, Array]:
    """Bound SUM and AVG of an expression that has one value w_v per sensitive value."""
    most, weights = _most(moments, asked), measured.weights
    if measured.function == "sum":
        ones = np.ones_like(weights)
        low, high = np.minimum(weights * most, 0.0), np.maximum(weights * most, 0.0)
        return asked.sum_by_set(low, ones), asked.sum_by_set(high, ones)
    possible = np.where((most > 0) & (measured.present > 0), weights, np.nan)
    cases = moments.count("uniform").shape[1]
    low, high = (asked.extreme(possible, cases, largest) for largest in (False, True))
    return np.fmin.reduce(low, axis=2), np.fmax.reduce(high, axis=2)


def _value_bounds(
    moments: Moments, asked: SelectedValues, measured: LinearAggregate, least_rows: Array, most_rows: Array
) -> tuple[Array, Array]:
    """Bound SUM and AVG of an expression of the rows by its least and largest value and its positive part."""
    rows, number = moments.count("uniform"), measured.number
    cases = rows.shape[1]
    low, high = (
        asked.extreme(asked.gathered(moments.columns[f"{name}_{number}"]), cases, largest)
        for name, largest in (("least", False), ("largest", True))
    )
    if measured.function == "avg":
        return np.fmin.reduce(low, axis=2), np.fmax.reduce(high, axis=2)
    counted = moments.count(f"count_uniform_{number}")
    least = np.maximum(least_rows - (rows - counted)[:, None, :], 0)
    most = np.minimum(most_rows, counted[:, None, :])
    positive = moments.columns[f"positive_uniform_{number}"].sum(axis=2)[:, None, :]
    negative = positive - moments.columns[f"sum_uniform_{number}"].sum(axis=2)[:, None, :]
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    # The slack keeps a bound that is reached from cutting into the rounding of a sum.
    slack = 1e-9 * (positive + negative)
    bottom = np.maximum(-negative - slack, np.where(low < 0, most, least) * low - slack)
    top = np.minimum(positive + slack, np.where(high > 0, most, least) * high + slack)
    return bottom.sum(axis=2), top.sum(axis=2)
