"""Quasi columns that identify people: refused where one does so by itself, said where they nearly do."""

import re

import pytest

import sqlanon
from tests.conftest import METHODS
from tests.databases import connect

ASKED = {"sensitive": "disease", "l": 4}


def people(con, rows: int, code: str) -> None:
    con.execute(
        f"create or replace table people as select {code} as code, i % 9 as age, 'd' || i % 8 as disease"
        f" from range({rows}) as t(i)"
    ).fetchall()


@pytest.mark.parametrize(("method", "asked"), [
    ("anatomy", {"l": 4}), ("splu", {"gamma": 4}), ("robust", {"r": 2, "background_from": "age"}),
    ("uncertain", {"k": 4, "l": 2, "threshold": 0.3, "influence": "learn"}),
])  # fmt: skip
def test_a_column_that_is_unique_by_itself_is_refused_unless_it_is_to_be_kept(con, method, asked):
    people(con, 300, "1000 + i")
    publish = getattr(sqlanon, method)
    with pytest.raises(sqlanon.DataError, match="quasi column 'code' has a value of its own in each of 300 rows") as no:
        publish(con, "people", quasi=["age", "code"], sensitive="disease", **asked)
    assert 'unique_quasi="keep"' in str(no.value) and "1007" not in str(no.value)
    release = publish(con, "people", quasi=["age", "code"], sensitive="disease", unique_quasi="keep", **asked)
    (note,) = [note for note in release.notes if "finds the row" in note]
    assert "'code' alone has 300 different values in 300 rows" in note
    assert "together the quasi columns tell 300 of 300 rows (100.0%) from all others" in note


@pytest.mark.parametrize(("code", "refused"), [
    ("i", True), ("case when i % 3 > 0 then i end", True), ("case when i % 3 = 0 then i end", False),
    ("case when i < 2 then 0 else i end", False), ("i % 150", False), ("0", False),
])  # fmt: skip
def test_a_column_is_unique_where_all_its_values_differ_and_most_rows_have_one(con, code, refused):
    people(con, 300, code)
    (counted,) = con.execute("select count(code), count(distinct code) from people").fetchall()
    assert refused == (counted[0] == counted[1] and counted[0] > 150)  # the rule, counted another way
    if refused:
        with pytest.raises(sqlanon.DataError, match=f"in each of {counted[0]} rows"):
            sqlanon.anatomy(con, "people", quasi="code", **ASKED)
    else:
        sqlanon.anatomy(con, "people", quasi="code", **ASKED)


PAIRS = "case when i < {0} then i // 10 else 99 end as a, case when i < {0} then i % 10 else 99 end as b"
OF_60 = "i % {0} % 60 as a, i % {0} // 60 as b"
MARKED = ", ".join(f"case when i // {step} % 2 = 1 then -1 end as {name}" for step, name in ((1, "a"), (2, "b")))


@pytest.mark.parametrize(("rows", "columns", "said"), [
    # in few rows all values may differ by chance
    (99, "i as a", "'a' alone has 99 different values in 99 rows: whoever knows these values of a person"),
    # beside so many values of their own all others come in pairs: 270 and 269 different ones
    (300, "case when i < 240 then i else 240 + (i - 240) // 2 end as a", "'a' alone has 270 different values in 300"),
    (300, "case when i < 238 then i else 238 + (i - 238) // 2 end as a", None),
    # so many rows stand alone with their pair of values, neither of which is nearly unique by itself
    (100, PAIRS.format(90), "tell 90 of 100 rows (90.0%)"), (100, PAIRS.format(89), None),
    (3000, OF_60.format(3000), "tell 3,000 of 3,000 rows"), (3000, OF_60.format(100), None),
    # rows of their own, four and four of which are alike but for NULL and -1
    (3000, f"{MARKED}, i // 4 as c", "tell 3,000 of 3,000 rows"),
])  # fmt: skip
def test_columns_that_nearly_identify_people_are_said(con, rows, columns, said):
    con.execute(f"create table people as select {columns}, 'd' || i % 8 as disease from range({rows}) as t(i)")
    quasi = re.findall(r" as (\w)\b", columns)
    release = sqlanon.anatomy(con, "people", quasi=quasi, **ASKED)
    notes = [note for note in release.notes if "alone has" in note or re.search(r"tell [\d,]+ of [\d,]+ rows", note)]
    assert [said in note for note in notes] == [True] if said else not notes
    # combinations are counted where an estimate tells that many may be unique
    assert "combination" not in release.sql or said or rows < 3000


def test_a_script_refuses_what_identifies_people(shell):
    asked = ["people", "--quasi", "code", "--sensitive", "disease", "-l", 4, "--dialect", "postgres"]
    script = shell("compile", "anatomy", *asked).stdout
    assert "the quasi column ''code'' has a value of its own in each of " in script
    assert "value of its own in each of" not in shell("compile", "anatomy", *asked, "--unique-quasi", "keep").stdout


def test_a_column_that_is_too_narrow_to_be_unique_is_not_counted(con):
    """300 rows, half of them with a value: 134 whole numbers are fewer than nine of ten of them, 135 are not."""
    people(con, 300, "case when i % 2 = 0 then i // 2 % 134 end")
    assert "count(distinct" not in sqlanon.anatomy(con, "people", quasi=["age", "code"], **ASKED).sql
    people(con, 300, "case when i % 2 = 0 then i // 2 % 135 end")
    release = sqlanon.anatomy(con, "people", quasi=["age", "code"], **ASKED)
    assert release.sql.count("count(distinct") == 1
    assert any("'code' alone has 135 different values in 150 rows" in note for note in release.notes)
    people(con, 300, "'c' || i % 7")  # of anything but whole numbers no range is known
    assert "count(distinct" in sqlanon.anatomy(con, "people", quasi=["age", "code"], **ASKED).sql


@pytest.mark.parametrize("method", METHODS)
def test_a_sensitive_column_of_own_values_is_refused_unless_it_is_to_be_kept(method):
    con = connect()
    con.execute(
        "create table own as select i % 40 as age, i % 2 as sex, 100000 + i * 7 as ssn, 'note ' || i as notes,"
        " i * 1.5::double as wage, i % 9 as d, i % 3 as few from range(240) as t(i)"
    )
    publish = getattr(sqlanon, method)
    for column in ("ssn", "notes"):
        with pytest.raises(
            sqlanon.DataError, match=f"'{column}' has a value of its own in 240 of 240 rows: .* unique_s"
        ):
            publish(con, "own", quasi=["age", "sex"], sensitive=column, **METHODS[method])
    publish(con, "own", quasi=["age", "sex"], sensitive="notes", unique_sensitive="keep", **METHODS[method])
    publish(con, "own", quasi=["age", "sex"], sensitive="wage", **METHODS[method])
