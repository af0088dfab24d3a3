"""What a query's hits say class by class: the sums of one x, of counts and of measured expressions.

Axes: L classes and the rest (groups that several classes share), V values. Columns come from the templates
`moment` and `scatter`, by class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.class_systems import TOLERANCE, ClassSystems
from sqlanon.estimators.evidence import Array, IntArray

ASSUMED_GROUPS = 2.0
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Summand:
    """Say what x each hit counts: 1; 1 where the expression `number` is not NULL; that expression less `centre`."""

    number: int | None = None
    centre: float | None = None


@dataclass(frozen=True)
class ClassSums:
    """Hold sums of one x over hits, by class and the rest.

    total, square: of x and x² over rows, L + 1. shared: sum over groups of x_g s_g(v), x_g the sum of x in g,
    L + 1 x V. sized: sum |g| x_g, L + 1. group_square: sum x_g², L + 1. uniform, uniform_square: sum over the rest's
    groups of x_g s_g(v)/|g| and of the same with x², V. rows: hits, L + 1.
    """

    total: Array
    square: Array
    shared: Array
    sized: Array
    group_square: Array
    uniform: Array
    uniform_square: Array
    rows: Array

    @property
    def size(self) -> float:
        """Return κ, the root mean square of x over the hits."""
        rows = self.rows.sum()
        return float(np.sqrt(self.square.sum() / rows)) if rows and self.square.sum() > 0 else 1.0


@dataclass(frozen=True)
class CentredOutcome:
    """Hold what the sums of one x over the hits of each group say, class by class.

    mean: x̄, L. variance: w, L. scatter: φ, by how much the sums of groups vary more than rows dealt at random make
    them, at least 1. scores: b = sum s_g y_g with y_g = x_g - |g| x̄, L x V. size: κ.
    """

    mean: Array
    variance: Array
    scatter: float
    scores: Array
    size: float


def centre_outcome(systems: ClassSystems, sums: ClassSums) -> CentredOutcome:
    """Return what a query's hits sum to (`sums`), centred by the mean of each of `systems`; the rest's stays out."""
    total, square, shared, sized, group_square = (
        array[:-1] for array in (sums.total, sums.square, sums.shared, sums.sized, sums.group_square)
    )
    mean = total / systems.rows
    variance = square / systems.rows - mean**2
    variance[variance <= TOLERANCE * square / systems.rows] = 0.0
    # Σ y_g² = Σ x_g² - 2 x̄ Σ|g| x_g + x̄² Σ|g|², of which rows dealt at random make w N (groups - 1)/groups. A class may
    # have two groups: only all classes together tell. ASSUMED_GROUPS more of each are as chance has them.
    squares = np.maximum(group_square - 2 * mean * sized + mean**2 * systems.size_squares, 0.0)
    expected = variance * systems.rows / systems.groups
    least = ASSUMED_GROUPS * expected.sum()
    chance = (expected * (systems.groups - 1)).sum()
    scatter = float((squares[variance > 0].sum() + least) / (chance + least)) if least > 0 else 1.0
    scores = np.where(variance[:, None] > 0, shared - mean[:, None] * systems.size_products, 0.0)
    return CentredOutcome(mean, variance, max(scatter, 1.0), scores, sums.size)


class HitSums:
    """Hold the sums of every cell and case, and put them together for one x."""

    def __init__(self, columns: "Mapping[tuple[int, int], LineColumns]", classes: int, values: int) -> None:
        """Take the columns of `moment` and `scatter` by cell and case, L and V."""
        self._columns = columns
        self._nothing = LineColumns({}, {}, (np.zeros(0, np.int64), np.zeros(0, np.int64)), (classes + 1, values))

    def sum_hits(self, cell: int, case: int, summand: Summand) -> ClassSums:
        """Return the sums of x, which `summand` names, over the hits of a cell and case; zeros where there are none."""
        if summand.number is None:
            return self._count(cell, case, ("row_count", "row_square", "row_sized"), ("shared", "uniform"))
        number = summand.number
        sums = self._count(
            cell,
            case,
            (f"value_count_{number}", f"count_square_{number}", f"count_sized_{number}"),
            (f"count_shared_{number}", f"count_uniform_{number}"),
        )
        return sums if summand.centre is None else self._centre(cell, case, number, summand.centre, sums)

    def total_hits(self, cell: int, case: int, number: int | None, degree: int = 0) -> Array:
        """Return how many hits count, L + 1, or what they sum to (degree 1).

        number: of the measured expression of which those count that are not NULL; None: all count.
        """
        name = "row_count" if number is None else f"value_{('count', 'sum')[degree]}_{number}"
        return self._read(cell, case).sum_classes(name)

    def _centre(self, cell: int, case: int, number: int, centre: float, sums: ClassSums) -> ClassSums:
        """Return the sums of x = e - c from those of e, e² and 1: Σ(e - c)² = Σe² - 2c Σe + c² Σ1."""
        read = self._read(cell, case)
        total, sized = read.sum_classes(f"value_sum_{number}"), read.sum_classes(f"sum_sized_{number}")
        square, group_square = read.sum_classes(f"square_sum_{number}"), read.sum_classes(f"sum_square_{number}")
        crossed, shared = read.sum_classes(f"sum_count_{number}"), read.sum_values(f"sum_shared_{number}")
        uniform, uniform_square = (read.sum_rest(f"{name}_uniform_{number}") for name in ("sum", "square"))
        return ClassSums(
            total=total - centre * sums.total,
            square=square - 2 * centre * total + centre**2 * sums.total,
            shared=shared - centre * sums.shared,
            sized=sized - centre * sums.sized,
            group_square=group_square - 2 * centre * crossed + centre**2 * sums.group_square,
            uniform=uniform - centre * sums.uniform,
            uniform_square=uniform_square - 2 * centre * uniform + centre**2 * sums.uniform,
            rows=sums.rows,
        )

    def _count(self, cell: int, case: int, vectors: tuple[str, str, str], matrices: tuple[str, str]) -> ClassSums:
        """Return the sums of an x that is 1 or 0, its own square: rows, group squares, sizes; shared, uniform."""
        read = self._read(cell, case)
        count, group_square, sized = map(read.sum_classes, vectors)
        shared, uniform = read.sum_values(matrices[0]), read.sum_rest(matrices[1])
        return ClassSums(
            total=count, square=count, shared=shared, sized=sized, group_square=group_square, uniform=uniform,
            uniform_square=uniform, rows=count,
        )  # fmt: skip

    def _read(self, cell: int, case: int) -> "LineColumns":
        """Return the columns of a cell and case; without lines where nothing was hit."""
        return self._columns.get((cell, case), self._nothing)


class LineColumns:
    """The lines of `moment` and `scatter` of one cell and case, summed when a column is read; 0 where there is none.

    All columns of all cells at once would not fit in memory, and one x reads few of them.
    """

    def __init__(self, moment: Columns, scatter: Columns, lines: tuple[IntArray, IntArray], shape: tuple[int, int]):
        """Take the columns of both, which of their lines are meant, and L + 1 and V."""
        self._moment, self._scatter, (self._moment_lines, self._scatter_lines) = moment, scatter, lines
        self._shape = shape
        self._place, self._code = (_take(moment, name, lines[0]).astype(np.int64) for name in ("place", "code"))

    def sum_values(self, name: str) -> Array:
        """Return the column `name` of `moment` by class and value, L + 1 x V."""
        classes, values = self._shape
        line, cell = _take(self._moment, name, self._moment_lines), self._place * values + self._code
        return np.bincount(cell, line, classes * values).reshape(self._shape).astype(float, copy=False)

    def sum_rest(self, name: str) -> Array:
        """Return the column `name` of `moment` by value over the groups of several classes, V."""
        rest = self._place == self._shape[0] - 1
        line = _take(self._moment, name, self._moment_lines[rest])
        return np.bincount(self._code[rest], line, self._shape[1]).astype(float, copy=False)

    def sum_classes(self, name: str) -> Array:
        """Return the column `name` of `scatter` by class, L + 1."""
        place = _take(self._scatter, "place", self._scatter_lines).astype(np.int64)
        line = _take(self._scatter, name, self._scatter_lines)
        return np.bincount(place, line, self._shape[0]).astype(float, copy=False)


def _take(columns: Columns, name: str, lines: IntArray) -> Array:
    """Return the numbers of a column on some lines, with 0 for NaN, which is NULL."""
    numbers = columns[name][lines].astype(float) if len(lines) else np.zeros(0)
    return np.where(np.isnan(numbers), 0.0, numbers)


def sums_of_columns(moment: Columns, scatter: Columns, classes: int, values: int) -> HitSums:
    """Return the lines of `moment` and `scatter`, with the `place` of a class (L: the rest's), by cell and case.

    classes, values: L and V.
    """
    moments, scatters = _split_lines(moment), _split_lines(scatter)
    shape = classes + 1, values
    lines = {key: (moments[key], scatter_lines) for key, scatter_lines in scatters.items()}
    return HitSums({key: LineColumns(moment, scatter, pair, shape) for key, pair in lines.items()}, classes, values)


def _split_lines(columns: Columns) -> dict[tuple[int, int], IntArray]:
    """Return the lines of each cell and case, in their order."""
    keys = np.stack([columns[name].astype(np.int64) for name in ("cell", "case_number")])
    order = np.lexsort(keys[::-1])
    ordered = keys[:, order]
    starts = np.flatnonzero((np.diff(ordered, prepend=-1) != 0).any(axis=0))
    parts = np.split(order, starts[1:])
    return {(int(ordered[0, start]), int(ordered[1, start])): part for start, part in zip(starts, parts, strict=False)}
