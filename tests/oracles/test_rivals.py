"""The yardsticks: DBR keeps the distribution and forgets the row, Laplace noise has its textbook spread."""

import numpy as np
import pytest

from sqlanon.errors import UsageError
from tests.oracles import rivals


def test_dbr_keeps_the_distribution_and_forgets_the_row():
    random = np.random.default_rng(3)
    values = np.repeat(["flu", "asthma", "rare"], [6000, 3000, 1000])
    found = rivals.distribution_based(values, random)
    assert np.mean(found == "flu") == pytest.approx(0.6, abs=0.02)
    kept = found[values == "rare"]
    assert np.mean(kept == "rare") == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("epsilon", rivals.PAPER_EPSILONS)
def test_laplace_noise_is_centred_and_has_variance_twice_the_squared_scale(epsilon):
    noise = rivals.laplace(np.full(40_000, 7.0), epsilon, np.random.default_rng(4)) - 7
    assert np.mean(noise) == pytest.approx(0, abs=0.05 / epsilon)
    assert np.var(noise) == pytest.approx(2 / epsilon**2, rel=0.1)


def test_no_noise_is_refused():
    with pytest.raises(UsageError, match="epsilon = 0"):
        rivals.laplace(np.zeros(1), 0, np.random.default_rng(1))
