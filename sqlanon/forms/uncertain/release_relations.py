"""What verification reads of a release of uncertain data: QIT with its marks unfolded, the nodes of its hierarchies."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlanon.engines.runner import fresh_prefix
from sqlanon.methods.uncertain.read_manifest import Described, described
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables

if TYPE_CHECKING:
    import pandas as pd

NODE_TYPES = {"attribute": "int64", "name": "string", "parent": "string", "held": "int64", "held_below": "int64"}


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


def frame_tree_nodes(columns: Described) -> "pd.DataFrame":
    """Return the nodes of the hierarchies as a frame."""
    import pandas as pd

    # a release without hierarchies has no node, and an empty column no type of its own
    return pd.DataFrame(columns.nodes, columns=list(NODE_TYPES)).astype(NODE_TYPES)


@contextmanager
def keep_tree_nodes(published: PublishedTables) -> Iterator[Sql]:
    """Keep the nodes of the hierarchies in a table while the block runs: a text of thousands of constants is slow.

    Where nothing is run they are constants.
    """
    if published.script is not None:
        yield published.subquery("forms/uncertain/source/node", nodes=described(published.manifest).nodes)
        return
    relation = relation_name(fresh_prefix(), "tree_node")
    published.engine.keep_frame(relation, frame_tree_nodes(described(published.manifest)))
    try:
        yield relation
    finally:
        published.engine.drop([str(relation)])
