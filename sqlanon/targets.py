"""Where a release goes: a directory, a schema of a database, or the session; one way to write to each."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, TargetError
from sqlanon.manifest import Manifest, dumped, loaded
from sqlanon.staging import Staging, staged
from sqlanon.statement import Statement
from sqlanon.templates import Sql, ident, literal

MANIFEST = "release.json"


class Target(Protocol):
    """Take the tables of one release, then its manifest; nothing is visible before `commit`."""

    def write(self, output: Statement) -> Sql:
        """Keep a published table; return SQL that reads what was written, in its order."""

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of each table (rows; for files also bytes and sha256)."""

    def commit(self, manifest: Manifest) -> None:
        """Make the release visible."""


class DirectoryTarget:
    """Parquet files and release.json in a directory."""

    def __init__(self, engine: Engine, staging: Staging, replaced: frozenset[str]) -> None:
        """Write through `staging`; `replaced` are the files that an older release here may lose."""
        self.engine, self.staging, self.replaced = engine, staging, replaced
        self.written: dict[str, Path] = {}

    def write(self, output: Statement) -> Sql:
        """Write one Parquet file; return SQL that reads it."""
        path = self.staging.new / f"{output.name}.parquet"
        self.engine.write_parquet(output.sql, path)
        self.written[output.name] = path
        return parquet_relation(path)

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return rows, bytes and sha256 of each file."""
        return {
            path.name: {"rows": rows[name], "bytes": path.stat().st_size, "sha256": sha256(path)}
            for name, path in self.written.items()
        }

    def commit(self, manifest: Manifest) -> None:
        """Write release.json and let the directory appear."""
        try:
            (self.staging.new / MANIFEST).write_text(dumped(manifest), encoding="utf-8")
        except OSError as error:
            raise TargetError(f"cannot write {MANIFEST}: {error.strerror}") from None
        self.staging.commit(self.replaced)


class SchemaTarget:
    """Tables in a schema of the database that the engine is connected to, in one transaction."""

    def __init__(self, engine: Engine, schema: str) -> None:
        """Write to `schema`, which exists inside the open transaction."""
        self.engine, self.schema = engine, schema

    def write(self, output: Statement) -> Sql:
        """Make one table; return its name."""
        relation = Sql(f"{ident(self.schema)}.{ident(output.name)}")
        self.engine.execute(f"create table {relation} as\n{output.sql}")
        return relation

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return the rows of each table."""
        return {name: {"rows": count} for name, count in rows.items()}

    def commit(self, manifest: Manifest) -> None:
        """Write the manifest's table."""
        table = f"{ident(self.schema)}.manifest"
        self.engine.execute(f"create table {table} as select {literal(dumped(manifest))} as manifest")


class SessionTarget:
    """Temporary tables that live as long as the caller's session."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        """Name the tables with `prefix`."""
        self.engine, self.prefix = engine, prefix

    def write(self, output: Statement) -> Sql:
        """Make one temporary table; return its name."""
        relation = ident(f"{self.prefix}{output.name}")
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)))
        return relation

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return the rows of each table."""
        return {name: {"rows": count} for name, count in rows.items()}

    def commit(self, manifest: Manifest) -> None:
        """Do nothing: the tables stand already."""


@contextmanager
def directory_target(engine: Engine, path: str | Path, overwrite: bool) -> Iterator[DirectoryTarget]:
    """Open a directory for a release; refuse an existing one unless `overwrite` and it is a release."""
    target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target itself
    replaced = _replaceable(target, overwrite)
    if not target.parent.is_dir():
        raise TargetError(f"no directory {str(target.parent)!r} to write {target.name!r} in")
    with staged(target) as staging:
        yield DirectoryTarget(engine, staging, replaced)


def _replaceable(target: Path, overwrite: bool) -> frozenset[str]:
    if not os.path.lexists(target):
        return frozenset()
    if not overwrite:
        raise TargetError(f"{str(target)!r} exists; choose another --out or say --overwrite")
    if target.is_symlink() or not target.is_dir():
        raise TargetError(f"{str(target)!r} is not a directory; remove it or choose another --out")
    if not any(target.iterdir()):
        return frozenset()
    try:
        manifest = loaded((target / MANIFEST).read_text(encoding="utf-8"), str(target))
    except (OSError, UnicodeDecodeError, ReleaseError):
        raise TargetError(
            f"{str(target)!r} holds files but no release; --overwrite replaces releases only: choose another --out"
        ) from None
    return frozenset({MANIFEST, *manifest["files"]})


@contextmanager
def schema_target(engine: Engine, schema: str, overwrite: bool) -> Iterator[SchemaTarget]:
    """Open a schema for a release in one transaction; refuse an existing one unless `overwrite`."""
    engine.execute("begin transaction")
    try:
        _prepare_schema(engine, schema, overwrite)
        yield SchemaTarget(engine, schema)
        engine.execute("commit")
    except BaseException:
        engine.execute("rollback")
        raise


def _prepare_schema(engine: Engine, schema: str, overwrite: bool) -> None:
    tables = schema_tables(engine, schema)
    if tables is None:
        engine.execute(f"create schema {ident(schema)}")
        return
    if not overwrite:
        raise TargetError(f"the schema {schema!r} exists; choose another --into or say --overwrite")
    if "manifest" not in tables:
        if tables:
            raise TargetError(
                f"the schema {schema!r} holds tables but no release; --overwrite replaces releases only:"
                " choose another --into"
            )
        return
    manifest = loaded(read_manifest(engine, schema), schema)
    for name in (*manifest["files"], "manifest"):
        engine.execute(f"drop table if exists {ident(schema)}.{ident(name)}")


def schema_tables(engine: Engine, schema: str) -> list[str] | None:
    """Return the names of a schema's tables and views, None where there is no such schema."""
    quoted = literal(schema.lower())
    if not engine.rows(f"select 1 as found from information_schema.schemata where lower(schema_name) = {quoted}"):
        return None
    rows = engine.rows(
        f"select table_name as name from information_schema.tables where lower(table_schema) = {quoted}"
    )
    return [row["name"] for row in rows]


def read_manifest(engine: Engine, schema: str) -> str:
    """Read the one row of a schema's manifest table."""
    rows = engine.rows(f"select manifest from {ident(schema)}.manifest")
    if len(rows) != 1 or not isinstance(rows[0]["manifest"], str):
        raise ReleaseError(f"the table manifest of schema {schema!r} does not hold one manifest")
    return rows[0]["manifest"]


def parquet_relation(path: Path) -> Sql:
    """Return SQL that reads one Parquet file of ours, its name taken literally."""
    escaped = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))
    return Sql(f"read_parquet({literal(escaped)}, hive_partitioning = false)")


def sha256(path: Path) -> str:
    """Return a file's sha256 as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
