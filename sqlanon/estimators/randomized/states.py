"""The states of the paper's iteration: how many rows satisfy the quasi part or not, and have each asked value."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.channel import Array


def states(figures: Array, whole: Array, shape: Sequence[int], codes: NDArray[np.int64]) -> Array:
    """Return the paper's published states of each cell and asked combination: (C n) x 2 x 2 ….

    figures: the hits by published values, C x V. whole: the release's rows by published values, V. codes: n.
    The first axis of a state: 0 where the quasi part fails; the others: 1 where the value is the asked one.
    """
    both = np.stack([whole - figures, figures], axis=1)
    tables = both.reshape(*both.shape[:2], *shape)
    for axis in range(2, 2 + len(shape)):
        rest = tables.sum(axis=axis, keepdims=True) - tables
        tables = np.stack([rest, tables], axis=-1)
    places = np.unravel_index(codes, tuple(shape))
    picked = np.moveaxis(tables, (0, 1), (len(shape), len(shape) + 1))[places]  # n x C x 2 x 2 …
    return picked.swapaxes(0, 1).reshape(-1, *([2] * (1 + len(shape))))
