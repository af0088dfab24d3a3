"""Where the values of each sensitive column lie: read off the manifest."""

from collections.abc import Mapping
from typing import Any

from sqlanon.plans.templates import Sql


def sensitive_tables(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return by sensitive column the table that holds its values: st, st_2, st_3 …, or data, data_2 …"""
    name = "st" if "group" in manifest["columns"] else "data"
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


def value_lists(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables that list the values of randomized columns, each with its column; none where these are not."""
    listed = manifest.get("parameters", {}).get("values") == "list"
    columns = manifest["columns"]["sensitive"] if listed else ()
    return {f"values_{number}": column for number, column in enumerate(columns, start=1)}
