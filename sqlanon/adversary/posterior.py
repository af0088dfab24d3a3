"""Posterior probabilities of an adversary who knows a prior distribution (Wong et al. 2010, equations 1 to 3).

A group's rows and values are published, not which row has which value. A world gives each row one of the
values; its weight is the product of the priors p(s : x) of what it gives, s the row's signature. p(t : x) is the
weight of the worlds that give x to row t over the weight of all worlds: a ratio of permanents.

Rows of equal signature are alike, as equal values are. So a group is a matrix of priors, a line for each
different signature and a column for each different value, with how often each occurs.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]

MOST_STATES = 2**14  # 14 rows of different signatures
LARGEST_STATES, FEW_STATES = 2**18, 2**23  # of one group, and of all groups of a shape that are so large
MOST_ROWS = 100  # products of so many scaled priors stay within a double's range
_SCALINGS = 8
_SMALL = 1e-280  # weights below this are taken again with a wider range, where the machine has one
_LARGE = 1e-120  # a world's weight from which on sums of worlds are as exact as any
_AT_ONCE = 2**19  # states of groups computed together: what fits into a cache


class Posteriors(NamedTuple):
    """What is known of G groups of s signatures and k values.

    probability: G × s × k, p(t : x) or a bound of it, t any row of the signature. contradicted: G, whether the
    priors contradict the group: they give one of its values to none of its rows, or no world any weight.
    """

    probability: Array
    contradicted: Mask


def is_exact(rows: Sequence[int], counts: Sequence[int], groups: int = 1) -> bool:
    """Tell whether `posteriors` is meant for so many groups whose signatures and values occur this often."""
    states = min(_states(rows), _states(counts))
    few = states <= LARGEST_STATES and states * groups <= FEW_STATES
    return sum(rows) <= MOST_ROWS and (states <= MOST_STATES or few)


def posteriors(priors: Array, counts: Sequence[int] | None = None, rows: Sequence[int] | None = None) -> Posteriors:
    """Return the exact p(t : x) of G groups of one shape, by dynamic programming.

    priors: G × s × k, p(s : x). counts: how often each value occurs, rows: how many rows have each signature; once
    each if None, and both sum to the group's size N. The states are how many rows of each signature have got
    their value, the product of (rows + 1): 2^N where all differ. Only products and sums of priors are taken.

    A value that no row can have says nothing of its row: it counts as equally likely for all, which is the limit
    of small equal priors. Where no world has a weight every posterior is 1: whoever believes such priors may be
    convinced of anything, and a publisher must not count on that being the truth.
    """
    size, signatures, values = priors.shape
    rows = (1,) * signatures if rows is None else tuple(int(count) for count in rows)
    counts = (1,) * values if counts is None else tuple(int(count) for count in counts)
    if sum(rows) != sum(counts) or len(rows) != signatures or len(counts) != values or min((*rows, *counts)) < 1:
        raise ValueError(f"{rows} rows do not share values that occur {counts} times, with priors {priors.shape}")
    scaled, unlikely = equalize_impossible(priors)
    turned = _states(counts) < _states(rows)  # rows and values play the same part: fewer states win
    if turned:
        scaled, rows, counts = scaled.transpose(0, 2, 1), counts, rows
    # p(t : x) = E[rows of t's signature that have x] / rows of that signature, all of them being alike
    expected = np.empty(scaled.shape)
    for some in _portions(size, max(1, _AT_ONCE // _states(rows))):
        expected[some] = _expected(scaled[some], rows, counts)
    if turned:
        expected, rows = expected.transpose(0, 2, 1), counts
    # not >: a weight that is no number must not pass for a possible one
    impossible = ~(expected.sum(axis=(1, 2)) > 0)
    probability = np.minimum(expected / np.asarray(rows)[:, None], 1)
    probability[impossible] = 1
    return Posteriors(probability, impossible | unlikely)


def equalize_impossible(priors: Array) -> tuple[Array, Mask]:
    """Return priors in which values that no row can have are equally likely, and the groups that have such values."""
    unlikely: Mask = priors.max(axis=1) <= 0
    return np.where(unlikely[:, None, :], 1.0, priors), np.asarray(unlikely.any(axis=1))


def _expected(priors: Array, rows: tuple[int, ...], counts: tuple[int, ...]) -> Array:
    """Return how many rows of each signature are expected to have each value; 0 where no world has a weight."""
    weight, total = _weights(_scaled(priors, rows, counts), rows, counts)
    expected: Array = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    # a world's weight is a product of up to N priors: where it leaves a double's range, a wider type is taken
    small = np.flatnonzero(total < _SMALL)
    if len(small):
        weight, total = _weights(_scaled(priors[small].astype(np.longdouble), rows, counts), rows, counts)
        expected[..., small] = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return expected.transpose(2, 0, 1)


def _weights(priors: Array, rows: tuple[int, ...], counts: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the weight of the worlds that give each value to each signature (s × k × G), and of all worlds (G)."""
    groups, signatures, values = priors.shape
    factor = np.ascontiguousarray(priors.transpose(1, 2, 0))
    values_in_turn = np.repeat(np.arange(values), counts)
    # values are given one after another; a state says how many rows of each signature have got theirs
    levels = _transitions(rows)
    forward = np.zeros((_states(rows), groups), dtype=priors.dtype)
    forward[0] = 1
    for value, level in zip(values_in_turn, levels, strict=True):
        for signature, (before, after) in enumerate(level):
            forward[after] += forward[before] * factor[signature, value]
    # forward: weight of the ways from no row to a state; backward: from a state to all rows. A step's worlds weigh
    # forward[before] · p(s : x) · backward[after]
    backward = np.zeros_like(forward)
    backward[-1] = 1
    weight = np.zeros((signatures, values, groups), dtype=priors.dtype)
    for value, level in zip(values_in_turn[::-1], reversed(levels), strict=True):
        for signature, (before, after) in enumerate(level):
            worlds = backward[after] * factor[signature, value]
            backward[before] += worlds
            weight[signature, value] += np.einsum("sg,sg->g", forward[before], worlds)
    return weight, forward[-1]


@lru_cache(maxsize=4)
def _transitions(rows: tuple[int, ...]) -> list[list[tuple[Whole, Whole]]]:
    """Return, for each number of values given so far and each signature, the states before and after the next."""
    shape = tuple(count + 1 for count in rows)
    done = np.indices(shape).reshape(len(rows), -1)
    level = done.sum(axis=0)
    # states are numbered like the cells of an array of this shape: one more row of a signature is one stride further
    strides = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    levels = []
    for number in range(sum(rows)):
        here = np.flatnonzero(level == number)
        waiting = [here[done[place, here] < count] for place, count in enumerate(rows)]
        levels.append([(before, before + stride) for before, stride in zip(waiting, strides, strict=True)])
    return levels


def _scaled(priors: Array, rows: tuple[int, ...], counts: tuple[int, ...]) -> Array:
    """Divide lines and columns by their sums in turn: no posterior changes, and no product leaves a double's range."""
    # no product of so many priors is small
    if priors.min(initial=1, where=priors > 0) ** sum(rows) > _LARGE:
        return priors
    # a factor for a whole line or column is in the weight of every world alike: it cancels in p(t : x)
    scaled = priors
    for _ in range(_SCALINGS):
        for axis, weights in ((2, np.asarray(counts)), (1, np.asarray(rows)[:, None])):
            total = (scaled * weights).sum(axis=axis, keepdims=True)
            scaled = np.divide(scaled, total, out=np.zeros_like(scaled), where=total > 0)
    return scaled


def _states(counts: Sequence[int]) -> int:
    return math.prod(int(count) + 1 for count in counts)


def _portions(size: int, most: int) -> Iterator[slice]:
    return (slice(start, start + most) for start in range(0, size, most))
