"""What a ledger holds: its description, its releases, persons under keyed hashes, and the values of their groups."""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import SourceError, SqlanonError, TargetError
from sqlanon.plans.templates import Sql, ident, literal

FORMAT = 1
DESCRIPTION, RELEASE = "description", "release"
TABLES = {
    DESCRIPTION: {"description"},
    RELEASE: {"number", "created", "fingerprint", "figures"},
    "person": {"person", "group_id", "code", "entered", "standing", "mark", "class_mark"},
    "value": {"code", "sensitive"},
}
STORAGE = "v1.4.0"  # what clients of DuckDB 1.4 and later read


@dataclass(frozen=True)
class Contents:
    """A ledger that is attached to a session, read only.

    description: what must stay as it is from release to release. releases: in their order. relations: its tables.
    """

    description: Mapping[str, Any]
    releases: tuple[Mapping[str, Any], ...]
    relations: Mapping[str, Sql]

    @property
    def last(self) -> Mapping[str, Any]:
        """Return what the ledger says of its last release."""
        return self.releases[-1]


@contextmanager
def attached(engine: Engine, path: Path) -> Iterator[Contents]:
    """Attach a ledger for the block; raise SourceError for a file that is none."""
    name = ident(f"ledger_{secrets.token_hex(8)}")
    try:
        engine.execute(f"attach {literal(str(path))} as {name} (type duckdb, read_only)")
    except SqlanonError:
        raise SourceError(f"{str(path)!r} is no ledger, or another program has it open") from None
    try:
        yield _read(engine, path, name)
    finally:
        with suppress(SqlanonError):  # the first error is the one to tell
            engine.execute(f"detach {name}")


def _read(engine: Engine, path: Path, name: Sql) -> Contents:
    relations = {table: Sql(f"{name}.main.{ident(table)}") for table in TABLES}
    try:
        found: dict[str, set[str]] = {}
        for row in engine.rows(_columns_of(name)):
            found.setdefault(row["table_name"], set()).add(row["column_name"])
        if found != TABLES:
            raise SourceError("other tables")
        (described,) = engine.rows(f"select description from {relations[DESCRIPTION]}")
        description = json.loads(described["description"])
        releases = engine.rows(f"select * from {relations[RELEASE]} order by number")
        releases = [{**row, "figures": json.loads(row["figures"])} for row in releases]
    except (SqlanonError, ValueError, TypeError):
        raise SourceError(f"{str(path)!r} is a database, and no ledger") from None
    if not isinstance(description, dict) or not releases:
        raise SourceError(f"{str(path)!r} is a database, and no ledger")
    if description.get("format") != FORMAT:
        raise SourceError(
            f"{str(path)!r} has format {description.get('format')}; this sqlanon reads format {FORMAT}: install a newer"
            " one"
        )
    return Contents(description, tuple(releases), relations)


def _columns_of(name: Sql) -> str:
    # of tables alone: a view could be anything
    return (
        "select table_name, column_name from duckdb_columns() join duckdb_tables() using (database_name, schema_name,"
        f" table_name) where database_name = {literal(str(name)[1:-1])} and schema_name = 'main'"
    )


def write(
    engine: Engine,
    path: Path,
    made: Mapping[str, Sql],
    before: Contents | None,
    description: Mapping[str, Any],
    release: Mapping[str, Any],
) -> None:
    """Write a new ledger: the relations `made` of this run (`person`, `value`), and one release more than before.

    release: number, created, fingerprint, figures. Raises TargetError where it cannot be written.
    """
    name = ident(f"ledger_{secrets.token_hex(8)}")
    try:
        engine.execute(f"attach {literal(str(path))} as {name} (type duckdb, storage_version {literal(STORAGE)})")
        try:
            for table, relation in made.items():
                engine.execute(f"create table {name}.main.{ident(table)} as select * from {relation}")
            known = "" if before is None else f"select * from {before.relations[RELEASE]} union all "
            engine.execute(f"create table {name}.main.{ident(RELEASE)} as {known}select {_constants(release)}")
            told = literal(json.dumps(description, ensure_ascii=False))
            engine.execute(f"create table {name}.main.{ident(DESCRIPTION)} as select {told} as description")
            # all of it is in the one file then; inside a transaction of the caller's it could not be, and this fails
            engine.execute(f"checkpoint {name}")
        finally:
            engine.execute(f"detach {name}")
        with attached(engine, path):  # as the next run will
            pass
    except SqlanonError as error:
        raise TargetError(f"cannot write the ledger: {error}") from None


def _constants(release: Mapping[str, Any]) -> str:
    figures = json.dumps(release["figures"])
    return (
        f"cast({literal(release['number'])} as bigint) as number, {literal(release['created'])} as created,"
        f" {literal(release['fingerprint'])} as fingerprint, {literal(figures)} as figures"
    )
