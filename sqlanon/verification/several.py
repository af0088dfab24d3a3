"""Verify a release with several sensitive columns: with each column's table it is a release that is verified by itself.

Only what holds of every column by itself is promised. How two columns depend on each other inside a group, or a box, is
not published.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.plans.manifest import one_column, sensitive_tables
from sqlanon.plans.plan import Source
from sqlanon.verification.checks import Check, PublishedTables, Report

LEAST = ("diversity", "k", "l")  # checks of a figure that fails where it is too small


def verify_columns(published: PublishedTables, verify: Callable[[PublishedTables], Report]) -> Report:
    """Check a release from its tables alone, in every column; verify: does so of one."""
    reports = [verify(tables) for tables in by_column(published)]
    checks = tuple(map(_worst, zip(*(report.checks for report in reports), strict=True)))
    tables = [*sensitive_tables(published.manifest).values()]
    return Report(checks, _add_figures(tables, [report.figures for report in reports]))


def compare_columns(
    published: PublishedTables,
    compare: Callable[[PublishedTables, Source, Mapping[str, str]], tuple[Check, ...]],
    source: Source,
    types: Mapping[str, str],
) -> tuple[Check, ...]:
    """Check that the published values are the source's, up to the dropped rows; compare: does so of one column."""
    checks = [compare(tables, source, types) for tables in by_column(published)]
    return tuple(map(_worst, zip(*checks, strict=True)))


def _add_figures(tables: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of the groups, which all columns share; errors are those of all columns together."""
    together = dict(figures[0])
    # whoever looks at one column finds its values in the table of the first
    together |= {f"{table}_rows": each[f"{tables[0]}_rows"] for table, each in zip(tables, figures, strict=True)}
    if "largest_confidence" in together:
        together["largest_confidence"] = max(each["largest_confidence"] for each in figures)
    if "reconstruction_error" in together:
        for name in ("reconstruction_error", "reconstruction_error_bound"):
            together[name] = sum(each[name] or 0 for each in figures)
        bound = together["reconstruction_error_bound"]
        together["reconstruction_error_ratio"] = together["reconstruction_error"] / bound if bound else None
    return together


def by_column(published: PublishedTables) -> Iterator[PublishedTables]:
    """Yield what the release is for whoever looks at one sensitive column alone.

    What is asked of the tables that all columns share is asked once.
    """
    answers = {} if published.answers is None else published.answers
    for place, column in enumerate(published.manifest["columns"]["sensitive"]):
        tables, manifest = one_column(published.tables, published.manifest, column)
        linked = published.linked and replace(published.linked, selects=published.linked.selects[place : place + 1])
        yield replace(published, tables=tables, manifest=manifest, answers=answers, linked=linked, described={})


def _worst(checks: Sequence[Check]) -> Check:
    """Return one check for all columns: the first that fails, else with the figure that is nearest to failing."""
    failing = [check for check in checks if check.holds is False]
    if failing:
        return failing[0]
    if checks[0].name in LEAST:
        return min(checks, key=lambda check: check.found)  # type: ignore[arg-type, return-value]
    if checks[0].name == "confidence":
        return max(checks, key=lambda check: check.found)  # type: ignore[arg-type, return-value]
    dropped = [check for check in checks if isinstance(check.found, dict) and "missing_rows" in check.found]
    return max(dropped, key=lambda check: check.found["missing_rows"]) if dropped else checks[0]  # type: ignore[index]
