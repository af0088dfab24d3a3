"""Quantiles: the share F(t) of rows at or below t is estimated at fixed values t as any average is, and inverted.

Woodruff's interval (Confidence Intervals for Medians and Other Position Measures, 1952) holds all t at which the
interval of F holds the level. Where there are more different values than thresholds, F is taken to rise evenly by the
values between two of them. Axes: T thresholds, A answers (cells x value sets).
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.failures import is_numeric
from sqlanon.estimation.query_run import Estimator, Lines, QueryRun, choose_lines, limit_lines
from sqlanon.estimation.release_tables import relations_of, text_of
from sqlanon.estimators.aggregates import AVG, COUNT, LinearAggregate, Quantile
from sqlanon.estimators.evidence import NORMAL_QUANTILE, Array, BoolArray, Estimate, IntArray, join_fields
from sqlanon.plans.templates import Sql, literal
from sqlanon.sql.aggregate_query import Aggregate, Piece, Query

MOST, FEWEST = 200, 24  # thresholds of one quantile
STEPS = (36, 6, 1)  # of those that are looked at: all, then those near where F reaches the level
MOST_SHARES = 480  # shares of single cells at all thresholds
TOGETHER = 1_000_000  # numbers of cells x values x thresholds whose shares are found at once
_ROUNDING = 1e-9  # of a share
_TYPES = "MEDIAN and quantiles are of numbers, dates and timestamps; one was asked of {} values"
_ENDLESS = (
    "a quantile was asked of an expression that is NaN, infinite or before the year 1 in a row; leave such rows out"
    " with WHERE"
)
_DERIVED = "an expression over a quantile of dates is not answered; ask for the quantile itself"
_MIXED = "a quantile of an expression over quasi and sensitive columns is not answered; ask for that of one side"
Start = Callable[[Query], QueryRun]


def count_rows_of_quantiles(query: Query) -> Query:
    """Return the query with the numbers of their rows in the place of quantiles."""
    aggregates = [
        replace(aggregate, function=COUNT, argument=aggregate.argument.counted)
        if aggregate.function.inverts and aggregate.argument
        else aggregate
        for aggregate in query.aggregates
    ]
    return replace(query, aggregates=tuple(aggregates))


def find_quantiles(query: Query, start: Start, estimate: Estimator) -> dict[int, dict[str, Any]]:
    """Return by the quantiles' numbers the fields of every kind of estimate, cells x value sets each.

    start: starts the run of another query over the same tables, ready to run.
    """
    found = {}
    nothing: dict[str, Any] = {"items": (), "order": (), "limit": None, "derived": (), "having": ()}
    for number, aggregate in enumerate(query.aggregates):
        if aggregate.function.inverts:
            run = start(replace(query, aggregates=(replace(aggregate, function=COUNT, argument=None),), **nothing))
            in_expression = any(number in derived.read for derived in query.derived)
            try:
                found[number] = _find(run, aggregate, estimate, in_expression)
            finally:  # what is refused has made tables, too
                run.space.forget(run.made)
    return found


def _find(run: QueryRun, aggregate: Aggregate, estimate: Estimator, in_expression: bool) -> dict[str, Any]:
    quantile, argument = aggregate.function, aggregate.argument
    assert isinstance(quantile, Quantile)
    assert argument is not None
    if argument.role == "mixed":
        raise QueryError(_MIXED)
    of_values = argument.role in ("constant", "sensitive")
    selected, weights = run.read_selected()
    *made, _ = run.counting_steps()
    run_steps(made, run.space.engine, run.made)
    cells, _ = run.count_cells()
    most = min(max(MOST_SHARES // max(cells, 1), FEWEST), MOST)
    thresholds = Thresholds(run, argument, "value" if of_values else "person", most)
    if in_expression and not thresholds.numeric:
        raise QueryError(_DERIVED)
    linear, chosen = run.vectorize(run.query.aggregates[0], weights)
    present, count = linear.present, len(thresholds.ranks)
    below: BoolArray | int = count
    if of_values:
        rank = thresholds.rank_values(int(selected.code.max(initial=0)))[selected.code[chosen]]
        present, below = np.isfinite(rank).astype(float), rank <= thresholds.ranks[:, None]
    else:
        run.bucket = thresholds.write_bucket()
    rows, share = _prepare_shares(run, present, below, chosen, estimate)
    first, *steps = STEPS if count > FEWEST else (1,)
    places = np.union1d(np.arange(min(first - 1, max(count - 1, 0)), count, first), np.arange(count)[-1:])
    shares = share(places)
    for step in steps:  # nearer to where F reaches the level, and its ends do
        ranks = thresholds.ranks[places]
        after = np.unique(np.searchsorted(ranks, _reach_ends(quantile, ranks, rows, shares)))
        between = [np.arange(places[place - 1] if place else -1, places[place], step)[1:] for place in after]
        more = np.concatenate(between).astype(np.int64)
        places, both = np.append(places, more), join_fields([shares, share(more)], axis=0)
        order = np.argsort(places)
        places, shares = places[order], Estimate(*(side[order] for side in vars(both).values()))
    return _invert(quantile, thresholds, thresholds.ranks[places], rows, shares)


def _prepare_shares(
    run: QueryRun, present: Array, below: BoolArray | int, chosen: BoolArray, estimate: Estimator
) -> tuple[Estimate, Callable[[IntArray], Estimate]]:
    """Return the rows that a quantile is of, cells x sets, and what finds shares of them, T x cells x sets.

    present: 1 for those of the chosen values that a quantile is of, n. below: which are at or below each threshold,
    thresholds x n, or how many thresholds the bucket counts. What finds shares takes the places of T thresholds.
    """
    # what counts the hits is made again, by other marks
    run.space.forget([str(run.relations[name]) for name in ("hit", "possible") if name in run.relations])
    whole = run.read_lines()
    lines, cells = limit_lines(whole, run.under[0]), run.count_answered(whole)
    if isinstance(below, int):
        lines = choose_lines(lines, ~np.isnan(lines["bucket"].astype(float)))
    asked = run.selected.narrow(chosen)
    inference = run.infer(lines, cells).about(asked)
    rows = inference.answer(LinearAggregate(COUNT.of_values, None, present, present), estimate)
    rows = replace(rows, value=np.nan_to_num(rows.value))
    run.tell_limits(inference.moments.row_count, upper_bound=False)

    def share(places: IntArray) -> Estimate:
        told = len(places)
        if isinstance(below, int):
            measured = LinearAggregate(AVG, 1, present, present)
            shares = run.infer(_cumulate(lines, below, places), cells * told, told).about(asked)
        else:
            measured = LinearAggregate(AVG, None, below[places].ravel().astype(float), np.tile(present, told))
            shares = inference.about(asked.repeat(told))
        sides = vars(shares.answer(measured, estimate)).values()
        return Estimate(*(side.reshape(cells, told, -1).transpose(1, 0, 2) for side in sides))

    def share_some(places: IntArray) -> Estimate:
        if not (len(places) and len(lines["cell"])):
            return Estimate(*np.zeros((5, len(places), *rows.value.shape)))
        step = max(1, TOGETHER // max(1, cells * len(asked.code)))
        return join_fields([share(places[start : start + step]) for start in range(0, len(places), step)], axis=0)

    return rows, share_some


def _cumulate(lines: Lines, size: int, places: IntArray) -> Lines:
    """Return lines of moments by threshold: cell becomes cell · T + t, and 1 below t is what is measured.

    lines: of hits in parts, `bucket` the first of `size` thresholds that is not below. places: of the T that are told.
    """
    counted = [name for name in ("shared", "uniform") if name in lines]
    names = [name for name in lines if name not in ("bucket", *counted) and not name.startswith("flag_")]
    keys = np.stack([lines[name].astype(np.int64) for name in names])
    different, place = np.unique(keys, axis=1, return_inverse=True)
    told = len(places)
    found: dict[str, Any] = {name: np.repeat(line, told) for name, line in zip(names, different, strict=True)}
    found["cell"] = found["cell"] * told + np.tile(np.arange(told), different.shape[1])
    for source in counted:
        by_bucket = np.zeros((different.shape[1], size))
        np.add.at(by_bucket, (place.ravel(), lines["bucket"].astype(np.int64)), lines[source].astype(float))
        found[source] = found[f"count_{source}_1"] = np.repeat(by_bucket.sum(axis=1), told)
        found[f"sum_{source}_1"] = found[f"square_{source}_1"] = by_bucket.cumsum(axis=1)[:, places].ravel()
    found["positive_uniform_1"] = found["sum_uniform_1"]
    return found | {"least_1": np.zeros(len(found["cell"])), "largest_1": np.ones(len(found["cell"]))}


class Thresholds:
    """Values of what a quantile is of, at which shares are found. ranks: theirs among all different ones."""

    def __init__(self, run: QueryRun, argument: Piece, ranked: str, most: int) -> None:
        """Make the different values, and read which of them are thresholds. ranked: the relation that they are of."""
        self._run, self._argument, relation = run, argument.sql, run.relations[ranked]
        self._type = run.space.read_type(argument.sql, relation)
        self.numeric = is_numeric(self._type)
        if not (self.numeric or self._type == "DATE" or re.fullmatch(r"TIMESTAMP(_S|_MS)?", self._type)):
            raise QueryError(_TYPES.format(self._type))
        of_values = ranked == "value"
        conditions = run.query.filters(*(("sensitive",) if of_values else ("constant", "quasi")))
        *made, threshold = run.space.write(
            "evidence/thresholds",
            {"ranked": relation},
            argument=argument.sql,
            weight=Sql("row_count" if of_values and run.counts_values else "1"),
            conditions=[piece.sql for piece in conditions],
            most=most,
        )
        run_steps(made, run.space.engine, run.made)
        run.relations |= relations_of(made)
        self._texts = self._read_texts(text_of(threshold))
        self.ranks = np.array(sorted(self._texts), dtype=np.int64)
        self.read(self.ranks[[0, -1]] if len(self.ranks) else self.ranks)  # what is no number is refused at once

    def _read_texts(self, sql: str) -> dict[int, str]:
        return {int(row["rank"]): str(row["written"]) for row in self._run.space.engine.rows(sql)}

    def rank_values(self, most: int) -> Array:
        """Return the rank of each sensitive value, up to the code `most` at least; infinite where that is NULL."""
        relations = self._run.relations
        codes = self._run.space.engine.arrays(
            f"select value.code, different.rank from {relations['value']} as value inner join"
            f" {relations['different']} as different on {self._argument} = different.argument"
        )
        ranks = np.full(int(max(most, codes["code"].max(initial=0))) + 1, np.inf)
        ranks[codes["code"].astype(np.int64)] = codes["rank"]
        return ranks

    def write_bucket(self) -> Sql:
        """Write the number of the first threshold that is not below the argument; NULL where that is NULL."""
        cases = " ".join(
            f"when {self._argument} <= cast({literal(self._texts[rank])} as {self._type}) then {place}"
            for place, rank in enumerate(self.ranks.tolist())
        )
        return Sql(f"case {cases} end" if cases else "cast(null as integer)")

    def read(self, ranks: IntArray) -> Array:
        """Return values by their ranks: numbers, or times in microseconds."""
        different, place = np.unique(ranks, return_inverse=True)
        if missing := sorted(set(different.tolist()) - set(self._texts)):
            chosen, relation = ", ".join(map(str, missing)), self._run.relations["different"]
            self._texts |= self._read_texts(
                f"select rank, cast(argument as varchar) as written from {relation} where rank in ({chosen})"
            )
        values = np.array([self._parse(self._texts[rank]) for rank in different.tolist()])
        return np.asarray(values[place.ravel()]) if len(values) else np.zeros(0)

    def _parse(self, text: str) -> Any:
        try:
            number = {"true": 1.0, "false": 0.0}.get(text) if self.numeric else np.datetime64(text, "us")
            number = float(text) if number is None else number
        except ValueError:
            raise AnswerError(_ENDLESS) from None
        if self.numeric and not np.isfinite(number):
            raise AnswerError(_ENDLESS)
        return number

    def between(self, first: Array, second: Array, nearness: Array) -> Array:
        """Return what lies between two values, as the database places it: dates to the microsecond."""
        if self.numeric:
            return first * (1.0 - nearness) + second * nearness
        start, end = (side.astype(np.int64) for side in (first, second))
        place = start + (end - start) * nearness
        rounded = np.copysign(np.floor(np.abs(place) + 0.5), place).astype(np.int64)
        return np.where(np.isnat(first), first, rounded.astype("datetime64[us]"))


def _invert(
    quantile: Quantile, thresholds: Thresholds, ranks: IntArray, rows: Estimate, shares: Estimate
) -> dict[str, Any]:
    """Return the fields of quantiles from estimates of their rows (cells x sets) and of F (T x cells x sets).

    ranks: of the thresholds that shares are of.
    """
    null = ~(rows.value.ravel() > 0) | (len(ranks) == 0)
    nothing = np.full(len(null), np.nan if thresholds.numeric else np.datetime64("NaT", "us"))
    found = bottom = top = nothing
    if not null.all():
        low, high = (np.asarray(side, dtype=float).reshape(len(ranks), -1) for side in (shares.low, shares.high))
        *_, nearness = quantile.rank_rows(_count_whole(rows))
        first, second, bottom, top = (thresholds.read(rank) for rank in _reach_ends(quantile, ranks, rows, shares))
        between, exact = thresholds.between(first, second, nearness), (low == high).all(axis=0)
        is_open = null | ~np.isfinite(low).all(axis=0) | ~np.isfinite(high).all(axis=0)
        found = np.where(null, nothing, between)
        bottom = np.where(is_open, nothing, np.where(exact, between, np.minimum(bottom, first)))
        top = np.where(is_open, nothing, np.where(exact, between, np.maximum(top, second)))
    unit: Any = 1.0 if thresholds.numeric else np.timedelta64(1, "D")
    error = (top - bottom) / unit / (2 * NORMAL_QUANTILE)
    fields = {"value": found, "std_error": error, "low": bottom, "high": top, "centre": found}
    return {name: array.reshape(rows.value.shape) for name, array in fields.items()}


def _count_whole(rows: Estimate) -> Array:
    """Return how many rows quantiles are of, A: at least one, and whole, as estimates may not be."""
    return np.asarray(np.fmax(np.rint(np.nan_to_num(rows.value.ravel())), 1.0))


def _reach_ends(quantile: Quantile, ranks: IntArray, rows: Estimate, shares: Estimate) -> IntArray:
    """Return the ranks of the two rows that quantiles lie between, and of the ends of their intervals, 4 x A.

    ranks: of the thresholds that shares (T x cells x sets) are of.
    """
    value, low, high = (
        np.nan_to_num(np.asarray(side, dtype=float)).reshape(len(ranks), -1)
        for side in (shares.value, shares.low, shares.high)
    )
    value, whole = _order(value), _count_whole(rows)
    first_row, second_row, _ = quantile.rank_rows(whole)
    lower, upper = quantile.bound_levels(np.fmax(np.nan_to_num(rows.low.ravel()), 1.0))
    return np.stack([
        _reach(ranks, value, (first_row - 1e-6) / whole),
        _reach(ranks, value, (second_row - 1e-6) / whole),
        _reach(ranks, np.maximum.accumulate(high), np.maximum(lower - _ROUNDING, _ROUNDING)),
        # from which on the lower end stays at the level
        _reach(ranks, np.minimum.accumulate(low[::-1])[::-1], upper - 1e-3 * _ROUNDING),
    ])  # fmt: skip


def _order(value: Array) -> Array:
    """Return the nearest to estimates of F that never fall: midway between their largest so far and least to come."""
    rising, to_come = np.maximum.accumulate(value), np.minimum.accumulate(value[::-1])[::-1]
    ordered = np.clip((rising + to_come) / 2, 0.0, 1.0)
    ordered[-1] = 1.0
    return np.asarray(ordered)


def _reach(ranks: IntArray, curve: Array, level: Array) -> IntArray:
    """Return the rank at which a rising curve (T x A) reaches a level (A): between thresholds it rises evenly."""
    reached = curve >= level
    reached[-1] = True
    place, answers = reached.argmax(axis=0), np.arange(curve.shape[1])
    before = np.where(place > 0, ranks[place - 1], -1)
    start = np.where(place > 0, curve[place - 1, answers], 0.0)
    rise, width = curve[place, answers] - start, ranks[place] - before
    part = np.divide(level - start, rise, out=np.ones(len(answers)), where=rise > 0)
    step = np.ceil(np.clip(part, 0.0, 1.0) * width - _ROUNDING)
    return np.asarray(before + np.clip(step, 1, width), dtype=np.int64)
