"""What verification reads of a release of uncertain data: QIT with its marks laid out, the nodes of its hierarchies."""

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd

from sqlanon.engines.runner import fresh_prefix
from sqlanon.methods.uncertain.read_manifest import Described, described
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import Published

NODE = {"attribute": "int64", "name": "string", "parent": "string", "held": "int64", "held_below": "int64"}


def inline(sql: str) -> Sql:
    """Put a query in brackets, to stand where a relation does."""
    return Sql(f"(\n{sql}\n)")


def unfolded(published: Published, said: Described) -> Sql:
    """Return QIT with its marks laid out, a column of counts per quasi attribute."""
    columns = published.manifest["columns"]
    named = {f"{role}_column": columns[role] for role in ("group", "qiid", "alternatives")}
    labels = [columns["label"]] if "label" in columns else []
    shown = {"quasi": said.fields, "hidden": list(said.hidden), "labels": labels}
    return inline(published.query("shared/unfolded", {}, **shown, **named))


def tree_nodes(published: Published, said: Described) -> Sql:
    """Return the nodes of the hierarchies as constants."""
    return inline(published.query("verification/uncertain/node", {}, nodes=said.nodes))


@contextmanager
def kept_nodes(published: Published) -> Iterator[Sql]:
    """Keep the nodes of the hierarchies in a table: thousands of constants are slow to read in a text."""
    relation = relation_name(fresh_prefix(), "tree_node")
    frame = pd.DataFrame(described(published.manifest).nodes, columns=list(NODE))
    published.engine.keep_frame(relation, frame.astype(NODE))
    try:
        yield relation
    finally:
        published.engine.drop([str(relation)])
