"""Conditions for r-robustness (Wong et al. 2010): bounds of posteriors that need no permanent.

`bounds` are sound for every group. The paper's own condition (`meets_delta`) is about two outcomes, x or not x;
under the paper's worlds with several values it can accept groups that break 1/r, see `posterior.posteriors`.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from sqlanon.adversary.posterior import Array, Mask, Posteriors, Whole, equalize_impossible

MOST_PAIRS = 2**16  # pairs of signatures times values of a group for which the sharper bound is computed
_AT_ONCE = 2**21  # numbers of an array


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
    most = max(1, _AT_ONCE // (signatures * values * (signatures if sharp else 1)))
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
        change = range_ * np.maximum(_largest_other(range_), 1)
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


def _largest_other(numbers: Array) -> Array:
    """Return for each place of the last axis the largest number at another place, 0 where there is none."""
    return -_least_other(-numbers, 0.0)


def _least_other(numbers: Array, none: float = np.inf) -> Array:
    """Return for each place of the last axis the least number at another place, `none` where there is none."""
    if numbers.shape[-1] == 1:
        return np.full_like(numbers, none)
    # at the place of the least it is the second least, at every other place the least
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
    # below r rows nothing is met: the ceiling is put under every deviation
    return np.where(free, (n - r) * f / np.where(free, odds * (r - 1) + n - 1, 1), np.where(n < r, -1.0, 0.0))


def meets_delta(priors: Array, r: float, counts: ArrayLike | None = None, rows: ArrayLike | None = None) -> Mask:
    """Tell which of G groups meet the paper's condition: Δ_max <= Δ_ceil for every value, each occurring once."""
    size, signatures, values = priors.shape
    count = np.broadcast_to(np.asarray(1 if counts is None else counts), (size, values))
    row_count = np.broadcast_to(np.asarray(1 if rows is None else rows), (size, signatures))
    limit = ceiling(priors.max(axis=1), row_count.sum(axis=1)[:, None], r)
    verdicts: Mask = ((deviation(priors) <= limit) & (count == 1)).all(axis=1)
    return verdicts
