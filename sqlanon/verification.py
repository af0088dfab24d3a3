"""Prove what can be proved from the published files, and say what cannot."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.manifest import Manifest
from sqlanon.plan import Source, Step, build
from sqlanon.roles import resolve_names
from sqlanon.templates import Sql, ident

FILE_COLUMN = "sqlanon_file"  # where an engine whose tables lie in parts tells a row's file


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what is required, what was found, whether it holds (None: not run)."""

    name: str
    required: object
    found: object
    holds: bool | None


@dataclass(frozen=True)
class Report:
    """Every check of one verification, the figures beside them, and the voters' presence if asked."""

    checks: tuple[Check, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    presence: pd.DataFrame | None = None

    @property
    def holds(self) -> bool:
        """Return whether no check failed."""
        return all(check.holds is not False for check in self.checks)

    def failed(self) -> str:
        """Return the failed checks in words."""
        return "; ".join(
            f"{check.name}: required {check.required}, found {check.found}"
            for check in self.checks
            if check.holds is False
        )


@dataclass(frozen=True)
class Published:
    """The tables of a release as they stand, and what its manifest says of them."""

    engine: Engine
    tables: Mapping[str, Sql]
    manifest: Manifest

    def query(self, template: str, given: Mapping[str, Sql], **values: object) -> str:
        """Render one query over the published tables."""
        step = Step(template, "query")
        (statement,) = build((step,), values, "", {**self.tables, **given})
        return statement.sql  # type: ignore[union-attr]

    def row(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> dict[str, Any]:
        """Run a query of one row over the published tables."""
        (row,) = self.engine.rows(self.query(template, given or {}, **values))
        return row


def queries(published: Published) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that prove a QIT and ST release, in order."""
    return [
        (name, published.query(f"verify/{template}", given, **values))
        for name, template, given, values in _asked(published)
    ]


def verify_groups(published: Published) -> Report:
    """Check a QIT and ST release from its tables alone: columns, order, sizes, diversity, confidence."""
    found = {
        name: published.row(f"verify/{template}", given, **values)
        for name, template, given, values in _asked(published)
    }
    l = published.manifest["parameters"]["l"]
    groups, sizes = found["groups"], found["sizes"]
    misplaced = {name: _misplaced(found, f"order of {name}") for name in ("qit", "st")}
    rows = {name: found[f"order of {name}"]["row_count"] for name in ("qit", "st")}
    size_faults = {
        "unequal_groups": int(sizes["unequal_groups"]),
        "wrong_counts": int(sizes["wrong_counts"]),
    }
    checks = (
        Check(
            "row_order",
            "sorted by the published columns, every value once in a group",
            "sorted" if not any(misplaced.values()) else {f"misplaced rows of {k}": v for k, v in misplaced.items()},
            not any(misplaced.values()),
        ),
        Check(
            "sizes",
            "every group as large in QIT as in ST",
            size_faults,
            not any(size_faults.values()),
        ),
        Check("diversity", f">= {l}", groups["least_distinct"], (groups["least_distinct"] or 0) >= l),
        Check(
            "confidence",
            f"<= 1/{l}",
            groups["largest_confidence"],
            not groups["unsafe_groups"] and rows["st"] > 0,
        ),
    )
    return Report(checks, _figures(groups, l, rows))


def _misplaced(found: Mapping[str, Mapping[str, Any]], name: str) -> int:
    """Count misplaced rows inside files and at the seams between them."""
    return int(sum(row["misplaced_rows"] for key, row in found.items() if key.startswith(name)))


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


def _asked(published: Published) -> Iterator[tuple[str, str, dict[str, Sql], dict[str, Any]]]:
    columns = published.manifest["columns"]
    group, count = columns["group"], columns["count"]
    yield (
        "groups",
        "groups",
        {},
        {"group_column": group, "count_column": count, "l": published.manifest["parameters"]["l"]},
    )
    yield "sizes", "sizes", {}, {"group_column": group, "count_column": count}
    for name, shown in published_columns(published.manifest).items():
        # ST has one line per group and value: two lines that agree so far are a fault, whatever their counts
        template, line = ("strict_order", shown[:-1]) if name == "st" else ("row_order", shown)
        stored = {"published": published.engine.stored(published.tables[name])}
        yield f"order of {name}", template, stored, {"line_columns": line}
        if published.engine.in_parts:
            asked = {"line_columns": line, "file_column": FILE_COLUMN, "all_differ": name == "st"}
            yield f"order of {name} files", "seams", stored, asked


def published_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Return each published table's columns in order, as the manifest declares them."""
    columns = manifest["columns"]
    return {
        "qit": [*columns["quasi"], columns["group"]],
        "st": [columns["group"], *columns["sensitive"], columns["count"]],
    }


def against_queries(published: Published, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that compare the release with its source."""
    columns = published.manifest["columns"]
    looked_at = {
        "quasi_rows": ("qit", columns["quasi"], Sql("1")),
        "sensitive_counts": ("st", columns["sensitive"], ident(columns["count"])),
    }
    return [
        (
            name,
            published.query(
                "verify/multiset",
                {
                    "published": published.tables[table],
                    "original": _original(published, table, shown, source, types),
                },
                published_columns=shown,
                weight=weight,
            ),
        )
        for name, (table, shown, weight) in looked_at.items()
    ]


def verify_against(published: Published, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's, as multisets, up to the dropped rows."""
    dropped = published.manifest["dropped_rows"]
    checks = []
    for name, sql in against_queries(published, source, types):
        (found,) = published.engine.rows(sql)
        holds = found["added_rows"] == 0 and found["missing_rows"] == dropped
        checks.append(Check(name, {"added_rows": 0, "missing_rows": dropped}, found, holds))
    return tuple(checks)


def _original(published: Published, table: str, shown: Sequence[str], source: Source, types: Mapping[str, str]) -> Sql:
    names = resolve_names(list(types), shown)
    wanted = published.engine.columns(f"select * from {published.tables[table]}")
    parts = [
        f"{source.expression(name)} as value_{number}"
        if types[name] == wanted[column]
        else f"cast({source.expression(name)} as {wanted[column]}) as value_{number}"
        for number, (name, column) in enumerate(zip(names, shown, strict=True), start=1)
    ]
    return Sql(f"(select {', '.join(parts)} from {source.relation})")


def presence_query(published: Published, voters: Source, types: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and text of the query that joins a voter list with a release."""
    columns = published.manifest["columns"]
    names = resolve_names(list(types), columns["quasi"])
    wanted = published.engine.columns(f"select * from {published.tables['qit']}")
    quasi = [
        Sql(f"cast({ident(name)} as {wanted[column]})") for name, column in zip(names, columns["quasi"], strict=True)
    ]
    added = {"matching_rows", "voters_alike", "presence", "confidence", "risk"}
    clash = [name for name in types if name.lower() in added]
    if clash:
        raise UsageError(f"the voter list has a column {clash[0]!r}, which the answer adds; rename it")
    sql = published.query(
        "verify/presence",
        {"voters": voters.relation},
        quasi=columns["quasi"],
        voter_columns=list(types),
        voter_quasi=quasi,
        group_column=columns["group"],
        count_column=columns["count"],
    )
    return "presence", sql


def presence(published: Published, voters: Source, types: Mapping[str, str]) -> pd.DataFrame:
    """Join a voter list with a release: per voter presence, confidence and their product."""
    return published.engine.frame(presence_query(published, voters, types)[1])


def presence_figures(frame: pd.DataFrame) -> dict[str, Any]:
    """Summarize a voter list: how many, how many surely present, mean and largest risk."""
    if frame.empty:
        return {"voters": 0, "surely_present": 0, "mean_risk": None, "largest_risk": None}
    return {
        "voters": len(frame),
        "surely_present": int((frame["presence"] >= 1).sum()),
        "mean_risk": float(math.fsum(frame["risk"]) / len(frame)),
        "largest_risk": float(frame["risk"].max()),
    }
