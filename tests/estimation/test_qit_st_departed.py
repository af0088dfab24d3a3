"""Answers where members of groups have departed: they are people whom no question is about."""

import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import ReleaseError
from sqlanon.forms import form_of
from sqlanon.plans.templates import Sql

ROWS, RELEASES = 900, 4
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM release WHERE s = 'v1'",
    "SELECT COUNT(*) AS n FROM release WHERE s <= 'v2' AND age < 40",
    "SELECT SUM(age) AS n FROM release WHERE s = 'v0'",
)


def departed_release(con, chance, share, folder):
    """Publish people under a ledger, and again without a share of them; return the second release."""
    people = pd.DataFrame({
        "id": np.arange(ROWS), "age": chance.integers(20, 60, ROWS),
        "s": [f"v{one}" for one in chance.choice(6, ROWS, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1])],
    })  # fmt: skip
    folder.mkdir()
    asked = {"quasi": "age", "sensitive": "s", "id": "id", "l": 3, "key": chance.bytes(32).hex()}
    asked |= {"ledger": folder / "ledger", "expect_departures": True}
    for number, there in ((1, people), (2, people[chance.random(ROWS) >= share])):
        con.register("there", there)
        con.execute("create or replace table microdata as from there")
        release = sqlanon.anatomy(con, "microdata", out=folder / str(number), **asked)
    return release


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_intervals_hold_the_truth_and_the_uniform_estimate_is_unbiased(con, tmp_path, share):
    chance, held, errors = np.random.default_rng(5), 0, []
    for number in range(RELEASES):
        release = departed_release(con, chance, share, tmp_path / str(number))
        for question in QUESTIONS:
            ((truth,),) = con.execute(question.replace("release", "microdata")).fetchall()
            answer = release.estimate(question)
            held += answer["n_low"][0] <= truth <= answer["n_high"][0]
            errors.append(release.estimate(question, "uniform")["n"][0] / truth - 1)
    assert held >= 0.88 * RELEASES * len(QUESTIONS)
    assert abs(np.mean(errors)) < 0.06


def test_all_who_are_there_are_counted_exactly(con, tmp_path):
    release = departed_release(con, np.random.default_rng(6), 0.5, tmp_path / "ward")
    ages = release.table("qit").df()["age"]
    for where, truth in (("", len(ages)), (" WHERE age > 30", (ages > 30).sum())):
        answer = release.estimate(f"SELECT COUNT(*) AS n FROM release{where}")
        assert answer["n"][0] == answer["n_low"][0] == answer["n_high"][0] == truth


def test_groups_that_are_too_large_or_empty_are_no_release(con, tmp_path):
    release = departed_release(con, np.random.default_rng(7), 0.5, tmp_path / "ward")
    for name in ("qit", "st"):
        con.execute(f"create table {name} as from '{tmp_path}/ward/2/{name}.parquet'")
    wrong = [
        ({"release": 1}, "select 1", "the release is damaged"),
        ({}, "insert into st values (100000, 'v1', 1)", "1 group is not as large"),
        ({}, "delete from st where group_id = 100000", None),
        ({}, "insert into qit select 30, (select min(group_id) from qit) from range(4)", "group is not as large"),
    ]
    for parameters, change, words in wrong:
        con.execute(change)
        manifest = release.manifest | {"parameters": release.manifest["parameters"] | parameters}
        session = form_of(manifest).session(DuckDBEngine(con), {"qit": Sql("qit"), "st": Sql("st")}, manifest)
        if words:
            with pytest.raises(ReleaseError, match=words):
                session.answer("SELECT COUNT(*) AS n FROM release WHERE s = 'v1' AND age > 30")
