"""Where a release goes: a directory, a schema of a database, or the session; one way to write to each."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from sqlanon.atomic_files import Exchange, recover
from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, TargetError
from sqlanon.plans.manifest import Manifest, dumped, loaded
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal

MANIFEST = "release.json"


class Target(Protocol):
    """Take the tables of one release, then its manifest; nothing is visible before `commit`.

    Making a target refuses what cannot be written; entering it begins, leaving it without `commit` undoes.
    """

    def __enter__(self) -> "Target":
        """Begin."""

    def __exit__(self, *failure: object) -> None:
        """Undo what was not committed."""

    def write(self, output: Statement) -> Sql:
        """Keep a published table; return SQL that reads what was written, in its order."""

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of each table (rows; for files also bytes and sha256)."""

    def commit(self, manifest: Manifest) -> None:
        """Make the release visible."""


class DirectoryTarget:
    """Parquet files and release.json in a directory that appears in one rename."""

    def __init__(self, engine: Engine, path: str | Path, overwrite: bool) -> None:
        """Refuse an existing target unless `overwrite` and it is a release, and a missing parent."""
        self.engine = engine
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
        if not self.path.parent.is_dir():
            raise TargetError(f"no directory {str(self.path.parent)!r} to write {self.path.name!r} in")
        recover(self.path)
        self._replaced = _replaceable(self.path, overwrite)
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise TargetError(f"no right to write in {str(self.path.parent)!r}")
        self._written: dict[Path, int] = {}

    def __enter__(self) -> "DirectoryTarget":
        """Open the private folder that the files are written to."""
        self._exchange = Exchange(self.path)
        return self

    def __exit__(self, *failure: object) -> None:
        """Remove the private folder; a committed release has left it."""
        self._exchange.close()

    def write(self, output: Statement) -> Sql:
        """Write one Parquet file or several; return SQL that reads them in the order of their names."""
        written = self.engine.write_parquet(output.sql, self._exchange.new / f"{output.name}.parquet")
        self._written |= written
        return self.engine.read_parquet(sorted(written))

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return rows, bytes and sha256 of each file."""
        return {
            path.name: {"rows": count, "bytes": path.stat().st_size, "sha256": sha256(path)}
            for path, count in self._written.items()
        }

    def commit(self, manifest: Manifest) -> None:
        """Write release.json and let the directory appear."""
        try:
            (self._exchange.new / MANIFEST).write_text(dumped(manifest), encoding="utf-8")
        except OSError as error:
            raise TargetError(f"cannot write {MANIFEST}: {error.strerror}") from None
        self._exchange.commit(self._replaced)


def _replaceable(target: Path, overwrite: bool) -> frozenset[str]:
    """Return the files that a release at `target` may lose; refuse what is not to be replaced."""
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


class SchemaTarget:
    """Tables in a schema of the database that the engine is connected to, in one transaction."""

    def __init__(self, engine: Engine, schema: str, overwrite: bool) -> None:
        """Refuse an existing schema unless `overwrite` and it is a release."""
        if not schema or "\0" in schema or schema.lower() in ("temp", "system", "pg_catalog", "information_schema"):
            raise TargetError(f"{schema!r} is no name for a schema of yours; choose another --into")
        self.engine, self.schema = engine, schema
        self._existing = _replaceable_tables(engine, schema, overwrite)
        self._open = False

    def __enter__(self) -> "SchemaTarget":
        """Begin the transaction, and the schema in it."""
        self.engine.begin()
        self._open = True
        try:
            if self._existing is None:
                self.engine.execute(f"create schema {ident(self.schema)}")
            for name in self._existing or ():
                self.engine.execute(f"drop table if exists {ident(self.schema)}.{ident(name)}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """Roll back what was not committed."""
        if self._open:
            self._open = False
            self.engine.rollback()

    def write(self, output: Statement) -> Sql:
        """Make one table; return its name."""
        relation = Sql(f"{ident(self.schema)}.{ident(output.name)}")
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)), lasting=True)
        return relation

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return the rows of each table."""
        return {name: {"rows": count} for name, count in rows.items()}

    def commit(self, manifest: Manifest) -> None:
        """Write the manifest's table and commit."""
        table, text = f"{ident(self.schema)}.{ident('manifest')}", literal(dumped(manifest))
        self.engine.create(Statement("manifest", f"select {text} as manifest", "table", table), lasting=True)
        self.engine.commit()
        self._open = False


def _replaceable_tables(engine: Engine, schema: str, overwrite: bool) -> list[str] | None:
    """Return the tables that a release in `schema` may lose, None where there is no such schema."""
    tables = engine.tables(schema)
    if tables is None:
        return None
    if not overwrite:
        raise TargetError(f"the schema {schema!r} exists; choose another --into or say --overwrite")
    if not tables:
        return []
    if "manifest" not in tables:
        raise TargetError(
            f"the schema {schema!r} holds tables but no release; --overwrite replaces releases only:"
            " choose another --into"
        )
    return [*loaded(read_manifest(engine, schema), f"schema {schema}")["files"], "manifest"]


class SessionTarget:
    """Temporary tables that live as long as the caller's session."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        """Name the tables with `prefix`."""
        self.engine, self.prefix = engine, prefix
        self._made: list[str] = []

    def __enter__(self) -> "SessionTarget":
        """Begin."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Drop the tables of a failed run."""
        if failure[0] is not None:
            self.engine.drop(self._made)

    def write(self, output: Statement) -> Sql:
        """Make one temporary table; return its name."""
        relation = ident(f"{self.prefix}{output.name}")
        self._made.append(str(relation))
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)))
        return relation

    def files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return the rows of each table."""
        return {name: {"rows": count} for name, count in rows.items()}

    def commit(self, manifest: Manifest) -> None:
        """Do nothing: the tables stand already."""


def read_manifest(engine: Engine, schema: str) -> str:
    """Read the one row of a schema's manifest table."""
    rows = engine.rows(f"select manifest from {ident(schema)}.manifest")
    if len(rows) != 1 or not isinstance(rows[0]["manifest"], str):
        raise ReleaseError(f"the table manifest of schema {schema!r} does not hold one manifest")
    return rows[0]["manifest"]


def table_files(files: Iterable[str], table: str) -> list[str]:
    """Return the files of a release that hold one of its tables, in the order of their names."""
    return sorted(name for name in files if re.fullmatch(rf"{re.escape(table)}(-\d+)?\.parquet", name))


def sha256(path: Path) -> str:
    """Return a file's sha256 as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
