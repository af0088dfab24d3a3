"""Many queries at once: the same answers as one by one, a query outside the grammar by its number."""

import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import QueryError

QUERIES = [
    "select count(*) from release where disease = 'flu'",
    "select sex, count(*) as n, avg(age) from release where disease in ('flu', 'cold') group by sex order by sex",
    "select sum(age) from release where sex = 'F' and disease <> 'flu'",
    "select count(*) from release where disease = 'flu'",
]


@pytest.fixture(scope="module", params=["anatomy", "splu"])
def release(request):
    import duckdb

    con = duckdb.connect()
    con.execute(
        "create table people as select (i * 7) % 50 as age, if(i % 3 = 0, 'F', 'M') as sex,"
        " ['flu', 'cold', 'gout', 'acne', 'ulcer'][1 + (i * i + i // 7) % 5] as disease from range(300) as r(i)"
    )
    own = {"l": 2} if request.param == "anatomy" else {"gamma": 2}
    return getattr(sqlanon, request.param)(con, "people", quasi=["age", "sex"], sensitive="disease", **own)


def test_the_same_answers_as_one_by_one(release):
    together = release.estimate_many(QUERIES)
    release.close()  # nothing is remembered
    assert len(together) == len(QUERIES)
    for sql, answer in zip(QUERIES, together, strict=True):
        alone = release.estimate(sql)
        pd.testing.assert_frame_equal(answer, alone)
        assert answer.attrs["messages"] == alone.attrs["messages"]


def test_the_estimator_is_that_of_each_query(release):
    name = {"anatomy": "uniform", "splu": "matrix"}[release.manifest["method"]]
    sql = "select count(*) from release where sex = 'F' and age < 17 and disease = 'flu'"
    (answer,) = release.estimate_many([sql], name)
    pd.testing.assert_frame_equal(answer, release.estimate(sql, name))
    assert not answer.equals(release.estimate(sql))


def test_a_query_outside_the_grammar_is_named_by_its_number(release):
    with pytest.raises(QueryError, match=r"^query 2: no column 'nowhere'"):
        release.estimate_many([QUERIES[0], "select count(*) from release where nowhere = 1"])
