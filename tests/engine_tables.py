"""What a run of the tests showed of engines, as two tables at its end: releases that are equal, scripts that were run.

`@pytest.mark.same_release(method, engine)` stands at a test that compares a release of an engine with DuckDB's, row for
row under one key; `@pytest.mark.script_run(what, engine)` at one that runs a script, those of its parameters `plan` and
`engine` if they are not named.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from sqlanon.methods import METHODS
from sqlanon.sql.spellings import DIALECTS

ENGINES = ("duckdb", "postgres", "spark")
SAME, RUN = "same_release", "script_run"
Outcomes = Mapping[tuple[str, str, str], set[str]]


def note_markers(items: Iterable[pytest.Item]) -> None:
    """Let reports, which know no markers, carry what those of ours say."""
    for item in items:
        for name in (SAME, RUN):
            for marker in item.iter_markers(name):
                given = item.callspec.params if hasattr(item, "callspec") else {}
                what, engine = (*marker.args, *_of_parameters(given)[len(marker.args) :])
                item.user_properties.append((name, (what, engine)))


def _of_parameters(given: Mapping[str, Any]) -> tuple[str, str]:
    plan, engine = given.get("plan"), given.get("engine", "")
    return plan(engine).method if plan is not None else "", engine


def read_reports(reports: Iterable[Any]) -> dict[tuple[str, str, str], set[str]]:
    """Return the outcomes of tests by table, row and engine."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for report in reports:
        if report.when == "call" or report.outcome != "passed":
            for name, told in getattr(report, "user_properties", ()):
                if name in (SAME, RUN):
                    found.setdefault((name, *told), set()).add(report.outcome)
    return found


def name_outcome(outcomes: set[str], good: str, bad: str) -> str:
    """Say what all tests of one cell come to: one that failed counts more than one that was left out."""
    if "failed" in outcomes:
        return bad
    return good if "passed" in outcomes else "not run"


def list_releases(found: Outcomes) -> list[list[str]]:
    """Return a line per method: on which engines its release is DuckDB's own."""
    lines = []
    for name, method in METHODS.items():
        cells = []
        for engine in ENGINES[1:]:
            if engine in method.lacks:
                cells.append("refused")
            else:
                cells.append(name_outcome(found.get((SAME, name, engine), set()), "equal", "DIFFERENT"))
        lines.append([name, "published", *cells])
    return lines


def list_scripts(found: Outcomes) -> list[list[str]]:
    """Return a line per dialect: what of its scripts was run, all others being written and parsed alone."""
    lines = []
    for dialect in DIALECTS:
        run = {what: outcomes for (table, what, engine), outcomes in found.items() if (table, engine) == (RUN, dialect)}
        told = [f"{what} {name_outcome(outcomes, 'run', 'FAILED')}" for what, outcomes in sorted(run.items())]
        lines.append([dialect, ", ".join(told) or "parsed only"])
    return lines


def write_tables(reports: Iterable[Any]) -> list[str]:
    """Return the lines of both tables, none where no such test was asked for."""
    found = read_reports(reports)
    if not found:
        return []
    tables = [[["releases", *ENGINES], *list_releases(found)], [["scripts", ""], *list_scripts(found)]]
    return [line for table in tables for line in ("", *_align(table))]


def _align(table: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
