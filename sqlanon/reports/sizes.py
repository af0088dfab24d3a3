"""How large the groups, boxes or crowds of a release are."""

from dataclasses import dataclass
from typing import Any

from sqlanon.plans.build import render_query
from sqlanon.releases.release import Release

MOST_RANGES = 12


@dataclass(frozen=True)
class Sizes:
    """How many groups there are of each size; what: the word for them. lines: size (text), groups."""

    what: str
    lines: tuple[dict[str, Any], ...]


def count_sizes(release: Release) -> Sizes:
    """Return the sizes of groups; of boxes; for randomized rows of people who share all their quasi values."""
    what, table, columns = release.form.grouping(release.manifest)
    values = {"columns": columns, "ranges": MOST_RANGES}
    rows = release.engine.rows(render_query("reports/class_sizes", values, {"published": release.tables[table]}))
    return Sizes(what, tuple({"size": _range(row), "groups": int(row["group_count"])} for row in rows))


def _range(row: dict[str, Any]) -> str:
    least, largest = row["least_size"], row["largest_size"]
    return f"{least:,}" if least == largest else f"{least:,} to {largest:,}"
