"""Learn from the release how values go with quasi values, and name everybody's (de Finetti's attack).

Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009; Wong et al., Can the utility of anonymized data be used
for privacy breaches?, 2011. A naive-Bayes model of quasi values given the sensitive value is learned by expectation
maximization over the groups: the weight of a value v of somebody's group is, in every turn,

    w_iv ∝ held_v · b_gv · Π_j p(q_ij | v) / p(q_ij),

normalized over the person's values; b_gv takes a value more often until all of it is dealt out in its group. For
randomized values the published ones are the labels of the same classifier (Cormode, KDD 2011).

Pairs of a person and a value are many: of exact groups they are weighed a portion of the groups at a time.
"""

import logging
from collections.abc import Sequence
from typing import Any

from sqlanon.adversary.findings import DIGITS, Finding
from sqlanon.adversary.view import View
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")
TURNS = 10  # of expectation maximization; on Adult the share named right stays within .3 % from the seventh on

PAIRS_AT_ONCE = 1_000_000  # of a person and a value, weighed by one statement
EACH = Sql("1")  # people of a line
TAKEN = "the published value is taken"
LIMITS = (0.5, 0.9)  # confidences that are looked at apart


def learn_groups(view: View, links: Sql | None, promised: float | None) -> list[Finding]:
    """Attack groups by learning; return the share named right, or without links the adversary's own confidence."""
    weighed, factors = _learn(view)
    best = view.named_people(join([name_best(view, part, f"best_{n}") for n, part in enumerate(weighed)]))
    scores = None if links is None else view.scores(links)
    findings = judge(view, best, scores, "person_number", "naive Bayes, learned from the groups", promised)
    if links is not None:
        frequent = "the most frequent value, named for everybody"
        reached = view.value_figures["most_frequent"]
        findings.append(Finding("learning", frequent, reached, promised, whom="everybody"))
        if view.telling:
            forgetful = _forget_column(view, links, weighed, factors, promised)
            findings += [forgetful] if (forgetful.reached or 0.0) < (findings[0].reached or 0.0) else []
    return findings


def _forget_column(
    view: View, links: Sql, weighed: Sequence[Sql], factors: list[tuple[Sql, str]], promised: float | None
) -> Finding:
    """Name everybody's value once more without one quasi column; return what is left without the most telling one.

    The odds of the others are those that were learned with it: to learn them anew changes the share by a point or so.
    """
    left = {}
    for place, column in enumerate(view.quasi):
        log.info("forgetting %s", column)
        others = [factor for number, factor in enumerate(factors) if number != place]
        best = [
            name_best(view, deal(view, [part], others, view.codes, "forgetting")[0], f"forgetful_best_{number}")
            for number, part in enumerate(weighed)
        ]
        scored = {"best": view.named_people(join(best)), "link": links}
        figures = view.row("adversary/view/score_figures", scored, person_key="person_number", limits=[])
        left[column] = _count_right(figures["right_people"]) / figures["people"]
    telling = min(left, key=lambda column: left[column])
    whom = f"of the quasi columns {telling} gives most away"
    attack = f"the same, {telling} not looked at"
    return Finding("learning", attack, left[telling], promised, whom=whom, forgotten=telling)


def read_groups(view: View, promised: float | None) -> Finding:
    """Name each group's most frequent value for all in it; right are as many people as hold it, whoever they are."""
    reached = float(view.value_figures["most_frequent_inside"])
    attack = "the most frequent value of each group, named for all in it"
    return Finding("learning", attack, reached, promised, whom="everybody", headline=True, counted=True)


def _learn(view: View) -> tuple[list[Sql], list[tuple[Sql, str]]]:
    """Return everybody's weights after the last turn, and the odds that it went by."""
    people, count = view.coded_alike()
    weighed = pair(view, people, view.codes, count)
    for turn in range(TURNS):
        log.info("learning, turn %d of %d", turn + 1, TURNS)
        factors = _learn_odds(view, join(weighed))
        weighed = deal(view, weighed, factors, view.codes)
    return weighed, factors


def pair(view: View, people: Sql, codes: list[str], count: Sql = EACH) -> list[Sql]:
    """Return everybody with each value of their group, each as likely as any other: a relation for each portion.

    people: with their codes; count: how many people each is.
    """
    holdings, portions = view.holdings(), 1
    if view.exact_groups and view.engine.in_process:
        (row,) = view.engine.rows(f"select sum(group_size) as pairs from {holdings}")
        portions += int(row["pairs"] or 0) // PAIRS_AT_ONCE
    parts = []
    for portion in range(portions):
        part = Sql(f"(select * from {holdings} where abs(group_id % {portions}) = {portion})")
        relations = {"coded_person": people, "holding": holdings if portions == 1 else part}
        parts.append(view.replace(f"weighed_{portion}", "adversary/view/pair", relations, codes=codes, people=count))
    return parts


def join(parts: Sequence[Sql]) -> Sql:
    """Return all portions as one relation."""
    return parts[0] if len(parts) == 1 else Sql(f"({' union all '.join(f'select * from {part}' for part in parts)})")


def name_best(view: View, weighed: Sql, name: str) -> Sql:
    """Return the likeliest value of everybody in a portion."""
    return view.replace(name, "adversary/view/best", {"weighed": weighed}, person_key="person_number")


def deal(
    view: View, weighed: Sequence[Sql], factors: list[tuple[Sql, str]], codes: list[str], name: str = "weighed"
) -> list[Sql]:
    """Return everybody's weights after one turn, by what these odds tell of the codes, in relations of a name."""
    return [_deal(view, part, factors, codes, f"{name}_{number}") for number, part in enumerate(weighed)]


def _deal(view: View, weighed: Sql, factors: list[tuple[Sql, str]], codes: list[str], name: str) -> Sql:
    return view.replace(name, "adversary/view/weighed", {"weighed": weighed}, factors=factors, codes=codes)


def _learn_odds(view: View, weighed: Sql) -> list[tuple[Sql, str]]:
    """Return for every quasi column how codes go with values, learned from weights, beside the column's code."""
    odds = []
    for name, code in zip(view.names, view.codes, strict=True):
        relations = {"weighed": weighed, "code": view.code_table(name)}
        odds.append((view.replace(f"odds_of_{code}", "adversary/view/factor", relations, name=code), code))
    return odds


def learn_randomized(view: View, truth: Sql, promised: float | None) -> list[Finding]:
    """Attack randomized values: take what is published, and classify by it; scored over people who are unique."""
    values = {"value": view.values()}
    relations = values | {"coded_person": view.coded_people()}
    labelled = view.keep("labelled", "adversary/view/labelled_pair", relations, codes=view.codes)
    relations, factors = values | {"labelled": labelled}, _learn_odds(view, labelled)
    classified = view.keep("classified", "adversary/view/classified", relations, factors=factors, codes=view.codes)
    combinations = {"combination": view.combinations()}
    links = view.keep("unique_link", "adversary/view/unique_link", combinations | {"truth": truth})
    findings = []
    for name, weighed, attack in (
        ("published", labelled, TAKEN),
        ("learned", classified, "naive Bayes, learned from the published values"),
    ):
        pooled = view.keep(f"{name}_pooled", "adversary/view/best", {"weighed": weighed}, person_key="combination")
        best = view.keep(f"{name}_best", "adversary/view/unique_best", combinations | {"best": pooled})
        findings += judge(view, best, links, "combination", attack, promised)[:1]
    return findings


def take_published(promised: float | None) -> Finding:
    """Return what taking the published value reaches by the promise, where it is not scored."""
    return Finding("learning", TAKEN, promised, promised, whom="everybody", headline=True)


def _count_right(people: Any) -> float:
    return round(float(people), DIGITS)


def judge(
    view: View, best: Sql, links: Sql | None, person_key: str, attack: str, promised: float | None
) -> list[Finding]:
    """Return what an attack reaches over everybody, and over those whom it is sure of."""
    limits = [(limit, f"above_{n}", f"right_above_{n}") for n, limit in enumerate(LIMITS)]
    if links is None:
        sure: dict[str, Any] = view.row("adversary/view/confidence_figures", {"best": best}, limits=limits)
    else:
        sure = view.row(
            "adversary/view/score_figures", {"best": best, "link": links}, person_key=person_key, limits=limits
        )
    people = sure["people"]
    if not people:
        return []
    right = None if links is None else _count_right(sure["right_people"])
    reached = round(float(sure["mean_confidence"]), 9) if right is None else right / people
    whom = f"own confidence, over {people:,} people" if right is None else view.words_of(right, people)
    scored = right is not None  # an adversary's own confidence may err: it is told as such
    findings = [
        Finding(
            "learning", attack, reached=reached, promised=promised, chance=None, whom=whom, leak=None, headline=scored,
            believed=not scored, counted=scored,
        )
    ]  # fmt: skip
    for limit, above, right_above in limits:
        many = sure[above]
        part = _count_right(sure[right_above]) / many if right is not None and many else None
        whom = f"{many:,} of {people:,} people are named with it"
        findings.append(Finding("learning", f"the same, confidence above {limit:.0%}", part, promised, whom=whom))
    return findings
