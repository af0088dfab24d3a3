"""The mathematics of possible worlds: the paper's numbers, whole numbers as oracle, certified bounds."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.breaches import component_weights
from sqlanon.breaches.world_counts import count_worlds, count_worlds_without, measure_absence
from tests.examples import examples

COUNTS = {
    (2, 2): (7, 5),
    (2, 3): (25, 17),
    (2, 4): (79, 53),
    (3, 3): (265, 161),
    (3, 4): (2161, 1265),
    (4, 4): (41503, 23045),
}


def probability(sizes, matches):
    share, error = measure_absence(np.array([sizes]), np.array([matches]))
    return 1 - share[0], error[0]


@pytest.mark.parametrize("sizes", COUNTS)
def test_the_papers_counts(sizes):
    m, n = sizes
    assert (count_worlds(sizes), count_worlds(sizes) - count_worlds_without(sizes, (1, 1))) == COUNTS[sizes]
    paper = sum(
        comb(m - 1, m - i) * comb(n - 1, n - j) * (-1) ** (m + n - i - j) * 2 ** (i * j - 1)
        for i, j in product(range(2, m + 1), range(2, n + 1))
    ) + (-1) ** (m + 1) + (-1) ** (n + 1) + (-1) ** (m + n + 1)  # fmt: skip
    assert paper == COUNTS[sizes][1]


LARGE = [
    ((2, 100_000), (1, 1), 0.666666666666667),
    ((3, 50), (1, 1), 0.571428571428571),
    ((20, 20), (1, 1), 0.500000953657946),
    ((100_000, 5), (1, 1), 0.516129032258065),
    ((12, 100_000), (1, 1), 0.500122100122100),
    ((1000, 40), (3, 4), 0.999755859375010),
    ((100_000, 5000), (2, 3), 0.984375),
]


@pytest.mark.parametrize(("sizes", "matches", "value"), LARGE)
def test_large_components(sizes, matches, value):
    found, error = probability(sizes, matches)
    assert found == pytest.approx(value, abs=6e-16)
    assert error <= 1e-14


def test_every_pair_up_to_40_lies_within_its_bound():
    pairs = np.array([(m, n) for m in range(1, 41) for n in range(m, 41)])
    share, error = measure_absence(pairs, np.ones_like(pairs))
    for (m, n), found, bound in zip(pairs.tolist(), share.tolist(), error.tolist(), strict=True):
        exact = Fraction(count_worlds_without((m, n), (1, 1)), count_worlds((m, n)))
        assert abs(Fraction(found) - exact) <= bound <= 1e-14
    swapped, _ = measure_absence(pairs[:, ::-1], np.ones_like(pairs))
    assert (share == swapped).all()


@given(st.data())
@examples(150)
def test_any_parts_and_matches_lie_within_the_bound(data):
    parts = data.draw(st.integers(2, 4))
    sizes = data.draw(st.lists(st.integers(1, {2: 14, 3: 6, 4: 4}[parts]), min_size=parts, max_size=parts))
    matches = [data.draw(st.integers(1, size)) for size in sizes]
    share, error = measure_absence(np.array([sizes]), np.array([matches]))
    exact = Fraction(count_worlds_without(sizes, matches), count_worlds(sizes))
    assert abs(Fraction(share[0]) - exact) <= error[0] <= 1e-14


def test_unrestricted_probabilities_are_above_one_half_and_fall():
    sizes = np.array([(m, m) for m in range(1, 30)])
    share, _ = measure_absence(sizes, np.ones_like(sizes))
    assert (share <= 0.5).all()
    assert (np.diff(share) >= 0).all()


def test_restricted_worlds_are_the_papers():
    for m, n in product(range(2, 6), repeat=2):
        each = count_worlds((m - 1, n)) + count_worlds((m - 1, n - 1)) if n > 1 else count_worlds((m - 1, n))
        exponent, fraction = component_weights.weigh_restricted((m, n), 1, 1)
        assert 2.0 ** (exponent + fraction) == pytest.approx(each, rel=1e-13)
    assert [n * (count_worlds((n - 1, n)) + count_worlds((n - 1, n - 1))) for n in (2, 3, 4)] == [4, 96, 9704]


def brute(sizes, own, held, matches):
    """Count the worlds whose id (nodes below `own`) shows one property (below `held`), and those without a match."""
    tuples = [t for t in product(*map(range, sizes)) if t[0] >= own or t[1] < held]
    nodes = {(part, node) for part, size in enumerate(sizes) for node in range(size)}
    every = without = 0
    for kept in product((False, True), repeat=len(tuples)):
        world = [t for t, keep in zip(tuples, kept, strict=True) if keep]
        if {(part, node) for t in world for part, node in enumerate(t)} == nodes:
            every += 1
            without += not any(all(node < match for node, match in zip(t, matches, strict=True)) for t in world)
    return every, without


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 2), (3, 3), (1, 3), (2, 2, 2)])
def test_restricted_worlds_of_several_nodes_agree_with_writing_them_down(sizes):
    for own, held in product(range(1, sizes[0] + 1), range(1, sizes[1] + 1)):
        matches = (own, 1, *[1] * (len(sizes) - 2))
        every, without = brute(sizes, own, held, matches)
        exponent, fraction = component_weights.weigh_restricted(sizes, own, held)
        assert 2.0 ** (exponent + fraction) == pytest.approx(every, rel=1e-14)
        expected = without / every if every else 1
        assert component_weights.measure_absence(sizes, own, held, matches) == pytest.approx(expected, abs=1e-15)


def test_restricted_worlds_of_large_components():
    assert component_weights.weigh_restricted((100_000, 100_000), 1, 1)[0] == 9_999_900_001
    assert component_weights.weigh_restricted((300, 300), 100, 1) == (60_000, 0.0)
    assert component_weights.weigh_restricted((5, 100_000), 3, 1)[1] > float("-inf")
    assert component_weights.weigh_restricted((3, 5), 3, 1) == (0, float("-inf"))
