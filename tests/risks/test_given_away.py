"""What quasi columns give away: counted as a slow oracle does, said by check and publish, and not said of chance."""

import re
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.wording import spoken
from tests.databases import connect
from tests.examples import examples

# 40 incomes, of which 38 occur in one of the ten years alone, and sex, which has nothing to do with any
WAGES = """
create or replace table wages as
select
    i as id,
    2000 + i % 10 as year,
    hash(i) % 2 as sex,
    case when i % 40 < 2 then 10 + hash(i + 1) % 2 else 10 + i % 40 end * 100 as income
from range(2000) as t(i)
"""
ASKED = {"quasi": ["year", "sex"], "sensitive": "income", "id": "id"}

FLAGS, CODES, VALUES = ([None, True, False], ["a", "B", None, "é"], [1, 2, None])
ROWS = st.lists(st.tuples(*map(st.sampled_from, (FLAGS, CODES, VALUES))), min_size=1, max_size=16)


def count_slowly(rows, column):
    """Return values of several rows, those with one quasi value alone, and the rows of these."""
    held = defaultdict(list)
    for row in rows:
        held[row[2]].append(row[column])
    several = {value: met for value, met in held.items() if len(met) > 1}
    tied = {value: met for value, met in several.items() if len(set(met)) == 1}
    homes = Counter({value: len(met) for value, met in tied.items()})
    return len(several), len(tied), sum(homes.values())


@pytest.mark.thorough
@given(rows=ROWS)
@examples(40)
def test_values_with_one_quasi_value_are_counted_as_an_oracle_does(rows):
    con = connect()
    con.execute("create table people (flag boolean, code varchar, s integer)")
    con.executemany("insert into people values (?, ?, ?)", rows)
    found = sqlanon.check(con, "people", quasi=["flag", "code"], sensitive="s").given_away
    for column, line in enumerate(found):
        values, tied, tied_rows = count_slowly(rows, column)
        assert (line["values"], line["with_one_value"]) == (values, tied)
        assert line["share_of_rows"] == pytest.approx(tied_rows / len(rows))
        assert 0 <= line["ruled_out"] <= line["share_of_rows"] + 1e-12


@pytest.mark.thorough
def test_check_and_publish_warn_with_the_column_before_an_attack_shows_it(con):
    con.execute(WAGES).fetchall()
    year, sex = sqlanon.check(con, "wages", **ASKED).given_away
    assert (year["known"], year["values"], year["with_one_value"], year["share_of_rows"]) == ("year", 40, 38, 0.95)
    # of 1,900 rows in ten years, 180 to 200 in each, a random one is of another year
    assert year["ruled_out"] == pytest.approx(0.95 * (1 - (8 * 200**2 + 2 * 150**2) / 1900**2), abs=0.001)
    assert sex["with_one_value"] == 0 and sex["ruled_out"] == 0
    (note,) = [n for n in sqlanon.check(con, "wages", **ASKED).notes if "gives" in n]
    release = sqlanon.anatomy(con, "wages", **ASKED, l=10)
    assert f"warning: {note}" in release.notes
    assert "38 of 40 values of income that several rows have (95.0% of the rows) occur with one value of year" in note
    assert re.search(r"rules out 8\d% of the other values", note)
    found = sqlanon.attack(release, against="wages", id="id").best
    assert found.family == "learning" and found.reached > 2.5 * found.promised


@pytest.mark.parametrize("method", ["splu", "mondrian", "uncertain"])
def test_every_method_warns(con, method):
    con.execute(WAGES).fetchall()
    options = {"splu": {"gamma": 4}, "mondrian": {"k": 5, "l": 3}, "uncertain": {"k": 4, "l": 2, "threshold": 0.3}}
    options["uncertain"]["influence"] = "learn"
    release = getattr(sqlanon, method)(con, "wages", **ASKED, **options[method])
    assert [note for note in release.notes if note.startswith("warning: year gives income away")]


def test_what_chance_makes_is_not_said(con):
    """Of values with two or three rows many occur with one value of a column that has nothing to do with them."""
    con.execute(
        "create table people as select i as id, hash(i) % 3 as sex, case when hash(i + 9) % 10 = 0 then 1 else 0 end as"
        " rare, hash(i + 5) % 800 as disease from range(2000) as t(i)"
    ).fetchall()
    found = sqlanon.check(con, "people", quasi=["sex", "rare"], sensitive="disease")
    for line in found.given_away:
        assert line["with_one_value"] > 50 and line["by_chance"] > 0.05 and line["ruled_out"] < 0.05
    release = sqlanon.anatomy(con, "people", quasi=["sex", "rare"], sensitive="disease", id="id", l=3)
    assert not [note for note in (*found.notes, *release.notes) if "gives" in note]


def test_rows_left_out_do_not_count(con):
    """A missing value is published as one, or left out: then it is no value that occurs with all years."""
    con.execute(WAGES.replace("wages as", "with_missing as")).fetchall()
    con.execute("insert into with_missing select 5000 + i, 2000, 0, null from range(1000) as t(i)").fetchall()
    release = sqlanon.anatomy(con, "with_missing", **ASKED, nulls="drop", l=5)
    assert any("38 of 40 values of income that several rows have (95.0% of the rows)" in note for note in release.notes)


def test_a_pair_of_columns_that_tells_the_value_is_said(con):
    con.execute(
        "create table staff as select i as id, i % 7 as grade, i // 7 % 5 as site, hash(i) % 2 as sex,"
        " 1000 + (3 * (i % 7) + i // 7 % 5) % 8 as pay from range(700) as t(i)"
    ).fetchall()
    notes = sqlanon.check(con, "staff", quasi=["grade", "site", "sex"], sensitive="pay").notes
    (note,) = [one for one in notes if "determine" in one]
    assert note.startswith("grade and site together determine pay: whoever knows the rule and grade and site knows it")


def test_names_of_any_kind(con):
    odd, select = 'a " b', 'select i % 5 as "a "" b", i % 5 * 10 as "sé;" from range(100) as t(i)'
    con.execute(f'create table "odd; table" as {select}').fetchall()
    found = sqlanon.check(con, "odd; table", quasi=odd, sensitive="sé;")
    assert [(line["known"], line["with_one_value"]) for line in found.given_away] == [(odd, 5)]


def test_check_offers_to_look_at_the_table_with_the_column_coarser():
    con = connect()
    con.execute(WAGES)
    command = sqlanon.check(con, "wages", **ASKED).command
    assert command == "sqlanon check wages --quasi year --quasi sex --sensitive income --id id --coarsen year=10"
    assert not sqlanon.check(con, "wages", **ASKED, coarsen={"year": 10}).command
    assert not sqlanon.check(con, "wages", **{**ASKED, "quasi": "sex"}).command
    assert not sqlanon.check(con, con.sql("from wages"), **ASKED).command


def test_no_rule_is_advised_that_is_there_or_changes_nothing(con):
    con.execute(
        "create or replace table told as select i as pid, ['Male', 'Female'][i % 2 + 1] as gender,"
        " ['aa', 'ab', 'bc'][i % 3 + 1] as word, 2000 + i % 30 as year, 'd' || i % 120 as d from range(4000) r(i)"
    )
    for column, coarsen, advised in (
        ("gender", {}, ""),
        ("word", {}, "word=1letter"),
        ("year", {}, "year=10"),
        ("year", {"year": "10"}, ""),
        ("year", {"year": "5"}, ""),
    ):
        asked = {"quasi": column, "sensitive": "d", "id": "pid", "coarsen": coarsen}
        answer = sqlanon.check(con, "told", **asked)
        release = sqlanon.anatomy(con, "told", l=2, **asked)
        notes = [note for note in (*answer.notes, *release.notes) if "gives d away" in note]
        assert len(notes) == 2
        for note in notes:
            assert ("coarser" in note) == bool(advised) and (f"{advised}" in spoken(note, "command line"))
        assert answer.command.endswith(f"--coarsen {advised}") if advised else answer.command == ""
