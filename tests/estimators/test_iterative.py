"""The paper's iteration: its first turn by hand, its tensor product, its fixed point, its report."""

import itertools

import numpy as np
import pytest

from sqlanon.estimators import channels


def slow_turn(states, published, gammas):
    """Write eq. 13 with the full matrix M, state by state."""
    w = len(gammas)
    total = states.sum()
    factors = [np.eye(2)]
    for axis, gamma in enumerate(gammas, start=1):
        f = states.take(1, axis=axis).sum()
        q = f / total
        factors.append(np.array([[1 - q, q], [(gamma - 1) / gamma, 1 / gamma]]))
    places = list(itertools.product(range(2), repeat=w + 1))
    m = {
        (i, j): np.prod([factor[a, b] for factor, a, b in zip(factors, i, j, strict=True)])
        for i in places
        for j in places
    }
    found = np.zeros_like(states)
    for i in places:
        for j in places:
            below = sum(m[r, j] * states[r] for r in places)
            found[i] += m[i, j] * states[i] * published[j] / below
    return found


@pytest.mark.parametrize("gammas", [[5], [4, 7], [3, 5, 10]])
def test_turns_equal_the_equation_written_out(gammas):
    random = np.random.default_rng(len(gammas))
    published = random.integers(20, 400, (3, *[2] * (len(gammas) + 1))).astype(float)
    published[:, :, *[0] * len(gammas)] *= 50  # an asked value is rarer than 1 in gamma
    wanted = published.copy()
    for _ in range(4):
        wanted = np.stack([slow_turn(x, y, gammas) for x, y in zip(wanted, published, strict=True)])
    done = channels.iterate(published, gammas, 1e-12, 4)
    np.testing.assert_allclose(done.states, wanted)
    np.testing.assert_array_equal(done.turns, 4)
    np.testing.assert_allclose(done.asked, wanted.reshape(3, -1)[:, -1])
    np.testing.assert_allclose(done.states.sum(axis=tuple(range(1, wanted.ndim))), published.reshape(3, -1).sum(axis=1))


def expected(x, gamma):
    """Return the expected published counts of the four states by the exact transition."""
    f, total = x[:, 1].sum(), x.sum()
    q = f * (gamma - 1) / (gamma * (total - f))
    return x @ np.array([[1 - q, q], [(gamma - 1) / gamma, 1 / gamma]])


def test_the_papers_transition_is_biased():
    published = expected(np.array([[7000.0, 500.0], [2000.0, 500.0]]), 5)
    done = channels.iterate(published[None], [5], 1e-9, 100_000)
    assert done.change[0] <= 1e-9 and abs(done.asked[0] - 500) > 20


def test_nothing_over_nothing_counts_as_nothing():
    done = channels.iterate(np.zeros((1, 2, 2)), [5])
    assert done.asked[0] == 0 and done.turns[0] == 1
    done = channels.iterate(np.array([[[100.0, 0], [50, 0]]]), [5])
    assert done.asked[0] == 0 and np.isfinite(done.states).all()
    assert len(channels.iterate(np.zeros((0, 2, 2)), [5]).asked) == 0


def test_what_has_converged_moves_no_more_and_what_has_not_is_said():
    draws = np.random.default_rng(1)
    published = draws.integers(5, 400, size=(20, 2, 2, 2)) * np.array([[20.0, 3.0], [3.0, 1.0]])
    stopped = channels.iterate(published, [5, 5])
    further = channels.iterate(published, [5, 5], tolerance=1e-6, max_iterations=5_000)
    converged = stopped.change <= channels.TOLERANCE
    moved = np.abs(stopped.asked - further.asked) / np.maximum(further.asked, 1)
    # stopped by the change of a single turn, most of these counts had as much before them as behind them
    assert converged.sum() > 15 and np.quantile(moved[converged], 0.9) < 2 * channels.TOLERANCE
    assert stopped.turns[~converged].tolist() == [channels.MAX_ITERATIONS] * int((~converged).sum())
