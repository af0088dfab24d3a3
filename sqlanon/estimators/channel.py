"""What randomization does to sensitive columns, as linear maps: P(a row of value w publishes value s) = T_ws.

Published figures y of a quasi part have the mean Tᵀ x, x the true ones. Several columns are randomized apart,
so that their T is a tensor product, applied and inverted factor by factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Channel(Protocol):
    """T of one sensitive column of V values; every method acts on the last axis of an array … x V."""

    def expected(self, function: Array) -> Array:
        """Return T z: the mean of a function z of the published value, by true value."""

    def solved(self, published: Array) -> Array:
        """Return the x of which `published` is the expectation: T⁻ᵀ y."""

    def pulled(self, weights: Array) -> Array:
        """Return h = T⁻¹ w for `weights` w: what a row adds by its published value so that the sum estimates <w, x>."""


@dataclass(frozen=True)
class Joint:
    """Hold the channels of several columns; their values are numbered together, the last one running fastest.

    Its methods are those of a `Channel`, column by column. shape: V₁ … of the columns; arrays have the axis V = V₁ V₂ …
    last. No column: V = 1 and nothing is changed.
    """

    channels: Sequence[Channel]
    shape: tuple[int, ...]

    def sent(self, true: Array) -> Array:
        """Return Tᵀ x, column by column; of matrices alone."""
        return self._each("sent", true)

    def expected(self, function: Array) -> Array:
        """Return T z, column by column."""
        return self._each("expected", function)

    def solved(self, published: Array) -> Array:
        """Return T⁻ᵀ y, column by column."""
        return self._each("solved", published)

    def pulled(self, weights: Array) -> Array:
        """Return T⁻¹ w, column by column."""
        return self._each("pulled", weights)

    def spread(self, one: Array, other: Array) -> Array:
        """Return T(h h') - T(h) T(h'): the covariance of `one` and `other`, of the published value, by true value."""
        mean = self.expected(one)
        return self.expected(one * other) - mean * (mean if one is other else self.expected(other))

    def _each(self, what: str, array: Array) -> Array:
        grid = array.reshape(*array.shape[:-1], *self.shape)
        for place, channel in enumerate(self.channels, start=-len(self.shape)):
            grid = np.moveaxis(getattr(channel, what)(np.moveaxis(grid, place, -1)), -1, place)
        return grid.reshape(array.shape)


@dataclass(frozen=True)
class Weighted:
    """One linear part of an aggregate: Σ_k <w_k, x_k> + base Φ.

    degree: the power of the measured expression. weights: by case, J x V. base: by case, J.
    """

    degree: int
    weights: dict[int, Array]
    base: dict[int, Array]
