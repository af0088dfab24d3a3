"""The counts of conditions on randomized rows, weighed against the whole release and against their margins.

The n rows of a condition, a share π of the release's N, have coordinates e and published ones z (see `spectrum`), the
release itself e° and z°. Against it,

    δ = z/n - z°/N,    E δ_i = s_i (e_i/n - e°_i/N),    Var δ_i = (1 - π)/n.

Margins: e°/N is known (the shares p = f'/N), and δ is weighed as it is (`deviations`). Interactions: the table expected
is N_c p(s1|c) p(s2|c), from the margins just found, times the ratio by which the release's own table, weighed in the
same way, differs from the product of its margins; fitted to the margins again. With its coordinates ê, and ê° of the
release's table,

    δ_i - s_i (ê_i - ê°_i)

is what the condition itself says against it. Arrays grow with conditions and values, never with rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.channel import Array
from sqlanon.estimators.empirical_bayes.spectrum import Spectra

# Deviations from what is expected, of one mask, weighed by what their channel tells of them. δ_i has the mean
# s_i u_i and the variance (1 - s_i²) c given u, c = (1-π)/n: the draws'. Prior: u_i is independent of
# variance t = c + τ², c of it chance among the n rows of a condition, a share π of the release. With τ²
# known, û_i = s_i δ_i t/v_i, Var u_i = t (1 - s_i² t/v_i), v_i = s_i² t + (1 - s_i²) c. τ² is weighed over a
# grid of shares of the largest that a table can have, by the likelihood Π_i φ(δ_i; v_i) of all the deviations
# together. Where no s_i √n is large, it hardly tells them apart, s_i² t/v_i is near 0, and so is û. What
# stands out, and is asked about for that, is more than a normal prior holds. Intervals therefore go by a wide
# prior: four times the chance, and a τ² of 16 times its median or four times its 95 % point, whichever is
# larger, up to the largest.
GRID = np.geomspace(1e-4, 1.0, 13)  # τ² as shares of its largest value
SURE = 0.95  # of the weights of the grid, up to the point that intervals go by
WIDER, LIKELY_WIDER = 4.0, 16.0
LEAST_NOISE = 1e-9
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Deviations:
    """Hold of u, C x I: the posterior means; means and variances under the wide prior. likely: t in the mean, C."""

    mean: Array
    wide: Array
    variance: Array
    likely: Array


def weighed(
    observed: Array,
    strengths: Array,
    chance: Array,
    most: float,
    noise: Array | float = 1.0,
    signal: Array | float = 1.0,
) -> Deviations:
    """Return what is known of deviations of one mask (coordinates that vary with the same columns).

    observed: δ, C x I. strengths: s, I. chance: (1-π)/n, C. most: the largest τ². noise, signal: Var δ_i (draws and
    chance) and Var u_i as multiples of what the shares p give, C x I.
    """
    chance = chance[:, None]
    draws = np.maximum(noise - strengths**2 * signal, LEAST_NOISE) * chance
    terms = []
    for share in GRID:
        variance = np.maximum(strengths**2 * signal * (chance + share * most) + draws, TINY)
        terms.append(-0.5 * (np.log(variance) + observed**2 / variance).sum(axis=1))
    weights = np.exp(np.array(terms) - np.max(terms, axis=0))
    weights /= weights.sum(axis=0)
    factor = np.zeros(observed.shape)
    for share, weight in zip(GRID, weights[:, :, None], strict=True):
        factor += weight * _kept(strengths, signal * (chance + share * most), draws)
    likely, largest = (_point(weights, share) for share in (0.5, SURE))
    upper = np.minimum(np.maximum(LIKELY_WIDER * likely, WIDER * largest), 1.0)[:, None] * most
    prior = signal * (WIDER * chance + upper)
    wide = _kept(strengths, prior, draws)
    expected = chance[:, 0] + GRID @ weights * most
    return Deviations(factor * observed, wide * observed, prior * (1 - strengths * wide), expected)


def _point(weights: Array, share: float) -> Array:
    """Return the point of the grid up to which the weights (points x C) sum to `share`, C."""
    reached = (np.cumsum(weights, axis=0) < share).sum(axis=0)
    return np.asarray(GRID[np.minimum(reached, len(GRID) - 1)])


def _kept(strengths: Array, prior: Array, draws: Array) -> Array:
    """Return û/δ: s t/(s² t + draws)."""
    return np.asarray(strengths * prior / np.maximum(strengths**2 * prior + draws, TINY))


FITTING_TURNS = 5  # of fitting a table to its margins
LEAST_SHARE = 1e-9
LARGEST_RATIO = 20.0  # of the release's table over the product of its margins


class Whole:
    """Hold what the whole release says of several columns, and weigh conditions against it."""

    def __init__(self, spectra: Spectra, table: Array, gammas: Sequence[float]) -> None:
        """Take the columns' spectra, the release's rows by published values (V), and γ of each column."""
        self.spectra, self.gammas, self.rows = spectra, gammas, float(table.sum())
        self.published = spectra.published(table / self.rows)
        self.column_masks, self.strengths = spectra.column_masks, spectra.strengths
        self.coordinates, self.wider, self.variance = np.zeros((3, len(table)))
        self.coordinates[0] = 1.0
        for mask in self._interactions():
            inside = self.column_masks == mask
            chance = np.array([1 / self.rows])
            deviations = weighed(self.published[None, inside], self.strengths[inside], chance, self._most(mask))
            self.coordinates[inside], self.variance[inside] = deviations.mean[0], deviations.variance[0]
            self.wider[inside] = deviations.wide[0] - deviations.mean[0]
        product = _product([column.shares[None] for column in spectra.columns])[0]
        ratio = spectra.counts_of(self.coordinates) / product
        self.ratio = np.clip(ratio, 1 / LARGEST_RATIO, LARGEST_RATIO)

    def counts(self, published: Array) -> "Counts":
        """Return what conditions' published counts (C x V) say of their true counts."""
        rows = published.sum(axis=1)
        n = np.maximum(rows, 1.0)
        share = np.minimum(n / self.rows, 1.0)
        chance = (1 - share) / n
        observed = self.spectra.published(published / n[:, None]) - self.published
        margins = [self._margin(place, observed, chance) for place in range(len(self.spectra.columns))]
        shares = [
            column.shares + margin.mean @ column.to_true[1:]
            for column, margin in zip(self.spectra.columns, margins, strict=True)
        ]
        shares = [_positive(share) for share in shares]
        *both, variance = self._interacting(observed, chance, shares)
        mean, wide = (rows[:, None] * self.spectra.counts_of(coordinates) for coordinates in both)
        return Counts(
            whole=self, rows=rows, mean=mean, wide=wide, shares=shares, margins=margins, interactions=variance
        )

    def sums(self, published: Array, squares: Array, counts: Array, found: Array) -> Array:
        """Return the true sums of a number, C x V: its mean times the true counts, and what values differ by.

        published: its sums by published values; squares: of the numbers, C; counts: of rows with a number, by published
        values, and `found` the estimate of the true ones. The share of the numbers' variance that lies between values
        takes the place of τ².
        """
        n = np.maximum(counts.sum(axis=1), 1.0)
        mean = (published.sum(axis=1) / n)[:, None]
        size = np.sqrt(np.maximum(squares - n * mean[:, 0] ** 2, 0.0) * n)[:, None]
        scaled = np.divide(published - mean * counts, size, out=np.zeros_like(published), where=size > 0)
        observed, coordinates = self.spectra.published(scaled), np.zeros_like(published)
        for mask in range(1, int(self.column_masks.max()) + 1):
            inside = self.column_masks == mask
            if inside.any():
                most = 1 / int(inside.sum())
                coordinates[:, inside] = weighed(observed[:, inside], self.strengths[inside], 1 / n, most).mean
        return np.asarray(mean * found + size * self.spectra.counts_of(coordinates))

    def _interactions(self) -> list[int]:
        """Return the masks of the coordinates that vary with more than one column."""
        return [mask for mask in np.unique(self.column_masks).tolist() if mask.bit_count() > 1]

    def _most(self, mask: int) -> float:
        """Return the largest τ²: Σ u² is at most the product of V - 1 over all columns of the mask but the largest."""
        return 1 / (max(size for place, size in enumerate(self.spectra.shape) if mask >> place & 1) - 1)

    def _margin(self, place: int, observed: Array, chance: Array) -> Deviations:
        """Weigh one column's margin, C x (V - 1); Σ u² above 1 for each value would be a condition that implies one."""
        inside = self.column_masks == 1 << place
        return weighed(observed[:, inside], self.strengths[inside], chance, 1.0)

    def _interacting(self, observed: Array, chance: Array, shares: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Return the coordinates of the conditions' tables for one row, those under the wide prior, and the variance of
        their interactions, C x V each.
        """
        prior = _fitted(_product(shares) * self.ratio, shares, self.spectra.shape)
        coordinates, variance = self.spectra.true(prior), np.zeros_like(prior)
        wide = coordinates + self.wider
        noise, signal = self.spectra.variances(prior)
        rest = observed - self.strengths * (coordinates - self.coordinates)
        for mask in self._interactions():
            inside = self.column_masks == mask
            scales = noise[:, inside], signal[:, inside]
            deviations = weighed(rest[:, inside], self.strengths[inside], chance, self._most(mask), *scales)
            coordinates[:, inside] += deviations.mean
            wide[:, inside] += deviations.wide
            variance[:, inside] = deviations.variance + self.variance[inside]
        return coordinates, wide, variance


@dataclass(frozen=True)
class Counts:
    """Hold what is known of C conditions: rows n, true counts (C x V), and under the wide prior; the columns' shares
    inside each condition, their margins' deviations, and the variance of the interactions' coordinates for one row.
    """

    whole: Whole
    rows: Array
    mean: Array
    wide: Array
    shares: Sequence[Array]
    margins: Sequence[Deviations]
    interactions: Array

    def variance(self, weights: Array) -> Array:
        """Return the variance under the wide prior of <w, x>, w each row of `weights` (J x V): C x J."""
        spectra = self.whole.spectra
        variance = self.interactions @ (spectra.weights(weights) ** 2).T
        for place, (column, margin, gamma) in enumerate(
            zip(spectra.columns, self.margins, self.whole.gammas, strict=True)
        ):
            slope = np.ascontiguousarray(self._slope(weights, place)).reshape(-1, len(column.shares))  # (C J) x V_k
            turned = (slope @ column.to_true[1:].T).reshape(*variance.shape, -1)
            variance = variance + np.einsum("cjk,cjk,ck->cj", turned, turned, margin.variance)
            spread = np.maximum(slope**2 @ column.shares - (slope @ column.shares) ** 2, 0.0)
            variance = variance + spread.reshape(variance.shape) * (1 - 1 / gamma) / self.whole.rows  # of p itself
        return np.asarray(variance * self.rows[:, None] ** 2)

    def _slope(self, weights: Array, place: int) -> Array:
        """Return d<w, x>/dP of one column's shares, for one row: w summed over the other columns' shares."""
        slope = np.broadcast_to(weights, (len(self.rows), *weights.shape)).reshape(
            len(self.rows), len(weights), *self.whole.spectra.shape
        )
        for other in reversed(range(len(self.shares))):
            if other != place:
                slope = np.einsum("c...v,cv->c...", np.moveaxis(slope, 2 + other, -1), self.shares[other])
        return slope


def _product(shares: Sequence[Array]) -> Array:
    """Return the table of independent columns, C x V, of their shares (C x V_k each)."""
    table = np.ones((len(shares[0]), 1))
    for share in shares:
        table = (table[:, :, None] * share[:, None, :]).reshape(len(table), -1)
    return table


def _positive(shares: Array) -> Array:
    positive_shares = np.maximum(shares, LEAST_SHARE)
    return np.asarray(positive_shares / positive_shares.sum(axis=1, keepdims=True))


def _fitted(table: Array, shares: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """Fit tables (C x V) to the columns' shares in turn, for a few turns."""
    fit = table.reshape(len(table), *shape)
    for _ in range(FITTING_TURNS):
        for place, share in enumerate(shares, start=1):
            others = tuple(axis for axis in range(1, fit.ndim) if axis != place)
            axes = [len(fit) if axis == 0 else share.shape[1] if axis == place else 1 for axis in range(fit.ndim)]
            fit = fit * (share / fit.sum(axis=others)).reshape(axes)
    return fit.reshape(table.shape)
