"""Learn from a release, as an adversary does, and name everybody's value.

What is fetched is bounded: people with the numbers of their quasi values, the values of some groups; everything else is
`sqlanon.adversary.model`. It is scored over people who are alone with their quasi values, for of these the source says
one value; where hardly anybody is, over all, each by the share of the people like them who have it.
"""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.adversary import model
from sqlanon.adversary.evidence import Pairs, Shown, pair_up
from sqlanon.adversary.findings import DIGITS, Attack, Finding, Sure, Told
from sqlanon.adversary.model import Feature, find_features
from sqlanon.adversary.view import View
from sqlanon.plain_values import is_ordered
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_PEOPLE, MOST_GROUPS = 200_000, 50_000  # that are learned from
MOST_PAIRS = 4_000_000  # of a person and a value of their groups
SEED = 1  # of who is held out: the same release is attacked alike whenever that is
NAMED = "the likeliest value, learned from the release"
TAKEN = "the published value is taken"
LIMITS = (0.5, 0.8, 0.95)  # confidences that are looked at apart
LEARNED_FROM = (
    "learned from {share:.1%} of the groups or rows, drawn, and scored over the people in them: who learns from all may"
    " reach more"
)
LEAST_ALONE, LEAST_SHARE = 30, 0.01  # people who are alone, and their share: where they are fewer, all are scored
FEWER_TURNS = 6  # of learning without a column: shares differ from the whole fit's by less than columns do


@dataclass(frozen=True)
class Known:
    """Who is named: by combination, the likeliest value, how sure the adversary is of it, and of how many people.

    alone: whether nobody else has these quasi values. right: the share of them whose value it is, where the truth is
    known.
    """

    combination: Whole
    value: Whole
    confidence: Array
    people: Array
    alone: Mask
    right: Array | None = None

    def of(self, some: Mask) -> "Known":
        """Return some of them."""
        columns = {name: column[some] for name, column in vars(self).items() if column is not None}
        return Known(**columns)

    @property
    def share(self) -> float:
        """Return the share of people who are named rightly, or are by the adversary's own confidence."""
        of = self.confidence if self.right is None else self.right
        return float(round(float(of @ self.people / max(self.people.sum(), 1)), DIGITS))

    def sure(self) -> list[Sure]:
        """Return how many are claimed with more than each confidence, and how many of these are right."""
        people, lines = round(self.people.sum()), []
        for limit in LIMITS:
            some = self.of(np.round(self.confidence, 9) > limit)  # exactly one half is not above it
            many = some.people.sum()
            claimed = float(some.confidence @ some.people / many) if many else None
            right = None if some.right is None or not many else float(some.right @ some.people / many)
            lines.append(Sure(limit, round(many), people, claimed, right))
        return lines


@dataclass(frozen=True)
class Truth:
    """What the source says of people, by combination: how many have which value.

    whole: how many people each combination has, where somebody may have several values; else they are added up.
    """

    combination: Whole
    value: Whole
    people: Array
    whole: Array | None = None

    def right(self, known: Known) -> Array:
        """Return the share of the people of each combination whose value is named; NaN of whom the source says none."""
        most = int(max(self.combination.max(initial=0), known.combination.max(initial=0))) + 1
        added = np.bincount(self.combination, self.people, minlength=most)
        if self.whole is not None:
            added = np.where(added > 0, np.resize(self.whole, most), 0.0)
        whole = added[known.combination]
        # a value that is published nowhere has number -1: nobody names it, and who has it is named wrongly
        values = int(max(self.value.max(initial=0), known.value.max(initial=0))) + 2
        key = self.combination * values + self.value + 1
        order = np.argsort(key)
        asked = known.combination * values + known.value + 1
        place = np.minimum(np.searchsorted(key[order], asked), len(key) - 1)
        if not len(key):
            return np.full(len(asked), np.nan)
        found = np.where(key[order][place] == asked, self.people[order][place], 0.0)
        shares: Array = np.divide(found, whole, out=np.full(len(found), np.nan), where=whole > 0)
        return shares


class Adversary:
    """One who has a release: what they know of people, and what they have learned.

    names: the quasi columns. combination: N, what each line of people is known by. row_count: people of a combination,
    looked at or not.
    """

    def __init__(self, view: View, most_people: int | None = None) -> None:
        """Read what the release shows of people, at most so many; nothing is learned yet."""
        self.most_people = most_people or MOST_PEOPLE
        self.names = list(view.quasi)
        engine = view.engine
        totals = _columns(engine.arrays(f"select value_number, total from {view.values()}"))
        self.totals = np.zeros(int(totals["value_number"].max()))
        self.totals[totals["value_number"].astype(np.int64) - 1] = totals["total"]
        ranks = _columns(engine.arrays(f"select * from {view.ranked()} order by combination asc nulls last"))
        counted = f"select row_count from {view.count_everybody()} order by combination asc nulls last"
        self.row_count = _columns(engine.arrays(counted))["row_count"]
        whole = ranks["row_count"].sum() if view.several else self.totals.sum()
        self.log_prior = np.log(np.maximum(self.totals, 1e-12) / whole)
        by_combination = np.stack([ranks[f"rank_{n}"] for n in range(1, len(self.names) + 1)], axis=1).astype(np.int64)
        types = engine.columns(f"select * from {view.combinations()}")
        self.evidence: model.Evidence
        self.combination: Whole = self._read_randomized(view) if view.randomized else self._read_groups(view)
        self.features = find_features(
            by_combination[self.combination], [is_ordered(types[name]) for name in view.names], self.evidence.people
        )
        self.chosen: list[int] = []
        self.worth = model.WORTHS[-1]

    def _read_groups(self, view: View) -> Whole:
        engine, seat = view.engine, view.seats()
        held = Sql(f"(select group_id, value_number, cast(sum(held) as double) as held from {view.holdings()}"
                   " group by group_id, value_number)")  # fmt: skip
        size = view.row("adversary/view/seat_figures", {"seat": seat, "held": held})
        share = min(
            1.0, self.most_people / max(float(size["people"]), 1), MOST_GROUPS / max(int(size["groups"]), 1),
            MOST_PAIRS / max(float(size["pairs"]), 1),
        )  # fmt: skip
        where = ""
        if share < 1:
            most = max(1, int(share * int(size["groups"])))
            drawn = view.keep("learned_group", "adversary/view/drawn_group", {"line": held}, seed="learned", most=most)
            where = f" where group_id in (select group_id from {drawn})"
        self.share = share
        read = _columns(engine.arrays(f"select combination, group_id, people from {seat}{where}"
                                      " order by group_id asc nulls last, combination asc nulls last"))  # fmt: skip
        slots = _columns(engine.arrays(f"select group_id, value_number, held from {held} as held{where}"
                                       " order by group_id asc nulls last, value_number asc nulls last"))  # fmt: skip
        groups, slot_group = np.unique(slots["group_id"].astype(np.int64), return_inverse=True)
        group = np.searchsorted(groups, read["group_id"].astype(np.int64))
        # a seat is a line of people in one group; who may be in several boxes is one line with all of their values
        combination = read["combination"].astype(np.int64) - 1
        if view.numbered:
            line, lines = np.arange(len(group)), combination
        else:
            lines, line = np.unique(combination, return_inverse=True)
        people = np.zeros(len(lines))
        people[line.ravel()] = read["people"]
        seat_of, slot = pair_up(group, slot_group.ravel())
        self.evidence = Pairs(
            people, line.ravel()[seat_of], slot, slot_group.ravel(), slots["value_number"].astype(np.int64) - 1,
            slots["held"], len(self.totals), view.several,
        )  # fmt: skip
        return lines

    def _read_randomized(self, view: View) -> Whole:
        engine, labelled = view.engine, view.labelled()
        rows = float(self.totals.sum())
        every = max(1, int(np.ceil(rows / self.most_people)))
        where = f" where person_number % {every} = 0" if every > 1 else ""
        self.share = 1 / every
        counted = f"select combination, value_number, count(*) as people from {labelled}{where}"
        order = "combination asc nulls last, value_number asc nulls last"
        read = _columns(engine.arrays(f"{counted} group by combination, value_number order by {order}"))
        gamma = 1 / (view.promise.plain or 1.0)
        others = self.totals * (gamma - 1) / (gamma * np.maximum(rows - self.totals, 1))
        value = read["value_number"].astype(np.int64) - 1
        self.evidence = Shown(read["people"], value, self.log_prior, np.minimum(others, 1 / gamma), gamma)
        return read["combination"].astype(np.int64) - 1

    def learn(self, quick: bool = False) -> None:
        """Choose features by who is held out, then learn from everybody; quick: with one worth of a person alone."""
        (train, features), (held, held_features) = self._split(np.random.default_rng(SEED))
        if len(held.people) and len(train.people) and len(self.totals) > 1:
            gained, most = -np.inf, model.FEW_FEATURES if quick else model.MOST_FEATURES
            for worth in model.WORTHS[-1:] if quick else model.WORTHS:
                learner = model.Learner(train, self.log_prior, worth)
                chosen, gains = model.choose(learner, features, held, held_features, gained, most)
                if sum(gains) > gained:
                    self.chosen, self.worth, gained = chosen, worth, sum(gains)
            if not quick:
                looked_at, held_at = ([some[place] for place in self.chosen] for some in (features, held_features))
                self.worth = model.settle_worth(train, looked_at, held, held_at, self.log_prior, self.worth)
        self.learner = self.fit(self.chosen, model.TURNS if quick else model.LAST_TURNS)

    def _split(self, draws: np.random.Generator) -> list[tuple[model.Evidence, list[Feature]]]:
        """Return people to learn from and people who are held out, each with their features."""
        evidence, rest = self.evidence, 1 - 1 / model.HELD_OUT
        held, place = draws.random(evidence.units) * model.HELD_OUT < 1, draws.random(evidence.units)
        parts: list[tuple[model.Evidence, list[Feature]]] = []
        for some, share, cells in ((~held, rest, evidence.most_cells), (held, 1 - rest, model.MOST_HELD_CELLS)):
            whole = len(self.totals) * share * len(evidence.people)
            part, people = evidence.pick(some & (place < cells / max(whole, 1)))
            parts.append((part, [feature.pick(people) for feature in self.features]))
        return parts

    def fit(self, chosen: Sequence[int], turns: int = model.LAST_TURNS) -> model.Learner:
        """Learn from everybody by some of the features."""
        learner = model.Learner(self.evidence, self.log_prior, self.worth)
        for number in chosen:
            learner.add(self.features[number])
        for turn in range(turns):
            log.info("learning, turn %d of %d", turn + 1, turns)
            learner.turn()
        return learner

    def name(self, learner: model.Learner) -> Known:
        """Return the likeliest value of everybody, and how sure the adversary is of it."""
        if isinstance(self.evidence, Shown):
            return self._name_randomized(self.evidence, learner)
        values = len(self.totals)
        key = self.combination[self.evidence.person] * values + self.evidence.value
        pair, inverse = np.unique(key, return_inverse=True)
        weight: Array = np.bincount(inverse.ravel(), learner.weights).astype(float)
        combination, value = np.divmod(pair, values)
        # of people alike in other groups than those learned from, what their quasi values tell is all that is known
        drawn = np.bincount(self.combination, self.evidence.people, minlength=len(self.row_count))
        kind = np.zeros(len(drawn), dtype=np.int64)
        kind[self.combination] = learner.kinds
        others = np.maximum(self.row_count - drawn, 0)[combination]
        weight = weight + others * learner.chances[kind[combination], value]
        # of equally likely values the first; threads add nothing up here, yet nothing hangs on last digits
        order = np.lexsort((value, -np.round(weight, 9), combination))
        first = order[np.unique(combination[order], return_index=True)[1]]
        named = combination[first]
        confidence = np.minimum(weight[first] / self.row_count[named], 1)
        return Known(named, value[first], confidence, drawn[named], self._alone(named))

    def _name_randomized(self, shown: Shown, learner: model.Learner) -> Known:
        """Name the value that a row shows, or another that is likelier; only of people who are alone."""
        keeps = shown.keeps(learner.score, learner.normal)
        chances = learner.chances
        mine = chances[learner.kinds, shown.value]
        # the likeliest other value of each kind of people: the second where a row shows the first
        best = np.argsort(-chances, axis=1)[:, :2][learner.kinds]
        other = np.where(best[:, 0] == shown.value, best[:, -1], best[:, 0])
        share = chances[learner.kinds, other] / np.maximum(chances.sum(axis=1)[learner.kinds] - mine, 1e-30)
        rest = np.where(other == shown.value, 0.0, (1 - keeps) * share)
        value, confidence = np.where(keeps >= rest, shown.value, other), np.maximum(keeps, rest)
        alone = self._alone(self.combination)
        return Known(self.combination, value, confidence, shown.people, alone).of(alone)

    def taken(self) -> Known:
        """Return the value that each randomized row shows, of people who are alone."""
        assert isinstance(self.evidence, Shown)
        shown, alone = self.evidence, self._alone(self.combination)
        kept = np.full(len(shown.people), 1 / shown.gamma)
        return Known(self.combination, shown.value, kept, shown.people, alone).of(alone)

    def _alone(self, combination: Whole) -> Mask:
        return np.asarray(self.row_count[combination] == 1)

    def without(self, column: int) -> list[int]:
        """Return the chosen features without a column: of a pair with it the other column stays."""
        single = {each.parts[0]: place for place, each in enumerate(self.features) if len(each.parts) == 1}
        left = [
            [place] if column not in self.features[place].columns
            else [single[part] for part in self.features[place].parts if part[0] != column]
            for place in self.chosen
        ]  # fmt: skip
        return list(dict.fromkeys(itertools.chain.from_iterable(left)))

    def told(self) -> list[str]:
        """Return what tells the sensitive value, columns and pairs, by how much what is held out gains by it."""
        return list(dict.fromkeys(self.features[number].named(self.names) for number in self.chosen))


def read_truth(view: View, truth: Sql) -> Truth:
    """Return what the source says of people, by combination and value, both numbered from 0."""
    read = _columns(view.engine.arrays(f"select combination, value_number, true_count from {view.count_truth(truth)}"))
    whole = None
    if view.several:
        rows = f"select row_count from {view.combinations()} order by combination asc nulls last"
        whole = _columns(view.engine.arrays(rows))["row_count"]
    return Truth(
        read["combination"].astype(np.int64) - 1, read["value_number"].astype(np.int64) - 1, read["true_count"], whole
    )


def _columns(arrays: Any) -> dict[str, Array]:
    return {name: np.asarray(values, dtype=float) for name, values in arrays.items()}


def learn(
    view: View, truth: Sql | None, promised: float | None, telling: bool, quick_people: int | None = None
) -> Attack:
    """Name everybody's value.

    truth: what the source says of people; without it the adversary's own confidence is told. telling: whether to name
    once more without each column that is looked at. quick_people: from how many is learned where that is to be quick.
    """
    adversary = Adversary(view, quick_people)
    adversary.learn(quick=quick_people is not None)
    true = None if truth is None else read_truth(view, truth)
    whole = _score(view, adversary.name(adversary.learner), true)
    if not len(whole.combination):
        return Attack(())
    findings = [_find(view, whole, NAMED, promised)]
    if true is not None and view.randomized:
        findings.append(_find(view, _score(view, adversary.taken(), true), TAKEN, promised))
    elif true is not None:
        reached, attack = float(view.value_figures["most_frequent"]), "the most frequent value, named for everybody"
        findings.append(Finding("learning", attack, reached, promised, whom="everybody"))
    without = {}
    if telling:
        looked_at = {column for number in adversary.chosen for column in adversary.features[number].columns}
        for column in sorted(looked_at):
            learner = adversary.fit(adversary.without(column), FEWER_TURNS)
            without[adversary.names[column]] = _score(view, adversary.name(learner), true).share
    told = [Told(name, without.pop(name, None)) for name in adversary.told()]
    told += [Told(name, share) for name, share in sorted(without.items(), key=lambda each: each[1])]
    notes = (LEARNED_FROM.format(share=adversary.share),) if adversary.share < 1 else ()
    return Attack(tuple(findings), notes, true is not None, tuple(whole.sure()), tuple(told))


def _score(view: View, known: Known, truth: Truth | None) -> Known:
    """Return the guesses of the people who are looked up, beside the truth where it is known."""
    alone = known.people[known.alone].sum()
    few = alone < max(LEAST_ALONE, LEAST_SHARE * known.people.sum())
    known = known if few and not view.randomized else known.of(known.alone)
    if truth is None:
        return known
    right = truth.right(known)
    return replace(known, right=right).of(~np.isnan(right))


def _find(view: View, known: Known, attack: str, promised: float | None) -> Finding:
    """Return what naming reaches."""
    people, scored = round(known.people.sum()), known.right is not None
    whom = view.words_of(known.share * people, people) if scored else f"own confidence, over {people:,} people"
    return Finding(
        "learning", attack, known.share, promised, whom=whom, headline=scored, believed=not scored, counted=scored
    )
