"""Randomized rows: how likely the value that a row shows is its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass
class Shown:
    """Rows with the value that each shows: one is its own with 1 / gamma, and else drawn from those of its decoys.

    people: N, how many rows a line stands for. value: N. others: V, how likely a row of another value shows each.
    by_normal: Z(x) moves everybody's weights. most_cells: of people and a value, of who is learned from while features
    are chosen: one row in gamma teaches.
    """

    people: Array
    value: Whole
    log_prior: Array
    others: Array
    gamma: float
    several = False
    by_normal = True
    most_cells = 40_000_000

    @property
    def values(self) -> int:
        """Return how many values there are."""
        return len(self.others)

    @property
    def person(self) -> Whole:
        """Return the line of each pair: a line is a pair with what it shows."""
        return np.arange(len(self.people))

    @property
    def possible(self) -> float:
        """Return among how many values a person's own one hides."""
        return self.gamma

    def even(self) -> Array:
        """Return weights by which nothing is known of anybody."""
        return self.weigh(np.zeros(len(self.people)), np.zeros(len(self.people)))[0]

    def keeps(self, score: Array, normal: Array) -> Array:
        """Return how likely each row shows its own value, N."""
        chance = self._chance(score, normal)
        kept = chance / self.gamma
        return np.asarray(kept / (kept + self.others[self.value] * (1 - chance)))

    def weigh(self, score: Array, normal: Array) -> tuple[Array, float]:
        """Return what each row teaches of its value, and ln of the likelihood.

        With p = p(y | x) of the value y that a row shows, and k how likely it is its own, the likelihood moves with
        the effects by (k - p) / (1 - p) times (1 at y, less p(v | x) at every v).
        """
        chance = self._chance(score, normal)
        shows = chance / self.gamma + self.others[self.value] * (1 - chance)
        teaches = (chance / self.gamma / shows - chance) / np.maximum(1 - chance, 1e-12)
        return self.people * np.clip(teaches, 1e-9, 1), float(self.people @ np.log(shows))

    def whole(self, chances: NDArray[np.float32]) -> Array:
        """Return the sum over all values of how likely each is shown, U, of people with chances p(v | x), U x V."""
        return np.asarray(1 / self.gamma + self.others.sum() - chances @ self.others)

    def _chance(self, score: Array, normal: Array) -> Array:
        return np.minimum(np.exp(np.minimum(self.log_prior[self.value] + score - normal, 0)), 1 - 1e-12)

    @property
    def units(self) -> int:
        """Return how many lines there are, which are held out one by one."""
        return len(self.people)

    def pick(self, units: Mask) -> "tuple[Shown, Whole]":
        """Return some of the lines, and their places."""
        places = np.flatnonzero(units)
        return Shown(self.people[places], self.value[places], self.log_prior, self.others, self.gamma), places
