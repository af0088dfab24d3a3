"""Posterior probabilities of an adversary who knows a prior distribution (Wong et al. 2010, equations 1 to 3).

A group's rows and values are published, not which row has which value. A world gives each row one of the
values; its weight is the product of the priors p(s : x) of what it gives, s the row's signature. p(t : x) is the
weight of the worlds that give x to row t over the weight of all worlds: a ratio of permanents.

Rows of equal signature are alike, as equal values are. So a group is a matrix of priors, a line for each
different signature and a column for each different value, with how often each occurs.

`bounds` need no permanent and are sound for every group. The paper's own condition (`meets_delta`) is about two
outcomes, x or not x; under the paper's worlds with several values it can accept groups that break 1/r.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]

MOST_STATES = 2**14  # 14 rows of different signatures
LARGEST_STATES, FEW_STATES = 2**18, 2**23  # of one group, and of all groups of a shape that are so large
MOST_ROWS = 100  # a product of so many scaled priors stays within the range of a double
_SCALINGS = 8
_SMALL = 1e-280  # smaller weights are computed again in a type with a wider range, where the machine has one
_LARGE = 1e-120  # sums of worlds are exact if the weight of a world is at least this
_AT_ONCE = 2**19  # states of groups computed together: what fits into a cache
MOST_PAIRS = 2**16  # pairs of signatures times values of a group for which the sharper bound is computed
_BOUNDED_AT_ONCE = 2**21  # numbers of an array of bounds


class Posteriors(NamedTuple):
    """What is known of G groups of s signatures and k values.

    probability: G × s × k, p(t : x) or a bound of it, t any row of the signature. contradicted: G, whether the
    priors contradict the group: they give one of its values to none of its rows, or no world any weight.
    """

    probability: Array
    contradicted: Mask


def is_exact(rows: Sequence[int], counts: Sequence[int], groups: int = 1) -> bool:
    """Tell whether `posteriors` is meant for so many groups whose signatures and values occur this often."""
    least = min(states(rows), states(counts))
    few = least <= LARGEST_STATES and least * groups <= FEW_STATES
    return sum(rows) <= MOST_ROWS and (least <= MOST_STATES or few)


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
    turned = states(counts) < states(rows)  # rows and values play the same part: fewer states win
    if turned:
        scaled, rows, counts = scaled.transpose(0, 2, 1), counts, rows
    # p(t : x) = E[rows of t's signature that have x] / rows of that signature, all of them being alike
    expected = np.empty(scaled.shape)
    most = max(1, _AT_ONCE // states(rows))
    for start in range(0, size, most):
        some = slice(start, start + most)
        expected[some] = _expected(scaled[some], rows, counts)
    if turned:
        expected, rows = expected.transpose(0, 2, 1), counts
    # not >: NaN must not count as a possible weight
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
    weight, total = weigh_worlds(_scaled(priors, rows, counts), rows, counts)
    expected: Array = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    # a world's weight is a product of up to N priors: where it leaves a double's range, a wider type is taken
    small = np.flatnonzero(total < _SMALL)
    if len(small):
        weight, total = weigh_worlds(_scaled(priors[small].astype(np.longdouble), rows, counts), rows, counts)
        expected[..., small] = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return expected.transpose(2, 0, 1)


def weigh_worlds(priors: Array, rows: tuple[int, ...], counts: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the weight of the worlds that give each value to each signature (s × k × G), and of all worlds (G)."""
    groups, signatures, values = priors.shape
    factor = np.ascontiguousarray(priors.transpose(1, 2, 0))
    values_in_turn = np.repeat(np.arange(values), counts)
    # values are assigned one after another; a state is how many rows of each signature have one
    levels = _transitions(rows)
    forward = np.zeros((states(rows), groups), dtype=priors.dtype)
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
    # states are numbered like the entries of an array of this shape: one more row of a signature is one stride
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


def states(counts: Sequence[int]) -> int:
    """Return in how many ways some of what occurs this often may be taken: the size of the arrays of a group."""
    return math.prod(int(count) + 1 for count in counts)


def bounds(priors: Array, counts: ArrayLike | None = None, rows: ArrayLike | None = None) -> Posteriors:
    """Return an upper bound of each p(t : x) of G groups with s signatures and k values.

    priors: G × s × k. counts (k or G × k): how often a value occurs; rows (s or G × s): rows of each signature.

    Exchange the values of rows t (which has x, c times in the group of N rows) and u (which has y): the weight of
    the world changes by q = f_u(x) f_t(y) / (f_t(x) f_u(y)). Let q_u be its least over the values y ≠ x that u can
    have, Q the sum of the N - c least q_u. Each exchange is undone by itself, so p Q <= c (1 - p), hence
    p <= c / (c + Q). Where t itself cannot have z of the values, at most z rows hold these, and the sum of the
    N - c - z least q_u, y now among what t can have, serves as well.
    """
    size, signatures, values = priors.shape
    count = np.broadcast_to(np.asarray(1 if counts is None else counts, dtype=np.int64), (size, values))
    row_count = np.broadcast_to(np.asarray(1 if rows is None else rows, dtype=np.int64), (size, signatures))
    sound_priors, unlikely = equalize_impossible(priors)
    bound = np.empty(priors.shape)
    sharp = signatures * signatures * values <= MOST_PAIRS
    most = max(1, _BOUNDED_AT_ONCE // (signatures * values * (signatures if sharp else 1)))
    for start in range(0, size, most):
        some = slice(start, start + most)
        bound[some] = _ranges(sound_priors[some], count[some], row_count[some])
        if sharp:
            bound[some] = np.minimum(bound[some], _exchanges(sound_priors[some], count[some], row_count[some]))
    bound[sound_priors == 0] = 0
    impossible = _impossible(sound_priors, count, row_count)
    bound[impossible] = 1  # as `posteriors` has it
    return Posteriors(bound, impossible | unlikely)


def _ranges(priors: Array, counts: Whole, rows: Whole) -> Array:
    """Bound by the range of each value's positive priors: q >= 1 / R, R = ρ_x · the largest other ρ_y."""
    positive = priors > 0
    range_ = priors.max(axis=1) / np.where(positive, priors, np.inf).min(axis=1)
    with np.errstate(over="ignore"):
        change = range_ * np.maximum(-_least_other(-range_, 0.0), 1)  # of the largest other
    # neither rows that cannot have x, nor values that t cannot have, take part in an exchange
    zeros = np.einsum("gsk,gk->gs", ~positive, counts)
    without = np.einsum("gsk,gs->gk", ~positive, rows)
    exchanged = rows.sum(axis=1)[:, None, None] - counts[:, None, :] - zeros[:, :, None] - without[:, None, :]
    count = counts[:, None, :]
    bound: Array = count / (count + np.maximum(exchanged, 0) / change[:, None, :])
    return bound


def _exchanges(priors: Array, counts: Whole, rows: Whole) -> Array:
    """Bound by each pair of signatures: t has the value, u takes it."""
    mine, other = priors[:, :, None, :], priors[:, None, :, :]
    signatures = np.arange(priors.shape[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        received = np.where(mine > 0, np.minimum(other / mine, 1e300), 0)  # f_u(x) / f_t(x)
        lost = np.where(other > 0, np.minimum(mine / other, 1e300), np.inf)  # f_t(y) / f_u(y)
    # q_u = f_u(x) / f_t(x) · min over y of f_t(y) / f_u(y); t exchanges with every row but itself
    partners = np.repeat(rows[:, None, :], len(signatures), axis=1)
    partners[:, signatures, signatures] -= 1
    due = rows.sum(axis=1)[:, None] - counts
    zeros = np.einsum("gsk,gk->gs", priors == 0, counts)
    exchanged = _least(_times(received, _least_other(lost)), partners, due[:, None, :])
    if zeros.any():
        lost = np.where(mine > 0, lost, np.inf)
        part = _least(_times(received, _least_other(lost)), partners, due[:, None, :] - zeros[:, :, None])
        exchanged = np.maximum(exchanged, part)
    count = counts[:, None, :]
    bound: Array = count / (count + exchanged)
    return bound


def _times(received: Array, lost: Array) -> Array:
    """Multiply; what u cannot have it does not receive, whatever it would lose."""
    with np.errstate(over="ignore"):
        return np.multiply(received, lost, out=np.zeros_like(lost), where=received > 0)


def _least(change: Array, partners: Whole, due: Whole) -> Array:
    """Sum the `due` least of `change` over the third axis, of which each stands for as many as `partners` says."""
    if (due >= partners.sum(axis=2)[:, :, None]).all():  # all of them
        many = np.broadcast_to(partners[:, :, :, None], change.shape)
        whole: Array = np.multiply(many, change, out=np.zeros_like(change), where=many > 0).sum(axis=2)
        return whole
    # in rising order, each stands for `many` rows, of which only those up to the `due`-th are summed
    order = np.argsort(change, axis=2)
    sorted_ = np.take_along_axis(change, order, axis=2)
    many = np.take_along_axis(np.broadcast_to(partners[:, :, :, None], change.shape), order, axis=2)
    before = np.cumsum(many, axis=2) - many
    summed_rows = np.clip(due[:, :, None, :] - before, 0, many)
    total: Array = np.multiply(summed_rows, sorted_, out=np.zeros_like(sorted_), where=summed_rows > 0).sum(axis=2)
    return total


def _least_other(numbers: Array, none: float = np.inf) -> Array:
    """Return for each place of the last axis the least number at another place, `none` where there is none."""
    if numbers.shape[-1] == 1:
        return np.full_like(numbers, none)
    # at the least value's place: the second least; elsewhere: the least
    first = np.argmin(numbers, axis=-1)[..., None]
    least = np.take_along_axis(numbers, first, axis=-1)
    others = numbers.copy()
    np.put_along_axis(others, first, np.inf, axis=-1)
    least_elsewhere = np.repeat(least, numbers.shape[-1], axis=-1)
    np.put_along_axis(least_elsewhere, first, others.min(axis=-1, keepdims=True), axis=-1)
    return least_elsewhere


def _impossible(priors: Array, counts: Whole, rows: Whole) -> Mask:
    """Tell which groups have no world of positive weight: their rows' possible values do not suffice.

    A flow goes from every signature, as much as it has rows, to the values it can have, as often as they occur.
    """
    impossible = np.zeros(len(priors), dtype=bool)
    # where every prior is positive, every world has a weight
    doubtful = np.flatnonzero((priors == 0).any(axis=(1, 2)))
    if not len(doubtful):
        return impossible
    _, signatures, values = priors.shape
    width = signatures + values
    group, signature, value = np.nonzero(priors[doubtful] > 0)
    places = 2 + np.arange(len(doubtful) * width).reshape(-1, width)
    row_count, count = rows[doubtful], counts[doubtful]
    lines, columns = places[:, :signatures], places[:, signatures:]
    tails = np.concatenate((np.zeros(lines.size, dtype=np.int64), lines[group, signature], columns.ravel()))
    heads = np.concatenate((lines.ravel(), columns[group, value], np.ones(columns.size, dtype=np.int64)))
    room = np.concatenate(
        (row_count.ravel(), np.minimum(row_count[group, signature], count[group, value]), count.ravel())
    )
    # one network for all groups: node 0 is the source, node 1 the sink, then each group's signatures and values
    network = sparse.csr_array((room.astype(np.int32), (tails, heads)), shape=(places.max() + 1,) * 2)
    flow = maximum_flow(network, 0, 1).flow
    passed = np.asarray(flow[[0], :].todense()).ravel()[lines].sum(axis=1)
    impossible[doubtful] = passed < row_count.sum(axis=1)
    return impossible


def deviation(priors: Array) -> Array:
    """Return the paper's Δ_max of G groups, G × k: the largest prior of each value less the least."""
    spread: Array = priors.max(axis=1) - priors.min(axis=1)
    return spread


def ceiling(largest: ArrayLike, size: ArrayLike, r: float) -> Array:
    """Return the paper's Δ_ceil: (N - r) f / (f (r - 1) / (1 - f) + N - 1), f the largest prior of a value.

    size: N. It is 0 where f is 0 or 1, and where N = r; it nears f as N grows.
    """
    f, n = np.broadcast_arrays(np.asarray(largest, dtype=float), np.asarray(size, dtype=float))
    free = (f < 1) & (f > 0)
    odds = np.divide(f, 1 - f, out=np.zeros(f.shape), where=free)
    # with fewer than r rows no bound can hold: the ceiling is set below every deviation
    return np.where(free, (n - r) * f / np.where(free, odds * (r - 1) + n - 1, 1), np.where(n < r, -1.0, 0.0))


def meets_delta(priors: Array, r: float, counts: ArrayLike | None = None, rows: ArrayLike | None = None) -> Mask:
    """Tell which of G groups meet the paper's condition: Δ_max <= Δ_ceil for every value, each occurring once."""
    size, signatures, values = priors.shape
    count = np.broadcast_to(np.asarray(1 if counts is None else counts), (size, values))
    row_count = np.broadcast_to(np.asarray(1 if rows is None else rows), (size, signatures))
    limit = ceiling(priors.max(axis=1), row_count.sum(axis=1)[:, None], r)
    verdicts: Mask = ((deviation(priors) <= limit) & (count == 1)).all(axis=1)
    return verdicts
