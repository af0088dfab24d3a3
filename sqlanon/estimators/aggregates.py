"""The aggregates that recipients may ask for: their sums, estimates, bounds, SQL.

Other code asks the object; it never compares an aggregate's name. Axes as in `moments`.

A linear estimate is Σ_v a_v m_v with m_v the mean of what is measured over v's rows. Its error is that of the m_v, so
that the covariance of two pairs what they measure on a row with the directions of their a.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.estimators.moments import Moments, SelectedValues


@dataclass(frozen=True)
class LinearAggregate:
    """One aggregate as arrays see it: made of sums over the selected v of w_v f_v p_v.

    function: what it makes of them. number: of the measured expression e over rows; None: every hit counts 1.
    weights: w of the selected values, length n, 0 for NULL: of a product what e is multiplied by, else 1 beside a
    number. present: 1 where w is not NULL, else 0. log: the number of ln |e|, of a product whose variance asks for it.
    """

    function: "Function"
    number: int | None
    weights: Array
    present: Array
    log: int | None = None

    @property
    def degree(self) -> int:
        """Return the power of e in the numerator."""
        return int(self.number is not None)

    @property
    def is_product(self) -> bool:
        """Tell whether e is multiplied by what sensitive values say."""
        return self.number is not None and not np.array_equal(self.weights, self.present)

    def choose(self, inside: BoolArray) -> "LinearAggregate":
        """Return the same of some of the selected values: where `inside` (n) is true."""
        return replace(self, weights=self.weights[inside], present=self.present[inside])

    def parts(self) -> list[tuple[int, Array]]:
        """Return the sums that it is made of, as (power of e, weights)."""
        return [(self.degree, self.weights), *([(0, self.present)] if self.function.is_ratio else [])]

    def column(self, degree: int, weighting: str = "uniform") -> str:
        """Return the moments' column for e^degree; weighting is `shared` or `uniform`."""
        if self.number is None:
            return weighting
        return f"{('count', 'sum', 'square')[degree]}_{weighting}_{self.number}"

    def is_null(self, moments: Moments, selected: SelectedValues) -> BoolArray:
        """Return where surely no row is counted and the answer is NULL, C x J; nowhere for a count, which is 0.

        moments, selected: what the query hits, and the values that it selects.
        """
        column = moments.columns[self.column(0, "shared")]
        empty = np.asarray(selected.sum_by_set(selected.gather(column), self.present) == 0)
        return empty & (not self.function.counts)


@dataclass(frozen=True)
class Pair:
    """Two sums over rows, and the number of the product of what they measure; None: it is no measure of its own."""

    one: LinearAggregate
    other: LinearAggregate
    product: int | None

    def turned(self, turn: int) -> "Pair":
        """Return the pair itself (`turn` 0), or each of its sums with itself (1, 2)."""
        if turn == 0:
            return self
        single = (self.one, self.other)[turn - 1]
        return Pair(single, single, None)

    @property
    def product_column(self) -> str:
        """Return the moments' `uniform` column of what the two measure, multiplied."""
        if self.product is not None:
            return f"sum_uniform_{self.product}"
        if self.one.number is None:
            return self.other.column(self.other.degree)
        return self.one.column(2 if self.one.number == self.other.number else 1)


def correlate(top: Array, one: Array, other: Array) -> Array:
    """Return two estimates' correlation: `top` their covariance, `one`, `other` their variances.

    0 without error, NaN where an error is not known (infinite).
    """
    with np.errstate(invalid="ignore"):
        size = np.sqrt(np.maximum(one, 0.0) * np.maximum(other, 0.0))
    told = np.where(np.isfinite(size), 0.0, np.nan)
    return np.asarray(np.clip(np.divide(top, size, out=told, where=(size > 0) & np.isfinite(size)), -1.0, 1.0))


@dataclass(frozen=True)
class Function:
    """An aggregate function of SQL: a sum, or a ratio of two; `name` is its own in lower case.

    counts: whether it is a number of rows, which is 0 over none and moves by one; others are NULL over no row.
    is_ratio: whether it is the first of two sums by the second, the rows that are counted.
    inverts: whether it is no function of sums, but a value at which shares of rows reach a level (`Quantile`).
    """

    name: str
    counts: bool = False
    is_ratio: bool = False
    inverts = False

    def estimate(self, sums: Sequence[Array]) -> Array:
        """Return the answer from its sums (of `LinearAggregate.parts`, one shape); NaN over no rows."""
        if not self.is_ratio:
            return sums[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(sums[1] > 0, sums[0] / sums[1], np.nan)

    def bound(self, moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Return the least and the largest answer that the release allows, C x J; NaN where none is known.

        moments, selected: what the query hits, and the values that it selects. aggregate: what is asked of them.
        """
        if self.counts:
            least, most = _bound_rows(moments, selected)
            return least.sum(axis=2), most.sum(axis=2)
        if self.is_ratio:
            return _bound_average(moments, selected, aggregate)
        if aggregate.number is not None:
            return _bound_measured_sum(moments, selected, aggregate)
        each, ones = aggregate.weights * _bound_hits(moments, selected), np.ones_like(aggregate.weights)
        return selected.sum_by_set(np.minimum(each, 0.0), ones), selected.sum_by_set(np.maximum(each, 0.0), ones)

    @property
    def of_values(self) -> "Function":
        """The function that says the same of an argument's values: of a count, whose argument is 1 or NULL, the sum."""
        return SUM if self.counts else self


@dataclass(frozen=True)
class Quantile(Function):
    """The value of the row at a share of all rows in order; NULL has no place among them.

    name: as an answer's column is called. level: the share, 0 to 1; None where a query says it. interpolates: whether
    the value lies between those of two rows, as the level does (QUANTILE_CONT), or is a row's own (QUANTILE_DISC).

    F(t) = COUNT(x <= t) / COUNT(x) is estimated at values t of x, and inverted: the interval holds all t at which the
    interval of F holds the level (Woodruff, Confidence Intervals for Medians and Other Position Measures, 1952).
    """

    interpolates: bool = True
    level: float | None = None
    inverts = True

    def rank_rows(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return which rows in order, from 1, the quantile of so many rows lies between, and how near the second."""
        level, counted = self.level, np.maximum(rows, 1.0)
        assert level is not None
        if not self.interpolates:
            rank = np.maximum(np.ceil(level * counted - 1e-9 * (1 + level * counted)), 1.0)
            return rank, rank, np.zeros_like(rank)
        position = (counted - 1) * level
        return np.floor(position) + 1, np.ceil(position) + 1, position - np.floor(position)

    def bound_levels(self, least_rows: Array) -> tuple[Array, Array]:
        """Return a lower and an upper level of F, each shaped as `least_rows`, for the ends of an interval.

        Whatever the number of rows is, from the least on, F reaches the lower one not after the first of `rank_rows`,
        and the upper one not before the second.
        """
        level, counted = self.level, np.maximum(least_rows, 1.0)
        assert level is not None
        if not self.interpolates:
            return np.full_like(counted, level), np.full_like(counted, level)
        # C(t) >= floor(q (N - 1)) + 1 is F(t) > q (1 - 1/N), and C(t) >= ceil(q (N - 1)) + 1 is F(t) >= q + (1 - q)/N
        # where these are whole: both widen as N falls.
        return level * (1 - 1 / counted), level + (1 - level) / counted


@dataclass(frozen=True)
class Moment(Function):
    """A function of means, which is asked for as an expression over averages.

    formula: SQL over x, y, xx, yy and xy, the means of the arguments (less what is near their means) and of their
    products, and n, the rows where none is NULL: of something that a number added to an argument does not change.
    """

    formula: str = ""


COUNT, SUM, AVG = Function("count", counts=True), Function("sum"), Function("avg", is_ratio=True)
# greatest and least pass over NULL, which stands where no row counts
_VARIANCE, _OTHER_VARIANCE = (
    f"(case when {x * 2} is not null then greatest({x * 2} - {x} * {x}, 0) end)" for x in "xy"
)
_COVARIANCE = "(xy - x * y)"
_SAMPLE = " * case when n > 1 then n / (n - 1) end"
_MOMENTS = {  # by the name of the parser's node in lower case
    "variance": Moment("var_samp", formula=_VARIANCE + _SAMPLE),
    "variancepop": Moment("var_pop", formula=_VARIANCE),
    "stddev": Moment("stddev", formula=f"sqrt({_VARIANCE}{_SAMPLE})"),
    "stddevsamp": Moment("stddev_samp", formula=f"sqrt({_VARIANCE}{_SAMPLE})"),
    "stddevpop": Moment("stddev_pop", formula=f"sqrt({_VARIANCE})"),
    "covarsamp": Moment("covar_samp", formula=_COVARIANCE + _SAMPLE),
    "covarpop": Moment("covar_pop", formula=_COVARIANCE),
    "corr": Moment(
        "corr",
        formula=f"case when {_VARIANCE} * {_OTHER_VARIANCE} > 0"
        f" then greatest(least({_COVARIANCE} / sqrt({_VARIANCE} * {_OTHER_VARIANCE}), 1), -1) end",
    ),
    "regrslope": Moment("regr_slope", formula=f"{_COVARIANCE} / nullif({_OTHER_VARIANCE}, 0)"),  # of x on y, as in SQL
}
MEDIAN = Quantile("median", level=0.5)
QUANTILE_CONT, QUANTILE_DISC = Quantile("quantile_cont"), Quantile("quantile_disc", interpolates=False)
# By the name of the parser's node in lower case.
FUNCTIONS: dict[str, Function] = {
    "count": COUNT,
    "sum": SUM,
    "avg": AVG,
    "median": MEDIAN,
    "percentilecont": QUANTILE_CONT,
    "percentiledisc": QUANTILE_DISC,
    "quantile": QUANTILE_DISC,
    **_MOMENTS,
}


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


def _bound_average(moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
    """Return the least and the largest value that some hit may have, C x J, which bound a mean."""
    if aggregate.number is None:
        most = _bound_hits(moments, selected)
        lows = highs = np.where((most > 0) & (aggregate.present > 0), aggregate.weights, np.nan)
    else:
        lows, highs = _gather_extremes(moments, selected, aggregate)
    low, high = selected.range_by_case(lows, highs, moments.count("uniform").shape[1])
    return np.fmin.reduce(low, axis=2), np.fmax.reduce(high, axis=2)


def _gather_extremes(moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
    """Return the least and the largest of what is summed beside each selected value, C x n each; NaN for NULL."""
    ends = np.stack([selected.gather(moments.columns[f"{name}_{aggregate.number}"]) for name in ("least", "largest")])
    ends = ends * np.where(aggregate.present > 0, aggregate.weights, np.nan)
    return ends.min(axis=0), ends.max(axis=0)


def _bound_measured_sum(moments: Moments, selected: SelectedValues, aggregate: LinearAggregate) -> tuple[Array, Array]:
    """Bound a sum of what rows measure by its least and largest value and its positive part, C x J."""
    rows, number = moments.count("uniform"), aggregate.number
    low, high = selected.range_by_case(*_gather_extremes(moments, selected, aggregate), rows.shape[1])
    least, most = _bound_rows(moments, selected.narrow(aggregate.present > 0))
    # Rows whose e is NULL may be among the selected ones, or all outside: the bounds of the count widen by them.
    count = moments.count(f"count_uniform_{number}")
    least = np.maximum(least - (rows - count)[:, None, :], 0)
    most = np.minimum(most, count[:, None, :])
    above = moments.columns[f"positive_uniform_{number}"].sum(axis=2)[:, None, :]
    below = above - moments.columns[f"sum_uniform_{number}"].sum(axis=2)[:, None, :]
    # what is positive times the largest weight, or negative times the least one, is at most the positive part
    weights = aggregate.weights[None]
    least_weight, weight = selected.range_by_case(weights, weights, rows.shape[1])
    weight, turned = np.fmax(weight, 0.0), np.fmax(-least_weight, 0.0)
    positive, negative = weight * above + turned * below, weight * below + turned * above
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
