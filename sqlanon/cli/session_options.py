"""Options of every verb that opens an engine and prints a result, declared once and passed on as one object."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.declared import Values
from sqlanon.cli.options import (
    DUCKDB,
    DatabaseOption,
    Dsn,
    EngineName,
    EngineOption,
    Format,
    FormatOption,
    Master,
    Memory,
    MissingOption,
    SqlOption,
    Temporary,
    Threads,
    TypesOption,
    given_dsn,
)
from sqlanon.engines.connect import Opener, open_engine, read_missing, read_types
from sqlanon.errors import UsageError
from sqlanon.methods.name_kinds import source_against
from sqlanon.plans.engines import ENGINES
from sqlanon.sql.sources.queried_source import read_files

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine
    from sqlanon.releases.release import Release


@dataclass(kw_only=True)
class SessionOptions:
    """Which engine runs a verb, with what resources, and how its result is printed."""

    database: DatabaseOption = None
    engine: EngineOption = DUCKDB
    master: Master = None
    dsn: Dsn = None
    how: FormatOption = Format.table
    sql: SqlOption = False
    threads: Threads = None
    memory_limit: Memory = None
    temp_directory: Temporary = None
    types: TypesOption = None
    missing: MissingOption = None

    def open(self, write: bool = False, readable: Sequence[str] | None = None) -> "Engine":
        """Open the engine; with --sql nothing is ever written. readable: as `connect.open_engine` takes it."""
        return open_engine(
            self.engine.value, self.database, write and not self.sql, self.master,
            given_dsn(self.engine, self.dsn), readable, read_types(self.types or ()), read_missing(self.missing or ()),
            threads=self.threads, memory_limit=self.memory_limit, temp_directory=self.temp_directory,
        )  # fmt: skip

    def opener(self) -> Opener:
        """Return what opens the engine when a verb needs it."""
        return Opener(self.engine.value, self.open)

    def refuse_sql(self, verb: str, reason: str) -> None:
        """Refuse --sql for a verb whose statements depend on what runs before them."""
        if self.sql:
            raise UsageError(f"{verb} has no --sql; {reason}")

    @property
    def place(self) -> list[str]:
        """Return the words that say where the source lies; a DSN may hold a password and is never printed."""
        if self.engine is DUCKDB:
            return [] if self.database is None else ["--database", self.database]
        master = [] if self.master is None else ["--master", self.master]
        return ["--engine", self.engine.value, *master]

    @property
    def source_place(self) -> list[str]:
        """Return the same words, and those that say how the source is read."""
        types = [word for text in self.types or () for word in ("--types", text)]
        return [*types, *(word for text in self.missing or () for word in ("--missing", text)), *self.place]

    @property
    def dsn_reminder(self) -> str:
        """Return what to say of a DSN that a printed command lacks."""
        return " (with the --dsn of this run, or SQLANON_DSN)" if self.dsn else ""

    def complete(self, command: str) -> str:
        """Return a command that publishes the source with what says where it lies, so that it runs as printed."""
        if "directory" in ENGINES[self.engine].lacks:
            command = command.replace(" --out ", " --into ")
        return " ".join([command, *map(shlex.quote, self.source_place)]) if command else ""

    def open_release(self, release: str, *files: str | None) -> "Release":
        """Open a release; a schema is a stranger's, and beside its database only `files` are read."""
        from sqlanon.releases.release import open_release

        if (self.types or self.missing) and not any(files):
            raise UsageError("--types and --missing are about CSV and JSON files, and none is read here")
        stranger = self.database is not None and not Path(release).is_dir()
        readable = [file for file in files if file is not None] if stranger else None
        return open_release(release, self.database, self.open(readable=readable))

    def open_against(self, release: str, values: Values, *files: str | None) -> "Release":
        """Open a release and the others that `values` name; they get these, and the source as it is read.

        files: what else is read beside the release.
        """
        from sqlanon.releases.release import open_release

        query, rules, others = values.pop("query", None), values.pop("coarsen", None), values.pop("others", ())
        against, identifier, vary = (values.get(name) for name in ("against", "id", "vary"))
        source = source_against(against, query, self.engine.value, rules, identifier or (), vary)
        opened = self.open_release(release, *map(str, read_files(source)), *others, *files)
        values["against"] = source
        if others:
            values["others"] = [open_release(other, self.database, opened.engine) for other in others]
        return opened


@dataclass(kw_only=True)
class DuckDBOptions(SessionOptions):
    """Those of a verb that runs on DuckDB alone, and depends on what it draws: what it refuses is not offered."""

    engine: Annotated[EngineName, typer.Option("--engine", hidden=True)] = DUCKDB
    master: Annotated[str | None, typer.Option("--master", hidden=True)] = None
    dsn: Annotated[str | None, typer.Option("--dsn", hidden=True)] = None
    sql: Annotated[bool, typer.Option("--sql", hidden=True)] = False
