"""Verify a release of groups with several sensitive columns: each ST with QIT is a release that proves itself.

Whatever holds of every column by itself is all that is promised: what two columns have to do with each other inside a
group is not published.
"""

from collections.abc import Mapping
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.methods.published_forms import one_column, sensitive_tables
from sqlanon.plans.manifest import Manifest, follows
from sqlanon.plans.plan import Source
from sqlanon.verification import qit_st
from sqlanon.verification.checks import Check, PublishedTables, Report


class SeveralTables:
    """Verify releases of QIT and `columns` tables of sensitive values, by the checks of one."""

    def __init__(self, columns: int) -> None:
        """Take the number of sensitive columns."""
        self.TABLES = ("qit", *("st" if number == 1 else f"st_{number}" for number in range(1, columns + 1)))

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that does not describe a QIT and an ST for each column, or that follows others."""
        for column in manifest["columns"]["sensitive"]:
            columns = {**manifest["columns"], "sensitive": [column]}
            qit_st.check_manifest({**manifest, "columns": columns}, where)
        if follows(manifest):
            raise ReleaseError(f"the manifest of {where} is of a ledger, which keeps one sensitive column")

    def published_columns(self, manifest: Manifest) -> dict[str, list[str]]:
        """Return each published table's columns in order, as the manifest declares them."""
        columns = manifest["columns"]
        listed = {"qit": [*columns["quasi"], columns["group"]]}
        for column, table in sensitive_tables(manifest).items():
            listed[table] = [columns["group"], column, columns["count"]]
        return listed

    def check_types(self, published: PublishedTables) -> str | None:
        """Say what is wrong with the types of the tables: groups and counts are whole numbers, alike in all."""
        return next((fault for one in by_column(published).values() if (fault := qit_st.check_types(one))), None)

    def queries(self, published: PublishedTables) -> list[tuple[str, str]]:
        """Return the names and texts of the queries that prove a release from its tables, in order."""
        return [
            (f"{name} ({column})", sql)
            for column, one in by_column(published).items()
            for name, sql in qit_st.queries(one)
        ]

    def verify(self, published: PublishedTables) -> Report:
        """Check a release from its tables alone: order, sizes, diversity, confidence, in every column."""
        reports = {column: qit_st.verify(one) for column, one in by_column(published).items()}
        names = [check.name for check in next(iter(reports.values())).checks]
        checks = tuple(_worst([_named(reports[column], name) for column in reports]) for name in names)
        return Report(checks, _figures([report.figures for report in reports.values()], self.TABLES))

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers."""
        return qit_st.guarantee(manifest, rows)

    def verified_figures(self, report: Report) -> dict[str, Any]:
        """Return what the manifest says of the verification: every figure comes from the published tables."""
        return report.manifest_entries(without=("rows", "groups", *(f"{table}_rows" for table in self.TABLES)))

    def against_queries(
        self, published: PublishedTables, source: Source, types: Mapping[str, str]
    ) -> list[tuple[str, str]]:
        """Return the names and texts of the queries that compare the release with its source."""
        asked = [
            (name if name == "quasi_rows" else f"{name} ({column})", sql)
            for column, one in by_column(published).items()
            for name, sql in qit_st.against_queries(one, source, types)
        ]
        return list(dict(asked).items())

    def verify_against(self, published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
        """Check that the published values are the source's, as multisets, up to the dropped rows."""
        found = [qit_st.verify_against(one, source, types) for one in by_column(published).values()]
        return tuple(_worst(list(same)) for same in zip(*found, strict=True))


def by_column(published: PublishedTables) -> dict[str, PublishedTables]:
    """Return by sensitive column what the release is for whoever looks at this column alone."""
    return {
        column: PublishedTables(published.engine, *one_column(published.tables, published.manifest, column))
        for column in published.manifest["columns"]["sensitive"]
    }


def _named(report: Report, name: str) -> Check:
    return next(check for check in report.checks if check.name == name)


def _worst(checks: list[Check]) -> Check:
    """Return one check for all columns: the first that fails, else with the figure that is nearest to failing."""
    failing = [check for check in checks if check.holds is False]
    if failing:
        return failing[0]
    if checks[0].name == "diversity":
        return min(checks, key=lambda check: check.found)  # type: ignore[arg-type, return-value]
    if checks[0].name == "confidence":
        return max(checks, key=lambda check: check.found)  # type: ignore[arg-type, return-value]
    dropped = [check for check in checks if isinstance(check.found, dict) and "missing_rows" in check.found]
    return max(dropped, key=lambda check: check.found["missing_rows"]) if dropped else checks[0]  # type: ignore[index]


def _figures(figures: list[Mapping[str, Any]], tables: tuple[str, ...]) -> dict[str, Any]:
    """Return the figures of the groups, which all columns share; the errors of all columns together."""
    together = dict(figures[0])
    for table, one in zip(tables[1:], figures, strict=True):
        together[f"{table}_rows"] = one["st_rows"]
    for name in ("reconstruction_error", "reconstruction_error_bound"):
        together[name] = sum(one[name] or 0 for one in figures)
    bound = together["reconstruction_error_bound"]
    together["reconstruction_error_ratio"] = together["reconstruction_error"] / bound if bound else None
    return together
