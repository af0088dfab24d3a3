"""Count the worlds of the small pieces of a chain exactly, however large the chain is.

Pieces of one shape (`sql_templates/breach/pieces.sql.j2`) are counted once, by inclusion and exclusion over the sets U
of nodes that are left uncovered,

    worlds = Σ_U (-1)^|U| 2^(tuples that touch no node of U).
"""

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
