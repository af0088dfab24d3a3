"""Deviations weighed by what channels tell: a slow oracle, simulated tables, channels that tell nothing."""

import numpy as np
import pytest

from sqlanon.estimators.channel import Joint
from sqlanon.estimators.closed_form import ClosedForm
from sqlanon.estimators.matrix import Matrix
from sqlanon.estimators.randomized.pooling import GRID, Everybody, weighed


@pytest.mark.parametrize("strength", [1e-3, 0.2, 0.8])
def test_deviations_are_the_posterior_of_normals_over_the_grid(strength):
    """The oracle conditions a joint normal distribution of u and δ, place by place of the grid."""
    random = np.random.default_rng(7)
    strengths, chance, most = strength * random.uniform(0.5, 1, 6), 0.01, 0.3
    observed = random.normal(0, 0.2, 6)
    likelihoods, means, priors = [], [], []
    for share in GRID:
        prior = chance + share * most
        joint = np.block([
            [prior * np.eye(6), prior * np.diag(strengths)],
            [prior * np.diag(strengths), np.diag(strengths**2 * prior + (1 - strengths**2) * chance)],
        ])  # fmt: skip
        inverse = np.linalg.inv(joint[6:, 6:])
        means.append(joint[:6, 6:] @ inverse @ observed)
        likelihoods.append(np.exp(-observed @ inverse @ observed / 2) / np.sqrt(np.linalg.det(joint[6:, 6:])))
        priors.append(prior)
    weights = np.array(likelihoods) / sum(likelihoods)
    mean, likely = weighed(observed[None], strengths, np.array([chance]), most)
    np.testing.assert_allclose(mean[0], weights @ np.array(means), rtol=1e-9)
    np.testing.assert_allclose(likely[0], weights @ np.array(priors), rtol=1e-9)


def test_deviations_that_the_channel_hides_are_not_believed():
    random = np.random.default_rng(3)
    observed = random.normal(0, 0.01, (200, 30))  # Var δ = chance: nothing but noise
    chance = np.full(200, 1e-4)
    assert (np.abs(weighed(observed, np.full(30, 1e-3), chance, 0.05)[0]) < 0.06).all()
    shown, _ = weighed(observed + 0.5 * random.normal(0, 0.05, (200, 30)), np.full(30, 0.5), chance, 0.05)
    assert np.mean(np.abs(shown)) > 0.02


def kept(counts, gamma):
    """Return a transition that keeps 1/γ of the rows and gives the counts back: q_s as in the closed form, balanced."""
    shares = counts / counts.sum()
    flow = np.outer(shares, shares)
    np.fill_diagonal(flow, 0)
    for _ in range(500):  # symmetric, with (1 - 1/γ) p in each row
        scale = np.sqrt((1 - 1 / gamma) * shares / flow.sum(axis=1))
        flow = flow * np.outer(scale, scale)
    return flow / shares[:, None] + np.eye(len(counts)) / gamma


def everybody_of(margins, gamma, table):
    columns = [ClosedForm(margin, float(margin.sum()), gamma) for margin in margins]
    return Everybody(columns, [margin / margin.sum() for margin in margins], table)


def test_a_column_of_one_value_has_no_deviation():
    everybody = everybody_of([np.array([7.0])], 2, np.array([7.0]))
    assert everybody.differ(np.zeros((2, 1)), np.array([0.1, 0.2]))[0].tolist() == [[0], [0]]


def simulated(gamma, seed, spread, cells=12, rows=3000):
    """Return two columns' release: everybody, published and true tables of conditions, and the channels."""
    random = np.random.default_rng(seed)
    sizes = [np.array([16.0, 15, 14, 13, 12, 11, 10, 9]), np.array([20.0, 19, 18, 16, 15, 12])]
    channels = [kept(size, gamma) for size in sizes]
    base = np.outer(*(size / size.sum() for size in sizes)).ravel() * np.exp(random.normal(0, spread, 48))
    conditions = base / base.sum() * np.exp(random.normal(0, spread, (cells, 48)))
    true = np.stack([random.multinomial(rows, one / one.sum()) for one in conditions])
    joint = np.kron(*channels)
    published = np.stack([sum(random.multinomial(x, joint[v]) for v, x in enumerate(one)) for one in true])
    table = published.sum(axis=0).astype(float)
    margins = [table.reshape(8, 6).sum(axis=1), table.reshape(8, 6).sum(axis=0)]
    inverse = Joint([Matrix.of(kept(margin, gamma)) for margin in margins], (8, 6))
    return everybody_of(margins, gamma, table), published.astype(float), true, inverse


def counted(everybody, published):
    rows = published.sum(axis=1)
    chance = 1 / rows - 1 / everybody.table.sum()
    differing, _ = everybody.differ(published / rows[:, None] - everybody.published, chance)
    return rows[:, None] * (everybody.likely + differing)


@pytest.mark.parametrize(("gamma", "gain"), [(2, 0.95), (3, 0.6), (4.6, 0.1)])
def test_two_columns_are_nearer_than_their_inverse(gamma, gain):
    """48 cells x 12 conditions x 6 keys; at γ = 4.6 of 5 the inverse multiplies noise by hundreds."""
    errors, inverted, off = [], [], []
    for seed in range(6):
        everybody, published, true, joint = simulated(gamma, seed, 0.2)
        found = counted(everybody, published)
        errors.append(np.abs(found - true).mean())
        inverted.append(np.abs(joint.solved(published) - true).mean())
        off.append((found - true).mean())
    assert np.mean(errors) < gain * np.mean(inverted)
    assert abs(np.mean(off)) < 1e-6


def test_where_the_channel_tells_nothing_the_product_of_the_margins_is_answered():
    """Independent columns at γ = 4.9 of 5: an error of a few per cent, where the inverse is far outside the table."""
    errors, inverted = [], []
    for seed in range(4):
        everybody, published, true, joint = simulated(4.9, seed, 0.0)
        errors.append(np.abs(counted(everybody, published) - true).mean() / true.mean())
        inverted.append(np.abs(joint.solved(published) - true).mean() / true.mean())
    assert np.mean(errors) < 0.2 and np.mean(inverted) > 5


@pytest.mark.parametrize("gamma", [2, 4.6])
def test_sums_of_numbers_that_go_with_a_value_come_near_and_keep_their_total(gamma):
    """A number is 1 or -1 as the first column's code is high or low, and noise: its sums through the joint channel."""
    random = np.random.default_rng(5)
    everybody, _, true, joint = simulated(gamma, 1, 0.2)
    channel = np.asarray(joint.expected(np.eye(48)).T)
    number = np.repeat(np.where(np.arange(8) < 4, -1.0, 1.0), 6)
    sums, squares = np.zeros(true.shape), np.zeros(len(true))
    for cell, row in enumerate(true):
        for value, rows in enumerate(row):
            measured = number[value] + random.normal(0, 1, rows)
            np.add.at(sums[cell], random.choice(48, rows, p=channel[value] / channel[value].sum()), measured)
            squares[cell] += measured @ measured
    scale = np.sqrt(squares * true.sum(axis=1))
    differing, _ = everybody.differ_in_sums(sums / scale[:, None], 1 / true.sum(axis=1))
    np.testing.assert_allclose(differing.sum(axis=1), 0, atol=1e-9)
    found = sums.sum(axis=1)[:, None] * everybody.likely + scale[:, None] * differing
    wanted = true * number
    assert np.abs(found - wanted).mean() < np.abs(joint.solved(sums) - wanted).mean()
    assert gamma > 2 or np.abs(found - wanted).mean() < 0.5 * np.abs(wanted).mean()
