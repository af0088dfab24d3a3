"""Counts by level and value from groups: exact where groups tell all, else as an ordinary regression finds them."""

import numpy as np
import pytest
from scipy import sparse

from sqlanon.completion import group_evidence
from sqlanon.completion.group_evidence import ClassTotals, estimate_level_counts, solve_in_steps
from sqlanon.errors import DataError


def estimate(held, hits, weights=None):
    """Estimate from what groups hold, G x V, and their rows by level, G x T."""
    return estimate_by_class(held, hits, np.ones(len(held)) if weights is None else weights, np.zeros(len(held), int))


def estimate_by_class(held, hits, weights, classes):
    """Estimate the same where groups are of several classes."""
    weighed, inside = held * weights[:, None], np.eye(classes.max() + 1)[classes].T
    sized = weights * held.sum(axis=1)
    sums = (inside @ held, inside @ hits, inside @ (held * sized[:, None]), inside @ (hits * sized[:, None]))
    return estimate_level_counts(weighed.T @ held, hits.T @ weighed, ClassTotals(*sums))


def test_groups_of_one_tell_everything():
    held, hits = np.eye(3)[[0, 0, 1, 2, 2, 2]], np.eye(2)[[0, 1, 1, 0, 0, 1]]
    np.testing.assert_allclose(estimate(held, hits), [[1, 0, 2], [1, 1, 1]], atol=1e-9)


def test_groups_of_one_size_are_an_ordinary_regression():
    # with groups of one size a constant is among the regressors, and both have the same solution
    random = np.random.default_rng(4)
    held = np.stack([np.eye(5)[random.permutation(5)[:3]].sum(axis=0) for _ in range(60)])
    first = random.integers(0, 4, 60)
    hits = np.stack([first, 3 - first], axis=1).astype(float)
    shares, *_ = np.linalg.lstsq(held, hits, rcond=None)
    np.testing.assert_allclose(estimate(held, hits), (held.sum(axis=0)[:, None] * shares).T, atol=1e-9)


def test_what_groups_do_not_tell_is_left_at_independence():
    held, hits = np.ones((8, 2)), np.array([[2.0, 0.0], [0.0, 2.0]] * 4)
    np.testing.assert_allclose(estimate(held, hits), np.full((2, 2), 4.0), atol=1e-9)


def test_sums_are_those_of_levels_and_values_in_every_draw():
    random = np.random.default_rng(5)
    held, hits = random.integers(0, 3, (40, 4)).astype(float), np.zeros((40, 3))
    hits[:, 0] = held.sum(axis=1) - 1
    hits[:, 1] = 1
    found = estimate(held, hits, random.exponential(size=40))
    np.testing.assert_allclose(found.sum(axis=0), held.sum(axis=0), atol=1e-8)
    np.testing.assert_allclose(found.sum(axis=1), hits.sum(axis=0), atol=1e-8)


def test_a_class_that_groups_never_leave_is_no_noise():
    # values go with classes, and inside a class nothing depends on the value: what is left is what classes say
    held = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]] * 4 + [[0.0, 1, 0, 1], [1, 0, 0, 1]] * 6)
    classes = np.repeat([0, 1], 12)
    hits = np.where(classes[:, None] == 0, [2.0, 0.0], [0.0, 2.0])
    found = estimate_by_class(held, hits, np.ones(24), classes)
    np.testing.assert_allclose(found, [held[:12].sum(axis=0), held[12:].sum(axis=0)], atol=1e-9)


def many_values(seed=6):
    """Return what groups of two classes say of forty values: S, sized, share by class, evidence of six levels."""
    random = np.random.default_rng(seed)
    held = np.stack([np.eye(40)[random.choice(40, 4, replace=False)].sum(axis=0) for _ in range(300)])
    inside, weights = np.eye(2)[random.integers(0, 2, 300)].T, random.exponential(size=300)
    share = inside @ held
    share /= share.sum(axis=1, keepdims=True)
    sized, size = inside @ (held * weights[:, None] * 4), inside @ (16 * weights)
    centred = (held - 4 * inside.T @ share).T @ ((held - 4 * inside.T @ share) * weights[:, None])
    return held.T @ (held * weights[:, None]), sized - share * size[:, None] / 2, share, centred, random.random((40, 6))


def test_steps_end_where_the_whole_system_is_solved():
    normal, sized, share, centred, evidence = many_values()
    np.testing.assert_allclose(normal - sized.T @ share - share.T @ sized, centred, atol=1e-9)
    whole = np.linalg.solve(centred + group_evidence.PULL * np.diag(centred.diagonal()), evidence)
    steps = solve_in_steps(sparse.csr_array(normal), sized, share, evidence)
    np.testing.assert_allclose(steps, whole, atol=1e-6 * np.abs(whole).max())


def test_a_tolerance_that_is_not_reached_is_said(monkeypatch):
    normal, sized, share, _, evidence = many_values()
    monkeypatch.setattr(group_evidence, "MOST_STEPS", 2)
    with pytest.raises(DataError, match="40 values was not solved to 1e-08 in 2 steps"):
        solve_in_steps(sparse.csr_array(normal), sized, share, evidence)


def test_counts_of_many_values_are_near_those_of_few():
    """The pull towards independence, a thousandth, moves counts by as little."""
    random = np.random.default_rng(5)
    held = np.stack([np.eye(12)[random.choice(12, 3, replace=False)].sum(axis=0) for _ in range(400)])
    first = random.integers(0, 4, 400)
    hits = np.stack([first, 3 - first], axis=1).astype(float)
    totals = ClassTotals(*(sums.sum(axis=0, keepdims=True) for sums in (held, hits, 3 * held, 3 * hits)))
    dense, sparse_counts = (
        estimate_level_counts(normal, hits.T @ held, totals)
        for normal in (held.T @ held, sparse.csr_array(held.T @ held))
    )
    np.testing.assert_allclose(sparse_counts, dense, rtol=0.005, atol=0.1)
    np.testing.assert_allclose(sparse_counts.sum(axis=0), held.sum(axis=0), atol=1e-6)
