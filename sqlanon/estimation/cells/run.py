"""The run of one query over rows whose cells may hold one of several values: uncertain data, and boxes.

The chapter `evidence/cells` counts the rows; here it is said what it is to count, and its figures become answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.cells.query_parts import place_of, split_query
from sqlanon.estimation.memory_need import require_memory
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.sound_tables import load_readable
from sqlanon.estimation.temporary_tables import Workspace, inline, relations_of, text_of
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.plans.plan import Loop, Report, Row, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, literal
from sqlanon.sql.aggregate_query import Comparison, Query
from sqlanon.sql.user_sql import list_constants

FIGURES = {"certain": "certain", "possible": "possible", "value": "expected"}  # of `Counts`: names in the answer
DIGITS = 9  # decimals: sums of shares are exact to more
_HIDDEN = (
    "{:,} rows are hidden behind '*': possible for every condition on quasi columns, certain for none, expected as the"
    " share among the other rows"
)
_INNER = "{} is no value of {} but a node above several: no row equals it; name the values below it"
ANSWER_ARRAYS = 25  # numbers that are held at once of a cell and set, by measurement
_WIDE = "the query tells {:,} combinations of alternatives apart, more than {:,}; ask one column at a time, or coarser"


@dataclass(frozen=True)
class Counts:
    """Three figures, cells x value sets: certain <= value (expected) <= possible."""

    certain: Array
    possible: Array
    value: Array


class CellTables(Workspace):
    """Hold the tables that every query over such rows reads.

    quasi, sensitive: the published names. hierarchies: of quasi columns, by their places from 1. types: of quasi
    columns' values, by place. open_places: the columns whose cells may hold values that none of them shows. whole: the
    relation of all groups, of how many rows each of its persons is, and how many persons a group has. contents:
    what the tables are read as. shown_rows, hidden_rows: rows that show quasi values, and rows of '*'; 0 before the
    first query.
    """

    contents: str
    quasi: list[str]
    sensitive: str
    hierarchies: dict[int, Hierarchy]
    types: dict[int, Sql]
    open_places: set[int]
    whole: tuple[str, str, str]
    shown_rows = 0
    hidden_rows = 0

    def __init__(self, engine: Engine, tables: dict[str, Sql]) -> None:
        """Take the published tables, when what they hold is known."""
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, {}, names)
        self._loaded = False
        self.relations |= relations_of(self.loading_steps())

    def load(self) -> None:
        """Make the tables at the first call; raise ReleaseError where the published ones are none of this form."""
        if not self._loaded:
            load_readable(self._load, self.contents)
            self._loaded = True

    def _load(self) -> None:
        run_steps(self.loading_steps(), self.engine, self._made, look=self._look)

    def _look(self, name: str, row: Row) -> None:
        """Look at a report of what was loaded."""

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self._loaded = False

    def column(self, place: int, pieces: Sequence[Sql] = ()) -> dict[str, Any]:
        """Return how the cells of a column are read: `kind`, and what chapters read of such ones.

        pieces: what a query asks of the column.
        """
        raise NotImplementedError

    def render_candidates(self, place: int, constants: Sequence[Sql] = ()) -> Sql:
        """Write the values that cells of a column may hold; constants: what a query compares them with."""
        raise NotImplementedError

    def domain(self, column: str) -> Sql:
        """Return the values that a column's cells, or sets of sensitive values, may hold."""
        if column == "sensitive":
            return self.relations["value"]
        return inline(self.render_candidates(place_of(column)))

    def told(self, comparisons: Sequence[Comparison]) -> list[Comparison]:
        """Leave out columns whose cells may hold values that none of them shows."""
        return [one for one in comparisons if one.column == "sensitive" or place_of(one.column) not in self.open_places]


class CellRun(QueryRun):
    """One query on its way through rows whose cells may hold one of several values; a form says what it answers.

    refusal: of what is no COUNT(*), which it may name.
    """

    refusal: str
    SELECTING = ("sensitive", "constant")
    space: CellTables

    def __init__(self, loaded: CellTables, query: Query) -> None:
        """Split the query; nothing runs yet. Raises QueryError for what is not answered."""
        super().__init__(loaded, query)
        self.refuse_aggregates()
        self.loaded, self.parts = loaded, split_query(query)
        if not self.keeps_asked:
            self.relations["asked"] = inline(self.render_asked())
        self.relations["hit"] = relation_name(loaded.prefix, "person_hit")

    def refuse_aggregates(self) -> None:
        """Raise QueryError where the query asks for more than COUNT(*)."""
        for aggregate in self.query.aggregates:
            if not aggregate.function.counts:
                raise QueryError(self.refusal.format(aggregate.function.name.upper()))
            if aggregate.argument or aggregate.chosen or aggregate.limit:
                raise QueryError(self.refusal.format("COUNT of a column, or with FILTER,"))
        if self.query.derived:
            raise QueryError(self.refusal.format("an expression over aggregates"))

    def make_estimates(self, counts: Counts) -> Sequence[Any]:
        """Return a dataclass of arrays per aggregate; a form's own."""
        raise NotImplementedError

    # -- the statements ------------------------------------------------------------------------

    def counting_steps(self) -> list[Statement | Report | Loop]:
        """Render what counts the rows; the last three are read: counts, shares of shown rows, and hidden rows."""
        components = self.parts.components
        columns = []
        for place, marks in self.parts.marks.items():
            constants = [constant for piece in marks for constant in list_constants(piece)]
            candidates = self.loaded.render_candidates(place, list(dict.fromkeys(constants)))
            values = self.loaded.column(place, [*marks])
            columns.append({**values, "candidates": candidates, "marks": self.parts.list_marks(place)})
        whole, row_count, persons = self.loaded.whole
        return self.loaded.write(
            "evidence/cells",
            {**self.loaded.relations, "asked": self.relations["asked"]},
            columns=columns,
            components=[component.values for component in components],
            marks={place: [*marks.values()] for place, marks in self.parts.marks.items()},
            parts=self.part_names,
            keys=sorted((place, sql) for component in components for place, sql in component.keys),
            mixed=next((number for number, component in enumerate(components, start=1) if component.mixed), 0),
            # Hidden rows are counted apart where a condition or key reads a quasi column.
            asks_rows=self.parts.asks_rows,
            touched=bool(self.query.touched),
            whole=self.loaded.relations[whole],
            row_count=Sql(row_count),
            persons=Sql(persons),
            constant_conditions=[piece.sql for piece in self.query.filters("constant")],
        )

    def comparisons(self) -> Sequence[Comparison]:
        """Return the constants that a row equals or none does, as far as the release tells."""
        return self.loaded.told(self.query.comparisons)

    def domain(self, column: str) -> Sql:
        """Return the values that a column's cells, or sets of sensitive values, may hold."""
        return self.loaded.domain(column)

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], BoolArray]:
        """Count the rows: certain, possible and expected, of which a form makes its figures."""
        self._tell_unknown()
        selected, _ = self.read_selected()
        *made, moments, shares, hidden = self.counting_steps()
        run_steps(made, self.loaded.engine, self.made, look=_require_narrow)
        share = self.loaded.engine.frame(text_of(shares))
        cells = int(share["cell"].max()) + 1 if len(share) else int(not self.quasi_keys)
        if cells * selected.set_count > LARGEST_ANSWER:
            raise AnswerError(_WIDE.format(cells * selected.set_count, LARGEST_ANSWER))
        require_memory(self.loaded.engine, 0, cells, ANSWER_ARRAYS * selected.set_count)
        moment = self.loaded.engine.frame(text_of(moments))
        shape = (cells, selected.set_count)
        figures = {name: _fill(shape, moment, ending, "cell", "set_number") for name, ending in FIGURES.items()}
        # Hidden rows make every group possible: a group occurs where a row that shows its values may lie in it.
        possible_groups = figures["possible"] > 0
        if self.loaded.hidden_rows and self.parts.asks_rows:
            frame = self.loaded.engine.frame(text_of(hidden))
            self._add_hidden(figures, share, frame, int(selected.case.max(initial=0)) + 1)
        # Shares sum up to their bounds but for rounding.
        figures["value"] = np.clip(figures["value"], figures["certain"], figures["possible"])
        occurring = possible_groups | (figures["value"] > 0) | (not (self.parts.mixed and self.quasi_keys))
        return self.make_estimates(
            Counts(**{name: np.round(each, DIGITS) for name, each in figures.items()})
        ), occurring

    def _tell_unknown(self) -> None:
        """Say which rows tell nothing, and which texts are nodes above several values."""
        if self.loaded.hidden_rows and self.parts.asks_rows:
            self.remarks.append(_HIDDEN.format(self.loaded.hidden_rows))
        for place in set(self.loaded.hierarchies) & set(self.parts.marks):
            hierarchy = self.loaded.hierarchies[place]
            for node in sorted(set(hierarchy.paths) - hierarchy.leaves):
                if any(literal(node) in piece for piece in self.parts.marks[place]):
                    self.explained_constants.add(Sql(f"({literal(node)})"))
                    self.messages.append(_INNER.format(repr(node), repr(self.loaded.quasi[place - 1])))

    def _add_hidden(self, figures: dict[str, Array], share: pd.DataFrame, hidden: pd.DataFrame, cases: int) -> None:
        """Add hidden rows: possible, and expected as the other rows are (NaN where there is no other).

        With n the rows that show values and n_c those of them that satisfy the quasi part in case c, a hidden row does
        with probability n_c/n: expected += Σ_c n_c/n · (hidden rows whose sensitive alternatives lie in case c).
        """
        cells, sets = figures["possible"].shape
        expected, possible = (
            _fill((sets, cases), hidden, name, "set_number", "case_number") for name in ("expected", "possible")
        )
        others = _fill((cells, cases), share, "expected", "cell", "case_number")
        likely = others / self.loaded.shown_rows if self.loaded.shown_rows else np.full_like(others, np.nan)
        figures["value"] += likely @ expected.T
        figures["possible"] += possible.sum(axis=1)


def _require_narrow(name: str, row: Row) -> None:
    if row["combinations"] > LARGEST_ANSWER:
        raise AnswerError(_WIDE.format(int(row["combinations"]), LARGEST_ANSWER))


def _fill(shape: tuple[int, ...], frame: pd.DataFrame, figure: str, row: str, column: str) -> Array:
    """Return a frame's figure as a matrix, 0 where the frame says nothing."""
    matrix = np.zeros(shape)
    place = tuple(frame[name].to_numpy(dtype=np.int64) for name in (row, column))
    matrix[place] = frame[figure].to_numpy(dtype=float)
    return matrix
