"""Quantiles of one query: counts below thresholds are estimated as any other, and inverted.

Thresholds are read by their rank among the different values of what the quantile is of: a few over the whole range,
then those between which an answer or an end of its interval lies. Memory grows with the thresholds, never with rows.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.failures import is_numeric
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimators.aggregates import AVG, COUNT, SUM, Quantile
from sqlanon.estimators.evidence import NORMAL_QUANTILE, Array, BoolArray, IntArray
from sqlanon.estimators.inversion import Bracketed, Shares, choose_ranks, invert
from sqlanon.plans.templates import Sql, literal
from sqlanon.sql.aggregate_query import Aggregate, Piece, Query

FIRST_LOOK = 6  # thresholds over the whole range
MOST_AT_ONCE = 32  # thresholds of one query
MOST_THRESHOLDS = 1_024  # of one quantile; then its interval ends where the nearest of them do
LARGEST_KEPT = 16_000_000  # shares of all answers at all thresholds
LARGEST_READ = 4_000_000  # numbers that one query of thresholds may read, about
_COLUMN = re.compile(r'"?(quasi_\d+)"?')
_TYPES = "MEDIAN and quantiles are of numbers, dates and timestamps; one was asked of {} values"
_ENDLESS = (
    "a quantile was asked of an expression that is NaN, infinite or before the year 1 in a row; leave such rows out"
    " with WHERE"
)
_DERIVED = "an expression over a quantile of dates is not answered; ask for the quantile itself"
_RANGES = "a quantile is not answered of this expression: what a row may hold of it is open; ask for that of a column"
_COARSE = (
    "{}: of {:,} different values {:,} were tried as thresholds; ends of intervals that lie between two of these reach"
    " as far as the further one"
)
Start = Callable[[Query], QueryRun]


def quantile_numbers(query: Query) -> list[int]:
    """Return the numbers of the query's aggregates that are quantiles."""
    return [number for number, aggregate in enumerate(query.aggregates) if aggregate.function.inverts]


def count_rows_of_quantiles(query: Query, of_columns: bool) -> Query:
    """Return the query with the numbers of their rows in the place of quantiles.

    of_columns: whether the form counts the values of a column; else all rows are counted.
    """
    aggregates = [
        Aggregate(COUNT, _write_case(aggregate.argument, "is not null") if of_columns else None, aggregate.chosen)
        if aggregate.function.inverts
        else aggregate
        for aggregate in query.aggregates
    ]
    return replace(query, aggregates=tuple(aggregates))


@dataclass
class QuantileSearch:
    """The quantiles of one query. start: starts the run of another query over the same tables, ready to run.

    has_errors: whether shares of rows have error bars, or else bounds that follow from bounds of counts.
    """

    query: Query
    start: Start
    estimate: Estimator
    has_errors: bool
    messages: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def find(self) -> dict[int, dict[str, Any]]:
        """Return by the quantiles' numbers the fields of every kind of estimate, cells x value sets each."""
        return {number: self._find(number) for number in quantile_numbers(self.query)}

    def _find(self, number: int) -> dict[str, Any]:
        aggregate = self.query.aggregates[number]
        quantile = aggregate.function
        assert isinstance(quantile, Quantile)
        assert aggregate.argument is not None
        run = self.start(self.plain(aggregates=(Aggregate(COUNT),)))
        reader = (_AverageShares if run.answers_averages else _CountedShares)(self, aggregate)
        try:
            thresholds = _Thresholds(aggregate.argument, run, self.has_errors)
            if any(number in derived.read for derived in self.query.derived) and not thresholds.numeric:
                raise QueryError(_DERIVED)
            return self._invert(quantile, thresholds, reader)
        finally:  # what is refused has made tables, too
            run.space.forget(run.made)

    def plain(self, **changes: Any) -> Query:
        """Return the query without what is asked of its figures."""
        nothing: dict[str, Any] = {"items": (), "order": (), "limit": None, "derived": (), "having": ()}
        return replace(self.query, **nothing, **changes)

    def _invert(self, quantile: Quantile, thresholds: "_Thresholds", reader: "_Reader") -> dict[str, Any]:
        """Ask for shares at more and more thresholds until the answers and their ends lie between two neighbours."""
        last = max(thresholds.count - 1, 0)
        first_look = np.linspace(0, last, min(last + 1, FIRST_LOOK)).astype(np.int64)
        shares, turn = reader.begin(first_look, thresholds), 0
        most = min(MOST_THRESHOLDS, LARGEST_KEPT // max(len(shares.rows), 1))
        while True:
            bracket = invert(shares, quantile)
            wanted = choose_ranks(shares, bracket, halving=turn >= 2)
            if not wanted or len(shares.rank) + len(wanted) > most:
                break
            shares, turn = reader.add(shares, wanted, thresholds), turn + 1
        if wanted:
            self.messages.append(_COARSE.format(quantile.name, thresholds.count, len(shares.rank)))
        return self._place(bracket, shares, thresholds, reader.shape)

    def _place(
        self, bracket: Bracketed, shares: Shares, thresholds: "_Thresholds", shape: tuple[int, ...]
    ) -> dict[str, Any]:
        """Return the values between which the quantiles and their intervals lie."""
        targets = bracket.first, bracket.second, bracket.high
        first, second, high = (thresholds.read(shares.rank[target.place]) for target in targets)
        low = thresholds.read(np.minimum(bracket.low.before + 1, shares.rank[-1]))
        low, high = np.minimum(low, first), np.maximum(high, second)
        value = thresholds.between(first, second, bracket.nearness)
        neighbours = [shares.rank[target.place] - target.before == 1 for target in (bracket.first, bracket.second)]
        exact = bracket.exact & neighbours[0] & neighbours[1]
        low, high = np.where(exact, value, low), np.where(exact, value, high)
        nothing = np.array("NaT" if not thresholds.numeric else np.nan, dtype=value.dtype)
        value = np.where(bracket.null, nothing, value)
        low, high = (np.where(bracket.null | bracket.is_open, nothing, end) for end in (low, high))
        error = (high - low) / thresholds.unit / (2 * NORMAL_QUANTILE)
        if not self.has_errors:
            error = np.where(exact & ~bracket.null, 0.0, np.nan)
        fields = {"value": value, "std_error": error, "low": low, "high": high, "centre": value}
        return {name: array.reshape(shape) for name, array in fields.items()}


class _Thresholds:
    """The different values of what a quantile is of, in order, as they are needed."""

    def __init__(self, argument: Piece, run: QueryRun, has_errors: bool) -> None:
        """Number the values that the rows may have; `run` reads the tables in which they stand."""
        self._run, self._texts = run, dict[int, str]()
        of_values = argument.role in ("constant", "sensitive")
        domain = run.relations["value"] if of_values else run.people
        sql_type = run.space.read_type(argument.sql, domain)
        self.numeric = is_numeric(sql_type)
        if not (self.numeric or sql_type == "DATE" or re.fullmatch(r"TIMESTAMP(_S|_MS)?", sql_type)):
            raise QueryError(_TYPES.format(sql_type))
        self.type = Sql(sql_type)
        self.unit: Any = 1.0 if self.numeric else np.timedelta64(1, "D")  # of differences
        conditions = run.query.filters(*(("sensitive",) if of_values else ("constant", "quasi", "mixed")))
        if not (of_values or has_errors):
            columns = set(_COLUMN.findall(argument.sql))
            if len(columns) != 1 or not (run.answers_averages or _COLUMN.fullmatch(argument.sql)):
                raise QueryError(_RANGES)
            domain, conditions = run.domain(columns.pop()), []
        text = run.space.render(
            "estimation/quantile_search/threshold",
            {"asked": domain},
            argument=argument.sql,
            conditions=[piece.sql for piece in conditions],
        )
        self._relation = run.keep("threshold", text)
        (size,) = run.space.engine.rows(f"select count(*) as row_count from {self._relation}")
        self.count = int(size["row_count"])
        if self.count and self.numeric and not np.isfinite(self.read(np.array([0, self.count - 1]))).all():
            raise AnswerError(_ENDLESS)

    def write(self, rank: int) -> Sql:
        """Write one value as SQL."""
        return Sql(f"cast({literal(self._texts[rank])} as {self.type})")

    def read(self, ranks: IntArray) -> Array:
        """Return values by their ranks: numbers, or times in microseconds."""
        if not self.count:
            return np.full(len(ranks), np.nan) if self.numeric else np.full(len(ranks), np.datetime64("NaT", "us"))
        missing = sorted(set(ranks.tolist()) - set(self._texts))
        if missing:
            chosen = ", ".join(map(str, missing))
            sql = f"select rank, written from {self._relation} where rank in ({chosen})"
            self._texts |= {int(row["rank"]): str(row["written"]) for row in self._run.space.engine.rows(sql)}
        different, place = np.unique(ranks, return_inverse=True)
        values = np.array([self._parse(self._texts[rank]) for rank in different.tolist()])
        return np.asarray(values[place])

    def _parse(self, text: str) -> Any:
        if self.numeric:
            return {"true": 1.0, "false": 0.0}.get(text) if text in ("true", "false") else float(text)
        try:
            return np.datetime64(text, "us")
        except ValueError:
            raise AnswerError(_ENDLESS) from None

    def between(self, first: Array, second: Array, nearness: Array) -> Array:
        """Return what lies between two values, as the database places it: dates to the microsecond."""
        if self.numeric:
            return first * (1.0 - nearness) + second * nearness
        start, end = (side.astype(np.int64) for side in (first, second))
        place = start + (end - start) * nearness
        rounded = np.copysign(np.floor(np.abs(place) + 0.5), place).astype(np.int64)
        return np.where(np.isnat(first), first, rounded.astype("datetime64[us]"))


class _Reader:
    """Estimate the shares of rows below thresholds. shape: cells x value sets, known once something is read."""

    shape: tuple[int, ...] = ()

    def __init__(self, search: QuantileSearch, aggregate: Aggregate) -> None:
        """Take the search, and the quantile as an aggregate."""
        assert aggregate.argument is not None
        self.search, self.aggregate, self.argument = search, aggregate, aggregate.argument

    def begin(self, ranks: IntArray, thresholds: _Thresholds) -> Shares:
        """Return the shares at some ranks, the largest of all among them: there it is 1."""
        thresholds.read(ranks)
        kept = ranks[:-1] if thresholds.count else ranks[:0]
        shares = self.read_shares([(thresholds.write(rank), None) for rank in kept.tolist()])
        whole = np.ones((1, len(shares.rows)))
        joined = [np.concatenate([array, whole]) for array in (shares.value, shares.low, shares.high)]
        known = np.concatenate([shares.known, whole > 0])
        rank = ranks if thresholds.count else np.zeros(1, dtype=np.int64)
        value, low, high = joined
        return Shares(
            rank=rank, value=value, low=low, high=high, known=known, rows=shares.rows, least_rows=shares.least_rows
        )

    def add(self, shares: Shares, wanted: Mapping[int, BoolArray], thresholds: _Thresholds) -> Shares:
        """Return the shares at more ranks, each of which some answers ask for."""
        ranks = sorted(wanted)
        thresholds.read(np.array(ranks))
        step = self.most_at_once()
        for start in range(0, len(ranks), step):
            chunk = ranks[start : start + step]
            new = self.read_shares([(thresholds.write(rank), wanted[rank].reshape(self.shape)) for rank in chunk])
            shares = _merge(shares, replace(new, rank=np.array(chunk)))
        return shares

    def most_at_once(self) -> int:
        """Return how many thresholds the next query may have."""
        raise NotImplementedError

    def read_shares(self, thresholds: "Sequence[tuple[Sql, BoolArray | None]]") -> Shares:
        """Return the shares at thresholds, without their ranks; each with the cells x sets that ask for it, or all."""
        raise NotImplementedError

    def note(self, run: QueryRun) -> None:
        """Keep what a run says, once."""
        for kept, said in ((self.search.messages, run.messages), (self.search.remarks, run.remarks)):
            kept += [text for text in said if text not in kept]


class _AverageShares(_Reader):
    """Shares as averages of 1 below a threshold and 0 above: many in one query, with the error of a ratio."""

    _selected = 1

    def most_at_once(self) -> int:
        """Return how many thresholds the next query may have: each measures every value in every cell."""
        fit = LARGEST_READ // (10 * max(math.prod(self.shape), 1) * max(self._selected, 1))
        return min(max(fit, 4), MOST_AT_ONCE)

    def read_shares(self, thresholds: "Sequence[tuple[Sql, BoolArray | None]]") -> Shares:
        """Return the shares at thresholds; forms that solve cell by cell solve those alone that are asked for."""
        chosen = self.aggregate.chosen
        aggregates = [Aggregate(SUM, _write_case(self.argument, "is not null"), chosen)]
        aggregates += [Aggregate(AVG, _write_below(self.argument, text), chosen) for text, _ in thresholds]
        run = self.search.start(self.search.plain(aggregates=tuple(aggregates)))
        run.wanted_cells = {
            number: np.asarray(asked.any(axis=1))
            for number, (_, asked) in enumerate(thresholds, start=1)
            if asked is not None
        }
        try:
            (rows, *averages), _ = run.estimate_aggregates(self.search.estimate)
        finally:
            run.space.forget(run.made)
        self.note(run)
        self.shape, self._selected = rows.value.shape, run.selected_count
        count, least = rows.value.ravel(), rows.low.ravel()
        least = np.where(np.isnan(least), count, least)
        value, low, high = (
            np.array([getattr(average, name) for average in averages]).reshape(len(averages), len(count))
            for name in ("value", "low", "high")
        )
        asked = np.ones((len(averages), *self.shape), dtype=bool)
        for number, cells in run.wanted_cells.items():
            asked[number - 1] = cells[:, None]
        known = asked.reshape(len(averages), len(count)) | np.isfinite(low)
        return Shares(
            rank=np.zeros(0, dtype=np.int64), value=value, low=low, high=high, known=known, rows=count, least_rows=least
        )


class _CountedShares(_Reader):
    """Shares from counts of rows below a threshold and above: a query each, with bounds from the counts' own."""

    def most_at_once(self) -> int:
        """Return how many thresholds are asked before the answers are looked at: each is a query."""
        return MOST_AT_ONCE

    def read_shares(self, thresholds: "Sequence[tuple[Sql, BoolArray | None]]") -> Shares:
        """Return the shares at thresholds, in all cells and sets."""
        shares = [self._read_halves(text) for text, _ in thresholds] or [self._read_halves(None)]
        rows, least = shares[0][3:]
        kept = shares if thresholds else []
        value, low, high = (
            np.array([share[place] for share in kept]).reshape(len(kept), len(rows)) for place in range(3)
        )
        known = np.ones(value.shape, dtype=bool)
        return Shares(
            rank=np.zeros(0, dtype=np.int64), value=value, low=low, high=high, known=known, rows=rows, least_rows=least
        )

    def _read_halves(self, threshold: Sql | None) -> tuple[Array, ...]:
        """Return the share of rows that are not above a threshold, its bounds, the rows, and the least of these."""
        condition = f"<= {threshold}" if threshold else "is not null"
        sql, other = (Sql(f"({text} {condition})") for text in (self.argument.sql, self.argument.other))
        below = Piece(self.argument.role, sql, other)
        query = self.search.plain(aggregates=(Aggregate(COUNT),), keys=(*self.search.query.keys, below))
        run = self.search.start(query)
        try:
            (count,), _ = run.estimate_aggregates(self.search.estimate)
            halves = self._gather(run, count)
        finally:
            run.space.forget(run.made)
        self.note(run)
        (least, value, most), (least_above, value_above, most_above) = halves
        with np.errstate(invalid="ignore", divide="ignore"):
            share = value / (value + value_above)
            low, high = least / (least + most_above), most / (most + least_above)
        # Where nothing may lie on one side, no row says more than that there may be none at all.
        low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
        return share, low, high, value + value_above, least + least_above

    def _gather(self, run: QueryRun, count: Any) -> list[list[Array]]:
        """Return certain, expected and possible counts below and above, by the cells and sets of the query itself."""
        of_sets = self.argument.role in ("constant", "sensitive")
        figures = [count.low, count.value, count.high]
        frame = run.space.engine.frame(run.render_halves(of_sets))
        part, whole, below = (frame[name].to_numpy() for name in ("part", "whole", "below"))
        wholes = int(whole.max(initial=0)) + 1
        halves: list[list[Array]] = []
        for side in (1, 0):
            chosen = below.astype(float) == side
            placed = []
            for figure in figures:
                lines = figure.T if of_sets else figure
                summed = np.zeros((wholes, lines.shape[1]))
                summed[whole[chosen].astype(np.int64)] = lines[part[chosen].astype(np.int64)]
                placed.append(summed.T if of_sets else summed)
            halves.append([array.ravel() for array in placed])
            self.shape = placed[0].shape
        return halves


def _merge(shares: Shares, new: Shares) -> Shares:
    """Return the shares of both; of a threshold that both have, what either knows."""
    rank = np.union1d(shares.rank, new.rank)
    arrays = {name: np.full((len(rank), len(shares.rows)), np.nan) for name in ("value", "low", "high")}
    known = np.zeros((len(rank), len(shares.rows)), dtype=bool)
    for side in (shares, new):
        place, answer = np.nonzero(side.known)
        at = np.searchsorted(rank, side.rank)[place], answer
        known[at] = True
        for name, array in arrays.items():
            array[at] = getattr(side, name)[place, answer]
    return Shares(rank, **arrays, known=known, rows=shares.rows, least_rows=shares.least_rows)


def _write_below(argument: Piece, threshold: Sql) -> Piece:
    """Write 1 where an expression is not above a threshold, 0 where it is, NULL where it is NULL."""
    return _write_case(argument, f"<= {threshold}", f" when {{}} > {threshold} then 0")


def _write_case(argument: Piece | None, condition: str, otherwise: str = "") -> Piece:
    assert argument is not None
    sql, other = (
        type(text)(f"(case when {text} {condition} then 1{otherwise.replace('{}', str(text))} end)")
        for text in (argument.sql, argument.other)
    )
    return Piece(argument.role, sql, other)
