"""How a condition's values differ from everybody's, told from all of them together.

The n rows of a condition, a share π of the release's N, publish y; by the closed form a deviation e of the true shares
is published as D e, D = 1/γ - q of each value (of several columns the product of their D). In units of a share's root,
δ = (y/n - everybody's)/√p has the mean D u and the variance (1 - D²) c given u, c = (1 - π)/n: the draws'. Prior: u is
independent of variance t = c + τ², c of it chance among the n rows. With τ² known, û = D δ t/v, v = D² t + (1 - D²) c.
τ² is weighed over a grid of shares of the largest that a table can have, by the likelihood Π φ(δ; v) of all deviations
together. Where no D √n is large, it hardly tells them apart, D² t/v is near 0, and so is û.

Of several columns each margin is weighed so. The table that is then expected is the product of the margins found, times
the ratio by which the release's own table, weighed in the same way, differs from the product of its margins. What the
condition's rows say against it, in how columns go together, is weighed as well.

Values are so taken for unrelated; a sum of many of them is then drawn to what is expected of everybody, even where all
of them differ alike: wages above 1,500 of those who work less. So of asked sets of values, and of trends along the
values of a column, it is looked at how far the sum lies from there. V: the variance of this distance d if values were
unrelated. κ S: what it may have more, S the size that everybody's figures give it, κ one of `SIZES`, weighed by the
likelihood φ(d; V + κ S), beside κ = 0. The unbiased estimate counts for 1 - V / (V + κ S) more than it did, in the
mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations

import numpy as np

from sqlanon.estimators.channels import ClosedForm
from sqlanon.estimators.evidence import Array

SIZES = np.array([0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0])  # κ
LIKELY = np.array([1.0, 1.0, 1.0, 0.7, 0.3, 0.1, 0.03, 0.01])  # how likely they are without data, beside each other
TRENDS = 4  # polynomials of the rank, of degree 1 to this
NO_TREND, NOT_APART = 0.9, 0.9  # how likely κ = 0 is, of a trend and of an asked set
LEAST_STRENGTH, LEAST_VARIANCE = 1e-6, 1e-12
GRID = np.geomspace(1e-4, 1.0, 13)  # τ² as shares of its largest value
LEAST_NOISE = 1e-9
LEAST_SHARE = 1e-9
LARGEST_RATIO = 20.0  # of the release's table over the product of its margins
TINY = np.finfo(float).tiny


def gained(distance: Array, variance: Array, size: Array | float, nothing: float) -> Array:
    """Return by how much more the unbiased estimate counts, 0 to 1, for d, V and S of one shape."""
    weights = np.concatenate([[nothing], (1 - nothing) * LIKELY / LIKELY.sum()])
    variance = np.maximum(variance, LEAST_VARIANCE * (distance**2 + size) + np.finfo(float).tiny)
    spread = 1 + np.multiply.outer(np.asarray(size) / variance, SIZES)
    terms = np.log(weights / np.sqrt(spread)) - (distance**2 / variance)[..., None] / spread / 2
    weights = np.exp(terms - terms.max(axis=-1, keepdims=True))
    return np.asarray(1 - (weights / spread).sum(axis=-1) / weights.sum(axis=-1))


def trends(shares: Array) -> Array:
    """Return polynomials of the rank of a column's values, of mean 0 and variance 1, uncorrelated: TRENDS x V."""
    rank = 2 * np.cumsum(shares) - shares - 1
    found = [np.ones_like(shares)]
    for _ in range(min(TRENDS, len(shares) - 1)):
        raised = found[-1] * rank
        raised = raised - sum(term * (raised @ (term * shares)) for term in found)
        size = np.sqrt(raised**2 @ shares)
        if size < LEAST_STRENGTH:
            break
        found.append(raised / size)
    return np.array(found[1:]).reshape(-1, len(shares))


def follow(mean: Array, observed: Array, strengths: Array, chance: Array, prior: Array, along: Array) -> Array:
    """Return the posterior means of the deviations u of one column, C x I, with what trends say of them.

    mean, observed, strengths, chance: û, δ, s, (1-π)/n, as `pooling` has them. prior: the variance of u, C. along: the
    trends in the coordinates of u, k x I, of length 1.
    """
    strengths = np.maximum(strengths, LEAST_STRENGTH)
    found = (observed / strengths) @ along.T
    noise = chance[:, None] * ((1 - strengths**2) / strengths**2 @ (along**2).T)
    return np.asarray(mean + gained(found, noise + prior[:, None], 1.0, NO_TREND) * (found - mean @ along.T) @ along)


def weighed(observed: Array, strengths: Array, chance: Array, most: float) -> tuple[Array, Array]:
    """Return the posterior means û of deviations, C x I, and the variance t in the mean, C.

    observed: δ, C x I. strengths: D, I. chance: (1-π)/n, C. most: the largest τ².
    """
    draws = np.maximum(1 - strengths**2, LEAST_NOISE) * chance[:, None]
    prior = chance + np.multiply.outer(GRID * most, np.ones(len(chance)))  # points x C
    terms = []
    for each in prior[:, :, None]:
        variance = np.maximum(strengths**2 * each + draws, TINY)
        terms.append(-0.5 * (np.log(variance) + observed**2 / variance).sum(axis=1))
    weights = np.exp(np.array(terms) - np.max(terms, axis=0))
    weights /= weights.sum(axis=0)
    factor = np.zeros(observed.shape)
    for each, weight in zip(prior[:, :, None], weights[:, :, None], strict=True):
        factor += weight * strengths * each / np.maximum(strengths**2 * each + draws, TINY)
    return factor * observed, (weights * prior).sum(axis=0)


@dataclass(frozen=True)
class Everybody:
    """The whole release: its columns with their shares p, and its rows by published values (V, numbered as `Joint`)."""

    columns: Sequence[ClosedForm]
    shares: Sequence[Array]
    table: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of values of each column."""
        return tuple(len(share) for share in self.shares)

    @cached_property
    def strengths(self) -> Array:
        """Return the product of the columns' D, V."""
        return reduce(np.multiply.outer, [column.difference for column in self.columns]).ravel()

    @cached_property
    def published(self) -> Array:
        """Return the published shares, V."""
        return np.asarray(self.table / self.table.sum())

    @cached_property
    def likely(self) -> Array:
        """Return what of the true shares is known, V: the product of the margins, and how columns go together."""
        product = reduce(np.multiply.outer, self.shares).ravel()
        if len(self.columns) == 1:
            return product
        found = self._interactions((self.published - product)[None], np.array([1 / self.table.sum()]))[0]
        likely = np.clip(product + found, product / LARGEST_RATIO, product * LARGEST_RATIO)
        return np.asarray(likely / likely.sum())

    def differ(self, observed: Array, chance: Array) -> tuple[Array, Array]:
        """Return by how much a condition's true shares differ from everybody's, C x V, and t, C.

        observed: by how much its published shares differ from everybody's. chance: (1-π)/n.
        """
        if not len(observed):
            return observed, chance
        margins = [self._deviate((place,), observed, chance, 1.0) for place in range(len(self.columns))]
        likely = np.max([one[1] for one in margins], axis=0)
        if len(self.columns) == 1:
            return margins[0][0], likely
        product = np.ones((len(observed), 1))
        for share, (mean, _) in zip(self.shares, margins, strict=True):
            margin = np.maximum(share + mean, LEAST_SHARE)
            margin /= margin.sum(axis=1, keepdims=True)
            product = (product[:, :, None] * margin[:, None, :]).reshape(len(product), -1)
        independent = reduce(np.multiply.outer, self.shares).ravel()
        table = product * np.divide(self.likely, independent, out=np.zeros_like(independent), where=independent > 0)
        found = table / table.sum(axis=1, keepdims=True) - self.likely
        return found + self._interactions(observed - self._sent(found), chance), likely

    def differ_in_sums(self, observed: Array, chance: Array) -> tuple[Array, Array]:
        """Return the same of sums of a number about its mean, in units of its size: chance is 1/n."""
        if not len(observed):
            return observed, chance
        found = [
            self._deviate((place,), observed, chance, 1 / max(size - 1, 1)) for place, size in enumerate(self.shape)
        ]
        whole = sum(self._spread((place,), mean) for place, (mean, _) in enumerate(found))
        together = self._interactions(observed, chance) if len(self.columns) > 1 else 0.0
        return np.asarray(whole + together), np.max([one[1] for one in found], axis=0)

    def _interactions(self, observed: Array, chance: Array) -> Array:
        """Return the deviations in how columns go together, C x V."""
        found, places = np.zeros_like(observed), range(len(self.columns))
        for count in places[1:]:
            for some in combinations(places, count + 1):
                # Σ u² is at most the product of V - 1 over all these columns but the largest
                most = 1 / max(max(self.shape[place] for place in some) - 1, 1)
                found += self._spread(some, self._deviate(some, observed, chance, most)[0])
        return found

    def _deviate(self, places: tuple[int, ...], observed: Array, chance: Array, most: float) -> tuple[Array, Array]:
        """Return the deviations of some columns together, C x their values, and t."""
        shares, columns = [self.shares[place] for place in places], [self.columns[place] for place in places]
        others = tuple(1 + place for place in range(len(self.columns)) if place not in places)
        grid = observed.reshape(-1, *self.shape).sum(axis=others)
        sizes = grid.shape[1:]
        strengths = reduce(np.multiply.outer, [column.difference for column in columns]).ravel()
        root = np.sqrt(reduce(np.multiply.outer, shares)).ravel()
        seen = _centred(grid, shares).reshape(len(grid), -1)
        scaled = np.divide(seen, root, out=np.zeros_like(seen), where=root > 0)
        mean, likely = weighed(scaled, strengths, chance, most)
        if len(places) == 1:
            mean = follow(mean, scaled, strengths, chance, likely, trends(shares[0]) * root)
        return _centred((mean * root).reshape(-1, *sizes), shares).reshape(len(grid), -1), likely

    def _spread(self, places: tuple[int, ...], mean: Array) -> Array:
        """Return deviations of some columns as those of all, the others' values as among everybody, C x V."""
        grid = mean.reshape(len(mean), *(size if place in places else 1 for place, size in enumerate(self.shape)))
        for place, share in enumerate(self.shares):
            if place not in places:
                grid = grid * share.reshape([-1 if axis == place else 1 for axis in range(len(self.shape))])
        return grid.reshape(len(mean), -1)

    def _sent(self, true: Array) -> Array:
        """Return what true deviations are published as in the mean, C x V."""
        grid = true.reshape(-1, *self.shape)
        for place, column in enumerate(self.columns, start=1):
            last = np.moveaxis(grid, place, -1)
            last = last * column.difference + last.sum(axis=-1, keepdims=True) * column.others
            grid = np.moveaxis(last, -1, place)
        return grid.reshape(true.shape)


def _centred(grid: Array, shares: Sequence[Array]) -> Array:
    """Return deviations (C x V₁ …) that along no column sum to anything."""
    for axis, share in enumerate(shares, start=1):
        along = share.reshape([-1 if place == axis else 1 for place in range(grid.ndim)])
        grid = grid - along * grid.sum(axis=axis, keepdims=True)
    return grid
