"""Greedy k-member clustering (Byun, Kamra, Bertino and Li, 2007), slowly and obviously, with its objective.

A cluster begins with the row farthest from the last one and takes, one by one, the row that widens it least; rows
that are left over go where they cost least. What a cluster costs is its rows times its largest distance.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Attribute:
    """A quasi attribute: its importance, and what values are apart: a share of a span, of a tree, or 0 or 1."""

    importance: float
    span: float | None = None
    parents: Mapping[str, str] | None = None

    @cached_property
    def heights(self) -> dict[str, int]:
        """Return every node's number of steps down to its deepest leaf."""
        found: dict[str, int] = {}
        for start in {*self.parents, *self.parents.values()}:
            for height, node in enumerate(self.ancestors(start)):
                found[node] = max(found.get(node, 0), height)
        return found

    def ancestors(self, node: str) -> list[str]:
        """Return a node and its ancestors, the root last."""
        way = [node]
        while way[-1] in self.parents:
            way.append(self.parents[way[-1]])
        return way

    def apart(self, left: Any, right: Any) -> float:
        """Return how far two values are apart, from 0 to 1; nothing is like nothing, and unlike everything else."""
        if left == right:
            return 0
        if left is None or right is None:
            return 1
        if self.span is not None:
            return abs(left - right) / self.span
        if self.parents is not None:
            below = self.ancestors(left)
            common = next(node for node in self.ancestors(right) if node in below)
            return self.heights[common] / max(self.heights.values())
        return 1


def distances(rows: Sequence[Sequence[Any]], attributes: Sequence[Attribute]) -> np.ndarray:
    """Return the distances of all pairs of rows: the mean of what they differ by, weighed by importance."""
    matrix = np.zeros((len(rows), len(rows)))
    for place, attribute in enumerate(attributes):
        values = list({row[place]: None for row in rows})
        table = np.array([[attribute.apart(left, right) for right in values] for left in values])
        held = [values.index(row[place]) for row in rows]
        matrix += attribute.importance * table[np.ix_(held, held)]
    return matrix / sum(attribute.importance for attribute in attributes)


def cost(matrix: np.ndarray, cluster: Sequence[int]) -> float:
    """Return |e| times the largest distance in e."""
    return len(cluster) * matrix[np.ix_(cluster, cluster)].max()


def objective(matrix: np.ndarray, clusters: Sequence[Sequence[int]]) -> float:
    """Return (1/m) sum |e| * (largest distance in e)."""
    return sum(cost(matrix, cluster) for cluster in clusters) / len(clusters)


def greedy(matrix: np.ndarray, k: int, first: int = 0) -> list[list[int]]:
    """Return clusters of at least `k` rows; `first` is where the search for the first member starts."""
    left, last = set(range(len(matrix))), first
    clusters: list[list[int]] = []
    while len(left) >= k:
        last = max(left, key=lambda row: (matrix[last, row], -row))
        cluster = [last]
        left.discard(last)
        while len(cluster) < k:
            waiting = sorted(left)
            last = waiting[int(matrix[np.ix_(waiting, cluster)].max(axis=1).argmin())]
            cluster.append(last)
            left.discard(last)
        clusters.append(cluster)
    for row in sorted(left):
        costs = [cost(matrix, [*cluster, row]) - cost(matrix, cluster) for cluster in clusters]
        clusters[int(np.argmin(costs))].append(row)
    return clusters


def diverse(sets: Sequence[frozenset[Any]], grave: Collection[Any], l: int) -> bool:
    """Return whether rows with these sets of sensitive values may be a cluster of BK(L,K)-clustering."""
    held = frozenset().union(*sets)
    return not held & frozenset(grave) or (len(held) >= l and len(set(sets)) > 1)


def merged(
    matrix: np.ndarray, clusters: Sequence[Sequence[int]], passes: Callable[[Sequence[int]], bool]
) -> list[list[int]]:
    """Return the clusters after each that fails went, one by one, where it passes and costs least."""
    kept = [list(cluster) for cluster in clusters]
    while failing := next((cluster for cluster in kept if not passes(cluster)), None):
        kept.remove(failing)
        hosts = [cluster for cluster in kept if passes(cluster + failing)]
        host = min(hosts, key=lambda cluster: cost(matrix, cluster + failing) - cost(matrix, cluster))
        host += failing
    return kept
