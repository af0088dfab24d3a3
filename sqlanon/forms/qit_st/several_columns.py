"""Verify a release with several sensitive columns: with each column's table it is a release that is verified by itself.

Only what holds of every column by itself is promised. How two columns depend on each other inside a group, or a box, is
not published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.plans.manifest import Manifest, follows
from sqlanon.plans.plan import LinkedRows, Row, Source
from sqlanon.plans.sensitive_tables import one_column, sensitive_tables
from sqlanon.verification.checks import Check, PublishedTables, Report, Verification

LEAST = ("diversity", "k", "l")  # checks of a figure that fails where it is too small


class SeveralTables:
    """Verify releases with a table for each sensitive column, by the checks of one.

    alone: verifies a release of one column, whose last table holds its values.
    """

    def __init__(self, alone: Verification, manifest: Manifest) -> None:
        """Take what verifies one column, and the manifest that names all."""
        self.alone, self.tables = alone, [*sensitive_tables(manifest).values()]

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that does not describe a release of each column, or that follows others."""
        for column in manifest["columns"]["sensitive"]:
            columns = {**manifest["columns"], "sensitive": [column]}
            self.alone.check_manifest({**manifest, "columns": columns}, where)
        if follows(manifest):
            raise ReleaseError(f"the manifest of {where} is of a ledger, which keeps one sensitive column")

    def published_columns(self, manifest: Manifest) -> dict[str, list[str]]:
        """Return each published table's columns in order, as the manifest declares them."""
        listed: dict[str, list[str]] = {}
        for column, table in sensitive_tables(manifest).items():
            one = {**manifest, "columns": {**manifest["columns"], "sensitive": [column]}}
            *shared, (_, last) = self.alone.published_columns(one).items()
            listed |= {**dict(shared), table: last}
        return listed

    def check_types(self, published: PublishedTables) -> str | None:
        """Say what is wrong with the types of the tables, by the first column of which something is."""
        return next(
            (fault for tables in by_column(published).values() if (fault := self.alone.check_types(tables))), None
        )

    def verify(self, published: PublishedTables) -> Report:
        """Check a release from its tables alone, in every column."""
        reports = {column: self.alone.verify(tables) for column, tables in by_column(published).items()}
        names = [check.name for check in next(iter(reports.values())).checks]
        checks = tuple(_worst([_named(reports[column], name) for column in reports]) for name in names)
        return Report(checks, self._figures([report.figures for report in reports.values()]))

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers."""
        return self.alone.guarantee(manifest, rows)

    def verify_against(self, published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
        """Check that the published values are the source's, as multisets, up to the dropped rows."""
        checks = [self.alone.verify_against(tables, source, types) for tables in by_column(published).values()]
        return tuple(_worst(list(same)) for same in zip(*checks, strict=True))

    def _figures(self, figures: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the figures of the groups, which all columns share; errors are those of all columns together."""
        together, rows = dict(figures[0]), f"{self.tables[0]}_rows"
        together |= {f"{table}_rows": figure[rows] for table, figure in zip(self.tables, figures, strict=True)}
        if "largest_confidence" in together:
            together["largest_confidence"] = max(figure["largest_confidence"] for figure in figures)
        if "reconstruction_error" not in together:
            return together
        for name in ("reconstruction_error", "reconstruction_error_bound"):
            together[name] = sum(figure[name] or 0 for figure in figures)
        bound = together["reconstruction_error_bound"]
        return together | {"reconstruction_error_ratio": together["reconstruction_error"] / bound if bound else None}


def by_column(published: PublishedTables) -> dict[str, PublishedTables]:
    """Return by sensitive column what the release is for whoever looks at this column alone.

    What is asked of the tables that all columns share is asked once.
    """
    answers: dict[str, Sequence[Row]] = {} if published.answers is None else published.answers
    names = published.manifest["columns"]["sensitive"]
    linked: list[LinkedRows | None] = [None] * len(names)
    if published.linked is not None:
        linked = [replace(published.linked, selects=(select,)) for select in published.linked.selects]
    return {
        column: PublishedTables(
            published.engine,
            *one_column(published.tables, published.manifest, column),
            answers,
            published.script,
            linked=linked_rows,
            original=published.original,
        )
        for column, linked_rows in zip(names, linked, strict=True)
    }


def _named(report: Report, name: str) -> Check:
    return next(check for check in report.checks if check.name == name)


def _worst(checks: list[Check]) -> Check:
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
