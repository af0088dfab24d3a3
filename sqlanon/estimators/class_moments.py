"""What a query's hits say class by class: the sums behind one outcome, of counts and of measured expressions.

Axes: L classes and the rest, V values. Frames come from the templates `moment` and `scatter`, by class.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sqlanon.estimators.moments import Array, Whole

Columns = dict[str, Array]


@dataclass(frozen=True)
class Tally:
    """Sums of one x over hits, by class: of rows x, x² (total, square: L + 1), of groups what `ridge.outcome` takes.

    uniform, uniform_square: sum over groups of x s_g(v)/|g| and of x² s_g(v)/|g|, L + 1 x V. rows: hits, L + 1.
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
        """Return the root mean square of x over the hits."""
        rows = self.rows.sum()
        return float(np.sqrt(self.square.sum() / rows)) if rows and self.square.sum() > 0 else 1.0


class Tallies:
    """Hold the sums of every cell and case, and put them together for one expression."""

    def __init__(self, found: Mapping[tuple[int, int], Callable[[], Columns]], classes: int, values: int) -> None:
        """Take, by cell and case, what yields the columns of `moment` (L + 1 x V) and `scatter` (L + 1)."""
        self.found, self._empty = found, (np.zeros((classes + 1, values)), np.zeros(classes + 1))

    def counts(self, cell: int, case: int) -> Tally:
        """Return the sums of x = 1: hits."""
        return self._counted(cell, case, "row_count", "row_square", "row_sized", "shared", "uniform")

    def known(self, cell: int, case: int, number: int) -> Tally:
        """Return the sums of x = 1 for the hits whose expression is not NULL."""
        rows, square, sized = (f"{name}_{number}" for name in ("value_count", "count_square", "count_sized"))
        return self._counted(cell, case, rows, square, sized, f"count_shared_{number}", f"count_uniform_{number}")

    def measured(self, cell: int, case: int, number: int, centre: float = 0.0) -> Tally:
        """Return the sums of x = e - centre over the hits whose e is not NULL."""
        one, read = self.known(cell, case, number), self._reader(cell, case)
        total, sized = read(f"value_sum_{number}"), read(f"sum_sized_{number}")
        uniform = read(f"sum_uniform_{number}", True)
        square, group_square = read(f"square_sum_{number}"), read(f"sum_square_{number}")
        crossed, uniform_square = read(f"sum_count_{number}"), read(f"square_uniform_{number}", True)
        return Tally(
            total - centre * one.total,
            square - 2 * centre * total + centre**2 * one.total,
            read(f"sum_shared_{number}", True) - centre * one.shared,
            sized - centre * one.sized,
            group_square - 2 * centre * crossed + centre**2 * one.group_square,
            uniform - centre * one.uniform,
            uniform_square - 2 * centre * uniform + centre**2 * one.uniform,
            one.rows,
        )

    def _counted(self, cell: int, case: int, rows: str, square: str, sized: str, shared: str, uniform: str) -> Tally:
        read = self._reader(cell, case)
        count, plain = read(rows), read(uniform, True)
        return Tally(count, count, read(shared, True), read(sized), read(square), plain, plain, count)

    def _reader(self, cell: int, case: int) -> Callable[..., Array]:
        columns = self.found[cell, case]() if (cell, case) in self.found else {}
        by_value, by_class = self._empty

        def read(name: str, valued: bool = False) -> Array:
            return columns.get(name, by_value if valued else by_class)

        return read


def counted(columns: Columns) -> Tallies:
    """Take the columns of one cell and case that were counted in memory."""
    classes, values = columns["shared"].shape
    return Tallies({(0, 0): lambda: columns}, classes - 1, values)


def tallies(moment: pd.DataFrame, scatter: pd.DataFrame, classes: int, values: int) -> Tallies:
    """Sort the rows of `moment` and `scatter`, by `place` (of a class, L the rest's), into cells and cases."""
    found: dict[tuple[int, int], Callable[[], Columns]] = {}
    lines = _split(moment)
    for key, own in _split(scatter).items():
        found[key] = _spread(lines[key], own, classes + 1, values)
    return Tallies(found, classes, values)


def _split(frame: pd.DataFrame) -> dict[tuple[int, int], pd.DataFrame]:
    keys = frame[["cell", "case_number"]].drop_duplicates().to_numpy(dtype=np.int64).tolist()
    groups = frame.groupby(["cell", "case_number"])
    return {(cell, case): groups.get_group((cell, case)) for cell, case in keys}


def _spread(moment: pd.DataFrame, scatter: pd.DataFrame, classes: int, values: int) -> Callable[[], Columns]:
    """Write two frames as arrays when they are asked for, rows of one class summed."""

    def columns() -> Columns:
        found: dict[str, Array] = {}
        place: Whole = moment["place"].to_numpy() * values + moment["code"].to_numpy(dtype=np.int64)
        for name in moment.columns.difference(["cell", "case_number", "class", "place", "code"]):
            if not name.startswith(("least_", "largest_", "endless_")):
                line = moment[name].fillna(0.0).to_numpy(dtype=float)
                found[name] = np.bincount(place, line, classes * values).reshape(classes, values).astype(float)
        for name in scatter.columns.difference(["cell", "case_number", "class", "place"]):
            line = scatter[name].fillna(0.0).to_numpy(dtype=float)
            found[name] = np.bincount(scatter["place"].to_numpy(), line, classes).astype(float)
        return found

    return columns
