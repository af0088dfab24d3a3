"""Quasi attributes as distances see them: numbers, categories, and nodes of hierarchies, at all of their levels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlanon.plans.templates import Sql, ident

COARSE_BINS, FINE_BINS, BINS = 6, 24, 24_000  # of a number, each within the one before
COARSE_SHARE, FINE_SHARE = 4, 12  # what missing a bin is taken to cost: a fourth, a twelfth of the importance


@dataclass(frozen=True)
class Dimension:
    """One quasi attribute.

    column: its name in `determined`. scale: a number differs by |a - b| / range, a hierarchy's node by the height of
    the common ancestor over the hierarchy's `height`, a category by 0 or 1. number: an expression over `determined`
    that reads a number, where the column itself is none (a date). relation: the hierarchy's, one row for each node:
    node, level_1 … its ancestors from below the root down to itself, height: its own, 0 without children.
    """

    column: str
    scale: Literal["number", "category", "hierarchy"]
    height: int = 1
    relation: str = ""
    number: Sql = field(default_factory=Sql)

    @property
    def reading(self) -> Sql:
        """Return the SQL that reads its number."""
        return self.number or ident(self.column)


@dataclass(frozen=True)
class Level:
    """One sort key: the column of its branches, its attribute's place, its share of the importance, its breadth."""

    column: str
    place: int
    steps: int
    height: int
    breadth: Sql


def numbers(dimensions: Sequence[Dimension]) -> list[tuple[int, Dimension]]:
    """Return the numbers, each with its attribute's place from 1 on."""
    return [(place, dimension) for place, dimension in enumerate(dimensions, start=1) if dimension.scale == "number"]


def categories(dimensions: Sequence[Dimension]) -> list[tuple[int, Dimension]]:
    """Return the attributes with and without hierarchy that are no numbers, each with its place from 1 on."""
    return [(place, dimension) for place, dimension in enumerate(dimensions, start=1) if dimension.scale != "number"]


def codes(place: int, dimension: Dimension) -> list[str]:
    """Return the columns of a category's codes, leaves first."""
    return [f"level_{place}_{height}" for height in range(dimension.height)]


def branches(place: int, dimension: Dimension) -> list[str]:
    """Return the columns of a category's branches, leaves first."""
    return [f"branch_{place}_{height}" for height in range(dimension.height)]


def breadths(place: int, dimension: Dimension) -> list[str]:
    """Return the columns that count a category's branches, leaves first."""
    return [f"breadth_{place}_{height}" for height in range(dimension.height)]


def levels(dimensions: Sequence[Dimension]) -> list[Level]:
    """Return the levels that are ordered by cost, an attribute's highest first; where costs are equal, so they stay."""
    answer = []
    for place, dimension in categories(dimensions):
        pairs = list(zip(branches(place, dimension), breadths(place, dimension), strict=True))
        for height, (branch, breadth) in reversed(list(enumerate(pairs, start=1))):
            answer.append(Level(branch, place, height, dimension.height, ident(breadth)))
    for place, _ in numbers(dimensions):
        answer.append(Level(f"coarse_{place}", place, 1, COARSE_SHARE, Sql(str(COARSE_BINS + 1))))
        answer.append(Level(f"fine_{place}", place, 1, FINE_SHARE, Sql(str(FINE_BINS // COARSE_BINS))))
    return answer


def last_levels(dimensions: Sequence[Dimension]) -> list[Level]:
    """Return the levels that come after all others: numbers as they are."""
    exact = Sql(str(BINS // FINE_BINS))
    return [Level(f"exact_{place}", place, 1, 1, exact) for place, _ in numbers(dimensions)]


def bin_widths() -> dict[str, int]:
    """Return what templates take to put a number into its bins."""
    return {
        "bins": BINS,
        "coarse_width": BINS // COARSE_BINS,
        "fine_width": BINS // FINE_BINS,
        "fine_count": FINE_BINS // COARSE_BINS,
    }


def distance(dimensions: Sequence[Dimension]) -> dict[str, object]:
    """Return what the macro of distances takes: categories and numbers with their shares."""
    return {
        "categories": [
            (f"share_{place}", dimension.height, codes(place, dimension)) for place, dimension in categories(dimensions)
        ],
        "numbers": [(f"share_{place}", f"number_{place}") for place, _ in numbers(dimensions)],
    }
