"""BK(L,K)-clustering (Ren, Yang, Zhang and Jia, 2012) as one sort, a cut, and merges of what is not diverse.

The templates are `sql_templates/methods/uncertain/clustering/`. They read `determined` (row_number, quasi_1 …,
cell_code, sensitive_count, a draw), the sensitive cells' `alternative` (cell_code, text), the hierarchies and
`influence` (sensitive, influence_1 …, weight), and end in `clustered` (row_number, cluster, suppressed).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import NO_ROWS, TOO_FEW_ROWS
from sqlanon.methods.uncertain import dimensions as attributes
from sqlanon.methods.uncertain import refinement
from sqlanon.methods.uncertain.dimensions import Dimension, Level
from sqlanon.plans.plan import Guard, Repeat, Row, Step
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

Undiverse = Literal["merge", "suppress"]

CARRIED = ("row_number", "sensitive_count", "cell_code")  # what a row keeps to the end: by which it is judged
WORD_DIGITS = 18  # a whole number holds as many
MOST_BRANCHES = 1_000_000  # that a sort tells apart at one level; with more, neighbours are taken together
PATIENT_TURNS, MOST_TURNS = 8, 16  # 8 turns of pairs, then herds of 32: enough for 32 ** 7 clusters
MOST_ROWS, MOST_PAIRS = 2_000, 20_000_000  # of a cluster, and in all, for the figures of quality

TOO_MANY_WEIGHTS = (
    "L = {l} asks for {l} different weights in a cluster; the sensitive values of the source have {value_count};"
    " {advice}"
)
ALIKE = (
    "every row holds the same {value_count} sensitive values, and one of them weighs no less than the threshold:"
    " no cluster can be diverse; raise "
    + option("threshold")
    + " above its weight, or say "
    + option("undiverse", "suppress")
)
STILL_FAILING = (
    "{left_over} clusters are not diverse after all merges; lower "
    + option("l", flag="-L")
    + " or raise "
    + option("threshold")
)


@dataclass(frozen=True)
class Clustering:
    """What is asked of the clusters.

    k: least rows of a cluster; l: least different weights where one of them is not below `threshold`.
    undiverse: what becomes of a cluster that fails. refine: turns of swaps before clusters are judged. ties: columns
    of `determined` that order rows which are alike.
    """

    dimensions: Sequence[Dimension]
    k: int
    l: int
    threshold: Decimal | float
    undiverse: Undiverse = "merge"
    refine: int = 0
    ties: Sequence[str] = ("draw",)

    @property
    def rows(self) -> str:
        """Return the relation of the rows in the clusters that are judged."""
        return "refining" if self.refine else "clustering"


def steps(asked: Clustering) -> tuple[Step | Repeat, ...]:
    """Return the steps that end in `clustered` and a query of quality."""
    return (
        *_measured(asked),
        *_placed(asked),
        _arranged(asked),
        _sorted(asked),
        *(refinement.steps(asked.dimensions, CARRIED, asked.refine) if asked.refine else ()),
        *_diverse(asked),
        Step("methods/uncertain/clustering/clustered", reads={"clustering": asked.rows}),
        _quality(asked),
    )


def _measured(asked: Clustering) -> tuple[Step, ...]:
    """Return the steps that number the sensitive values, weigh the attributes and refuse what cannot be."""
    places = range(1, len(asked.dimensions) + 1)
    valued = {
        "influence_columns": [f"influence_{place}" for place in places],
        "threshold": float(asked.threshold),
    }
    weighted = [(f"influence_{place}", f"importance_{place}") for place in places]
    numbers = [(one.reading, f"lowest_{place}", f"span_{place}") for place, one in attributes.numbers(asked.dimensions)]
    return (
        Step("methods/uncertain/clustering/value", values=valued),
        Step("methods/uncertain/clustering/importance", values={"weighted": weighted}),
        Step("methods/uncertain/clustering/measured", values={"numbers": numbers}),
        Step("methods/uncertain/clustering/feasibility", "query", "", _feasible(asked), _limits(asked)),
    )


def _placed(asked: Clustering) -> tuple[Step, ...]:
    """Return the steps that give every row its codes and branches, and count these; all but the small are views."""
    found: list[Step] = []
    rows, extent = "determined", "importance"
    for place, dimension in attributes.categories(asked.dimensions):
        dictionary, suffix = _dictionary(place, dimension), f"_{place}"
        codes, branches = attributes.codes(place, dimension), attributes.branches(place, dimension)
        named = [(f"code_{height}", name) for height, name in enumerate(codes)]
        named += [(f"branch_{height}", name) for height, name in enumerate(branches)]
        counted = [(f"branch_{height}", name) for height, name in enumerate(attributes.breadths(place, dimension))]
        coded = {"column": dimension.column, "codes": named}
        reads = {"dictionary": dictionary.name}
        found += [
            dictionary,
            Step(
                "methods/uncertain/clustering/coded",
                "view",
                values=coded,
                suffix=suffix,
                reads={**reads, "coded": rows},
            ),
            Step(
                "methods/uncertain/clustering/extent",
                "view",
                "",
                None,
                (),
                {"branches": counted},
                suffix,
                {**reads, "extent": extent},
            ),
        ]
        rows, extent = f"coded{suffix}", f"extent{suffix}"
    return (*found, _point(asked, rows))


def _dictionary(place: int, dimension: Dimension) -> Step:
    """Return the step that numbers an attribute's values."""
    if dimension.kind == "category":
        column: dict[str, object] = {"column": dimension.column, "most_branches": MOST_BRANCHES}
        return Step("methods/uncertain/clustering/category", suffix=f"_{place}", values=column)
    heights = range(dimension.height)
    values: dict[str, object] = {
        "depths": [(f"level_{depth}", f"upper_{depth}") for depth in range(1, dimension.height + 1)],
        "ancestors": [(height, f"ancestor_{height}") for height in heights],
        "coded": [
            (
                f"ancestor_{height}",
                [f"ancestor_{height + 1}"] * (height + 1 in heights),
                f"code_{height}",
                f"branch_{height}",
            )
            for height in heights
        ],
    }
    return Step(
        "methods/uncertain/clustering/level", suffix=f"_{place}", reads={"hierarchy": dimension.relation}, values=values
    )


def _point(asked: Clustering, rows: str) -> Step:
    categories = attributes.categories(asked.dimensions)
    coded = [name for place, one in categories for name in attributes.codes(place, one)]
    branched = [name for place, one in categories for name in attributes.branches(place, one)]
    parts = ("number", "lowest", "span", "bin", "coarse", "fine", "exact")
    values = {
        "carried": [*CARRIED, *asked.ties, *coded, *branched],
        "numbers": [
            (one.reading, *(f"{part}_{place}" for part in parts)) for place, one in attributes.numbers(asked.dimensions)
        ],
        "bins": attributes.BINS,
        "coarse_width": attributes.BINS // attributes.COARSE_BINS,
        "fine_width": attributes.BINS // attributes.FINE_BINS,
        "fine_count": attributes.FINE_BINS // attributes.COARSE_BINS,
    }
    return Step("methods/uncertain/clustering/point", "view", reads={"coded": rows}, values=values)


def _words(asked: Clustering) -> range:
    """Return the numbers of the words: a row seldom shares 18 digits with others, and a second word costs time."""
    return range(1, max(1, attributes.digits(asked.dimensions) // WORD_DIGITS) + 1)


def _arranged(asked: Clustering) -> Step:
    levels, last = _levels(asked)
    values = {
        "levels": [
            (number, is_last, f"importance_{level.place}", level.steps, level.height, level.breadth)
            for is_last, numbered in enumerate((levels, last))
            for number, level in numbered
        ],
        "places": [(number, f"level_{number}", f"breadth_{number}") for number, _ in levels],
        "words": [
            (
                f"word_{word}",
                f"filled_{word}",
                f"word_{word - 1}",
                f"filled_{word - 1}",
                [(number, f"weight_{word}_{number}") for number, _ in (*levels, *last)],
            )
            for word in _words(asked)
        ],
    }
    categories = attributes.categories(asked.dimensions)
    extent = f"extent_{categories[-1][0]}" if categories else "importance"
    return Step("methods/uncertain/clustering/arrangement", values=values, reads={"extent": extent})


def _levels(asked: Clustering) -> tuple[list[tuple[int, Level]], list[tuple[int, Level]]]:
    """Return the levels with their numbers from 1, and the last ones with those that follow."""
    levels = list(enumerate(attributes.levels(asked.dimensions), start=1))
    last = list(enumerate(attributes.last_levels(asked.dimensions), start=len(levels) + 1))
    return levels, last


def _sorted(asked: Clustering) -> Step:
    levels, last = _levels(asked)
    numbers = [number for number, _ in levels]
    values = {
        "carried": CARRIED,
        "places": [
            (
                f"at_{place}",
                f"level_{place}",
                f"breadth_{place}",
                f"turned_{place}",
                [f"at_{before}" for before in range(1, place)],
                [(number, one.column) for number, one in levels if one.above < place <= len(levels) - one.below],
            )
            for place in numbers
        ],
        "last_levels": [(level.column, f"turned_{number}", Sql(f"{level.breadth} - 1")) for number, level in last],
        "all_at": [f"at_{place}" for place in numbers],
        "words": [
            (f"word_{word}", [(f"turned_{number}", f"weight_{word}_{number}") for number, _ in (*levels, *last)])
            for word in _words(asked)
        ],
        "word_columns": [f"word_{word}" for word in _words(asked)],
        "ties": list(asked.ties),
        "k": asked.k,
    }
    return Step("methods/uncertain/clustering/clustering", values=values)


def _diverse(asked: Clustering) -> tuple[Step | Repeat, ...]:
    """Return the steps that judge every cluster and, where asked, merge what fails until nothing does."""
    diverse = {"l": asked.l}
    counted = (
        Step("methods/uncertain/clustering/held"),
        Step("methods/uncertain/clustering/cluster_value", reads={"clustering": asked.rows}),
        Step("methods/uncertain/clustering/judged", values=diverse),
    )
    if asked.undiverse == "suppress":
        return counted
    body = (
        Step("methods/uncertain/clustering/merged", values={"patient_turns": PATIENT_TURNS}),
        Step("methods/uncertain/clustering/judged_again", values=diverse),
    )
    guard = Guard("left_over > 0", "clusters are not diverse after all merges")
    left = Step("methods/uncertain/clustering/failing", "query", refuse=_still_failing, guards=(guard,))
    return (*counted, Repeat("merges", "judged", body, left, MOST_TURNS))


def _quality(asked: Clustering) -> Step:
    values = {**attributes.distance(asked.dimensions), "most_rows": MOST_ROWS, "most_pairs": MOST_PAIRS}
    return Step("methods/uncertain/clustering/quality", "query", values=values, note=_quality_note)


def _quality_note(row: Row) -> str:
    words = f"{row['cluster_count']} clusters of {row['row_count']} rows, the largest of {row['largest_cluster']}"
    if row["objective"] is not None:
        words += (
            f"; objective {row['objective']:.4g} (mean of rows times largest distance), largest distance"
            f" {row['largest_diameter']:.4g}"
        )
    if row["measured_clusters"] < row["cluster_count"]:
        words += f" in the {row['measured_clusters']} clusters that were measured"
    return f"quality: {words}; {row['suppressed_rows']} rows suppressed"


def _still_failing(row: Row) -> None:
    raise DataError(STILL_FAILING.format(left_over=row["left_over"]))


def _feasible(asked: Clustering) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        if not row["row_count"]:
            raise DataError(NO_ROWS)
        if row["row_count"] < asked.k:
            raise DataError(TOO_FEW_ROWS.format(parameter="K", size=asked.k, row_count=row["row_count"]))
        count = row["value_count"]
        if count < asked.l:
            advice = f"the largest L that works is {count}" if count > 1 else "one value cannot be diverse"
            raise DataError(TOO_MANY_WEIGHTS.format(l=asked.l, value_count=count, advice=advice))
        if asked.undiverse == "merge" and row["grave_count"] and row["least_alternatives"] == count:
            raise DataError(ALIKE.format(value_count=count))

    return refuse


def _limits(asked: Clustering) -> tuple[Guard, ...]:
    """Say what `_feasible` says, without figures, for a script that runs without Python."""
    k, l = asked.k, asked.l
    alike = Guard("grave_count > 0 and least_alternatives = value_count", "all rows hold the same sensitive values")
    return (
        Guard("row_count = 0", NO_ROWS),
        Guard(f"row_count < {k}", f"K = {k} needs at least {k} rows"),
        Guard(f"value_count < {l}", f"L = {l} asks for {l} different weights, and the sensitive values have fewer"),
        *([alike] if asked.undiverse == "merge" else []),
    )
