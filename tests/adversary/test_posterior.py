"""Posteriors against the enumeration of every world; bounds never below them; the paper's figures."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.adversary import posterior
from sqlanon.adversary.posterior import is_exact, posteriors
from tests.examples import examples
from tests.oracles import permanent

ALAN, BETTY = [0.1, 0.9], [0.003, 0.997]
TABLE_V = [
    *((3, 2, 0.1, 0.0474), (3, 2, 0.3, 0.1235), (3, 2, 0.5, 0.1667), (3, 2, 0.9, 0.0818)),
    *((4, 2, 0.3, 0.1750), (6, 2, 0.3, 0.2211), (6, 3, 0.3, 0.1537), (6, 4, 0.3, 0.0955)),
]
DELTA_ACCEPTS = np.array([[[0.1, 0.0527, 0.0527], [0.0527, 0.1, 0.1], [0.0527, 0.1, 0.1]]])


def test_the_papers_first_example():
    found = posteriors(np.array([[ALAN, BETTY]]))
    assert found.probability[0, 0, 0] == pytest.approx(0.1 * 0.997 / (0.1 * 0.997 + 0.9 * 0.003))
    assert round(found.probability[0, 0, 0], 4) == 0.9736
    assert not found.contradicted[0]


# -- against the enumeration ----------------------------------------------------------------------

CHANCES = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(3, 1000), Fraction(1, 10**9)]


@st.composite
def groups(draw, chances=CHANCES, most=5):
    """Draw a group: rows of each signature, counts of each value, and priors."""
    size = draw(st.integers(1, most))
    rows = draw(st.lists(st.integers(1, size), min_size=1, max_size=size).filter(lambda many: sum(many) == size))
    counts = draw(st.lists(st.integers(1, size), min_size=1, max_size=size).filter(lambda many: sum(many) == size))
    priors = [[draw(st.sampled_from(chances)) for _ in counts] for _ in rows]
    return priors, rows, counts


def enumerated(priors, rows, counts):
    """Return the oracle's p(t : x), a line for each signature, and whether the group is contradicted."""
    lines = [dict(enumerate(line)) for line, many in zip(priors, rows, strict=True) for _ in range(many)]
    found = permanent.posteriors(lines, [value for value, many in enumerate(counts) for _ in range(many)])
    unlikely = any(not any(line[value] for line in priors) for value in range(len(counts)))
    if found is None:
        return [[1] * len(counts)] * len(rows), True
    first = [sum(rows[:place]) for place in range(len(rows))]
    return [[found[row][value] for value in range(len(counts))] for row in first], unlikely


@given(groups())
@examples(150)
def test_posteriors_and_bounds_agree_with_every_world(group):
    priors, rows, counts = group
    wanted, contradicted = enumerated(*group)
    wanted = np.array(wanted, dtype=float)
    array = np.array([priors], dtype=float)
    found = posteriors(array, counts, rows)
    assert found.probability[0] == pytest.approx(wanted, rel=1e-9, abs=1e-30)
    assert found.contradicted.tolist() == [contradicted]
    bound = posterior.bounds(array, counts, rows)
    assert (bound.probability[0] >= wanted - 1e-12).all()
    assert bound.contradicted.tolist() == [contradicted]


@given(groups([Fraction(0), Fraction(1), Fraction(10) ** -150, Fraction(10) ** -300, Fraction(3, 4)], most=4))
@examples(80)
def test_no_range_of_priors_is_too_wide(group):
    wanted, _ = enumerated(*group)
    priors, rows, counts = group
    array = np.array([priors], dtype=float)
    assert posteriors(array, counts, rows).probability[0] == pytest.approx(np.array(wanted, dtype=float), rel=1e-9)
    assert (posterior.bounds(array, counts, rows).probability[0] >= np.array(wanted, dtype=float) - 1e-9).all()


@pytest.mark.parametrize("zeros", [0, 0.3])
@pytest.mark.parametrize(("rows", "counts"), [((1,) * 7, (1,) * 7), ((4, 2, 1), (3, 2, 1, 1)), ((1,) * 6, (3, 3))])
def test_many_groups_at_once(zeros, rows, counts):
    random = np.random.default_rng(7)
    priors = random.dirichlet(np.full(len(counts), 0.5), (3000, len(rows)))
    priors[random.random(priors.shape) < zeros] = 0
    found, bound = posteriors(priors, counts, rows), posterior.bounds(priors, counts, rows)
    assert (bound.probability >= found.probability - 1e-12).all()
    assert (bound.contradicted == found.contradicted).all()
    sound = found.probability[~found.contradicted]
    np.testing.assert_allclose(sound.sum(axis=2), 1)  # every row has a value
    np.testing.assert_allclose((sound * np.array(rows)[:, None]).sum(axis=1) - counts, 0, atol=1e-9)
    spread = np.repeat(np.repeat(priors[:20], rows, axis=1), counts, axis=2)  # the same, row by row
    apart = posteriors(spread).probability[:, np.cumsum(rows) - 1][:, :, np.cumsum(counts) - 1] * counts
    merged = found.probability[:20]
    kept = ~(found.contradicted[:20] | posteriors(spread).contradicted)
    np.testing.assert_allclose(apart[kept], merged[kept])


def test_groups_too_large_for_pairs_are_bounded_by_ranges():
    random = np.random.default_rng(3)
    priors = random.uniform(0.9, 1, (2, 50, 50))
    assert posterior.MOST_PAIRS < 50**3
    found = posterior.bounds(priors).probability
    assert found.max() <= (10 / 9) ** 2 / ((10 / 9) ** 2 + 49) and found.min() > 1 / 50


def test_what_is_small_enough_for_the_exact_posterior():
    assert is_exact((1,) * 14, (1,) * 14, 10**6) and not is_exact((1,) * 15, (1,) * 15, 10**6)
    assert is_exact((1,) * 15, (1,) * 15, 256) and not is_exact((1,) * 19, (1,) * 19)
    assert is_exact((20, 20), (1,) * 40) and is_exact((1,) * 40, (20, 20)) and not is_exact((60, 60), (60, 60))
    random = np.random.default_rng(1)
    priors = random.uniform(0.1, 1, (2, 14, 14))
    found = posteriors(priors).probability
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found.sum(axis=2), 1)
    for rows, counts in (((20, 20), (1,) * 40), ((1,) * 40, (20, 20))):
        found = posteriors(random.uniform(0.1, 1, (1, len(rows), len(counts))), counts, rows).probability
        np.testing.assert_allclose(found.sum(axis=2), 1)


def test_rows_and_values_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not share values"):
        posteriors(np.ones((1, 2, 3)))
    with pytest.raises(ValueError, match="do not share values"):
        posteriors(np.ones((1, 2, 2)), counts=(2, 0))


# -- the paper's condition --------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "r", "largest", "wanted"), TABLE_V)
def test_table_v(size, r, largest, wanted):
    assert round(float(posterior.ceiling(largest, size, r)), 4) == wanted


def test_limits_of_the_ceiling():
    assert posterior.ceiling([0, 1], 5, 2).tolist() == [0, 0]
    assert posterior.ceiling([0.2, 0.9], 3, 3).tolist() == [0, 0]
    assert posterior.ceiling(0.3, 1e9, 2) == pytest.approx(0.3)
    assert (np.diff(posterior.ceiling(0.3, np.arange(2, 50), 2)) > 0).all()
    assert (posterior.ceiling([0, 0.4, 1], 2, 3) < 0).all(), "fewer than r rows meet nothing"


def test_example_2():
    priors = np.array([[[0.1, 0.45, 0.45], [0.08, 0.46, 0.46], [0.09, 0.455, 0.455]]])
    assert posterior.deviation(priors)[0, 0] == pytest.approx(0.02)
    assert round(float(posterior.ceiling(0.1, 3, 2)), 4) == 0.0474
    assert posterior.meets_delta(priors, 2).tolist() == [True]
    assert posterior.meets_delta(priors, 2, counts=(2, 1, 1), rows=(2, 1, 1)).tolist() == [False], "a repeated value"
    assert posterior.meets_delta(np.array([[ALAN, BETTY]]), 2).tolist() == [False]


def test_the_papers_condition_accepts_what_breaks_its_promise():
    assert posterior.deviation(DELTA_ACCEPTS) == pytest.approx(0.0473)
    assert posterior.meets_delta(DELTA_ACCEPTS, 2).tolist() == [True]
    broken = posteriors(DELTA_ACCEPTS).probability
    assert broken[0, 0, 0] == pytest.approx(0.643, abs=5e-4)
    assert posterior.bounds(DELTA_ACCEPTS).probability[0, 0, 0] >= broken[0, 0, 0]
