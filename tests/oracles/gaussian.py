"""Counts of a condition by conditioning a joint normal distribution, with whole covariance matrices."""

import numpy as np
from scipy.stats import multivariate_normal


def posterior(published, counts, transition, grid):
    """Return the mean of the true counts of one column in a condition, τ² weighed over `grid` by its likelihood.

    Prior: x/n deviates from p = f'/N by (c + τ²) (D_p - pp'), c = (1-π)/n. Published: y/n - f'/N is the deviation
    through T, and noise c (D_m - mm') less what the chance deviations of x make of it.
    """
    rows, everyone = published.sum(), counts.sum()
    shares, chance = counts / everyone, (1 - rows / everyone) / rows
    expected = shares @ transition
    true = np.diag(shares) - np.outer(shares, shares)
    drawn = chance * (np.diag(expected) - np.outer(expected, expected) - transition.T @ true @ transition)
    observed = (published / rows - shares)[:-1]  # the last follows from the others
    means, terms = [], []
    for variance in grid:
        prior = (chance + variance) * true
        whole = (transition.T @ prior @ transition + drawn)[:-1, :-1]
        terms.append(multivariate_normal(np.zeros(len(observed)), whole).logpdf(observed))
        means.append(shares + (prior @ transition)[:, :-1] @ np.linalg.solve(whole, observed))
    weights = np.exp(np.array(terms) - max(terms))
    return rows * (weights / weights.sum()) @ np.array(means)
