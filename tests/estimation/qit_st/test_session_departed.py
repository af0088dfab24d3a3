"""Answers where members of groups have departed: they are people whom no question is about."""

import numpy as np
import pandas as pd
import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.errors import ReleaseError
from sqlanon.estimation.qit_st.tables import GroupTables
from sqlanon.estimation.session import Session
from sqlanon.estimators import OF_GROUPS
from sqlanon.key import Key
from sqlanon.plans.following import Following
from sqlanon.plans.templates import Sql
from sqlanon.publishing.release_request import ReleaseRequest, prepare

ROWS, RELEASES = 900, 6
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM release WHERE s = 'v1'",
    "SELECT COUNT(*) AS n FROM release WHERE s <= 'v2' AND age < 40",
    "SELECT SUM(age) AS n FROM release WHERE s = 'v0'",
)


def departed_release(con, chance, share):
    """Publish people, and again without a share of them; return the second release, opened."""
    people = pd.DataFrame({
        "id": np.arange(ROWS), "age": chance.integers(20, 60, ROWS),
        "s": [f"v{one}" for one in chance.choice(6, ROWS, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1])],
    })  # fmt: skip
    key, known = Key(chance.bytes(32).hex(), given=True), {}
    for number, there in ((1, people), (2, people[chance.random(ROWS) >= share])):
        con.register("there", there)
        con.execute("create or replace table microdata as from there")
        known = publish(con, key, number, known)
    return opened(con)


def publish(con, key, number, known):
    """Put one release into the session; return the ledger after it."""
    engine = DuckDBEngine(con)
    asked = ReleaseRequest("anatomy", "microdata", ("age",), ("s",), ("id",), key=key)
    following = Following(number, "leave", known, True)
    with prepare(asked, engine, fresh_prefix(), following=following, l=3, block=64) as (plan, _):
        pass
    with run_plan(plan, engine, key):
        for table, output in zip(("qit", "st"), plan.outputs, strict=True):
            con.execute(f"create or replace table {table} as {output.sql}")
        for name, relation in plan.ledger.items():
            con.execute(f"create or replace table {name}_{number} as from {relation}")
    return {f"known_{name}": Sql(f"{name}_{number}") for name in plan.ledger}


def opened(con, number=2):
    columns = {"quasi": ["age"], "sensitive": ["s"], "group": "group_id", "count": "count"}
    manifest = {"method": "anatomy", "parameters": {"l": 3, "release": number}, "columns": columns}
    return Session(GroupTables, DuckDBEngine(con), {"qit": Sql("qit"), "st": Sql("st")}, manifest, OF_GROUPS)


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_intervals_hold_the_truth_and_the_uniform_estimate_is_unbiased(con, share):
    chance, held, errors = np.random.default_rng(5), 0, []
    for _ in range(RELEASES):
        session = departed_release(con, chance, share)
        for question in QUESTIONS:
            ((truth,),) = con.execute(question.replace("release", "microdata")).fetchall()
            answer = session.answer(question)
            held += answer["n_low"][0] <= truth <= answer["n_high"][0]
            errors.append(session.answer(question, "uniform")["n"][0] / truth - 1)
        session.close()
    assert held >= 0.88 * RELEASES * len(QUESTIONS)
    assert abs(np.mean(errors)) < 0.06


def test_all_who_are_there_are_counted_exactly(con):
    session = departed_release(con, np.random.default_rng(6), 0.5)
    ((rows, older),) = con.execute("select count(*), count(*) filter (where age > 30) from qit").fetchall()
    for where, truth in (("", rows), (" WHERE age > 30", older)):
        answer = session.answer(f"SELECT COUNT(*) AS n FROM release{where}")
        assert answer["n"][0] == answer["n_low"][0] == answer["n_high"][0] == truth


HIDDEN = "SELECT COUNT(*) AS n FROM release WHERE s = 'v1' AND age > 30"


def test_groups_that_are_too_large_or_empty_are_no_release(con):
    departed_release(con, np.random.default_rng(7), 0.5).close()
    with pytest.raises(ReleaseError, match="the release is damaged"):
        opened(con, 1).answer(HIDDEN)
    con.execute("insert into st values (100000, 'v1', 1)")
    with pytest.raises(ReleaseError, match="1 group is not as large"):
        opened(con).answer(HIDDEN)
    con.execute("delete from st where group_id = 100000")
    con.execute("insert into qit select 30, (select min(group_id) from qit) from range(4)")
    with pytest.raises(ReleaseError, match="group is not as large"):
        opened(con).answer(HIDDEN)
