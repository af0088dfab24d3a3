"""Counts by level and value from groups: exact where groups tell all, else as an ordinary regression finds them."""

import numpy as np

from sqlanon.completion.group_evidence import ClassTotals, estimate_level_counts


def estimate(held, hits, weights=None):
    """Estimate from what groups hold, G x V, and their rows by level, G x T."""
    return estimate_by_class(held, hits, np.ones(len(held)) if weights is None else weights, np.zeros(len(held), int))


def estimate_by_class(held, hits, weights, classes):
    """Estimate the same where groups are of several classes."""
    weighed, inside = held * weights[:, None], np.eye(classes.max() + 1)[classes].T
    sized = weights * held.sum(axis=1)
    sums = (inside @ held, inside @ hits, inside @ (held * sized[:, None]), inside @ (hits * sized[:, None]))
    return estimate_level_counts(weighed.T @ held, hits.T @ weighed, ClassTotals(*sums))


def test_groups_of_one_size_are_an_ordinary_regression():
    # with groups of one size a constant is among the regressors, and both have the same solution
    random = np.random.default_rng(4)
    held = np.stack([np.eye(5)[random.permutation(5)[:3]].sum(axis=0) for _ in range(60)])
    first = random.integers(0, 4, 60)
    hits = np.stack([first, 3 - first], axis=1).astype(float)
    shares, *_ = np.linalg.lstsq(held, hits, rcond=None)
    np.testing.assert_allclose(estimate(held, hits), (held.sum(axis=0)[:, None] * shares).T, atol=1e-9)


def test_a_class_that_groups_never_leave_is_no_noise():
    # values go with classes, and inside a class nothing depends on the value: what is left is what classes say
    held = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]] * 4 + [[0.0, 1, 0, 1], [1, 0, 0, 1]] * 6)
    classes = np.repeat([0, 1], 12)
    hits = np.where(classes[:, None] == 0, [2.0, 0.0], [0.0, 2.0])
    found = estimate_by_class(held, hits, np.ones(24), classes)
    np.testing.assert_allclose(found, [held[:12].sum(axis=0), held[12:].sum(axis=0)], atol=1e-9)
