"""Generalization hierarchies: a tree of values for one attribute, read from a table and checked.

Two forms, told apart by the number of columns: child and parent, or one column per level from the leaf to the
root (in such a file a value that is repeated to the right stands in for the levels that it lacks).
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlanon.errors import UsageError
from sqlanon.models.shapes import LONGEST_TEXT
from sqlanon.plans.plan import Row
from sqlanon.plans.templates import constant_table

MOST_LEVELS = 64
SHOWN = 10  # rows that a message names: their values are of the data
Edge = tuple[int, str, str]  # the row that says it, child, parent


@dataclass(frozen=True)
class Hierarchy:
    """A tree: each node's parent, and the inner nodes that are values of their own as well.

    column: the attribute. parents: child -> parent, the root left out. root: the one node without a parent.
    doubled: inner nodes that a cell may hold (a line of a level file begins with them twice).
    """

    column: str
    parents: Mapping[str, str]
    root: str
    doubled: frozenset[str] = frozenset()

    @cached_property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """Return every node's ancestors or self from below the root down: () for the root."""
        answer: dict[str, tuple[str, ...]] = {self.root: ()}
        for start in self.parents:
            way = [start]
            while way[-1] not in answer:
                way.append(self.parents[way[-1]])
            for above, below in itertools.pairwise(reversed(way)):
                answer[below] = (*answer[above], below)
        return answer

    @cached_property
    def height(self) -> int:
        """Return the number of steps from the root to the deepest leaf."""
        return max(map(len, self.paths.values()))

    @property
    def heights(self) -> dict[str, int]:
        """Return every node's number of steps down to its deepest leaf."""
        answer: dict[str, int] = {}
        for path in self.paths.values():
            for above, node in enumerate((self.root, *path)):
                answer[node] = max(answer.get(node, 0), len(path) - above)
        return answer

    @property
    def leaves(self) -> frozenset[str]:
        """Return the values that a cell may hold: nodes without children, and doubled ones."""
        return frozenset(self.paths).difference(self.parents.values()) | self.doubled

    @property
    def held_below(self) -> list[tuple[str, str]]:
        """Return every value that a cell may hold, with each node at or above it."""
        return [(value, node) for value in self.leaves for node in (self.root, *self.paths[value])]

    @property
    def level_names(self) -> tuple[str, ...]:
        """Return the names of the columns that hold a node's path."""
        return tuple(f"level_{number}" for number in range(1, self.height + 1))

    @cached_property
    def table(self) -> dict[str, object]:
        """Return the table of its nodes: node, its own height, whether a cell may hold it (held), how many values that
        cells may hold lie at or below it (held_below), and its path as level_1 …, NULL below itself.
        """
        nodes, leaves, heights = sorted(self.paths), self.leaves, self.heights
        below = Counter(node for _, node in self.held_below)
        filled = [(*self.paths[node], *(None,) * (self.height - len(self.paths[node]))) for node in nodes]
        required: dict[str, tuple[str, Sequence[object]]] = {
            "node": ("varchar", nodes),
            "height": ("integer", [heights[node] for node in nodes]),
            "held": ("integer", [int(node in leaves) for node in nodes]),
            "held_below": ("integer", [below[node] for node in nodes]),
        }
        return constant_table(required, dict(zip(self.level_names, zip(*filled, strict=True), strict=True)))

    @property
    def pairs(self) -> list[list[str]]:
        """Return child and parent of each edge, as a release says them; a doubled node is its own child too."""
        edges = {*self.parents.items(), *((node, node) for node in self.doubled)}
        return [list(edge) for edge in sorted(edges)]


def read_hierarchy(column: str, rows: Sequence[Row]) -> Hierarchy:
    """Check the rows of a file and make them a tree; raise UsageError where they are none, naming rows from 1 on."""
    where = f"the hierarchy of {column!r}"
    if not rows:
        raise UsageError(f"{where} has no rows; give child,parent rows, or a column per level from leaf to root")
    width = len(rows[0])
    if not 2 <= width <= MOST_LEVELS:
        raise UsageError(f"{where} has {width} columns; give two (child, parent), or one per level from leaf to root")
    lines = [tuple(row.values()) for row in rows]
    short = next((number for number, line in enumerate(lines, start=1) if None in line or "" in line), None)
    if short is not None:
        raise UsageError(f"row {short} of {where} has an empty cell; repeat a value where it lacks a level")
    long = next((number for number, line in enumerate(lines, start=1) if max(map(len, line)) > LONGEST_TEXT), None)
    if long is not None:
        raise UsageError(
            f"row {long} of {where} has a node of more than {LONGEST_TEXT:,} letters, and release.json, which says the"
            " hierarchy, takes no longer one; give it a shorter name, in the source as well"
        )
    if width == 2:
        return _tree(column, where, [(row, child, parent) for row, (child, parent) in enumerate(lines, start=1)], set())
    edges, doubled = _edges(lines)
    return _tree(column, where, edges, doubled)


def _edges(lines: Iterable[tuple[str, ...]]) -> tuple[list[Edge], set[str]]:
    """Take lines of levels apart into child and parent; a value repeated to the right is one node."""
    edges: list[Edge] = []
    repeated: set[str] = set()
    for row, line in enumerate(lines, start=1):
        if line[0] == line[1]:
            repeated.add(line[0])
        edges += [(row, child, parent) for child, parent in itertools.pairwise(line) if child != parent]
    inner = {parent for *_, parent in edges}
    return edges, repeated & inner


def _tree(column: str, where: str, edges: Sequence[Edge], doubled: set[str]) -> Hierarchy:
    parents: dict[str, str] = {}
    rows: dict[str, int] = {}  # that give a node its parent
    for row, child, parent in edges:
        if parents.setdefault(child, parent) != parent:
            raise UsageError(f"{where} gives a node two parents, in {_name_rows([rows[child], row])}")
        rows.setdefault(child, row)
    depths: dict[str, int] = {}
    for start in parents:
        node, way = start, dict[str, None]()
        while node in parents and node not in depths:
            if node in way:
                turn = [*way][[*way].index(node) :]
                raise UsageError(f"{where} goes in a circle, in {_name_rows([rows[each] for each in turn])}")
            way[node] = None
            node = parents[node]
        for depth, below in enumerate(reversed(way), start=depths.get(node, 0) + 1):
            depths[below] = depth
        if depths[start] > MOST_LEVELS:
            raise UsageError(f"{where} is more than {MOST_LEVELS} levels high; the most is {MOST_LEVELS}")
    roots = {parent: row for row, _, parent in reversed(edges) if parent not in parents}
    if len(roots) != 1:
        named = f", in {_name_rows(roots.values())}" if roots else ""
        raise UsageError(
            f"{where} has {len(roots)} roots{named}; every value leads to one root (the first line names columns)"
        )
    return Hierarchy(column, parents, next(iter(roots)), frozenset(doubled - set(roots)))


def _name_rows(rows: Iterable[int]) -> str:
    numbers = list(map(str, sorted(set(rows))))
    return f"row{'s' * (len(numbers) > 1)} {', '.join(numbers[:SHOWN])}"
