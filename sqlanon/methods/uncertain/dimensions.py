"""Quasi attributes as distances see them: numbers, categories, and nodes of hierarchies, at all of their levels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlanon.plans.templates import Sql, ident

COARSE_BINS, FINE_BINS, BINS = 6, 24, 24_000  # of a number, each within the one before
COARSE_SHARE, FINE_SHARE = 4, 12  # what missing a bin is taken to cost: a fourth, a twelfth of the importance
NUMBER_DIGITS, CATEGORY_DIGITS, LEVEL_DIGITS = 5, 4, 2  # what the branches of an attribute commonly take


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
    """One sort key: the column of its branches, its attribute's place, its share of the importance, its breadth.

    above, below: how many levels of the same attribute come before and after it.
    """

    column: str
    place: int
    steps: int
    height: int
    breadth: Sql
    above: int
    below: int


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
        for below, (branch, breadth) in reversed(list(enumerate(pairs))):
            above = dimension.height - 1 - below
            answer.append(
                Level(
                    column=branch, place=place, steps=below + 1, height=dimension.height, breadth=ident(breadth),
                    above=above, below=below,
                )
            )  # fmt: skip
    for place, _ in numbers(dimensions):
        answer += [
            Level(
                column=f"coarse_{place}", place=place, steps=1, height=COARSE_SHARE,
                breadth=Sql(str(COARSE_BINS + 1)), above=0, below=1,
            ),
            Level(
                column=f"fine_{place}", place=place, steps=1, height=FINE_SHARE,
                breadth=Sql(str(FINE_BINS // COARSE_BINS)), above=1, below=0,
            ),
        ]  # fmt: skip
    return answer


def last_levels(dimensions: Sequence[Dimension]) -> list[Level]:
    """Return the levels that come after all others: numbers as they are."""
    exact = Sql(str(BINS // FINE_BINS))
    return [
        Level(column=f"exact_{place}", place=place, steps=1, height=1, breadth=exact, above=2, below=0)
        for place, _ in numbers(dimensions)
    ]


def digits(dimensions: Sequence[Dimension]) -> int:
    """Return how many decimal digits the branches of all levels commonly take."""
    each = {"number": NUMBER_DIGITS, "category": CATEGORY_DIGITS}
    return sum(each.get(dimension.scale, LEVEL_DIGITS * dimension.height) for dimension in dimensions)


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
