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

from sqlanon.methods.uncertain import dimensions as attributes
from sqlanon.methods.uncertain import diversity
from sqlanon.methods.uncertain.dimensions import Dimension, Level
from sqlanon.methods.uncertain.diversity import GROUP_MULTIPLE, Diversity, Undiverse
from sqlanon.plans.plan import Repeat, Row, Step
from sqlanon.plans.templates import Sql


class NumberNames(NamedTuple):
    """A number, as the rows have it, and the columns of what is made of it, by the parts of their names."""

    reading: Sql
    share: str
    read: str
    fraction: str
    number: str
    lowest: str
    span: str
    bin: str
    coarse: str
    fine: str
    exact: str


MOST_BITS = 31  # that tell the branches of a level apart
MOST_BRANCHES = 1_000_000  # that a sort tells apart at one level; with more, neighbours are taken together
MOST_ROWS, MOST_PAIRS = 2_000, 500_000  # of a cluster, and in all, for the figures of quality


@dataclass(frozen=True)
class Clustering:
    """What is asked of the clusters.

    k: least rows of a cluster; l: least different weights where one of them is not below `threshold`.
    undiverse: what becomes of a cluster that fails. ties: columns
    of `determined` that order rows which are alike. max_group: most rows of a cluster, None for a small multiple of K.
    certain: whether no sensitive cell holds several values.
    """

    dimensions: Sequence[Dimension]
    k: int
    l: int
    threshold: Decimal | float
    undiverse: Undiverse = "merge"
    ties: Sequence[str] = ("draw",)
    max_group: int | None = None
    certain: bool = False

    @property
    def payload(self) -> tuple[str, ...]:
        """Return what a row keeps to the end."""
        return ("row_number", "sensitive_count", "cell_code", *self.ties)

    @property
    def most_rows(self) -> int:
        """Return the most rows of a cluster."""
        return GROUP_MULTIPLE * max(self.k, self.l) if self.max_group is None else self.max_group

    @property
    def diversity(self) -> Diversity:
        """Return what is asked of the clusters' sensitive values."""
        return Diversity(self.k, self.l, self.undiverse, self.most_rows, tuple(self.ties), self.certain)


def steps(asked: Clustering, prefix: str = "") -> tuple[Step | Repeat, ...]:
    """Return the steps that end in `clustered` and a query of quality; prefix: what begins the names of relations."""
    return (
        *_measured(asked),
        *_placed(asked),
        *diversity.steps(asked.diversity, "clustering", asked.dimensions, prefix),
        Step("methods/uncertain/clustering/measured", "view"),
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
        (dimension.reading, f"lowest_{place}", f"span_{place}")
        for place, dimension in attributes.numbers(clustering.dimensions)
    ]
    return (
        Step("methods/uncertain/clustering/value", values=valued),
        Step("methods/uncertain/clustering/importance", values={"weighted": weighted}),
        Step("methods/uncertain/clustering/value_ranges", values={"numbers": numbers}),
        *diversity.read_quality(clustering.diversity),
    )


def _placed(clustering: Clustering) -> tuple[Step, ...]:
    """Return the steps that give every row its codes and branches, sort by these, and cut; the rows' are views."""
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
    levels = [*attributes.levels(clustering.dimensions), *attributes.last_levels(clustering.dimensions)]
    sort = {
        "payload": clustering.payload,
        "branches": [level.column for level in levels],
        "ties": clustering.ties,
        "k": clustering.k,
    }
    return (
        *category_steps,
        _point(clustering, rows),
        _arrangement(clustering, levels, extent),
        Step("methods/uncertain/clustering/clustering", values=sort),
    )


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
    values = {
        "payload": [*clustering.payload, *coded, *branched],
        "numbers": [
            NumberNames(dimension.reading, *(f"{part}_{place}" for part in NumberNames._fields[1:]))
            for place, dimension in attributes.numbers(clustering.dimensions)
        ],
        **attributes.bin_widths(),
    }
    return Step("methods/uncertain/clustering/point", "view", reads={"attribute_codes": rows}, values=values)


def _arrangement(clustering: Clustering, levels: Sequence[Level], extent: str) -> Step:
    last = len(attributes.levels(clustering.dimensions))
    values = {
        "levels": [
            (number, int(number > last), f"importance_{level.place}", level)
            for number, level in enumerate(levels, start=1)
        ],
        "powers": [2**exponent for exponent in range(MOST_BITS)],
    }
    return Step("methods/uncertain/clustering/arrangement", values=values, reads={"extent": extent})


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
