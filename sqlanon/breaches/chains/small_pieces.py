"""Count the worlds of the small pieces of a chain exactly, however large the chain is.

A piece is what hangs together by joining values: of the streets, doctors and so on that nodes tie together, each takes
the least number among its neighbours' a few times over; pieces that are not done by then are too large anyway. Pieces
of one shape are counted once, by inclusion and exclusion over the sets U of nodes that are left uncovered,

    worlds = Σ_U (-1)^|U| 2^(tuples that touch no node of U).
"""

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.breaches.chains import chain_bounds
from sqlanon.breaches.chains.join_tree import JoinTree
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.engines.base import Engine
from sqlanon.plans.templates import Sql

TURNS = 8  # numbers spread twice as far with each
MOST_NODES = 18  # of a piece that is counted: 2^18 sets of nodes
MOST_TUPLES = 200
MOST_SHAPES = 20_000  # different pieces, with different tuples of an association; the most frequent ones are counted
MOST_WORK = 1 << 31  # sets of nodes times tuples, over all different pieces: some ten seconds
MARGIN = 1e-15  # of the rounding of a share, and of products of shares


def lay_out_pieces(layout: StatementLayout, tree: JoinTree) -> None:
    """Write the pieces over the degrees that stand, and which tuples of theirs are an association's."""
    edges = list(enumerate(tree.edges, start=1))
    for number, edge in edges:
        values = {"node": layout.node(edge.one), "columns": edge.shared}
        layout.add("breaches/chains/small_pieces/link", yields=f"link_{number}", **values)
    hanging: list[tuple[int, Sql]] = []
    pairs: list[tuple[Sql, int, int]] = []
    for part in layout.numbers:
        links = [(number, layout.relations[f"link_{number}"], edge.shared)
                 for number, edge in edges if part in (edge.one, edge.other)]  # fmt: skip
        degree = layout.relations[f"degree_{part}"]
        hanging_statement = layout.add(
            "breaches/chains/small_pieces/hanging",
            yields=f"hanging_{part}",
            degree=degree,
            links=links,
            edges=len(edges),
        )
        hanging.append((part, Sql(hanging_statement.relation)))
        # a value that one node has alone is tied to itself
        pairs += [(Sql(hanging_statement.relation), 1, place) for place in range(1, len(links) + 1)]
    layout.add("breaches/chains/small_pieces/bond", yields="bond", pairs=pairs)
    label = Sql(layout.add("breaches/chains/small_pieces/label", yields="label_0").relation)
    for turn in range(1, TURNS + 1):
        label = Sql(layout.add("breaches/chains/small_pieces/spread", yields=f"label_{turn}", label=label).relation)
    ends = {"identifier_part": 1, "property_part": 1 if layout.graph.together else 2}
    limits = {"most_nodes": MOST_NODES, "most_tuples": MOST_TUPLES}
    layout.add("breaches/chains/small_pieces/piece", yields="piece", label=label, hanging=hanging, **ends, **limits)
    layout.add("breaches/chains/small_pieces/placed", yields="placed", label=label, hanging=hanging)
    joins = [(part, layout.relations[f"degree_{part}"], before, shared) for part, before, shared in tree.walk(1)]
    first = layout.relations["degree_1"]
    layout.add("breaches/chains/small_pieces/way", yields="way", first=first, joins=joins, parts=layout.numbers)
    layout.add("breaches/chains/small_pieces/held", yields="held", parts=layout.numbers)


def solve_pieces(layout: StatementLayout, engine: Engine) -> None:
    """Count the worlds of every different piece, and write what is exact by it."""
    cases = engine.frame(layout.render("breaches/chains/small_pieces/different_piece", most=MOST_SHAPES))
    engine.keep_frame(layout.name_relation("solved"), measure_cases(cases))
    layout.add("breaches/chains/small_pieces/exact", yields="exact", margin=MARGIN)


def lay_out_pieced_answer(layout: StatementLayout) -> None:
    """Write the answer: exact where pieces are counted, else the bounds."""
    layout.add("breaches/chains/small_pieces/answer", yields="breach", margin=chain_bounds.MARGIN)


def measure_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the cases (shape, own) with the share of worlds that hold none of an association's tuples, `absence`.

    shape: all tuples of a piece, as places of nodes with points between (`0.2.5,1.2.5`); own: those of the association.
    A share is rounded once. Cases are left out from where their work is more than MOST_WORK.
    """
    solved: list[tuple[str, str, float]] = []
    work_left = MOST_WORK
    for shape, group in cases.groupby("shape", sort=False):
        piece = Piece(str(shape))
        work_left -= piece.work * (1 + len(group))
        if work_left < 0:
            break
        solved += [(str(shape), tuples, piece.measure_absence(tuples)) for tuples in group["own"]]
    return pd.DataFrame(solved, columns=["shape", "own", "absence"]).astype(
        {"shape": "str", "own": "str", "absence": "float64"}
    )


class Piece:
    """A piece as its tuples tell it; its worlds are counted once for all associations in it."""

    def __init__(self, shape: str) -> None:
        """Read the tuples."""
        self.tuples = _read_masks(shape)
        self.size = max(mask.bit_length() for mask in self.tuples)

    @property
    def work(self) -> int:
        """Return how many sets of nodes are looked at, times tuples."""
        return len(self.tuples) << self.size

    @cached_property
    def _uncovered(self) -> NDArray[np.int64]:
        return np.arange(1 << self.size)

    @cached_property
    def _signs(self) -> NDArray[np.int64]:
        parity = self._uncovered.copy()
        for shift in (16, 8, 4, 2, 1):  # numpy counts bits from version 2 on
            parity ^= parity >> shift
        return 1 - 2 * (parity & 1)

    @cached_property
    def _free(self) -> NDArray[np.int64]:
        return _count_free(self.tuples, self._uncovered)

    @cached_property
    def worlds(self) -> int:
        """Count the sets of tuples that cover every node."""
        return _sum_powers(self._free, self._signs)

    def measure_absence(self, own: str) -> float:
        """Return the share of worlds that hold none of `own`."""
        free_of_own = _count_free(_read_masks(own), self._uncovered)
        return _sum_powers(self._free - free_of_own, self._signs) / self.worlds


def _read_masks(text: str) -> list[int]:
    """Return tuples as sets of nodes, a bit for each."""
    return [sum(1 << int(place) for place in places.split(".")) for places in text.split(",")]


def _count_free(tuples: list[int], uncovered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count, for each set of nodes, the tuples that touch none of it."""
    free = np.zeros(len(uncovered), dtype=np.int64)
    for mask in tuples:
        free += (uncovered & mask) == 0
    return free


def _sum_powers(exponents: NDArray[np.int64], signs: NDArray[np.int64]) -> int:
    """Return Σ sign * 2^exponent, exactly."""
    counts = np.bincount(exponents, weights=signs)
    return sum(int(count) << place for place, count in enumerate(counts) if count)
