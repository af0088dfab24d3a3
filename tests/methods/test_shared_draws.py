"""Two tables of the same people under one key: what one release shows tells nothing of the draws of the other.

A value's rows stand in the order of their draws, and are dealt to groups in turn: how far a person's group lies behind
the first that holds a value tells the draw of a person with that value.
"""

from itertools import product

import numpy as np
import pytest

import sqlanon
from tests.databases import connect

KEY = "7" * 64
# rows of each value, by l; fewer than there are groups, so that each value has a first one
COUNTS = {4: (450, 400, 350, 300, 280, 220), 3: (375, 300, 250, 150, 125)}


def published(con, letter, l, seed, **asked):
    """Publish a table whose values are dealt to people by a seed; return them, and the draw that each value tells."""
    counts = COUNTS[l]
    values = np.random.default_rng(seed).permutation(
        [f"{letter}{n}" for n, count in enumerate(counts) for _ in range(count)]
    )
    people = "create or replace table people as select (i - 1)::integer as ssn, ssn as number, values[i] as disease"
    con.execute(f"{people} from (select ?::varchar[] as values), range(1, {len(values) + 1}) t(i)", [values.tolist()])
    asked = {"id": "ssn", "quasi": "number", "block": None, "key": KEY, "unique_quasi": "keep"} | asked
    release = sqlanon.anatomy(con, "people", sensitive="disease", l=l, **asked)
    groups = dict(release.table("qit").fetchall())
    told = [{} for _ in values]
    for value in np.unique(values):
        held = [group for group, other, _ in release.table("st").order("group_id").fetchall() if other == value]
        gaps = [(after - before) % (len(values) // l) for before, after in zip([held[-1], *held], held, strict=False)]
        turned = np.roll(held, -int(np.argmax(gaps))).tolist()
        for person, draws in enumerate(told):
            if groups[person] in turned:
                draws[value] = turned.index(groups[person]) / len(turned)
    return values, told


@pytest.mark.parametrize("follows", [False, True], ids=["alone", "under ledgers"])
def test_whoever_knows_one_table_does_not_learn_the_other(follows, tmp_path):
    con = connect()
    kept = [{"ledger": tmp_path / f"ledger_{n}", "out": tmp_path / f"release_{n}"} for n in range(2)]
    asked = kept if follows else [{}, {}]
    own, first = published(con, "a", 4, 1, **asked[0])
    other, second = published(con, "a", 4, 2, **asked[1])
    named = [
        min(draws, key=lambda value, draws=draws, known=known[value]: abs(draws[value] - known))
        for value, known, draws in zip(own, first, second, strict=True)
    ]
    assert np.mean(named == other) < 1 / 4 + 0.05


def test_whoever_knows_nobody_learns_nothing_from_values_that_differ():
    con = connect()
    own, first = published(con, "a", 3, 1)
    _, second = published(con, "b", 3, 2)
    named = [
        min(product(draws, others), key=lambda pair, draws=draws, others=others: abs(draws[pair[0]] - others[pair[1]]))[
            0
        ]
        for draws, others in zip(first, second, strict=True)
    ]
    assert np.mean(named == own) < 1 / 3 + 0.05


METHODS = {
    "anatomy": {"l": 4},
    "anatomy of two columns": {"sensitive": ["disease", "job"], "l": 3},
    "splu": {"gamma": 4},
    "robust": {"r": 3, "background_from": "sex"},
    "uncertain": {"quasi": "sex", "label": "number", "k": 6, "l": 3, "threshold": 0.3, "influence": "learn"},
}
BY_CHANCE = {"splu": 0.2}  # rows alike in two releases: of a hundred groups or more, or of seven values


@pytest.mark.parametrize("name", METHODS)
def test_one_row_that_differs_makes_all_draws_others_and_the_order_of_rows_none(name):
    con = connect()
    asked = {"quasi": ["number", "sex"], "sensitive": "disease", "id": "ssn", "key": KEY, "unique_quasi": "keep"}
    people = "select i as ssn, i as number, i % 2 as sex, {disease} as disease, i * i % 9 as job from range(600) t(i)"
    shown = []
    for disease, order in (("i % 7", "ssn"), ("i % 7", "-ssn"), ("case i when 300 then 8 else i % 7 end", "ssn")):
        con.execute(f"create or replace table people as {people.format(disease=disease)} order by {order}")
        release = getattr(sqlanon, name.partition(" ")[0])(con, "people", **asked | METHODS[name])
        table = release.table("qit" if "qit" in release.tables else "data").order("number")
        shown.append(table.fetchall())
    same, differing = (np.mean([a == b for a, b in zip(shown[0], other, strict=True)]) for other in shown[1:])
    assert same == 1
    assert differing < BY_CHANCE.get(name, 0.06)
