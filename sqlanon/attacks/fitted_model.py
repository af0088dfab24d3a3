"""Learn how values depend on quasi values by a model that is fitted to least-squares counts, as for completed tables.

Expectation maximization alone stays near its start where groups are large: each turn undoes only a little of the
mixing. Least squares estimates without bias how many rows of a code have a value (`sqlanon.completion.group_evidence`).
So the effects are first moved until the weights sum up to these counts,

    w_iv ∝ held_v · b_gv · exp(Σ_j β_j(c_ij, v)),     β_j(c, v) += ln(wanted / weighed),

and then one turn of naive Bayes follows: weights that are fitted to noisy counts are too confident, and the turn
corrects that. On Adult and the census this names more people rightly than either step alone, and than the most frequent
value of fifty completed tables.

A randomized value is undone by its row's own channel, T of the closed form: a row with codes c that shows y has the
true value x with a weight proportional to exp(Σ_j β_j(c_j, x)) T_xy. The weights are fitted to the counts of
`sqlanon.completion.recovering`. Rows with the same codes and the same shown value are weighed as one.
"""

import logging
from collections.abc import Sequence

import numpy as np

from sqlanon.adversary.findings import Finding
from sqlanon.adversary.view import View
from sqlanon.attacks import learning
from sqlanon.completion.effects import count_dealt, find_step
from sqlanon.completion.group_evidence import GroupEvidence
from sqlanon.completion.model_rows import ModelRows
from sqlanon.completion.recovering import ShownColumn, find_shared_step
from sqlanon.estimation.qit_st.tables import read_signature
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")
MOST_VALUES = 1000  # sensitive values: least squares solves a system of so many
MOST_PAIRS = 20_000_000  # of a pattern of randomized rows and a value; all are weighed in every turn
TURNS = 8  # of the fit; on Adult and the census the share named right does not grow after
LAST_DEALS = 3  # turns of dealing values out after the last odds
# turns after the fit to randomized values; more would follow the likelihood of few codes, away from the truth
BAYES_TURNS = 1
NAMED = "effects fitted to the groups' counts, as completed tables have them"
RANDOMIZED_NAMED = "effects fitted to the values' counts, as completed tables have them"
_KEPT = ("person_number", "group_id", "combination")
_CODE_STEP = 2**31  # a code and a value's number are one number in tables of odds


def learn_groups(view: View, links: Sql | None, promised: float | None) -> list[Finding]:
    """Attack groups by a fitted model; return the share named right, or without links the adversary's own confidence.

    Nothing is tried on releases of more values than a system is solved for.
    """
    totals = view.engine.arrays(f"select total from {view.values()} order by value_number asc nulls last")[
        "total"
    ].astype(float)
    if not 1 < len(totals) <= MOST_VALUES:
        return []
    relations = {"person": view.people(), "coded_person": view.coded_people()}
    known_people = view.subquery("adversary/view/known_person", relations, quasi=view.names, kept=view.kept)
    space = ModelRows(view.engine, known_people, view.names, {name: name for name in _KEPT})
    try:
        weighed = _fit(view, space, totals)
        best = [learning.name_best(view, part, f"fitted_best_{number}") for number, part in enumerate(weighed)]
    finally:
        space.close()
    scores = None if links is None else view.scores(links)
    return learning.judge(view, learning.join(best), scores, "person_number", NAMED, promised)


def _fit(view: View, space: ModelRows, totals: Array) -> list[Sql]:
    """Return everybody's weights by the fitted model, after its turn of naive Bayes."""
    coded = space.code(len(totals))
    log.info("learning, counts by code and value")
    target = _find_counts(view, space, coded, totals)
    effects = np.zeros(target.shape)
    weighed = learning.pair(view, coded, space.levels)
    for turn in range(TURNS):
        log.info("learning, turn %d of %d of the fit", turn + 1, TURNS)
        step = find_step(target, count_dealt(space, learning.join(weighed), target.shape, "weight"), turn)
        effects += step - step.mean(axis=1, keepdims=True)
        weighed = learning.deal(view, weighed, keep_odds(space, effects, space.parts, space.levels), space.levels)
    counts = count_dealt(space, learning.join(weighed), target.shape, "weight")
    odds = keep_odds(space, learn_odds(space, counts), space.parts, space.levels)
    for _ in range(LAST_DEALS):
        weighed = learning.deal(view, weighed, odds, space.levels)
    return weighed


def _find_counts(view: View, space: ModelRows, coded: Sql, totals: Array) -> Array:
    """Return how many people of each level have each value, T x V, as least squares finds."""
    signature = read_signature(view.manifest) if "parameters" in view.manifest else []
    holding = view.holdings()
    relations = {
        "coded_row": coded,
        "holding": holding,
        "group_class": space.make(
            "group_class", "completion/group_class", {"numbered": space.numbered}, signature=signature
        ),
        "group_weight": Sql(f"(select distinct group_id, cast(1 as double) as weight_1 from {holding})"),
    }
    return np.asarray(GroupEvidence(space, relations, ["weight_1"], totals).estimate()[0])


def learn_randomized(view: View, truth: Sql, promised: float | None) -> list[Finding]:
    """Attack randomized values by a fitted model, scored over people who are unique; nothing where values are many."""
    values = len(view.engine.rows(f"select value_number from {view.values()}"))
    if not 1 < values <= MOST_VALUES:
        return []
    relations = {"person": view.people(), "coded_person": view.coded_people()}
    known_people = view.subquery("adversary/view/known_person", relations, quasi=view.names, kept=view.kept)
    space = ModelRows(
        view.engine, known_people, view.names, {name: name for name in ("person_number", "value", "combination")}
    )
    loaded = Randomized(view.engine, view.tables, view.manifest)
    try:
        column = ShownColumn(space, loaded, 0, view.values())
        shown_rows = column.number_shown(space.code(values), "value", ["combination"])
        columns = {"columns": ["shown_level", *space.levels], "number": "pattern"}
        patterns = view.keep("shown_pattern", "adversary/view/combination", {"person": shown_rows}, **columns)
        if _count_rows(view, patterns) * values > MOST_PAIRS:
            return []
        weighed = _fit_randomized(view, column, patterns, values)
        best = view.keep("pattern_best", "adversary/view/pattern_best", {"weighed": weighed})
        relations = {
            "shown_row": shown_rows,
            "shown_pattern": patterns,
            "best": best,
            "combination": view.combinations(),
        }
        alone = view.keep("fitted_best", "adversary/view/pattern_named", relations, levels=space.levels)
    finally:
        loaded.close()
        space.close()
    links = view.keep("unique_link", "adversary/view/unique_link", {"combination": view.combinations(), "truth": truth})
    return learning.judge(view, alone, links, "combination", RANDOMIZED_NAMED, promised)


def _count_rows(view: View, relation: Sql) -> int:
    return int(view.engine.rows(f"select count(*) as row_count from {relation}")[0]["row_count"])


def _fit_randomized(view: View, column: ShownColumn, patterns: Sql, values: int) -> Sql:
    """Return the weight of every value for every pattern of row: a query, for all pairs together may be many."""
    space = column.space
    even = Sql(f"(select row_number, cast(1 as double) as weight_1 from {space.numbered})")
    target = column.find_targets(even, ["weight_1"], values)[0]
    levels = [*space.levels, "shown_level"]
    parts = [*space.parts, slice(column.first, column.first + values)]
    effects = np.zeros(target.shape)
    value = view.values()
    for turn in range(TURNS + BAYES_TURNS + 1):
        log.info("learning, turn %d of %d of the fit", turn + 1, TURNS + BAYES_TURNS + 1)
        odds = keep_odds(space, np.concatenate([effects, column.channel]), parts, levels)

        def weigh(rated: Sql, rate: str, factors: list[tuple[Sql, str]] = odds) -> Sql:
            relations = {"shown_pattern": rated, "value": value}
            return view.subquery(
                "adversary/view/pattern_pair", relations, factors=factors, levels=levels, rate=Sql(rate)
            )

        weighed = weigh(patterns, "cast(1 as double)")
        rated = view.replace(
            "rated_pattern", "adversary/view/rated_pattern", {"shown_pattern": patterns, "weighed": weighed}
        )
        weighed = weigh(rated, "shown_pattern.rate")
        dealt = count_dealt(space, weighed, target.shape, "weight")
        if turn < TURNS:
            effects += find_shared_step(target, dealt, turn, space.parts)
        else:
            totals, first = dealt[space.parts[0]].sum(axis=0), space.parts[0]
            effects = learn_odds(space, dealt)
            effects[first] += np.log(totals + 1)
    return weighed


def learn_odds(space: ModelRows, counts: Array) -> Array:
    """Return ln(p(level | value) / p(level)), T x V; one person's worth of the level's own share is added."""
    share = (space.rows_of_levels / space.rows_of_levels[space.parts[0]].sum())[:, None]
    totals = counts[space.parts[0]].sum(axis=0)
    return np.asarray(np.log((counts + share) / (totals + 1) / share))


def keep_odds(space: ModelRows, effects: Array, parts: Sequence[slice], levels: Sequence[str]) -> list[tuple[Sql, str]]:
    """Keep effects, T x V, as tables of odds, one for each column of levels, beside the column's name."""
    odds = []
    for part, level in zip(parts, levels, strict=True):
        code, value = np.indices(effects[part].shape)
        number = (code + part.start).ravel() * _CODE_STEP + value.ravel() + 1
        columns = {"odds_key": number, "odds": effects[part].ravel()}
        odds.append((space.keep_columns(f"odds_of_{level}", columns), level))
    return odds
