"""Of many rows whole groups are drawn: the same ones whenever that is, within the interval that is told."""

import pytest

import sqlanon
from sqlanon.adversary.findings import bound_share
from sqlanon.attacks import attack_release

ROWS = 3000


@pytest.fixture
def release(con):
    con.execute(
        "create table people as select i as id, (i * 7919 % 61)::integer as age, (i * 104729 % 7)::integer as area,"
        f" 'v' || ((i * 7919 % 61 + hash(i) % 9) // 10) as value from range({ROWS}) t(i)"
    )
    roles = {"quasi": ["age", "area"], "sensitive": "value", "id": "id"}
    return sqlanon.anatomy(con, "people", **roles, l=2, key="ab" * 32)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(attack_release, "MOST_ROWS", 600)


def sampled(attack):
    return [finding for finding in attack.findings if "of a sample" in finding.whom]


def test_the_same_groups_are_drawn_whenever_that_is(release, few):
    first, again = (sqlanon.attack(release, against="people", id="id") for _ in range(2))
    assert first == again
    assert any("300 of 1,500 whole groups, about 600 of 3,000 rows, drawn" in note for note in first.notes)
    assert {finding.family for finding in sampled(first)} == {"order", "learning"}
    for finding in sampled(first):
        low, high = (float(end) / 100 for end in finding.whom.split("95 %: ")[1].rstrip("%)").split("% to "))
        people = int(finding.whom.split(" of ")[1].split()[0].replace(",", ""))
        assert people <= 600 and low < finding.reached < high
        assert low == pytest.approx(bound_share(finding.reached * people, people)[0], abs=6e-4)


def test_what_no_group_is_needed_for_is_of_all_rows(release, monkeypatch):
    whole = sqlanon.attack(release, against="people", id="id")
    monkeypatch.setattr(attack_release, "MOST_ROWS", 600)
    part = sqlanon.attack(release, against="people", id="id")
    for family in ("background knowledge", "presence"):
        assert [f for f in whole.findings if f.family == family] == [f for f in part.findings if f.family == family]
    whole_order, part_order = (
        next(f.reached for f in attack.findings if f.attack.startswith("people by age")) for attack in (whole, part)
    )
    assert part_order == pytest.approx(whole_order, abs=0.05) and not sampled(whole)


def test_truths_of_people_alike_are_in_proportion_to_those_drawn(release, few):
    """The weights of everybody's values sum to 1, and to as many people as were drawn."""
    view, part = (release.form.view(release.engine, release.tables, release.manifest) for _ in range(2))
    assert attack_release.draw_groups(view, part)
    truth = part.read_source("people", ("id",))
    assert release.engine.rows(f"select sum(true_count) as people from {truth}")[0]["people"] == pytest.approx(600)
    links = part.links(truth)
    (row,) = release.engine.rows(
        f"select max(abs(weight - 1)) as off, count(*) as people from (select sum(weight) as weight from {links}"
        " group by person_number)"
    )
    assert row["off"] == pytest.approx(0) and row["people"] > 590
    view.close()
    part.close()


def test_what_has_no_groups_is_attacked_whole(con, release, few):
    boxes = sqlanon.mondrian(con, "people", quasi=["age", "area"], sensitive="value", k=5, l=2)
    assert not sampled(sqlanon.attack(boxes, against="people"))


def test_the_interval_is_wilsons():
    assert bound_share(10, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert bound_share(0, 50)[0] == pytest.approx(0) and bound_share(50, 50)[1] == pytest.approx(1)


@pytest.mark.parametrize("visits", [1, 2])
def test_who_has_others_alike_in_groups_that_were_not_drawn_is_named_no_surer(con, visits, monkeypatch):
    """A ward tells whose a group's values are; of four people alike nobody knows in which group somebody is."""
    con.execute(
        f"create table visit as select i // {visits} as id, (id * 7919 % 25)::integer as ward,"
        " (id * 104729 % 40)::integer as age, 'v' || (ward * 8 + (hash(id * 2 + i % 2) % 8)) as value"
        f" from range({4000 * visits}) t(i)"
    )
    con.execute("create table people as select distinct on (id, value) * from visit")
    release = sqlanon.anatomy(con, "people", quasi=["ward", "age"], sensitive="value", id="id", l=3, key="cd" * 32)
    whole, few = (
        attack_release.attack_release(release, telling=False, orders=False, quick_rows=rows) for rows in (None, 1000)
    )
    monkeypatch.setattr(attack_release, "MOST_ROWS", 1200)
    drawn = sqlanon.attack(release, against="people", id="id")
    named = [next(f.reached for f in attack.findings if f.family == "learning") for attack in (whole, few, drawn)]
    assert max(named[1:]) <= named[0]
    assert attack_release.expect_attack(release).startswith("33%: a group's most frequent value") == (visits == 1)
    assert [attack.surely(0.8) for attack in (whole, few, drawn)] == [0, 0, 0]
    assert max(attack.surely(0.5) for attack in (few, drawn)) < 0.01
