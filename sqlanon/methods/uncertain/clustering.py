"""BK(L,K)-clustering (Ren, Yang, Zhang and Jia, 2012) as one sort and a cut; what is not diverse is then mended.

The chapters are `uncertain/clusters` and `uncertain/diversity`; here it is said what they are given.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Row
from sqlanon.plans.templates import Sql, ident

Undiverse = Literal["merge", "suppress", "generalize"]

GROUP_MULTIPLE = 4  # of K, or of L where that is more: the largest group unless another limit is given
# Clusters up to which a region grows for groups below twice K, rather than have larger ones. 8,000 rows of Adult,
# K = 5, L = 5: groups of 7.3 rows on average, without patience 9.3; with 32 instead of 4 they are three times as wide.
PATIENT_WIDTH = 4
MOST_TURNS = 16  # of merges: enough for 2 ** 38 clusters
COARSE_BINS, FINE_BINS, BINS = 6, 24, 24_000  # of a number, each within the one before
COARSE_SHARE, FINE_SHARE = 4, 12  # what missing a bin is taken to cost: a fourth, a twelfth of the importance
MOST_BRANCHES = 1_000_000  # that a sort tells apart at one level; with more, neighbours are taken together


@dataclass(frozen=True)
class Dimension:
    """One quasi attribute as distances see it.

    number: its place, from 1. column: its name in `determined`. scale: a number differs by |a - b| / range, a
    hierarchy's node by the height of the common ancestor over the hierarchy's `height`, a category by 0 or 1. read: an
    expression over `determined` that reads a number, where the column itself is none (a date).
    """

    number: int
    column: str
    scale: Literal["number", "category", "hierarchy"]
    height: int = 1
    read: Sql = field(default_factory=Sql)

    @property
    def reading(self) -> Sql:
        """Return the SQL that reads its number."""
        return self.read or ident(self.column)

    @property
    def heights(self) -> range:
        """Return the heights of its levels below the root, leaves first."""
        return range(self.height)

    @property
    def depths(self) -> range:
        """Return the depths of its nodes below the root."""
        return range(1, self.height + 1)

    @property
    def level_names(self) -> list[str]:
        """Return the columns of a node's path."""
        return [f"level_{depth}" for depth in self.depths]


@dataclass(frozen=True)
class Clustering:
    """What is asked of the clusters.

    k: least rows of a cluster; l: least different weights where one of them is not below `threshold`. undiverse: what
    becomes of a cluster that fails. ties: columns of `determined` that order rows which are alike. max_group: most rows
    of a cluster, None for a small multiple of K.
    """

    dimensions: Sequence[Dimension]
    k: int
    l: int
    threshold: Decimal | float
    undiverse: Undiverse = "merge"
    ties: Sequence[str] = ("draw",)
    max_group: int | None = None

    @property
    def most_rows(self) -> int:
        """Return the most rows of a cluster."""
        return GROUP_MULTIPLE * max(self.k, self.l) if self.max_group is None else self.max_group

    @property
    def levels(self) -> list[dict[str, Any]]:
        """Return the sort keys, an attribute's highest level first; where costs are equal, so they stay.

        column: of their branches; breadth: how many there are of a number, branch: the column that tells it of others.
        steps / height: the share of the importance that differing there costs. last: 1 for numbers as they are, which
        come after all others.
        """
        answer: list[dict[str, Any]] = []

        def add(one: Dimension, name: str, steps: int, height: int, breadth: int = 0, last: int = 0) -> None:
            branch = None if breadth else f"branch_{name}"
            column = f"{name}_{one.number}" if breadth else f"branch_{one.number}_{name}"
            level = {"column": column, "place": one.number, "branch": branch, "breadth": breadth}
            answer.append({**level, "steps": steps, "height": height, "last": last})

        for one in self.dimensions:
            for height in reversed(one.heights) if one.scale != "number" else ():
                add(one, str(height), height + 1, one.height)
        numbers = [one for one in self.dimensions if one.scale == "number"]
        for one in numbers:
            add(one, "coarse", 1, COARSE_SHARE, COARSE_BINS + 1)
            add(one, "fine", 1, FINE_SHARE, FINE_BINS // COARSE_BINS)
        for one in numbers:
            add(one, "exact", 1, 1, BINS // FINE_BINS, 1)
        return answer

    @property
    def chapters(self) -> tuple[Chapter, Chapter]:
        """Return the chapters that end in `clustered` and in a report of quality."""
        asked = {name: getattr(self, name) for name in ("dimensions", "k", "l", "undiverse", "most_rows", "ties")}
        clusters = {
            "threshold": float(self.threshold),
            "places": [one.number for one in self.dimensions],
            "numbers": [one.number for one in self.dimensions if one.scale == "number"],
            "categories": [one for one in self.dimensions if one.scale != "number"],
            "levels": self.levels,
            "payload": ("row_number", "sensitive_count", "cell_code", *self.ties),
            "most_branches": MOST_BRANCHES,
            "bins": BINS,
            "coarse_width": BINS // COARSE_BINS,
            "fine_width": BINS // FINE_BINS,
            "fine_count": FINE_BINS // COARSE_BINS,
        }
        level_count = sum(one.height for one in self.dimensions)
        shown = [f"node_{one.number}" for one in self.dimensions]
        diversity = {
            # from this size on a group of K rows and L weights could have been two
            "near_rows": min(self.most_rows, 2 * max(self.k, self.l) - 1),
            "patient_width": PATIENT_WIDTH,
            "places": [one.number for one in self.dimensions],
            "given_up": [(one.number, depth, one.height) for one in self.dimensions for depth in one.heights],
            "level_count": level_count,
            "shown": shown,
            "climbs": ("changed", "turn", "last_climb", *shown),
            "turns": 2 * level_count if self.undiverse == "generalize" else MOST_TURNS,
        }
        return (
            Chapter("uncertain/clusters", asked | clusters),
            Chapter("uncertain/diversity", asked | diversity, {"quality": _quality_note}),
        )


def _quality_note(row: Row) -> str:
    words = f"{row['cluster_count']} clusters of {row['row_count']} rows, the largest of {row['largest_cluster']}"
    return f"quality: {words}; {row['suppressed_rows']} rows suppressed"
