"""A line for every column of a source, and the publish command that their suggested roles make."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Source
from sqlanon.risks.relations import select_columns
from sqlanon.risks.suggestion import ColumnProfile, suggest_role
from sqlanon.sql.sources.queried_source import QueriedSource, source_words

USUAL_L = 5


def profile_columns(engine: Engine, source: Source, types: Mapping[str, str]) -> list[ColumnProfile]:
    """Scan each column once; nested columns are only counted as such."""
    profiles = []
    for name, kind in types.items():
        if kind == "NESTED":
            (rows,) = engine.rows(f"select count(*) as row_count from {source.relation}")
            profiles.append(ColumnProfile(name, kind, rows["row_count"], 2, 0, 0, 1))
            continue
        given = {"microdata": select_columns(source, {name: "quasi_1"})}
        (found,) = engine.rows(render_query("risks/column_profile", {"column": "quasi_1"}, given))
        profiles.append(ColumnProfile(name, kind, *(int(found[part]) for part in (
            "row_count", "distinct_values", "null_count", "unique_rows", "largest_count"))))  # fmt: skip
    return profiles


def suggested_command(named: object, profiles: Sequence[ColumnProfile]) -> tuple[list[dict[str, Any]], str]:
    """Return a line per column with its suggested role, and the command for these; '' where a role is empty."""
    lines, by_role = [], {"identifier": [], "quasi": [], "sensitive": []}  # type: ignore[var-annotated]
    for column in profiles:
        role, reason = suggest_role(column)
        if role:
            by_role[role].append(column)
        lines.append(
            {
                "column": column.name,
                "type": column.type,
                "values": column.distinct_values,
                "nulls": column.nulls,
                "unique_rows": column.unique_rows,
                "most_frequent": column.largest_count / column.rows if column.rows else 0.0,
                "suggested_role": role,
                "why": reason,
            }
        )
    return lines, _command(named, by_role)


def _command(named: object, by_role: Mapping[str, Sequence[ColumnProfile]]) -> str:
    if not by_role["quasi"] or not by_role["sensitive"] or not isinstance(named, str | QueriedSource):
        return ""
    sensitive = by_role["sensitive"][0]
    most = max(sensitive.largest_count, sensitive.nulls, 1)
    l = min(USUAL_L, sensitive.rows // most)
    if l < 2:
        return ""
    words = [
        "sqlanon",
        "publish",
        "anatomy",
        *source_words(named),
        "--quasi",
        ",".join(c.name for c in by_role["quasi"]),
    ]
    words += ["--sensitive", sensitive.name]
    if by_role["identifier"]:
        words += ["--id", by_role["identifier"][0].name]
    if sensitive.nulls:
        words += ["--nulls", "value"]
    return shlex.join([*words, "-l", str(l), "--out", "release"])
