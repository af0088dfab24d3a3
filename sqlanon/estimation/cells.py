"""Counts of rows whose cells may hold one of several values: what is certain, possible, expected.

What boxes and uncertain data have alike is here. Each largest piece of a query that reads one quasi column is a mark of
that column: its value is found once per candidate. What is left of conditions and keys reads marks; those that share a
column are one component, others are independent. The chapter `evidence/cells` counts the rows; here it is said what it
is to count, and its figures become answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.failures import load_readable, require_memory
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.release_tables import ReleaseTables, Steps, inline, relations_of, text_of
from sqlanon.estimators.evidence import Array, BoolArray, Estimate
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.plans.plan import Row, relation_name
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, literal
from sqlanon.sql.aggregate_query import Comparison, Query
from sqlanon.sql.user_sql import list_constants, name_column_pieces

QUASI = "quasi_"
DIGITS = 9  # decimals: sums of shares are exact to more
_HIDDEN = (
    "{:,} rows are hidden behind '*': possible for every condition on quasi columns, certain for none, expected as the"
    " share among the other rows"
)
_INNER = "{} is no value of {} but a node above several: no row equals it; name the values below it"
ANSWER_ARRAYS = 25  # numbers that are held at once of a cell and set, by measurement
_WIDE = "the query tells {:,} combinations of alternatives apart, more than {:,}; ask one column at a time, or coarser"


@dataclass(frozen=True)
class Component:
    """Conditions and keys over the marks of some columns; `mixed`: they read parts of the sensitive side too.

    conditions: expression and columns. keys: place among the query's quasi keys, from 1, and expression.
    keyed: the columns that the keys read.
    """

    columns: frozenset[int]
    conditions: tuple[tuple[Sql, frozenset[int]], ...] = ()
    keys: tuple[tuple[int, Sql], ...] = ()
    keyed: frozenset[int] = frozenset()
    mixed: bool = False

    @property
    def asked_columns(self) -> list[int]:
        """Return the columns that conditions and keys read: an open cell of these is certain of nothing."""
        return sorted(self.keyed.union(*(columns for _, columns in self.conditions)))

    @property
    def values(self) -> dict[str, object]:
        """Return the component as the chapter of cells takes it.

        open_conditions: each condition with the columns whose open cells may satisfy it. A column that GROUP BY reads
        is none of them: an open cell is listed under values that it may hold.
        """
        return {
            "columns": sorted(self.columns),
            "named_keys": self.keys,
            "mixed": self.mixed,
            "asked_columns": self.asked_columns,
            "open_conditions": [(text, sorted(columns - self.keyed)) for text, columns in self.conditions],
        }


@dataclass
class QueryParts:
    """The components of a query, and each read column's marks: piece → name."""

    components: list[Component] = field(default_factory=list)
    marks: dict[int, dict[Sql, str]] = field(default_factory=dict)

    def name_mark(self, column: str, piece: Sql) -> str | None:
        """Name a piece that reads one column; equal pieces share a name, and the sensitive side has none."""
        if not column.startswith(QUASI):
            return None
        marks = self.marks.setdefault(place_of(column), {})
        return marks.setdefault(piece, f"mark_{place_of(column)}_{len(marks) + 1}")

    def add(self, one: Component) -> None:
        """Add a component; those that cannot be evaluated without it become one with it."""
        # A new component may tie together several that were independent so far.
        for other in [other for other in self.components if one.columns & other.columns or (one.mixed and other.mixed)]:
            self.components.remove(other)
            one = Component(
                other.columns | one.columns,
                other.conditions + one.conditions,
                other.keys + one.keys,
                other.keyed | one.keyed,
                other.mixed or one.mixed,
            )
        self.components.append(one)


def split_query(query: Query) -> QueryParts:
    """Return the components of a query's conditions and keys that read quasi columns, or nothing (keys)."""
    parts, keys = QueryParts(), [key for key in query.keys if key.role != "sensitive"]
    for number, piece in [(0, piece) for piece in query.filters("quasi", "mixed")] + [*enumerate(keys, start=1)]:
        rest, columns = name_column_pieces(piece.sql, parts.name_mark)
        places, mixed = frozenset(place_of(name) for name in columns if name.startswith(QUASI)), piece.role == "mixed"
        if number:
            parts.add(Component(places, keys=((number, rest),), keyed=places, mixed=mixed))
        else:
            parts.add(Component(places, conditions=((rest, places),), mixed=mixed))
    return parts


def place_of(column: str) -> int:
    """Return the place of a quasi column, from 1, by our name of it."""
    return int(column.removeprefix(QUASI))


class CellTables(ReleaseTables):
    """Hold the tables that every query over such rows reads.

    hierarchies: of quasi columns, by their places from 1. types: of quasi columns' values, by place. open_places: the
    columns whose cells may hold values that none of them shows. whole: the relation of all groups, of how many rows
    each of its persons is, and how many persons a group has. contents: what the tables are read as. refusal: of what
    is no COUNT(*), which it may name. shown_rows, hidden_rows: rows that show quasi values, and rows of '*'; 0 before
    the first query.
    """

    has_errors = False
    sensitive: str
    contents: str
    refusal: str
    whole: tuple[str, str, str]
    hierarchies: dict[int, Hierarchy]
    types: dict[int, Sql]
    open_places: set[int]
    shown_rows = 0
    hidden_rows = 0

    def __init__(self, engine: Engine, tables: Mapping[str, Sql]) -> None:
        """Take the published tables, when what they hold is known."""
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, names)
        self._is_loaded = False
        self.relations |= relations_of(self.loading_steps())

    def start(self, query: Query, name: str) -> "QueryRun":
        """Start the run of a query with COUNT(*)."""
        return CellRun(self, query)

    def load(self) -> None:
        """Make the tables at the first call; raise ReleaseError where the published ones are none of this form."""
        if not self._is_loaded:
            load_readable(self._load, self.contents)
            self._is_loaded = True

    def _load(self) -> None:
        run_steps(self.loading_steps(), self.engine, self._made, look=self._look)

    def _look(self, name: str, row: Row) -> None:
        """Look at a report of what was loaded."""

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self._is_loaded = False

    # -- columns ---------------------------------------------------------------------------------

    def column(self, place: int, pieces: Sequence[Sql] = ()) -> dict[str, Any]:
        """Return how the cells of a column are read: `kind`, and what chapters read of such ones.

        pieces: what a query asks of the column.
        """
        raise NotImplementedError

    def render_candidates(self, place: int, constants: Sequence[Sql] = ()) -> Sql:
        """Write the values that cells of a column may hold; constants: what a query compares them with."""
        return Sql(self.render("evidence/candidates", {}, column=self.column(place), constants=[]))

    def domain(self, column: str) -> Sql:
        """Return the values that a column's cells, or sets of sensitive values, may hold."""
        return self.relations["value"] if column == "sensitive" else inline(self.render_candidates(place_of(column)))

    def told(self, comparisons: Sequence[Comparison]) -> list[Comparison]:
        """Leave out columns whose cells may hold values that none of them shows."""
        return [one for one in comparisons if one.column == "sensitive" or place_of(one.column) not in self.open_places]

    def name_figures(self, parts: QueryParts, touched: bool) -> Mapping[str, str] | None:
        """Return what the figures of a count are called in an answer; None: as estimates' intervals are.

        touched: whether sensitive values are read.
        """
        return None


class CellRun(QueryRun):
    """Answer COUNT(*): certain, possible and expected rows."""

    SELECTING = ("sensitive", "constant")

    def __init__(self, loaded: CellTables, query: Query) -> None:
        """Split the query; nothing runs yet. Raises QueryError for what is no COUNT(*)."""
        super().__init__(loaded, query)
        self.loaded = loaded
        for aggregate in query.aggregates:
            if not aggregate.function.counts:
                raise QueryError(loaded.refusal.format(aggregate.function.name.upper()))
            if aggregate.argument or aggregate.chosen or aggregate.limit:
                raise QueryError(loaded.refusal.format("COUNT of a column, or with FILTER,"))
        if query.derived:
            raise QueryError(loaded.refusal.format("an expression over aggregates"))
        self.parts = split_query(query)
        # hidden rows are counted apart where a condition or key reads a quasi column
        self.asks_hidden = any(component.asked_columns for component in self.parts.components)
        if not self.keeps_asked:
            self.relations["asked"] = inline(self.render_asked())
        self.relations["hit"] = relation_name(loaded.prefix, "person_hit")

    def load(self) -> None:
        """Make the tables of cells, and of sets of values."""
        self.loaded.load()

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate; of uncertain data, certain, possible, expected: n_certain … of n."""
        told = self.loaded.name_figures(self.parts, bool(self.query.touched))
        if told is None:
            return super().name_columns(name)
        keys = [item.name for item in self.query.items if item.aggregate is None]
        before = "" if name == "count" else f"{name}_"
        return [(figure, free_name(f"{before}{ending}", keys)) for figure, ending in told.items()]

    def comparisons(self) -> Sequence[Comparison]:
        """Return the constants that a row equals or none does, as far as the release tells."""
        return self.loaded.told(self.query.comparisons)

    def domain(self, column: str) -> Sql:
        """Return the values that a column's cells, or sets of sensitive values, may hold."""
        return self.loaded.domain(column)

    def counting_steps(self) -> Steps:
        """Render what counts the rows; the last three are read: counts, shares of shown rows, and hidden rows."""
        components = self.parts.components
        columns = []
        for place, marks in self.parts.marks.items():
            constants = dict.fromkeys(constant for piece in marks for constant in list_constants(piece))
            candidates = self.loaded.render_candidates(place, list(constants))
            named = [(Sql(name), piece) for piece, name in marks.items()]
            columns.append({**self.loaded.column(place, [*marks]), "candidates": candidates, "marks": named})
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
            asks_rows=self.asks_hidden,
            touched=bool(self.query.touched),
            whole=self.loaded.relations[whole],
            row_count=Sql(row_count),
            persons=Sql(persons),
            constant_conditions=[piece.sql for piece in self.query.filters("constant")],
        )

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Estimate], BoolArray]:
        """Count the rows: low is certain, high is possible, and an error is known where these are one."""
        self._tell_unknown()
        selected, _ = self.read_selected()
        *made, moments, shares, hidden = self.counting_steps()
        run_steps(made, self.loaded.engine, self.made, look=_require_narrow)
        share = self.loaded.engine.frame(text_of(shares))
        cells = int(share["cell"].max()) + 1 if len(share) else int(not self.quasi_keys)
        shape = (cells, selected.set_count)
        if cells * selected.set_count > LARGEST_ANSWER:
            raise AnswerError(_WIDE.format(cells * selected.set_count, LARGEST_ANSWER))
        require_memory(self.loaded.engine, 0, cells, ANSWER_ARRAYS * selected.set_count)
        moment = self.loaded.engine.frame(text_of(moments))
        low, high, value = (
            _fill(shape, moment, name, "cell", "set_number") for name in ("certain", "possible", "expected")
        )
        # Hidden rows make every group possible: a group occurs where a row that shows its values may lie in it.
        possible_groups = high > 0
        if self.loaded.hidden_rows and self.asks_hidden:
            # With n the rows that show values and n_c those of them that satisfy the quasi part in case c, a hidden row
            # does with probability n_c/n, not known where no row shows any: expected += Σ_c n_c/n · (hidden rows whose
            # sensitive alternatives lie in case c).
            cases, frame = int(selected.case.max(initial=0)) + 1, self.loaded.engine.frame(text_of(hidden))
            expected, possible = (
                _fill((selected.set_count, cases), frame, name, "set_number", "case_number")
                for name in ("expected", "possible")
            )
            others = _fill((cells, cases), share, "expected", "cell", "case_number")
            value += (others / (self.loaded.shown_rows or np.nan)) @ expected.T
            high += possible.sum(axis=1)
        # Shares sum up to their bounds but for rounding.
        value = np.clip(value, low, high)
        mixed = any(component.mixed for component in self.parts.components)
        occurring = possible_groups | (value > 0) | (not (mixed and self.quasi_keys))
        value, low, high = (np.round(each, DIGITS) for each in (value, low, high))
        found = Estimate(value, np.where(low == high, 0.0, np.nan), low, high, value)
        return [found] * len(self.query.aggregates), occurring

    def _tell_unknown(self) -> None:
        """Say which rows tell nothing, and which texts are nodes above several values."""
        if self.loaded.hidden_rows and self.asks_hidden:
            self.remarks.append(_HIDDEN.format(self.loaded.hidden_rows))
        for place in set(self.loaded.hierarchies) & set(self.parts.marks):
            hierarchy = self.loaded.hierarchies[place]
            for node in sorted(set(hierarchy.paths) - hierarchy.leaves):
                if any(literal(node) in piece for piece in self.parts.marks[place]):
                    self.explained_constants.add(Sql(f"({literal(node)})"))
                    self.messages.append(_INNER.format(repr(node), repr(self.loaded.quasi[place - 1])))


def _require_narrow(name: str, row: Row) -> None:
    if row["combinations"] > LARGEST_ANSWER:
        raise AnswerError(_WIDE.format(int(row["combinations"]), LARGEST_ANSWER))


def _fill(shape: tuple[int, ...], frame: pd.DataFrame, figure: str, row: str, column: str) -> Array:
    """Return a frame's figure as a matrix, 0 where the frame says nothing."""
    matrix = np.zeros(shape)
    matrix[tuple(frame[name].to_numpy(dtype=np.int64) for name in (row, column))] = frame[figure].to_numpy(dtype=float)
    return matrix
