"""BK(L,K)-clustering (Ren, Yang, Zhang and Jia, 2012) as one sort and a cut; what is not diverse is then mended.

The templates are `sql_templates/methods/uncertain/clustering/`. They read `determined` (row_number, quasi_1 …,
cell_code, sensitive_count, a draw) and `cell_count` (cell_code, sensitive_count, row_count), the sensitive cells'
`alternative` (cell_code, text), the hierarchies and `influence` (sensitive, influence_1 …, weight), and end in
`clustered` (row_number, cluster, suppressed).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from sqlanon.methods.packing import PACKED, Layout
from sqlanon.methods.uncertain import dimensions as attributes
from sqlanon.methods.uncertain import diversity, scales
from sqlanon.methods.uncertain.dimensions import Dimension, Level
from sqlanon.methods.uncertain.diversity import GROUP_MULTIPLE, Diversity, Undiverse
from sqlanon.plans.plan import Repeat, Row, Step
from sqlanon.plans.templates import Sql


class NumberNames(NamedTuple):
    """A number, as the rows have it, and the columns of what is made of it, by the parts of their names."""

    reading: Sql
    share: str
    read: str
    number: str
    lowest: str
    span: str
    bin: str
    coarse: str
    fine: str
    exact: str


class FilledWord(NamedTuple):
    """Columns of a word that levels are written into, of the one before it, and the weight of each level by number."""

    name: str
    mask: str
    name_before: str
    filled: str
    filled_before: str
    weights: list[tuple[int, str]]


class SortedWord(NamedTuple):
    """Columns of a word that rows are sorted by: mask, words before it, branches with weights, what is weighed."""

    name: str
    mask: str
    before: list[str]
    weights: list[tuple[str, str]]
    weighed: list[str]


WORD_DIGITS = 18  # a whole number holds as many
MOST_BITS = 31  # that tell the branches of a level apart
FOLDS = 6  # after which each of 64 bits has met all before it
MOST_BRANCHES = 1_000_000  # that a sort tells apart at one level; with more, neighbours are taken together
MOST_ROWS, MOST_PAIRS = 2_000, 500_000  # of a cluster, and in all, for the figures of quality


@dataclass(frozen=True)
class Clustering:
    """What is asked of the clusters.

    k: least rows of a cluster; l: least different weights where one of them is not below `threshold`.
    undiverse: what becomes of a cluster that fails. ties: columns
    of `determined` that order rows which are alike. max_group: most rows of a cluster, None for a small multiple of K.
    certain: whether no sensitive cell holds several values. layout: how quasi values are packed, None where they are
    columns. sorts_rows: whether a table numbers its rows in the order of a sort.
    """

    dimensions: Sequence[Dimension]
    k: int
    l: int
    threshold: Decimal | float
    undiverse: Undiverse = "merge"
    ties: Sequence[str] = ("draw",)
    max_group: int | None = None
    certain: bool = False
    layout: Layout | None = None
    sorts_rows: bool = False

    @property
    def payload(self) -> tuple[str, ...]:
        """Return what a row keeps to the end: packed rows are whole and need no join with what they were."""
        own = ("row_number", "sensitive_count") if self.layout is None else (PACKED,)
        return (*own, "cell_code", *self.ties)

    @property
    def scaled(self) -> list[int]:
        """Return the places of the numbers whose values are looked up."""
        return scales.scaled_places(self.dimensions, self.layout)

    @property
    def most_rows(self) -> int:
        """Return the most rows of a cluster."""
        return GROUP_MULTIPLE * max(self.k, self.l) if self.max_group is None else self.max_group

    @property
    def diversity(self) -> Diversity:
        """Return what is asked of the clusters' sensitive values."""
        passed = ("row_number",) if self.layout is None else ("position", *self.payload)
        sizes, ties = (self.k, self.l, self.undiverse, self.most_rows), tuple(self.ties)
        # what numbers rows as it writes them is DuckDB, which counts bits of whole numbers as well
        by_remainders = self.sorts_rows and self.layout is not None
        return Diversity(*sizes, ties, passed, self.certain, by_remainders)


def steps(asked: Clustering, prefix: str = "") -> tuple[Step | Repeat, ...]:
    """Return the steps that end in `clustered` and a query of quality; prefix: what begins the names of relations."""
    return (
        *_measured(asked),
        *_placed(asked, prefix),
        *_sorted(asked),
        *diversity.steps(asked.diversity, "clustering", asked.dimensions, prefix),
        Step("methods/uncertain/clustering/measured", "view")
        if asked.layout is None
        else scales.unpack(asked.dimensions),
        _quality(asked),
    )


def _measured(clustering: Clustering) -> tuple[Step, ...]:
    """Return the steps that number the sensitive values, weigh the attributes and refuse what cannot be."""
    places = range(1, len(clustering.dimensions) + 1)
    valued = {
        "influence_columns": [f"influence_{place}" for place in places],
        "threshold": float(clustering.threshold),
    }
    weighted = [(f"influence_{place}", f"importance_{place}", f"share_{place}") for place in places]
    numbers = [
        (place, (dimension.reading, f"lowest_{place}", f"span_{place}"))
        for place, dimension in attributes.numbers(clustering.dimensions)
    ]
    whole = [place for place, _ in numbers] if clustering.layout is not None else []
    ranges = {
        "numbers": [columns for place, columns in numbers if place not in whole],
        "whole_numbers": [columns for place, columns in numbers if place in whole],
    }
    return (
        Step("methods/uncertain/clustering/value", values=valued),
        Step("methods/uncertain/clustering/importance", values={"weighted": weighted}),
        Step("methods/uncertain/clustering/value_ranges", values=ranges),
        *diversity.read_quality(clustering.diversity),
    )


def _placed(clustering: Clustering, prefix: str) -> tuple[Step, ...]:
    """Return the steps that give every row its codes and branches, and arrange these; all but the small are views."""
    category_steps: list[Step] = []
    rows, extent = "determined", "importance"
    for place, dimension in attributes.categories(clustering.dimensions):
        dictionary, suffix = _dictionary(place, dimension), f"_{place}"
        codes, branches = attributes.codes(place, dimension), attributes.branches(place, dimension)
        columns = [(f"code_{height}", name) for height, name in enumerate(codes)]
        columns += [(f"branch_{height}", name) for height, name in enumerate(branches)]
        breadths = [(f"branch_{height}", name) for height, name in enumerate(attributes.breadths(place, dimension))]
        column_codes = {"column": dimension.column, "codes": columns}
        reads = {"dictionary": dictionary.name}
        category_steps += [
            dictionary,
            Step(
                "methods/uncertain/clustering/branch_codes",
                "view",
                values=column_codes,
                suffix=suffix,
                reads={**reads, "attribute_codes": rows},
            ),
            Step(
                "methods/uncertain/clustering/extent",
                "view",
                values={"branches": breadths},
                suffix=suffix,
                reads={**reads, "extent": extent},
            ),
        ]
        rows, extent = f"branch_codes{suffix}", f"extent{suffix}"
    if clustering.layout is None:
        return (*category_steps, _point(clustering, rows), _arranged(clustering))
    passed = ["cell_code", *clustering.ties]
    steps = scales.steps(clustering.dimensions, clustering.scaled, _scale_weights(clustering), passed, prefix)
    return (
        scales.begun(clustering.dimensions, passed),
        _arranged(clustering),
        *steps,
        _point(clustering, steps[-1].name),
    )


def _scale_weights(clustering: Clustering) -> scales.Weights:
    """Return the weights of the bins of scaled numbers in each word."""
    numbered = {level.column: number for number, level in _levels(clustering)}
    return [
        (
            f"word_{word}",
            [
                (
                    f"weight_{word}_{numbered[f'coarse_{place}']}",
                    f"weight_{word}_{numbered[f'fine_{place}']}",
                    f"weight_{word}_{numbered[f'exact_{place}']}",
                )
                for place in clustering.scaled
            ],
        )
        for word in _words(clustering)
    ]


def _dictionary(place: int, dimension: Dimension) -> Step:
    """Return the step that numbers an attribute's values."""
    if dimension.scale == "category":
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


def _point(clustering: Clustering, rows: str) -> Step:
    categories = attributes.categories(clustering.dimensions)
    coded = [name for place, dimension in categories for name in attributes.codes(place, dimension)]
    branched = [name for place, dimension in categories for name in attributes.branches(place, dimension)]
    looked_up = [f"number_{place}" for place in clustering.scaled]
    if clustering.layout is not None:
        looked_up += [scales.weighed(f"word_{word}") for word in _words(clustering)]
    values = {
        "payload": [*dict.fromkeys((*clustering.payload, *clustering.ties)), *coded, *branched, *looked_up],
        "numbers": [
            NumberNames(dimension.reading, *(f"{part}_{place}" for part in NumberNames._fields[1:]))
            for place, dimension in attributes.numbers(clustering.dimensions)
            if place not in clustering.scaled
        ],
        **attributes.bin_widths(),
    }
    return Step("methods/uncertain/clustering/point", "view", reads={"attribute_codes": rows}, values=values)


def _words(clustering: Clustering) -> range:
    """Return the numbers of the words: a row seldom shares 18 digits with others, and a second word costs time."""
    return range(1, max(1, attributes.digits(clustering.dimensions) // WORD_DIGITS) + 1)


def _arranged(clustering: Clustering) -> Step:
    levels_by_number = _levels(clustering)
    last = len(attributes.levels(clustering.dimensions))
    values = {
        "levels": [
            (number, int(number > last), f"importance_{level.place}", level) for number, level in levels_by_number
        ],
        "powers": [2**exponent for exponent in range(MOST_BITS)],
        "words": [
            FilledWord(
                name=f"word_{word}",
                mask=f"mask_{word}",
                name_before=f"word_{word - 1}",
                filled=f"filled_{word}",
                filled_before=f"filled_{word - 1}",
                weights=[(number, f"weight_{word}_{number}") for number, _ in levels_by_number],
            )
            for word in _words(clustering)
        ],
    }
    categories = attributes.categories(clustering.dimensions)
    extent = f"extent_{categories[-1][0]}" if categories else "importance"
    return Step("methods/uncertain/clustering/arrangement", values=values, reads={"extent": extent})


def _levels(clustering: Clustering) -> list[tuple[int, Level]]:
    """Return the levels with their numbers from 1, the last ones after all others."""
    levels = [*attributes.levels(clustering.dimensions), *attributes.last_levels(clustering.dimensions)]
    return list(enumerate(levels, start=1))


def _sorted(clustering: Clustering) -> tuple[Step, ...]:
    payload = [*clustering.payload]
    values = {
        "payload": payload,
        "passed": list(dict.fromkeys((*payload, *clustering.ties))),
        "words": [
            SortedWord(
                name=f"word_{word}",
                mask=f"mask_{word}",
                before=[f"word_{before}" for before in range(1, word)],
                weights=[
                    (level.column, f"weight_{word}_{number}")
                    for number, level in _levels(clustering)
                    if level.place not in clustering.scaled
                ],
                weighed=[] if clustering.layout is None else [scales.weighed(f"word_{word}")],
            )
            for word in _words(clustering)
        ],
        "folds": [(f"fold_{number}", f"fold_{number - 1}", 2 ** (number - 1)) for number in range(1, FOLDS + 1)],
        "ties": list(clustering.ties),
    }
    if not clustering.sorts_rows:
        return (Step("methods/uncertain/clustering/clustering", values={**values, "k": clustering.k}),)
    settings = {"payload": payload, "k": clustering.k}
    return (
        Step("methods/uncertain/clustering/ordered", values=values),
        Step("methods/uncertain/clustering/clustering_by_number", "view", "clustering", values=settings),
    )


def _quality(clustering: Clustering) -> Step:
    values = {**attributes.distance(clustering.dimensions), "most_rows": MOST_ROWS, "most_pairs": MOST_PAIRS}
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
