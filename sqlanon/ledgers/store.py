"""A ledger's DuckDB file: read by a session of DuckDB's, written anew with each release.

That session is the one that publishes, or for other engines one beside it: rows go to the engine when a run begins, and
come back when it ends.
"""

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlanon.bounded_files import UnfitFileError, require_regular
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SourceError, SqlanonError, TargetError, raised_as
from sqlanon.ledgers.contents import COLUMNS, DESCRIPTION, REMOVED, SEALED_BY_RELEASE, Contents, parse_history
from sqlanon.plans.templates import Sql, ident, literal

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine

STORAGE = "v1.4.0"  # what clients of DuckDB 1.4 and later read


def keeper_of(engine: Engine) -> "DuckDBEngine":
    """Return the session that reads and writes the file for an engine."""
    return cast("DuckDBEngine", engine) if engine.dialect == "duckdb" else open_duckdb()


@contextmanager
def attached(keeper: Engine, path: Path) -> Iterator[Contents]:
    """Attach a ledger for the block, read only; raise SourceError for a file that is none."""
    name = ident(f"ledger_{secrets.token_hex(8)}")
    with raised_as(SourceError, f"{str(path)!r} is no ledger", UnfitFileError):
        require_regular(path)
    try:
        keeper.execute(f"attach {literal(str(path))} as {name} (type duckdb, read_only)")
    except SqlanonError as error:
        taken = re.search(r"lock.*\(PID (\d+)\)", str(error))
        why = f"is open in another program (process {taken[1]}): close it there" if taken else "is no ledger"
        raise SourceError(f"{str(path)!r} {why}") from None
    try:
        yield _read(keeper, str(path), name)
    finally:
        with suppress(SqlanonError):  # the first error is the one to tell
            keeper.execute(f"detach {name}")


def _read(keeper: Engine, ledger_name: str, name: Sql) -> Contents:
    no_ledger = SourceError(f"{ledger_name!r} is a database, and no ledger")
    columns: dict[str, set[str]] = {}
    try:
        # of tables alone: a view could be anything
        for row in keeper.rows(
            "select table_name, column_name from duckdb_columns() join duckdb_tables() using (database_name,"
            f" schema_name, table_name) where database_name = {literal(str(name)[1:-1])} and schema_name = 'main'"
        ):
            columns.setdefault(row["table_name"], set()).add(row["column_name"])
        described = (
            keeper.rows(f"select {DESCRIPTION} from {name}.main.{DESCRIPTION}")
            if columns.pop(DESCRIPTION, None) == {DESCRIPTION}
            else []
        )
    except SqlanonError:
        raise no_ledger from None
    if len(described) != 1:
        raise no_ledger
    # another format may have other columns: it is told first
    history = parse_history(described[0][DESCRIPTION], ledger_name)
    removed = REMOVED if history[0]["format"] == SEALED_BY_RELEASE else {}
    if columns != {table: {*types} | removed.get(table, set()) for table, types in COLUMNS.items()}:
        raise no_ledger
    return Contents(*history, {table: Sql(f"{name}.main.{ident(table)}") for table in COLUMNS})


@contextmanager
def writing(keeper: Engine, path: Path) -> Iterator[Sql]:
    """Attach a file to be written for the block; give the name of its schema. Raises TargetError where that fails."""
    name = ident(f"ledger_{secrets.token_hex(8)}")
    with raised_as(TargetError, "cannot write the ledger", SqlanonError):
        keeper.execute(f"attach {literal(str(path))} as {name} (type duckdb, storage_version {literal(STORAGE)})")
        try:
            yield Sql(f"{name}.main")
            # all of it is in the one file then; inside a transaction of the caller's it could not be, and this fails
            keeper.execute(f"checkpoint {name}")
        finally:
            keeper.execute(f"detach {name}")


def write_tables(
    engine: Engine, keeper: "DuckDBEngine", schema: Sql, made: Mapping[str, Sql], folder: Path
) -> dict[str, Sql]:
    """Write an engine's relations as the tables of a ledger; return these. folder: where rows lie on their way."""
    written = {}
    for table, types in COLUMNS.items():
        listed = ", ".join(map(ident, types))
        rows = engine.give_rows(f"select {listed} from {made[table]}", keeper, folder)
        cast_columns = (f"cast({ident(n)} as {t}) as {ident(n)}" if t else ident(n) for n, t in types.items())
        written[table] = Sql(f"{schema}.{ident(table)}")
        keeper.execute(f"create table {written[table]} as select {', '.join(cast_columns)} from {rows}")
    return written


def write_description(path: Path, text: str) -> None:
    """Write what a ledger says of itself, in a session of its own: ours may have written elsewhere."""
    keeper = open_duckdb()
    with writing(keeper, path) as name:
        keeper.execute(f"create table {name}.{DESCRIPTION} as select {literal(text)} as {DESCRIPTION}")
    with raised_as(TargetError, "cannot write the ledger", SqlanonError), attached(keeper, path):
        pass  # as the next run will
