"""Shares of rows by threshold, inverted: between which values of x a quantile lies, and where to look next.

Axes: E thresholds, values of x by their rank among all different ones, the last of which is the largest of all;
A answers (cells x value sets).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.aggregates import Quantile
from sqlanon.estimators.evidence import Array, BoolArray, IntArray

_ROUNDING = 1e-9  # of a share
_NARROW = 16  # how much closer a look at the place that a straight line names is than the gap around it


@dataclass(frozen=True)
class Shares:
    """F(t) = COUNT(x <= t) / COUNT(x) at thresholds t.

    rank: of the thresholds among the different values of x, from 0, ascending, E. value, low, high: F and its interval,
    E x A, NaN where there is none. known: where F was asked for, E x A: at the last threshold of all answers.
    rows, least_rows: COUNT(x), and the least that it may be, A.
    """

    rank: IntArray
    value: Array
    low: Array
    high: Array
    known: BoolArray
    rows: Array
    least_rows: Array


@dataclass(frozen=True)
class Target:
    """Where something is reached for the first time: the place among the thresholds, and the rank before, A each.

    level: of a curve (E x A), of which `reached` is the first place at the level; it is not at the rank before.
    """

    place: IntArray
    before: IntArray
    level: Array
    curve: Array


@dataclass(frozen=True)
class Bracketed:
    """Where a quantile lies.

    first, second: the rows that it lies between, `nearness` (A) to the second; low, high: the ends of its interval.
    null: there is no row. exact: F is known where it was asked for. is_open: F has no interval.
    """

    first: Target
    second: Target
    low: Target
    high: Target
    nearness: Array
    null: BoolArray
    exact: BoolArray
    is_open: BoolArray

    @property
    def targets(self) -> Iterator[tuple[Target, BoolArray]]:
        """Yield what is looked for, and in which answers."""
        yield from ((target, ~self.null) for target in (self.first, self.second))
        yield from ((target, ~(self.null | self.exact | self.is_open)) for target in (self.low, self.high))


def invert(shares: Shares, quantile: Quantile) -> Bracketed:
    """Return where F reaches the level of a quantile, and where its interval may (Woodruff's interval).

    shares: F where it was asked for; the closer its thresholds, the narrower what is returned.
    """
    known, null = shares.known, ~(shares.rows > 0)
    rows = np.where(null, 1.0, np.maximum(np.rint(shares.rows), 1.0))  # estimates may be no whole numbers
    value = _order(np.where(known, np.nan_to_num(shares.value), np.nan))
    first_rank, second_rank, nearness = quantile.rank_rows(rows)
    with np.errstate(invalid="ignore"):
        first, second = (_find_first(shares, value, rank - 1e-6, rows) for rank in (first_rank, second_rank))
        lower, upper = quantile.bound_levels(np.where(null, 1.0, np.fmax(shares.least_rows, 1.0)))
        low = _find_first(shares, shares.high, np.maximum(lower - _ROUNDING, _ROUNDING), np.ones_like(rows))
        high = _find_lasting(shares, np.maximum(upper - 1e-3 * _ROUNDING, 1e-3 * _ROUNDING))
    exact = ((shares.low == shares.high) | ~known).all(axis=0) & (shares.rows == shares.least_rows)
    is_open = (known & ~(np.isfinite(shares.low) & np.isfinite(shares.high))).any(axis=0)
    return Bracketed(
        first=first, second=second, low=low, high=high, nearness=nearness, null=null, exact=np.asarray(exact),
        is_open=np.asarray(is_open),
    )  # fmt: skip


def choose_ranks(shares: Shares, bracket: Bracketed, halving: bool) -> dict[int, BoolArray]:
    """Return the ranks to ask for next, each with its answers (A): around where a straight line reaches the level.

    shares, bracket: what is known, and what `invert` made of it. halving: ask also midway between what is known, which
    is sure to come near.
    """
    answers, pairs = np.arange(len(shares.rows)), list[tuple[IntArray, IntArray]]()
    for target, asked in bracket.targets:
        after = shares.rank[target.place]
        width = after - target.before
        places = np.searchsorted(shares.rank, target.before)
        start = np.where(target.before < 0, 0.0, np.nan_to_num(target.curve[places % len(shares.rank), answers]))
        rise = np.nan_to_num(target.curve[target.place, answers]) - start
        part = np.divide(target.level - start, rise, out=np.full(len(answers), 0.5), where=rise > 0)
        middle = target.before + np.round(np.clip(part, 0.0, 1.0) * width)
        step = np.maximum(1, width // _NARROW)
        open_answers = np.flatnonzero(asked & (width > 1))
        for look in [middle - step, middle, *([target.before + width // 2] if halving else [])]:
            ranks = np.clip(look, target.before + 1, after - 1).astype(np.int64)
            pairs.append((ranks[open_answers], open_answers))
    rank, answer = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return {number: np.isin(answers, answer[rank == number]) for number in np.unique(rank).tolist()}


def _order(value: Array) -> Array:
    """Return the nearest to estimates of F that never fall: midway between their largest so far and least to come."""
    rising = np.fmax.accumulate(value, axis=0)
    to_come = np.fmin.accumulate(value[::-1], axis=0)[::-1]
    ordered = np.clip((rising + to_come) / 2, 0.0, 1.0)
    ordered[-1] = 1.0
    return np.asarray(np.where(np.isnan(value), np.nan, ordered))


def _find_first(shares: Shares, curve: Array, level: Array, scale: Array) -> Target:
    """Return the first known threshold at which a curve, times a scale, is at a level; the last one if none is."""
    reached = shares.known & (curve * scale >= level)
    reached[-1] = True
    return _target(shares, reached.argmax(axis=0), level / scale, curve)


def _find_lasting(shares: Shares, level: Array) -> Target:
    """Return the first known threshold from which on the lower end of F is at a level, behind all where it is not."""
    missed = shares.known & ~(shares.low >= level)
    missed[-1] = False
    turned = missed[::-1]
    last_missed = np.where(missed.any(axis=0), len(missed) - 1 - turned.argmax(axis=0), -1)
    beyond = shares.known & (np.arange(len(missed))[:, None] > last_missed)
    return _target(shares, beyond.argmax(axis=0), level, shares.low)


def _target(shares: Shares, place: IntArray, level: Array, curve: Array) -> Target:
    """Return a place with the rank of the known threshold before it, -1 where there is none."""
    earlier = shares.known & (np.arange(len(shares.rank))[:, None] < place)
    last = len(earlier) - 1 - earlier[::-1].argmax(axis=0)
    before = np.where(earlier.any(axis=0), shares.rank[last], -1)
    return Target(np.asarray(place, dtype=np.int64), np.asarray(before, dtype=np.int64), level, curve)
