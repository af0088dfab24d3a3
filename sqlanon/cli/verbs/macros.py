"""The verb that stores macros for clients without Python: macros."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.api import operations
from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import DatabaseOption, Printed
from sqlanon.errors import UsageError


@command(epilog="Example: sqlanon macros --database hospital.duckdb")
@command_of(operations.macros)
def macros(
    *,
    database: DatabaseOption = None,
    values: Values,
    dbt: Annotated[
        Path | None, typer.Option(help="Write the dbt package that calls the macros to this folder instead.")
    ] = None,
    printed: Printed,
) -> None:
    """Store table macros in a DuckDB file, for any client of DuckDB, without Python.

    `anatomy_groups` shows sensitive value and group side by side: it is not a release. Publish the quasi
    columns and group_id from it, sorted by what you publish, or what anatomy_qit and anatomy_st yield under
    one key. The key stands in the session's variable sqlanon_key; whoever has it can undo the release.
    """
    from sqlanon.publishing import store_macros

    if printed.sql:
        sys.stdout.write(store_macros.script())
        return
    if dbt is not None:
        if database is not None or "drop" in values:
            raise UsageError("--dbt writes a folder and takes no database; type: sqlanon macros --dbt DIR")
        store_macros.write_dbt_package(dbt, **values)
        say(f"the dbt package is in {dbt}; packages.yml names it: packages: [{{local: {dbt}}}]")
        return
    if database is None:
        raise UsageError("say which database the macros go into: --database FILE (or --sql to print them)")
    from sqlanon.cli import display
    from sqlanon.engines.connect import open_duckdb

    frame = operations.macros(open_duckdb(database, write=True), **values)
    display.show_frame(frame, printed.how)
    if "drop" in values:
        say(f"dropped {len(frame)} macros from {database}")
    else:
        say("make a key with: openssl rand -hex 32; hand it over with: set variable sqlanon_key = '…'")
