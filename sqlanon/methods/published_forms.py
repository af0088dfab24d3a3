"""The form of a release, and its tables of sensitive values: read off the manifest."""

from collections.abc import Mapping
from typing import Any

from sqlanon.methods import METHODS
from sqlanon.plans.templates import Sql

SEVERAL = "several_qit_st"  # QIT, and an ST for each of several sensitive columns


def form_name(manifest: Mapping[str, Any]) -> str:
    """Return the name of a release's form: its method's, unless groups have several sensitive columns."""
    form = METHODS[manifest["method"]].form
    several = form == "qit_st" and len(manifest.get("columns", {}).get("sensitive", ())) > 1
    return SEVERAL if several else form


def sensitive_tables(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return by sensitive column the table that holds its values: st, st_2, st_3 …"""
    columns = manifest["columns"]["sensitive"]
    return {column: "st" if number == 1 else f"st_{number}" for number, column in enumerate(columns, start=1)}


def one_column(
    tables: Mapping[str, Sql], manifest: Mapping[str, Any], column: str
) -> tuple[dict[str, Sql], dict[str, Any]]:
    """Return what a release of groups is for whoever looks at one of its sensitive columns: a QIT and an ST."""
    own = {"qit": tables["qit"], "st": tables[sensitive_tables(manifest)[column]]}
    return own, {**manifest, "columns": {**manifest["columns"], "sensitive": [column]}}
