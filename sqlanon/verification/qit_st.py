"""Verify a release of groups (QIT and ST): sizes, diversity, confidence, and agreement with a source."""

from collections.abc import Mapping
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import (
    Check,
    Published,
    Report,
    multiset_check,
    multiset_query,
    order_check,
    order_queries,
)

TABLES = ("qit", "st")
WHOLE_NUMBER = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "INT", "UBIGINT", "UINTEGER", "INT8", "INT4")


def check_manifest(manifest: Manifest, where: str) -> None:
    """Refuse a manifest that does not describe a QIT and an ST with an l that protects anybody."""
    columns, l = manifest["columns"], manifest["parameters"].get("l")
    if len(columns["sensitive"]) != 1 or not {"group", "count"} <= set(columns):
        raise ReleaseError(f"the manifest of {where} does not describe a QIT and an ST")
    if not isinstance(l, int) or isinstance(l, bool) or not 2 <= l < 2**62:
        raise ReleaseError(f"the manifest of {where} does not say an l of at least 2")


def published_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Return each published table's columns in order, as the manifest declares them."""
    columns = manifest["columns"]
    return {
        "qit": [*columns["quasi"], columns["group"]],
        "st": [columns["group"], *columns["sensitive"], columns["count"]],
    }


def check_types(published: Published) -> str | None:
    """Say what is wrong with the types of the tables: groups and counts are whole numbers, alike in both."""
    columns = published.manifest["columns"]
    qit, st = (published.engine.columns(f"select * from {published.tables[name]}") for name in TABLES)
    group, count = columns["group"], columns["count"]
    if not (whole(qit[group]) and whole(st[group]) and whole(st[count])):
        return f"{group!r} is {qit[group]} in qit and {st[group]} in st, {count!r} is {st[count]}: not whole numbers"
    return None


def whole(kind: str) -> bool:
    """Tell whether a column of this type holds whole numbers."""
    return kind.upper() in WHOLE_NUMBER


def queries(published: Published) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that prove a release from its tables, in order."""
    columns = published.manifest["columns"]
    named = {"group_column": columns["group"], "count_column": columns["count"]}
    shown = published_columns(published.manifest)
    # ST has one line per group and value: two lines that agree so far are a fault, whatever their counts
    lines = {"qit": shown["qit"], "st": shown["st"][:-1]}
    return [
        ("groups", published.query("verification/qit_st/groups", {}, **named, l=published.manifest["parameters"]["l"])),
        ("sizes", published.query("verification/qit_st/sizes", {}, **named)),
        *order_queries(published, lines, all_differ=frozenset({"st"})),
    ]


def verify(published: Published) -> Report:
    """Check a release from its tables alone: order, sizes, diversity, confidence."""
    found = {name: published.engine.rows(sql)[0] for name, sql in queries(published)}
    l = published.manifest["parameters"]["l"]
    groups = found["groups"]
    rows = {name: found[f"order of {name}"]["row_count"] for name in TABLES}
    faults = {name: int(found["sizes"][name]) for name in ("unequal_groups", "wrong_counts")}
    distinct = groups["least_distinct"] or 0
    checks = (
        order_check(found, TABLES, "sorted by the published columns, every value once in a group"),
        Check("sizes", "every group as large in QIT as in ST", faults, not any(faults.values())),
        Check("diversity", f">= {l}", groups["least_distinct"], distinct >= l),
        Check(
            "confidence",
            f"<= 1/{l}",
            groups["largest_confidence"],
            not groups["unsafe_groups"] and rows["st"] > 0,
        ),
    )
    return Report(checks, _figures(groups, l, rows))


def _figures(groups: Mapping[str, Any], l: int, rows: Mapping[str, int]) -> dict[str, Any]:
    bound = groups["row_count"] * (l - 1) / l
    return {
        "rows": groups["row_count"],
        "qit_rows": rows["qit"],
        "st_rows": rows["st"],
        "groups": groups["group_count"],
        "smallest_group": groups["smallest_group"],
        "largest_group": groups["largest_group"],
        "reconstruction_error": groups["reconstruction_error"],
        "reconstruction_error_bound": bound,
        "reconstruction_error_ratio": groups["reconstruction_error"] / bound if bound else None,
    }


def guarantee(manifest: Manifest, rows: int) -> dict[str, Any]:
    """Return what is promised, as numbers."""
    l = manifest["parameters"]["l"]
    return {"l": l, "confidence": 1 / l}


def verified(report: Report) -> dict[str, Any]:
    """Return what the manifest says of the verification: every figure comes from the published tables."""
    counted = ("rows", "groups", "qit_rows", "st_rows")
    return {check.name: check.found for check in report.checks} | {
        name: figure for name, figure in report.figures.items() if name not in counted
    }


def against_queries(published: Published, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that compare the release with its source."""
    columns = published.manifest["columns"]
    count = ident(columns["count"])
    return [
        ("quasi_rows", multiset_query(published, "qit", columns["quasi"], Sql("1"), source, types)),
        ("sensitive_counts", multiset_query(published, "st", columns["sensitive"], count, source, types)),
    ]


def verify_against(published: Published, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's, as multisets, up to the dropped rows."""
    dropped = published.manifest["dropped_rows"]
    return tuple(
        multiset_check(name, published.engine.rows(sql)[0], dropped)
        for name, sql in against_queries(published, source, types)
    )
