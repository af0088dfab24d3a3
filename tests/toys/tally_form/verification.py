"""Verify a release of crowds: no value above 1/l of any, in the order of what is shown, and the source's people."""

from collections.abc import Mapping

from sqlanon.plans.plan import Source
from sqlanon.plans.templates import ident
from sqlanon.verification.checks import Check, PublishedTables, Report, check_order
from sqlanon.verification.source_comparison import compare_columns, multiset_check

TABLES = ("tally",)


def verify(published: PublishedTables) -> Report:
    """Check a release from its table alone."""
    columns = published.manifest["columns"]
    values = {"quasi": columns["quasi"], "count_column": columns["count"], "l": published.manifest["parameters"]["l"]}
    shown = {"tally": [*columns["quasi"], *columns["sensitive"]]}
    crowds, l = published.answer("crowds", published.query("tally_form/crowd_figures", {}, **values)), values["l"]
    order, rows = check_order(published, shown, "sorted by the published columns, every value once in a crowd", TABLES)
    wrong = {"wrong_counts": int(crowds["wrong_counts"])}
    safe = not crowds["unsafe_crowds"] and crowds["row_count"] > 0
    checks = (
        order,
        Check("crowds", "every count above 0", wrong, not wrong["wrong_counts"]),
        Check("confidence", f"<= 1/{l}", crowds["largest_confidence"], safe),
    )
    figures = {"rows": crowds["row_count"], "groups": crowds["crowd_count"], **rows}
    sizes = {name: crowds[name] for name in ("smallest_group", "largest_group")}
    return Report(checks, {**figures, **sizes})


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published people are the source's, up to the dropped rows."""
    columns, name = published.manifest["columns"], "people"
    compared, weight = [*columns["quasi"], *columns["sensitive"]], ident(columns["count"])
    row = compare_columns(published, name, "tally", compared, weight, source, types)
    return (multiset_check(name, row, published.manifest["dropped_rows"]),)
