"""Count the worlds of more than two views: no formula, so tuple by tuple, where they are few.

A world is a set of candidate tuples (those of the views' join) that covers every node of every part. Candidates
that share no node are independent; each connected piece is counted by the sets of nodes that its tuples cover.

Small pieces of a chain are counted exactly, however large the chain is. Those of one shape
(`sql_templates/breach/pieces.sql.j2`) are counted once, by inclusion and exclusion over the sets U of nodes that are
left uncovered,

    worlds = Σ_U (-1)^|U| 2^(tuples that touch no node of U).
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import prod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.breaches.chapters import ALONE

Row = Mapping[str, Hashable]
Node = tuple[Hashable, ...]  # the number of its part, from 0, and what tells it apart there
LARGEST_JOIN = 2_000
LARGEST_COUNT = 1 << 18  # different sets of covered nodes held at once
Measured = tuple[list[tuple[int, int]], int, Fraction, Fraction | None]
MOST_NODES = 18  # of a piece that is counted: 2^18 sets of nodes
MOST_WORK = 1 << 31  # sets of nodes times tuples, over all different pieces: some ten seconds


class TooManyWorldsError(Exception):
    """The worlds cannot be counted one by one; bounds of their shares may be found all the same."""


@dataclass(frozen=True)
class Candidate:
    """A tuple that a world may hold: its id and property, whether it matches the secret, the nodes it covers."""

    identifier: Hashable
    property: Hashable
    matches: bool
    nodes: tuple[Node, ...]

    def shows(self, identifier: Hashable, property_: Hashable) -> bool:
        """Tell whether a world that holds it shows the association."""
        return self.matches and self.identifier == identifier and self.property == property_

    def allows(self, identifier: Hashable, property_: Hashable) -> bool:
        """Tell whether a world that holds it may give the id this property only."""
        return self.identifier != identifier or self.property == property_


def join_candidates(rows: Sequence[Row], parts: Sequence[tuple[str, ...]]) -> list[Candidate]:
    """Join the views' rows, each part's columns given, match_1 … telling which rows match the secret there."""
    joined: list[dict[str, Hashable]] = [{}]
    for number, columns in _order_joins(parts):
        names = (*columns, f"match_{number}")
        shared = [name for name in columns if name in joined[0]] if joined else []
        nodes: dict[Node, dict[Node, None]] = defaultdict(dict)
        for row in rows:
            nodes[tuple(row[name] for name in shared)][tuple(row[name] for name in names)] = None
        grown = (
            row | dict(zip(names, node, strict=True))
            for row in joined
            for node in nodes[tuple(row[name] for name in shared)]
        )
        joined = list(islice(grown, LARGEST_JOIN + 1))
        if len(joined) > LARGEST_JOIN:
            raise TooManyWorldsError
    return [
        Candidate(
            row["identifier"],
            row["property"],
            all(row[f"match_{number}"] for number in range(1, len(parts) + 1)),
            tuple((number, *(row[name] for name in columns)) for number, columns in enumerate(parts)),
        )
        for row in joined
    ]


def _order_joins(parts: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the parts with their numbers, each behind those that it shares most columns with."""
    waiting, columns = dict(enumerate(parts, start=1)), set(parts[0])
    while waiting:
        number = max(waiting, key=lambda part: (len(columns & set(waiting[part])), -part))
        columns |= set(waiting[number])
        yield number, waiting.pop(number)


def split_pieces(tuples: Sequence[Candidate]) -> list[list[Candidate]]:
    """Split candidates into connected pieces: tuples that share a node belong together."""
    # Union and find: a node leads to another of its piece, and the last one stands for the piece.
    leader: dict[Node, Node] = {}

    def find_leader(node: Node) -> Node:
        while leader.setdefault(node, node) != node:
            node = leader[node]
        return node

    for candidate in tuples:
        first = find_leader(candidate.nodes[0])
        for node in candidate.nodes[1:]:
            leader[find_leader(node)] = first
    grouped: dict[Node, list[Candidate]] = defaultdict(list)
    for candidate in tuples:
        grouped[find_leader(candidate.nodes[0])].append(candidate)
    return list(grouped.values())


def count_covers(tuples: Iterable[Candidate], nodes: Iterable[Node]) -> int:
    """Count the sets of `tuples` that cover all `nodes`; raise TooManyWorldsError where they are too many to follow."""
    bits = {node: 1 << place for place, node in enumerate(dict.fromkeys(nodes))}
    # By the set of nodes covered so far, how many sets of tuples cover just these: each tuple is taken or not.
    counts: dict[int, int] = {0: 1}
    for candidate in tuples:
        mask = sum(bits[node] for node in set(candidate.nodes))
        for covered, count in list(counts.items()):
            counts[covered | mask] = counts.get(covered | mask, 0) + count
        if len(counts) > LARGEST_COUNT:
            raise TooManyWorldsError
    return counts.get((1 << len(bits)) - 1, 0)


def measure_associations(
    tuples: Sequence[Candidate], pairs: Iterable[tuple[Hashable, Hashable]], sides: tuple[int, int] = (0, 1)
) -> Iterator[Measured]:
    """Yield what the worlds tell of each association: P = 1 - Π (share of worlds without it) over pieces.

    pairs: id and property of each. sides: the parts whose nodes are counted as m and n. Yields the sizes of its pieces,
    its cover, and its probability in both models; the restricted one is None where no world fits that model.
    """
    pieces = [
        (piece, nodes, count_covers(piece, nodes))  # worlds are counted once
        for piece in split_pieces(tuples)
        for nodes in [{node for c in piece for node in c.nodes}]
    ]
    for identifier, property_ in pairs:
        cover = {c.property for c in tuples if c.identifier == identifier}
        sizes, absent = [], Fraction(1)
        for piece, nodes, worlds in pieces:
            rest = [c for c in piece if not c.shows(identifier, property_)]
            if len(rest) < len(piece):
                m, n = (sum(node[0] == side for node in nodes) for side in sides)
                sizes.append((m, n))
                absent *= Fraction(count_covers(rest, nodes), worlds)
        # of the worlds that give the id one property: how many give it another one only, or show nothing of this one
        own = [(piece, nodes) for piece, nodes, _ in pieces if any(c.identifier == identifier for c in piece)]
        singles = {
            other: prod(count_covers([c for c in piece if c.allows(identifier, other)], nodes) for piece, nodes in own)
            for other in {*cover, property_}
        }
        hidden = prod(
            count_covers(
                [c for c in piece if c.allows(identifier, property_) and not c.shows(identifier, property_)], nodes
            )
            for piece, nodes in own
        )
        total = sum(singles[other] for other in cover)
        yield sizes, len(cover), 1 - absent, Fraction(singles[property_] - hidden, total) if total else None


def enumerate_associations(
    rows: Sequence[Row], associations: Sequence[Row], parts: Sequence[tuple[str, ...]], together: bool, restricted: bool
) -> pd.DataFrame:
    """Write down the worlds of views over these rows; return what they tell of each association, by its number.

    together: whether one view shows id and property. Raises TooManyWorldsError where there are too many.
    """
    pairs = [(row["identifier"], row["property"]) for row in associations]
    measured = measure_associations(join_candidates(rows, parts), pairs, (0, 0 if together else 1))
    lines = []
    for row, (sizes, cover, unrestricted, single) in zip(associations, measured, strict=True):
        reason = ALONE if restricted and single is None else None
        share = single if restricted and single is not None else unrestricted
        m, n = (", ".join(str(pair[side]) for pair in sizes) for side in (0, 1))
        # A Fraction is exact: only its conversion to a double rounds, by half a unit in the last place.
        lines.append((row["number"], m, n, cover, float(share), float(share) * 2.0**-53, reason))
    columns = ["number", "m", "n", "cover", "probability", "error_bound", "note"]
    return pd.DataFrame(lines, columns=columns).astype({"m": "str", "n": "str", "note": "object"})


def measure_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the cases (shape, own) with the share of worlds that hold none of an association's tuples, `absence`.

    shape: all tuples of a piece, as places of nodes with points between (`0.2.5,1.2.5`); own: those of the association.
    A share is rounded once. Cases are left out from where their work is more than MOST_WORK.
    """
    solved: list[tuple[str, str, float]] = []
    work_left = MOST_WORK
    for shape, group in cases.groupby("shape", sort=False):
        tuples = _read_masks(str(shape))
        size = max(mask.bit_length() for mask in tuples)
        work_left -= (len(tuples) << size) * (1 + len(group))
        if work_left < 0:
            break
        uncovered = np.arange(1 << size)
        parity = uncovered.copy()
        for shift in (16, 8, 4, 2, 1):  # numpy counts bits from version 2 on
            parity ^= parity >> shift
        signs, free = 1 - 2 * (parity & 1), _count_free(tuples, uncovered)
        worlds = _sum_powers(free, signs)  # the sets of tuples that cover every node, for all associations in the piece
        for own in group["own"]:
            free_of_own = _count_free(_read_masks(own), uncovered)
            solved.append((str(shape), own, _sum_powers(free - free_of_own, signs) / worlds))
    return pd.DataFrame(solved, columns=["shape", "own", "absence"]).astype(
        {"shape": "str", "own": "str", "absence": "float64"}
    )


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
