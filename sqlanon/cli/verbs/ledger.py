"""The verb of whoever publishes the same people again and again: ledger."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import Format, FormatOption


@app.command(epilog="Example: sqlanon ledger ward.ledger")
def ledger(
    file: Annotated[str, typer.Argument(help="The ledger that releases were published with.")],
    how: FormatOption = Format.table,
) -> None:
    """Tell what a ledger holds, in figures: releases so far, persons, groups, who waits. No values, and no ids."""
    from sqlanon.cli import display
    from sqlanon.ledgers.summary import read_ledger

    found = read_ledger(file)
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
