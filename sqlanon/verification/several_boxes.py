"""Verify generalized rows with several sensitive columns: the table of each has the same boxes, equally often.

Tables with boxes of their own would show the same people twice, and what two boxes have in common is smaller than each.
"""

from dataclasses import replace

from sqlanon.plans.sensitive_tables import sensitive_tables
from sqlanon.verification.checks import Check, PublishedTables, Report
from sqlanon.verification.several_columns import SeveralTables

REQUIRED = "every box as often in the table of each column"


class SeveralBoxes(SeveralTables):
    """Verify releases of boxes, with a table for each sensitive column."""

    def queries(self, published: PublishedTables) -> list[tuple[str, str]]:
        """Return the names and texts of the queries that prove a release from its tables, in order."""
        return [*super().queries(published), *self._comparisons(published)]

    def verify(self, published: PublishedTables) -> Report:
        """Check a release from its tables alone, in every column, and that they share their boxes."""
        report = super().verify(published)
        unequal = sum(int(published.engine.rows(sql)[0]["unequal_boxes"]) for _, sql in self._comparisons(published))
        check = Check("same_boxes", REQUIRED, {"unequal_boxes": unequal}, not unequal)
        return replace(report, checks=(*report.checks, check))

    def _comparisons(self, published: PublishedTables) -> list[tuple[str, str]]:
        """Return the queries that compare the boxes of each further table with those of the first."""
        columns = self.published_columns(published.manifest)
        first, *others = sensitive_tables(published.manifest).values()
        return [
            (
                f"boxes of {other}",
                published.query(
                    "verification/several_boxes/unequal_boxes",
                    {"first_table": published.tables[first], "other_table": published.tables[other]},
                    boxed=columns[first][:-1],
                ),
            )
            for other in others
        ]
