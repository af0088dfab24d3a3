"""Verbs of the publisher: publish, compile."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlanon import display
from sqlanon.cli.app import compile_app, publish_app
from sqlanon.cli.options import (
    BlockOption,
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
    LOption,
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
    chosen_block,
    chosen_key,
    say,
)
from sqlanon.errors import UsageError
from sqlanon.grouping import GROUPS_PER_BLOCK
from sqlanon.publish import Asked, compiled, publish, statements


@publish_app.command(
    "anatomy",
    epilog="Example: sqlanon publish anatomy patients.parquet --quasi age,sex --sensitive disease -l 4 --out release",
)
def publish_anatomy(
    source: SourceArgument,
    quasi: Quasi,
    sensitive: Sensitive,
    l: LOption,
    identifier: Identifier = [],  # noqa: B006 - typer reads the default, nothing changes it
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory to appear, with Parquet files and release.json.")
    ] = None,
    into: Annotated[
        str | None, typer.Option("--into", help="Schema of --database to appear, in one transaction.")
    ] = None,
    database: DatabaseOption = None,
    engine: EngineOption = EngineName.duckdb,
    master: Master = None,
    dsn: Dsn = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older release at the target.")] = False,
    nulls: NullsOption = Nulls.refuse,
    draws: DrawsOption = Draws.keyed,
    key: KeyOption = None,
    key_file: KeyFile = None,
    block: BlockOption = str(GROUPS_PER_BLOCK),
    rows_per_person: Annotated[
        RowsPerPerson,
        typer.Option("--rows-per-person", help="many: publish although an --id has several rows."),
    ] = RowsPerPerson.one,
    show_values: Annotated[bool, typer.Option("--show-values", help="Let messages name sensitive values.")] = False,
    how: FormatOption = Format.table,
    sql: SqlOption = False,
    threads: Threads = None,
    memory_limit: Memory = None,
    temp_directory: Temporary = None,
) -> None:
    """Publish QIT and ST of an l-diverse partition (Anatomy)."""
    if (out is None) == (into is None):
        raise UsageError("say where the release goes: --out DIR, or --database FILE --into SCHEMA")
    if into is not None and database is None and engine is EngineName.duckdb:
        raise UsageError("--into names a schema of a database; say which with --database FILE")
    asked = Asked(
        "anatomy",
        source,
        tuple(quasi),
        tuple(sensitive),
        tuple(identifier),
        nulls.value,
        draws.value,
        chosen_key(key, key_file),
        rows_per_person is RowsPerPerson.many,
        show_values,
    )
    writes = into is not None and not sql
    chosen = any_session(engine, database, writes, master, dsn, threads, memory_limit, temp_directory)
    parameters: dict[str, Any] = {"l": l, "block": chosen_block(block)}
    if sql:
        sys.stdout.write(statements(asked, chosen, out, into, **parameters))
        return
    with display.progress():
        release = publish(asked, chosen, out, into, overwrite, **parameters)
    where = str(out) if out is not None else f"schema {into} of {database or 'the database'}"
    display.show_publication(release.manifest, where, how.value)
    for note in release.notes:
        say(note)


@compile_app.command(
    "anatomy",
    epilog="Example: sqlanon compile anatomy patients --quasi age --sensitive disease --id ssn -l 4 --dialect spark",
)
def compile_anatomy(
    source: Annotated[str, typer.Argument(help="Table of the other engine, e.g. schema.patients.")],
    quasi: Quasi,
    sensitive: Sensitive,
    l: LOption,
    dialect: Annotated[Dialect, typer.Option("--dialect", help="The engine's SQL.")] = Dialect.duckdb,  # type: ignore[attr-defined]
    identifier: Identifier = [],  # noqa: B006
    nulls: NullsOption = Nulls.refuse,
    draws: DrawsOption = Draws.keyed,
    block: BlockOption = str(GROUPS_PER_BLOCK),
) -> None:
    """Print a script that publishes QIT and ST on another engine (no database is needed)."""
    asked = Asked("anatomy", source, tuple(quasi), tuple(sensitive), tuple(identifier), nulls.value, draws.value)
    sys.stdout.write(compiled(asked, dialect.value, l=l, block=chosen_block(block)))
