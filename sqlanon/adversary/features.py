"""What an adversary may look at: quasi columns, coarser by quantiles where they are fine, and pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

BINS = 8  # quantiles of a column of numbers or dates
FINE = 15  # different values, from which on a column is looked at by quantiles too
MOST_LEVELS = 600  # of a feature: more are looked at by quantiles alone, or, of a pair, not at all
LEAST_PEOPLE = 8  # of a pair's median level: with fewer, next to nothing is learned of it


@dataclass(frozen=True)
class Feature:
    """One or two quasi columns. levels: N, everybody's level, from 0 to size - 1. columns: their places.

    by_quantiles: whether each is looked at by quantiles.
    """

    columns: tuple[int, ...]
    by_quantiles: tuple[bool, ...]
    levels: Whole
    size: int

    @property
    def parts(self) -> list[tuple[int, bool]]:
        """Return each column with whether it is looked at by quantiles."""
        return list(zip(self.columns, self.by_quantiles, strict=True))

    def named(self, names: Sequence[str]) -> str:
        """Say what it is: `year`, `hospital with ward`."""
        return " with ".join(names[column] for column in self.columns)

    def pick(self, people: "Whole | NDArray[np.bool_]") -> "Feature":
        """Return the feature of some people."""
        return Feature(self.columns, self.by_quantiles, self.levels[people], self.size)


def find_features(ranks: Whole, ordered: Sequence[bool], people: NDArray[np.float64]) -> list[Feature]:
    """Return the features of N people with K columns: single ones, then pairs.

    ranks: N x K, the number of each value in the column's order, from 0. ordered: K, whether neighbours are alike.
    people: N, how many each line stands for.
    """
    single: list[Feature] = []
    best: list[list[Feature]] = []
    for column, is_ordered in enumerate(ordered):
        levels = ranks[:, column]
        count = int(levels.max(initial=0)) + 1
        forms = [Feature((column,), (False,), levels, count)] if 1 < count <= MOST_LEVELS else []
        if count > FINE and (is_ordered or count > MOST_LEVELS):
            coarse = _by_quantiles(levels, people)
            forms.append(Feature((column,), (True,), coarse, int(coarse.max()) + 1))
        single += forms
        best.append(forms)
    joint = []
    for one, other in combinations(range(len(ordered)), 2):
        # the finest that is not too fine
        tried = ((first, second) for first in best[one] for second in best[other])
        pair = next((joined for first, second in tried if (joined := _join(first, second, people))), None)
        joint += [pair] if pair else []
    return single + joint


def _by_quantiles(levels: Whole, people: NDArray[np.float64]) -> Whole:
    held = np.bincount(levels, weights=people)
    place = np.floor(BINS * (np.cumsum(held) - held / 2) / held.sum()).astype(np.int64)
    return np.unique(place, return_inverse=True)[1].ravel()[levels]


def _join(first: Feature, second: Feature, people: NDArray[np.float64]) -> Feature | None:
    product, levels = np.unique(first.levels * second.size + second.levels, return_inverse=True)
    if len(product) > MOST_LEVELS or np.median(np.bincount(levels.ravel(), weights=people)) < LEAST_PEOPLE:
        return None
    columns, by_quantiles = first.columns + second.columns, first.by_quantiles + second.by_quantiles
    return Feature(columns, by_quantiles, levels.ravel(), len(product))
