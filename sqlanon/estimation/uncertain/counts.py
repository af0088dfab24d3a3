"""What an answer over uncertain data says: three figures of each aggregate, as arrays over cells and value sets."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sqlanon.estimators.evidence import Array

FIGURES = {"certain": "certain", "possible": "possible", "value": "expected"}  # of `Counts`: names in the answer
DIGITS = 9  # decimals: sums of shares are exact to more
SIGNIFICANT = 12  # digits of a sum, whose size nobody knows before


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


def round_digits(figures: Array) -> Array:
    """Return figures to their first digits (SIGNIFICANT): behind them sums depend on the order of their terms."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(np.isfinite(figures) & (figures != 0), np.floor(np.log10(np.abs(figures))), 0.0)
    # a power of 10 beyond the range of a double would turn a small figure into none
    decimals = np.clip(SIGNIFICANT - 1 - size, -300, 300)
    scale = 10.0 ** np.abs(decimals)
    up = decimals >= 0
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.where(up, np.round(figures * scale) / scale, np.round(figures / scale) * scale)
    return np.where(np.isfinite(rounded), rounded, figures)
