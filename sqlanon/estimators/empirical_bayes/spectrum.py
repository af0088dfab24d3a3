"""A column's channel in coordinates in which it is diagonal: what it lets through, deviation by deviation.

With p the values' shares, m = Tᵀp and D_a = diag(a):  D_p^½ T D_m^-½ = Σ_i s_i u_i v_iᵀ, where s_0 = 1 belongs to
u_0 = √p, v_0 = √m. In the coordinates e = x (D_p^-½ U) of true figures and z = y (D_m^-½ V) of published ones,

    E z_i = s_i e_i,    Var z_i = n for n rows published independently of everything,

e_0 = z_0 = n, and x = e (D_p^½ U)ᵀ. Several columns have the products of their vectors and strengths: coordinates
with one index > 0 are a column's margin, the others interactions. A strength near 0 says that the channel tells
nothing of that deviation: 1/γ - q in the closed form, for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.channel import Array


@dataclass(frozen=True)
class Spectrum:
    """Hold p, s (V each), T, and the maps y -> z, x -> e and e -> x (V x V, applied from the right)."""

    shares: Array
    strengths: Array
    transition: Array
    from_published: Array
    from_true: Array
    to_true: Array

    @classmethod
    def of(cls, counts: Array, transition: Array) -> "Spectrum":
        """Return the decomposition of `transition` T (V x V, rows summing to 1) about `counts` f' (V, all above 0)."""
        shares = counts / counts.sum()
        true, published = np.sqrt(shares), np.sqrt(np.maximum(shares @ transition, 1e-300))
        whitened = true[:, None] * transition / published
        true_vectors, strengths, published_vectors = np.linalg.svd(whitened - np.outer(true, published))
        true_vectors = np.column_stack([true, true_vectors[:, :-1]])
        published_vectors = np.column_stack([published, published_vectors[:-1].T])
        return cls(
            shares,
            np.clip(np.concatenate([[1.0], strengths[:-1]]), 0.0, 1.0),
            transition,
            published_vectors / published[:, None],
            true_vectors / true[:, None],
            (true_vectors * true[:, None]).T,
        )


@dataclass(frozen=True)
class Spectra:
    """Hold the spectra of several columns; values and coordinates are numbered together as in `Joint`."""

    columns: Sequence[Spectrum]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of values of each column."""
        return tuple(len(column.shares) for column in self.columns)

    @property
    def strengths(self) -> Array:
        """Return the products of the columns' strengths (V)."""
        products = np.ones(1)
        for column in self.columns:
            products = np.outer(products, column.strengths).ravel()
        return products

    @property
    def column_masks(self) -> NDArray[np.int64]:
        """Return which columns each coordinate (V) varies with, as a sum of 2^place: 0 is the constant."""
        sums = np.zeros(1, dtype=np.int64)
        for place, column in enumerate(self.columns):
            varies = (np.arange(len(column.shares)) > 0).astype(np.int64) << place
            sums = np.add.outer(sums, varies).ravel()
        return sums

    def published(self, counts: Array) -> Array:
        """Return z of published counts, … x V."""
        return self._each(counts, [column.from_published for column in self.columns])

    def true(self, counts: Array) -> Array:
        """Return e of true counts, … x V."""
        return self._each(counts, [column.from_true for column in self.columns])

    def counts_of(self, coordinates: Array) -> Array:
        """Return the true counts x of coordinates e, … x V."""
        return self._each(coordinates, [column.to_true for column in self.columns])

    def weights(self, weights: Array) -> Array:
        """Return the factors a of <w, x> = <a, e> for weights w, … x V."""
        return self._each(weights, [column.to_true.T for column in self.columns])

    def variances(self, counts: Array) -> tuple[Array, Array]:
        """Return by coordinate (… x V) what rows drawn with the shares `counts` give z and e as variance."""
        expected = self._each(counts, [column.transition for column in self.columns])
        published = self._each(np.maximum(expected, 0.0), [column.from_published**2 for column in self.columns])
        return published, self._each(counts, [column.from_true**2 for column in self.columns])

    def _each(self, array: Array, maps: Sequence[Array]) -> Array:
        grid = array.reshape(*array.shape[:-1], *self.shape)
        for place, change in enumerate(maps, start=-len(maps)):
            grid = np.moveaxis(np.moveaxis(grid, place, -1) @ change, -1, place)
        return grid.reshape(array.shape)
