"""Verify a release of crowds: no value above 1/l of any, in the order of what is shown, and the source's people."""

from collections.abc import Mapping
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import ident
from sqlanon.verification.checks import Check, PublishedTables, Report
from sqlanon.verification.multisets import multiset_check, multiset_query
from sqlanon.verification.row_order import order_check, order_queries

TABLES = ("tally",)


def check_manifest(manifest: Manifest, where: str) -> None:
    """Refuse a manifest that does not say an l that protects anybody."""
    l = manifest["parameters"].get("l")
    if type(l) is not int or l < 2 or "count" not in manifest["columns"] or len(manifest["columns"]["sensitive"]) != 1:
        raise ReleaseError(f"the manifest of {where} does not describe crowds")


def check_types(published: PublishedTables) -> str | None:
    """Say what is wrong with the type of counts."""
    count = published.manifest["columns"]["count"]
    return None if published.columns("tally")[count] == "BIGINT" else f"{count!r} holds no whole numbers"


def published_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Return the table's columns in order."""
    columns = manifest["columns"]
    return {"tally": [*columns["quasi"], *columns["sensitive"], columns["count"]]}


def queries(published: PublishedTables) -> list[tuple[str, str]]:
    """Return the queries that prove a release from its table."""
    columns = published.manifest["columns"]
    values = {"quasi": columns["quasi"], "count_column": columns["count"], "l": published.manifest["parameters"]["l"]}
    shown = {"tally": published_columns(published.manifest)["tally"][:-1]}
    crowds = published.query("tally_form/crowd_figures", {}, **values)
    return [("crowds", crowds), *order_queries(published, shown, all_differ=frozenset(TABLES))]


def verify(published: PublishedTables) -> Report:
    """Check a release from its table alone."""
    answers = {name: published.answer(sql) for name, sql in queries(published)}
    crowds, l = answers["crowds"], published.manifest["parameters"]["l"]
    wrong = {"wrong_counts": int(crowds["wrong_counts"])}
    safe = not crowds["unsafe_crowds"] and crowds["row_count"] > 0
    checks = (
        order_check(answers, TABLES, "sorted by the published columns, every value once in a crowd"),
        Check("crowds", "every count above 0", wrong, not wrong["wrong_counts"]),
        Check("confidence", f"<= 1/{l}", crowds["largest_confidence"], safe),
    )
    lines = answers["order of tally"]["row_count"]
    figures = {"rows": crowds["row_count"], "groups": crowds["crowd_count"], "tally_rows": lines}
    sizes = {name: crowds[name] for name in ("smallest_group", "largest_group")}
    return Report(checks, {**figures, **sizes})


def guarantee(manifest: Manifest, rows: int) -> dict[str, Any]:
    """Return what is promised."""
    return {"l": manifest["parameters"]["l"], "confidence": 1 / manifest["parameters"]["l"]}


def verified_figures(report: Report) -> dict[str, Any]:
    """Return what the manifest says of the verification."""
    return report.manifest_entries(without=("rows", "groups", "tally_rows"))


def against_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the query that compares the release with its source."""
    columns = published.manifest["columns"]
    compared, weight = [*columns["quasi"], *columns["sensitive"]], ident(columns["count"])
    return [("people", multiset_query(published, "tally", compared, weight, source, types))]


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published people are the source's, up to the dropped rows."""
    ((name, sql),) = against_queries(published, source, types)
    return (multiset_check(name, published.answer(sql), published.manifest["dropped_rows"]),)
