"""What verification reads of a release of uncertain data: QIT with its marks unfolded, the nodes of its hierarchies."""

from collections.abc import Mapping
from typing import Any

from sqlanon.methods.uncertain.read_manifest import Described
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables


def unfold_marks(published: PublishedTables, columns: Described) -> Sql:
    """Return QIT with its marks unfolded: a column of counts per quasi attribute."""
    names = published.manifest["columns"]
    roles = {f"{role}_column": names[role] for role in ("group", "qiid", "alternatives")}
    labels = [names["label"]] if "label" in names else []
    values = {"quasi": columns.fields, "hidden": list(columns.hidden), "labels": labels}
    return published.subquery("uncertain/unfolded", {}, **values, **roles)


def read_sets(published: PublishedTables) -> Sql:
    """Return the lines of ST with their alternatives in one list, to stand where a relation does."""
    columns: Mapping[str, Any] = published.manifest["columns"]
    roles = {"values": columns["values"], "group_column": columns["group"], "count_column": columns["count"]}
    return published.subquery("uncertain/set_line", **roles)


def is_single(published: PublishedTables) -> bool:
    """Tell whether ST has one sensitive column, so that each of its lines is one value."""
    return len(published.manifest["columns"]["values"]) == 1


def weigh_groups(published: PublishedTables, columns: Described) -> Sql:
    """Return the groups of ST as diversity sees them, with the weights of their values."""
    values = {"weights": list(columns.weights), "single": is_single(published)}
    return published.subquery("forms/uncertain/source/weighed_group", {"set_line": read_sets(published)}, **values)


def write_nodes(published: PublishedTables, columns: Described) -> dict[str, Sql]:
    """Return the nodes of each hierarchy as constants, by what queries call them: `node_1` of the first column …"""
    tables = {place: {**tree.table, "optional": []} for place, tree in columns.trees.items()}  # paths are not read
    node = "forms/uncertain/source/node"
    return {f"node_{place}": published.subquery(node, table=table) for place, table in tables.items()}
