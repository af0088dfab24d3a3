"""What a query's hits say of counts and sums, as arrays: over all classes, and class by class.

Axes: C cells (combinations of quasi keys), K cases (sensitive values for which a condition over both sides reads the
same), V sensitive values, n selected values, J value sets (combinations of sensitive keys), L classes and the rest
(groups that several classes share).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Array, BoolArray, IntArray


@dataclass(frozen=True)
class SelectedValues:
    """Hold the values that a query's sensitive part selects: code, case and set of each, length n."""

    code: IntArray
    case: IntArray
    set: IntArray
    set_count: int

    @property
    def case_count(self) -> int:
        """Return K, one where no value is selected."""
        return int(self.case.max(initial=0)) + 1

    def narrow(self, chosen: BoolArray) -> "SelectedValues":
        """Return the selection of those values for which `chosen` (n) is true; its sets keep their numbers."""
        return SelectedValues(self.code[chosen], self.case[chosen], self.set[chosen], self.set_count)

    def cut(self, start: int, stop: int) -> tuple["SelectedValues", BoolArray]:
        """Return the values of the sets from `start` to below `stop`, numbered from 0, and which they are."""
        inside = (self.set >= start) & (self.set < stop)
        return replace(self.narrow(inside), set=self.set[inside] - start, set_count=stop - start), inside

    def join(self, other: "SelectedValues") -> "SelectedValues":
        """Return the values of both, one behind the other."""
        both = (
            np.concatenate([getattr(selection, name) for selection in (self, other)])
            for name in ("code", "case", "set")
        )
        code, case, value_set = both
        return SelectedValues(code, case, value_set, self.set_count)

    def repeat(self, times: int) -> "SelectedValues":
        """Return the values so many times, each time in sets of their own: set t J + j."""
        turn = np.arange(times).repeat(len(self.code))
        code, case, value_set = (np.tile(each, times) for each in (self.code, self.case, self.set))
        return SelectedValues(code, case, turn * self.set_count + value_set, times * self.set_count)

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs (set, case) that hold a value."""
        return sorted(set(zip(self.set.tolist(), self.case.tolist(), strict=True)))

    def gather(self, array: Array) -> Array:
        """Return from an array C x K x V what each selected value counts in its own case: C x n."""
        return np.asarray(array[:, self.case, self.code])

    def sum_by_set(self, gathered: Array, weights: Array) -> Array:
        """Return the sums of gathered (C x n) times weights (n) over each set: C x J."""
        sums = np.zeros((self.set_count, len(gathered)))
        np.add.at(sums, self.set, (gathered * weights).T)
        return sums.T

    def sum_by_case(self, gathered: Array, case_count: int) -> Array:
        """Return the sums of gathered (C x n) over each set and case: C x J x K; case_count: K."""
        sums = np.zeros((self.set_count, case_count, len(gathered)))
        np.add.at(sums, (self.set, self.case), gathered.T)
        return sums.transpose(2, 0, 1)

    def range_by_case(self, lows: Array, highs: Array, case_count: int) -> tuple[Array, Array]:
        """Return the least `lows` and largest `highs` (C x n, NaN skipped) by set and case: C x J x case_count."""
        shape = (self.set_count, case_count, len(lows))
        least, largest = np.full(shape, np.nan), np.full(shape, np.nan)
        np.fmin.at(least, (self.set, self.case), lows.T)
        np.fmax.at(largest, (self.set, self.case), highs.T)
        return least.transpose(2, 0, 1), largest.transpose(2, 0, 1)


def lay_out(lines: Mapping[str, NDArray[Any]], code: IntArray, shape: tuple[int, int, int]) -> dict[str, Array]:
    """Return the columns of the moment query's lines as arrays C x K x V (`shape`), by the `code` of each line."""
    place, columns = (*(lines[name].astype(np.int64) for name in ("cell", "case_number")), code), dict[str, Array]()
    for name, line in lines.items():
        kind = name.partition("_")[0]
        if kind in ("cell", "case", "code", "class", "flag", "bucket", "endless"):
            continue
        # NULL adds nothing to a sum, and is no value that could be the least or the largest.
        extreme = {"least": np.fmin, "largest": np.fmax}.get(kind)
        columns[name] = np.zeros(shape) if extreme is None else np.full(shape, np.nan)
        if extreme is None:
            np.add.at(columns[name], place, np.nan_to_num(line.astype(float)))
        else:
            extreme.at(columns[name], place, line.astype(float))
    return columns


@dataclass(frozen=True)
class Moments:
    """Hold the columns of the moment query as arrays C x K x V, and the release's totals f (V).

    everybody: whether the last of the values stands for all people of a group, who have several of the others.
    """

    columns: Mapping[str, Array]
    totals: Array
    everybody: bool = False

    @property
    def row_count(self) -> float:
        """Return N, the rows of the release."""
        return float(self.totals[-1] if self.everybody else self.totals.sum())

    def count(self, column: str) -> Array:
        """Return the rows of QIT that a `uniform` column counts, C x K: the sum of all values' estimates."""
        each = self.columns[column]
        return np.asarray(np.rint(each[:, :, -1] if self.everybody else each.sum(axis=2)))


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


class HitSums:
    """Hold the lines of the moments of every cell and case, summed when a column is read; 0 where there is none.

    All columns of all cells at once would not fit in memory, and one x reads few of them.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], place: IntArray, classes: int, values: int) -> None:
        """Take the lines (cell, case_number, code, sums), the place of each one's class (L: the rest's), L and V."""
        self._columns, self._place, self._shape = columns, place, (classes + 1, values)
        keys = np.stack([columns[name].astype(np.int64) for name in ("cell", "case_number")])
        order = np.lexsort(keys[::-1])
        ordered = keys[:, order]
        starts = np.flatnonzero((np.diff(ordered, prepend=-1) != 0).any(axis=0))
        parts = zip(starts, np.split(order, starts[1:]), strict=False)
        self._lines = {(int(ordered[0, start]), int(ordered[1, start])): part for start, part in parts}

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
