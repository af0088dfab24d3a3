"""The learned adversary: how sensitive values go with quasi values, learned from a release alone.

    log p(v | x) = log p(v) + Σ_f β_f(x_f, v) - log Z(x)

over chosen features f, columns and pairs of them. β is fitted by expectation maximization to what the release leaves
possible (groups, or randomized rows): features that overlap share what they tell. Nobody's own weight is among the
counts by which they are judged (leave one out), for a model would believe itself. Features are chosen by the
likelihood of groups or rows that were held out, so that the strongest model is found without the truth.
"""

import logging
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sqlanon.adversary.features import Feature
from sqlanon.adversary.groups import Pairs
from sqlanon.adversary.shown import Shown

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Single = NDArray[np.float32]  # large tables of (level, value): half as many bytes
log = logging.getLogger("sqlanon")

MOST_FEATURES = 8
GAIN = 3.0  # of ln likelihood, over all who are held out, for which a feature is taken in
HELD_OUT = 4  # one of so many groups
MOST_HELD_CELLS = 8_000_000  # of people who are held out and a value
TURNS, LAST_TURNS = 4, 12  # of expectation maximization, after a feature is chosen and in the end
WORTHS = (1.0, 0.02)  # of one person who is certain, beside every count
WORTH_STEPS = (1.0, 0.3, 0.1)  # that are tried once features are chosen
SHORTLIST = 10  # features that are tried again after the first was chosen

# N lines of people with P pairs of a line and a possible value. `weigh` returns the weights of pairs, and ln of the
# likelihood, both from ln(p(v | x) Z(x) / p(v)) of each pair and ln Z(x) of each line.
Evidence = Pairs | Shown


class Learner:
    """Effects of features, fitted to some people's evidence. weights: P, of pairs. tables: of each feature, K x V."""

    def __init__(self, evidence: Evidence, log_prior: Array, worth: float) -> None:
        """Begin with nothing learned. worth: of a person whose value is certain, beside every count."""
        self.evidence, self.log_prior = evidence, log_prior.astype(np.float32)
        self.weights, self.worth = evidence.even(), worth * evidence.possible
        self.features: list[Feature] = []
        self.tables: list[Single] = []
        # people who look alike are of one kind, for which p(v | x) is computed once
        self.kinds: Whole = np.zeros(len(evidence.people), dtype=np.int64)
        self._first: Whole = np.zeros(1, dtype=np.int64)
        self.logits = self.log_prior[None, :].copy()

    def add(self, feature: Feature) -> None:
        """Take in a feature, whose effects are none at first."""
        _, self._first, kinds = np.unique(
            self.kinds * feature.size + feature.levels, return_index=True, return_inverse=True
        )
        self.kinds = kinds.ravel()
        self.features.append(feature)
        self.tables.append(np.zeros((feature.size, len(self.log_prior)), dtype=np.float32))
        self.logits = sum_effects(self.log_prior, self.tables, [each.levels[self._first] for each in self.features])

    def expect(self, logits: Single) -> Single:
        """Return how often a person of each kind has each value: p(v | x), or where there are several, a rate."""
        return np.exp(logits) if self.evidence.several else softmax(logits)

    def persons(self) -> Array:
        """Return of how many people each line's weights are, N: of several values all of a line."""
        if self.evidence.several:
            return self.evidence.people
        return np.asarray(np.bincount(self.evidence.person, self.weights, minlength=len(self.evidence.people)))

    def effects(self, feature: Feature, lines: Single) -> tuple[Single, Single, Single]:
        """Return ln of what is weighed over what is expected, and both, by level and value: K x V.

        lines: what is expected of each kind of people, U x V. Counts have a person's worth beside them: one who may
        have n values tells of each a n-th.
        """
        evidence, shape = self.evidence, (feature.size, len(self.log_prior))
        cell = feature.levels[evidence.person] * shape[1] + evidence.value
        counts = np.bincount(cell, self.weights, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)
        mass = self.persons().astype(np.float32)
        joined = sparse.csr_array((mass, (feature.levels, self.kinds)), shape=(shape[0], len(lines)))
        expected = joined @ lines
        return np.log((counts + self.worth) / (expected + self.worth)), counts, expected

    def turn(self) -> None:
        """Fit every feature's effects once to the weights, and weigh anew."""
        evidence, person, value = self.evidence, self.evidence.person, self.evidence.value
        worth = self.worth
        self.score, plain = np.zeros(len(self.weights)), np.zeros(len(self.weights))
        own = self.weights / evidence.people[person]
        mass = self.persons() / evidence.people
        for number, feature in enumerate(self.features):
            at_kind = feature.levels[self._first]
            # what the other features expect, by the whole model's Z: at the fixed point counts = lines · exp β
            lines = self.expect(self.logits) * np.exp(-self.tables[number])[at_kind]
            table, counts, expected = self.effects(feature, lines)
            level = feature.levels[person]
            held = np.maximum(counts[level, value] - own, 0) + worth
            mine = lines[self.kinds[person], value] * mass[person]
            self.score += np.log(held / (np.maximum(expected[level, value] - mine, 0) + worth))
            plain += table[level, value]
            self.logits += (table - self.tables[number])[at_kind]
            self.tables[number] = table
        self.normal = np.zeros(0)
        if evidence.by_normal:  # of one pair a person: their own weight is in one term of Z
            prior = self.log_prior[value]
            whole = np.exp(log_sum(self.logits)[self.kinds].astype(float)) - np.exp(prior + plain)
            self.normal = np.log(np.maximum(whole, 1e-30) + np.exp(prior + self.score))
        self.weights, self.reached = evidence.weigh(self.score, self.normal)


def sum_effects(log_prior: Single, tables: Sequence[Single], levels: Sequence[Whole]) -> Single:
    """Return ln p(v) + Σ_f β_f(x_f, v) of people with these levels, N x V."""
    logits = np.tile(log_prior, (len(levels[0]), 1))
    for table, level in zip(tables, levels, strict=True):
        logits += table[level]
    return logits


def softmax(logits: Single) -> Single:
    """Return p(v | x) of each line."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def log_sum(logits: Single) -> Single:
    """Return ln Σ_v exp of each line."""
    top = logits.max(axis=1)
    return np.asarray(top + np.log(np.exp(logits - top[:, None]).sum(axis=1)))


def join_kinds(kinds: Whole, feature: Feature) -> Whole:
    """Return kinds of people who are alike in a further feature, too."""
    joined: Whole = np.unique(kinds * feature.size + feature.levels, return_inverse=True)[1].ravel()
    return joined


def judge_held_out(
    held: Evidence, features: Sequence[Feature], kinds: Whole, tables: Sequence[Single], prior: Single
) -> float:
    """Return ln of the likelihood of people who are held out, by tables of effects that were learned from others.

    features, kinds: theirs; people of one kind have the same levels.
    """
    first = np.zeros(int(kinds.max(initial=0)) + 1, dtype=np.int64)
    first[kinds] = np.arange(len(kinds))
    logits = sum_effects(prior, tables, [each.levels[first] for each in features]) if tables else prior[None, :]
    score = logits[kinds[held.person], held.value] - prior[held.value]
    reached = held.weigh(score.astype(float), log_sum(logits)[kinds].astype(float))[1]
    if isinstance(held, Shown):  # what is shown has probabilities that sum to 1, whatever the effects
        reached -= float(held.people @ np.log(held.whole(softmax(logits)))[kinds])
    return reached


def choose(
    learner: Learner, features: Sequence[Feature], held: Evidence, held_features: Sequence[Feature]
) -> tuple[list[int], list[float]]:
    """Choose features forward by the likelihood of who was held out; return their places and their gains.

    features, held_features: the same ones, of who is learned from and of who is held out.
    """
    chosen: list[int] = []
    gains: list[float] = []
    prior = learner.log_prior
    kinds: Whole = np.zeros(len(held.people), dtype=np.int64)  # of people held out who look alike
    tables: list[Single] = []

    def judge(place: int, tables: Sequence[Single]) -> float:
        looked_at = [held_features[number] for number in (*chosen, place)]
        return judge_held_out(held, looked_at, join_kinds(kinds, held_features[place]), tables, prior)

    reached = judge_held_out(held, [], kinds, [], prior)
    tried = list(range(len(features)))
    while len(chosen) < MOST_FEATURES and tried:
        lines = learner.expect(learner.logits)
        found = {place: judge(place, [*tables, learner.effects(features[place], lines)[0]]) for place in tried}
        tried = sorted(tried, key=lambda place: -found[place])
        best = tried[0]
        learner.add(features[best])
        for _ in range(TURNS):
            learner.turn()
        now = judge(best, learner.tables)
        if now < reached + GAIN:
            break
        chosen.append(best)
        gains.append(now - reached)
        kinds, tables, reached = join_kinds(kinds, held_features[best]), list(learner.tables), now
        tried = tried[1 : SHORTLIST + 1]
    return chosen, gains


def settle_worth(
    train: Evidence,
    features: Sequence[Feature],
    held: Evidence,
    held_features: Sequence[Feature],
    prior: Array,
    worth: float,
) -> float:
    """Return which worth near the one that features were chosen by says most of who was held out."""
    kinds: Whole = np.zeros(len(held.people), dtype=np.int64)
    for feature in held_features:
        kinds = join_kinds(kinds, feature)
    reached = {}
    for near in (worth * step for step in WORTH_STEPS):
        learner = Learner(train, prior, near)
        for feature in features:
            learner.add(feature)
        for _ in range(2 * TURNS):
            learner.turn()
        reached[near] = judge_held_out(held, held_features, kinds, learner.tables, learner.log_prior)
    return max(reached, key=lambda near: reached[near])
