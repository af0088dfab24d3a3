"""Learn from randomized values as completed tables do: by the channel of the row's own, and effects of its codes.

A row with codes c that shows y has the true value x with a weight in proportion to exp(Σ_j β_j(c_j, x)) T_xy. T is the
channel of the closed form, and the effects β are moved until the weights sum up to the counts that the closed form
finds without bias (`sqlanon.completion.recovering`). Rows of the same codes that show the same are weighed as one.
"""

import logging

import numpy as np

from sqlanon.adversary.findings import Finding
from sqlanon.adversary.view import View
from sqlanon.attacks import learning
from sqlanon.attacks.fitted_model import keep_odds, learn_odds
from sqlanon.completion.effects import count_dealt
from sqlanon.completion.model_rows import ModelRows
from sqlanon.completion.recovering import ShownColumn, find_shared_step
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")
TURNS = 8
BAYES_TURNS = (
    1  # more of them make what is named worse: the fit is nearer to the truth than the likelihood of so few codes
)
MOST_VALUES = 1000  # sensitive values
MOST_PAIRS = 20_000_000  # of a kind of row and a value; all are weighed in every turn
NAMED = "effects fitted to the values' counts, as completed tables have them"


def learn_randomized(view: View, truth: Sql, promised: float | None) -> list[Finding]:
    """Attack randomized values by a fitted model, scored over people who are unique; nothing where values are many."""
    values = len(view.engine.rows(f"select value_number from {view.values()}"))
    if not 1 < values <= MOST_VALUES:
        return []
    relations = {"person": view.people(), "coded_person": view.coded_people()}
    known_people = view.subquery("known_person", relations, quasi=view.names, kept=view.kept)
    space = ModelRows(
        view.engine, known_people, view.names, {name: name for name in ("person_number", "value", "combination")}
    )
    loaded = Randomized(view.engine, view.tables, view.manifest)
    try:
        column = ShownColumn(space, loaded, 0, view.values())
        shown_rows = column.number_shown(space.code(values), "value", ["combination"])
        kinds = view.keep("shown_kind", "shown_kind", {"shown_row": shown_rows}, cells=space.cells)
        if _count_rows(view, kinds) * values > MOST_PAIRS:
            return []
        weighed = _fit(view, column, kinds, values)
        best = view.keep("kind_best", "best", {"weighed": weighed}, told_by="kind")
        relations = {"shown_row": shown_rows, "shown_kind": kinds, "best": best, "combination": view.combinations()}
        alone = view.keep("fitted_best", "kind_named", relations, cells=space.cells)
    finally:
        loaded.close()
        space.close()
    links = view.keep("unique_link", "unique_link", {"combination": view.combinations(), "truth": truth})
    return learning.judge(view, alone, links, "combination", NAMED, promised)


def _count_rows(view: View, relation: Sql) -> int:
    """Return how many rows a relation has."""
    return int(view.engine.rows(f"select count(*) as row_count from {relation}")[0]["row_count"])


def _fit(view: View, column: ShownColumn, kinds: Sql, values: int) -> Sql:
    """Return the weight of every value for every kind of row."""
    space = column.space
    even = Sql(f"(select row_number, cast(1 as double) as weight_1 from {space.numbered})")
    target = column.find_targets(even, ["weight_1"], values)[0]
    cells = [*space.cells, "shown_cell"]
    parts = [*space.parts, slice(column.first, column.first + values)]
    effects = np.zeros(target.shape)
    relations = {"shown_kind": kinds, "value": view.values()}
    for turn in range(TURNS + BAYES_TURNS + 1):
        log.info("learning, turn %d of %d of the fit", turn + 1, TURNS + BAYES_TURNS + 1)
        odds = keep_odds(space, np.concatenate([effects, column.channel]), parts, cells)
        weighed = view.replace("weighed", "kind_pair", relations, factors=odds, cells=cells)
        dealt = count_dealt(space, weighed, target.shape, "weight")
        if turn < TURNS:
            effects += find_shared_step(target, dealt, turn, space.parts)
        else:
            totals, first = dealt[space.parts[0]].sum(axis=0), space.parts[0]
            effects = learn_odds(space, dealt)
            effects[first] += np.log(totals + 1)
    return weighed
