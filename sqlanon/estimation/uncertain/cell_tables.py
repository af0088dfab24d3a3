"""What a query's run needs of rows whose cells may hold one of several values: tables, and each column's cells."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.plans.templates import Sql


class CellColumns(Protocol):
    """The quasi columns by how their cells are read, each by its place from 1.

    trees: those with a hierarchy. ordered: those whose candidates are compared with each other, with their types.
    """

    @property
    def trees(self) -> list[int]:
        """Return the places of columns with a hierarchy."""

    @property
    def ordered(self) -> Sequence[tuple[int, Sql]]:
        """Return the places and types of columns whose candidates are compared."""

    def inner(self, column: str) -> list[str]:
        """Return the nodes of a column's hierarchy that stand for several values."""


class CellTables(Workspace):
    """Hold the tables that every query over such rows reads.

    whole: the relation that a query asks for where it asks for every row, and of how many rows each line is.
    shown_rows, hidden_rows: rows that show quasi values, and rows of '*'; 0 before the first query.
    """

    quasi: list[str]
    described: CellColumns
    whole: tuple[str, str]
    shown_rows = 0
    hidden_rows = 0

    @property
    def types(self) -> dict[int, Sql]:
        """Return the type of each quasi column's values, by its place from 1."""
        raise NotImplementedError

    @property
    def open_columns(self) -> set[str]:
        """Return our names of the columns whose cells may hold values that none of them shows."""
        raise NotImplementedError

    def render_own(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> str:
        """Render a template over these tables and the given ones."""
        raise NotImplementedError

    def render_candidates(self, place: int, constants: Sequence[Sql]) -> str:
        """Write the query for the values that cells may hold; constants: what a query compares them with."""
        raise NotImplementedError

    def render_spread(self, place: int, marked: Sql, candidate: Sql, signature: Sql, pieces: Sequence[Sql]) -> str:
        """Write the query for how likely each cell of a column has each signature of its marked candidates."""
        raise NotImplementedError
