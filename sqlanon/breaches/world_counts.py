"""Count possible worlds of published views: exactly in whole numbers, and as certified probabilities.

A component has K parts; part i has m_i nodes, a_i of which match the association. A world is a set of
K-tuples, one node of each part, that leaves no node uncovered; it shows the association if it holds one of
the a_1 … a_K tuples of matching nodes. With two parts these are the paper's edges and covers (Lemma 5.2).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

EPSILON = 2.0**-52
CERTAIN_EDGES = 60  # so many matching tuples: all are absent in at most 2^-60 of the worlds
ROWS_AT_ONCE = 1 << 16
LEVELS = 64

Floats = NDArray[np.float64]


def count_worlds(sizes: Sequence[int]) -> int:
    """Count the worlds of one component: UPW(m, n) = sum_i (-1)^(m-i) C(m,i) (2^i - 1)^n for two parts.

    The inclusion–exclusion runs over all parts but the largest, whatever their number.
    """
    return count_worlds_without(sizes, [0] * len(sizes))


def count_worlds_without(sizes: Sequence[int], matches: Sequence[int]) -> int:
    """Count the worlds of one component that hold none of the tuples of matching nodes.

    sizes: m_i; matches: a_i, in the same order. Exact; the work grows with the product of all sizes but the largest.
    """
    pairs = sorted(zip(sizes, matches, strict=True))
    *small, (size, match) = pairs
    total = 0
    # Of every part but the largest, u of the a matching nodes and v of the others stay, the rest is uncovered:
    # Σ (-1)^(nodes uncovered) Π C(a, u) C(m - a, v) times the ways to cover the largest part: each of its nodes takes a
    # non-empty set of the Π (u + v) tuples of what stays, a matching node one without the Π u matching tuples.
    kept_of_each = [range(count + 1) for m, a in small for count in (a, m - a)]
    for remaining in product(*kept_of_each):
        matching, other = remaining[::2], remaining[1::2]
        sign = (-1) ** sum(m - u - v for (m, _), u, v in zip(small, matching, other, strict=True))
        ways = prod(comb(a, u) * comb(m - a, v) for (m, a), u, v in zip(small, matching, other, strict=True))
        tuples = prod(u + v for u, v in zip(matching, other, strict=True))
        hidden = prod(matching)
        total += sign * ways * (2**tuples - 1) ** (size - match) * (2 ** (tuples - hidden) - 1) ** match
    return total


def measure_absence(sizes: NDArray[np.int64], matches: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the share of worlds that hold no tuple of matching nodes, and a bound of its error.

    sizes, matches: m_i and a_i, a row per component, a column per part. The probability that a component shows
    the association is one minus the share; for two parts and a_i = 1 this is 1 - UIW/UPW. The bound holds
    what the series leaves out and every rounding.
    """
    share, error = np.zeros(len(sizes)), np.zeros(len(sizes))
    # The series runs over all parts but the last, which has to be the largest: over a larger one its terms explode.
    for start in range(0, len(sizes), ROWS_AT_ONCE):
        here = slice(start, start + ROWS_AT_ONCE)
        order = np.argsort(sizes[here], axis=1, kind="stable")
        share[here], error[here] = _measure_ordered(
            np.take_along_axis(sizes[here], order, axis=1).astype(float),
            np.take_along_axis(matches[here], order, axis=1).astype(float),
        )
    return share, error


def _measure_ordered(sizes: Floats, matches: Floats) -> tuple[Floats, Floats]:
    """Do the same for parts in order of size: 0 where no world can do without, or next to none can."""
    share, error = np.zeros(len(sizes)), np.zeros(len(sizes))
    certain = (matches < sizes).sum(axis=1) <= 1  # a matching node has no tuple left that covers it
    many = ~certain & (matches.prod(axis=1) >= CERTAIN_EDGES)
    error[many] = 2.0**-CERTAIN_EDGES
    open_ = ~certain & ~many
    if open_.any():
        share[open_], error[open_] = _series(sizes[open_].T, matches[open_].T)
    return share, error


def _series(sizes: Floats, matches: Floats) -> tuple[Floats, Floats]:
    """Return L N / B, where every sum is divided by its leading term.

    B = sum over removed nodes of the smaller parts, (-1)^r prod C(m_i, r_i) [(2^P' - 1)/(2^P - 1)]^m_K, P the product
    of those parts' sizes; N the same with the tuples of matching nodes taken out, Q of them per matching node of the
    largest part; L = [(2^(P-Q) - 1)/(2^P - 1)]^a_K. Cut after r nodes, the rest is below the last level (Bonferroni).
    """
    small, largest = sizes[:-1], sizes[-1]
    match, last = matches[:-1], matches[-1]
    tuples, hidden = small.prod(axis=0), match.prod(axis=0)
    lead = last * (-hidden * np.log(2) + _log_share(tuples - hidden) - _log_share(tuples))
    factor = np.exp(lead)

    def exponent_all(kept: Floats) -> Floats:
        exponent: Floats = largest * _log_ratio(kept.prod(axis=0), tuples)
        return exponent

    def exponent_without(kept: Floats) -> Floats:
        matching, other = kept[: len(small)], kept[len(small) :]
        remaining_tuples, remaining_hidden = (matching + other).prod(axis=0), matching.prod(axis=0)
        free = largest - last
        with np.errstate(invalid="ignore"):
            rest = np.where(free > 0, free * _log_ratio(remaining_tuples, tuples), 0.0)
        exponent: Floats = rest + last * _log_ratio(remaining_tuples - remaining_hidden, tuples - hidden)
        return exponent

    covered, covered_error = _inclusion_exclusion(small, exponent_all, np.ones_like(factor))
    without, without_error = _inclusion_exclusion(np.vstack([match, small - match]), exponent_without, factor)
    share = factor * without / covered
    error = factor * (without_error + without * covered_error / covered) / covered
    return share, error * (1 + 16 * EPSILON) + share * (4 * np.abs(lead) + 8) * EPSILON


def _log_share(exponent: Floats) -> Floats:
    """Return ln(1 - 2^-x)."""
    return np.log1p(-np.exp2(-exponent))


def _log_ratio(exponent: Floats, leading: Floats) -> Floats:
    """Return ln((2^x - 1)/(2^y - 1)), minus infinity where x = 0."""
    with np.errstate(divide="ignore"):
        ratio: Floats = (exponent - leading) * np.log(2) + _log_share(exponent) - _log_share(leading)
        return ratio


def _inclusion_exclusion(groups: Floats, exponent: Callable[[Floats], Floats], weight: Floats) -> tuple[Floats, Floats]:
    """Sum (-1)^r C(group, removed) … exp(exponent(kept)) by levels r until what is left out does not count.

    groups: sizes of the groups of nodes to remove from, a row per group. weight: what the sum is multiplied by
    later on. Returns the sum and a bound of its error, both relative to the leading term 1.
    """
    total, magnitude = np.ones_like(weight), np.ones_like(weight)
    error = np.zeros_like(weight)
    largest = [int(size) for size in groups.max(axis=1)]
    for level in range(1, min(LEVELS, sum(largest)) + 1):
        level_sum, rounding, count = np.zeros_like(weight), np.zeros_like(weight), 0
        # Terms of one level have one sign: by Bonferroni what is left out is at most the last level that counts.
        for removed in split_removals(level, largest):
            ways = _binomials(groups, removed)
            x = exponent(np.maximum(groups - np.array(removed, dtype=float)[:, None], 0.0))
            term = np.where(ways > 0, ways * np.exp(x), 0.0)
            level_sum += term
            # exp(x) is off by |x| roundings of x, the product of binomials by one for each factor.
            rounding += np.where(term > 0, term * (4 * np.abs(np.maximum(x, -800.0)) + level + 6), 0.0)
            count += 1
        total += (-1) ** level * level_sum
        magnitude += level_sum
        error += (rounding + (count + 1) * level_sum) * EPSILON
        if np.all(weight * level_sum < 2.0**-60):
            break
    else:
        # All nodes are removed where there are no more than LEVELS: nothing is left out then.
        level_sum = np.where(groups.sum(axis=0) > LEVELS, level_sum, 0.0)
    return total, error + level_sum + LEVELS * EPSILON * (magnitude - 1) + EPSILON * (magnitude > 1)


def split_removals(level: int, largest: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to remove `level` nodes from groups that have at most `largest` nodes each."""
    if len(largest) == 1:
        if level <= largest[0]:
            yield (level,)
        return
    for first in range(min(level, largest[0]) + 1):
        for rest in split_removals(level - first, largest[1:]):
            yield (first, *rest)


def _binomials(groups: Floats, removed: Sequence[int]) -> Floats:
    """Return the product of C(group, removed), 0 where a group is too small."""
    ways = np.ones(groups.shape[1])
    for size, count in zip(groups, removed, strict=True):
        for number in range(count):
            ways = ways * np.maximum(size - number, 0.0) / (number + 1)
    return ways
