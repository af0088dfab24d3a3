"""What a query's hits say class by class: the sums of one x, of counts and of measured expressions.

Axes: L classes and the rest (groups that several classes share), V values. Frames come from the templates `moment`
and `scatter`, by class.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sqlanon.estimators.class_systems import TOLERANCE, ClassSystems
from sqlanon.estimators.evidence import Array, IntArray

ASSUMED_GROUPS = 2.0
Columns = dict[str, Array]


@dataclass(frozen=True)
class Summand:
    """Say what x each hit counts: 1; 1 where the expression `number` is not NULL; that expression less `centre`."""

    number: int | None = None
    centre: float | None = None


@dataclass(frozen=True)
class ClassSums:
    """Hold sums of one x over hits, by class and the rest.

    total, square: of x and x² over rows, L + 1. shared: sum over groups of x_g s_g(v), x_g the sum of x in g,
    L + 1 x V. sized: sum |g| x_g, L + 1. group_square: sum x_g², L + 1. uniform, uniform_square: sum over groups of
    x_g s_g(v)/|g| and of the same with x², L + 1 x V. rows: hits, L + 1.
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

    def __init__(self, columns: "Mapping[tuple[int, int], Columns | FrameColumns]", classes: int, values: int) -> None:
        """Take, by cell and case, the columns of `moment` (L + 1 x V) and `scatter` (L + 1)."""
        self._columns, self._empty = columns, (np.zeros((classes + 1, values)), np.zeros(classes + 1))

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

    def _centre(self, cell: int, case: int, number: int, centre: float, sums: ClassSums) -> ClassSums:
        """Return the sums of x = e - c from those of e, e² and 1: Σ(e - c)² = Σe² - 2c Σe + c² Σ1."""
        vector, matrix = self._read(cell, case)
        total, sized = vector(f"value_sum_{number}"), vector(f"sum_sized_{number}")
        uniform = matrix(f"sum_uniform_{number}")
        square, group_square = vector(f"square_sum_{number}"), vector(f"sum_square_{number}")
        crossed, uniform_square = vector(f"sum_count_{number}"), matrix(f"square_uniform_{number}")
        return ClassSums(
            total=total - centre * sums.total,
            square=square - 2 * centre * total + centre**2 * sums.total,
            shared=matrix(f"sum_shared_{number}") - centre * sums.shared,
            sized=sized - centre * sums.sized,
            group_square=group_square - 2 * centre * crossed + centre**2 * sums.group_square,
            uniform=uniform - centre * sums.uniform,
            uniform_square=uniform_square - 2 * centre * uniform + centre**2 * sums.uniform,
            rows=sums.rows,
        )

    def _count(self, cell: int, case: int, vectors: tuple[str, str, str], matrices: tuple[str, str]) -> ClassSums:
        """Return the sums of an x that is 1 or 0, its own square: rows, group squares, sizes; shared, uniform."""
        vector, matrix = self._read(cell, case)
        count, group_square, sized = map(vector, vectors)
        shared, uniform = map(matrix, matrices)
        return ClassSums(
            total=count, square=count, shared=shared, sized=sized, group_square=group_square, uniform=uniform,
            uniform_square=uniform, rows=count,
        )  # fmt: skip

    def _read(self, cell: int, case: int) -> tuple[Callable[[str], Array], Callable[[str], Array]]:
        """Return what reads columns by class, and by class and value; zeros where nothing was hit."""
        columns = self._columns.get((cell, case), {})
        by_value, by_class = self._empty
        return lambda name: columns.get(name, by_class), lambda name: columns.get(name, by_value)


class FrameColumns:
    """The rows of `moment` and `scatter` of one cell and case, written as an array when its column is read.

    All columns of all cells at once would not fit in memory, and one x reads few of them.
    """

    def __init__(self, moment: pd.DataFrame, scatter: pd.DataFrame, classes: int, values: int) -> None:
        """Take the rows, and the lengths of the arrays: classes and the rest, values."""
        self._moment, self._scatter, self._shape = moment, scatter, (classes, values)
        self._place: IntArray = moment["place"].to_numpy() * values + moment["code"].to_numpy(dtype=np.int64)

    def get(self, name: str, missing: Array) -> Array:
        """Return column `name` summed by class, L + 1 x V of `moment`, L + 1 of `scatter`; `missing` for another."""
        classes, values = self._shape
        if name in self._moment.columns:
            line = self._moment[name].fillna(0.0).to_numpy(dtype=float)
            return np.bincount(self._place, line, classes * values).reshape(classes, values).astype(float)
        if name in self._scatter.columns:
            line = self._scatter[name].fillna(0.0).to_numpy(dtype=float)
            return np.bincount(self._scatter["place"].to_numpy(), line, classes).astype(float)
        return missing


def sums_of_frames(moment: pd.DataFrame, scatter: pd.DataFrame, classes: int, values: int) -> HitSums:
    """Return the rows of `moment` and `scatter`, frames by `place` (of a class; L: the rest's), by cell and case.

    classes, values: L and V.
    """
    moments, scatters = _split_frame(moment), _split_frame(scatter)
    return HitSums(
        {key: FrameColumns(moments[key], scatter_rows, classes + 1, values) for key, scatter_rows in scatters.items()},
        classes,
        values,
    )


def _split_frame(frame: pd.DataFrame) -> dict[tuple[int, int], pd.DataFrame]:
    keys = frame[["cell", "case_number"]].drop_duplicates().to_numpy(dtype=np.int64).tolist()
    groups = frame.groupby(["cell", "case_number"])
    return {(cell, case): groups.get_group((cell, case)) for cell, case in keys}
