"""What every method's publish and compile take, said once: the options, and what is done with them."""

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from sqlanon.cli import display
from sqlanon.cli.options import (
    DatabaseOption,
    Dialect,
    Draws,
    DrawsOption,
    Dsn,
    EngineName,
    EngineOption,
    Format,
    FormatOption,
    Identifier,
    KeyFile,
    KeyOption,
    Master,
    Memory,
    Nulls,
    NullsOption,
    Quasi,
    RowsPerPerson,
    Sensitive,
    SourceArgument,
    SqlOption,
    Temporary,
    Threads,
    any_session,
    chosen_key,
    say,
)
from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.publishing.publish import Asked, compiled, publish, statements
from sqlanon.releases.release import Release

Options = TypeVar("Options")


@dataclass(kw_only=True)
class Publication:
    """A publication as it was typed, but for the method's own parameters."""

    source: SourceArgument
    quasi: Quasi
    sensitive: Sensitive
    identifier: Identifier = field(default_factory=list)
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory to appear, with Parquet files and release.json.")
    ] = None
    into: Annotated[str | None, typer.Option("--into", help="Schema of --database to appear, in one transaction.")] = (
        None
    )
    database: DatabaseOption = None
    engine: EngineOption = EngineName.duckdb
    master: Master = None
    dsn: Dsn = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older release at the target.")] = False
    nulls: NullsOption = Nulls.refuse
    draws: DrawsOption = Draws.keyed
    key: KeyOption = None
    key_file: KeyFile = None
    rows_per_person: Annotated[
        RowsPerPerson,
        typer.Option("--rows-per-person", help="many: publish although an --id has several rows."),
    ] = RowsPerPerson.one
    show_values: Annotated[bool, typer.Option("--show-values", help="Let messages name sensitive values.")] = False
    how: FormatOption = Format.table
    sql: SqlOption = False
    threads: Threads = None
    memory_limit: Memory = None
    temp_directory: Temporary = None

    def publish(self, method: str, save: Sequence[Path] = (), **parameters: Any) -> Release | None:
        """Publish, and print what was published; with --sql print the statements alone, and return None."""
        if (self.out is None) == (self.into is None):
            raise UsageError("say where the release goes: --out DIR, or --database FILE --into SCHEMA")
        if self.into is not None and self.database is None and self.engine is EngineName.duckdb:
            raise UsageError("--into names a schema of a database; say which with --database FILE")
        asked = self._asked(method)
        resources = (self.threads, self.memory_limit, self.temp_directory)
        writes = self.into is not None and not self.sql
        engine = any_session(self.engine, self.database, writes, self.master, self.dsn, *resources)
        if self.sql:
            sys.stdout.write(statements(asked, engine, self.out, self.into, self.overwrite, save, **parameters))
            return None
        with display.progress():
            release = publish(asked, engine, self.out, self.into, self.overwrite, save=save, **parameters)
        where = str(self.out) if self.out is not None else f"schema {self.into} of {self.database or 'the database'}"
        display.show_publication(release.manifest, where, self.how.value)
        for note in release.notes:
            say(note)
        return release

    def _asked(self, method: str) -> Asked:
        return Asked(
            method,
            self.source,
            tuple(self.quasi),
            tuple(self.sensitive),
            tuple(self.identifier),
            self.nulls.value,
            self.draws.value,
            chosen_key(self.key, self.key_file),
            self.rows_per_person is RowsPerPerson.many,
            self.show_values,
            tuple(str(file) for file in (self.database, self.key_file) if file is not None),
        )


@dataclass(kw_only=True)
class Compilation:
    """A script as it was asked for, but for the method's own parameters."""

    source: Annotated[str, typer.Argument(help="Table of the other engine, e.g. schema.patients.")]
    quasi: Quasi
    sensitive: Sensitive
    dialect: Annotated[Dialect, typer.Option("--dialect", help="The engine's SQL.")] = Dialect.duckdb  # type: ignore[attr-defined]
    identifier: Identifier = field(default_factory=list)
    nulls: NullsOption = Nulls.refuse
    draws: DrawsOption = Draws.keyed

    def print(self, method: str, engine: Engine | None = None, **parameters: Any) -> None:
        """Print the method's script; `engine`: where the source stands, if its columns are to be looked at."""
        roles = (tuple(self.quasi), tuple(self.sensitive), tuple(self.identifier))
        asked = Asked(method, self.source, *roles, self.nulls.value, self.draws.value)
        sys.stdout.write(compiled(asked, self.dialect.value, engine, **parameters))


def with_options(options: type[Options]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of `options` as its own parameters; it gets them as one object, first.

    typer reads a command from its signature: the one made here holds both.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(options, include_extras=True)
        keyword = inspect.Parameter.KEYWORD_ONLY
        own = list(inspect.signature(command).parameters.values())[1:]
        shared = [
            inspect.Parameter(one.name, keyword, default=_default(one), annotation=hints[one.name])
            for one in fields(options)  # type: ignore[arg-type]
        ]

        def typed(**given: Any) -> None:
            names = {one.name for one in shared}
            common = options(**{name: value for name, value in given.items() if name in names})
            command(common, **{name: value for name, value in given.items() if name not in names})

        typed.__name__, typed.__doc__, typed.__module__ = command.__name__, command.__doc__, command.__module__
        merged = sorted((*shared, *own), key=lambda one: one.default is not inspect.Parameter.empty)
        typed.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
        own_hints = get_type_hints(command, include_extras=True)
        typed.__annotations__ = {**hints, **{one.name: own_hints[one.name] for one in own}, "return": None}
        return typed

    return decorate


def _default(one: Any) -> Any:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return inspect.Parameter.empty if one.default is MISSING else one.default
