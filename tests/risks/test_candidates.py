"""Resistance: candidates are attacked as `attack` does, robust's backgrounds are searched, bad targets refused."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

import sqlanon
from sqlanon.errors import UsageError
from sqlanon.risks import candidates
from sqlanon.risks.candidates import (
    MOST_SURE,
    MOST_SURE_SAMPLED,
    SAMPLING,
    Candidate,
    CompareQuestion,
    Resistance,
    may_resist,
    search,
)
from tests.databases import connect, database

ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}
PEOPLE = (  # values depend on both quasi columns
    "create table people as select 'p' || i as ssn, i % 4 as age, if(i // 4 % 2 = 0, 'F', 'M') as sex,"
    " 'd' || cast((i % 4 * 2 + hash(i) % 3 + i // 4 % 2) % 8 as integer) as disease from range(400) t(i)"
)


con = database(PEOPLE)


def test_what_is_reached_is_what_attack_reaches_on_the_published_release(con):
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=3, queries=4, resist=1)
    (line,) = found.overall
    key = Candidate("anatomy", 3).key(1)
    release = sqlanon.anatomy(con, "people", **ROLES, l=3, key=key)
    best = sqlanon.attack(release, against="people", id="ssn").most_named()
    assert (line["reached"], line["family"], line["left_out"]) == (best.reached, best.family, 0.0)
    assert f"{best.reached:.1%}" in found.shown()[1][0]
    again = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=3, queries=4, resist=1)
    assert again.answers.equals(found.answers)


def test_the_most_accurate_release_that_resists_comes_first_and_is_the_command(con):
    found = sqlanon.compare(con, "people", **ROLES, l=[2, 3], gamma=3, queries=6, resist=0.6, max_suppressed=0.4)
    resisting = [line for line in found.overall if line["reached"] is not None and line["reached"] <= 0.6]
    assert found.holds and 0 < len(resisting) < len(found.overall)
    assert list(found.overall[: len(resisting)]) == sorted(resisting, key=lambda line: line["error"])
    assert found.command.split()[2] == resisting[0]["candidate"]
    # what does not resist is not asked, and what promises less than a method that may resist is not tried
    assert all(math.isnan(line["error"]) for line in found.overall[len(resisting) :])
    assert len({line["candidate"] for line in resisting}) == len(resisting)
    assert "no proof against other attacks" in found.summary


def test_where_none_resists_the_nearest_is_said(con):
    found = sqlanon.compare(
        con, "people", **{**ROLES, "quasi": ["age"]}, methods="anatomy", l=[2, 5], queries=4, resist=0.2
    )
    assert [note for note in found.notes if note.startswith("anatomy, l = 2 is left out: 1 in 2 is more than 20.0%")]
    assert (found.holds, found.command) == (False, "")
    nearest = min(found.overall, key=lambda line: line["danger"])
    said = f"the nearest is anatomy ({nearest['parameter']}), of which the best attack names {nearest['reached']:.1%}"
    assert [note for note in found.notes if said in note]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resist": 0}, "resist is a share of people above 0 and at most 1"),
        ({"resist": 1.5}, "resist is a share of people above 0 and at most 1"),
        ({"resist": 0.01}, r"resist 0.01 is below \d+\.\d%, which naming the most frequent disease reaches without"),
        ({"resist": 0.3}, "nothing that is compared promises what is asked for: anatomy, l = 2 .* at least 4 promises"),
        ({"max_suppressed": 1}, "max_suppressed is a share of the rows below 1"),
    ],
)
def test_targets_that_cannot_be(con, options, message):
    with pytest.raises(UsageError, match=message):
        sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=2, queries=2, **options)


@pytest.mark.parametrize(
    ("target", "coarser"), [(0.9, ()), (0.6, ("zip",)), (0.35, ("zip", "age")), (0.1, ("zip", "age"))]
)
def test_columns_are_changed_in_order_until_the_target_is_reached(target, coarser):
    """Each rule takes its own share off the attack; one makes it worse, and one is refused."""
    rules = {"job": "1 letters", "zip": "2 letters", "age": "10", "sex": "1 letters"}
    lowers, tried = {"age": 0.2, "zip": 0.3, "sex": -0.1}, []

    def attack(candidate):
        names = [name for name, _ in candidate.coarsen]
        tried.append(names)
        reached = 0.85 - sum(lowers.get(name, 0) for name in names)
        return None if "job" in names else Resistance(reached, "learning", 0.0)

    def coarsen(candidate, name):
        return replace(candidate, coarsen=(*candidate.coarsen, (name, rules[name])))

    made, way = search(Candidate("anatomy", 3), list(rules), coarsen, target, attack)
    assert made.coarsen == tuple((name, rules[name]) for name in coarser) and len(way) == len(coarser)
    assert len(tried) <= 1 + len(rules)
    assert made.rules == [f"{name}={rules[name]}" for name in coarser]


def test_a_column_that_is_left_out_takes_its_rule_and_its_background_along():
    robust = Candidate("robust", 5, ("year", "sex"), coarsen=(("year", "10"), ("sex", "1 letters")))
    shorter = robust.leave_out(["year"])
    assert (shorter.background, shorter.rules, shorter.without) == (("sex",), ["sex=1 letters"], ("year",))
    assert shorter.leave_out(["sex"]) is None and robust.parameter == "r = 5, year=10, sex=1 letters"


def test_a_release_that_tells_some_people_for_sure_does_not_resist():
    few, some, more = (Resistance(0.2, "learning", 0.0, sure) for sure in (MOST_SURE, 0.002, 0.16))
    assert may_resist(few, 0.3) and not may_resist(some, 0.3) and not may_resist(more, 0.3)
    assert few.reached == 0.2 < 0.8 < some.reached < more.reached
    assert (few.words, more.words) == ("20.0%", "20.0%, 16.00% told")
    assert not may_resist(None, 0.3) and not may_resist(Resistance(None, "", 0.0), 0.3)


@pytest.mark.parametrize(
    ("named", "sure", "ruled_out"),
    [(0.3 + SAMPLING, 0.0, False), (0.301 + SAMPLING, 0.0, True), (0.2, MOST_SURE_SAMPLED, False), (0.2, 0.011, True)],
)
def test_some_rows_rule_out_what_is_beyond_chance(named, sure, ruled_out):
    assert may_resist(Resistance(named, "learning", 0.0, sure, at_least=True), 0.3) is not ruled_out
    assert may_resist(Resistance(named, "learning", 0.0, sure), 0.3) is False


@pytest.mark.parametrize("target", [0.4, 0.205])
def test_a_column_that_gives_values_away_is_left_out_and_its_questions_count_as_lost(target):
    con = connect()
    con.execute(
        "create table wages as select i as person, 2010 + i % 5 as year, 20 + hash(i, 1) % 300 as age,"
        " if(hash(i, 2) % 2 = 0, 'F', 'M') as sex, 'w' || (i % 5 * 12 + hash(i, 3) % 12) as wage from range(2000) t(i)"
    )
    roles = {"quasi": ["year", "age", "sex"], "sensitive": "wage", "id": "person"}
    found = sqlanon.compare(con, "wages", **roles, methods="anatomy", l=5, queries=30, resist=target)
    # with every column stands the better of groups in blocks and of the whole table
    (line,), (every_column,) = (
        [row for row in found.overall if bool(row["without"]) is less] for less in (True, False)
    )
    assert every_column["reached"] > 0.6 and found.holds is (target == 0.4)
    assert line["without"][0] == "year" and line["reached"] <= 0.4 and line["arguments"] == {"l": 5}
    if not found.holds:
        assert any(f"the nearest is anatomy ({line['parameter']})" in note for note in found.notes)
        return
    words = found.command.split()
    quasi = words[words.index("--quasi") + 1].split(",")
    assert quasi == ["age", "sex"] and "does not publish year" in found.summary
    key = Candidate("anatomy", 5, without=("year",)).key(1)
    release = sqlanon.anatomy(con, "wages", **{**roles, "quasi": quasi}, l=5, key=key)
    assert sqlanon.attack(release, against="wages", id="person").most_named().reached == line["reached"]
    answers = found.answers[(found.answers["parameter"] == line["parameter"]) & (found.answers["truth"] > 0)]
    lost = answers["text"].str.contains("year")
    assert 0 < lost.mean() < 1 and (answers["answered"] == ~lost).all()
    assert (answers.loc[lost, "error"] == 1).all() and answers.loc[lost, "low"].isna().all()
    judged = answers[answers["selectivity"] != "1 to 10 rows"]
    assert line["unanswered"] == pytest.approx(judged["text"].str.contains("year").mean())
    heads, shown = found.shown()
    assert shown[0][heads.index("unanswered")] == f"{line['unanswered']:.1%}"
    answered = judged.loc[judged["answered"], "error"].median()
    assert line["error"] == pytest.approx(line["unanswered"] + (1 - line["unanswered"]) * answered)
    again = sqlanon.compare(con, "wages", **roles, methods="anatomy", l=5, queries=30, resist=target)
    assert again.answers.equals(found.answers) and again.command == found.command


def test_candidates_are_tried_as_they_are_and_coarser(con):
    roles = {**ROLES, "methods": "anatomy", "l": 2, "queries": 4}
    found = sqlanon.compare(con, "people", **roles, coarsen={"age": 2})
    plain, coarser = sorted(line["parameter"] for line in found.overall)
    assert (plain, coarser) == ("l = 2", "l = 2, age=2")
    by_hand = sqlanon.compare(con, query="SELECT ssn, age // 2 * 2 AS age, sex, disease FROM people", **roles, resist=1)
    release = sqlanon.anatomy(con, "people", **ROLES, l=2, coarsen={"age": 2}, key=Candidate("anatomy", 2).key(1))
    (line,) = by_hand.overall
    assert sqlanon.attack(release, against="people", id="ssn").most_named().reached == line["reached"]
    with pytest.raises(UsageError, match="is for quasi columns, and 'disease' is none of them"):
        sqlanon.compare(con, "people", **roles, coarsen={"disease": "1 letter"})


def test_without_a_target_each_is_attacked_and_one_to_begin_with_is_named(con):
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy,splu", l=[2, 4], gamma=2, queries=4)
    attacked = [line for line in found.overall if line["reached"] is not None]
    # nobody is alone with their quasi values, so that no guess at randomized ones can be scored
    assert [line["candidate"] for line in attacked] == ["anatomy"] * 2
    keeping = [line for line in attacked if line["reached"] <= line["confidence"] + 0.005]
    chosen = keeping[0] if keeping else min(attacked, key=lambda line: line["reached"])
    assert found.holds and found.command.split()[2] == chosen["candidate"]
    assert f"names {chosen['reached']:.1%}." in found.summary
    with pytest.raises(UsageError, match="resist is about attacks, and quick"):
        sqlanon.compare(con, "people", **ROLES, quick=True, resist=0.5)


def test_values_that_are_missing_and_dropped_are_no_bar_to_a_target():
    con = connect()
    con.execute(
        "create table gaps as select i * 7 % 50 as age, if(i % 3 > 0, 'd' || i % 13, null) as disease"
        " from range(600) as t(i)"
    )
    asked = {"quasi": "age", "sensitive": "disease", "methods": ["anatomy"], "l": [5], "queries": 10}
    assert sqlanon.compare(con, "gaps", **asked, nulls="drop", resist=0.2).overall
    with pytest.raises(
        sqlanon.UsageError, match=r"0\.2 is below 33\.3%, which naming the most frequent disease reaches"
    ):
        sqlanon.compare(con, "gaps", **asked, nulls="value", resist=0.2)


def test_what_is_proposed_was_attacked_by_all_rows(con, monkeypatch):
    asked = []

    def attack(release, source, identifier, telling, orders, quick_rows):
        l = release.manifest["parameters"]["l"]
        asked.append((l, quick_rows, orders))
        # by all rows more is named of small groups than some of them tell
        reached = 0.2 if quick_rows or l > 4 else 0.5
        best = SimpleNamespace(reached=reached, family="learning")
        return SimpleNamespace(most_named=lambda: best, surely=lambda limit: 0.0, notes=())

    monkeypatch.setattr(candidates, "attack_release", attack)
    monkeypatch.setattr(candidates, "QUICK_ROWS", 100)
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=[4, 6], queries=4, resist=0.3)
    assert found.holds and "-l 6" in found.command and asked == [(4, 100, False), (4, None, True), (6, 100, False),
                                                                 (6, None, True)]  # fmt: skip
    assert [(line["parameter"], line["at_least"]) for line in found.overall] == [("l = 6", False), ("l = 4", False)]
    # of few rows all are attacked at once
    asked.clear()
    monkeypatch.setattr(candidates, "QUICK_ROWS", 200)
    sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=6, queries=4, resist=0.3)
    assert asked == [(6, None, True)]


@pytest.mark.parametrize(("target", "values"), [(0.3, (4, 5, 10)), (0.5, (3, 5, 10)), (0.2, (5, 10)), (0.04, (23,))])
def test_usual_values_promise_what_is_asked_for(target, values):
    asked = CompareQuestion(source="people", quasi=("age",), sensitive=("disease",), resist=target)
    assert asked.values_of("l") == values
