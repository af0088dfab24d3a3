"""Closed form: undo SPLU-Gen as if every value shared its decoy groups with all other values equally.

A row of s publishes s with probability 1/γ, a row of another value with q_s = f_s (γ-1) / (γ (N - f_s)), f_s estimated
by the published count. The quasi part P is published exactly, so that y = x/γ + (|P| - x) q gives x = (y - q |P|) /
(1/γ - q) without iterating. (The paper's q = f/N makes the expected published count f (1 + 1/γ - f/N) instead of f.)

As linear maps, T_ws = P(a row of value w publishes s): published figures y of a quasi part have the mean Tᵀ x, x the
true ones. Several columns are randomized apart, so that their T is a tensor product, applied and inverted factor by
factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sqlanon.estimators.evidence import Array

LEAST_DIFFERENCE = 1e-9  # of 1/γ - q: a value of every group is published by all rows alike
LEAST_DIAGONAL = 1e-6  # beside what has the rank of one
OVERLAP = 2 / 3  # of the shorter of two stretches of groups that overlap somewhere
TURNS = 200  # in which it is known how readily values meet


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
