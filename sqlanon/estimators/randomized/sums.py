"""Aggregates of a randomized release as sums of w_v x_v, x_v the true figure of the hits that have value v.

Axes: C cells, K cases, V combinations of published values of the columns read, J asked sets, as in `moments`.
"""

from collections.abc import Sequence

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.channel import Array, Channel, Weighted
from sqlanon.estimators.moments import Moments, SelectedValues


class Sums:
    """Write aggregates as weights, and sum what is published, or solved by a channel, by them."""

    def __init__(self, moments: Moments, asked: SelectedValues, counts: Sequence[Array]) -> None:
        """Take moments (published figures under `uniform`), asked values, and the counts f' of each column read."""
        self.moments, self.asked, self.counts = moments, asked, counts
        self.rows = moments.count("uniform")
        self.case_count = self.rows.shape[1]
        mass = np.ones(1)
        for count in counts:
            mass = np.outer(mass, count / count.sum()).ravel()
        self.mass = mass  # how likely each combination is, by the published counts

    def of(self, asked: SelectedValues) -> "Sums":
        """Return the same sums of other asked values."""
        return Sums(self.moments, asked, self.counts)

    @property
    def set_count(self) -> int:
        """Return J."""
        return self.asked.set_count

    def weighted(self, degree: int, weights: Array) -> Weighted:
        """Return weights of the n asked values as J x V by case, less a base weight whose part of the answer is exact.

        degree: the power of the measured expression.
        """
        differences: dict[int, Array] = {}
        bases: dict[int, Array] = {}
        for case in range(self.case_count):
            inside = self.asked.case == case
            full = np.zeros((self.set_count, len(self.mass)))
            np.add.at(full, (self.asked.set[inside], self.asked.code[inside]), weights[inside])
            base = self._base(full, weights)
            differences[case], bases[case] = full - base[:, None], base
        return Weighted(degree, differences, bases)

    def _base(self, full: Array, weights: Array) -> Array:
        """Return the weight that is taken of every hit: that of most rows, or the mean of unequal weights."""
        if not self.counts:
            return full[:, 0]
        used = weights[weights != 0]
        if self.case_count > 1 or (len(used) and np.ptp(used) > 0):
            return np.asarray(full @ self.mass)
        return np.where((full != 0) @ self.mass > 0.5, used[0] if len(used) else 0.0, 0.0)

    def published(self, measured: LinearAggregate, degree: int, case: int) -> Array:
        """Return the published sums of the `degree`-th power of what is `measured` over the hits of a case, C x V."""
        return self.moments.columns[measured.column(degree, "uniform")][:, case]

    def summed(self, part: Weighted, measured: LinearAggregate, channel: Channel | None) -> Array:
        """Return base Φ + <w, x> of a `part` of `measured`, x solved by a channel (None: as published): C x J."""
        total = np.zeros((len(self.rows), self.set_count))
        for case, weights in part.weights.items():
            published = self.published(measured, part.degree, case)
            solved = published if channel is None else channel.solved(published)
            total += solved @ weights.T + published.sum(axis=1)[:, None] * part.base[case]
        return total
