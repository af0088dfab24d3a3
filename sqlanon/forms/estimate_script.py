"""estimate.sql: views of people, or rows, with sensitive values and weights, whose sums are counts."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.plain_values import visible
from sqlanon.plans.build import render_queries, render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.manifest import of_people, sensitive_tables, signature_of, table_files
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.prose import write

Manifest = Mapping[str, Any]
VIEW = "weighted"
PAPER = "paper"  # ends the name of the view with the paper's weights beside one with unbiased ones
_FOLDER = "coalesce(getvariable('release') || '/', '')"


def view_names(manifest: Manifest) -> dict[str, str]:
    """Return the sensitive columns by the names of their views of unbiased weights."""
    sensitive = manifest["columns"]["sensitive"]
    return {VIEW if len(sensitive) == 1 else f"{VIEW}_{number}": name for number, name in enumerate(sensitive, start=1)}


def first_views(manifest: Manifest) -> tuple[str, str]:
    """Return the names of the first sensitive column's views: of unbiased weights, and of the paper's."""
    view = next(iter(view_names(manifest)))
    return view, f"{view}_{PAPER}"


def weight_name(manifest: Manifest) -> str:
    """Return what the column of weights is called: no published column has its name."""
    columns = manifest["columns"]
    group_columns = [columns[role] for role in ("group", "count") if role in columns]
    return free_name("weight", [*columns["quasi"], *columns["sensitive"], *group_columns])


def write_group_script(manifest: Manifest) -> str:
    """Return the script with two views for each sensitive column of groups: weighted by their class, and by group."""
    columns, selects = manifest["columns"], list[tuple[str, str]]()
    tables = sensitive_tables(manifest)
    for view, column in view_names(manifest).items():
        names = {
            "group_class": f"{VIEW}_class",
            "value_line": f"{view}_line",
            "class_value": f"{view}_value",
            "weighted_unbiased": view,
            "weighted": f"{view}_{PAPER}",
        }
        values = {
            "signature": signature_of(manifest),
            "quasi_columns": columns["quasi"],
            "sensitive_column": column,
            "group_column": columns["group"],
            "count_column": columns["count"],
            "weight_column": weight_name(manifest),
            "people": of_people(manifest),
        }
        relations = {name: Sql(called) for name, called in {"qit": "qit", "st": tables[column], **names}.items()}
        queries = render_queries(Chapter("estimate/weighted_groups", values), relations)
        # classes are the first column's, and every column's
        selects += [(names[name], sql) for name, sql in queries.items() if not (selects and name == "group_class")]
    return _write(manifest, ["qit", *tables.values()], selects)


def write_row_script(manifest: Manifest) -> str:
    """Return the script with a view for each sensitive column of randomized rows."""
    gamma, selects = manifest["parameters"]["gamma"], list[tuple[str, str]]()
    for view, column in view_names(manifest).items():
        values = {
            "quasi_columns": manifest["columns"]["quasi"],
            "sensitive_column": column,
            "gamma": gamma[column] if isinstance(gamma, dict) else gamma,
            "weight_column": weight_name(manifest),
        }
        selects.append((view, render_query("estimate/weighted_rows", values, {"data": Sql("data")})))
    return _write(manifest, ["data"], selects)


def _write(manifest: Manifest, tables: Sequence[str], selects: Sequence[tuple[str, str]]) -> str:
    """Return the script: what it is, views of the tables' files, then these views by their names."""
    files = {table: table_files(manifest["files"], table) for table in tables}
    # in the directory that the variable `release` names, or else in the shell's
    listed = {table: ", ".join(f"{_FOLDER} || {literal(file)}" for file in names) for table, names in files.items()}
    readers = [(table, f"select * from read_parquet([{names}])") for table, names in listed.items()]
    views = {view: _write_name(column) for view, column in view_names(manifest).items()}
    values = {
        "groups": "qit" in tables,
        "several": len(views) > 1,
        "people": of_people(manifest),
        "paper": PAPER,
        "views": views,
        "first": first_views(manifest)[0],
        "tables": tables,
        "weight": _write_name(weight_name(manifest)),
        "statements": [*readers, *selects],
    }
    return write("forms/estimate.md", values)


def _write_name(name: str) -> str:
    """Write a name for a comment, which ends with its line: no name begins another."""
    return " ".join(visible(str(ident(name))).split())
