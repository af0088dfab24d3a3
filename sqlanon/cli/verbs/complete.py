"""The verb of whoever wants microdata for another tool: complete."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import Format, ReleaseArgument, say
from sqlanon.cli.session_options import SessionOptions, with_session
from sqlanon.errors import UsageError
from sqlanon.plain_values import visible


@app.command(epilog="Example: sqlanon complete release --tables 10 --out completed")
@with_session
def complete(
    release: ReleaseArgument,
    out: Annotated[Path, typer.Option("--out", help="Directory for completed_01.parquet …; it must not exist.")],
    tables: Annotated[int, typer.Option("--tables", help="How many tables.")] = 10,
    seed: Annotated[
        int | None, typer.Option("--seed", help="The same number gives the same tables; fresh if not given.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Of several sensitive columns in groups, the one to complete.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace older completed tables.")] = False,
    *,
    session: SessionOptions,
) -> None:
    """Complete a release: tables of plausible microdata for any tool, learned from the release alone.

    They say nothing beyond the release. Analyse each, and pool the results: sqlanon guide complete.
    """
    from sqlanon.cli import display
    from sqlanon.completion.completed import check_directory

    if session.sql:
        raise UsageError("complete has no --sql; its loop depends on what it finds")
    opened = session.open_release(release)
    check_directory(out, overwrite, opened.directory)
    opened.require_unchanged()
    with display.progress():
        completion = opened.complete(tables, seed, sensitive)
        files = completion.write(out, overwrite)
    rows = int(opened.manifest["rows"])
    if session.how is Format.table:
        sys.stdout.write(f"{len(files)} completed tables of {rows:,} rows in {visible(str(out))}\n")
        if (share := completion.own_value_share) is not None:
            sys.stdout.write(f"up to about {share:.0%} of a table's rows hold their person's own value\n")
        say(f"the same tables again: --seed {completion.seed}")
        return
    from pandas import DataFrame

    listed = DataFrame({"file": [file.name for file in files], "rows": rows, "seed": completion.seed})
    listed["own_value_share"] = completion.own_value_share
    display.show_frame(listed, "json" if session.how is Format.json else "csv")
