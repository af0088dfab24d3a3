"""How sensitive values go with quasi columns, learned from a release alone.

    p(k | c) = exp(Σ_j β_j(c_j, k)) / Z(c)

c: a row's codes, one of each quasi column j; k: a kind of sensitive values, which is a value alone or, of numbers and
rare values, with its neighbours. The effects β are those under which what is published is likeliest: how many rows of
each combination of codes have values of each kind is expected over all that the release leaves possible, then effects
move until as many are expected of the model, by turns (expectation maximization). As the turns get nearer to the end by
the same part each, three of them and an extrapolation do what many would (SQUAREM, Varadhan and Roland 2008).

Each completed table has effects of its own, from random weights of the groups of its own (a Bayesian bootstrap,
Rubin 1981): tables differ by what the release leaves open about the model, too. Nothing is drawn towards independence,
for what is pooled over tables would be, as well.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from sqlanon.adversary.groups import Pairs
from sqlanon.completion.model_rows import Whole
from sqlanon.estimators.evidence import Array

FIRST_ROUNDS, ROUNDS = 8, 4  # of three turns each: from no effects to everybody's, from these to one table's
MOST_ROWS, MOST_PAIRS = 250_000, 2_000_000  # that are learned from: rows, and rows with each possible kind
WORTH = 0.5  # rows that are added to every count
FURTHEST = 10.0  # turns that an extrapolation stands for, about


class Model:
    """The effects of T codes on K kinds, fitted to N rows in groups, whose values may be dealt in many ways."""

    def __init__(
        self, codes: Whole, parts: Sequence[slice], kinds: int, group: Whole, slot_group: Whole, slot_kind: Whole,
        held: Array,
    ) -> None:  # fmt: skip
        """Take the rows' codes, N x J, numbered through all columns, and for each column those that are its own.

        kinds: K. group: of each row, from 0. slot_group, slot_kind, held: what the groups hold of each kind. All stand
        in the order of the groups.
        """
        self.parts, self.group = parts, group
        slots = np.bincount(slot_group)
        width, first = slots[group], (np.cumsum(slots) - slots)[group]
        self.ends = np.concatenate(([0], np.cumsum(width)))
        row = np.repeat(np.arange(len(group)), width)
        slot = first[row] + np.arange(len(row)) - self.ends[row]
        self.pairs = Pairs(np.ones(len(group)), row, slot, slot_group, slot_kind, held, kinds, passes=3)
        combinations, inverse = np.unique(codes, axis=0, return_inverse=True)
        self.combination: Whole = inverse.ravel()
        place = np.arange(len(combinations))
        # of each column: which of its codes each combination has
        self.has = [
            sparse.csr_array(
                (np.ones(len(place)), (codes_of_column - part.start, place)), (part.stop - part.start, len(place))
            )
            for part, codes_of_column in zip(parts, combinations.T, strict=True)
        ]

    def learn_shared(self) -> Array:
        """Return the effects of all rows together, T x K."""
        return self._learn(np.zeros((self.parts[-1].stop, self.pairs.values)), np.ones(len(self.group)), FIRST_ROUNDS)

    def learn_table(self, shared: Array, seed: int) -> Array:
        """Return one table's effects, T x K, from those of all rows together."""
        weights = np.random.default_rng(seed).exponential(size=int(self.group.max()) + 1)
        return self._learn(shared, weights[self.group], ROUNDS)

    def weigh(self, chances: Array) -> sparse.csr_array:
        """Return how likely each row has each kind over all ways to deal, N x K; chances: by combination, U x K."""
        score = np.log(chances[self.combination[self.pairs.person], self.pairs.value])
        weights, _ = self.pairs.weigh(score, np.zeros(0))
        return sparse.csr_array((weights, self.pairs.value, self.ends), shape=(len(self.group), self.pairs.values))

    def _learn(self, effects: Array, weights: Array, rounds: int) -> Array:
        for _ in range(rounds):
            once = self._turn(effects, weights)
            step = once - effects
            change = self._turn(once, weights) - once - step
            length = np.sqrt((step**2).sum() / max((change**2).sum(), 1e-12))
            length = min(max(length, 1.0), FURTHEST)
            effects = self._turn(effects + 2 * length * step + length**2 * change, weights)
        return effects

    def _turn(self, effects: Array, weights: Array) -> Array:
        """Return effects by which the model expects as many rows as the evidence does now, one column after another."""
        logits = np.sum([has.T @ effects[part] for has, part in zip(self.has, self.parts, strict=True)], axis=0)
        chances = _norm(np.exp(logits - logits.max(axis=1, keepdims=True)))
        by_combination = sparse.csr_array((weights, (self.combination, np.arange(len(weights)))))
        counts = (by_combination @ self.weigh(chances)).toarray()
        people = by_combination.sum(axis=1)[:, None]
        moved = []
        for has, part in zip(self.has, self.parts, strict=True):
            step = np.log((has @ counts + WORTH) / (has @ (chances * people) + WORTH))
            chances = _norm(chances * (has.T @ np.exp(step)))
            moved.append(effects[part] + step)
        return np.concatenate(moved)


def _norm(weights: Array) -> Array:
    return np.asarray(np.maximum(weights / weights.sum(axis=1, keepdims=True), 1e-300))
