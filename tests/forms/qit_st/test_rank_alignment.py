"""Groups whose order of ages is that of their values are found; drawn groups hold, whatever depends on what."""

import json
import re

import numpy as np
import pytest

import sqlanon
from sqlanon.forms.qit_st import rank_alignment
from sqlanon.forms.qit_st.order_randomization import PlacedPeople, judge_orders
from sqlanon.forms.qit_st.rank_alignment import LEVEL
from sqlanon.plans.manifest import manifest_text
from tests.databases import connect

ROLES = {"quasi": ["age", "zip"], "sensitive": "disease"}


def people(disease):
    connection = connect()
    connection.execute(
        "create table people as select i as ssn, i * 7919 % 900 as age, hash(i) % 90000 as zip,"
        f" 'd' || ({disease}) as disease from range(900) t(i)"
    )
    return connection


def found(report):
    (check,) = [one for one in report.checks if one.name == "rank_alignment"]
    return check


@pytest.mark.parametrize(("numbered", "shift"), [("i % 3", 8), ("i % 3", -8), ("[1, 0, 2][1 + i % 3]", 8)])
def test_groups_in_the_order_of_ages_are_found(numbered, shift):
    connection = people(f"({numbered})::integer")
    # a group: a person of the first value, the next older by 8 places of the second, and of the third by 16
    connection.execute(
        "create table placed as select age, zip, disease, 1 + (row_number() over (partition by disease order by age)"
        f" + 300 - dense_rank() over (order by disease) * {shift}) % 300 as group_id from people"
    )
    connection.execute("create table qit as select age, zip, group_id from placed order by all")
    connection.execute("create table st as select group_id, disease, count(*) as count from placed group by all")
    release = sqlanon.adopt(connection, qit="qit", st="st", l=3, **ROLES)
    report = release.verify(against="people")
    check = found(report)
    assert check.holds is False and report.holds is False
    assert set(check.found) == {"age"} and check.found["age"] < LEVEL
    statements = release.verification_sql(against="people")
    assert "alignment, values sorted" in statements and "alignment, values by frequency" in statements


@pytest.mark.parametrize("disease", ["i % 5", "(i * 7919 % 900) // 150", "least(i * 7919 % 900 // 100, i % 9)"])
@pytest.mark.parametrize("method", ["anatomy", "robust"])
def test_drawn_groups_hold_however_values_depend_on_ages(disease, method):
    asked = {"l": 3} if method == "anatomy" else {"r": 2, "background_from": "zip"}
    connection = people(disease)
    if method == "robust":
        connection.execute("update people set zip = age % 2")
    roles = {**ROLES, "id": "ssn", "unique_quasi": "keep"}
    release = getattr(sqlanon, method)(connection, "people", **roles, **asked)
    check = found(release.verify(against="people"))
    # where ages tell the value, hardly a group has an order that ages and values do not have anyway
    assert check.holds is True and str(check.found).startswith("as chance has it; ")


def relinked(rows, l, share, seed=0):
    """Return a release in which so many of the groups have their values in the order of ages."""
    connection, groups = connect(), rows // l
    connection.execute(
        f"create table people as select i as ssn, i * 7919 % {rows} as age, hash(i, {seed}) % 90000 as zip,"
        f" 'd' || (i % {l}) as disease from range({rows}) t(i)"
    )
    # a few places further on among those of the next value; whoever is not in order changes places by lot
    connection.execute(
        "create table placed as with ranked as (select *, row_number() over (partition by disease order by age)"
        f" - dense_rank() over (order by disease) * {max(1, groups // 12)} + {rows} as place from people),"
        f" aimed as (select *, 1 + place % {groups} as aim, hash(1 + place % {groups}, {seed}) % 1000 >="
        f" {1000 * share} as drawn from ranked),"
        " seats as (select disease, aim, row_number() over (partition by disease order by aim) as seat"
        " from aimed where drawn),"
        f" lots as (select ssn, disease, row_number() over (partition by disease order by hash(ssn, {seed})) as seat"
        " from aimed where drawn)"
        " select age, zip, disease, coalesce(seats.aim, aimed.aim) as group_id from aimed"
        " left join lots using (ssn, disease) left join seats using (disease, seat)"
    )
    connection.execute("create table qit as select age, zip, group_id from placed order by all")
    connection.execute("create table st as select group_id, disease, count(*) as count from placed group by all")
    release = sqlanon.adopt(connection, qit="qit", st="st", l=l, **ROLES)
    return release, connection


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "l", "share"), [(60, 3, 1.0), (300, 3, 0.88), (300, 5, 0.5), (1000, 4, 0.25)])
def test_few_groups_in_the_order_of_ages_are_found(rows, l, share):
    """Of 300 people of whom 88 % stand in the order of ages the bound alone told nothing."""
    release, connection = relinked(rows, l, share)
    report = release.verify(against="people")
    assert report.holds is False and set(found(report).found) == {"age"}
    attack = sqlanon.attack(release, against=connection.table("people"), id="ssn")
    (order,) = [one for one in attack.leaks if one.family == "order"]
    assert "by age" in order.attack and order.reached > 1 / l + 0.4 * share * (1 - 1 / l)
    assert "LEAK" in attack.headline and set(attack.df().query("leak == 'LEAK'").family) == {"order"}


def test_what_would_not_be_seen_is_said():
    release, _ = relinked(300, 3, 0.05)
    check = found(release.verify(against="people"))
    assert check.holds is True
    least, chance = map(int, re.findall(r"(\d+) %", str(check.found)))
    assert chance == pytest.approx(33, abs=4) and 50 <= least <= 58
    release, _ = relinked(15, 3, 0.0)
    check = found(release.verify(against="people"))
    assert check.holds is None and "so few people" in str(check.found)


def test_drawn_groups_are_refused_as_often_as_the_level_says():
    """Of drawn groups a twentieth surpasses nineteen arrangements, though ages depend on the value."""
    random, refused, rounds = np.random.default_rng(3), 0, 300
    value = np.arange(60) % 4
    for number in range(rounds):
        age = np.argsort(np.argsort(value * 15 + random.normal(0, 25, 60)))
        group = np.empty(60, dtype=np.int64)
        for one in range(4):
            group[value == one] = random.permutation(15) + 1
        columns = {"age": age, "zip": random.permutation(60)}
        outcome = judge_orders(PlacedPeople(group, value, [value, (value + 2) % 4], columns), number, 19)
        refused += bool(outcome.aligned)
    # binomial(300, 1 / 20): fewer than 4 or more than 29 once in a thousand
    assert 4 <= refused <= 29


def test_where_nobody_is_unique_nothing_is_told(patients):
    release = sqlanon.anatomy(patients, "patients", quasi="sex", sensitive="disease", id="ssn", l=3)
    report = release.verify(against="patients")
    assert found(report).holds is None and report.holds is True


def test_the_number_of_a_release_does_not_switch_the_check_off(tmp_path):
    connection = connect()
    connection.execute(
        "create table people as select i as ssn, i * 7919 % 3000 as age, hash(i) % 90000 as zip,"
        " 'd' || i % 3 as disease from range(3000) t(i)"
    )
    connection.execute(
        "create table placed as select age, zip, disease, 1 + (row_number() over (partition by disease order by age)"
        " + 1000 - dense_rank() over (order by disease) * 8) % 1000 as group_id from people"
    )
    connection.execute("create table qit as select age, zip, group_id from placed order by all")
    connection.execute("create table st as select group_id, disease, count(*) as count from placed group by all")
    sqlanon.adopt(connection, qit="qit", st="st", l=3, out=tmp_path / "release", **ROLES)
    path, everybody = tmp_path / "release" / "release.json", connection.table("people").df()
    text, told = json.loads(path.read_text()), {}
    for number, changed in ((2, "leave"), (3, "leave"), (10**9, "leave"), (2, "keep")):
        parameters = {**text["parameters"], "release": number, "changed": changed}
        path.write_text(manifest_text(text | {"parameters": parameters}))
        report = sqlanon.open(tmp_path / "release").verify(against=everybody)
        told[number, changed] = found(report).holds, str(found(report).found)[:30]
        assert report.holds is not True
    assert [holds for holds, _ in told.values()] == [False, False, None, None]
    assert told[10**9, "leave"][1].startswith("not run: groups may have been")
    assert told[2, "keep"][1].startswith("not run: some are shown with")


@pytest.mark.thorough
def test_releases_that_follow_hold_though_later_people_are_of_another_kind(tmp_path, monkeypatch):
    connection = people("least(i * 7919 % 900 // 100, hash(i, 7) % 9)")
    asked = {**ROLES, "id": "ssn", "l": 3, "key": "5e" * 32, "ledger": tmp_path / "ledger", "unique_quasi": "keep"}
    for number in range(1, 5):
        followed = sqlanon.anatomy(connection, "people", out=tmp_path / str(number), **asked)
        connection.execute(
            f"insert into people select ssn + {number} * 10000, age + {number} * 1000, zip, disease from people"
            f" where ssn < 10000 and hash(ssn, {number}) % 10 < {9 - number}"
        )
    everybody = connection.table("people").df()
    assert found(followed.verify(against=everybody)).holds is True
    monkeypatch.setattr(rank_alignment, "_times", lambda published: 1)
    assert found(followed.verify(against=everybody)).holds is False, "as if all had come at once"
