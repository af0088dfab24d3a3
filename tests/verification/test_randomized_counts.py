"""The probability of published counts: both tails of a binomial, as scipy's own distribution has them."""

import math

from scipy.stats import binom

from sqlanon.verification.randomized import _least_probability
from tests.facts import each

COUNTS = (1, 2, 7, 100, 50_000, 50_000_000)


def probability(seen, count, gamma):
    return _least_probability([{"published_count": seen, "original_count": count}], gamma, 0)


@each([(count, gamma) for count in COUNTS for gamma in (2, 3, 10)])
def test_the_tails_are_those_of_the_binomial(given):
    count, gamma = given
    spread = math.sqrt(count * (1 - 1 / gamma))
    for off in (-6, -3, -1, 0, 1, 3, 6):
        seen = min(max(0, round(count + off * spread)), count * gamma)
        law = binom(count * gamma, 1 / gamma)
        wanted = min(1, 2 * min(law.cdf(seen), law.sf(seen - 1)))
        assert math.isclose(probability(seen, count, gamma), wanted, rel_tol=1e-9)


@each([((11, 1, 10), 0.0), ((10, 1, 10), 2e-10), ((0, 0, 10), 1.0), ((1, 0, 10), 0.0)])
def test_the_ends_are_exact(given):
    (seen, count, gamma), wanted = given
    assert math.isclose(probability(seen, count, gamma), wanted, rel_tol=1e-9)
