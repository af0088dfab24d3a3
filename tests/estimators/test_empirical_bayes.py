"""Values weighed against their margins: a slow oracle, simulated tables with fixed keys, channels that tell nothing."""

import numpy as np
import pytest

from sqlanon.estimators.channel import Joint
from sqlanon.estimators.empirical_bayes.spectrum import Spectra, Spectrum
from sqlanon.estimators.empirical_bayes.whole import GRID, Whole, weighed
from sqlanon.estimators.evidence import NORMAL_QUANTILE
from sqlanon.estimators.matrix import Matrix
from tests.oracles import gaussian


def kept(counts, gamma):
    """Return a transition that keeps 1/γ of the rows and gives the counts back: q_s as in the closed form, balanced."""
    shares = counts / counts.sum()
    flow = np.outer(shares, shares)
    np.fill_diagonal(flow, 0)
    for _ in range(500):  # symmetric, with (1 - 1/γ) p in each row
        scale = np.sqrt((1 - 1 / gamma) * shares / flow.sum(axis=1))
        flow = flow * np.outer(scale, scale)
    return flow / shares[:, None] + np.eye(len(counts)) / gamma


def spectra_of(sizes, gamma):
    channels = [kept(np.array(size, dtype=float), gamma) for size in sizes]
    return channels, Spectra([Spectrum.of(np.array(s, dtype=float), t) for s, t in zip(sizes, channels, strict=True)])


SIZES = [[300, 280, 200, 150, 70], [400, 350, 250]]


def test_in_its_coordinates_a_channel_is_diagonal():
    channels, spectra = spectra_of(SIZES, 2.2)
    joint, random = Joint([Matrix.of(t) for t in channels], (5, 3)), np.random.default_rng(1)
    x, w = random.random((2, 4, 15)) * 100
    expected = x @ np.kron(*channels)
    np.testing.assert_allclose(spectra.published(expected), spectra.strengths * spectra.true(x), atol=1e-9)
    np.testing.assert_allclose(spectra.counts_of(spectra.true(x)), x)
    np.testing.assert_allclose(spectra.true(x) @ spectra.weights(w).T, x @ w.T)
    np.testing.assert_allclose(spectra.true(x)[:, 0], x.sum(axis=1))
    np.testing.assert_allclose(joint.solved(expected), x)
    assert spectra.strengths[0] == 1 and (spectra.strengths[1:] < 1).all()
    assert np.bincount(spectra.column_masks).tolist() == [1, 4, 2, 8]


def test_rows_drawn_by_the_shares_have_the_variance_1_in_every_coordinate():
    _, spectra = spectra_of(SIZES, 2.2)
    shares = np.outer(*(column.shares for column in spectra.columns)).ravel()
    for found in spectra.variances(shares):
        np.testing.assert_allclose(found, 1)


def test_a_column_of_one_value_has_no_deviation():
    spectra = Spectra([Spectrum.of(np.array([7.0]), np.ones((1, 1)))])
    found = Whole(spectra, np.array([7.0]), [2.0]).counts(np.array([[3.0], [0.0]]))
    assert found.mean.tolist() == [[3], [0]] and found.variance(np.ones((1, 1))).tolist() == [[0], [0]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gamma", [2, 3, 3.3])
def test_one_column_equals_the_oracle(seed, gamma):
    """The oracle knows no coordinates: it conditions a normal distribution with dense matrices."""
    random = np.random.default_rng(seed)
    counts = np.array([300.0, 280, 200, 150, 70])
    channel = kept(counts, gamma)
    rows = int(random.integers(20, 500))
    published = random.multinomial(rows, random.dirichlet(20 * counts / 1000) @ channel).astype(float)
    whole = Whole(Spectra([Spectrum.of(counts, channel)]), counts, [gamma])
    wanted = np.maximum(gaussian.posterior(published, counts, channel, GRID), 1e-9 * rows)  # tables hold no less
    wanted *= rows / wanted.sum()
    np.testing.assert_allclose(whole.counts(published[None]).mean[0], wanted, rtol=1e-6)


def test_the_whole_release_is_answered_with_the_published_counts():
    counts = np.array([300.0, 280, 200, 150, 70])
    whole = Whole(Spectra([Spectrum.of(counts, kept(counts, 3))]), counts, [3])
    found = whole.counts(counts[None])
    np.testing.assert_allclose(found.mean[0], counts)
    np.testing.assert_allclose(found.variance(np.eye(5))[0], counts * (1 - counts / 1000) * (1 - 1 / 3), rtol=1e-6)
    np.testing.assert_allclose(found.variance(np.ones((1, 5))), 0, atol=1e-12)


def test_deviations_that_the_channel_hides_are_not_believed():
    random = np.random.default_rng(3)
    observed = random.normal(0, 0.01, (200, 30))  # Var δ = chance: nothing but noise
    chance = np.full(200, 1e-4)
    hidden = weighed(observed, np.full(30, 1e-3), chance, 0.05)
    assert (np.abs(hidden.mean) < 0.06).all() and (hidden.variance > 0.01).all()
    shown = weighed(observed + 0.5 * random.normal(0, 0.05, (200, 30)), np.full(30, 0.5), chance, 0.05)
    assert np.mean(np.abs(shown.mean)) > 0.02 and (shown.variance < 5e-4).all()


def simulated(gamma, seed, spread, cells=12, rows=3000):
    """Return two columns' release: whole, published and true tables of conditions, and their channels."""
    random = np.random.default_rng(seed)
    sizes = [np.array([16.0, 15, 14, 13, 12, 11, 10, 9]), np.array([20.0, 19, 18, 16, 15, 12])]
    channels = [kept(size, gamma) for size in sizes]
    p = [size / size.sum() for size in sizes]
    base = np.outer(*p).ravel() * np.exp(random.normal(0, spread, 48))
    conditions = base / base.sum() * np.exp(random.normal(0, spread, (cells, 48)))
    true = np.stack([random.multinomial(rows, one / one.sum()) for one in conditions])
    joint = np.kron(*channels)
    published = np.stack([sum(random.multinomial(x, joint[v]) for v, x in enumerate(one)) for one in true])
    table = published.sum(axis=0).astype(float)
    margins = [table.reshape(8, 6).sum(axis=1), table.reshape(8, 6).sum(axis=0)]
    columns = [Spectrum.of(margin, kept(margin, gamma)) for margin in margins]
    inverse = Joint([Matrix.of(kept(margin, gamma)) for margin in margins], (8, 6))
    return Whole(Spectra(columns), table, [gamma] * 2), published.astype(float), true, inverse


@pytest.mark.parametrize(("gamma", "gain"), [(2, 0.95), (3, 0.6), (4.6, 0.1)])
def test_two_columns_are_nearer_than_their_inverse_and_intervals_hold(gamma, gain):
    """48 cells x 12 conditions x 6 keys; at γ = 4.6 of 5 the inverse multiplies noise by hundreds."""
    held, errors, inverted, off = [], [], [], []
    for seed in range(6):
        whole, published, true, joint = simulated(gamma, seed, 0.2)
        found = whole.counts(published)
        half = NORMAL_QUANTILE * np.sqrt(found.variance(np.eye(48)))
        held.append(np.abs(found.wide - true) <= half)
        errors.append(np.abs(found.mean - true).mean())
        inverted.append(np.abs(joint.solved(published) - true).mean())
        off.append((found.mean - true).mean())
        np.testing.assert_allclose(found.mean.sum(axis=1), 3000)
    assert np.mean(held) >= 0.94
    assert np.mean(errors) < gain * np.mean(inverted)
    assert abs(np.mean(off)) < 1e-6


def test_where_the_channel_tells_nothing_the_product_of_the_margins_is_answered():
    """Independent columns at γ = 4.9 of 5: an error of a few per cent, where the inverse is far outside the table."""
    errors, inverted = [], []
    for seed in range(4):
        whole, published, true, joint = simulated(4.9, seed, 0.0)
        errors.append(np.abs(whole.counts(published).mean - true).mean() / true.mean())
        inverted.append(np.abs(joint.solved(published) - true).mean() / true.mean())
    assert np.mean(errors) < 0.2 and np.mean(inverted) > 5


def test_the_sum_of_a_number_that_is_the_same_in_all_rows_is_that_times_the_count():
    whole, published, _, _ = simulated(3, 0, 0.2)
    counts = whole.counts(published).mean
    rows = published.sum(axis=1)
    np.testing.assert_allclose(whole.sums(7 * published, 49 * rows, published, counts), 7 * counts)


@pytest.mark.parametrize("gamma", [2, 4.6])
def test_sums_of_numbers_that_go_with_a_value_come_near_and_keep_their_total(gamma):
    """A number's mean is 10 + the first column's code: sums of two columns through the joint channel."""
    random = np.random.default_rng(5)
    whole, _, true, joint = simulated(gamma, 1, 0.2)
    channel = np.asarray(joint.expected(np.eye(48)).T)
    number = np.repeat(10.0 + np.arange(8), 6)
    published, sums, squares = np.zeros((3, *true.shape))
    for cell, row in enumerate(true):
        for value, rows in enumerate(row):
            drawn = random.choice(48, rows, p=channel[value] / channel[value].sum())
            measured = number[value] + random.normal(0, 1, rows)
            for array, power in ((published, 0), (sums, 1), (squares, 2)):
                np.add.at(array[cell], drawn, measured**power)
    counts = whole.counts(published).mean
    found = whole.sums(sums, squares.sum(axis=1), published, counts)
    np.testing.assert_allclose(found.sum(axis=1), sums.sum(axis=1))
    wanted = true * number
    plain = counts * (sums.sum(axis=1) / published.sum(axis=1))[:, None]
    limit = 1.0 if gamma == 2 else 1.1
    assert np.abs(found - wanted).mean() < limit * np.abs(plain - wanted).mean()
    assert np.abs(found - wanted).mean() < np.abs(joint.solved(sums) - wanted).mean()
