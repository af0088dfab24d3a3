"""Effects are those under which what groups hold is likeliest; the ways to deal weigh as an enumeration says."""

import itertools

import numpy as np
import pytest

from sqlanon.adversary.dealing import Model
from sqlanon.adversary.posterior import weigh_worlds


def enumerate_ways(chances, held):
    """Return how likely each row has each kind, over all ways to deal kinds that are held so often."""
    values = np.repeat(np.arange(len(held)), held)
    found = np.zeros(chances.shape)
    for way in itertools.permutations(values):
        weight = np.prod(chances[np.arange(len(way)), way])
        found[np.arange(len(way)), way] += weight
    return found / found.sum(axis=1, keepdims=True)


def model_of(held, groups):
    """Return a model of groups that all hold the same, in which each row has a code of its own."""
    group, slot_group = np.repeat(np.arange(groups), sum(held)), np.repeat(np.arange(groups), len(held))
    rows, kind = np.arange(len(group)), np.tile(np.arange(len(held)), groups)
    return Model(rows[:, None], [slice(0, len(rows))], len(held), group, slot_group, kind, np.tile(held, groups))


@pytest.mark.parametrize("held", [(1, 1, 1, 1), (2, 1, 1)])
def test_small_groups_weigh_as_an_enumeration_says(held):
    chances = np.exp(np.random.default_rng(1).normal(size=(4, len(held))))
    found = model_of(held, 3).weigh(np.tile(chances, (3, 1))).toarray()
    np.testing.assert_allclose(found, np.tile(enumerate_ways(chances, held), (3, 1)), atol=1e-9)


@pytest.mark.parametrize("spread", [0.3, 2])
def test_large_groups_weigh_nearly_as_all_ways_to_deal(spread):
    """Of ten rows: the likeliest way alone answers to the chances by .89 and .78 of what all ways do."""
    size, groups = 10, 200
    chances = np.exp(spread * np.random.default_rng(1).normal(size=(groups * size, size)))
    found = model_of((1,) * size, groups).weigh(chances).toarray()
    weight, whole = weigh_worlds(chances.reshape(groups, size, size), (1,) * size, (1,) * size)
    exact = (weight / whole).transpose(2, 0, 1).reshape(found.shape) - 1 / size
    assert ((found - 1 / size) * exact).sum() / (exact**2).sum() == pytest.approx(1, abs=0.03)


def test_rows_that_are_known_teach_their_shares():
    """Groups of one row show whose value is which: the model of one column has the shares of its codes."""
    codes = np.repeat([0, 1], [400, 600])
    kind = np.concatenate((np.repeat([0, 1], [300, 100]), np.repeat([0, 1], [150, 450])))
    rows = np.arange(1000)
    model = Model(codes[:, None], [slice(0, 2)], 2, rows, rows, kind, np.ones(1000))
    effects = model.learn_shared()
    odds = effects[:, 0] - effects[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), [0.75, 0.25], atol=0.01)
