"""Rows whose cells may hold one of several values, loaded for estimation: what boxes and uncertain data have alike."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.estimation.cells.query_parts import QueryParts, place_of
from sqlanon.estimation.failures import load_readable
from sqlanon.estimation.release_tables import ReleaseTables
from sqlanon.estimation.temporary_tables import inline, relations_of
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.plans.plan import Row
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Comparison, Query

if TYPE_CHECKING:
    from sqlanon.estimation.query_run import QueryRun


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
        from sqlanon.estimation.cells.run import CellRun

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
