"""Where a release goes: a directory of files, a schema of the database, or the session alone; whole or not at all."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self

from sqlanon.atomic_files import DirectoryExchange, recover_directory
from sqlanon.bounded_files import file_sha256
from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, SqlanonError, TargetError, UsageError, raised_as, undone_by
from sqlanon.interruption import hold_back
from sqlanon.plans.manifest import Manifest, manifest_text, parse_manifest
from sqlanon.plans.plan import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.read_places import MANIFEST, refuse_in_any_release, require_parent
from sqlanon.releases.companions import write_comments, write_companions
from sqlanon.releases.opening import read_manifest_text, read_schema_manifest
from sqlanon.wording import option

LONGEST_NAME = 200  # bytes: a recipient names it as a file or a directory is named, which end at 255
RESERVED_SCHEMAS = ("temp", "system", "pg_catalog", "information_schema")


class Target(Protocol):
    """Take the tables of one release, then its manifest; nothing is visible before `commit`.

    Making a target refuses what cannot be written and keeps other runs away from it until it is closed; entering it
    begins, leaving it without `commit` undoes.
    """

    def close(self) -> None:
        """Let other runs write there; nothing keeps them away from tables of a session."""
        return

    def __enter__(self) -> Self:
        """Begin; where files wait in a folder of their own, it is there already."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Undo what was not committed."""

    def write(self, output: Statement) -> Sql:
        """Keep a published table; return SQL that reads what was written, in its order."""

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of each table (rows; for files also bytes and sha256)."""
        return {name: {"rows": count} for name, count in rows.items()}

    def write_companions(self, manifest: Manifest, expected: str = "") -> dict[str, Any]:
        """Write the texts that lie beside the tables; return what the manifest says of each (bytes, sha256).

        expected: what an attack is expected to reach. Tables of a database have none.
        """
        return {}

    def commit(self, manifest: Manifest) -> None:
        """Make the release visible; tables of a session are already."""
        return


class DirectoryTarget(Target):
    """Parquet files and release.json in a directory that appears in one rename."""

    def __init__(self, engine: Engine, path: str | Path, overwrite: bool) -> None:
        """Refuse an existing target unless `overwrite` and it is a release, and a missing parent."""
        self.engine = engine
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
        require_parent(self.path)
        refuse_in_any_release(self.path)
        # first restore what a dead run had set aside: it may be the release at this target
        recover_directory(self.path)
        _replaceable_files(self.path, overwrite)
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise TargetError(f"no right to write in {str(self.path.parent)!r}; choose another {option('out')}")
        self._written: dict[Path, int] = {}
        self._exchange = DirectoryExchange(self.path)
        with undone_by(self.close):  # checked again: another run may have ended since, and from now on none writes here
            self._replaced = _replaceable_files(self.path, overwrite)

    def __exit__(self, *failure: object) -> None:
        """Remove the private folder; a committed release has left it."""
        self.close()

    @property
    def staged(self) -> Path:
        """Return the directory that takes the target's place."""
        return self._exchange.new

    def close(self) -> None:
        """Let other runs write to the directory, and remove what is left of this one."""
        self._exchange.close()

    def write(self, output: Statement) -> Sql:
        """Write one Parquet file or several; return SQL that reads them in the order of their names."""
        written = self.engine.write_parquet(output.sql, self._exchange.new / f"{output.name}.parquet")
        self._written |= written
        return self.engine.read_parquet(sorted(written))

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return rows, bytes and sha256 of each file."""
        return {
            path.name: {"rows": count, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
            for path, count in self._written.items()
        }

    def write_companions(self, manifest: Manifest, expected: str = "") -> dict[str, Any]:
        """Write the texts that lie beside the tables; return bytes and sha256 of each."""
        described = {}
        for name, text in write_companions(self._exchange.new, manifest, expected).items():
            # what the replaced release's manifest does not name is its owner's, and stays
            if name not in self._replaced and os.path.lexists(self.path / name):
                raise TargetError(
                    f"{str(self.path / name)!r} is no file of the release that stands there, and the new one has its"
                    f" own {name}: move it away, or choose another {option('out')}"
                )
            path = self._exchange.new / name
            self._write_text(path, text)
            described[name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        return described

    def commit(self, manifest: Manifest) -> None:
        """Write release.json and let the directory appear."""
        hold_back()
        self._write_text(self._exchange.new / MANIFEST, manifest_text(manifest))
        self._exchange.commit(self._replaced)

    def _write_text(self, path: Path, text: str) -> None:
        with raised_as(TargetError, f"cannot write {path.name}"):
            path.write_text(text, encoding="utf-8", newline="\n")


def _replaceable_files(target: Path, overwrite: bool) -> frozenset[str]:
    """Return the files that a release at `target` may lose; refuse what is not to be replaced."""
    if not os.path.lexists(target):
        return frozenset()
    if target.is_symlink() or not target.is_dir():
        raise TargetError(f"{str(target)!r} is not a directory, and a release is one: choose another {option('out')}")
    held: frozenset[str] = frozenset()
    if any(target.iterdir()):
        try:
            manifest = parse_manifest(read_manifest_text(target), str(target))
        except ReleaseError:
            raise TargetError(
                f"{str(target)!r} holds files but no release; {option('overwrite', True)} replaces releases only:"
                f" choose another {option('out')}"
            ) from None
        held = frozenset({MANIFEST, *manifest["files"]})  # what else lies there is its owner's: it stays
    if not overwrite:
        raise TargetError(f"{str(target)!r} exists; choose another {option('out')} or say {option('overwrite', True)}")
    return held


class SchemaTarget(Target):
    """Tables in a schema of the database that the engine is connected to, in one transaction."""

    def __init__(self, engine: Engine, schema: str, overwrite: bool) -> None:
        """Refuse an existing schema unless `overwrite` and it is a release."""
        if not schema or "\0" in schema or schema.lower() in RESERVED_SCHEMAS:
            raise TargetError(f"{schema!r} is no name for a schema of yours; choose another {option('into')}")
        if len(schema.encode("utf-8", "surrogateescape")) > LONGEST_NAME:
            raise TargetError(f"the name of the schema is longer than {LONGEST_NAME} bytes; choose a shorter one")
        self.engine, self.schema, self._name = engine, schema, engine.qualified(schema)
        self._overwrite, self._open = overwrite, False
        if not engine.reserve(schema):
            raise TargetError(f"another run is writing to the schema {schema!r}; wait until it has ended")
        with undone_by(self.close):
            self._existing = _replaceable_tables(engine, schema, overwrite)

    def __enter__(self) -> "SchemaTarget":
        """Begin the transaction, and the schema in it."""
        self.engine.begin()
        self._open = True
        with undone_by(self.__exit__):  # a with statement whose beginning fails calls none
            if _replaceable_tables(self.engine, self.schema, self._overwrite) != self._existing:
                raise TargetError(f"the schema {self.schema!r} has changed while this run was at work; it stays")
            if self._existing is None:
                self.engine.execute(f"create schema {self._name}")
            # the schema itself stays: its owner's other tables and rights are in it
            for name in self._existing or ():
                self.engine.execute(f"drop table if exists {self._name}.{ident(name)}")
        return self

    def __exit__(self, *failure: object) -> None:
        """Roll back what was not committed."""
        if self._open:
            self._open = False
            with suppress(SqlanonError):  # the first error is the one to tell
                self.engine.rollback()

    def close(self) -> None:
        """Let other runs write to the schema."""
        self.engine.release(self.schema)

    def write(self, output: Statement) -> Sql:
        """Make one table; return its name."""
        relation = Sql(f"{self._name}.{ident(output.name)}")
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)), lasting=True)
        return relation

    def commit(self, manifest: Manifest) -> None:
        """Write the manifest's table and commit."""
        hold_back()
        table, text = f"{self._name}.{ident('manifest')}", literal(manifest_text(manifest))
        self.engine.create(Statement("manifest", f"select {text} as manifest", "table", table), lasting=True)
        for (name, column), comment in write_comments(manifest).items():
            commented = f"{self._name}.{ident(name)}" + (f".{ident(column)}" if column else "")
            kind = "column" if column else "table"
            self.engine.execute(f"comment on {kind} {commented} is {literal(comment)}")
        try:
            self.engine.commit()
        except SqlanonError as error:
            raise type(error)(f"{error}; {self._outcome(manifest)}") from None
        self._open = False

    def _outcome(self, manifest: Manifest) -> str:
        """Say what is visible after a commit that has failed."""
        self.__exit__()
        try:
            stands = read_schema_manifest(self.engine, self.schema) == manifest_text(manifest)
        except UsageError:  # there is no such table
            stands = False
        except SqlanonError:
            return f"whether the release is there, tells: sqlanon verify {self.schema}"
        return "the release has been published and stands" if stands else "nothing was published"


def _replaceable_tables(engine: Engine, schema: str, overwrite: bool) -> list[str] | None:
    """Return the tables that a release in `schema` may lose, None where there is no such schema."""
    tables = engine.tables(schema)
    if tables is None:
        return None
    if not overwrite:
        raise TargetError(
            f"the schema {schema!r} exists; choose another {option('into')} or say {option('overwrite', True)}"
        )
    if not tables:
        return []
    if "manifest" not in tables:
        raise TargetError(
            f"the schema {schema!r} holds tables but no release; {option('overwrite', True)} replaces releases only:"
            f" choose another {option('into')}"
        )
    return [*parse_manifest(read_schema_manifest(engine, schema), f"schema {schema}")["files"], "manifest"]


class SessionTarget(Target):
    """Temporary tables that live as long as the caller's session."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        """Name the tables with `prefix`."""
        self.engine, self.prefix = engine, prefix
        self._relations: list[str] = []

    def __exit__(self, *failure: object) -> None:
        """Drop the tables of a failed run."""
        if failure[0] is not None:
            self.engine.drop(self._relations)

    def write(self, output: Statement) -> Sql:
        """Make one temporary table; return its name."""
        relation = ident(f"{self.prefix}{output.name}")
        # noted before it is made: creating it may fail half way
        self._relations.append(str(relation))
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)))
        return relation
