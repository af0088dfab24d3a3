"""From moments to evidence: what the groups that a query hits say of one aggregate. Arrays only, no engine.

Axes: C cells (combinations of quasi keys), K cases (values that a mixed condition does not tell apart),
V sensitive values, n asked values, J asked sets (combinations of sensitive keys).
A row of value v counts x in its case; over the rows of v its mean is p_v. Every aggregate is a sum over the
asked v of w_v f_v p_v, or the ratio of two such sums.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Evidence
from sqlanon.estimators.moments import Array, LinearAggregate, Moments, SelectedValues, bound_answer, is_empty


class Inference:
    """Turn the moments of one query into evidence, aggregate by aggregate: here by the uniform estimate alone.

    reachable: which asked sets have another answer, J. upper_bound: whether a standard error is only a bound.
    """

    def __init__(self, moments: Moments, asked: SelectedValues) -> None:
        """Take moments and asked values."""
        self.moments, self.asked = moments, asked
        self.rows = moments.count("uniform")
        self.everyone = self.rows == moments.row_count
        self.case_count = self.rows.shape[1]
        self.reachable = np.ones(asked.set_count, dtype=bool)
        self.upper_bound = False

    def evidence(self, measured: LinearAggregate) -> Evidence:
        """Return what is known of one aggregate, C x J."""
        least, most = bound_answer(self.moments, self.asked, measured)
        uniform = self._ratio([self._uniform(measured, part) for part in measured.parts()])
        uniform = np.clip(uniform, np.fmax(least, -np.inf), np.fmin(most, np.inf))
        solved, error, growth, curve = self._solved(measured)
        exact = self._exact(measured) | (least == most)
        solved, error = np.where(exact, uniform, solved), np.where(exact, 0.0, error)
        gone = is_empty(self.moments, self.asked, measured) & (measured.function != "count")
        uniform, solved, error, least, most = (
            np.where(gone, np.nan, array) for array in (uniform, solved, error, least, most)
        )
        growth, curve = (np.where(exact | gone, 0.0, array) for array in (growth, curve))
        less, more = (np.where(exact | gone, 0.0, array) for array in self._left_out(measured, solved))
        return Evidence(uniform, solved, error, least, most, exact & ~gone, growth, curve, less=less, more=more)

    def _exact(self, measured: LinearAggregate) -> NDArray[np.bool_]:
        """Tell where the release settles the answer: every value asked alike, or every row hit (or none)."""
        alike = np.array([self._whole(measured, chosen) for chosen in range(self.asked.set_count)], dtype=bool)
        shape = (len(self.rows), self.asked.set_count)
        exact = np.broadcast_to(alike, shape)
        if measured.number is not None:
            return exact
        settled = np.ones(shape, dtype=bool)
        for chosen, case in self.asked.combos():
            settled[:, chosen] &= self.everyone[:, case] | (self.rows[:, case] == 0)
        return exact | settled

    def _whole(self, measured: LinearAggregate, chosen: int) -> bool:
        inside = self.asked.set == chosen
        return bool(
            inside.sum() == len(self.moments.totals)
            and np.ptp(self.asked.case[inside]) == 0
            and np.ptp(measured.weights[inside]) == 0
            and np.ptp(measured.present[inside]) == 0
        )

    def _solved(self, measured: LinearAggregate) -> tuple[Array, Array, Array, Array]:
        """Return value, standard error, and the growth and curve of the variance of a ratio, C x J; NaN: none."""
        shape = (len(self.rows), self.asked.set_count)
        return np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape), np.zeros(shape)

    def _left_out(self, measured: LinearAggregate, value: Array) -> tuple[Array, Array]:
        """Return by how much rows that the release leaves out may move the answer down and up, C x J."""
        return np.zeros_like(value), np.zeros_like(value)

    def _uniform(self, measured: LinearAggregate, part: tuple[int, Array]) -> Array:
        degree, weights = part
        column = self.moments.columns[measured.column(degree, "uniform")]
        found = self.asked.sum_by_set(self.asked.gathered(column), weights)
        return np.where(np.isclose(found, np.rint(found), rtol=1e-13, atol=1e-9), np.rint(found), found)

    @staticmethod
    def _ratio(parts: Sequence[Array]) -> Array:
        if len(parts) == 1:
            return parts[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(parts[1] > 0, parts[0] / parts[1], np.nan)
