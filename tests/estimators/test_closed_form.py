"""The channels: what the closed form says of one value, its inverse, tensor products, the matrix of the company."""

import numpy as np
import pytest

from sqlanon.estimators import matrix
from sqlanon.estimators.channel import Joint
from sqlanon.estimators.closed_form import ClosedForm
from sqlanon.estimators.matrix import Matrix
from tests.oracles import decoys

COUNTS = np.array([30.0, 25, 20, 15, 10])


def test_the_equation_of_one_value():
    channel = ClosedForm(COUNTS, 100.0, 3)
    published = np.array([12.0, 9, 7, 4, 1])
    q = COUNTS * 2 / (3 * (100 - COUNTS))
    np.testing.assert_allclose(channel.others, q)
    np.testing.assert_allclose(channel.solved(published), (published - q * 33) / (1 / 3 - q))


def test_the_whole_table_gives_the_published_counts_back():
    np.testing.assert_allclose(ClosedForm(COUNTS, 100.0, 3).solved(COUNTS), COUNTS)


def test_the_slope_is_the_derivative():
    up, down = (ClosedForm(COUNTS + step, 100.0, 3).others for step in (1e-4, -1e-4))
    np.testing.assert_allclose(ClosedForm(COUNTS, 100.0, 3).slope, (up - down) / 2e-4, rtol=1e-6)


def test_a_value_of_every_group_is_never_divided_by_nothing():
    channel = ClosedForm(np.array([50.0, 30, 20]), 100.0, 2)
    assert np.isfinite(channel.solved(np.array([10.0, 5, 5]))).all()


def transition(channel):
    return channel.expected(np.eye(len(channel.counts))).T


def random_matrix(random, size):
    found = random.random((size, size)) + 3 * np.eye(size)
    return found / found.sum(axis=1, keepdims=True)


def test_what_is_pulled_estimates_what_is_solved():
    random = np.random.default_rng(2)
    weights, published = random.random((4, 5)), random.random((3, 5)) * 50
    for channel in (ClosedForm(COUNTS, 100.0, 3), Matrix.of(random_matrix(random, 5))):
        np.testing.assert_allclose(published @ channel.pulled(weights).T, channel.solved(published) @ weights.T)


def test_the_expectation_has_rows_that_sum_to_1_and_keep_1_of_gamma():
    found = transition(ClosedForm(COUNTS, 100.0, 3))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(np.diag(found), 1 / 3)


def test_a_joint_channel_is_the_kronecker_product():
    random = np.random.default_rng(3)
    one, two = (random_matrix(random, size) for size in (3, 4))
    joint = Joint([Matrix.of(one), Matrix.of(two)], (3, 4))
    whole = np.kron(one, two)
    z, y, w = random.random((3, 2, 12))
    np.testing.assert_allclose(joint.expected(z), z @ whole.T)
    np.testing.assert_allclose(joint.solved(y), np.linalg.solve(whole.T, y.T).T)
    np.testing.assert_allclose(joint.pulled(w), np.linalg.solve(whole, w.T).T)
    np.testing.assert_allclose(joint.spread(z, w), (z * w) @ whole.T - (z @ whole.T) * (w @ whole.T))


@pytest.mark.parametrize(("gamma", "sizes"), [(3, [300, 280, 200, 150, 60, 10]), (4, [240, 240, 240, 200, 50, 3])])
def test_the_company_is_what_dealing_the_rows_many_times_gives(gamma, sizes):
    """Deal the rows by the slow oracle, and count who meets whom."""
    values = np.repeat(np.arange(len(sizes)), sizes)
    rows, random = len(values), np.random.default_rng(8)
    met = np.zeros((len(sizes), len(sizes)))
    for _ in range(60):
        group = decoys.grouped(values, gamma, random)
        held = np.zeros((rows // gamma, len(sizes)))
        np.add.at(held, (group, values), 1)
        met += (held / held.sum(axis=1, keepdims=True)).T @ held
    wanted = met / 60 / np.array(sizes)[:, None]
    found = matrix.transition(np.array(sizes, dtype=float), gamma, 64)
    np.testing.assert_allclose(found.mean, wanted, atol=0.03)
    np.testing.assert_allclose(found.mean.sum(axis=1), 1)
    np.testing.assert_allclose(np.diag(found.mean), (rows // gamma) / rows, rtol=0.05)


def test_large_tables_are_dealt_at_a_smaller_scale_and_rare_values_keep_their_share():
    sizes = np.array([2_000_000.0, 1_900_000, 1_800_000, 1_000_000, 200_000, 8])
    found = matrix.transition(sizes, 3, 64)
    assert found.noise < 0.03
    published = sizes @ found.mean
    np.testing.assert_allclose(published, sizes, rtol=0.02)
