"""Count the worlds of the small pieces of a chain exactly, however large the chain is.

Pieces of one shape (`sql_templates/breach/pieces.sql.j2`) are counted once, by inclusion and exclusion over the sets U
of nodes that are left uncovered,

    worlds = Σ_U (-1)^|U| 2^(tuples that touch no node of U).
"""

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MOST_NODES = 18  # of a piece that is counted: 2^18 sets of nodes
MOST_WORK = 1 << 31  # sets of nodes times tuples, over all different pieces: some ten seconds


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
