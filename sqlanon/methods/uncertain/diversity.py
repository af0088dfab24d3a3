"""Diversity of clusters (Ren, Yang, Zhang and Jia, 2012): L different weights in each cluster with a grave value.

The templates are `sql_templates/methods/uncertain/diversity/`. They read `clustering`, the cut of the sort, and end in
`clustered` (row_number, cluster, suppressed). A cluster that fails is suppressed, or merged with its neighbours into a
region. The rows of a region are then dealt into groups that are diverse and hardly larger than K, or joined with those
that the hierarchies generalize to the same node (`climbing`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import NO_ROWS, TOO_FEW_ROWS
from sqlanon.methods.uncertain.dimensions import Dimension
from sqlanon.plans.plan import Guard, Repeat, Row, Step, relation_name
from sqlanon.wording import option


# The third way with clusters that are not diverse: they climb their hierarchies (Ren, Yang, Zhang and Jia,
# 2012). The templates are `sql_templates/methods/uncertain/diversity/`. A cluster that fails shows the common
# ancestors of its rows; clusters that show the same are one region, whose rows are dealt out into groups as
# merged ones are. A region that is not diverse climbs one level of one attribute at each turn, until it meets
# others that it is diverse with; what is left at the roots is joined by regions that were diverse, as many as
# it takes.
def climb_hierarchies(
    limits: Mapping[str, int], dimensions: Sequence[Dimension], rows: str, prefix: str
) -> tuple[tuple[Step | Repeat, ...], Step]:
    """Return the steps from `judged` to `climbing`, and the one that ends in `clustered` once rows are dealt out.

    limits: k, l and the most rows of a group (`most_rows`). dimensions: all of them with a hierarchy. rows: the
    relation of the rows in clusters.
    """
    dimensions_by_number = list(enumerate(dimensions, start=1))
    heights = [(number, dimension.height) for number, dimension in dimensions_by_number]
    levels = [(n, f"importance_{n}", depth, height) for n, height in heights for depth in range(height)]
    relations = [(n, relation_name(prefix, f"common_node_{n}")) for n, _ in dimensions_by_number]
    trees = [
        (
            n,
            relation_name(prefix, dimension.relation),
            [(depth, f"level_{depth}") for depth in range(1, dimension.height)],
        )
        for n, dimension in dimensions_by_number
    ]
    numbers = [number for number, _ in dimensions_by_number]
    turns = len(levels)
    rest = Step("methods/uncertain/diversity/still_failing", "query", values={"turns": 2 * turns})
    answer: tuple[Step | Repeat, ...] = (
        Step("methods/uncertain/diversity/climb_limit", values={"levels": levels, "heights": heights}),
        *(_common_node(number, dimension, rows) for number, dimension in dimensions_by_number),
        Step("methods/uncertain/diversity/begun", values={"nodes": relations}),
        *_judged(limits, "begun", "climbing", numbers),
        Repeat(
            "climbs",
            "climbing",
            (
                Step("methods/uncertain/diversity/climbed", values={"nodes": trees, "turns": turns}),
                *_judged(limits, "climbed", "climbing_again", numbers),
            ),
            rest,
            2 * turns,
        ),
    )
    return answer, Step("methods/uncertain/diversity/rehoused", yields="clustered", reads={"clustering": rows})


def _common_node(number: int, dimension: Dimension, rows: str) -> Step:
    levels = [f"level_{depth}" for depth in range(1, dimension.height + 1)]
    values = {"column": dimension.column, "level_columns": levels, "deepest_first": levels[::-1]}
    reads = {"clustering": rows, "hierarchy": dimension.relation}
    return Step("methods/uncertain/diversity/common_node", suffix=f"_{number}", values=values, reads=reads)


def _judged(limits: Mapping[str, int], clusters: str, yields: str, numbers: Sequence[int]) -> tuple[Step, Step]:
    """Return the steps that judge every region of the clusters that climbed: its groups are to be none too large."""
    return (
        Step(
            "methods/uncertain/diversity/judged_again",
            yields=f"judged_{clusters}",
            values={**limits, "near_rows": limits["most_rows"], "patient_width": 0},
            reads={"merged": clusters},
        ),
        Step(
            "methods/uncertain/diversity/climbing",
            yields=yields,
            values={"numbers": numbers},
            reads={"climbed": clusters, "region_judged": f"judged_{clusters}"},
        ),
    )


Undiverse = Literal["merge", "suppress", "generalize"]

GROUP_MULTIPLE = 4  # of K, or of L where that is more: the largest group unless another limit is given
# Clusters up to which a region grows for groups below twice K, rather than have larger ones. 8,000 rows of Adult,
# K = 5, L = 5: groups of 7.3 rows on average, without patience 9.3; with 32 instead of 4 they are three times as wide.
PATIENT_WIDTH = 4
MOST_TURNS = 16  # of merges: enough for 2 ** 38 clusters

_SUPPRESS = "say " + option("undiverse", "suppress")
TOO_MANY_WEIGHTS = (
    "L = {l} asks for {l} different weights in a cluster; the sensitive values of the source have {value_count};"
    " {advice}"
)
ALIKE = (
    "every row holds the same {value_count} sensitive values, and one of them weighs no less than the threshold:"
    " no cluster can be diverse; give it a weight below the threshold if it is harmless, or " + _SUPPRESS
)
TOO_LARGE = (
    "L = {l} is not possible in groups of at most {most_rows} rows: {grave_rows:,} of {row_count:,} rows have a grave"
    " value and belong into groups with {l} different weights, {found}; {advice}"
)
UNMET = (
    "{failing_rows} rows find no group of at most {most_rows} rows with {l} different weights; lower "
    + option("l", flag="-L")
    + ", raise "
    + option("max_group")
    + ", or "
    + _SUPPRESS
)
_ENDED = (
    "{failing_rows} rows find no group of at most {most_rows} rows with {l} different weights among rows that fail as"
    " they do, where their hierarchies end as well; lower "
    + option("l", flag="-L")
    + ", raise "
    + option("max_group")
    + ", or say "
    + option("undiverse", "merge")
    + " or "
    + option("undiverse", "suppress")
)


@dataclass(frozen=True)
class Diversity:
    """What is asked of the clusters' sensitive values.

    k: least rows of a cluster; l: least different weights where a value is grave. undiverse: what becomes of a cluster
    that fails. most_rows: of a cluster. ties: columns of rows that draw which of them goes where. certain: whether
    no sensitive cell holds several values.
    """

    k: int
    l: int
    undiverse: Undiverse
    most_rows: int
    ties: tuple[str, ...]
    certain: bool = False

    @property
    def near_rows(self) -> int:
        """Return the size from which on a group of K rows and L weights could have been two."""
        return min(self.most_rows, 2 * max(self.k, self.l) - 1)


def read_quality(asked: Diversity) -> tuple[Step, ...]:
    """Return the steps that say which values a cell holds and which one stands for it, and refuse what cannot be."""
    feasible = "methods/uncertain/diversity/feasibility"
    return (
        Step("methods/uncertain/diversity/held"),
        Step("methods/uncertain/diversity/representative"),
        Step(feasible, "query", "", _feasible(asked), _limits(asked), _limits_of(asked)),
    )


def _limits_of(diversity: Diversity) -> dict[str, int]:
    return {"k": diversity.k, "l": diversity.l, "most_rows": diversity.most_rows}


def steps(
    asked: Diversity, rows: str, dimensions: Sequence[Dimension] = (), prefix: str = ""
) -> tuple[Step | Repeat, ...]:
    """Return the steps that judge every cluster and end in `clustered`.

    rows: the relation of rows in clusters. dimensions, prefix: the attributes that clusters climb, and what begins the
    names of their relations.
    """
    clusters = {"clustering": rows}
    judged = (
        Step(
            "methods/uncertain/diversity/certain_value"
            if asked.certain
            else "methods/uncertain/diversity/cluster_value",
            yields="cluster_value",
            reads=clusters,
        ),
        Step("methods/uncertain/diversity/judged", values={"l": asked.l}),
    )
    if asked.undiverse == "suppress":
        return (*judged, Step("methods/uncertain/diversity/clustered", reads=clusters))
    regions: tuple[Step | Repeat, ...] = (_merges(asked),)
    dealt, state = Step("methods/uncertain/diversity/dealt", yields="clustered", reads=clusters), "judged"
    if asked.undiverse == "generalize":
        (regions, dealt), state = climb_hierarchies(_limits_of(asked), dimensions, rows, prefix), "climbing"
    return (*judged, _counted(asked, clusters), *regions, *_seated(asked, clusters, state), dealt)


def _seated(diversity: Diversity, clusters: Mapping[str, str], state: str) -> tuple[Step, ...]:
    """Return the steps that deal out the rows of merged regions."""
    limits, ties, of = {"k": diversity.k, "l": diversity.l}, {"ties": diversity.ties}, {"judged": state}
    return (
        _unmet(diversity, of),
        Step("methods/uncertain/diversity/portion", values=limits, reads=of),
        Step("methods/uncertain/diversity/seat", values=ties, reads={**clusters, **of}),
        Step("methods/uncertain/diversity/spared", values={**limits, **ties}),
    )


def _counted(diversity: Diversity, rows: Mapping[str, str]) -> Step:
    """Return the step that counts the rows that each value stands for: all that hold it, where cells are certain."""
    if diversity.certain:
        return Step("methods/uncertain/diversity/certain_count", "view", yields="cluster_count")
    return Step("methods/uncertain/diversity/cluster_count", reads=rows)


def _merges(diversity: Diversity) -> Repeat:
    """Return the turns of merges."""
    sizes = {"near_rows": diversity.near_rows, "most_rows": diversity.most_rows, "patient_width": PATIENT_WIDTH}
    body = (
        Step("methods/uncertain/diversity/merged"),
        Step("methods/uncertain/diversity/judged_again", values={"k": diversity.k, "l": diversity.l, **sizes}),
    )
    rest = Step("methods/uncertain/diversity/failing", "query", values={"patient_width": PATIENT_WIDTH})
    return Repeat("merges", "judged", body, rest, MOST_TURNS)


def _unmet(diversity: Diversity, of: Mapping[str, str]) -> Step:
    words = _ENDED if diversity.undiverse == "generalize" else UNMET

    def refuse(row: Row) -> None:
        if row["failing_rows"]:
            raise DataError(
                words.format(failing_rows=row["failing_rows"], most_rows=diversity.most_rows, l=diversity.l)
            )

    message = words.format(failing_rows="some", most_rows=diversity.most_rows, l=diversity.l)
    guard = Guard("failing_rows > 0", message)
    return Step("methods/uncertain/diversity/unmet", "query", refuse=refuse, guards=(guard,), reads=of)


def _feasible(diversity: Diversity) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        if not row["row_count"]:
            raise DataError(NO_ROWS)
        if row["row_count"] < diversity.k:
            raise DataError(TOO_FEW_ROWS.format(parameter="K", size=diversity.k, row_count=row["row_count"]))
        count = row["value_count"]
        if count < diversity.l:
            advice = f"the largest L that works is {count}" if count > 1 else "one value cannot be diverse"
            raise DataError(TOO_MANY_WEIGHTS.format(l=diversity.l, value_count=count, advice=advice))
        if diversity.undiverse == "suppress" or not row["grave_count"]:
            return
        if row["least_alternatives"] == count:
            raise DataError(ALIKE.format(value_count=count))
        # a cell of several alternatives brings several weights: of these the clusters themselves decide
        if row["most_alternatives"] == 1 and not _fits(row, diversity):
            raise DataError(_too_large(row, diversity))

    return refuse


def _fits(row: Row, diversity: Diversity) -> bool:
    return row["least_size"] is not None and bool(row["least_size"] <= diversity.most_rows)


def _too_large(row: Row, diversity: Diversity) -> str:
    """Say what is possible instead: a smaller L, larger groups."""
    size, largest = row["largest_size"], row["largest_l"]
    obstacle = "which cannot be made of these rows" if size is None else f"some of which would have {row['least_size']}"
    ways = [f"the largest L that works is {largest}"] if largest is not None else []
    ways += [f"say {option('max_group', size)}"] if size is not None else []
    return TOO_LARGE.format(
        l=diversity.l,
        most_rows=diversity.most_rows,
        grave_rows=row["grave_rows"],
        row_count=row["row_count"],
        found=obstacle,
        advice="; or ".join([*ways, "give harmless values weights below the threshold", _SUPPRESS]),
    )


def _limits(diversity: Diversity) -> tuple[Guard, ...]:
    """Say what `_feasible` says, without figures, for a script that runs without Python."""
    k, l, most = diversity.k, diversity.l, diversity.most_rows
    fewer = Guard(f"value_count < {l}", f"L = {l} asks for {l} different weights, and the sensitive values have fewer")
    guards = (Guard("row_count = 0", NO_ROWS), Guard(f"row_count < {k}", f"K = {k} needs at least {k} rows"), fewer)
    if diversity.undiverse == "suppress":
        return guards
    too_large = f"grave_count > 0 and most_alternatives = 1 and (least_size is null or least_size > {most})"
    return (
        *guards,
        Guard("grave_count > 0 and least_alternatives = value_count", "all rows hold the same sensitive values"),
        Guard(too_large, f"L = {l} is not possible in groups of at most {most} rows"),
    )
