"""The third way with clusters that are not diverse: they climb their hierarchies (Ren, Yang, Zhang and Jia, 2012).

The templates are `sql_templates/methods/uncertain/climbing/`. A cluster that fails shows the common ancestors of its
rows; clusters that show the same are one region, whose rows are dealt out into groups as merged ones are. A region
that is not diverse climbs one level of one attribute at each turn, until it meets others that it is diverse with; what
is left at the roots is joined by regions that were diverse, as many as it takes.
"""

from collections.abc import Mapping, Sequence

from sqlanon.methods.uncertain.dimensions import Dimension
from sqlanon.plans.plan import Repeat, Step, relation_name

FOLDER = "methods/uncertain/climbing"


def steps(
    limits: Mapping[str, int], dimensions: Sequence[Dimension], rows: str, prefix: str
) -> tuple[tuple[Step | Repeat, ...], Step]:
    """Return the steps from `judged` to `climbing`, and the one that ends in `clustered` once rows are dealt out.

    limits: k, l and the most rows of a group (`most_rows`). dimensions: all of them with a hierarchy. rows: the
    relation of the rows in clusters.
    """
    numbered = list(enumerate(dimensions, start=1))
    heights = [(number, dimension.height) for number, dimension in numbered]
    levels = [(n, f"importance_{n}", depth, height) for n, height in heights for depth in range(height)]
    relations = [(n, relation_name(prefix, f"common_node_{n}")) for n, _ in numbered]
    trees = [
        (
            n,
            relation_name(prefix, dimension.relation),
            [(depth, f"level_{depth}") for depth in range(1, dimension.height)],
        )
        for n, dimension in numbered
    ]
    numbers = [number for number, _ in numbered]
    turns = len(levels)
    rest = Step(f"{FOLDER}/still_failing", "query", values={"turns": 2 * turns})
    answer: tuple[Step | Repeat, ...] = (
        Step(f"{FOLDER}/climb_limit", values={"levels": levels, "heights": heights}),
        *(_common_node(number, dimension, rows) for number, dimension in numbered),
        Step(f"{FOLDER}/begun", values={"nodes": relations}),
        *_judged(limits, "begun", "climbing", numbers),
        Repeat(
            "climbs",
            "climbing",
            (
                Step(f"{FOLDER}/climbed", values={"nodes": trees, "turns": turns}),
                *_judged(limits, "climbed", "climbing_again", numbers),
            ),
            rest,
            2 * turns,
        ),
    )
    return answer, Step(f"{FOLDER}/rehoused", yields="clustered", reads={"clustering": rows})


def _common_node(number: int, dimension: Dimension, rows: str) -> Step:
    levels = [f"level_{depth}" for depth in range(1, dimension.height + 1)]
    values = {"column": dimension.column, "level_columns": levels, "deepest_first": levels[::-1]}
    reads = {"clustering": rows, "hierarchy": dimension.relation}
    return Step(f"{FOLDER}/common_node", suffix=f"_{number}", values=values, reads=reads)


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
            f"{FOLDER}/climbing",
            yields=yields,
            values={"numbers": numbers},
            reads={"climbed": clusters, "region_judged": f"judged_{clusters}"},
        ),
    )
