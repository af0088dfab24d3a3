"""Options that verbs share: objects that a verb takes by the name of an argument, and how their texts are read."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlanon.cli.console import Format, say
from sqlanon.engines.connect import Opener, open_engine, read_missing, read_types
from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.models.values import source_against
from sqlanon.plans.engines import ENGINES
from sqlanon.sql.source import read_files

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine
    from sqlanon.releases.release import Release


EngineName = StrEnum("EngineName", {name: name for name in ENGINES})  # type: ignore[misc]
DUCKDB = EngineName("duckdb")
_ENGINES = "; ".join(", ".join(filter(None, (name, declared.reads))) for name, declared in ENGINES.items())

ReleaseArgument = Annotated[str, typer.Argument(help="Release directory; with --database the name of its schema.")]
DatabaseOption = Annotated[str | None, typer.Option(help="DuckDB file that holds the table or schema.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="File with the key (or set SQLANON_KEY). Whoever has it can undo the release."),
]


def chosen_key(key: Key | None, key_file: Path | None) -> Key | None:
    """Read the key from where it was given; None where a fresh one is to be drawn."""
    if key is not None and key_file is not None:
        raise UsageError("say --key or --key-file, not both")
    if key_file is not None:
        return Key.from_file(key_file)
    if key is not None:
        say("warning: --key stands in the process list and the shell's history; use --key-file or SQLANON_KEY")
        return key
    text = os.environ.get("SQLANON_KEY")
    return Key.of(text) if text is not None else None


@dataclass(kw_only=True)
class Printed:
    """How a result is printed."""

    how: Annotated[Format, typer.Option("--format", help="How results are printed.")] = "table"
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the statements that would run, in order, and run nothing.")
    ] = False

    def __post_init__(self) -> None:
        """Refuse a way to print results beside --sql, which prints none."""
        if self.sql and self.how != "table":
            raise UsageError("--format is about results, and --sql prints statements alone: say one of them")

    def refuse_sql(self, verb: str, reason: str) -> None:
        """Refuse --sql for a verb whose statements depend on what runs before them."""
        if self.sql:
            raise UsageError(f"{verb} has no --sql; {reason}")


@dataclass(kw_only=True)
class Server:
    """Which engine runs a verb, and where it is."""

    engine: Annotated[EngineName, typer.Option(help=f"What runs the SQL: {_ENGINES}.")] = DUCKDB
    dsn: Annotated[
        str | None,
        typer.Option(help="With --engine postgres: postgresql://user@host/database (or set SQLANON_DSN)."),
    ] = None

    @property
    def given_dsn(self) -> str | None:
        """Return the DSN; one that stands nowhere else is read from SQLANON_DSN: process lists show a command."""
        known = "--dsn" in ENGINES[self.engine].options
        return os.environ.get("SQLANON_DSN") if self.dsn is None and known else self.dsn


@dataclass(kw_only=True)
class Limits:
    """What an engine may take of the machine."""

    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the engine.")] = None
    memory_limit: Annotated[str | None, typer.Option(help="Memory of the engine, e.g. 4GB; the rest spills.")] = None
    temp_directory: Annotated[
        str | None,
        typer.Option(
            help="Where the engine spills: microdata, in a folder for you alone that goes with the run.",
        ),
    ] = None


@dataclass(kw_only=True)
class Session(Limits, Printed, Server):
    """Which engine runs a verb, with what resources, and how its result is printed."""

    master: Annotated[str | None, typer.Option(help="With --engine spark: its master, e.g. local[2].")] = None
    database: DatabaseOption = None
    types: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=TYPE", help="Types of CSV and JSON: zip=VARCHAR,born=DATE; repeatable."),
    ] = None
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXTS", help="Texts of CSV and JSON that are no value: NA,?; repeatable."),
    ] = None

    def open(self, write: bool = False, readable: Sequence[str] | None = None) -> "Engine":
        """Open the engine; with --sql nothing is ever written. readable: as `connect.open_engine` takes it."""
        limits = Limits(threads=self.threads, memory_limit=self.memory_limit, temp_directory=self.temp_directory)
        return open_engine(
            self.engine, self.database, write and not self.sql, self.master, self.given_dsn, readable,
            read_types(self.types or ()), read_missing(self.missing or ()), **asdict(limits),
        )  # fmt: skip

    def opener(self) -> Opener:
        """Return what opens the engine when a verb needs it."""
        return Opener(self.engine, self.open)

    @property
    def place(self) -> list[str]:
        """Return the words that say where the source lies; a DSN may hold a password and is never printed."""
        if self.engine is DUCKDB:
            return [] if self.database is None else ["--database", self.database]
        return ["--engine", self.engine, *([] if self.master is None else ["--master", self.master])]

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

    def open_against(self, release: str, values: dict[str, Any], *files: str | None) -> "Release":
        """Open a release and the others that `values` name; they get these, and the source as it is read.

        files: what else is read beside the release.
        """
        from sqlanon.releases.release import open_release

        query, rules, others = values.pop("query", None), values.pop("coarsen", None), values.pop("others", ())
        against, identifier, vary = (values.get(name) for name in ("against", "id", "vary"))
        source = source_against(against, query, self.engine, rules, identifier or (), vary)
        opened = self.open_release(release, *map(str, read_files(source)), *others, *files)
        values["against"] = source
        if others:
            values["others"] = [open_release(other, self.database, opened.engine) for other in others]
        return opened


@dataclass(kw_only=True)
class DuckDBSession(Session):
    """Those of a verb that runs on DuckDB alone, and depends on what it draws: what it refuses is not offered."""

    engine: Annotated[EngineName, typer.Option(hidden=True)] = DUCKDB
    master: Annotated[str | None, typer.Option(hidden=True)] = None
    dsn: Annotated[str | None, typer.Option(hidden=True)] = None
    sql: Annotated[bool, typer.Option("--sql", hidden=True)] = False
