"""Randomized rows: values that may be true, as frequent as the closed form finds, in each sensitive column."""

import numpy as np
import pandas as pd
import pytest

import sqlanon
from tests.databases import database

PEOPLE = (
    "create table people as select i as id, i % 4 as area, 'a' || (i * 7919 % 5) as job,"
    " case when (i % 4 < 2) = (hash(i) % 4 > 0) then hash(i + 1000000) % 5 else 5 + hash(i + 2000000) % 5 end as value,"
    " case when i % 11 > 0 then 'w' || i % 11 end as \"o'ther\" from range(4000) t(i)"
)
ROLES = {"quasi": ["area", "job"], "sensitive": ["value", "o'ther"], "id": "id", "nulls": "value", "key": "cd" * 32}


people = database(PEOPLE)


@pytest.fixture(scope="module")
def completed(people):
    return sqlanon.splu(people, "people", **ROLES, gamma=3).complete(2, seed=2)


def deviations(frame):
    shares = pd.crosstab(frame["area"], frame["value"], normalize="index")
    return (shares - frame["value"].value_counts(normalize=True)).to_numpy()


def test_what_depends_on_a_value_is_found_again(people, completed):
    true = deviations(people.execute("select * from people").df())
    found = np.mean([deviations(one) for one in completed], axis=0)
    assert 0.8 < (found * true).sum() / (true**2).sum() < 1.2


def test_totals_are_near_the_published_ones(people, completed):
    true = people.execute("select * from people").df()
    for one in completed:
        assert list(one.columns) == ["area", "job", "value", "o'ther"] and len(one) == 3999  # a multiple of 3
        counts = one["o'ther"].value_counts(dropna=False)
        assert len(counts) == 11 and (counts - true["o'ther"].value_counts(dropna=False)).abs().max() < 100


def test_nothing_but_the_tables_is_left(people, completed):
    sql = "select count(*) from duckdb_tables() where temporary and table_name like 'sqlanon_%'"
    before = people.execute(sql).fetchall()
    release = sqlanon.splu(people, "people", **ROLES, gamma=3)
    ((published,),) = people.execute(sql).fetchall()
    for one in (release.complete(1, seed=1), completed):
        one.close()
    assert people.execute(sql).fetchall() == [(published - 2,)] and before == [(published - 1,)]


def test_a_release_that_does_not_say_its_gamma_is_refused(people):
    release = sqlanon.splu(people, "people", **ROLES, gamma=3)
    release.manifest["parameters"].pop("gamma")
    with pytest.raises(sqlanon.ReleaseError, match="does not say how its sensitive columns were randomized"):
        release.complete(1)
