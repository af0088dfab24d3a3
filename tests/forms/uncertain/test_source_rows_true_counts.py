"""True counts of tuples whose alternatives are rows: each row is as likely as any other of its tuple."""

import pytest

import sqlanon
from tests.databases import connect


def test_a_value_that_several_alternative_rows_give_is_as_likely_as_they_are():
    con = connect()
    con.execute(
        "create table t as select * from (values (1, 'a', 'x', 'flu'), (1, 'a', 'y', 'flu'), (1, 'b', 'y', 'gout'),"
        " (2, 'a', 'x', 'gout'), (3, 'b', 'x', 'flu'), (4, 'b', 'y', 'gout')) as line (num, q, r, s)"
    ).fetchall()
    con.execute(
        "create table tree as select * from (values ('a', 'any'), ('b', 'any')) as e (child, parent)"
    ).fetchall()
    con.execute(
        "create table other as select * from (values ('x', 'any'), ('y', 'any')) as e (child, parent)"
    ).fetchall()
    asked = {"hierarchy": {"q": "tree", "r": "other"}, "k": 2, "l": 2, "threshold": 0.5, "influence": "learn"}
    release = sqlanon.uncertain(con, "t", quasi=["q", "r"], sensitive="s", alternative_of="num", **asked)
    found = {check.name: check.found for check in release.verify(against="t").checks}["counts"]
    # a is given by two of three rows, and two alternatives are read as one half each; so with y, and with flu
    assert {name: figures["mean_error"] for name, figures in found.items()} == pytest.approx(
        dict.fromkeys("qrs", 2 / 3 - 1 / 2)
    )
    assert not any(figures["outside"] for figures in found.values())
    con.close()
