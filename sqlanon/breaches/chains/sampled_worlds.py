"""Draw worlds of a chain where they are too many to be counted: what they leave uncovered, between two bounds.

A world takes each joined tuple or leaves it out, so that every node is covered. One tuple drawn anew (taken where it
alone covers a node, else by a fair coin) leaves the even distribution over worlds as it is; and the more tuples are
taken, the fewer are needed. So two sets of tuples are kept, one that any world holds whatever it was some sweeps ago,
and one that holds any such world (M. Huber: Perfect sampling using bounding chains. Annals of Applied Probability 14,
2004). What the two do not agree on counts for both sides of an interval; nothing need have converged, and tuples that
are not known at all may be anything.

With A an association's k tuples and q the share of worlds whose other tuples leave a node of A's uncovered,

    P = 1 - 2^-k (1 - q).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

WORD = 64  # worlds side by side in one whole number
SWEEPS = 12
SURE = 48  # so many tuples that are not known: all are left out in at most 2^-48 of the worlds

CONFIDENCE = 0.99

Bits = NDArray[np.uint64]
Others = tuple[NDArray[np.int64], bool]
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Patch:
    """Tuples of a chain as the nodes that they join, a row each, and how many tuples go through each node in all."""

    tuples: NDArray[np.int64]
    degrees: Mapping[int, int]

    @cached_property
    def known(self) -> dict[int, list[int]]:
        """Return the tuples through each node, by their rows, without nodes that others are sure to cover."""
        through: dict[int, list[int]] = {}
        for number, nodes in enumerate(self.tuples.tolist()):
            for node in nodes:
                through.setdefault(node, []).append(number)
        return {node: known for node, known in through.items() if self.degrees[node] - len(known) < SURE}

    def find_others(self, own: Collection[int]) -> list[Others]:
        """Return for each node of the tuples `own` the other ones that are known, and whether there are no more."""
        touched = sorted({node for number in own for node in self.tuples[number].tolist()} & self.known.keys())
        return [
            (
                np.array([number for number in self.known[node] if number not in own], dtype=np.int64),
                len(self.known[node]) == self.degrees[node],
            )
            for node in touched
        ]


class SampledWorlds:
    """Worlds of one patch, a bit for each: `least` says which are sure to take a tuple, `most` which may."""

    def __init__(self, patch: Patch, words: int, random: np.random.BitGenerator) -> None:
        """Draw 64 * words worlds; the work grows with the tuples, those beside each, and the words."""
        self.patch, self.count = patch, WORD * words
        shape = (len(patch.tuples), words)
        self.least, self.most = np.zeros(shape, dtype=np.uint64), np.full(shape, _ALL)
        self._all = np.full(words, _ALL)
        others = [patch.find_others({number}) for number in range(len(patch.tuples))]
        for _ in range(SWEEPS):
            coins = random.random_raw(shape)  # whose numbers no version of numpy changes
            for number, beside in enumerate(others):
                covered, perhaps = self._find_covered(beside)
                # needed in every world where it is needed in the largest, and in none where not in the smallest
                self.least[number] = coins[number] | ~perhaps
                self.most[number] = coins[number] | ~covered

    def count_uncovered(self, own: Collection[int]) -> tuple[int, int]:
        """Count the worlds whose tuples without `own` leave a node of these uncovered: those that do, and may."""
        covered, perhaps = self._find_covered(self.patch.find_others(own))
        return self.count - _count_bits(perhaps), self.count - _count_bits(covered)

    def bound_probability(self, own: Collection[int]) -> tuple[float, float]:
        """Return an interval that holds the probability of the association of the tuples `own`, with CONFIDENCE."""
        low, high = bound_share(*self.count_uncovered(own), self.count)
        none = 2.0 ** -len(own)
        return 1 - none * (1 - low), 1 - none * (1 - high)

    def _find_covered(self, beside: Sequence[Others]) -> tuple[Bits, Bits]:
        """Return the worlds in which other tuples are sure to cover every node, and those in which they may."""
        covered, perhaps = self._all.copy(), self._all.copy()
        for others, are_all in beside:
            covered &= np.bitwise_or.reduce(self.least[others], axis=0)
            if are_all:
                perhaps &= np.bitwise_or.reduce(self.most[others], axis=0)
        return covered, perhaps


def bound_share(least: int, most: int, count: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share of which `least` to `most` of `count` draws were seen."""
    from scipy.special import betaincinv  # slow to load, and few analyses draw

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(least, count - least + 1, tail)) if least else 0.0
    high = float(betaincinv(most + 1, count - most, 1 - tail)) if most < count else 1.0
    return low, high


def _count_bits(worlds: Bits) -> int:
    return int(np.unpackbits(worlds.view(np.uint8)).sum())
