"""The scripts of a breach analysis and of a check, beside those of the methods: compile breach, compile check."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.options import Dialect, Model, ModelOption

CHECK_EPILOG = "Example: sqlanon compile check ward.patients --quasi age,sex --sensitive disease --dialect spark"
BREACH_EPILOG = (
    "Example: sqlanon compile breach patients --view 'SELECT name, age FROM patients'"
    " --view 'SELECT age, problem FROM patients' --secret 'SELECT name, problem FROM patients' --dialect postgres"
)


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


def compile_breach(
    source: Annotated[str, typer.Argument(help="Table of the other engine, e.g. schema.patients.")],
    view: Annotated[list[str], typer.Option("--view", help="SELECT columns FROM base; repeat for every view.")],
    secret: Annotated[str, typer.Option("--secret", help="SELECT id, property FROM base [WHERE condition].")],
    model: ModelOption = Model.unrestricted,
    dialect: Annotated[Dialect, typer.Option("--dialect", help="The engine's SQL.")] = Dialect.duckdb,  # type: ignore[attr-defined]
) -> None:
    """Print a script that tells how likely each secret association is (no database is needed)."""
    from sqlanon.publishing.plan_text import compiled_breach

    sys.stdout.write(compiled_breach(source, tuple(view), secret, model.value, dialect.value))
