"""The form of a release, and its tables of sensitive values: read off the manifest."""

from collections.abc import Mapping
from typing import Any

from sqlanon.methods import METHODS
from sqlanon.plans.templates import Sql

# by the form of one sensitive column that of several: a table for each of them, and one set of groups or boxes
SEVERAL = {"qit_st": "several_qit_st", "class_qit_st": "several_class_qit_st", "generalized": "several_generalized"}


def form_name(manifest: Mapping[str, Any]) -> str:
    """Return the name of a release's form: its method's, unless several sensitive columns have a table each."""
    form = METHODS[manifest["method"]].form
    several = len(manifest.get("columns", {}).get("sensitive", ())) > 1
    return SEVERAL.get(form, form) if several else form


def has_several(manifest: Mapping[str, Any]) -> bool:
    """Tell whether each of several sensitive columns has a table by itself."""
    return form_name(manifest) in SEVERAL.values()


def sensitive_tables(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return by sensitive column the table that holds its values: st, st_2, st_3 …, or data, data_2 …"""
    name = "data" if METHODS[manifest["method"]].form == "generalized" else "st"
    columns = manifest["columns"]["sensitive"]
    return {column: name if number == 1 else f"{name}_{number}" for number, column in enumerate(columns, start=1)}


def one_column(
    tables: Mapping[str, Sql], manifest: Mapping[str, Any], column: str
) -> tuple[dict[str, Sql], dict[str, Any]]:
    """Return what a release is for whoever looks at one of its sensitive columns: a QIT and an ST, or boxes.

    Which other columns there are stands beside the roles: rows may be left out for want of their values.
    """
    table_names = sensitive_tables(manifest)
    first, others = next(iter(table_names.values())), [name for name in table_names if name != column]
    shared_tables = {name: relation for name, relation in tables.items() if name not in table_names.values()}
    columns = {**manifest["columns"], "sensitive": [column], "beside": others}
    return {**shared_tables, first: tables[table_names[column]]}, {**manifest, "columns": columns}
