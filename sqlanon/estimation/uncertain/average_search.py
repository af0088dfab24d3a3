"""The least and the greatest average of the worlds that a release of uncertain data leaves.

A world of least average lambda is one whose sum of (x - lambda) over the rows that it counts is least, and 0. For a
lambda that is too large that least sum is negative, and the average of its world is a better lambda (Dinkelbach, On
Nonlinear Fractional Programming, 1967): a few turns find the least, exactly.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from sqlanon.errors import AnswerError
from sqlanon.estimators.evidence import Array, BoolArray, IntArray

MOST_TURNS = 100
NEAR = 1e-12  # of an average: a smaller gain is rounding
_UNSETTLED = "the least and greatest averages are not found in {} turns; narrow WHERE, or group by fewer columns"


class AverageSearch:
    """Search the extreme averages of one measure, for all cells and asked sets at once."""

    def __init__(self, read_worlds: Callable[[pd.DataFrame], pd.DataFrame], shape: tuple[int, ...]) -> None:
        """Take what reads the sums and counts of extreme worlds at given averages, and cells x sets."""
        self.read_worlds, self.shape = read_worlds, shape

    def find_bounds(self, above: Array, below: Array) -> tuple[Array, Array]:
        """Return the least and the greatest averages, cells x sets.

        above, below: averages that are not below the least, and not above the greatest; NaN where there is none.
        """
        least, greatest = above.copy(), below.copy()
        cell, value_set = np.nonzero(~np.isnan(above))
        moving = np.ones(len(cell), dtype=bool)
        for _ in range(MOST_TURNS):
            cell, value_set = cell[moving], value_set[moving]
            if not len(cell):
                return least, greatest
            here = (cell, value_set)
            found = self._read_worlds(here, least[here], greatest[here])
            at = (found["cell"].to_numpy(dtype=np.int64), found["set_number"].to_numpy(dtype=np.int64))
            moved = np.zeros(self.shape, dtype=bool)
            moved[at] |= _improve(least, at, found, "least", np.less)
            moved[at] |= _improve(greatest, at, found, "greatest", np.greater)
            moving = moved[here]
        raise AnswerError(_UNSETTLED.format(MOST_TURNS))

    def _read_worlds(self, here: tuple[IntArray, IntArray], least: Array, greatest: Array) -> pd.DataFrame:
        """Return the sums and counts of the worlds that are extreme at these aims."""
        columns = {"cell": here[0], "set_number": here[1], "least_aim": least, "greatest_aim": greatest}
        return self.read_worlds(pd.DataFrame(columns))


def _improve(aims: Array, at: tuple[IntArray, IntArray], found: pd.DataFrame, side: str, better: np.ufunc) -> BoolArray:
    """Put the averages of the worlds found in the place of aims that they better; tell which they are."""
    total, count = (found[f"{side}_{name}"].to_numpy(dtype=float) for name in ("sum", "count"))
    before = aims[at]
    average = np.divide(total, count, out=before.copy(), where=count > 0)
    gains = better(average, before) & (np.abs(average - before) > NEAR * np.maximum(np.abs(before), np.abs(average)))
    aims[at] = np.where(gains, average, before)
    return np.asarray(gains)
