"""What differs from everybody as a whole: asked sets of values, and trends along the values of a column.

Values are first taken for unrelated (`pooling`); a sum of many of them is then drawn to what is expected of everybody,
even where all of them differ alike: wages above 1,500 of those who work less. So it is looked at how far such a sum
lies from there. V: the variance of this distance d if values were unrelated. κ S: what it may have more, S the size
that everybody's figures give it, κ one of `SIZES`, weighed by the likelihood φ(d; V + κ S), beside κ = 0. The unbiased
estimate counts for 1 - V / (V + κ S) more than it did, in the mean.
"""

import numpy as np

from sqlanon.estimators.evidence import Array

SIZES = np.array([0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0])  # κ
LIKELY = np.array([1.0, 1.0, 1.0, 0.7, 0.3, 0.1, 0.03, 0.01])  # how likely they are without data, beside each other
TRENDS = 4  # polynomials of the rank, of degree 1 to this
NO_TREND, NOT_APART = 0.9, 0.9  # how likely κ = 0 is, of a trend and of an asked set
LEAST_STRENGTH, LEAST_VARIANCE = 1e-6, 1e-12


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
