"""Uncertain rows in words: what a publisher is shown, and what recipients are warned of."""

from collections.abc import Mapping
from typing import Any

from sqlanon.forms.summary_lines import Manifest, count_dropped, count_published, list_files, tell_limits
from sqlanon.plain_values import words

WARNING = """\
## Do not join the two tables and count

The tables have the group in common, and who joins them by it gets each person once with every value of their group.
Quasi values may stand for several, too: `*` for all, others for one of several alternatives. `sqlanon estimate` says
how many rows are certain, possible and expected to be meant.
"""
ADVICE = (
    "Do not join qit and st and count: each person would come once with every value of their group, and"
    " quasi values may stand for several, too. `sqlanon estimate` says how many rows are certain, possible, expected."
)
_SHOWN_PARAMETERS = (
    *("k", "l", "threshold", "undiverse", "max_group", "refine", "max_alternatives", "order_alternatives", "draws"),
)


def summarize_uncertain(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of uncertain rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    exact = "unless * or uncertain" if "generalized" not in verified else "unless uncertain or generalized"
    return {
        "published": count_published(manifest, where),
        "method": f"{manifest['method']}, {words({name: parameters[name] for name in _SHOWN_PARAMETERS})}",
        "dropped rows": count_dropped(manifest),
        "uncertain": f"{verified['uncertain_rows']:,} rows in a quasi-identifier,"
        f" {verified['uncertain_sensitive']:,} in {words(manifest['columns']['sensitive'])}",
        **_veiled(verified),
        "promised": f"groups of at least {guarantee['k']} rows; where a value weighs {guarantee['threshold']} or more,"
        f" at least {guarantee['l']} different weights, or no quasi value{tell_limits(manifest)}",
        "not promised": f"that nobody learns who is in the table (quasi values are exact, {exact}), nor"
        f" any confidence: in some group a value is held by {verified['largest_confidence']:.1%} of the rows"
        + _known_for_certain(verified),
        "verified": "group sizes, weights, what is uncertain, hierarchies, row order, agreement with the source",
        "files": list_files(manifest),
    }


def _veiled(verified: Mapping[str, Any]) -> dict[str, str]:
    """Say how many rows do not show their own values, by the way that was taken."""
    if "generalized" in verified:
        figures = verified["generalized"]
        return {"generalized": f"{figures['generalized_rows']:,} rows in {figures['generalized_groups']:,} groups"}
    return {"suppressed": f"{verified['suppressed_rows']:,} rows in {verified['suppressed_groups']:,} groups"}


def _known_for_certain(verified: Mapping[str, Any]) -> str:
    if "one_value" not in verified:
        return ""
    groups, rows = (verified["one_value"][name] for name in ("groups_of_one_value", "rows_known_for_certain"))
    return f"; in {groups:,} groups all rows have one value, below the threshold, and {rows:,} rows' value is known"
