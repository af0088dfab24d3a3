"""The verb of whoever publishes the same people again and again: ledger."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import Dsn, EngineName, EngineOption, Format, FormatOption, Master, open_engine


@app.command(
    epilog="Example: sqlanon ledger ward.ledger; sqlanon ledger vault.ward --engine postgres --dsn service=hospital"
)
def ledger(
    named: Annotated[str, typer.Argument(metavar="LEDGER", help="What releases were made with: a path or a table.")],
    engine: EngineOption = EngineName.duckdb,
    master: Master = None,
    dsn: Dsn = None,
    how: FormatOption = Format.table,
) -> None:
    """Tell what a ledger holds, in figures: releases so far, persons, groups, who waits. No values, and no ids."""
    from sqlanon.cli import display
    from sqlanon.ledgers.summary import read_ledger

    found = read_ledger(named, open_engine(engine, None, False, master, dsn))
    if how is Format.json:
        display.show_mapping(found.as_plain(), "json")
        return
    if how is Format.csv:
        display.show_frame(found.df(), "csv")
        return
    told = {name: value for name, value in found.as_plain().items() if name != "history"}
    display.show_mapping(told, "table")
    sys.stdout.write("\n")
    display.show_frame(found.df(), "table")
