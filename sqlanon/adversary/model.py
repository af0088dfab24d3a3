"""The learned adversary: how sensitive values go with quasi values, learned from a release alone.

    log p(v | x) = log p(v) + Σ_f β_f(x_f, v) - log Z(x)

over chosen features f: quasi columns, coarser by quantiles where they are fine, and pairs of them. β is fitted by
expectation maximization to what the release leaves possible (groups, or randomized rows): features that overlap share
what they tell. Nobody's own weight is among the counts by which they are judged (leave one out), for a model would
believe itself. Features are chosen by the likelihood of groups or rows that were held out, so that the strongest model
is found without the truth.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sqlanon.adversary.evidence import Pairs, Shown

log = logging.getLogger("sqlanon")

Whole = NDArray[np.int64]

BINS = 8  # quantiles of a column of numbers or dates
FINE = 15  # different values, from which on a column is looked at by quantiles too
MOST_LEVELS = 600  # of a feature: more are looked at by quantiles alone, or, of a pair, not at all
LEAST_PEOPLE = 8  # of a pair's median level: with fewer, next to nothing is learned of it
Array = NDArray[np.float64]
Single = NDArray[np.float32]  # large tables of (level, value): half as many bytes
MOST_FEATURES, FEW_FEATURES = 8, 4  # the last where it is to be quick: those chosen first gain most
GAIN = 3.0  # of ln likelihood, over all who are held out, for which a feature is taken in
HELD_OUT = 4  # one of so many groups
MOST_HELD_CELLS = 8_000_000  # of people who are held out and a value
TURNS, LAST_TURNS = 4, 12  # of expectation maximization, after a feature is chosen and in the end
WORTHS = (0.02, 1.0)  # of one person who is certain, beside every count; with the last alone where it is to be quick
WORTH_STEPS = (1.0, 0.3, 0.1)  # that are tried once features are chosen
SHORTLIST = 10  # features that are tried again after the first was chosen
# N lines of people with P pairs of a line and a possible value. `weigh` returns the weights of pairs, and ln of the
# likelihood, both from ln(p(v | x) Z(x) / p(v)) of each pair and ln Z(x) of each line.
Evidence = Pairs | Shown


@dataclass(frozen=True)
class Feature:
    """One or two quasi columns. levels: N, everybody's level, from 0 to size - 1. columns: their places.

    by_quantiles: whether each is looked at by quantiles.
    """

    columns: tuple[int, ...]
    by_quantiles: tuple[bool, ...]
    levels: Whole
    size: int

    @property
    def parts(self) -> list[tuple[int, bool]]:
        """Return each column with whether it is looked at by quantiles."""
        return list(zip(self.columns, self.by_quantiles, strict=True))

    def named(self, names: Sequence[str]) -> str:
        """Say what it is: `year`, `hospital with ward`."""
        return " with ".join(names[column] for column in self.columns)

    def pick(self, people: "Whole | NDArray[np.bool_]") -> "Feature":
        """Return the feature of some people."""
        return Feature(self.columns, self.by_quantiles, self.levels[people], self.size)


def find_features(ranks: Whole, ordered: Sequence[bool], people: NDArray[np.float64]) -> list[Feature]:
    """Return the features of N people with K columns: single ones, then pairs.

    ranks: N x K, the number of each value in the column's order, from 0. ordered: K, whether neighbours are alike.
    people: N, how many each line stands for.
    """
    single: list[Feature] = []
    best: list[list[Feature]] = []
    for column, is_ordered in enumerate(ordered):
        levels = ranks[:, column]
        count = int(levels.max(initial=0)) + 1
        forms = [Feature((column,), (False,), levels, count)] if 1 < count <= MOST_LEVELS else []
        if count > FINE and (is_ordered or count > MOST_LEVELS):
            coarse = _by_quantiles(levels, people)
            forms.append(Feature((column,), (True,), coarse, int(coarse.max()) + 1))
        single += forms
        best.append(forms)
    joint = []
    for one, other in combinations(range(len(ordered)), 2):
        # the finest that is not too fine
        tried = ((first, second) for first in best[one] for second in best[other])
        pair = next((joined for first, second in tried if (joined := _join(first, second, people))), None)
        joint += [pair] if pair else []
    return single + joint


def _by_quantiles(levels: Whole, people: NDArray[np.float64]) -> Whole:
    held = np.bincount(levels, weights=people)
    place = np.floor(BINS * (np.cumsum(held) - held / 2) / held.sum()).astype(np.int64)
    return np.unique(place, return_inverse=True)[1].ravel()[levels]


def _join(first: Feature, second: Feature, people: NDArray[np.float64]) -> Feature | None:
    product, levels = np.unique(first.levels * second.size + second.levels, return_inverse=True)
    if len(product) > MOST_LEVELS or np.median(np.bincount(levels.ravel(), weights=people)) < LEAST_PEOPLE:
        return None
    columns, by_quantiles = first.columns + second.columns, first.by_quantiles + second.by_quantiles
    return Feature(columns, by_quantiles, levels.ravel(), len(product))


class Learner:
    """Effects of features, fitted to some people's evidence. weights: P, of pairs. tables: of each feature, K x V.

    People who look alike are of one of U kinds. chances: U x V, p(v | x), or where somebody may have several values
    how often each is had. log_whole: U, ln Z(x).
    """

    def __init__(self, evidence: Evidence, log_prior: Array, worth: float) -> None:
        """Begin with nothing learned. worth: of a person whose value is certain, beside every count."""
        self.evidence, self.log_prior = evidence, log_prior.astype(np.float32)
        self.weights, self.worth = evidence.even(), worth * evidence.possible
        self.features: list[Feature] = []
        self.tables: list[Single] = []
        self.kinds: Whole = np.zeros(len(evidence.people), dtype=np.int64)
        self._first: Whole = np.zeros(1, dtype=np.int64)
        self.chances: Single = np.exp(self.log_prior)[None, :]
        self.log_whole: Single = np.zeros(1, dtype=np.float32)
        self._norm()

    def _norm(self) -> None:
        """Let the chances of each kind of people sum to 1, where a person has one value."""
        if not self.evidence.several:
            whole = self.chances.sum(axis=1)
            self.chances /= whole[:, None]
            self.log_whole += np.log(whole)

    def add(self, feature: Feature) -> None:
        """Take in a feature, whose effects are none at first."""
        before = self.kinds
        self._first, self.kinds = join_kinds(before, feature)
        self.chances, self.log_whole = self.chances[before[self._first]], self.log_whole[before[self._first]]
        self.features.append(feature)
        self.tables.append(np.zeros((feature.size, len(self.log_prior)), dtype=np.float32))

    def persons(self) -> Array:
        """Return of how many people each line's weights are, N: of several values all of a line."""
        if self.evidence.several:
            return self.evidence.people
        return np.asarray(np.bincount(self.evidence.person, self.weights, minlength=len(self.evidence.people)))

    def effects(self, feature: Feature, persons: Array, table: Single | float = 0.0) -> tuple[Single, Single, Single]:
        """Return ln of what is weighed over what the other features expect, and both, by level and value: K x V.

        persons: N, as `persons` says. table: the feature's own effects in what is expected now. Counts have a person's
        worth beside them: one who may have n values tells of each a n-th.
        """
        evidence, shape = self.evidence, (feature.size, len(self.log_prior))
        cell = feature.levels[evidence.person] * shape[1] + evidence.value
        counts = np.bincount(cell, self.weights, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)
        mass = persons.astype(np.float32)
        joined = sparse.csr_array((mass, (feature.levels, self.kinds)), shape=(shape[0], len(self.chances)))
        expected = joined @ self.chances * np.exp(-table)
        return np.log((counts + self.worth) / (expected + self.worth)), counts, expected

    def turn(self) -> None:
        """Fit every feature's effects once to the weights, and weigh anew."""
        evidence, person, value = self.evidence, self.evidence.person, self.evidence.value
        worth, persons = self.worth, self.persons()
        self.score, plain = np.zeros(len(self.weights)), np.zeros(len(self.weights))
        own, mass = self.weights / evidence.people[person], (persons / evidence.people)[person]
        place = self.kinds[person] * len(self.log_prior) + value
        for number, feature in enumerate(self.features):
            # at the fixed point counts = what the other features expect · exp β
            before = self.tables[number]
            table, counts, expected = self.effects(feature, persons, before)
            cell = feature.levels[person] * len(self.log_prior) + value
            held = np.maximum(counts.take(cell) - own, 0) + worth
            mine = self.chances.take(place) * np.exp(-before).take(cell) * mass
            self.score += np.log(held / (np.maximum(expected.take(cell) - mine, 0) + worth))
            if evidence.by_normal:
                plain += table.take(cell)
            self.chances *= np.exp(table - before)[feature.levels[self._first]]
            self._norm()
            self.tables[number] = table
        self.normal = np.zeros(0)
        if evidence.by_normal:  # of one pair a person: their own weight is in one term of Z
            prior = self.log_prior[value]
            whole = np.exp(self.log_whole[self.kinds].astype(float)) - np.exp(prior + plain)
            self.normal = np.log(np.maximum(whole, 1e-30) + np.exp(prior + self.score))
        self.weights, self.reached = evidence.weigh(self.score, self.normal)


def join_kinds(kinds: Whole, feature: Feature) -> tuple[Whole, Whole]:
    """Return kinds of people who are alike in a further feature, too: the first line of each kind, everybody's kind."""
    _, first, joined = np.unique(kinds * feature.size + feature.levels, return_index=True, return_inverse=True)
    return first, joined.ravel()


def judge_held_out(held: Evidence, kinds: Whole, logits: Single, prior: Single) -> float:
    """Return ln of the likelihood of people who are held out, by effects that were learned from others.

    kinds: of N people. logits: U x V, ln p(v) + Σ_f β_f(x_f, v) of each kind.
    """
    score = logits[kinds[held.person], held.value] - prior[held.value]
    top = logits.max(axis=1, keepdims=True)
    odds = np.exp(logits - top)
    whole = odds.sum(axis=1, keepdims=True)
    normal = (top + np.log(whole)).ravel()[kinds].astype(float)
    reached = held.weigh(score.astype(float), normal)[1]
    if isinstance(held, Shown):  # what is shown has probabilities that sum to 1, whatever the effects
        reached -= float(held.people @ np.log(held.whole(odds / whole))[kinds])
    return reached


def judge_learned(learner: Learner, held: Evidence, features: Sequence[Feature]) -> tuple[float, Whole, Single]:
    """Return ln of the likelihood of people who are held out, their kinds, and the logits of these.

    features: those of the learner, of who is held out.
    """
    kinds, logits = np.zeros(len(held.people), dtype=np.int64), learner.log_prior[None, :]
    for feature, table in zip(features, learner.tables, strict=True):
        kinds, logits = _add_effects(kinds, logits, feature, table)
    return judge_held_out(held, kinds, logits, learner.log_prior), kinds, logits


def _add_effects(kinds: Whole, logits: Single, feature: Feature, table: Single) -> tuple[Whole, Single]:
    first, joined = join_kinds(kinds, feature)
    return joined, logits[kinds[first]] + table[feature.levels[first]]


def choose(
    learner: Learner,
    features: Sequence[Feature],
    held: Evidence,
    held_features: Sequence[Feature],
    beaten: float = 0.0,
    most: int = MOST_FEATURES,
) -> tuple[list[int], list[float]]:
    """Choose features forward by the likelihood of who was held out; return their places and their gains.

    features, held_features: the same ones, of who is learned from and of who is held out. beaten: what is
    gained otherwise: the search ends where it cannot be reached any more, as gains fall. most: that are chosen.
    """
    chosen: list[int] = []
    gains: list[float] = []
    reached, kinds, logits = judge_learned(learner, held, [])
    tried = list(range(len(features)))
    while len(chosen) < most and tried:
        persons, found = learner.persons(), dict[int, float]()
        for place in tried:
            table = learner.effects(features[place], persons)[0]
            found[place] = judge_held_out(
                held, *_add_effects(kinds, logits, held_features[place], table), learner.log_prior
            )
        tried = sorted(tried, key=lambda place: -found[place])
        learner.add(features[tried[0]])
        for _ in range(TURNS):
            learner.turn()
        now, kinds, logits = judge_learned(learner, held, [held_features[place] for place in (*chosen, tried[0])])
        if now < reached + GAIN:
            break
        chosen.append(tried[0])
        gains.append(now - reached)
        reached, tried = now, tried[1 : SHORTLIST + 1]
        if sum(gains) + gains[-1] * (most - len(gains)) < beaten:
            break
    return chosen, gains


def settle_worth(
    train: Evidence,
    features: Sequence[Feature],
    held: Evidence,
    held_features: Sequence[Feature],
    prior: Array,
    worth: float,
) -> float:
    """Return which worth near the one that features were chosen by says most of who was held out: down from it."""
    best, most = worth, -np.inf
    for near in (worth * step for step in WORTH_STEPS):
        learner = Learner(train, prior, near)
        for feature in features:
            learner.add(feature)
        for _ in range(2 * TURNS):
            learner.turn()
        reached = judge_learned(learner, held, held_features)[0]
        if reached <= most:
            break
        best, most = near, reached
    return best
