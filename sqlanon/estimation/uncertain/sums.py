"""SUM and AVG over uncertain data: the least, the greatest and the expected value of the worlds that a release leaves.

A world says which row of a group owns which of its sets of sensitive values, which of the set is true, and what every
uncertain cell holds.

The least and the greatest average of the worlds that a release of uncertain data leaves.

A world of least average lambda is one whose sum of (x - lambda) over the rows that it counts is least, and 0. For a
lambda that is too large that least sum is negative, and the average of its world is a better lambda (Dinkelbach, On
Nonlinear Fractional Programming, 1967): a few turns find the least, exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.failures import ENDLESS, is_numeric
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimation.uncertain.cell_run import CellRun, CellWay
from sqlanon.estimation.uncertain.counts import Counts, fill, round_digits
from sqlanon.estimators.aggregates import AVG, COUNT, SUM, Function
from sqlanon.estimators.evidence import Array, BoolArray, IntArray
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Piece

MOST_TURNS = 100
NEAR = 1e-12  # of an average: a smaller gain is rounding
_UNSETTLED = "the least and greatest averages are not found in {} turns; narrow WHERE, or group by fewer columns"
_ASKED_OTHERWISE = (
    "{} over uncertain data is not answered: {}; ask COUNT(*), SUM(x) or AVG(x), with the condition in WHERE"
)
_MIXED = (
    "{} over uncertain data is not answered where one condition, key or expression reads quasi columns and {!r}"
    " together: which row of a group owns which value is open; join conditions by AND, sum an expression over one of"
    " the two, or count the rows with COUNT(*)"
)
_NO_NUMBER = "SUM and AVG take numbers, and {} is {}; its values are counted by COUNT(*) with GROUP BY"
_SUMMED = (
    "of SUM and AVG, certain is the least and possible the greatest value that any world gives, whoever owns which set"
    " of sensitive values; expected takes alternatives as equally likely, and of AVG is the expected sum divided by the"
    " expected number of rows"
)
_HIDDEN = "what SUM and AVG read of a row behind '*' is taken to be what another row may hold, or the row not counted"
_TOO_LARGE = "SUM and AVG were asked of numbers whose sum is too large; divide them first"
_EMPTY = (
    "in {:,} of {:,} answers of {} some world has no row to add up: it adds 0 to SUM, and AVG is over the other worlds"
)


class AverageSearch:
    """Search the extreme averages of one measure, for all cells and asked sets at once."""

    def __init__(self, read_worlds: Callable[[pd.DataFrame], pd.DataFrame], shape: tuple[int, ...]) -> None:
        """Take what reads the sums and counts of extreme worlds at given averages, and cells x sets."""
        self.read_worlds, self.shape = read_worlds, shape

    def find_bounds(self, above: Array, below: Array) -> tuple[Array, Array]:
        """Return the least and the greatest averages, cells x sets.

        above, below: averages that are not below the least, and not above the greatest; NaN where there is none.
        """
        least, greatest = above.copy(), below.copy()
        cell, value_set = np.nonzero(~np.isnan(above))
        moving = np.ones(len(cell), dtype=bool)
        for _ in range(MOST_TURNS):
            cell, value_set = cell[moving], value_set[moving]
            if not len(cell):
                return least, greatest
            here = (cell, value_set)
            worlds = self._read_worlds(here, least[here], greatest[here])
            at = (worlds["cell"].to_numpy(dtype=np.int64), worlds["set_number"].to_numpy(dtype=np.int64))
            moved = np.zeros(self.shape, dtype=bool)
            moved[at] |= _improve(least, at, worlds, "least", np.less)
            moved[at] |= _improve(greatest, at, worlds, "greatest", np.greater)
            moving = moved[here]
        raise AnswerError(_UNSETTLED.format(MOST_TURNS))

    def _read_worlds(self, here: tuple[IntArray, IntArray], least: Array, greatest: Array) -> pd.DataFrame:
        """Return the sums and counts of the worlds that are extreme at these aims."""
        columns = {"cell": here[0], "set_number": here[1], "least_aim": least, "greatest_aim": greatest}
        return self.read_worlds(pd.DataFrame(columns))


def _improve(aims: Array, at: tuple[IntArray, IntArray], frame: pd.DataFrame, side: str, better: np.ufunc) -> BoolArray:
    """Put the averages of the worlds found in the place of aims that they better; tell which they are."""
    total, count = (frame[f"{side}_{name}"].to_numpy(dtype=float) for name in ("sum", "count"))
    before = aims[at]
    average = np.divide(total, count, out=before.copy(), where=count > 0)
    gains = better(average, before) & (np.abs(average - before) > NEAR * np.maximum(np.abs(before), np.abs(average)))
    aims[at] = np.where(gains, average, before)
    return np.asarray(gains)


class Sums(CellWay):
    """Answer SUM and AVG beside COUNT."""

    answers_averages = True

    def __init__(self, run: CellRun) -> None:
        """Take the run."""
        super().__init__(run)
        self.empty: dict[tuple[int, int], set[str]] = {}  # answers with a world of no row, of how many: functions

    def refuse_aggregates(self) -> None:
        """Raise QueryError but for COUNT(*), and SUM or AVG of one side under conditions on one side each."""
        if self.run.query.derived:
            raise QueryError(_ASKED_OTHERWISE.format("an expression over aggregates", "no error follows from bounds"))
        for aggregate in self.run.query.aggregates:
            name = aggregate.function.name.upper()
            if aggregate.function not in (COUNT, SUM, AVG):
                raise QueryError(_ASKED_OTHERWISE.format(name, "its extreme worlds are not searched"))
            if aggregate.function.counts and (aggregate.argument or aggregate.chosen):
                reason = "it sums what depends on a cell of several values"
                raise QueryError(_ASKED_OTHERWISE.format("COUNT of a column, or with FILTER,", reason))
            if aggregate.chosen:
                raise QueryError(_ASKED_OTHERWISE.format(f"{name} with FILTER", "a condition belongs to all rows"))
            pieces = [
                *self.run.query.conditions,
                *self.run.query.keys,
                *([aggregate.argument] if aggregate.argument else []),
            ]
            if not aggregate.function.counts and any(piece.role == "mixed" for piece in pieces):
                raise QueryError(_MIXED.format(name, self.run.space.names["sensitive"]))

    def check_types(self) -> None:
        """Refuse SUM and AVG of what is no number."""
        for piece in (*self.run.measures, *self.run.weights):
            relation = self.run.people if piece.role == "quasi" else self.run.relations["value"]
            sql_type = self.run.space.read_type(piece.sql, relation)
            if not is_numeric(sql_type):
                columns = [name for internal, name in self.run.space.names.items() if internal in piece.sql]
                what = repr(columns[0]) if len(columns) == 1 else "what was asked"
                raise QueryError(_NO_NUMBER.format(what, sql_type))

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of sums."""
        listed: list[tuple[str, str]] = []
        for piece in [*self.run.measures, *self.run.weights]:
            listed += self._value_statements(piece)
            valued, suffix = self._valued(piece), self._suffix(piece)
            listed.append((f"expected_sum{suffix}", self._own("estimation/uncertain/expected_sum", valued=valued)))
            listed.append((f"extreme_sum{suffix}", self.render_extreme(valued, self._no_aim(valued))))
            if self._averages(piece):
                aim = relation_name(self.run.loaded.prefix, "aim")
                listed.append((f"extreme_average{suffix}", self.render_extreme(valued, aim)))
        return listed

    def _suffix(self, piece: Piece) -> str:
        return f"_{[*self.run.measures, *self.run.weights].index(piece) + 1}"

    def _valued(self, piece: Piece) -> Sql:
        return relation_name(self.run.loaded.prefix, f"valued{self._suffix(piece)}")

    def _averages(self, piece: Piece) -> bool:
        return any(
            aggregate.function.is_ratio and aggregate.argument == piece for aggregate in self.run.query.aggregates
        )

    def _own(self, template: str, **relations: Sql) -> str:
        return self.run.loaded.render_own(template, self.run.relations | relations)

    def _value_statements(self, piece: Piece) -> list[tuple[str, str]]:
        """Return the tables of what a measure is summed over: rows, or lines of ST, with the places for them."""
        name, statements = f"valued{self._suffix(piece)}", self.run.component_statements
        if piece in self.run.measures:
            measured = inline(statements.render_measured_row(self.run.measures.index(piece) + 1))
            relations = self.run.relations | {"measured_row": measured}
            surely = [] if self.run.parts.asks_rows else [Sql("min(measured_row.counted)")]
            return [(name, self.run.loaded.render_own("estimation/uncertain/valued_row", relations, surely=surely))]
        cell = "(select 0 as cell)"
        if self.run.quasi_keys:
            cell = f"(select distinct cell from {self.run.relations['person_hit']})"
        hiding = [Sql("suppressed = 1")] if self.run.parts.asks_rows else []
        values = {"number": self.run.weights.index(piece) + 1, "hiding": hiding}
        relations = self.run.relations | {"answered_cell": Sql(cell)}
        return [(name, self.run.loaded.render_own("estimation/uncertain/valued_line", relations, **values))]

    def _no_aim(self, valued: Sql) -> Sql:
        """Write an aim of 0 for every cell and asked set: what is least and greatest is the sum itself."""
        aims = [(Sql("cast(0 as double)"), f"{end}_aim") for end in ("least", "greatest")]
        return inline(self.run.loaded.render_different(valued, ["cell", "set_number", *aims]))

    def render_extreme(self, valued: Sql, aim: Sql) -> str:
        """Write the query for the worlds of the least and the greatest sum of values less an aim."""
        return self._own("estimation/uncertain/extreme_world", valued=valued, aim=aim)

    # -- running -------------------------------------------------------------------------------

    def make_estimates(self, counts: Counts, occurring: BoolArray) -> Sequence[Any]:
        """Read three figures (`Counts`) of each aggregate."""
        sums = {piece: self._sum(piece, occurring) for piece in [*self.run.measures, *self.run.weights]}
        figures = [
            counts if aggregate.argument is None else sums[aggregate.argument][aggregate.function]
            for aggregate in self.run.query.aggregates
        ]
        for (empty, answered), functions in self.empty.items():
            if empty:
                self.run.remarks.append(_EMPTY.format(empty, answered, " and ".join(sorted(functions, reverse=True))))
        if sums:
            self.run.remarks.append(_SUMMED)
            if self.run.loaded.hidden_rows and self.run.measures:
                self.run.remarks.append(_HIDDEN)
        return figures

    def _sum(self, piece: Piece, occurring: BoolArray) -> Mapping[Function, Counts]:
        """Return SUM and, where it is asked, AVG of one measure."""
        for name, sql in self._value_statements(piece):
            self.run.keep(name, sql)
        valued, frame, shape = self._valued(piece), self.run.loaded.engine.frame, occurring.shape

        def read(found: pd.DataFrame, *names: str) -> list[Array]:
            if not np.isfinite(found[list(names)].to_numpy(dtype=float)).all():
                raise AnswerError(_TOO_LARGE)
            return [fill(shape, found, name, "cell", "set_number", np.nan) for name in names]

        expected = frame(self._own("estimation/uncertain/expected_sum", valued=valued))
        if expected["endless"].any():
            raise AnswerError(ENDLESS.format(f"in {int(expected['endless'].sum()):,} cells of rows or values"))
        likely, mean, lowest, highest = read(expected, "likely", "mean", "lowest", "highest")
        extreme = frame(self.render_extreme(valued, self._no_aim(valued)))
        least, greatest = read(extreme, "least_sum", "greatest_sum")
        figures: dict[Function, Counts] = {SUM: self._bound_counts(least, greatest, mean)}
        self._count_empty(piece, valued, occurring & ~np.isnan(mean))
        if self._averages(piece):
            expected_average = np.divide(mean, likely, out=np.full(shape, np.nan), where=likely > 0)
            # where no likely world counts a row, any average between the least and the greatest value will do
            starts = (np.where(np.isnan(expected_average), value, expected_average) for value in (highest, lowest))
            search = AverageSearch(lambda aims: self._read_worlds(valued, aims), shape)
            figures[AVG] = self._bound_counts(*search.find_bounds(*starts), expected_average)
        return figures

    def _read_worlds(self, valued: Sql, aims: pd.DataFrame) -> pd.DataFrame:
        """Return the sums and counts of the worlds that are extreme at these aims."""
        relation = self.run.space.keep_frame("aim", aims)
        if str(relation) not in self.run.made:
            self.run.made.append(str(relation))
        return self.run.loaded.engine.frame(self.render_extreme(valued, relation))

    def _count_empty(self, piece: Piece, valued: Sql, answered: BoolArray) -> None:
        """Count the answers in which some world counts no row."""
        unit = inline(self._own("estimation/uncertain/counted_unit", valued=valued))
        extreme = self.run.loaded.engine.frame(self.render_extreme(unit, self._no_aim(unit)))
        least = fill(answered.shape, extreme, "least_count", "cell", "set_number")
        functions = {
            aggregate.function.name.upper() for aggregate in self.run.query.aggregates if aggregate.argument == piece
        }
        self.empty.setdefault((int((answered & (least == 0)).sum()), int(answered.sum())), set()).update(functions)

    def _bound_counts(self, least: Array, greatest: Array, expected: Array) -> Counts:
        """Round, and keep what is expected between its bounds, which sums exceed by rounding."""
        low, high = round_digits(least), round_digits(greatest)
        return Counts(low, high, np.clip(round_digits(expected), low, high))
