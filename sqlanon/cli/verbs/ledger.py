"""The verb of whoever publishes the same people again and again: ledger."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.api import operations
from sqlanon.cli.app import command
from sqlanon.cli.console import Format, say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import DUCKDB, KeyFile, Server, chosen_key
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_engine
from sqlanon.errors import UsageError


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
