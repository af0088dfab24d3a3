"""Deviations from what is expected, of one kind, weighed by what their channel tells of them.

δ_i has the mean s_i u_i and the variance (1 - s_i²) c given u, c = (1-π)/n: the draws'. Prior: u_i is independent of
variance t = c + τ², c of it chance among the n rows of a condition, a share π of the release. With τ² known,

    û_i = s_i δ_i t/v_i,    Var u_i = t (1 - s_i² t/v_i),    v_i = s_i² t + (1 - s_i²) c.

τ² is weighed over a grid of shares of the largest that a table can have, by the likelihood Π_i φ(δ_i; v_i) of all the
deviations together. Where no s_i √n is large, it hardly tells them apart, s_i² t/v_i is near 0, and so is û.

What stands out, and is asked about for that, is more than a normal prior holds. Intervals therefore go by a wide prior:
four times the chance, and a τ² of 16 times its median or four times its 95 % point, whichever is larger, up to the
largest.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.channel import Array

GRID = np.geomspace(1e-4, 1.0, 13)  # τ² as shares of its largest value
SURE = 0.95  # of the weights of the grid, up to the point that intervals go by
WIDER, LIKELY_WIDER = 4.0, 16.0
LEAST_NOISE = 1e-9
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Deviations:
    """Hold of u, C x I: the posterior means; means and variances under the wide prior."""

    mean: Array
    wide: Array
    variance: Array


def weighed(
    observed: Array,
    strengths: Array,
    chance: Array,
    most: float,
    noise: Array | float = 1.0,
    signal: Array | float = 1.0,
) -> Deviations:
    """Return what is known of deviations of one kind.

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
    return Deviations(factor * observed, wide * observed, prior * (1 - strengths * wide))


def _point(weights: Array, share: float) -> Array:
    """Return the point of the grid up to which the weights (points x C) sum to `share`, C."""
    reached = (np.cumsum(weights, axis=0) < share).sum(axis=0)
    return np.asarray(GRID[np.minimum(reached, len(GRID) - 1)])


def _kept(strengths: Array, prior: Array, draws: Array) -> Array:
    """Return û/δ: s t/(s² t + draws)."""
    return np.asarray(strengths * prior / np.maximum(strengths**2 * prior + draws, TINY))
