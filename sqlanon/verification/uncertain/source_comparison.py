"""Compare a release of uncertain data with its source: rows as QIT should show them, sets as ST should."""

from collections.abc import Mapping

from sqlanon.methods.uncertain.read_manifest import MERGE, described
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import Check, PublishedTables
from sqlanon.verification.multisets import multiset_check, write_multiset_query
from sqlanon.verification.uncertain.release_relations import keep_tree_nodes, unfold_marks, write_tree_nodes
from sqlanon.verification.uncertain.source_rows import SourceRows, read_source_rows


def against_queries(
    published: PublishedTables, source: Source, types: Mapping[str, str], nodes: Sql | None = None
) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that compare the release with its source.

    nodes: where the nodes of the hierarchies stand; constants if None.
    """
    original = read_source_rows(published, source, types)
    return [
        ("quasi_rows", _quasi_query(published, original, nodes)),
        ("sensitive_counts", _sensitive_query(published, original)),
    ]


def _sensitive_query(published: PublishedTables, original: SourceRows) -> str:
    """Write the query that compares ST's sets with the source's."""
    columns = published.manifest["columns"]
    kind, inputs = original.kinds["sensitive"], {"original": original.rows}
    if len(columns["values"]) == 1 and original.is_certain("sensitive"):  # single values cost a fraction of lists
        single = {"value_column": columns["values"][0], "count_column": columns["count"]}
        values = {
            "published": published.subquery("verification/uncertain/shown_value", kind=kind, **single),
            "original": published.subquery("verification/uncertain/true_value", inputs),
        }
        return write_multiset_query(published, values, ["sensitive"])
    roles = {"group_column": columns["group"], "count_column": columns["count"], "values": columns["values"]}
    lines = {"set_line": published.subquery("shared/set_line", **roles)}
    sets = {
        "published": published.subquery("verification/uncertain/shown_set", lines, kind=kind),
        "original": published.subquery("verification/uncertain/true_set", inputs),
    }
    return write_multiset_query(published, sets, ["sensitive"])


def _quasi_query(published: PublishedTables, original: SourceRows, nodes: Sql | None) -> str:
    """Write the query that compares QIT's rows with what the source's rows should show."""
    columns = described(published.manifest)
    inputs = {"original": original.rows, "tree_node": nodes or write_tree_nodes(published, columns)}
    trees = [
        (place, published.subquery("verification/uncertain/true_node", inputs, number=place)) for place in columns.trees
    ]
    places = range(1, len(columns.quasi) + 1)
    others = original.split_places(place for place in places if place not in columns.trees)
    # QIT shows nodes as texts; other values are compared in the source's type, in which they were written
    kinds = [(n, Sql("varchar") if n in columns.trees else original.kinds[f"quasi_{n}"]) for n in places]
    unfolded = {"unfolded": unfold_marks(published, columns)}
    labels = {"labels": original.labels}
    places_by_kind = {"certain": others["certain"], "others": [*columns.trees, *others["texts"], *others["others"]]}
    rows = {
        "published": published.subquery(
            "verification/uncertain/shown_row", unfolded, kinds=kinds, **labels, **places_by_kind
        ),
        "original": published.subquery("verification/uncertain/true_row", inputs, trees=trees, **others, **labels),
    }
    names = ["value_0"] if original.labels else []
    names += [
        *(f"value_{place}" for place in places),
        *(f"alternatives_{place}" for place in places_by_kind["others"]),
    ]
    names.append("odd_marks")
    return write_multiset_query(published, rows, names)


def _count_hidden(published: PublishedTables) -> Mapping[str, int]:
    """Return how many rows show other quasi values than their own."""
    if published.manifest["parameters"]["undiverse"] == MERGE:
        return {"suppressed_rows": 0, "generalized_rows": 0}
    unfolded = {"unfolded": unfold_marks(published, described(published.manifest))}
    (hidden,) = published.engine.rows(published.query("verification/uncertain/hidden", unfolded))
    return hidden


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's alternatives, as multisets, up to dropped and hidden rows."""
    with keep_tree_nodes(published) as nodes:
        texts = against_queries(published, source, types, nodes)
        balances = {name: published.engine.rows(sql)[0] for name, sql in texts}
    hidden = _count_hidden(published)
    dropped = published.manifest["dropped_rows"]
    # a hidden row shows '*' for its quasi values, while ST counts its sensitive value as any other
    missing = {
        "quasi_rows": dropped + hidden["suppressed_rows"] + hidden["generalized_rows"],
        "sensitive_counts": dropped,
    }
    return tuple(multiset_check(name, row, missing[name]) for name, row in balances.items())
