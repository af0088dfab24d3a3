"""The posteriors of a release as a table for people to read."""

from collections.abc import Mapping
from typing import Any

SEVERAL_BACKGROUNDS = "each background by itself: who combines them is met only by one over all their columns"


def posterior_table(exposure: Mapping[str, Any], promise: str) -> tuple[str, list[str], list[list[object]], list[str]]:
    """Return a title, heads, rows and closing lines for the posteriors that one background allows.

    exposure: the figures of one `Exposure`, with its background's name and attributes. promise: in words, what was
    promised or asked.
    """
    # where the largest posterior is a bound, the truth may be lower: the sentence says "at most"
    attributes, bound = ", ".join(exposure["attributes"]), exposure["largest_by"] == "bound"
    title = (
        f"{promise}, an adversary who knows {exposure['background']}'s distribution (by {attributes}) reaches"
        f" {'at most ' if bound else ''}{_percent(exposure['largest_posterior'])}"
    )
    heads = ["group size", "groups", "rows", "largest posterior", f"rows above {_percent(exposure['limit'])}", "method"]
    names = ("size", "groups", "rows", "largest_posterior", "rows_above", "method")
    rows = [[line[name] for name in names] for line in exposure["sizes"]]
    closing = [
        f"{exposure['rows_above']:,} of {exposure['rows']:,} rows ({exposure['share_above']:.1%}) are above"
        f" {_percent(exposure['limit'])}; {exposure['rows_prior_above']:,} have a prior above it already",
        f"{exposure['groups_off_delta']:,} of {exposure['groups']:,} groups miss the paper's delta condition;"
        f" {exposure['groups_contradicted']:,} contradict the distribution",
    ]
    if exposure["unknown_values"]:
        closing.append(f"{exposure['unknown_values']:,} values that the table lists stand nowhere in the release")
    if exposure["rows_bound"]:
        closing.append(
            f"{exposure['rows_bound']:,} rows are in groups too large for exact posteriors: theirs are upper bounds"
        )
    return title, heads, rows, closing


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
