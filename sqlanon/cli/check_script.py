"""The script of a check, beside those of the methods: compile check."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.options import Dialect

EPILOG = "Example: sqlanon compile check ward.patients --quasi age,sex --sensitive disease --dialect spark"


def compile_check(
    source: Annotated[str, typer.Argument(help="Table of the other engine, e.g. schema.patients.")],
    quasi: Annotated[
        list[str], typer.Option("--quasi", help="Columns that others may know; commas between, or repeat.")
    ],
    sensitive: Annotated[
        list[str] | None, typer.Option("--sensitive", help="Sensitive columns, each on its own.")
    ] = None,
    dialect: Annotated[Dialect, typer.Option("--dialect", help="The engine's SQL.")] = Dialect.duckdb,  # type: ignore[attr-defined]
) -> None:
    """Print a script that measures what a table risks (no database is needed)."""
    from sqlanon.publishing.plan_text import compiled_check

    sys.stdout.write(compiled_check(source, tuple(quasi), tuple(sensitive or ()), dialect.value))
