"""Answer from a release of uncertain data: what is certain, what is possible, what is expected.

A published cell is a node and a number of alternatives, or a largest value and a number: from these the recipient knows
what it may hold, its candidates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.errors import QueryError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimation.session import Session
from sqlanon.estimation.sound_tables import load_sound, render_soundness
from sqlanon.estimation.uncertain.cell_run import CellRun, CellWay
from sqlanon.estimation.uncertain.cell_tables import CellTables
from sqlanon.estimation.uncertain.counts import Counts
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.estimators.evidence import BoolArray
from sqlanon.methods.uncertain.read_manifest import Described, described, held_below
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query

_COUNTS = "uncertain data answers COUNT(*) alone: SUM, AVG, quantiles and expressions were removed in 0.3.0"


class UncertainTables(CellTables):
    """Hold the tables that every query over uncertain data reads; each column's own are made when it is first read."""

    whole = ("place", "1")

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        columns = manifest["columns"]
        self.described: Described = described(dict(manifest))
        self.quasi = list(self.described.quasi)
        (self.sensitive,) = columns["sensitive"]
        values = {
            "labels": [],
            "quasi": self.described.fields,
            "hidden": list(self.described.hidden),
            "values": list(columns["values"]),
            **{f"{role}_column": columns[role] for role in ("group", "count", "qiid", "alternatives")},
        }
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, values, names)
        self._loaded = False
        for name, _ in (*self._render_tables(), ("held", "")):
            self.relations[name] = relation_name(self.prefix, name)

    @property
    def types(self) -> dict[int, Sql]:
        """Return the type of each quasi column's values, by its place from 1."""
        return {place: Sql(self.described.types[name]) for place, name in enumerate(self.quasi, start=1)}

    @property
    def open_columns(self) -> set[str]:
        """Return our names of the columns whose cells may hold values that none of them shows."""
        return {f"quasi_{place}" for place, _ in self.described.ordered}

    def load(self) -> None:
        """Make the tables at the first call; raise ReleaseError where they are no QIT and ST that fit each other."""
        if not self._loaded:
            load_sound(self, self._keep_tables, "uncertain data")
            self._loaded = True

    def _keep_tables(self) -> None:
        self.keep_frame("held", self._frame_hierarchies())
        for name, sql in self._render_tables():
            self.keep(name, sql)
        (rows,) = self.engine.rows(self.render_own("estimation/uncertain/hidden_rows"))
        self.shown_rows, self.hidden_rows = int(rows["shown"]), int(rows["hidden"])

    def render_own(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> str:
        """Render a template over these tables and the given ones."""
        return self.render(template, {**self.relations, **(given or {})}, **values)

    def loading_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what the first query runs; `held` is filled from the release's hierarchies."""
        return [
            ("soundness", render_soundness(self)),
            *self._render_tables(),
            ("hidden_rows", self.render_own("estimation/uncertain/hidden_rows")),
        ]

    def _render_tables(self) -> list[tuple[str, str]]:
        relations = {name: relation_name(self.prefix, name) for name in ("unfolded", "place", "set_line", "value")}
        cells = {place: relation_name(self.prefix, f"cell_{place}") for place in self.types}
        # A cell of a column with a hierarchy shows a node, which is text whatever the type of the values below it.
        sql_types = {
            place: Sql("varchar") if place in self.described.trees else sql_type
            for place, sql_type in self.types.items()
        }
        return [
            ("unfolded", self.render("shared/unfolded", self.relations)),
            ("place", self.render("shared/place", self.relations)),
            *(
                (f"cell_{n}", self.render_own("estimation/uncertain/cell", relations, number=n, sql_type=sql_type))
                for n, sql_type in sql_types.items()
            ),
            ("cell_person", self.render_own("estimation/uncertain/cell_person", relations, cells=list(cells.items()))),
            ("set_line", self.render("shared/set_line", self.relations)),
            ("value", self.render_own("estimation/uncertain/alternative_value", relations)),
            ("alternative", self.render_own("estimation/uncertain/alternative", relations)),
        ]

    def _frame_hierarchies(self) -> pd.DataFrame:
        """Return every value of every hierarchy with each node at or above it, and NULL, which is a value like any."""
        lines: list[tuple[int, str | None, str | None]] = []
        for place in self.described.trees:
            hierarchy = self.described.hierarchies[self.quasi[place - 1]]
            lines += ((place, value, node) for value, node in held_below(hierarchy))
            # a group with a row without a value is generalized to the root
            lines += [(place, None, None), (place, None, hierarchy.root)]
        frame = pd.DataFrame(lines, columns=["attribute", "name", "node"])
        return frame.astype({"attribute": "int64", "name": "string", "node": "string"})

    # -- one column ----------------------------------------------------------------------------

    def render_candidates(self, place: int, constants: Sequence[Sql] = ()) -> str:
        """Write the query for the values that cells of a column may hold."""
        if place in self.described.trees:
            return self.render_own("estimation/uncertain/candidate_held", number=place, sql_type=self.types[place])
        # without a hierarchy a cell may hold what the column shows
        columns = [(Sql("known"), name) for name in ("name", f"quasi_{place}")]
        return self.render_different(self.relations[f"cell_{place}"], columns)

    def render_spread(self, place: int, marked: Sql, candidate: Sql, signature: Sql, pieces: Sequence[Sql]) -> str:
        """Write the query for how likely each cell of a column has each signature."""
        relations = {"cell": self.relations[f"cell_{place}"], "marked": marked}
        if place in self.described.trees:
            return self.render_own("estimation/uncertain/spread_held", relations, number=place)
        if place in self.described.plain:
            return self.render_own("estimation/uncertain/spread_certain", relations)
        return self.render_own("estimation/uncertain/spread_ordered", relations | {"signature": signature})

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self._loaded = False


class CellCounts(CellWay):
    """Answer COUNT(*): certain, possible and expected."""

    def refuse_aggregates(self) -> None:
        """Raise QueryError where the query asks for more than COUNT(*)."""
        for aggregate in self.run.query.aggregates:
            if not aggregate.function.counts or aggregate.argument or aggregate.chosen or aggregate.limit:
                raise QueryError(_COUNTS)
        if self.run.query.derived:
            raise QueryError(_COUNTS)

    def make_estimates(self, counts: Counts, occurring: BoolArray) -> Sequence[Counts]:
        """Return the three counts for each aggregate."""
        return [counts] * len(self.run.query.aggregates)


class UncertainSession(Session):
    """A session of a release of uncertain rows: what is certain, possible and expected, without errors."""

    has_errors = False
    loaded: UncertainTables

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = UncertainTables(engine, tables, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, UNIFORM_ALONE, "uncertain")

    def start(self, query: Query, name: str, **options: Any) -> CellRun:
        """Start the run of a query with COUNT(*)."""
        return CellRun(self.loaded, query, CellCounts)

    def _ask_quantiles(self, query: Query, name: str, estimate: Estimator, **options: Any) -> Answered:
        """Refuse: a quantile is none of the counts."""
        raise QueryError(_COUNTS)

    def load(self, run: QueryRun) -> None:
        """Make the tables of cells and of sets of values."""
        self.loaded.load()

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what every query reads."""
        return self.loaded.loading_statements()
