"""Verify a release of randomized values (SPLU-Gen): what its one table proves, and what only its source can."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon import guarantees
from sqlanon.manifest import Manifest
from sqlanon.plan import Source
from sqlanon.templates import Sql
from sqlanon.verification import Check, Published, Report, original_columns, order_query

FALSE_ALARM = 1e-6  # how often a sound release may fail the check of its published counts


def published_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Return the published table's columns in order, as the manifest declares them."""
    return {"data": [*manifest["columns"]["quasi"], *manifest["columns"]["sensitive"]]}


def promised(manifest: Manifest, rows: int) -> dict[str, Any]:
    """Return the guarantee of each sensitive column, from gamma and the number of rows alone."""
    parameters = manifest["parameters"]
    return {
        column: guarantees.guarantee(
            gamma,
            rows,
            parameters["epsilon"],
            parameters["alpha"],
            parameters["target_error"],
            parameters["residue"],
        )
        for column, gamma in parameters["gamma"].items()
    }


def queries(published: Published) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that look at the table, in order."""
    shown = published_columns(published.manifest)["data"]
    return [("order of data", order_query(published, "data", shown))]


def verify(published: Published) -> Report:
    """Check a release from its table alone: its order, and that the manifest promises what gamma gives."""
    ((_, sql),) = queries(published)
    (found,) = published.engine.rows(sql)
    rows, misplaced = int(found["row_count"]), found["misplaced_rows"]
    checks = [
        Check(
            "row_order",
            "sorted by the published columns",
            "sorted" if misplaced == 0 else f"{misplaced} misplaced rows",
            None if misplaced is None else misplaced == 0,
        ),
        _gamma_check(published.manifest, rows),
    ]
    return Report(tuple(checks), {"rows": rows, "data_rows": rows})


def _gamma_check(manifest: Manifest, rows: int) -> Check:
    """Compare the promise with what gamma and the number of rows give; it is printed, not proved."""
    gammas = manifest["parameters"]["gamma"]
    whole = manifest["parameters"]["residue"] == "keep" or all(rows % gamma == 0 for gamma in gammas.values())
    feasible = all(rows >= gamma for gamma in gammas.values())
    said = manifest.get("guarantee")
    agrees = not said or (feasible and said == promised(manifest, rows))
    return Check(
        "gamma",
        "the promise that gamma gives, and whole decoy groups",
        {"gamma": gammas, "promise": "as gamma gives" if agrees else "another", "whole_groups": whole},
        agrees and whole and feasible,
    )


def against_queries(published: Published, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that compare the release with its source."""
    return [(name, sql) for name, _, sql in _compared(published, source, types)]


def _compared(published: Published, source: Source, types: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    columns, data = published.manifest["columns"], published.tables["data"]
    quasi = original_columns(published, "data", columns["quasi"], source, types)
    given = {"published": data, "original": quasi}
    yield (
        "quasi_rows",
        "",
        published.query("verify/multiset", given, published_columns=columns["quasi"], weight=Sql("1")),
    )
    for column in columns["sensitive"]:
        both = original_columns(published, "data", columns["quasi"], source, types, sensitive=column)
        sql = published.query(
            "verify/retention", {"published": data, "original": both}, quasi=columns["quasi"], sensitive_column=column
        )
        yield f"retention of {column}", column, sql
        value = original_columns(published, "data", [column], source, types)
        sql = published.query(
            "verify/value_counts", {"published": data, "original": value}, published_columns=[column]
        )
        yield f"published counts of {column}", column, sql


def verify_against(published: Published, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that quasi values are the source's, that rows keep their value as often as 1/gamma, and the counts.

    retention: over people unique on their quasi values, within 4 standard errors of 1/gamma.
    published_counts: every count within Binomial(gamma f, 1/gamma) of the source's count f.
    """
    gammas, dropped = published.manifest["parameters"]["gamma"], published.manifest["dropped_rows"]
    checks: list[Check] = []
    retention: dict[str, tuple[int, int]] = {}
    worst: dict[str, float] = {}
    for name, column, sql in _compared(published, source, types):
        rows = published.engine.rows(sql)
        if name == "quasi_rows":
            holds = rows[0]["added_rows"] == 0 and rows[0]["missing_rows"] == dropped
            checks.append(Check(name, {"added_rows": 0, "missing_rows": dropped}, rows[0], holds))
        elif name.startswith("retention"):
            retention[column] = int(rows[0]["person_count"]), int(rows[0]["retained_count"])
        else:
            worst[column] = _least_probability(rows, gammas[column], dropped)
    return (*checks, _retention_check(retention, gammas), _counts_check(worst))


def _retention_check(found: Mapping[str, tuple[int, int]], gammas: Mapping[str, int]) -> Check:
    required = {column: f"1/{gammas[column]} within 4 standard errors" for column in found}
    if not all(persons for persons, _ in found.values()):
        return Check("retention", required, "nobody is unique on the quasi columns: cannot be told", None)
    shares = {column: retained / persons for column, (persons, retained) in found.items()}
    holds = all(
        abs(retained - persons / gammas[column])
        <= 4 * math.sqrt(persons * (1 - 1 / gammas[column]) / gammas[column]) + 1
        for column, (persons, retained) in found.items()
    )
    return Check("retention", required, shares, holds)


def _counts_check(worst: Mapping[str, float]) -> Check:
    required = f"every count within its binomial: probability >= {FALSE_ALARM:g}, all values together"
    return Check("published_counts", required, dict(worst), all(least >= FALSE_ALARM for least in worst.values()))


def _least_probability(rows: list[dict[str, Any]], gamma: int, dropped: int) -> float:
    """Return the least two-sided binomial probability of a published count, times the number of values.

    Dropped rows may have had any value: the count before them is taken as near as they allow.
    """
    from scipy.stats import binom

    least = 1.0
    for row in rows:
        shown, count = int(row["published_count"]), int(row["original_count"])
        expected = min(max(shown, count - dropped), count)
        if shown and not count:
            return 0.0
        trials = gamma * expected
        tail = min(binom.cdf(shown, trials, 1 / gamma), binom.sf(shown - 1, trials, 1 / gamma))
        least = min(least, 2 * float(tail) * len(rows))
    return min(1.0, least)
