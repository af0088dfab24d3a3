"""Compare a release of uncertain data with its source: rows as QIT should show them, sets as ST should."""

from collections.abc import Mapping

from sqlanon.methods.uncertain.read_manifest import described
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import WEIGHT, Check, Published, multiset_check
from sqlanon.verification.uncertain.laid_out import inline, kept_nodes, tree_nodes, unfolded
from sqlanon.verification.uncertain.originals import Original, original


def against_queries(
    published: Published, source: Source, types: Mapping[str, str], nodes: Sql | None = None
) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that compare the release with its source."""
    columns, true = published.manifest["columns"], original(published, source, types)
    named = {"group_column": columns["group"], "count_column": columns["count"], "values": columns["values"]}
    set_line = {"set_line": inline(published.query("shared/set_line", {}, **named))}
    sets = {
        "published": inline(
            published.query("verification/uncertain/shown_set", set_line, kind=true.kinds["sensitive"])
        ),
        "original": inline(published.query("verification/uncertain/true_set", {"original": true.rows})),
    }
    weight = ident(WEIGHT)
    return [
        ("quasi_rows", _quasi_rows(published, true, nodes)),
        (
            "sensitive_counts",
            published.query("verification/checks/multiset", sets, value_names=["sensitive"], weight=weight),
        ),
    ]


def _quasi_rows(published: Published, true: Original, nodes: Sql | None) -> str:
    """Write the query that compares QIT's rows with what the source's rows should show."""
    said = described(published.manifest)
    given = {"original": true.rows, "tree_node": nodes or tree_nodes(published, said)}
    trees = [
        (place, inline(published.query("verification/uncertain/true_node", given, number=place)))
        for place in said.trees
    ]
    places = range(1, len(said.quasi) + 1)
    others = [place for place in places if place not in said.trees]
    kinds = [(n, Sql("varchar") if n in said.trees else true.kinds[f"quasi_{n}"]) for n in places]
    shown = published.query(
        "verification/uncertain/shown_row", {"unfolded": unfolded(published, said)}, labels=true.labels, kinds=kinds
    )
    should = published.query("verification/uncertain/true_row", given, labels=true.labels, trees=trees, others=others)
    names = ["value_0"] if true.labels else []
    names += [f"{name}_{place}" for place in places for name in ("value", "alternatives")]
    given = {"published": inline(shown), "original": inline(should)}
    return published.query("verification/checks/multiset", given, value_names=names, weight=ident(WEIGHT))


def verify_against(published: Published, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's alternatives, as multisets, up to dropped and hidden rows."""
    with kept_nodes(published) as nodes:
        texts = against_queries(published, source, types, nodes)
        found = {name: published.engine.rows(sql)[0] for name, sql in texts}
    shown = unfolded(published, described(published.manifest))
    hidden = published.row("verification/uncertain/hidden", {"unfolded": shown})["suppressed_rows"]
    dropped = published.manifest["dropped_rows"]
    missing = {"quasi_rows": dropped + hidden, "sensitive_counts": dropped}
    return tuple(multiset_check(name, row, missing[name]) for name, row in found.items())
