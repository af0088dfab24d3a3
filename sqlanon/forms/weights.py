"""The views of weights that estimate.sql makes: their names, and the lines that it and README.md write of them."""

from collections.abc import Mapping
from typing import Any

from sqlanon.plain_values import visible
from sqlanon.plans.manifest import table_files
from sqlanon.plans.roles import free_name
from sqlanon.plans.sensitive_tables import sensitive_tables
from sqlanon.plans.templates import ident, literal

Manifest = Mapping[str, Any]
VIEW = "weighted"
PAPER = "paper"  # ends the name of the view with the paper's weights
LINES = """\
In DuckDB's shell, in any directory, where PATH is the release's:
--     set variable release = 'PATH';
--     .read PATH/estimate.sql
"""
_FOLDER = "coalesce(getvariable('release') || '/', '')"


def group_views(manifest: Manifest) -> dict[str, tuple[str, str]]:
    """Return the views of unbiased weights of a release with groups: by name the sensitive column and its table."""
    tables = sensitive_tables(manifest)
    if len(tables) == 1:
        return {VIEW: next(iter(tables.items()))}
    return {f"{VIEW}_{number}": line for number, line in enumerate(tables.items(), start=1)}


def paper_view(view: str) -> str:
    """Return the name of the view with the paper's weights beside one with unbiased ones."""
    return f"{view}_{PAPER}"


def first_views(manifest: Manifest) -> tuple[str, str]:
    """Return the names of the first sensitive column's views: of unbiased weights, and of the paper's."""
    view = VIEW if len(manifest["columns"]["sensitive"]) == 1 else f"{VIEW}_1"
    return view, paper_view(view)


def weight_name(manifest: Manifest) -> str:
    """Return what the column of weights is called: no published column has its name."""
    columns = manifest["columns"]
    group_columns = [columns[role] for role in ("group", "count") if role in columns]
    return free_name("weight", [*columns["quasi"], *columns["sensitive"], *group_columns])


def write_in_one_line(name: str) -> str:
    """Write a name for a comment."""
    # a line of comment ends with the line: a name with a line's end in it must not begin another
    return " ".join(visible(str(ident(name))).split())


def write_view(name: str, select: str) -> str:
    """Write a view."""
    return f"create or replace temporary view {name} as\n{select}"


def read_files(manifest: Manifest, table: str) -> str:
    """Return what reads a table's files in the directory that the variable `release` names, or else in the shell's."""
    listed = ", ".join(f"{_FOLDER} || {literal(file)}" for file in table_files(manifest["files"], table))
    return f"select * from read_parquet([{listed}])"
