"""The verb for whoever would rather look than type: page."""

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import DatabaseOption, say


@app.command(epilog="Example: sqlanon page patients.parquet; sqlanon page --database hospital.duckdb patients")
def page(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Parquet, CSV or JSON path or glob; a table's name.")
    ] = None,
    database: DatabaseOption = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; 0: a free one.")] = 0,
) -> None:
    """Open a local page: check, choose, publish, verify, attack, report and ask by looking and clicking.

    It is served to this machine alone, and its address holds a token. Ctrl-C ends it, and whatever still runs.
    """
    from sqlanon.page.serve import serve
    from sqlanon.page.state import State

    state = State(Path.cwd(), typed_source=source or "", typed_database=database or "")
    if source is not None:
        state.open_source()
    serve(state, port, say)
