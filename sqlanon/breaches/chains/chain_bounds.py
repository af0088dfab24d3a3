"""Bound the probability of every association where views form a chain and their worlds are too many to be counted.

A world takes each of the views' joined tuples or leaves it out, so that every node is covered. Let A be an
association's k = |A| tuples, N(A) the nodes that they touch, d_v the tuples through node v, a_v those of them in A,
and r_S the share of ways to take other tuples that cover what S, a subset of A, leaves uncovered. All sets of other
tuples are equally likely beforehand and to be covered is a monotone event, so that by Harris's inequality

    π = Π over N(A) of (1 - 2^-(d_v - a_v)) <= r_0 / r_S <= 1,     P = 1 - r_0 / Σ_S r_S,

    1 - 2^-k <= P <= (2^k - 1) / (2^k - 1 + π),

and P = 1 where a node has no tuple but those of A. From below each node v of N(A) tells more: with all its other
tuples left out, the nodes W that these touch must be covered by the rest, so that r_0 <= (1 - β_v) r_A,

    β_v = 2^-(d_v - a_v) Π over W of (1 - 2^-(d_w - tuples through v and w)),
    P >= 1 - (1 - β_v) / ((2^k - 1)(1 - β_v) + 1).

Degrees are counted along a tree of the views, without joining them; the associations' own tuples are joined.
"""

from collections.abc import Sequence

from sqlanon.breaches.chains.join_tree import JoinTree, grow_tree
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import join_conditions
from sqlanon.plans.templates import Sql

MARGIN = 1e-12  # of the rounding of sums of logarithms
BOUNDED = (
    "these views form a chain, and their worlds are too many to be counted:{share} each{other} probability lies between"
    " certified bounds, and is given as their middle with error_bound half of their distance"
)
REASON = "bounds"
FEW = 4  # other tuples of a node; a node with more hardly improves the lower bound


def lay_out_tuples(layout: StatementLayout) -> JoinTree:
    """Write nodes, the associations' tuples and covers over `base` and `numbered`; return the tree of the views.

    Raises DataError for views in a ring.
    """
    graph, names = layout.graph, layout.graph.column_names
    tree = grow_tree([tuple(names[column] for column in part.columns) for part in graph.parts])
    for number, part in zip(layout.numbers, graph.parts, strict=True):
        match = join_conditions(part.conditions, names)
        values: dict[str, object] = {"columns": tree.parts[number - 1], "match": match}
        layout.add("breaches/chains/chain_bounds/node", yields=f"node_{number}", **values)
    _lay_out_degrees(layout, tree)
    joins = join_from(layout, tree, 1)
    payload = [(number, name) for number, columns in enumerate(tree.parts, start=1)
               for name in ("identifier", "property") if name in columns]  # fmt: skip
    first = {"first": layout.relations["degree_1"], "parts": layout.numbers}
    layout.add("breaches/chains/chain_bounds/tuple", yields="tuple", joins=joins, payload=payload, **first)
    _lay_out_cover(layout, tree)
    return tree


def lay_out_bounds(layout: StatementLayout, tree: JoinTree, known: Sequence[Sql] = ()) -> None:
    """Write the bounds of every association over their tuples; wide ones for those that `known` has by number."""
    layout.add("breaches/chains/chain_bounds/touched", yields="touched", parts=layout.numbers)
    for number in layout.numbers:
        _lay_out_neighbourhood(layout, tree, number, known)
    besides = [layout.relations[f"beside_{number}"] for number in layout.numbers]
    layout.add("breaches/chains/chain_bounds/bounded", yields="bounded", besides=besides, reason=REASON)


def lay_out_bounded_answer(layout: StatementLayout) -> None:
    """Write the answer over the bounds alone."""
    layout.add("breaches/chains/chain_bounds/answer", yields="breach", margin=MARGIN)


def note_bounds(exact: int, bounded: int) -> list[str]:
    """Say how associations of a chain were answered, where not all are exact."""
    if not bounded:
        return []
    share = f" {exact:,} associations lie in small pieces, which were, and are exact;" if exact else ""
    return [BOUNDED.format(share=share, other=" other" if exact else "")]


def _lay_out_degrees(layout: StatementLayout, tree: JoinTree) -> None:
    """Write d_v: the ways to go on from a node into each neighbouring part, multiplied."""
    # what a part hands to one neighbour needs what the others have handed to it: from the leaves on, and back
    reached = [(part, before) for part, before, _ in tree.walk(1)]
    for part, to in [*reversed(reached), *((before, part) for part, before in reached)]:
        shared = next(columns for end, columns in tree.neighbours(part) if end == to)
        neighbours = [
            (end, layout.relations[f"ways_{end}_{part}"], columns) for end, columns in tree.neighbours(part, but=to)
        ]
        values = {"node": layout.node(part), "columns": shared, "neighbours": neighbours}
        layout.add("breaches/chains/chain_bounds/ways", yields=f"ways_{part}_{to}", **values)
    for part in layout.numbers:
        neighbours = [(end, layout.relations[f"ways_{end}_{part}"], columns) for end, columns in tree.neighbours(part)]
        values = {"node": layout.node(part), "columns": tree.parts[part - 1], "neighbours": neighbours}
        layout.add("breaches/chains/chain_bounds/degree", yields=f"degree_{part}", **values)


def _lay_out_neighbourhood(layout: StatementLayout, tree: JoinTree, part: int, known: Sequence[Sql]) -> None:
    """Write β_v of the nodes of one part that have few other tuples."""
    joins, degree = join_from(layout, tree, part), layout.relations[f"degree_{part}"]
    # a table of its own, so that engines know how small it is before they join
    columns = list(dict.fromkeys(column for _, shared in tree.neighbours(part) for column in shared))
    values = {"relation": degree, "part": part, "columns": columns, "few": FEW, "known": known}
    lonely = Sql(layout.add("breaches/chains/chain_bounds/lonely", yields=f"lonely_{part}", **values).relation)
    layout.add("breaches/chains/chain_bounds/passing", yields=f"passing_{part}", lonely=lonely, part=part, joins=joins)
    others = [number for number in layout.numbers if number != part]
    layout.add(
        "breaches/chains/chain_bounds/beside",
        yields=f"beside_{part}",
        passing=layout.relations[f"passing_{part}"],
        parts=others,
    )


def join_from(layout: StatementLayout, tree: JoinTree, start: int) -> list[tuple[int, Sql, int, tuple[str, ...]]]:
    """Return the joins that make tuples from one part on: part, its relation, the part before, what they share."""
    return [(part, layout.relations[f"degree_{part}"], before, shared) for part, before, shared in tree.walk(start)]


def _lay_out_cover(layout: StatementLayout, tree: JoinTree) -> None:
    """Write how many properties the views join to each id: from the properties back."""
    path = [] if layout.graph.together else tree.find_path(1, 2)
    joined = [*(shared for _, shared in path[1:]), ()]
    steps = [
        (layout.node(part), behind, [column for column in shared if column != "property"])
        for (part, shared), behind in zip(path, joined, strict=bool(path))
    ]
    values = {"first": layout.node(1), "shared": path[0][1] if path else (), "turns": len(path)}
    layout.add("breaches/chains/chain_bounds/cover", yields="cover", steps=steps[::-1], **values)
