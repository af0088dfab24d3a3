"""Verbs for releases that are made again and again: run, ledger, macros, adopt."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sqlanon.api import operations
from sqlanon.cli.app import command
from sqlanon.cli.console import Format, say, write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import DUCKDB, DatabaseOption, KeyFile, Limits, Printed, Server, Session, chosen_key
from sqlanon.cli.publication import refuse_place, show_publication, words_against
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_engine
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.models.publication import arguments_of

if TYPE_CHECKING:
    from sqlanon.publishing.job_file import JobLog


@command(epilog="Example: sqlanon run nightly.yml")
@command_of(operations.run)
def run(
    values: Values,
    check: Annotated[
        bool, typer.Option("--check", help="Check the file, the source's columns and its rows; publish nothing.")
    ] = False,
    log: Annotated[
        Literal["text", "json"],
        typer.Option(help="json: a line of JSON for every step, on standard error."),
    ] = "text",
    *,
    limits: Limits,
) -> None:
    """Publish the release that a file describes; the manifest goes to standard output.

    Exit codes: 0 published; 2 the job cannot be right on any data; 3 this data does not allow it or a threshold
    is missed, and what stood at the target stands. A run that died leaves nothing; run it again.
    """
    from sqlanon.cli import display
    from sqlanon.publishing import job_file

    job = values["job"]
    lines = job_file.JobLog(sys.stderr, job) if log == "json" else None
    with nullcontext(say) if lines is None else _notes_in_json(lines) as tell:
        described = job_file.read_job(job)
        engine = job_file.open_engine_of(described, check, **asdict(limits))
        if check:
            for note in job_file.check_job(described, engine):
                tell(note)
            tell(f"{job} describes a job that fits its source")
            return
        with display.progress() if lines is None else lines.of_steps():
            release = job_file.run_job(described, engine)
        display.show_mapping(release.manifest, "json")
        for note in release.notes:
            tell(note)


@contextmanager
def _notes_in_json(lines: "JobLog") -> Iterator[Callable[[str], None]]:
    """Tell notes, warnings and what ends the run as lines of JSON too; yield what tells a note."""
    original = warnings.showwarning
    warnings.showwarning = lambda message, *_, **__: lines.write("warning", message=str(message))
    try:
        yield lambda message: lines.write("note", message=message)
    except SqlanonError as error:
        lines.write("error", message=str(error))
        raise typer.Exit(error.exit_code) from None
    finally:
        warnings.showwarning = original


@command(
    epilog="Example: sqlanon ledger ward.ledger; sqlanon ledger ward.ledger --check --key-file ward.key"
    " --releases nights; sqlanon ledger ward.ledger --check --engine postgres --dsn service=hospital"
)
@command_of(operations.ledger)
def ledger(
    values: Values,
    check: Annotated[
        bool, typer.Option("--check", help="Verify its seal under its key; exit 3 where it does not hold.")
    ] = False,
    key_file: KeyFile = None,
    releases: Annotated[
        Path | None,
        typer.Option(help="With --check: the folder of its releases, none of which it may lack."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            help="With --check: the DuckDB file whose schemas are its releases; of a server, say --engine.",
        ),
    ] = None,
    how: Annotated[Format, typer.Option("--format", help="How results are printed.")] = "table",
    *,
    server: Server,
) -> None:
    """Tell what a ledger holds, in figures: releases, persons, groups, who waits; no values, no ids.

    --check verifies its seal, and that its releases are whole and the newest.
    """
    from sqlanon.cli import display
    from sqlanon.ledgers.summary import check_ledger

    if server.engine == "spark":
        raise UsageError("a ledger is a file, which no Spark reads: leave --engine spark out")
    if check:
        key = chosen_key(None, key_file)
        if key is None:
            raise UsageError("--check needs the ledger's own key: hand it over with --key-file or SQLANON_KEY")
        report = check_ledger(values["path"], key, _opened(server, database), releases)
        display.show_report(report, how)
        if not report.holds:
            say("the ledger is not proved to be whole and the newest: publish nothing with it before you know why")
            raise typer.Exit(3)
        return
    if key_file is not None or releases is not None or database is not None:
        raise UsageError("--key-file, --releases and --database are for --check; say --check as well")
    summary = operations.ledger(**values, con=_opened(server))
    if display.show_to_programs(summary, how):
        return
    figures = {name: value for name, value in summary.as_plain().items() if name != "history"}
    display.show_mapping(figures, "table")
    sys.stdout.write("\n")
    display.show_frame(summary.df(), "table")


def _opened(server: Server, database: str | None = None) -> Engine | None:
    """Open the database of the releases, where one is named."""
    named = (server.engine, database, server.dsn) != (DUCKDB, None, None)
    return open_engine(server.engine, database, dsn=server.given_dsn) if named else None


@command(epilog="Example: sqlanon macros --database hospital.duckdb")
@command_of(operations.macros)
def macros(*, database: DatabaseOption = None, values: Values, printed: Printed) -> None:
    """Store table macros in a DuckDB file, for any client of DuckDB, without Python.

    `anatomy_groups` shows sensitive value and group side by side: it is not a release. Publish the quasi
    columns and group_id from it, sorted by what you publish, or what anatomy_qit and anatomy_st yield under
    one key. The key stands in the session's variable sqlanon_key; whoever has it can undo the release.
    """
    from sqlanon.publishing import store_macros

    if printed.sql:
        sys.stdout.write(store_macros.script())
        return
    if database is None:
        raise UsageError("say which database the macros go into: --database FILE (or --sql to print them)")
    from sqlanon.cli import display
    from sqlanon.engines.connect import open_duckdb

    display.show_frame(operations.macros(open_duckdb(database, write=True), **values), printed.how)
    say("make a key with: openssl rand -hex 32; hand it over with: set variable sqlanon_key = '…'")


@command(
    epilog="Example: sqlanon adopt --database hospital.duckdb --qit ward_qit --st ward_st -l 4 --against patients"
    " --id ssn --out ward"
)
@command_of(operations.adopt)
def adopt(values: Values, session: Session) -> None:
    """Make a verified release of tables that a macro, a dbt hook or a compiled script wrote."""
    from sqlanon.cli import display
    from sqlanon.publishing.adopt import statements

    out, into, against = (values.get(name) for name in ("out", "into", "against"))
    refuse_place(out, into)
    engine = session.open(write=into is not None)
    if session.sql:
        outputs, _ = statements(arguments_of(operations.adopt, values), engine)
        write_out("\n\n".join(f"-- {output.name}\n{output.sql};" for output in outputs) + "\n")
        return
    with display.progress():
        release = operations.adopt(engine, **values)
    identifier = () if values.get("unit") == "row" else values.get("id", ())
    show_publication(release, session, words_against(session, against, identifier), out, into)
    if against is None:
        say("not compared with the microdata: --against SOURCE does that")
