"""Clusters that are cut anew with their neighbours, slowly and obviously, one pair at a time."""

from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np

from tests.oracles.k_member import Attribute

WHOLE = 10**9
GAINLESS_PARTS = 3
STOOD = 2  # cuts after which a cluster is left in peace


def whole_distances(rows: Sequence[Sequence[Any]], attributes: Sequence[Attribute]) -> np.ndarray:
    """Return the distances of all pairs of rows in billionths, the attributes' shares rounded down."""
    total = sum(attribute.importance for attribute in attributes)
    matrix = np.zeros((len(rows), len(rows)), dtype=np.int64)
    for place, attribute in enumerate(attributes):
        share = floor(attribute.importance / total * WHOLE)
        values = [row[place] for row in rows]
        if attribute.span is None:
            height = max(attribute.heights.values()) if attribute.parents is not None else 1
            apart = [[share * round(attribute.apart(a, b) * height) // height for b in values] for a in values]
        else:
            least = min((value for value in values if value is not None), default=0)
            points = [None if value is None else _point(value - least, attribute.span, share) for value in values]
            apart = [[_between(a, b, share) for b in points] for a in points]
        matrix += np.array(apart, dtype=np.int64)
    return matrix


def _point(beyond: float, span: float, share: int) -> int:
    return floor(beyond / span * share + 0.5) if span else 0


def _between(left: int | None, right: int | None, share: int) -> int:
    if left is None or right is None:
        return 0 if left is right else share
    return abs(left - right)


def cut_anew(matrix: np.ndarray, order: Sequence[int], k: int, turns: int) -> list[list[int]]:
    """Return the clusters of rows in `order` after some turns: each with the next one, then with the one before.

    A pair of which neither was cut anew since it was looked at stays, as does one that costs no more than a third of
    the mean.
    """
    clusters = [list(order[first : first + k]) for first in range(0, len(order) // k * k, k)]
    clusters[-1] += order[len(order) // k * k :]
    position = {row: number for number, row in enumerate(order)}
    ages = [0] * len(clusters)
    for _ in range(turns):
        for first in (0, 1):
            pairs = [slice(place, place + 2) for place in range(first, len(clusters) - 1, 2)]
            costs = [_cost(matrix, clusters[pair]) for pair in pairs]
            before, ages = ages, [min(age + 1, STOOD) for age in ages]
            for pair, cost in zip(pairs, costs, strict=True):
                if min(before[pair]) == STOOD or cost * GAINLESS_PARTS <= sum(costs) // len(costs):
                    continue
                anew = _cut(matrix, clusters[pair], k, position)
                if anew != clusters[pair]:
                    clusters[pair], ages[pair] = anew, [0, 0]
    return clusters


def _cut(matrix: np.ndarray, pair: list[list[int]], k: int, position: dict[int, int]) -> list[list[int]]:
    one, other = max((_tips(matrix, cluster) for cluster in pair), key=lambda tips: matrix[tips])
    line = sorted(pair[0] + pair[1], key=lambda row: (matrix[row, one] - matrix[row, other], position[row]))
    anew = [line[:k], line[k:]]
    return anew if _cost(matrix, anew) < _cost(matrix, pair) else pair


def _tips(matrix: np.ndarray, cluster: Sequence[int]) -> tuple[int, int]:
    """Return two rows that are farthest apart: the first of several pairs."""
    pairs = [(a, b) for number, a in enumerate(cluster) for b in cluster[number + 1 :]]
    return max(pairs, key=lambda pair: matrix[pair])


def _cost(matrix: np.ndarray, clusters: Sequence[Sequence[int]]) -> int:
    return sum(len(cluster) * int(matrix[np.ix_(cluster, cluster)].max()) for cluster in clusters)
