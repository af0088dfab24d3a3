"""Join views that share different columns along a tree, so that tuples can be counted without joining them all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlanon.errors import DataError


@dataclass(frozen=True)
class Edge:
    """Two parts that are neighbours in the tree, by number from 1, and the columns that they share."""

    one: int
    other: int
    shared: tuple[str, ...]


@dataclass(frozen=True)
class JoinTree:
    """Parts as sets of columns, and edges such that the parts that hold any one column hang together.

    Counts can then be handed from neighbour to neighbour (M. Yannakakis: Algorithms for acyclic database schemes.
    VLDB 1981).
    """

    parts: tuple[tuple[str, ...], ...]
    edges: tuple[Edge, ...]

    def neighbours(self, part: int, but: int = 0) -> list[tuple[int, tuple[str, ...]]]:
        """Return a part's neighbours and what it shares with each, leaving one out."""
        ends = [(edge.other if edge.one == part else edge.one, edge.shared)
                for edge in self.edges if part in (edge.one, edge.other)]  # fmt: skip
        return [(end, shared) for end, shared in ends if end != but]

    def shared(self, part: int, other: int) -> tuple[str, ...]:
        """Return what two neighbours share."""
        return dict(self.neighbours(part))[other]

    def walk(self, start: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield every other part after the neighbour by which it is reached, with what the two share."""
        waiting = [(end, start, shared) for end, shared in self.neighbours(start)]
        while waiting:
            part, before, shared = waiting.pop(0)
            yield part, before, shared
            waiting += [(end, part, columns) for end, columns in self.neighbours(part, but=before)]

    def find_path(self, start: int, end: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return the parts behind `start` on the way to `end`, each with what it shares with the one before."""
        reached = {part: (before, shared) for part, before, shared in self.walk(start)}
        path: list[tuple[int, tuple[str, ...]]] = []
        while end != start:
            before, shared = reached[end]
            path.insert(0, (end, shared))
            end = before
        return path


def grow_tree(parts: Sequence[tuple[str, ...]]) -> JoinTree:
    """Join the parts by as many shared columns as possible; raise DataError where they close a ring."""
    pairs = [
        (len(set(columns) & set(other)), -number, -place, tuple(name for name in columns if name in other))
        for number, columns in enumerate(parts, start=1)
        for place, other in enumerate(parts, start=1)
        if place > number
    ]
    tree_of, edges = {number: number for number in range(1, len(parts) + 1)}, []
    for _, number, place, shared in sorted(pairs, reverse=True):
        first_tree, other = tree_of[-number], tree_of[-place]
        if first_tree != other:
            edges.append(Edge(-number, -place, shared))
            tree_of = {part: first_tree if tree == other else tree for part, tree in tree_of.items()}
    # A tree of the most shared columns joins the parts of every column, if any tree does.
    for column in {name for part in parts for name in part}:
        holding = sum(column in part for part in parts)
        if sum(column in edge.shared for edge in edges) != holding - 1:
            raise DataError(
                "these views share columns in a ring (A with B, B with C, C with A), and there are too many worlds to"
                " count one by one; leave a view out, or ask about fewer rows"
            )
    return JoinTree(tuple(parts), tuple(edges))
