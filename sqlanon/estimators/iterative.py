"""The paper's iteration (eqs. 6-14): a Bayesian update of the counts of 2^(w+1) states, w sensitive columns.

A state says whether a row satisfies the quasi part (first axis) and has each asked value (one axis a value). With
the transition matrix M = M0 ⊗ M1 ⊗ …, M0 = I, x_i ← Σ_j m_ij x_i y_j / Σ_r m_rj x_r from x = y, until what
is left to move, as the last turns tell, is below the tolerance. M1 = [[1-q, q], [(γ-1)/γ, 1/γ]] is made anew in each
turn from f, the rows of the value by the present x: q = f/N, which is biased (f (γ-1) / (γ (N-f)) would be exact).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Array


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


TOLERANCE, MAX_ITERATIONS = 0.01, 10_000  # what may be left to move of a count, and the most turns


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
