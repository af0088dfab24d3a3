"""The nearest table that could be: no count is negative, and the sums are the known ones."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sqlanon.adversary.recovering import make_feasible


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_nearest(seed):
    random = np.random.default_rng(seed)
    levels, values = np.array([30.0, 50.0, 20.0]), np.array([10.0, 70.0, 20.0])
    spread = np.outer(levels, values) / 100
    noise = random.normal(size=(3, 3)) * 12
    estimates = spread + noise - noise.mean(axis=0) - noise.mean(axis=1)[:, None] + noise.mean()
    assert estimates.min() < 0
    sums = [{"type": "eq", "fun": lambda x, i=i: x.reshape(3, 3)[i].sum() - levels[i]} for i in range(3)]
    sums += [{"type": "eq", "fun": lambda x, i=i: x.reshape(3, 3)[:, i].sum() - values[i]} for i in range(2)]
    distance = lambda x: ((x.reshape(3, 3) - estimates) ** 2 / spread).sum()  # noqa: E731
    nearest = minimize(distance, spread.ravel(), bounds=[(0, None)] * 9, constraints=sums, tol=1e-12)
    # counts that would be 0 are about a hundredth of what independence says, which others have less
    np.testing.assert_allclose(make_feasible(estimates, levels, values), nearest.x.reshape(3, 3), atol=0.3)


def test_a_count_that_is_found_to_be_nothing_is_small_and_not_zero():
    levels, values = np.array([40.0, 60.0]), np.array([50.0, 50.0])
    found = make_feasible(np.array([[-5.0, 45.0], [55.0, 5.0]]), levels, values)
    assert 0.08 < found[0, 0] < 0.3 and found[0].sum() == pytest.approx(40, abs=1e-3)  # about a hundredth of 20


def test_an_empty_level_or_value_is_empty():
    found = make_feasible(np.array([[1.0, -1.0], [4.0, 2.0]]), np.array([0.0, 6.0]), np.array([5.0, 1.0]))
    np.testing.assert_allclose(found, [[0, 0], [5, 1]], atol=1e-6)
