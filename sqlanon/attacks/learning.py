"""Learn from the release how values go with quasi values, and name everybody's.

`sqlanon.adversary.model` is the model. It is scored over people who are alone with their quasi values, for of these the
source says one value; where hardly anybody is, over all, each by the share of the people like them who have it.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.adversary.findings import DIGITS, Finding, Sure, Told
from sqlanon.adversary.learned import Adversary, Known, Truth, read_truth
from sqlanon.adversary.view import View
from sqlanon.plans.templates import Sql

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
class Learned:
    """What is reached by learning, by how sure the adversary is of whom, and what tells it."""

    findings: tuple[Finding, ...] = ()
    sure: tuple[Sure, ...] = ()
    told: tuple[Told, ...] = ()
    note: str = ""


def learn(
    view: View, truth: Sql | None, promised: float | None, telling: bool, quick_people: int | None = None
) -> Learned:
    """Name everybody's value.

    truth: what the source says of people; without it the adversary's own confidence is told. telling: whether to name
    once more without each column that is looked at. quick_people: from how many is learned where that is to be quick.
    """
    adversary = Adversary(view, quick_people)
    adversary.learn(quick=quick_people is not None)
    scored = None if truth is None else read_truth(view, truth)
    whole = _Scored(view, adversary.name(adversary.learner), scored)
    if not len(whole.known.combination):
        return Learned()
    findings = [whole.finding(NAMED, promised)]
    if scored is not None and view.randomized:
        findings.append(_Scored(view, adversary.taken(), scored).finding(TAKEN, promised))
    elif scored is not None:
        reached, attack = float(view.value_figures["most_frequent"]), "the most frequent value, named for everybody"
        findings.append(Finding("learning", attack, reached, promised, whom="everybody"))
    looked_at = {column for number in adversary.chosen for column in adversary.features[number].columns}
    without = {
        adversary.names[column]: _Scored(
            view, adversary.name(adversary.fit(adversary.without(column), FEWER_TURNS)), scored
        ).share
        for column in (sorted(looked_at) if telling else ())
    }
    told = [Told(name, without.pop(name, None)) for name in adversary.told()]
    told += [Told(name, share) for name, share in sorted(without.items(), key=lambda each: each[1])]
    return Learned(
        tuple(findings),
        tuple(whole.sure()),
        tuple(told),
        LEARNED_FROM.format(share=adversary.share) if adversary.share < 1 else "",
    )


class _Scored:
    """Guesses of the people who are looked up, beside the truth where it is known."""

    def __init__(self, view: View, known: Known, truth: Truth | None) -> None:
        self.view = view
        alone = known.people[known.alone].sum()
        few = alone < max(LEAST_ALONE, LEAST_SHARE * known.people.sum())
        self.known = known if few and not view.randomized else known.of(known.alone)
        self.right = None if truth is None else truth.right(self.known)
        if self.right is not None:
            there = ~np.isnan(self.right)
            self.known, self.right = self.known.of(there), self.right[there]

    @property
    def share(self) -> float:
        """Return the share of people who are named rightly, or are by the adversary's own confidence."""
        of = self.known.confidence if self.right is None else self.right
        return float(round(float(of @ self.known.people / max(self.known.people.sum(), 1)), DIGITS))

    def finding(self, attack: str, promised: float | None) -> Finding:
        """Return what naming reaches."""
        people, scored = round(self.known.people.sum()), self.right is not None
        whom = self.view.words_of(self.share * people, people) if scored else f"own confidence, over {people:,} people"
        return Finding(
            "learning", attack, self.share, promised, whom=whom, headline=scored, believed=not scored, counted=scored
        )

    def sure(self) -> list[Sure]:
        """Return how many are claimed with more than each confidence, and how many of these are right."""
        people, lines = round(self.known.people.sum()), []
        for limit in LIMITS:
            some = np.round(self.known.confidence, 9) > limit  # exactly one half is not above it
            many = self.known.people[some].sum()
            claimed = float(self.known.confidence[some] @ self.known.people[some] / many) if many else None
            right = None if self.right is None or not many else float(self.right[some] @ self.known.people[some] / many)
            lines.append(Sure(limit, round(many), people, claimed, right))
        return lines


def read_groups(view: View, promised: float | None) -> Finding:
    """Name each group's most frequent value for all in it; right are as many people as hold it, whoever they are."""
    reached = float(view.value_figures["most_frequent_inside"])
    attack = "the most frequent value of each group, named for all in it"
    return Finding("learning", attack, reached, promised, whom="everybody", headline=True, counted=True)


def take_published(promised: float | None) -> Finding:
    """Return what taking the published value reaches by the promise."""
    return Finding("learning", TAKEN, promised, promised, whom="everybody", headline=True)
