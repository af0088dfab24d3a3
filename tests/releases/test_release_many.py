"""Many queries at once: the same answers as one by one, a query outside the grammar by its number."""

import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import AnswerWarning, DataError, QueryError
from tests.databases import connect

QUERIES = [
    "select count(*) from release where disease = 'flu'",
    "select sex, count(*) as n, avg(age) from release where disease in ('flu', 'cold') group by sex order by sex",
    "select sum(age) from release where sex = 'F' and disease <> 'flu'",
    "select count(*) from release where disease = 'flu'",
]


pytestmark = pytest.mark.filterwarnings("ignore::sqlanon.AnswerWarning")


@pytest.fixture(scope="module", params=["anatomy", "splu"])
def release(request):
    con = connect()
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
        pd.testing.assert_frame_equal(answer, pd.DataFrame(alone))
        assert answer.attrs["messages"] == alone.attrs["messages"]


def test_the_estimator_is_that_of_each_query(release):
    name = {"anatomy": "uniform", "splu": "closed_form"}[release.manifest["method"]]
    sql = "select count(*) from release where sex = 'F' and age < 17 and disease = 'flu'"
    (answer,) = release.estimate_many([sql], name)
    pd.testing.assert_frame_equal(answer, release.estimate(sql, name))
    assert not answer.equals(release.estimate(sql))


def test_a_query_outside_the_grammar_is_named_by_its_number(release):
    with pytest.raises(QueryError, match=r"^query 2: no column 'nowhere'"):
        release.estimate_many([QUERIES[0], "select count(*) from release where nowhere = 1"])


def test_counts_are_answered_together_as_alone():
    # groups of several sizes, NULLs, sets that least squares cannot tell apart, conditions of every kind, no row
    con = connect()
    con.execute(
        "create table people as select if(i % 11 = 0, null, (i * 7) % 50) as age, if(i % 3 = 0, 'F', 'M') as \"s\"\"x\""
        ","
        " ['flu', 'cold', 'gout', 'acne', 'ulcer'][1 + (i * i + i // 7) % 5] as disease from range(303) as r(i)"
        " union all select 30, 'F', ['rare', 'odd', 'flu'][1 + i] from range(2) as r(i)"
    )
    release = sqlanon.anatomy(con, "people", quasi=["age", 's"x'], sensitive="disease", l=3, key="1" * 64)
    wheres = [
        "disease = 'flu'",
        "age < 20 and disease = 'flu'",
        "age is null and disease <> 'gout'",
        "age in (3, 4, 1000)",
        "not (age between 3 and 9 or age = 20) and \"s\"\"x\" = 'F' and disease in ('cold', 'rare')",
        "age = 3 and age = 4",
        "disease = 'none' and age > 3",
        "\"s\"\"x\" like 'M%' and disease in ('rare', 'odd')",
        "disease = 'odd' and age > 7",
        "age + 1 > 3 and disease is not null",
        "\"s\"\"x\" = 'quasi_1' and disease > 'b'",
        "true",
        "age % 2 and disease = 'cold'",
    ]
    queries = [f"select count(*) as n, count(*) from release where {where}" for where in wheres * 6]
    for estimator in ("ridge", "uniform"):
        together = dict(release._open_session().answer_many(queries, estimator))
        assert sorted({place % len(wheres) for place in together}) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12]
        for place, answer in list(together.items())[: len(wheres)]:
            alone = release.estimate(queries[place], estimator)
            pd.testing.assert_frame_equal(answer.df(), pd.DataFrame(alone))
            assert answer.df().attrs == alone.attrs
    with pytest.warns(AnswerWarning, match="no such value in the release"):
        release.estimate_many(queries)


def test_what_fails_among_many_is_answered_alone_and_says_why(caplog):
    caplog.set_level("INFO", "sqlanon")
    con = connect()
    con.execute(
        "create table people as select i::varchar as code, ['a', 'b', 'c'][1 + i % 3] as d from range(30) as r(i)"
    )
    release = sqlanon.anatomy(con, "people", quasi="code", sensitive="d", l=3, unique_quasi="keep")
    good = "select count(*) from release where code > '1' and d = 'a'"
    found = list(
        release.estimate_each([good, "select count(*) from release where cast(code as date) > '2020-01-01'"] * 5)
    )
    assert [type(one).__name__ for one in found] == ["DataFrame", "DataError"] * 5
    alone = [message for message in caplog.messages if message.startswith("answering query ")]
    assert alone == [f"answering query {number} of 10" for number in (2, 4, 6, 8, 10)]
    assert "answering counts together" in caplog.messages
    with pytest.raises(DataError):
        release.estimate_many([good] * 9 + ["select count(*) from release where cast(code as date) > '2020-01-01'"])


def test_boxes_answer_counts_together_as_alone():
    # ranges of whole numbers, of measured ones, of dates and moments; sets; NULLs among them
    con = connect()
    con.execute(
        "create table people as select if(i % 11 = 0, null, (i * 7) % 50)::integer as age, if(i % 13 = 0, null,"
        " sqrt(i * 37 % 101)) as wage, date '2000-01-01' + ((i * i) % 400)::integer as born, if(i % 17 = 0, null,"
        " timestamp '2020-01-01' + to_seconds((i * 977) % 100000)) as seen,"
        " if(i % 3 = 0, 'F', if(i % 7 = 0, null, 'M')) as sex,"
        " ['flu', 'cold', 'gout', 'acne', 'ulcer'][1 + (i * i + i // 7) % 5] as disease from range(300) as r(i)"
    )
    quasi = ["age", "wage", "born", "seen", "sex"]
    release = sqlanon.mondrian(con, "people", quasi=quasi, sensitive="disease", k=8, l=2)
    wheres = [
        "disease = 'flu'",
        "age < 20 and disease = 'flu'",
        "age is null",
        "wage between 3 and 5.5 and sex = 'F' and disease <> 'flu'",
        "born >= date '2000-05-01' and born < '2000-08-01'",
        "seen > timestamp '2020-01-01 05:00:00' and disease in ('gout', 'acne')",
        "sex in ('F', 'X') and age in (3, 20, 21)",
        "wage is null or wage > 9",
        "age = 7 and age = 8",
        "seen is null and wage < 2 and sex <> 'F' and disease = 'none'",
    ]
    queries = [f"select count(*) as n from release where {where}" for where in wheres]
    together = release._open_session().answer_many(queries)
    assert len(together) == len(queries)
    for place, answer in together.items():
        alone = release.estimate(queries[place])
        pd.testing.assert_frame_equal(answer.df(), pd.DataFrame(alone))
        assert answer.df().attrs == alone.attrs
