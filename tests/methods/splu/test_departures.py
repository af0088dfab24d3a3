"""Small sums after departures: the worst number of rows that keep a value company, by hand and by a look at all."""

import math
from fractions import Fraction

import pytest

from sqlanon.methods.splu import binomial, departures


def likeliest(count, gamma, epsilon):
    """Return the largest Pr(|f' - f| <= ε f) over every number n of rows that publish the value with 1/γ."""
    share, kept = Fraction(epsilon), Fraction(1, gamma)
    low, high = math.ceil((1 - share) * count), math.floor((1 + share) * count)
    return max(
        sum(math.comb(n, x) * kept**x * (1 - kept) ** (n - x) for x in range(low, min(high, n) + 1))
        for n in range(low, 2 * gamma * (high + 1))
    )


@pytest.mark.parametrize(("alpha", "gamma", "epsilon"), [(3, 4, "0.3"), (7, 2, "0.5"), (9, 5, "0.2"), (2, 3, "0.99")])
def test_it_is_what_a_look_at_every_number_of_rows_finds(alpha, gamma, epsilon):
    least = min(1 - likeliest(count, gamma, epsilon) for count in range(1, alpha + 1))
    assert departures.small_sums(alpha, gamma, float(epsilon)) == pytest.approx(float(least), rel=1e-9)
    assert float(least) <= binomial.small_sums(alpha, gamma, float(epsilon)) + 1e-12


def test_the_usual_promise_is_not_touched():
    # one count alone is near: most likely with as many rows as before anybody left
    assert departures.small_sums(3, 10, 0.3) == pytest.approx(binomial.small_sums(3, 10, 0.3))
