"""BK(L,K)-clustering (Ren, Yang, Zhang and Jia, 2012) as one sort and a cut; what is not diverse is then mended.

The chapters are `uncertain/clusters` and `uncertain/diversity`; here it is said what they are given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from sqlanon.methods.uncertain.columns import Column
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Row

Undiverse = Literal["merge", "suppress", "generalize"]

GROUP_MULTIPLE = 4  # of K, or of L where that is more: the largest group unless another limit is given
# Clusters up to which a region grows for groups below twice K, rather than have larger ones. 8,000 rows of Adult,
# K = 5, L = 5: groups of 7.3 rows on average, without patience 9.3; with 32 instead of 4 they are three times as wide.
PATIENT_WIDTH = 4
MOST_TURNS = 16  # of merges: enough for 2 ** 38 clusters
COARSE_BINS, FINE_BINS, BINS = 6, 24, 24_000  # of a number, each within the one before
# of a number, in turn: how many there are within the one before, and what missing one is taken to cost (1 / n of the
# importance); 1: the last, which come after all other levels
BINNED = (
    ("coarse", COARSE_BINS + 1, 4, 0),
    ("fine", FINE_BINS // COARSE_BINS, 12, 0),
    ("exact", BINS // FINE_BINS, 1, 1),
)
MOST_BRANCHES = 1_000_000  # that a sort tells apart at one level; with more, neighbours are taken together


@dataclass(frozen=True)
class Clustering:
    """What is asked of the clusters.

    columns: the quasi columns. k: least rows of a cluster; l: least different weights where one of them is not below
    `threshold`. undiverse: what becomes of a cluster that fails. ties: columns of `determined` that order rows which
    are alike. max_group: most rows of a cluster, None for a small multiple of K.
    """

    columns: Sequence[Column]
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
    def numbers(self) -> list[Column]:
        """Return the columns that differ by |a - b| / range."""
        return [column for column in self.columns if column.read]

    @property
    def categories(self) -> list[Column]:
        """Return the columns that differ by the height of the common ancestor, or by 0 or 1."""
        return [column for column in self.columns if not column.read]

    @property
    def levels(self) -> list[dict[str, Any]]:
        """Return the sort keys, an attribute's highest level first; where costs are equal, so they stay.

        column: of their branches; breadth: how many there are of a number, branch: the column that tells it of others.
        steps / height: the share of the importance that differing there costs. last: 1 for numbers as they are, which
        come after all others.
        """
        keys = ("place", "column", "branch", "breadth", "steps", "height", "last")
        levels = [
            (one.number, f"branch_{one.number}_{height}", f"branch_{height}", 0, height + 1, one.height, 0)
            for one in self.categories
            for height in reversed(range(one.height))
        ]
        binned = [
            (one.number, f"{name}_{one.number}", None, breadth, 1, share, last)
            for one in self.numbers
            for name, breadth, share, last in BINNED
        ]
        return [dict(zip(keys, level, strict=True)) for level in [*levels, *binned]]

    @property
    def chapters(self) -> tuple[Chapter, Chapter]:
        """Return the chapters that end in `clustered` and in a report of quality."""
        asked = {name: getattr(self, name) for name in ("k", "l", "undiverse", "most_rows", "ties")}
        clusters = {
            "threshold": float(self.threshold),
            "places": [one.number for one in self.columns],
            "numbers": self.numbers,
            "categories": self.categories,
            "levels": self.levels,
            "payload": ("row_number", "sensitive_count", "cell_code", *self.ties),
            "most_branches": MOST_BRANCHES,
            "bins": BINS,
            "coarse_width": BINS // COARSE_BINS,
            "fine_width": BINS // FINE_BINS,
            "fine_count": FINE_BINS // COARSE_BINS,
        }
        diversity = {
            # from this size on a group of K rows and L weights could have been two
            "near_rows": min(self.most_rows, 2 * max(self.k, self.l) - 1),
            "patient_width": PATIENT_WIDTH,
            "turns": MOST_TURNS,
            "climbing": self.columns if self.undiverse == "generalize" else (),
        }
        return (
            Chapter("uncertain/clusters", asked | clusters),
            Chapter("uncertain/diversity", asked | diversity, {"quality": _quality_note}),
        )


def _quality_note(row: Row) -> str:
    words = f"{row['cluster_count']} clusters of {row['row_count']} rows, the largest of {row['largest_cluster']}"
    return f"quality: {words}; {row['suppressed_rows']} rows suppressed"
