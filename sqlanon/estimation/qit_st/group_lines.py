"""ST in memory, how often value v stands in group g, s_g(v): as lines, or as a matrix for whoever asks often."""

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Array

if TYPE_CHECKING:
    from scipy import sparse

    from sqlanon.engines.base import Numbers

MOST_LINES, MOST_DENSE = 4_000_000, 1_000_000_000  # lines, and multiplications, that take less time than loading scipy
ShortArray = NDArray[np.int32]
CHUNK = 1 << 16  # lines, or groups x values / 4, at once


class GroupLines:
    """Sum over the lines of ST, sorted by group and value. The matrix gives the same sums, to the last bit."""

    def __init__(self, lines: "Mapping[str, Numbers]", value_count: int) -> None:
        """Take group_id, code and occurrences of every line, and V."""
        self._group, self._code = (lines[name].astype(np.int32, copy=False) for name in ("group_id", "code"))
        self._count: Array = lines["occurrences"].astype(float, copy=False)
        self.shape = (int(self._group.max(initial=-1)) + 1, value_count)
        self.sizes: Array = np.asarray(np.bincount(self._group, self._count, self.shape[0]), dtype=float)  # |g|
        self._matrix: sparse.csr_array | None = None
        if len(self._count) > MOST_LINES or self.shape[0] * value_count**2 > MOST_DENSE:
            self.as_matrix()
        else:
            self._sort()

    def _sort(self) -> None:
        """Sort the lines as the matrix is; the database gives them in a few pieces that are sorted."""
        place = self._group * np.int32(self.shape[1]) + self._code
        if (place[1:] > place[:-1]).all():
            return
        order = np.argsort(place, kind="stable")
        place, count = place[order], self._count[order]
        if (place[1:] == place[:-1]).any():  # a group has a value twice
            begins = np.flatnonzero(np.diff(place, prepend=-1))
            order, count = order[begins], np.add.reduceat(count, begins)
        self._group, self._code, self._count = self._group[order], self._code[order], count

    def as_matrix(self) -> "sparse.csr_array":
        """Return groups x values as a sparse matrix; from now on all sums are made of it."""
        if self._matrix is None:
            from scipy import sparse  # slow to load

            self._matrix = sparse.csr_array((self._count, (self._group, self._code)), shape=self.shape)
            self._group = self._code = np.zeros(0, dtype=np.int32)
            self._count = np.zeros(0)
        return self._matrix

    def by_value(self, of_groups: Array) -> Array:
        """Return Σ_g x_g s_g(v), V, of numbers x by group."""
        if self._matrix is not None:
            return np.asarray(of_groups @ self._matrix)
        return self._sum(self._code, self.shape[1], of_groups, self._group)

    def by_group(self, of_values: Array) -> Array:
        """Return Σ_v s_g(v) x_v, k x G, of k rows x of numbers by value."""
        if self._matrix is not None:
            return np.asarray((self._matrix @ of_values.T).T)
        return np.stack([self._sum(self._group, self.shape[0], of_value, self._code) for of_value in of_values])

    def _sum(self, place: ShortArray, size: int, numbers: Array, number: ShortArray) -> Array:
        """Sum s_g(v) times a number by place, line after line: in chunks, for large arrays cost more than sums."""
        total = np.zeros(size)
        for start in range(0, len(place), CHUNK):
            some = slice(start, start + CHUNK)
            np.add.at(total, place[some], self._count[some] * numbers[number[some]])
        return total

    def normal(self) -> Array:
        """Return S = Σ_g s_g s_gᵀ, V x V; its numbers are whole, so that the order of the sum does not show."""
        if self._matrix is not None:
            return np.asarray((self._matrix.T @ self._matrix).toarray())
        groups, values = self.shape
        step = max(4 * CHUNK // max(values, 1), 1)
        total, dense = np.zeros((values, values)), np.zeros((min(step, groups), values))
        starts = np.arange(0, groups, step, dtype=self._group.dtype)
        edges = [*np.searchsorted(self._group, starts), len(self._group)]
        for start, (first, last) in zip(starts, itertools.pairwise(edges), strict=True):
            dense[:] = 0.0
            dense[self._group[first:last] - start, self._code[first:last]] = self._count[first:last]
            total += dense.T @ dense
        return total
