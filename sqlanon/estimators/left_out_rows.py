"""How far rows that a release leaves out may move an answer.

Of a class with groups such rows have values that stand in every one of them; how many have which is not published.
Other classes leave no group at all, for they have too few different values: they are like the smallest classes.
"""

import numpy as np

from sqlanon.estimators.class_systems import TOLERANCE
from sqlanon.estimators.evidence import Array

FEW_VALUES = 10  # of so few values that stand in every group, one may have all rows that a release leaves out
VALUE_WEIGHT = 0.5  # of each such value in the Dirichlet distribution of these rows
LIKELY = 2.0  # times what rows like those of the smallest classes would count; by measurement, see benchmarks
TAILS = (0.025, 0.975)


def bound_left_out(each: Array, share: Array, rows: float) -> tuple[Array, Array]:
    """Return what `rows` rows that a release leaves out may take off and add, for D value sets: low <= 0 <= high.

    each: what one row of each kind would count (of a value that stands in every group of its class), D x n.
    share: how likely a row left out is one of them, n. Few such values may each have all of the rows: the range is
    that of `each`. Among more the rows are shared out by a Dirichlet distribution with a weight of a half for each
    (few values of a class have most of what it leaves out); the range is the middle 95 % of the beta distribution
    with the same range, mean and variance.
    """
    from scipy.special import betaincinv  # slow to load, and few answers need it

    least, most = each.min(axis=1), each.max(axis=1)
    low, high = least, most
    if len(share) > FEW_VALUES:
        # On [0, 1], by moments: mean μ, variance v = (Σ share each² - μ²)/(Σ weights + 1), size μ (1 - μ)/v - 1, and
        # the beta distribution has the parameters μ size and (1 - μ) size.
        reach = np.where(most > least, most - least, 1.0)
        mean = each @ share
        place = np.clip((mean - least) / reach, TOLERANCE, 1 - TOLERANCE)
        variance = np.maximum(each**2 @ share - mean**2, 0.0) / (len(share) * VALUE_WEIGHT + 1) / reach**2
        size = np.maximum(place * (1 - place) / np.maximum(variance, TOLERANCE**2) - 1, TOLERANCE)
        low, high = (least + (most - least) * betaincinv(place * size, (1 - place) * size, tail) for tail in TAILS)
    return rows * np.minimum(low, 0.0), rows * np.maximum(high, 0.0)


def bound_like_classes(each: Array, weight: Array, rows: float) -> tuple[Array, Array]:
    """Return what `rows` rows of classes that left no group may take off and add, for D value sets: low <= 0 <= high.

    each: what one row of each class would count, D x L. weight: how much such rows are like those of a class, L.
    """
    share = LIKELY * weight / weight.sum()
    low = np.maximum(np.minimum(each, 0.0) @ share, np.minimum(each.min(axis=1), 0.0))
    high = np.minimum(np.maximum(each, 0.0) @ share, np.maximum(each.max(axis=1), 0.0))
    return rows * low, rows * high
