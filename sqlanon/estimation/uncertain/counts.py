"""What an answer over uncertain data says: three figures of each aggregate, as arrays over cells and value sets."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sqlanon.estimators.evidence import Array

FIGURES = {"certain": "certain", "possible": "possible", "value": "expected"}  # of `Counts`: names in the answer
DIGITS = 9  # decimals: sums of shares are exact to more


@dataclass(frozen=True)
class Counts:
    """Three figures, cells x value sets: certain <= value (expected) <= possible."""

    certain: Array
    possible: Array
    value: Array


def fill(
    shape: tuple[int, ...], frame: pd.DataFrame, figure: str, row: str, column: str, missing: float = 0.0
) -> Array:
    """Return a frame's figure as a matrix, `missing` where the frame says nothing."""
    matrix = np.full(shape, missing)
    place = tuple(frame[name].to_numpy(dtype=np.int64) for name in (row, column))
    matrix[place] = frame[figure].to_numpy(dtype=float)
    return matrix
