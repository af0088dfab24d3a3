"""Empty cells are explained, and standard errors over few rows stay within what the release allows."""

import numpy as np
import pytest

import sqlanon
from sqlanon.estimation.answered import Answered


@pytest.fixture
def few(con):
    """Publish 600 rows of which very few are old: income is large, and 0 for most."""
    con.execute(
        "create table t as select i as person, i % 60 as age, if(i % 7 = 0, 1000 * (i % 100), 0) as income,"
        " 'd' || (i * 11 // 3 % 9) as disease from range(600) r(i)"
    ).fetchall()
    return sqlanon.anatomy(con, "t", quasi=["age", "income"], sensitive="disease", id="person", l=4, key="0f" * 32)


OLD = "FROM release WHERE age >= 58 GROUP BY disease"


def test_a_standard_error_is_at_most_half_of_what_the_range_allows(few, con):
    answer = few.estimate(f"SELECT disease, COUNT(*) AS n, SUM(income) AS s, AVG(income) AS a {OLD}", "ridge")
    old = con.execute("select count(*), max(income), sum(income) from t where age >= 58").fetchall()[0]
    for name, most in zip("nas", old, strict=True):
        errors = answer[f"{name}_std_error"].dropna()
        assert len(errors) and (errors <= most / 2 * (1 + 1e-6)).all()
        assert not (np.signbit(answer[f"{name}_low"]) & (answer[f"{name}_low"] == 0)).any()
        assert (answer[f"{name}_low"].dropna() >= 0).all()


def test_a_sum_of_nothing_but_zeros_is_certain(few):
    answer = few.estimate("SELECT disease, SUM(income - income) AS s FROM release WHERE age > 50 GROUP BY disease")
    answer = answer.dropna()
    assert len(answer) and (answer[["s", "s_std_error", "s_low", "s_high"]] == 0).all(axis=None)


def test_empty_answers_are_told_from_answers_without_error_bars(few):
    old = "FROM release WHERE age = 59 AND income > 0 GROUP BY disease"
    asked = f"SELECT disease, COUNT(*) AS n, SUM(income) AS s, AVG(income) AS a {old}"
    answer = few.estimate(asked)
    empty = int(answer["a"].isna().sum())
    assert 0 < empty < len(answer)
    told = f"s, a: {empty} of {len(answer)} answers are empty, for SUM, AVG and quantiles over no row are NULL"
    assert [message for message in answer.attrs["messages"] if "empty" in message] == [told]
    plain = few.estimate(asked, "uniform").attrs["messages"]
    assert told in plain
    assert "n, s, a: uniform gives no error bars, for its error is a bias that the release does not tell" in plain
    assert few.estimate("SELECT COUNT(*) AS n FROM release").attrs["messages"] == []


def test_columns_that_only_look_like_error_bars_are_left_alone():
    answer = Answered({"x": np.array([np.nan]), "x_low": np.array([np.nan]), "n": np.array([1.0])}, [], [])
    answer.tell_blank_cells("uniform")
    assert answer.messages == []
