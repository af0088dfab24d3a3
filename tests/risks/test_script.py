"""A check as a script: what it makes is what `check` finds, and it can be said in every dialect."""

import pytest

import sqlanon
from sqlanon.plans.engines import ENGINES
from tests.databases import connect

ASKED = {"quasi": ["age", "zip code"], "sensitive": ["disease", "job"]}
PEOPLE = (
    "select i % 7 as age, 10 + i % 3 as \"zip code\", case when i % 11 > 0 then 'd' || i * i % 5 end as disease,"
    " 'j' || i // 40 % 4 as job from range(300) as t(i)"
)


def measures_of(rows):
    """Return by measure and sensitive column the value."""
    return {(measure, column): value for measure, column, value in rows}


def test_the_scripts_figures_are_those_of_check(con):
    con.execute(f"create table people as {PEOPLE}").fetchall()
    con.execute(sqlanon.compile("check", "people", **ASKED)).fetchall()
    found = measures_of(con.execute("from sqlanon_check").fetchall())
    told = sqlanon.check(con, "people", **ASKED)
    named = {"k": "k", "l": "l", "entropy_l": "entropy_l", "alpha": "alpha", "t": "t", "beta": "beta", "delta": "delta"}
    known = {(one.name, one.column or None): one.found for one in told.measures if one.name in named}
    assert set(known) <= set(found) and len(known) > 10
    for name, value in known.items():
        assert found[name] == pytest.approx(value), name
    for name in ("classes", "unique_rows", "rows", "largest_class", "prosecutor_largest_risk"):
        assert found[name, None] == pytest.approx(told.figures[name])


def test_a_script_without_sensitive_columns_tells_of_classes_alone():
    with connect() as con:
        con.execute(f"create table people as {PEOPLE}").fetchall()
        con.execute(sqlanon.compile("check", "people", quasi="age")).fetchall()
        found = measures_of(con.execute("from sqlanon_check").fetchall())
    assert found["classes", None] == 7 and found["k", None] == 42 and {column for _, column in found} == {None}


def test_every_dialect_has_a_script(shell):
    asked = {"quasi": "age", "sensitive": "disease"}
    scripts = {dialect: sqlanon.compile("check", "ward.people", dialect=dialect, **asked) for dialect in ENGINES}
    assert all("sqlanon_check" in text and "disease" in text for text in scripts.values())
    typed = shell("compile", "check", "ward.people", "--quasi", "age", "--sensitive", "disease", "--dialect", "spark")
    assert typed.stdout == sqlanon.compile("check", "ward.people", dialect="spark", **asked)


def test_what_has_no_script():
    with pytest.raises(sqlanon.UsageError, match="one role"):
        sqlanon.compile("check", "people", quasi="age,job", sensitive="job")
    with pytest.raises(sqlanon.UsageError, match="classes are made by quasi columns"):
        sqlanon.compile("check", "people", quasi=[], sensitive="job")


def test_postgres_runs_the_script(server):
    import psycopg

    with connect() as con:
        con.execute(f"create table people as {PEOPLE}").fetchall()
        con.execute(sqlanon.compile("check", "people", **ASKED)).fetchall()
        expected = measures_of(con.execute("from sqlanon_check").fetchall())
        rows = con.execute("from people").fetchall()
    with psycopg.connect(server.new_database("check_script"), autocommit=True) as session:
        session.execute('create table people (age integer, "zip code" integer, disease text, job text)')
        with session.cursor() as cursor:
            cursor.executemany("insert into people values (%s, %s, %s, %s)", rows)
        session.execute(sqlanon.compile("check", "people", dialect="postgres", **ASKED))
        found = measures_of(session.execute("select * from sqlanon_check").fetchall())
    assert set(found) == set(expected)
    assert all(found[name] == pytest.approx(value) for name, value in expected.items())
