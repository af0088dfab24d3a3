"""How SPLU-Gen's draws are undone: in closed form, and by the paper's iteration.

The closed form takes every value to share its decoy groups with all other values equally: a row of s publishes s with
probability 1/γ, a row of another value with q_s = f_s (γ-1) / (γ (N - f_s)), f_s estimated by the published count. The
quasi part P is published exactly, so that y = x/γ + (|P| - x) q gives x = (y - q |P|) / (1/γ - q) without iterating.
(The paper's q = f/N makes the expected published count f (1 + 1/γ - f/N) instead of f.)

As linear maps, T_ws = P(a row of value w publishes s): published figures y of a quasi part have the mean Tᵀ x, x the
true ones. Several columns are randomized apart, so that their T is a tensor product, applied and inverted factor by
factor.

The iteration (eqs. 6-14) is a Bayesian update of the counts of 2^(w+1) states, w sensitive columns. A state says
whether a row satisfies the quasi part (first axis) and has each asked value (one axis a value). With the transition
matrix M = M0 ⊗ M1 ⊗ …, M0 = I, x_i ← Σ_j m_ij x_i y_j / Σ_r m_rj x_r from x = y, until what is left to move, as the
last turns tell, is below the tolerance. M1 = [[1-q, q], [(γ-1)/γ, 1/γ]] is made anew in each turn from f, the rows of
the value by the present x: q = f/N, which is biased (f (γ-1) / (γ (N-f)) would be exact).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Array

LEAST_DIFFERENCE = 1e-9  # of 1/γ - q: a value of every group is published by all rows alike
LEAST_DIAGONAL = 1e-6  # beside what has the rank of one
OVERLAP = 2 / 3  # of the shorter of two stretches of groups that overlap somewhere
TURNS = 200  # in which it is known how readily values meet
TOLERANCE, MAX_ITERATIONS = 0.01, 10_000  # what may be left to move of a count, and the most turns


@dataclass(frozen=True)
class ClosedForm:
    """T of one column: T_ws = q_s for w ≠ s and 1/γ for w = s.

    counts: f', the published counts of the values (V), cut to N/γ. rows: N. gamma: γ, or N/m where groups differ.
    per_block: the groups of a block of mixed values. What it is applied to has the axis V last.
    """

    counts: Array
    rows: float
    gamma: float
    per_block: float = 1.0

    @cached_property
    def others(self) -> Array:
        """Return q (V): how likely a row of another value publishes each value."""
        rest = np.maximum(self.rows - self.counts, 1e-9)
        return np.minimum(self.counts * (self.gamma - 1) / (self.gamma * rest), 1 / self.gamma - LEAST_DIFFERENCE)

    @cached_property
    def difference(self) -> Array:
        """Return D = 1/γ - q (V)."""
        return 1 / self.gamma - self.others

    @property
    def slope(self) -> Array:
        """Return dq/df (V): q moves with the published count that it is made of."""
        rest = np.maximum(self.rows - self.counts, 1.0)
        return np.asarray((self.gamma - 1) * self.rows / (self.gamma * rest**2))

    def company(self, departed: float) -> Array:
        """Return by how much the x of each value varies (V), over (|P| - x)², where rows have left decoy groups.

        departed: the share that left, whatever its values. Of the groups that hold the f rows of s, (γ - 1) f other
        rows are still there in the mean, with the variance f γ (γ - 1) departed, so that others publish s with q + η,
        Var η = f departed (1 - 1/γ) / (N - f)². The published count that q is made of moves as well, and of η (|P| - x)
        / D in x just η (|P| - x) is left. (1 - 1/γ) is left out: that bounds values of opposite weights together.
        """
        return np.asarray(self.counts * departed / np.maximum(self.rows - self.counts, 1.0) ** 2)

    @cached_property
    def blocks(self) -> Array:
        """Return the variance of how many rows of each value s (V) meet those of another, over f_w/N (γ - 1).

        Values stand in blocks of groups one behind the other, in an order that is drawn once: the rows of s in a block,
        f γ/N of its groups, meet as many of w or none. Where s stands in every group, nothing is left to chance.
        """
        part = np.minimum(self.counts * self.gamma / self.rows, 1.0)
        return np.asarray(self.counts * np.maximum(OVERLAP * self.per_block * part, 1.0) * (1 - part))

    def expected(self, function: Array) -> Array:
        """Return T z, the mean of a function z of the published value by true value; the shares of the other values are
        scaled so that they sum to 1 - 1/γ.
        """
        others, kept_share = self.others, 1 / self.gamma
        if len(others) == 1:
            return function
        scale = (1 - kept_share) / np.maximum(others.sum() - others, 1e-300)
        return np.asarray(function * (kept_share - scale * others) + scale * (function @ others)[..., None])

    def solved(self, published: Array) -> Array:
        """Return x = (y - q |P|) / D, of which y is the mean, |P| the sum of y over the values."""
        return np.asarray((published - published.sum(axis=-1, keepdims=True) * self.others) / self.difference)

    @cached_property
    def meeting(self) -> Array:
        """Return how readily each value meets others, c (V): c_w (C - c_w) = f_w (1 - 1/γ) with C = Σ c."""
        others = np.maximum(self.counts, LEAST_DIFFERENCE) * (1 - 1 / self.gamma)
        found = others / np.sqrt(others.sum())
        for _ in range(TURNS):
            found = np.sqrt(found * others / np.maximum(found.sum() - found, LEAST_DIFFERENCE))
        return np.asarray(found)

    def solved_by_meetings(self, published: Array) -> Array:
        """Return x of y where equal values never meet in a group and others do as independently as they may.

        T_ws = c_w c_s / f_w for w ≠ s, a diagonal and what has the rank of one: where a value stands in nearly every
        group, others meet each other less than q says.
        """
        share = self.meeting / np.maximum(self.counts, LEAST_DIFFERENCE)
        diagonal = 1 / self.gamma - share * self.meeting
        diagonal = np.where(np.abs(diagonal) < LEAST_DIAGONAL, LEAST_DIAGONAL, diagonal)
        alone, line = published / diagonal, self.meeting / diagonal
        return np.asarray(alone - (alone @ share)[..., None] * line / (1 + share @ line))

    def pulled(self, weights: Array) -> Array:
        """Return what a row adds by its published value so that the sum estimates <w, x>: w/D less the constant that
        `solved` takes off through |P|.
        """
        scaled = weights / self.difference
        return np.asarray(scaled - (scaled @ self.others)[..., None])


@dataclass(frozen=True)
class Joint:
    """T of several columns; their values are numbered together, the last one running fastest.

    Arrays have the axis V = V₁ V₂ … last. No column: V = 1 and nothing is changed.
    """

    channels: Sequence[ClosedForm]

    def expected(self, function: Array) -> Array:
        """Return T z, column by column."""
        return self._each("expected", function)

    def solved(self, published: Array) -> Array:
        """Return T⁻ᵀ y, column by column."""
        return self._each("solved", published)

    def solved_by_meetings(self, published: Array) -> Array:
        """Return the same by how readily values meet, column by column."""
        return self._each("solved_by_meetings", published)

    def pulled(self, weights: Array) -> Array:
        """Return T⁻¹ w, column by column."""
        return self._each("pulled", weights)

    def spread(self, one: Array, other: Array) -> Array:
        """Return T(h h') - T(h) T(h'): the covariance of `one` and `other`, of the published value, by true value."""
        mean = self.expected(one)
        return self.expected(one * other) - mean * (mean if one is other else self.expected(other))

    def _each(self, what: str, array: Array) -> Array:
        grid = array.reshape(*array.shape[:-1], *(len(channel.counts) for channel in self.channels))
        for place, channel in enumerate(self.channels, start=-len(self.channels)):
            grid = np.moveaxis(getattr(channel, what)(np.moveaxis(grid, place, -1)), -1, place)
        return grid.reshape(array.shape)


def states(hits: Array, whole: Array, shape: Sequence[int], codes: NDArray[np.int64]) -> Array:
    """Return the paper's published states of each cell and asked combination: (C n) x 2 x 2 ….

    hits: the hits by published values, C x V. whole: the release's rows by published values, V. shape: V₁ … of the
    columns, whose product is V. codes: of the asked combinations, n.
    The first axis of a state: 0 where the quasi part fails; the others: 1 where the value is the asked one.
    """
    both = np.stack([whole - hits, hits], axis=1)
    tables = both.reshape(*both.shape[:2], *shape)
    for axis in range(2, 2 + len(shape)):
        rest = tables.sum(axis=axis, keepdims=True) - tables
        tables = np.stack([rest, tables], axis=-1)
    places = np.unravel_index(codes, tuple(shape))
    picked = np.moveaxis(tables, (0, 1), (len(shape), len(shape) + 1))[places]  # n x C x 2 x 2 …
    return picked.swapaxes(0, 1).reshape(-1, *([2] * (1 + len(shape))))


@dataclass(frozen=True)
class Iterated:
    """Hold the states after the last turn (n x 2 x 2 …), turns taken (n), and what is left to move, relatively (n)."""

    states: Array
    turns: NDArray[np.int64]
    change: Array

    @property
    def asked(self) -> Array:
        """Return the count of the state in which everything asked holds (n)."""
        return np.asarray(self.states.reshape(len(self.states), 2 ** (self.states.ndim - 1))[:, -1])


def iterate(
    published: Array, gammas: Sequence[float], tolerance: float = TOLERANCE, max_iterations: int = MAX_ITERATIONS
) -> Iterated:
    """Return n problems after their last turns, taken together; one that has converged stays as it is.

    published: y, n x 2 x 2 …, one axis for the quasi part and one for each of `gammas`. 0/0 counts as 0.
    tolerance: a relative change; it and max_iterations end the turns.
    """
    states = published.astype(float).copy()
    turns = np.zeros(len(states), dtype=np.int64)
    change, moved_before = np.full(len(states), np.inf), np.full(len(states), np.nan)
    running = np.arange(len(states))
    for _ in range(max_iterations):
        if not len(running):
            break
        before = states[running]
        after = _turn(before, published[running], gammas)
        # of a state that sinks below one row nothing is asked
        moved = np.abs((after - before) / np.maximum(before, 1)).max(axis=tuple(range(1, before.ndim)), initial=0)
        # turns that move ever less have as much before them as a geometric series has
        ratio = np.divide(moved, moved_before[running], out=np.ones_like(moved), where=moved_before[running] > 0)
        rest = np.where(ratio < 1, moved * ratio / np.maximum(1 - ratio, 1e-12), np.where(moved > 0, np.inf, 0))
        states[running], change[running], moved_before[running] = after, rest, moved
        turns[running] += 1
        running = running[rest > tolerance]
    return Iterated(states, turns, change)


def _turn(states: Array, published: Array, gammas: Sequence[float]) -> Array:
    """Return the next x (eq. 13)."""
    axes = range(2, states.ndim)
    moves = [_moves(states, axis, gamma) for axis, gamma in zip(axes, gammas, strict=True)]
    expected = states
    for axis, move in zip(axes, moves, strict=True):
        expected = _along(expected, axis, move.swapaxes(1, 2))
    factor = _ratio(published, expected)
    for axis, move in zip(axes, moves, strict=True):
        factor = _along(factor, axis, move)
    return states * factor


def _moves(states: Array, axis: int, gamma: float) -> Array:
    """Return M1 of one value for every problem, n x 2 x 2: by (row) having it and (column) publishing it."""
    summed = tuple(other for other in range(1, states.ndim) if other != axis)
    rest, value_rows = states.sum(axis=summed).T
    share = _ratio(value_rows, rest + value_rows)
    kept_share = np.full_like(share, 1 / gamma)
    return np.stack([np.stack([1 - share, share], axis=-1), np.stack([1 - kept_share, kept_share], axis=-1)], axis=1)


def _along(array: Array, axis: int, move: Array) -> Array:
    """Multiply one axis of every problem by its own 2 x 2 matrix: out_i = Σ_j move_ij in_j."""
    last = np.moveaxis(array, axis, -1)
    flat = last.reshape(len(array), -1, 2)
    return np.moveaxis(np.einsum("nij,nkj->nki", move, flat).reshape(last.shape), -1, axis)


def _ratio(top: Array, bottom: Array) -> Array:
    """Divide where there is something to divide by; 0/0 counts as 0."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)
