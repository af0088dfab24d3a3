"""Posteriors by enumerating every world, and priors completed in plain Python; exact where fractions go in."""

from fractions import Fraction
from itertools import permutations


def posteriors(priors, values):
    """Return p(t : x) for every row and every different value: eqs. 1-3, one world after another.

    priors: for each row a mapping value -> probability. values: the group's values, repeats included.
    None where every world has weight 0. A value that no row can have gets equal priors.
    """
    impossible = {value for value in values if not any(row[value] for row in priors)}
    total, held = 0, [dict.fromkeys(values, 0) for _ in priors]
    for world in permutations(values):
        weight = Fraction(1)
        for row, value in zip(priors, world, strict=True):
            weight *= 1 if value in impossible else Fraction(row[value])
        total += weight
        for row, value in enumerate(world):
            held[row][value] += weight
    return None if total == 0 else [{value: weight / total for value, weight in row.items()} for row in held]


def completed(entries, signatures, totals):
    """Return {(signature, value): prior}: as listed, else the value's share of what is left over.

    entries: {(signature, value): probability}. totals: {value: rows of it in the data}.
    """
    found = {}
    for signature in signatures:
        listed = {value: p for (s, value), p in entries.items() if s == signature}
        left = 1 - sum(listed.values())
        unlisted = sum(count for value, count in totals.items() if value not in listed)
        for value, count in totals.items():
            share = left * Fraction(count, unlisted) if unlisted and left > Fraction(1, 10**9) else 0
            found[signature, value] = listed.get(value, share)
    return found
