"""The promises of published counts: the paper's examples, exact fractions, and where its bound fails."""

import json
import time
from fractions import Fraction
from math import ceil, comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.methods.splu import binomial
from sqlanon.models.fields import MOST
from tests.examples import examples


def slow(count, gamma, epsilon, at_least):
    """Sum the binomial over every f' in exact fractions."""
    share = Fraction(epsilon)
    found = Fraction(0)
    for x in range(count * gamma + 1):
        distance = abs(x - count)
        if distance > share * count or (at_least and distance == share * count):
            ways = comb(count * gamma, x)
            found += ways * Fraction(1, gamma) ** x * Fraction(gamma - 1, gamma) ** (count * gamma - x)
    return float(found)


@pytest.mark.parametrize("gamma", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.3, 0.5, 0.7])
def test_of_a_listed_value_1_is_taken_for_0(gamma, epsilon):
    """Whoever knows that a value is there does not believe a published count of 0: in exact fractions."""
    for count in range(1, 6):
        chances = [
            comb(count * gamma, x) * Fraction(1, gamma) ** x * Fraction(gamma - 1, gamma) ** (count * gamma - x)
            for x in range(count * gamma + 1)
        ]
        far = sum(p for x, p in enumerate(chances) if abs(max(x, 1) - count) > Fraction(str(epsilon)) * count)
        assert binomial.off(count, gamma, epsilon, listed=True) == pytest.approx(float(far))
    least = min(binomial.off(count, gamma, epsilon, listed=True) for count in (1, 2, 3))
    assert binomial.small_sums(3, gamma, epsilon, listed=True) == pytest.approx(least)
    assert binomial.guarantee(gamma, 100, epsilon, listed=True)["small_sums"]["off_at_least"] == pytest.approx(least)


def test_example_1_of_the_paper():
    assert binomial.off(5, 10, 0.3) == pytest.approx(0.48, abs=0.005)


def test_example_2_of_the_paper_is_a_little_better_than_it_says():
    assert binomial.small_sums(3, 10, 0.3) == pytest.approx(0.6126, abs=5e-5)


@pytest.mark.parametrize(
    ("count", "epsilon", "claimed", "exact"),
    [(100, 0.09, 0.0012, 0.37), (500, 0.05, 0.00016, 0.248), (900, 0.03, 0.00014, 0.352)],
)
def test_theorem_3_of_the_paper_does_not_hold(count, epsilon, claimed, exact):
    assert binomial.paper_bound(count, 10, epsilon) == pytest.approx(claimed, abs=5e-5)
    assert binomial.off(count, 10, epsilon, at_least=True) == pytest.approx(exact, abs=5e-4)


def least_near(gamma, epsilon, target_error):
    """Look at every count that Chebyshev leaves open."""
    share = Fraction(epsilon)
    far = [
        count
        for count in range(1, ceil((1 - Fraction(1, gamma)) / (share**2 * Fraction(target_error))) + 1)
        if binomial.off(count, gamma, float(epsilon), at_least=True) > float(target_error)
    ]
    return max(far, default=0) + 1


@given(
    gamma=st.sampled_from([2, 3, 5, 10, 100]),
    epsilon=st.sampled_from(["0.9", "0.7", "0.3", "0.25", "0.123"]),
    target_error=st.sampled_from(["0.9", "0.5", "0.1", "0.07"]),
)
@examples(12)
def test_the_least_useful_count_is_what_a_look_at_every_count_finds(gamma, epsilon, target_error):
    assert binomial.large_sums(gamma, float(epsilon), float(target_error)) == least_near(gamma, epsilon, target_error)


def test_the_hardest_figures_that_are_taken_end_soon():
    begun = time.process_time()
    assert binomial.large_sums(100, 0.01, 1e-6) == 236_901
    near = binomial.large_sums(2, 0.001, 1e-9)
    assert binomial.off(near, 2, 0.001, at_least=True) <= 1e-9 < binomial.off(near - 1, 2, 0.001, at_least=True)
    assert binomial.large_sums(MOST, 0.001, 1e-9) > near
    assert 0.3 < binomial.small_sums(binomial.MOST_SMALL, MOST, 0.01) < 1
    assert binomial.small_sums(60, 100, 0.3, larger=99) <= binomial.small_sums(60, 100, 0.3)
    assert time.process_time() - begun < 10


@given(
    count=st.integers(1, 12),
    gamma=st.integers(2, 7),
    epsilon=st.sampled_from(["0.1", "0.2", "0.3", "0.5", "0.7", "0.25"]),
    at_least=st.booleans(),
)
@examples(60)
def test_every_tail_equals_exact_fractions(count, gamma, epsilon, at_least):
    found = binomial.off(count, gamma, float(epsilon), at_least)
    assert found == pytest.approx(slow(count, gamma, epsilon, at_least), abs=1e-12)


def test_larger_groups_under_a_kept_residue_are_summed_over_both_kinds():
    chances = {}
    for x in range(3 * 2 + 1):
        for y in range(4 + 1):
            one = comb(6, x) * (1 / 3) ** x * (2 / 3) ** (6 - x) * comb(4, y) * 0.25**y * 0.75 ** (4 - y)
            chances[x + y] = chances.get(x + y, 0) + one
    wanted = 1 - sum(p for x, p in chances.items() if 10 * abs(x - 3) <= 3 * 3)
    assert binomial.off(3, 3, 0.3, larger=1) == pytest.approx(wanted)
    mixed = binomial.small_sums(3, 3, 0.3, larger=2)
    assert mixed <= binomial.small_sums(3, 3, 0.3) and mixed <= binomial.off(3, 3, 0.3, larger=2)


def test_the_guarantee_is_json_and_depends_on_no_data():
    found = binomial.guarantee(10, 103_456)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    counts = [line["count"] for line in found["counts"]]
    assert counts == [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]
    assert found["paper_bound"]["holds"] is False
    assert found["large_sums"] == {"target_error": 0.1, "count": 31, "possible": True}
    assert found["small_sums"]["off_at_least"] == pytest.approx(0.6126, abs=5e-5)
    assert binomial.guarantee(10, 300)["large_sums"]["possible"] is False
