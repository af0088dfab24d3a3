"""BK(L,K)-clustering (Ren, Yang, Zhang and Jia, 2012) as one sort, a cut, and merges of what is not diverse.

The templates are `sql_templates/clustering/`. They read `determined` (row_number, quasi_1 …, sensitive_1 …,
sensitive_count, a draw), the hierarchies and `influence`, and end in `clustered` (row_number, cluster, suppressed).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from sqlanon.errors import DataError
from sqlanon.grouping import NO_ROWS, TOO_FEW_ROWS
from sqlanon.plan import Guard, Repeat, Row, Step
from sqlanon.templates import Sql, ident

Undiverse = Literal["merge", "suppress"]

STEPS = (
    "value",
    "importance",
    "measured",
    "feasibility",
    "category",
    "level",
    "coded",
    "held",
    "point",
    "arrangement",
    "clustering",
    "cluster",
    "cluster_value",
    "judged",
    "failing",
    "merged",
    "clustered",
    "quality",
)
FINE_BINS, FINE_PER_COARSE = 24, 4  # a number's bins: 6, then 24
COARSE_SHARE, FINE_SHARE = 4, 12  # they cost a fourth and a twelfth of the attribute's importance
MOST_NUMBERS, PLACES_PER_WORD = 2**20, 3  # three places of 20 bits in a whole number of 63
PATIENT_TURNS, MOST_TURNS = 8, 16  # 8 turns of pairs, then herds of 32: enough for 32 ** 7 clusters
MOST_ROWS, MOST_PAIRS = 2_000, 40_000_000  # of a cluster, and in all, for the figures of quality

TOO_MANY_WEIGHTS = (
    "L = {l} asks for {l} different weights in a cluster; the sensitive values of the source have {value_count};"
    " {advice}"
)
ALIKE = (
    "every row holds the same {value_count} sensitive values, and one of them weighs no less than the threshold:"
    " no cluster can be diverse; raise --threshold above its weight, or say --undiverse suppress"
)
STILL_FAILING = "{left_over} clusters are not diverse after all merges; lower -L or raise --threshold"


@dataclass(frozen=True)
class Dimension:
    """One quasi attribute as distances see it.

    column: its name in `determined`. kind: a number differs by |a - b| / range, a hierarchy's node by the height of
    the common ancestor over the hierarchy's `height`, a category by 0 or 1. number: an expression over `determined`
    that reads a number, where the column itself is none (a date). relation: the hierarchy's (node, level_1 … from
    below the root down, height: the node's own, 0 for a leaf without children).
    """

    column: str
    kind: Literal["number", "category", "hierarchy"]
    height: int = 1
    relation: str = ""
    number: Sql = field(default_factory=Sql)


@dataclass(frozen=True)
class Level:
    """One sort key: a column of `point`, the attribute's place among the dimensions, its share of the importance."""

    column: str
    dimension: int
    steps: int
    height: int


def steps(
    dimensions: Sequence[Dimension],
    k: int,
    l: int,
    threshold: Decimal | float,
    sensitive_width: int,
    undiverse: Undiverse = "merge",
    ties: Sequence[str] = ("draw",),
) -> tuple[Step | Repeat, ...]:
    """Return the steps that end in `clustered` and a query of quality.

    k: least rows of a cluster; l: least different weights where one reaches `threshold`. sensitive_width: how many
    columns sensitive_1 … there are. ties: columns of `determined` that order rows which are alike.
    """
    return (
        *_measured(dimensions, k, l, threshold, sensitive_width, undiverse),
        *_placed(dimensions, sensitive_width, ties),
        _sorted(dimensions, k, sensitive_width, ties),
        *_diverse(l, sensitive_width, undiverse),
        Step("clustering/clustered"),
        _quality(dimensions),
    )


def levels(dimensions: Sequence[Dimension]) -> list[Level]:
    """Return the levels of all attributes; where costs are equal, the earlier comes first: bins after categories."""
    found = []
    for place, dimension in enumerate(dimensions, start=1):
        if dimension.kind != "number":
            names = _codes(place, dimension)
            found += [Level(name, place, step, dimension.height) for step, name in enumerate(names, start=1)]
    for place, dimension in enumerate(dimensions, start=1):
        if dimension.kind == "number":
            found += [Level(f"coarse_{place}", place, 1, COARSE_SHARE), Level(f"bin_{place}", place, 1, FINE_SHARE)]
    return found


def _codes(place: int, dimension: Dimension) -> list[str]:
    """Return the columns of a category's levels, leaves first."""
    return [f"level_{place}_{height}" for height in range(dimension.height)]


def _numbers(dimensions: Sequence[Dimension]) -> list[tuple[int, Dimension]]:
    return [(place, one) for place, one in enumerate(dimensions, start=1) if one.kind == "number"]


def _categories(dimensions: Sequence[Dimension]) -> list[tuple[int, Dimension]]:
    return [(place, one) for place, one in enumerate(dimensions, start=1) if one.kind != "number"]


def _read(dimension: Dimension) -> Sql:
    return dimension.number or ident(dimension.column)


def _held(sensitive_width: int) -> list[str]:
    return [f"held_{number}" for number in range(1, sensitive_width + 1)]


def _coordinates(dimensions: Sequence[Dimension]) -> list[str]:
    """Return the columns by which distances go."""
    codes = [name for place, dimension in _categories(dimensions) for name in _codes(place, dimension)]
    return codes + [f"number_{place}" for place, _ in _numbers(dimensions)]


def _measured(
    dimensions: Sequence[Dimension],
    k: int,
    l: int,
    threshold: Decimal | float,
    sensitive_width: int,
    undiverse: Undiverse,
) -> tuple[Step, ...]:
    places = range(1, len(dimensions) + 1)
    valued = {
        "sensitive_columns": [f"sensitive_{number}" for number in range(1, sensitive_width + 1)],
        "influence_columns": [f"influence_{place}" for place in places],
        "threshold": float(threshold),
    }
    weighted = [(f"influence_{place}", f"importance_{place}") for place in places]
    numbers = [(_read(one), f"lowest_{place}", f"span_{place}") for place, one in _numbers(dimensions)]
    return (
        Step("clustering/value", values=valued),
        Step("clustering/importance", values={"weighted": weighted}),
        Step("clustering/measured", values={"numbers": numbers}),
        Step("clustering/feasibility", "query", "", _feasible(k, l, undiverse), _limits(k, l, undiverse)),
    )


def _placed(dimensions: Sequence[Dimension], sensitive_width: int, ties: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps that give every row its numbers at all levels, and the levels their places."""
    found: list[Step] = []
    stands = "determined"
    for place, dimension in _categories(dimensions):
        found.append(_dictionary(place, dimension))
        codes = [(f"code_{height}", name) for height, name in enumerate(_codes(place, dimension))]
        found.append(
            Step(
                "clustering/coded",
                "view",
                suffix=f"_{place}",
                reads={"coded": stands, "dictionary": found[-1].name},
                values={"column": dimension.column, "codes": codes},
            )
        )
        stands = found[-1].name
    held = _held(sensitive_width)
    for number, name in enumerate(held, start=1):
        column = {"column": f"sensitive_{number}", "held_column": name}
        found.append(Step("clustering/held", "view", suffix=f"_{number}", reads={"coded": stands}, values=column))
        stands = found[-1].name
    codes_of_all = [name for place, dimension in _categories(dimensions) for name in _codes(place, dimension)]
    numbers = [
        (_read(one), *(f"{name}_{place}" for name in ("number", "lowest", "span", "bin", "coarse")))
        for place, one in _numbers(dimensions)
    ]
    values = {
        "carried": ["row_number", "sensitive_count", *ties, *held, *codes_of_all],
        "numbers": numbers,
        "fine_bins": FINE_BINS,
        "fine_per_coarse": FINE_PER_COARSE,
    }
    found.append(Step("clustering/point", reads={"coded": stands}, values=values))
    return (*found, _arranged(dimensions))


def _dictionary(place: int, dimension: Dimension) -> Step:
    """Return the step that numbers an attribute's values."""
    if dimension.kind == "category":
        values: dict[str, object] = {"column": dimension.column}
        return Step("clustering/category", suffix=f"_{place}", values=values)
    depths = [(f"level_{depth}", f"upper_{depth}") for depth in range(1, dimension.height + 1)]
    ancestors = [(height, f"ancestor_{height}") for height in range(dimension.height)]
    walked = [
        (f"code_{height}", [f"ancestor_{above}" for above in range(dimension.height - 1, height - 1, -1)])
        for height in range(dimension.height)
    ]
    values = {"depths": depths, "ancestors": ancestors, "heights": walked}
    return Step("clustering/level", suffix=f"_{place}", reads={"hierarchy": dimension.relation}, values=values)


def _arranged(dimensions: Sequence[Dimension]) -> Step:
    listed = list(enumerate(levels(dimensions), start=1))
    values = {
        "levels": [
            (number, level.column, f"importance_{level.dimension}", level.steps, level.height)
            for number, level in listed
        ],
        "places": [(number, f"place_{number}", f"breadth_{number}") for number, _ in listed],
    }
    return Step("clustering/arrangement", values=values)


def _sorted(dimensions: Sequence[Dimension], k: int, sensitive_width: int, ties: Sequence[str]) -> Step:
    listed = list(enumerate(levels(dimensions), start=1))
    places = [
        (
            f"at_{place}",
            f"breadth_{place}",
            f"turned_{place}",
            [f"at_{before}" for before in range(1, place)],
            [(f"place_{number}", level.column, place) for number, level in listed],
        )
        for place, _ in listed
    ]
    packed: list[tuple[str, list[tuple[str, int]]]] = []
    for first in range(0, len(places), PLACES_PER_WORD):
        turned = [place[2] for place in places[first : first + PLACES_PER_WORD]]
        weights = [MOST_NUMBERS**above for above in reversed(range(len(turned)))]
        packed.append((f"word_{len(packed) + 1}", list(zip(turned, weights, strict=True))))
    values = {
        "carried": ["row_number", "sensitive_count", *_held(sensitive_width), *_coordinates(dimensions)],
        "places": places,
        "most_numbers": MOST_NUMBERS,
        "packed": packed,
        "words": [word for word, _ in packed],
        "numbers": [f"number_{place}" for place, _ in _numbers(dimensions)],
        "ties": list(ties),
        "k": k,
    }
    return Step("clustering/clustering", values=values)


def _diverse(l: int, sensitive_width: int, undiverse: Undiverse) -> tuple[Step | Repeat, ...]:
    """Return the steps that judge every cluster and, where asked, merge what fails until nothing does."""
    counted = (
        Step("clustering/cluster"),
        Step("clustering/cluster_value", values={"held_columns": _held(sensitive_width)}),
        Step("clustering/judged", reads={"allotted": "cluster"}, values={"l": l}),
    )
    if undiverse == "suppress":
        return counted
    body = (
        Step("clustering/merged", values={"patient_turns": PATIENT_TURNS}),
        Step("clustering/judged", yields="judged_again", reads={"allotted": "merged"}, values={"l": l}),
    )
    guard = Guard("left_over > 0", "clusters are not diverse after all merges")
    left = Step("clustering/failing", "query", refuse=_still_failing, guards=(guard,))
    return (*counted, Repeat("merges", "judged", body, left, MOST_TURNS))


def _quality(dimensions: Sequence[Dimension]) -> Step:
    values = {
        "categories": [
            (f"importance_{place}", one.height, _codes(place, one)) for place, one in _categories(dimensions)
        ],
        "numbers": [(f"importance_{place}", f"number_{place}", f"span_{place}") for place, one in _numbers(dimensions)],
        "most_rows": MOST_ROWS,
        "most_pairs": MOST_PAIRS,
    }
    return Step("clustering/quality", "query", refuse=lambda row: None, values=values)


def _still_failing(row: Row) -> None:
    raise DataError(STILL_FAILING.format(left_over=row["left_over"]))


def _feasible(k: int, l: int, undiverse: Undiverse) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        if not row["row_count"]:
            raise DataError(NO_ROWS)
        if row["row_count"] < k:
            raise DataError(TOO_FEW_ROWS.format(parameter="K", size=k, row_count=row["row_count"]))
        count = row["value_count"]
        if count < l:
            advice = f"the largest L that works is {count}" if count > 1 else "one value cannot be diverse"
            raise DataError(TOO_MANY_WEIGHTS.format(l=l, value_count=count, advice=advice))
        if undiverse == "merge" and row["grave_count"] and row["least_alternatives"] == count:
            raise DataError(ALIKE.format(value_count=count))

    return refuse


def _limits(k: int, l: int, undiverse: Undiverse) -> tuple[Guard, ...]:
    """Say what `_feasible` says, without figures, for a script that runs without Python."""
    alike = Guard("grave_count > 0 and least_alternatives = value_count", "all rows hold the same sensitive values")
    return (
        Guard("row_count = 0", NO_ROWS),
        Guard(f"row_count < {k}", f"K = {k} needs at least {k} rows"),
        Guard(f"value_count < {l}", f"L = {l} asks for {l} different weights, and the sensitive values have fewer"),
        *([alike] if undiverse == "merge" else []),
    )
