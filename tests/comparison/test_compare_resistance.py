"""Resistance: candidates are attacked as `attack` does, robust's backgrounds are searched, bad targets refused."""

import itertools

import pytest

import sqlanon
from sqlanon.comparison.question import Candidate
from sqlanon.comparison.resistance import (
    NO_ROW,
    Resistance,
    coarsen_candidate,
    draw_from_whole,
    find_between,
    grow_background,
    leave_columns_out,
    refine_background,
)
from sqlanon.errors import UsageError
from tests.databases import connect

ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}
PEOPLE = (  # values depend on both quasi columns
    "create table people as select 'p' || i as ssn, i % 4 as age, if(i // 4 % 2 = 0, 'F', 'M') as sex,"
    " 'd' || cast((i % 4 * 2 + hash(i) % 3 + i // 4 % 2) % 8 as integer) as disease from range(400) t(i)"
)


@pytest.fixture(scope="module")
def con():
    connection = connect()
    connection.execute(PEOPLE)
    return connection


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_the_most_accurate_release_that_resists_comes_first_and_is_the_command(con):
    found = sqlanon.compare(con, "people", **ROLES, l=[2, 3], gamma=3, queries=6, resist=0.6, max_suppressed=0.4)
    resisting = [line for line in found.overall if line["reached"] is not None and line["reached"] <= 0.6]
    assert found.holds and 0 < len(resisting) < len(found.overall)
    assert list(found.overall[: len(resisting)]) == sorted(resisting, key=lambda line: line["median"])
    assert found.command.split()[2] == resisting[0]["candidate"]
    assert "no proof against other attacks" in found.summary
    assert any(note.startswith("robust, r = 2, attacked for each background: ") for note in found.notes)


@pytest.mark.thorough
def test_where_none_resists_the_nearest_is_said(con):
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=[2, 3], queries=4, resist=0.2)
    assert (found.holds, found.command) == (False, "")
    nearest = min(found.overall, key=lambda line: line["reached"])
    said = f"the nearest is anatomy ({nearest['parameter']}), {nearest['reached']:.1%}"
    assert [note for note in found.notes if note.endswith(said)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resist": 0}, "resist is a share of people above 0 and at most 1"),
        ({"resist": 1.5}, "resist is a share of people above 0 and at most 1"),
        ({"resist": 0.01}, r"resist 0.01 is below \d+\.\d%, which naming the most frequent disease reaches without"),
        ({"max_suppressed": 1}, "max_suppressed is a share of the rows below 1"),
    ],
)
def test_targets_that_cannot_be(con, options, message):
    with pytest.raises(UsageError, match=message):
        sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=2, queries=2, **options)


def test_the_least_strength_is_found_between_one_that_fails_and_one_that_resists():
    for least in range(4, 11):
        tried = []

        def attack(candidate, least=least, tried=tried):
            tried.append(candidate.value)
            return Resistance(0.2 if candidate.value >= least else 0.3, "learning", 0.0)

        made, way = find_between(3, Candidate("splu", 10), 0.25, attack)
        assert (made.value, len(way)) == (least, len(tried)) and len(tried) <= 3


@pytest.mark.parametrize(("before", "after", "whole"), [(0.2, 0.1, False), (0.5, 0.3, True), (0.5, 0.6, False)])
def test_groups_of_the_whole_table_are_taken_where_they_withstand_more(before, after, whole):
    made, way = draw_from_whole(
        Candidate("anatomy", 5), 0.25, lambda trial: Resistance(after if trial.whole else before, "learning", 0.0)
    )
    assert made.whole == whole and bool(way) == (before > 0.25)
    assert (made.words[2:], made.parameter) == ((["--block", "all"], "l = 5, block = all") if whole else ([], "l = 5"))


@pytest.mark.thorough
def test_groups_of_the_whole_table_are_what_block_all_publishes(con):
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=3, queries=4, resist=0.25)
    (line,) = found.overall
    way = next(note for note in found.notes if "groups from the whole table" in note)
    shares = {}
    for block in (64, "all"):
        key = Candidate("anatomy", 3, whole=block == "all").key(1)
        release = sqlanon.anatomy(con, "people", **ROLES, l=3, block=block, key=key)
        shares[block] = sqlanon.attack(release, against="people", id="ssn").most_named().reached
    assert way.endswith(f"in blocks: {shares[64]:.1%}; block = all: {shares['all']:.1%}")
    assert line["reached"] == min(shares.values())


def all_ways(columns):
    return [known for count in range(1, len(columns) + 1) for known in itertools.permutations(columns, count)]


@pytest.mark.parametrize("target", [0.9, 0.55, 0.35, 0.1])
def test_a_background_grows_by_the_best_exchange_until_the_target_is_reached(target):
    """Each column lowers the attack by its own share and leaves out its own rows; one is never allowed."""
    lowers = {"age": (0.3, 0.02), "sex": (0.2, 0.0), "zip": (0.15, 0.001), "job": (0.9, None)}
    tried = []

    def attack(candidate):
        tried.append(candidate.background)
        gains, losses = zip(*(lowers[name] for name in candidate.background), strict=True)
        return None if None in losses else Resistance(1 - sum(gains), "learning", sum(losses))

    grown, way = grow_background(Candidate("robust", 3), list(lowers), target, attack)
    known = grown.background
    # by hand: what each column takes off the attack for a row that it leaves out, at least one in a thousand
    order = sorted(("age", "sex", "zip"), key=lambda name: max(lowers[name][1], NO_ROW) / lowers[name][0])
    assert order == ["sex", "zip", "age"]
    reached = {0.9: ("sex",), 0.55: ("age", "sex"), 0.35: ("age", "sex", "zip"), 0.1: ("age", "sex", "zip")}
    assert known == reached[target] and len(way) == len(known)
    assert {*tried} <= {*all_ways(lowers)}


# Adult, r = 5, as tests/benchmarks/choosing.py measured it: what attacks reach, rows left out, median error
MEASURED = {
    "a": (0.421, 0.0128, 0.105), "m": (0.414, 0.0, 0.093), "am": (0.404, 0.0336, 0.091), "s": (0.379, 0.0213, 0.106),
    "ms": (0.368, 0.031, 0.064), "as": (0.353, 0.0595, 0.122), "ams": (0.352, 0.1043, 0.144),
    "e": (0.325, 0.1165, 0.096), "ae": (0.303, 0.1973, 0.182), "em": (0.289, 0.1551, 0.119),
    "es": (0.255, 0.2069, 0.063), "ems": (0.225, 0.2307, 0.083),
}  # fmt: skip


@pytest.mark.parametrize("target", sorted({reached for reached, _, _ in MEASURED.values()}))
def test_the_background_is_within_a_tenth_of_the_best_of_all_subsets_that_resist(target):
    def attack(candidate):
        line = MEASURED.get("".join(candidate.background))
        return None if line is None else Resistance(line[0], "learning", line[1])

    def ask(candidate):
        line = MEASURED.get("".join(candidate.background))
        return None if line is None else line[2]

    grown, _ = grow_background(Candidate("robust", 5), list("aems"), target, attack)
    refined, _ = refine_background(grown, list("aems"), target, attack, ask)
    best = min(error for reached, _, error in MEASURED.values() if reached <= target)
    assert attack(refined).reached <= target and ask(refined) <= 1.1 * best
    # what does not resist stays as it is
    assert refine_background(grown, list("aems"), 0.1, attack, ask) == (grown, [])


@pytest.mark.parametrize(("target", "coarser"), [(0.9, ()), (0.6, ("zip",)), (0.35, ("zip", "age")), (0.1, ())])
def test_columns_become_coarser_that_lower_the_attack_most_until_the_target_is_reached(target, coarser):
    """Each rule takes its own share off the attack; one makes it worse, one is refused."""
    rules = {"age": "10", "zip": "2 letters", "sex": "1 letters", "job": "1 letters"}
    lowers = {"age": 0.2, "zip": 0.3, "sex": -0.1}

    def attack(candidate):
        names = [name for name, _ in candidate.coarsen]
        return None if "job" in names else Resistance(0.85 - sum(lowers[name] for name in names), "learning", 0.0)

    made, way = coarsen_candidate(Candidate("anatomy", 3), rules, target, attack)
    assert made.coarsen == tuple((name, rules[name]) for name in coarser)
    assert len(way) == (len(coarser) or (2 if target == 0.1 else 0))
    assert made.words == ["-l", "3", *(word for name in coarser for word in ("--coarsen", f"{name}={rules[name]}"))]


@pytest.mark.parametrize(("target", "without"), [(0.9, ()), (0.6, ("year",)), (0.3, ("year", "zip")), (0.1, ("year",))])
@pytest.mark.parametrize("told", [True, False])
def test_columns_are_left_out_the_most_telling_first_until_the_target_is_reached(target, without, told):
    """Each column gives its own share away; attacks may be unable to say which gives most, and one column has to stay.

    Where the target is not reached, a column that lowers the attack by less than half a percent is published.
    """
    gives = {"sex": 0.001, "year": 0.3, "zip": 0.25 if target > 0.1 else 0.002}
    tried = []

    def attack(candidate, telling):
        assert telling
        tried.append(candidate.without)
        left = candidate.published(gives)
        most = max(left, key=lambda name: gives[name]) if told else ""
        return Resistance(0.3 + sum(gives[name] for name in left), "learning", 0.0, most)

    made, way = leave_columns_out(Candidate("anatomy", 5), list(gives), target, attack)
    assert (made.without if made else ()) == without and all(len(names) < len(gives) for names in tried)
    assert len(tried) - 1 == (len(way) if told else sum(len(gives) - number for number in range(len(way))))
    robust = Candidate("robust", 5, ("year", "sex"), coarsen=(("year", "10"), ("sex", "1 letters")))
    shorter = robust.leave_out("year")
    assert (shorter.background, shorter.rules, shorter.without) == (("sex",), ["sex=1 letters"], ("year",))
    assert shorter.leave_out("sex") is None and robust.parameter == "r = 5, year=10, sex=1 letters"


@pytest.mark.thorough
@pytest.mark.parametrize("target", [0.4, 0.3])
def test_a_column_that_gives_values_away_is_left_out_and_its_questions_count_as_lost(target):
    con = connect()
    con.execute(
        "create table wages as select i as person, 2010 + i % 5 as year, 20 + hash(i, 1) % 30 as age,"
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
    assert (
        shown[0][heads.index("unanswered")] == f"{line['unanswered']:.1%}"
        and line["median"] == judged["error"].median()
    )
    again = sqlanon.compare(con, "wages", **roles, methods="anatomy", l=5, queries=30, resist=target)
    assert again.answers.equals(found.answers) and again.command == found.command


@pytest.mark.thorough
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


@pytest.mark.thorough
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
    asked = {"quasi": "age", "sensitive": "disease", "methods": ["anatomy"], "l": [3], "queries": 10}
    assert sqlanon.compare(con, "gaps", **asked, nulls="drop", resist=0.2).overall
    with pytest.raises(
        sqlanon.UsageError, match=r"0\.2 is below 33\.3%, which naming the most frequent disease reaches"
    ):
        sqlanon.compare(con, "gaps", **asked, nulls="value", resist=0.2)
