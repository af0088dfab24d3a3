"""Verify a release of uncertain data: sizes, weights, and that what was uncertain still is and nothing else."""

from collections.abc import Mapping
from typing import Any

from sqlanon.methods.uncertain.read_manifest import described
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import Check, Published, Report, order_check, order_queries
from sqlanon.verification.qit_st import whole
from sqlanon.verification.uncertain.agreement import against_queries, verify_against
from sqlanon.verification.uncertain.laid_out import inline, kept_nodes, tree_nodes, unfolded

__all__ = [
    "TABLES",
    "against_queries",
    "check_manifest",
    "check_types",
    "guarantee",
    "published_columns",
    "queries",
    "verified",
    "verify",
    "verify_against",
]

TABLES = ("qit", "st")
ALTERNATIVES = 'STRUCT("attribute" VARCHAR, count INTEGER)[]'
COUNTED = ("rows", "groups", "qit_rows", "st_rows")


def check_manifest(manifest: Manifest, where: str) -> None:
    """Refuse a manifest that does not describe uncertain data with a K and an L that protect anybody."""
    described(manifest, where)


def published_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Return each published table's columns in order, as the manifest declares them."""
    columns = manifest["columns"]
    label = [columns["label"]] if "label" in columns else []
    return {
        "qit": [*label, columns["qiid"], columns["alternatives"], *columns["quasi"], columns["group"]],
        "st": [columns["group"], *columns["values"], columns["count"]],
    }


def check_types(published: Published) -> str | None:
    """Say what is wrong with the types of the tables: numbers, marks, and sensitive columns that are alike."""
    columns = published.manifest["columns"]
    qit, st = (published.engine.columns(f"select * from {published.tables[name]}") for name in TABLES)
    group, count, marks = columns["group"], columns["count"], columns["alternatives"]
    if not (whole(qit[group]) and whole(st[group]) and whole(st[count])):
        return f"{group!r} is {qit[group]} in qit and {st[group]} in st, {count!r} is {st[count]}: not whole numbers"
    if qit[marks] != ALTERNATIVES or qit[columns["qiid"]] != "VARCHAR":
        return f"{columns['qiid']!r} is {qit[columns['qiid']]}, {marks!r} is {qit[marks]}: not {ALTERNATIVES}"
    kinds = {st[name] for name in columns["values"]}
    if len(kinds) > 1:
        return f"the sensitive columns are of different types: {', '.join(sorted(kinds))}"
    inner = described(published.manifest).trees
    wrong = [name for place, name in enumerate(columns["quasi"], start=1) if place in inner and qit[name] != "VARCHAR"]
    return f"nodes of a hierarchy that are no text: {', '.join(wrong)}" if wrong else None


def queries(published: Published, nodes: Sql | None = None) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that prove a release from its tables, in order.

    nodes: where the nodes of the hierarchies stand; constants if None.
    """
    columns, parameters = published.manifest["columns"], published.manifest["parameters"]
    said = described(published.manifest)
    named = {"group_column": columns["group"], "count_column": columns["count"]}
    given = {
        "unfolded": unfolded(published, said),
        "tree_node": nodes or tree_nodes(published, said),
    }
    given["set_line"] = inline(published.query("shared/set_line", {}, values=columns["values"], **named))
    given["weighed_group"] = inline(
        published.query("verification/uncertain/weighed_group", given, weights=list(said.weights))
    )
    asked = {name: parameters[name] for name in ("k", "l", "threshold")}
    places = {"trees": said.trees, "ordered": said.ordered}
    shown = published_columns(published.manifest)
    # equal marks follow from equal QIIDs; ST has one line per group and set
    lines = {"qit": [name for name in shown["qit"] if name != columns["alternatives"]], "st": shown["st"][:-1]}
    return [
        ("weights", published.query("verification/uncertain/weights", given, **asked)),
        ("sizes", published.query("verification/qit_st/sizes", {}, **named)),
        ("set_lines", published.query("verification/uncertain/set_lines", given)),
        ("alternatives", published.query("verification/uncertain/alternatives", given, plain=said.plain, **places)),
        ("domains", published.query("verification/uncertain/domains", given, **places)),
        *order_queries(published, lines, all_differ=frozenset({"st"})),
    ]


def verify(published: Published) -> Report:
    """Check a release from its tables alone: order, sizes, weights, marks, values."""
    with kept_nodes(published) as nodes:
        found = {name: published.engine.rows(sql)[0] for name, sql in queries(published, nodes)}
    weights, marks, parameters = found["weights"], found["alternatives"], published.manifest["parameters"]
    sizes = {"smallest_group": weights["smallest_group"], **_picked(found["sizes"], "unequal_groups", "wrong_counts")}
    unsafe = _picked(weights, "unsafe_groups", "half_suppressed_groups", "unweighted_values")
    unsafe |= _picked(found["set_lines"], "faulty_lines", "equal_lines")
    kept = _picked(marks, "wrong_marks", "became_uncertain", "became_certain")
    checks = (
        order_check(found, TABLES, "sorted by the published columns, every set once in a group"),
        Check(
            "cluster_size",
            f"every group >= {parameters['k']}, as large in QIT as in ST",
            sizes,
            weights["group_count"] > 0
            and not (weights["small_groups"] or sizes["unequal_groups"] or sizes["wrong_counts"]),
        ),
        Check(
            "weights",
            f"every group: all weights < {parameters['threshold']}, or >= {parameters['l']} different ones and rows"
            f" that differ, or hidden",
            unsafe,
            weights["group_count"] > 0 and not any(unsafe.values()),
        ),
        Check("alternatives", "nothing certain became uncertain, nor the reverse", kept, not any(kept.values())),
        Check(
            "domains",
            "every value in its hierarchy and of its type",
            _picked(found["domains"], "outside_hierarchy", "unreadable"),
            not any(found["domains"].values()),
        ),
    )
    return Report(checks, _figures(found))


def _picked(row: Mapping[str, Any], *names: str) -> dict[str, int]:
    return {name: int(row[name]) for name in names}


def _figures(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    weights = found["weights"]
    return {
        "rows": weights["row_count"],
        "qit_rows": found["order of qit"]["row_count"],
        "st_rows": found["order of st"]["row_count"],
        "groups": weights["group_count"],
        "smallest_group": weights["smallest_group"],
        "largest_group": weights["largest_group"],
        "suppressed_groups": weights["suppressed_groups"],
        "suppressed_rows": found["alternatives"]["suppressed_rows"],
        "uncertain_rows": found["alternatives"]["uncertain_rows"],
        "uncertain_sensitive": found["set_lines"]["uncertain_values"],
        "least_weights": weights["least_weights"],
        "largest_confidence": weights["largest_confidence"],
    }


def guarantee(manifest: Manifest, rows: int) -> dict[str, Any]:
    """Return what is promised, as numbers."""
    return {name: manifest["parameters"][name] for name in ("k", "l", "threshold")}


def verified(report: Report) -> dict[str, Any]:
    """Return what the manifest says of the verification: every figure comes from the published tables."""
    return {check.name: check.found for check in report.checks} | {
        name: figure for name, figure in report.figures.items() if name not in COUNTED
    }
