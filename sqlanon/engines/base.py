"""What every engine can do for the driver; small enough to read in a minute.

All SQL comes in DuckDB's dialect and with DuckDB's type names; an engine translates what it runs.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlanon.key import Key
from sqlanon.plans.engines import Mark
from sqlanon.plans.plan import Source, Statement
from sqlanon.plans.templates import Sql, ident, literal

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from sqlanon.engines.duckdb.engine import DuckDBEngine

    Numbers = NDArray[np.number]


def count_called(engine: "Engine", relation: Sql, types: Mapping[str, str]) -> int:
    """Return how many columns of texts are called as one of their own values, as where the first row became names."""
    texts = [name for name, kind in types.items() if kind == "VARCHAR"]
    if not texts:
        return 0
    held = [f"max(case when {ident(name)} = {literal(name)} then 1 else 0 end)" for name in texts]
    (row,) = engine.rows(f"select {' + '.join(held)} as called from {relation}")
    return int(row["called"] or 0)


class Engine(Protocol):
    """Run statements in one database session; what it makes ends with the session unless it is `lasting`.

    lacks: what is not there, by places where a release may go, values, checks and verbs.
    in_process: whether a statement costs no more than its rows, so that many small ones may be run; in_parts: whether a
    table's rows lie in several files, each read in its own order, whose order is that of their names. traits: what it
    does cheaply.
    """

    name: str
    dialect: str
    lacks: Mapping[str, Mark]
    in_process: bool
    in_parts: bool

    # -- sources and relations

    def find_source(self, text: object, as_text: bool | str = False) -> tuple[Source, Mapping[str, str]]:
        """Find a source; return its SQL and its columns with their types, in order.

        as_text: where a file's types would be guessed, take its values as they are written, its first line as names;
        "lines": the first line as any other.
        """

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own, in the engine's dialect."""

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name; `lasting`: for good."""

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row relation (`secret`), as a bound parameter, never as a literal."""

    def keep_constants(self, relation: Sql, row: Mapping[str, int]) -> None:
        """Put whole numbers into a one-row relation, as bound parameters."""

    def keep_frame(self, relation: Sql, frame: "pd.DataFrame") -> None:
        """Put a small table of the driver's into a relation."""

    def drop(self, relations: Sequence[str]) -> None:
        """Forget relations that `create` or `keep_…` made; missing ones do not matter."""

    def rename(self, relation: str, name: str) -> None:
        """Give a table that `create` made another relation's name, which nothing has."""

    # -- reading

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT and fetch every row; values keep their types."""

    def frame(self, sql: str) -> "pd.DataFrame":
        """Run one SELECT and fetch it as columns."""

    def arrays(self, sql: str) -> "dict[str, Numbers]":
        """Run one SELECT of numbers and fetch it as arrays by name; NULL is NaN."""
        return {str(name): column.to_numpy() for name, column in self.frame(sql).items()}

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""

    def relation(self, sql: str) -> Any:
        """Return a SELECT as the engine's own lazy object, for a caller who knows the engine."""

    def free_memory(self) -> int | None:
        """Return how many bytes the session's memory limit leaves of itself, None where nothing limits this process."""
        return None

    def interruptible(self) -> AbstractContextManager[Callable[[], None]]:
        """Give what interrupts, from another thread, whatever statement runs inside."""

    # -- files

    def parquet_text(self, sql: str, path: Path) -> str:
        """Return what `write_parquet` runs."""

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Write the rows of a SELECT, in its order, to `path`, or to `<stem>-00000.parquet` … beside it.

        Returns the files with their rows; they are sorted in the order of their names.
        """

    def read_parquet(self, paths: Sequence[Path]) -> Sql:
        """Return SQL that reads Parquet files of ours, in this order."""

    def in_stored_order(self, relation: Sql) -> Sql:
        """Return SQL that reads a published table; `lag(…) over ()` sees its rows in the order in which they lie."""
        return relation

    def in_stretches(self, relation: Sql) -> Sequence[Sql]:
        """Return SQLs that read a published table in its order, stretch by stretch, each by a worker of its own.

        Each but the first begins with the last row of the one before it: all neighbours meet in one of them.
        """
        return [self.in_stored_order(relation)]

    # -- rows that a session of DuckDB keeps

    def take_rows(self, relation: Sql, like: str, keeper: "DuckDBEngine", rows: Sql, folder: Path) -> None:
        """Put rows of a session of DuckDB's into a relation, by a file in a folder of ours where it is another one.

        like: a SELECT of no rows, whose columns these are, with the types that they have here.
        """

    def give_rows(self, sql: str, keeper: "DuckDBEngine", folder: Path) -> Sql:
        """Return what reads the rows of a SELECT in a session of DuckDB's; their types may be those of a file."""

    # -- schemas and transactions

    def tables(self, schema: str) -> list[str] | None:
        """Return the names of a schema's tables and views, None where there is no such schema."""
        contents = self.contents(schema)
        return (
            None
            if contents is None
            else [name for kind, name in contents if kind.startswith(("table", "view", "relation"))]
        )

    def contents(self, schema: str) -> list[tuple[str, str]] | None:
        """Return what a schema holds, kind (`table`, `view`, `macro` …) and name; None where there is none."""

    def comments(self, schema: str) -> dict[tuple[str, str], str]:
        """Return the comments on a schema's tables and their columns, by both names; '' for a table itself."""

    def qualified(self, schema: str) -> Sql:
        """Return the name of a schema as statements write it, with its database's where there are several."""

    def database_name(self) -> str | None:
        """Return what tells the database that schemas are written to from others, None where nothing of it lasts."""

    def execute(self, sql: str) -> object:
        """Make or drop a schema or a table: statements that are written alike everywhere."""

    def full_name(self, parts: Sequence[str]) -> Sql:
        """Return the name of a user's table, given as TABLE or SCHEMA.TABLE, as statements of ours have to write it."""
        return Sql(".".join(ident(part) for part in parts))  # the session looks it up where the user does

    def reserve(self, schema: str) -> bool:
        """Keep other runs away from a schema until `release`, at most as long as the session; False: one has it."""

    def release(self, schema: str) -> None:
        """Let other runs write to a schema; one that is not reserved does not matter."""

    def snapshot(self) -> AbstractContextManager[bool]:
        """Where the engine can: let all that runs inside see the database as of one moment, and fail as one.

        Gives whether what is committed inside appears at the end of it only.
        """

    def begin(self) -> None:
        """Begin what appears with `commit` or not at all; inside a snapshot, with the snapshot."""

    def commit(self) -> None:
        """Let what was made since `begin` appear."""

    def rollback(self) -> None:
        """Undo what was made since `begin`."""
