"""A ledger as a DuckDB file of the publisher's."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import UnfitFileError, require_regular
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SourceError, SqlanonError, TargetError
from sqlanon.ledgers.contents import COLUMNS, DESCRIPTION, Contents, history_text, parse_history
from sqlanon.ledgers.file_store import FileStore
from sqlanon.plans.templates import Sql, ident, literal

TABLES = {DESCRIPTION: {DESCRIPTION}, **COLUMNS}
STORAGE = "v1.4.0"  # what clients of DuckDB 1.4 and later read


class DatabaseFile(FileStore):
    """One run's hold on a ledger that is a DuckDB file."""

    def __init__(self, engine: Engine, path: Path) -> None:
        """Take the ledger's place; raise TargetError where a living run has it."""
        super().__init__(engine, path, attached)

    @contextmanager
    def writing(self, made: Mapping[str, Sql]) -> Iterator[Mapping[str, Sql]]:
        """Write a new file in the run's own folder."""
        with _writing(self._engine, self._file.new) as name:
            for table, relation in made.items():
                self._engine.execute(f"create table {name}.{ident(table)} as select * from {relation}")
            yield {table: Sql(f"{name}.{ident(table)}") for table in made}

    def write_history(self, description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]]) -> None:
        """Write what the new file says of itself, in a session of its own: ours may have written elsewhere."""
        engine = open_duckdb()
        with _writing(engine, self._file.new) as name:
            text = literal(history_text(description, releases))
            engine.execute(f"create table {name}.{ident(DESCRIPTION)} as select {text} as {ident(DESCRIPTION)}")
        try:
            with attached(engine, self._file.new):  # as the next run will
                pass
        except SqlanonError as error:
            raise _unwritten(error) from None


@contextmanager
def attached(engine: Engine, path: Path) -> Iterator[Contents]:
    """Attach a ledger for the block, read only; raise SourceError for a file that is none."""
    name = ident(f"ledger_{secrets.token_hex(8)}")
    try:
        require_regular(path)
    except UnfitFileError as error:
        raise SourceError(f"{str(path)!r} is no ledger: {error.strerror}") from None
    try:
        engine.execute(f"attach {literal(str(path))} as {name} (type duckdb, read_only)")
    except SqlanonError:
        raise SourceError(f"{str(path)!r} is no ledger, or another program has it open") from None
    try:
        yield _read(engine, str(path), name)
    finally:
        with suppress(SqlanonError):  # the first error is the one to tell
            engine.execute(f"detach {name}")


def _read(engine: Engine, ledger_name: str, name: Sql) -> Contents:
    relations = {table: Sql(f"{name}.main.{ident(table)}") for table in TABLES}
    try:
        columns: dict[str, set[str]] = {}
        for row in engine.rows(_columns_of(name)):
            columns.setdefault(row["table_name"], set()).add(row["column_name"])
        if columns.get(DESCRIPTION) != {DESCRIPTION}:
            raise SourceError("other tables")
        (described,) = engine.rows(f"select description from {relations.pop(DESCRIPTION)}")
    except (SqlanonError, ValueError):
        raise SourceError(f"{ledger_name!r} is a database, and no ledger") from None
    # another format may have other columns: it is told first
    history = parse_history(described[DESCRIPTION], ledger_name)
    if columns != TABLES:
        raise SourceError(f"{ledger_name!r} is a database, and no ledger")
    return Contents(*history, relations)


def _columns_of(name: Sql) -> str:
    # of tables alone: a view could be anything
    return (
        "select table_name, column_name from duckdb_columns() join duckdb_tables() using (database_name, schema_name,"
        f" table_name) where database_name = {literal(str(name)[1:-1])} and schema_name = 'main'"
    )


@contextmanager
def _writing(engine: Engine, path: Path) -> Iterator[Sql]:
    """Attach a file to be written for the block; give the name of its schema."""
    name = ident(f"ledger_{secrets.token_hex(8)}")
    try:
        engine.execute(f"attach {literal(str(path))} as {name} (type duckdb, storage_version {literal(STORAGE)})")
        try:
            yield Sql(f"{name}.main")
            # all of it is in the one file then; inside a transaction of the caller's it could not be, and this fails
            engine.execute(f"checkpoint {name}")
        finally:
            engine.execute(f"detach {name}")
    except SqlanonError as error:
        raise _unwritten(error) from None


def _unwritten(error: SqlanonError) -> TargetError:
    return TargetError(f"cannot write the ledger: {error}")
