"""What a query's hits say class by class: the sums of one x, of counts and of measured expressions.

Axes: L classes and the rest (groups that several classes share), V values. Columns come from the moments
(`evidence/hits`), by class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.class_systems import TOLERANCE, ClassSystems
from sqlanon.estimators.evidence import Array, IntArray

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Summand:
    """Say what x each hit counts: 1; 1 where the expression `number` is not NULL; that expression less `centre`."""

    number: int | None = None
    centre: float | None = None


@dataclass(frozen=True)
class ClassSums:
    """Hold sums of one x over hits, by class and the rest, L + 1 x V each.

    shared: sum over groups of x_g s_g(v), x_g the sum of x in g. uniform, square: sum over groups of x_g s_g(v)/|g|
    and of the same with x²: over all values they sum to those of x and x². count: the same of hits that count.
    """

    shared: Array
    uniform: Array
    square: Array
    count: Array

    @property
    def size(self) -> float:
        """Return κ, the root mean square of x over the hits."""
        rows, square = float(self.count.sum()), float(self.square.sum())
        return float(np.sqrt(square / rows)) if rows and square > 0 else 1.0


@dataclass(frozen=True)
class CentredOutcome:
    """Hold what the sums of one x over the hits of each group say, class by class.

    mean: x̄, L. variance: w, L. scores: b = sum s_g y_g with y_g = x_g - |g| x̄, L x V. size: κ.
    """

    mean: Array
    variance: Array
    scores: Array
    size: float


def centre_outcome(systems: ClassSystems, sums: ClassSums) -> CentredOutcome:
    """Return what a query's hits sum to (`sums`), centred by the mean of each of `systems`; the rest's stays out."""
    mean, square = sums.uniform[:-1].sum(axis=1) / systems.rows, sums.square[:-1].sum(axis=1) / systems.rows
    variance = square - mean**2
    variance[variance <= TOLERANCE * square] = 0.0
    scores = np.where(variance[:, None] > 0, sums.shared[:-1] - mean[:, None] * systems.size_products, 0.0)
    return CentredOutcome(mean, variance, scores, sums.size)


class HitSums:
    """Hold the lines of the moments of every cell and case, summed when a column is read; 0 where there is none.

    All columns of all cells at once would not fit in memory, and one x reads few of them.
    """

    def __init__(self, columns: Columns, place: IntArray, classes: int, values: int) -> None:
        """Take the lines (cell, case_number, code, sums), the place of each one's class (L: the rest's), L and V."""
        self._columns, self._place, self._shape = columns, place, (classes + 1, values)
        self._lines = _split_lines(columns)

    def sum_hits(self, cell: int, case: int, summand: Summand) -> ClassSums:
        """Return the sums of x, which `summand` names, over the hits of a cell and case; zeros where there are none."""
        number, centre = summand.number, summand.centre
        before, after = ("", "") if number is None else ("count_", f"_{number}")
        shared, count = (self._sum(f"{before}{name}{after}", cell, case) for name in ("shared", "uniform"))
        if centre is None:
            return ClassSums(shared, count, count, count)
        # Σ(e - c)² = Σe² - 2c Σe + c² Σ1
        total, square = (self._sum(f"{name}_uniform_{number}", cell, case) for name in ("sum", "square"))
        return ClassSums(
            self._sum(f"sum_shared_{number}", cell, case) - centre * shared,
            total - centre * count,
            square - 2 * centre * total + centre**2 * count,
            count,
        )

    def total_hits(self, cell: int, case: int, number: int | None, degree: int = 0) -> Array:
        """Return how many hits count, L + 1, or what they sum to (degree 1).

        number: of the measured expression of which those count that are not NULL; None: all count.
        """
        name = "uniform" if number is None else f"{('count', 'sum')[degree]}_uniform_{number}"
        return np.asarray(self._sum(name, cell, case).sum(axis=1))

    def _sum(self, name: str, cell: int, case: int) -> Array:
        """Return a column by class and value, L + 1 x V; NaN is NULL and adds nothing."""
        classes, values = self._shape
        lines = self._lines.get((cell, case), np.zeros(0, dtype=np.int64))
        place = self._place[lines] * values + self._columns["code"][lines].astype(np.int64)
        sums = np.bincount(place, np.nan_to_num(self._columns[name][lines].astype(float)), classes * values)
        return sums.reshape(self._shape).astype(float, copy=False)


def _split_lines(columns: Columns) -> dict[tuple[int, int], IntArray]:
    """Return the lines of each cell and case, in their order."""
    keys = np.stack([columns[name].astype(np.int64) for name in ("cell", "case_number")])
    order = np.lexsort(keys[::-1])
    ordered = keys[:, order]
    starts = np.flatnonzero((np.diff(ordered, prepend=-1) != 0).any(axis=0))
    parts = np.split(order, starts[1:])
    return {(int(ordered[0, start]), int(ordered[1, start])): part for start, part in zip(starts, parts, strict=False)}
