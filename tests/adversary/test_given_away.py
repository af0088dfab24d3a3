"""What quasi columns and pairs give away: as a literal count says, said by check and publish, not said of chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.wording import spoken
from tests.databases import connect, insert
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


def confidence(rows, columns, size):
    """Return the mean confidence in everybody's value by a literal count, their own row left out."""
    total = 0.0
    for person, row in enumerate(rows):
        others = [other for place, other in enumerate(rows) if place != person]
        alike = [other for other in others if [other[c] for c in columns] == [row[c] for c in columns]]
        share = sum(other[2] == row[2] for other in alike) / max(len(alike), 1)
        overall = sum(other[2] == row[2] for other in others) / max(len(others), 1)
        odds = share / overall if overall else 0.0
        total += odds / (odds + size - 1)
    return total / len(rows)


@given(rows=ROWS, size=st.integers(2, 6))
@examples(40)
def test_what_columns_give_away_is_what_a_literal_count_says(rows, size):
    con = connect()
    con.execute("create table people (flag boolean, code varchar, s integer)")
    insert(con, "people", rows)
    found = sqlanon.check(con, "people", quasi=["flag", "code"], sensitive="s", l=size).given_away
    for column, line in enumerate(found[:2]):
        assert line["named"] == pytest.approx(confidence(rows, [column], size)) and line["by_chance"] == 1 / size


def test_check_and_publish_warn_with_the_column_before_an_attack_shows_it(con):
    con.execute(WAGES).fetchall()
    year, sex = sqlanon.check(con, "wages", **ASKED, l=10).given_away
    assert year["known"] == "year" and year["named"] > 0.45 and sex["named"] == pytest.approx(0.1, abs=0.01)
    (note,) = [n for n in sqlanon.check(con, "wages", **ASKED, l=10).notes if "gives" in n]
    release = sqlanon.anatomy(con, "wages", **ASKED, l=10)
    assert f"warning: {note}" in release.notes
    assert "year gives income away: in a group of 10 people with different values, who knows how values go" in note
    found = sqlanon.attack(release, against="wages", id="id").best
    assert found.family == "learning" and found.reached > 2.5 * found.promised


def test_a_pair_that_tells_more_than_its_columns_is_said(con):
    con.execute(
        "create table stays as select *, 'd' || case when hash(id + 30000) % 10 < 8 then (hospital * 7 + ward"
        " * (3 + hospital)) % 20 else hash(id + 40000) % 20 end as disease from (select i as id,"
        " hash(i) % 10 as hospital, hash(i + 10000) % 10 as ward, hash(i + 20000) % 2 as sex from range(5000) as t(i))"
    ).fetchall()
    asked = {"quasi": ["hospital", "ward", "sex"], "sensitive": "disease"}
    found = sqlanon.check(con, "stays", **asked, l=5)
    assert [line["known"] for line in found.given_away] == ["hospital", "ward", "sex", "hospital with ward"]
    (note,) = [one for one in found.notes if "gives" in one]
    assert note.startswith("hospital with ward gives disease away") and note.endswith("leave one of them out")
    words = found.command.split()
    assert words[:4] == ["sqlanon", "check", "stays", "--quasi"] and words.count("--quasi") == 1
    assert {"sex"} < set(words[4].split(",")) and words[4].count(",") == 1
    release = sqlanon.anatomy(con, "stays", **asked, id="id", l=5)
    assert f"warning: {note}" in release.notes


def test_many_rows_are_drawn_from(con, monkeypatch):
    con.execute(WAGES).fetchall()
    whole = sqlanon.check(con, "wages", **ASKED).given_away[0]["named"]
    monkeypatch.setattr("sqlanon.adversary.given_away.MOST_ROWS", 1000)
    assert sqlanon.check(con, "wages", **ASKED).given_away[0]["named"] == pytest.approx(whole, abs=0.08)


@pytest.mark.parametrize("method", ["splu", "mondrian", "uncertain"])
def test_every_method_warns(con, method):
    con.execute(WAGES).fetchall()
    options = {"splu": {"gamma": 4}, "mondrian": {"k": 5, "l": 3}, "uncertain": {"k": 4, "l": 2, "threshold": 0.3}}
    options["uncertain"]["influence"] = "learn"
    release = getattr(sqlanon, method)(con, "wages", **ASKED, **options[method])
    assert [note for note in release.notes if note.startswith("warning: year gives income away")]


def test_what_groups_are_alike_in_tells_nobody_of_a_group_from_another(con):
    con.execute(WAGES).fetchall()
    # of which the source says otherwise: years of equal distributions share groups
    con.execute(
        "create table even as select year, income, 0.001 as probability from (select distinct year from wages),"
        " (select distinct income from wages)"
    ).fetchall()
    told = [
        "year gives income away" in " ".join(sqlanon.robust(con, "wages", **ASKED, r=3, **known).notes)
        for known in ({"background_from": "year"}, {"background_from": "sex"}, {"background": "even"})
    ]
    assert told == [False, True, True]


def test_what_chance_makes_is_not_said(con):
    """Of values with two or three rows many occur with one value of a column that has nothing to do with them."""
    con.execute(
        "create table people as select i as id, hash(i) % 3 as sex, case when hash(i + 9) % 10 = 0 then 1 else 0 end as"
        " rare, hash(i + 5) % 800 as disease from range(2000) as t(i)"
    ).fetchall()
    found = sqlanon.check(con, "people", quasi=["sex", "rare"], sensitive="disease")
    assert len(found.given_away) == 2 and all(line["named"] < 0.25 for line in found.given_away)
    release = sqlanon.anatomy(con, "people", quasi=["sex", "rare"], sensitive="disease", id="id", l=3)
    assert not [note for note in (*found.notes, *release.notes) if "gives" in note]


def test_rows_left_out_do_not_count(con):
    """A missing value is published as one, or left out: then it is no value that occurs with all years."""
    con.execute(WAGES.replace("wages as", "with_missing as")).fetchall()
    con.execute("insert into with_missing select 5000 + i, 2000, 0, null from range(1000) as t(i)").fetchall()
    con.execute(WAGES).fetchall()
    (note,) = [n for n in sqlanon.anatomy(con, "wages", **ASKED, l=5).notes if "gives" in n]
    assert note in sqlanon.anatomy(con, "with_missing", **ASKED, nulls="drop", l=5).notes


def test_a_pair_of_columns_that_tells_the_value_is_said(con):
    con.execute(
        "create table staff as select i as id, i % 7 as grade, i // 7 % 5 as site, hash(i) % 2 as sex,"
        " 1000 + (3 * (i % 7) + i // 7 % 5) % 8 as pay from range(700) as t(i)"
    ).fetchall()
    notes = sqlanon.check(con, "staff", quasi=["grade", "site", "sex"], sensitive="pay").notes
    (note,) = [one for one in notes if "gives" in one]
    assert note.startswith("grade with site gives pay away: in a group of 5 people")


def test_check_offers_to_look_at_the_table_with_the_column_coarser_or_without_it():
    con = connect()
    con.execute(WAGES)
    answer = sqlanon.check(con, "wages", **ASKED)
    begin = "sqlanon check wages"
    assert answer.command == f"{begin} --quasi year,sex --sensitive income --id id --coarsen year=10"
    (note,) = [spoken(note, "command line") for note in answer.notes if "gives income away" in note]
    coarser = sqlanon.check(con, "wages", **ASKED, coarsen={"year": 10})
    assert note.endswith(f"coarser: {coarser.given_away[0]['named']:.0%} with --coarsen year=10")
    compare, rest = "sqlanon compare wages", "--sensitive income --id id"
    assert coarser.command == f"{compare} --quasi year,sex {rest} --coarsen year=10"
    little = sqlanon.check(con, "wages", **ASKED, coarsen={"year": 2})
    assert little.command == f"{begin} --quasi sex --sensitive income --id id"
    assert sqlanon.check(con, "wages", **{**ASKED, "quasi": "sex"}).command == f"{compare} --quasi sex {rest}"
    assert not sqlanon.check(con, con.sql("from wages"), **ASKED).command


def test_no_rule_is_advised_that_is_there_or_helps_too_little(con):
    con.execute(
        "create or replace table told as select i as pid, ['Male', 'Female'][i % 2 + 1] as gender,"
        " ['aa', 'ab', 'bc'][i % 3 + 1] as word, 2000 + i % 30 as year, 'd' || i % 120 as d from range(4000) r(i)"
    )
    for column, coarsen in (("gender", {}), ("word", {}), ("year", {}), ("year", {"year": "10"})):
        asked = {"quasi": column, "sensitive": "d", "id": "pid", "coarsen": coarsen}
        answer = sqlanon.check(con, "told", **asked, l=2)
        release = sqlanon.anatomy(con, "told", l=2, **asked)
        notes = [note for note in (*answer.notes, *release.notes) if "gives d away" in note]
        assert len(notes) == 2 and all(note.endswith("leave it out") for note in notes)
        assert answer.command == ""  # nothing else is left that others may know
