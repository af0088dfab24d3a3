"""Closed form: undo SPLU-Gen as if every value shared its decoy groups with all other values equally.

A row of s publishes s with probability 1/γ, a row of another value with q_s = f_s (γ-1) / (γ (N - f_s)), f_s estimated
by the published count. The quasi part P is published exactly, so that y = x/γ + (|P| - x) q gives x = (y - q |P|) /
(1/γ - q) without iterating. (The paper's q = f/N makes the expected published count f (1 + 1/γ - f/N) instead of f.)
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sqlanon.estimators.channel import Array

LEAST_DIFFERENCE = 1e-9  # of 1/γ - q: a value of every group is published by all rows alike


@dataclass(frozen=True)
class ClosedForm:
    """The `Channel` with T_ws = q_s for w ≠ s and 1/γ for w = s.

    counts: f', the published counts of the values (V), cut to N/γ. rows: N. gamma: γ, or N/m where groups differ.
    """

    counts: Array
    rows: float
    gamma: float

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

    def expected(self, function: Array) -> Array:
        """Return T z (`Channel.expected`), the shares of the other values scaled so that they sum to 1 - 1/γ."""
        others, kept_share = self.others, 1 / self.gamma
        if len(others) == 1:
            return function
        scale = (1 - kept_share) / np.maximum(others.sum() - others, 1e-300)
        return np.asarray(function * (kept_share - scale * others) + scale * (function @ others)[..., None])

    def solved(self, published: Array) -> Array:
        """Return x = (y - q |P|) / D, |P| the sum of y over the values."""
        return np.asarray((published - published.sum(axis=-1, keepdims=True) * self.others) / self.difference)

    def pulled(self, weights: Array) -> Array:
        """Return w/D less the constant that `solved` takes off through |P|."""
        scaled = weights / self.difference
        return np.asarray(scaled - (scaled @ self.others)[..., None])
