"""The script of a breach analysis, beside those of the methods: compile breach."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.options import Dialect, Model, ModelOption

EPILOG = (
    "Example: sqlanon compile breach patients --view 'SELECT name, age FROM patients'"
    " --view 'SELECT age, problem FROM patients' --secret 'SELECT name, problem FROM patients' --dialect postgres"
)


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
