"""The closed form: what it says of one value, its inverse, tensor products, and what dealing the rows gives."""

import numpy as np
import pytest

from sqlanon.estimators.channels import ClosedForm, Joint
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


def test_what_is_pulled_estimates_what_is_solved():
    random = np.random.default_rng(2)
    weights, published = random.random((4, 5)), random.random((3, 5)) * 50
    channel = ClosedForm(COUNTS, 100.0, 3)
    np.testing.assert_allclose(published @ channel.pulled(weights).T, channel.solved(published) @ weights.T)


def test_the_expectation_has_rows_that_sum_to_1_and_keep_1_of_gamma():
    found = transition(ClosedForm(COUNTS, 100.0, 3))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(np.diag(found), 1 / 3)


def test_a_joint_channel_is_the_kronecker_product():
    random = np.random.default_rng(3)
    one, two = ClosedForm(COUNTS, 100.0, 3), ClosedForm(np.array([40.0, 35, 25]), 100.0, 2)
    joint, z, y, w = Joint([one, two]), *random.random((3, 2, 15))
    for what, array in (("expected", z), ("solved", y), ("pulled", w)):
        whole = np.kron(*(getattr(channel, what)(np.eye(len(channel.counts))) for channel in (one, two)))
        np.testing.assert_allclose(getattr(joint, what)(array), array @ whole, rtol=1e-9)
    whole = np.kron(transition(one), transition(two))
    np.testing.assert_allclose(joint.spread(z, w), (z * w) @ whole.T - (z @ whole.T) * (w @ whole.T))


def by_meetings(channel):
    found = np.outer(channel.meeting / channel.counts, channel.meeting)
    np.fill_diagonal(found, 1 / channel.gamma)
    return found


def test_what_is_solved_by_meetings_is_the_inverse():
    channel = ClosedForm(COUNTS, 100.0, 3)
    found, true = by_meetings(channel), np.random.default_rng(4).random((3, 5))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(COUNTS @ found, COUNTS)
    np.testing.assert_allclose(channel.solved_by_meetings(true @ found), true)


@pytest.mark.parametrize(("gamma", "sizes"), [(3, [300, 280, 200, 150, 60, 10]), (4, [240, 240, 240, 200, 50, 3])])
def test_values_meet_as_when_the_rows_are_dealt_many_times(gamma, sizes):
    """Deal the rows by the slow oracle, and count who meets whom."""
    values = np.repeat(np.arange(len(sizes)), sizes)
    rows, random = len(values), np.random.default_rng(8)
    met = np.zeros((len(sizes), len(sizes)))
    for _ in range(60):
        group = decoys.grouped(values, gamma, random)
        held = np.zeros((rows // gamma, len(sizes)))
        np.add.at(held, (group, values), 1)
        met += (held / held.sum(axis=1, keepdims=True)).T @ held
    found = by_meetings(ClosedForm(np.array(sizes, dtype=float), float(rows), gamma))
    np.testing.assert_allclose(np.diag(sizes) @ found / rows, met / 60 / rows, atol=0.01)
