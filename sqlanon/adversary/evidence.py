"""What a release leaves possible for people: how likely each value of their groups, or of a randomized row, is theirs.

Where people have several values each, every value is one person's of a group, and says nothing of the others. Else
a group's people share its values in one of n!/∏c! ways. Where these are few the posterior is exact, a ratio of
permanents (`sqlanon.adversary.posterior`); beyond, lines and columns are scaled in turn until everybody has one value
and every value is dealt out, which is the most likely way to deal (Sinkhorn).
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sqlanon.adversary.posterior import states, weigh_worlds

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
Pack = tuple[Whole, tuple[int, ...], tuple[int, ...]]  # G x s x k pairs, their people and values

MOST_STATES, MOST_LINES = 2**9, 2**10  # of a group whose posterior is exact in every turn
MOST_PACKS = 200  # of groups of one shape: of shapes that fewer groups have the likeliest way stands for all
AT_ONCE = 2**20  # states of groups together
SCALINGS = 6  # of lines and columns, in every turn
LEAST_ELSEWHERE = 1e-3  # of how likely a value is another's


def pair_up(group: Whole, slot_group: Whole) -> tuple[Whole, Whole]:
    """Return each line with every slot of its group, both by number, P; slot_group: of slots, in rising order."""
    slots = np.bincount(slot_group, minlength=int(group.max(initial=-1)) + 1)
    width, first = slots[group], (np.cumsum(slots) - slots)[group]
    line = np.repeat(np.arange(len(group)), width)
    return line, first[line] + np.arange(len(line)) - (np.cumsum(width) - width)[line]


@dataclass
class Pairs:
    """Everybody with each value of their groups.

    people: N, how many a line of people stands for. person, slot: P, of each pair. slot_value, held: S, how often a
    slot's group holds its value. group: S, of a slot. values: V. several: whether a person may have several values.
    by_normal: whether Z(x) moves anybody's weights.
    most_cells: of people and a value, of who is learned from while features are chosen. passes: of scaling; each
    takes from the one before how likely a pair's value is another's. The likeliest way to deal answers too little to
    the odds; after three passes the weights are nearly all ways' (Bethe's permanent, Vontobel 2013).
    """

    people: Array
    person: Whole
    slot: Whole
    group: Whole
    slot_value: Whole
    held: Array
    values: int
    several: bool = False
    passes: int = 1
    by_normal = False
    most_cells = 8_000_000
    factor: Array = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing dealt."""
        self.factor = np.ones(len(self.held))

    @cached_property
    def value(self) -> Whole:
        """Return the value of each pair."""
        return self.slot_value[self.slot]

    @property
    def possible(self) -> float:
        """Return among how many values a person's own one hides, in the mean; of several, among whom one does."""
        if self.several:
            return len(self.slot) / max(len(self.held), 1)
        return float(self.people[self.person].sum() / self.people.sum())

    def even(self) -> Array:
        """Return weights, P, by which a person has each value as often as the groups hold it."""
        held = self.held[self.slot]
        if self.several:
            return self._share(self.people[self.person])[0]
        whole = np.bincount(self.person, held, minlength=len(self.people))
        return np.asarray(self.people[self.person] * held / whole[self.person])

    def weigh(self, score: Array, normal: Array) -> tuple[Array, float]:
        """Return the weights of pairs, P, that sum to `people`, and the logarithm of the weight of all ways to deal.

        score: P, ln of how much likelier than overall the value is for the person.
        """
        if self.several:
            top = np.full(len(self.held), -np.inf)
            np.maximum.at(top, self.slot, score)
            weights, whole = self._share(self.people[self.person] * np.exp(score - top[self.slot]))
            return weights, float((np.log(whole) + top)[np.bincount(self.slot, minlength=len(top)) > 0].sum())
        self.factor = np.ones(len(self.held))  # nothing hangs on what was weighed before
        top = np.full(len(self.people), -np.inf)
        np.maximum.at(top, self.person, score)
        odds = np.exp(score - top[self.person])
        weights, likelihood = np.empty_like(odds), float(self.people @ top)
        likelihood -= float(self.people @ normal) if len(normal) else 0.0
        scaled, packs = self._packs
        for all_places, people, held in packs:
            turned = states(held) < states(people)  # people and values play the same part: fewer states win
            most = max(1, AT_ONCE // min(states(people), states(held)))
            for first in range(0, len(all_places), most):
                places = all_places[first : first + most]
                if turned:
                    weight, total = weigh_worlds(odds[places].transpose(0, 2, 1), held, people)
                    weight = weight.transpose(1, 0, 2)
                else:
                    weight, total = weigh_worlds(odds[places], people, held)
                total = np.maximum(total, 1e-300)
                weights[places] = (weight / total).transpose(2, 0, 1)
                likelihood += float(np.log(total).sum())
        if len(scaled):
            weights[scaled], added = self._scale(odds[scaled], scaled)
            likelihood += added
        return weights, likelihood

    def _share(self, odds: Array) -> tuple[Array, Array]:
        """Return weights, P, by which every slot is dealt out, and the odds of all people of a slot, S."""
        whole = np.bincount(self.slot, odds, minlength=len(self.held))
        return self.held[self.slot] * odds / np.maximum(whole[self.slot], 1e-300), np.maximum(whole, 1e-300)

    def _scale(self, odds: Array, pairs: Whole) -> tuple[Array, float]:
        person, slot = self.person[pairs], self.slot[pairs]
        odds = odds * self.held[slot]
        size, slots = len(self.people), len(self.held)
        ends = np.searchsorted(person, np.arange(size + 1))
        among_copies = self.people[person] * self.held[slot]
        elsewhere = np.ones(len(odds))
        for _ in range(self.passes):
            matrix = sparse.csr_array((odds / elsewhere, slot, ends), shape=(size, slots))
            for _ in range(SCALINGS):
                rate = self.people / np.maximum(matrix @ self.factor, 1e-300)
                dealt = rate @ matrix
                self.factor = np.where(dealt > 0, self.held / np.maximum(dealt, 1e-300), self.factor)
            line = matrix @ self.factor
            rate = self.people / np.maximum(line, 1e-300)
            weights = matrix.data * self.factor[slot] * rate[person]
            elsewhere = np.maximum(1 - weights / among_copies, LEAST_ELSEWHERE)
        there, dealt_slots = line > 0, np.bincount(slot, minlength=slots) > 0
        likelihood = -(self.people[there] @ np.log(rate[there]))
        likelihood -= self.held[dealt_slots] @ np.log(self.factor[dealt_slots])
        return weights, float(likelihood)

    @cached_property
    def _packs(self) -> "tuple[Whole, list[Pack]]":
        """Return the pairs of groups that are scaled, by person, and packs of groups of one frequent shape."""
        group = self.group[self.slot]
        order = np.lexsort((self.slot, -self.held[self.slot], self.person, -self.people[self.person], group))
        start = np.flatnonzero(np.diff(group[order], prepend=-1))
        size = np.diff(start, append=len(order))
        slots = np.bincount(self.group, minlength=self.units)[group[order[start]]]
        lines = size // slots
        everywhere = np.bincount(self.person, minlength=len(self.people))
        packs: list[tuple[Whole, Pack]] = []
        for s, k in np.unique(np.stack((lines, slots), axis=1)[(size == lines * slots) & (size <= MOST_LINES)], axis=0):
            some = np.flatnonzero((lines == s) & (slots == k) & (size == s * k))
            places = order[start[some][:, None] + np.arange(s * k)].reshape(-1, s, k)
            people, held = self.people[self.person[places[:, :, 0]]], self.held[self.slot[places[:, 0, :]]]
            whole = (people % 1 == 0).all(axis=1) & (held % 1 == 0).all(axis=1)
            # who may be in another group too is in no exact one
            whole &= (people.sum(axis=1) == held.sum(axis=1)) & (everywhere[self.person[places[:, :, 0]]] == k).all(1)
            kinds, which = np.unique(np.concatenate((people, held), axis=1), axis=0, return_inverse=True)
            for kind, line in enumerate(kinds.astype(np.int64)):
                of_people, of_values = tuple(line[:s].tolist()), tuple(line[s:].tolist())
                alike = np.flatnonzero((which.ravel() == kind) & whole)
                if len(alike) and min(states(of_people), states(of_values)) <= MOST_STATES:
                    packs.append((some[alike], (places[alike], of_people, of_values)))
        packs = [pack for pack in packs if len(pack[0]) * MOST_PACKS >= len(start)]
        exact = np.zeros(len(start), dtype=bool)
        for groups, _ in packs:
            exact[groups] = True
        scaled = order[np.repeat(~exact, size)]
        return scaled[np.argsort(self.person[scaled], kind="stable")], [pack for _, pack in packs]

    @property
    def units(self) -> int:
        """Return how many groups there are, which are held out whole."""
        return int(self.group.max(initial=-1)) + 1

    def pick(self, units: Mask) -> "tuple[Pairs, Whole]":
        """Return the pairs of some groups, and the places of the people in them."""
        pairs = np.flatnonzero(units[self.group[self.slot]])
        people, person = np.unique(self.person[pairs], return_inverse=True)
        slots, slot = np.unique(self.slot[pairs], return_inverse=True)
        picked = Pairs(
            self.people[people], person.ravel(), slot.ravel(), self.group[slots], self.slot_value[slots],
            self.held[slots], self.values, self.several, self.passes,
        )  # fmt: skip
        return picked, people


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
