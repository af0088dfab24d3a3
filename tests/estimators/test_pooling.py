"""Deviations weighed by what channels tell: a slow oracle, simulated tables, channels that tell nothing."""

import numpy as np
import pytest

from sqlanon.estimators.channels import ClosedForm
from sqlanon.estimators.pooling import GRID, Everybody, weighed


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


def everybody_of(margins, gamma, table):
    columns = [ClosedForm(margin, float(margin.sum()), gamma) for margin in margins]
    return Everybody(columns, [margin / margin.sum() for margin in margins], table)


def test_a_column_of_one_value_has_no_deviation():
    everybody = everybody_of([np.array([7.0])], 2, np.array([7.0]))
    assert everybody.differ(np.zeros((2, 1)), np.array([0.1, 0.2]))[0].tolist() == [[0], [0]]
