"""A sample of whole groups: the same by the same seed, within its interval, refused where it tells too little."""

from dataclasses import replace

import pytest

import sqlanon
from sqlanon.adversary.findings import bound_share
from sqlanon.attacks.attack_release import attack_release
from sqlanon.attacks.sample import Sample
from sqlanon.errors import UsageError

ROWS = 3000


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    monkeypatch.setattr("sqlanon.attacks.sample.LEAST", 100)


@pytest.fixture
def release(con):
    con.execute(
        "create table people as select i as id, (i * 7919 % 61)::integer as age, (i * 104729 % 7)::integer as area,"
        f" 'v' || ((i * 7919 % 61 + hash(i) % 9) // 10) as value from range({ROWS}) t(i)"
    )
    roles = {"quasi": ["age", "area"], "sensitive": "value", "id": "id"}
    return sqlanon.anatomy(con, "people", **roles, l=2, key="ab" * 32)


def sampled(attack):
    return [finding for finding in attack.findings if "of a sample" in finding.whom]


@pytest.mark.thorough
def test_the_same_seed_draws_the_same_groups(release):
    first, again, other = (
        attack_release(release, "people", ("id",), sample=Sample(600, seed), telling=False) for seed in (1, 1, 2)
    )
    assert first == again and sampled(first) != sampled(other)
    assert any("300 of 1,500 whole groups, about 600 of 3,000 rows, drawn by seed 1" in note for note in first.notes)
    assert {finding.family for finding in sampled(first)} == {"order", "learning"}
    for finding in sampled(first):
        low, high = (float(end) / 100 for end in finding.whom.split("95 %: ")[1].rstrip("%)").split("% to "))
        people = int(finding.whom.split(" of ")[1].split()[0].replace(",", ""))
        assert people <= 600 and low < finding.reached < high
        assert low == pytest.approx(bound_share(finding.reached * people, people)[0], abs=6e-4)


@pytest.mark.thorough
def test_what_no_group_is_needed_for_is_of_all_rows(release):
    whole, part = (attack_release(release, "people", ("id",), sample=sample) for sample in (None, Sample(600)))
    for family in ("background knowledge", "presence"):
        assert [f for f in whole.findings if f.family == family] == [f for f in part.findings if f.family == family]
    whole_order, part_order = (
        next(f.reached for f in attack.findings if f.attack.startswith("people by age")) for attack in (whole, part)
    )
    assert part_order == pytest.approx(whole_order, abs=0.05)


@pytest.mark.thorough
def test_a_sample_of_all_rows_is_none(release):
    assert attack_release(release, "people", ("id",), sample=Sample(ROWS)) == attack_release(release, "people", ("id",))


def test_truths_of_people_alike_are_in_proportion_to_those_drawn(release):
    """The weights of everybody's values sum to 1, and to as many people as were drawn."""
    view, part = (release.form.view(release.engine, release.tables, release.manifest) for _ in range(2))
    assert Sample(600).draw(view, part)
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


def test_samples_that_tell_too_little_or_cannot_be_drawn_are_refused(con, release):
    with pytest.raises(UsageError, match="at least 100 rows"):
        Sample(99)
    boxes = sqlanon.mondrian(con, "people", quasi=["age", "area"], sensitive="value", k=5, l=2)
    with pytest.raises(UsageError, match="boxes, which overlap; leave it out"):
        attack_release(boxes, "people", ("id",), sample=Sample(600))


@pytest.mark.thorough
def test_where_it_is_not_required_what_has_no_groups_is_attacked_whole(con, release):
    boxes = sqlanon.mondrian(con, "people", quasi=["age", "area"], sensitive="value", k=5, l=2)
    sample = replace(Sample(600), required=False)
    assert attack_release(boxes, "people", sample=sample) == attack_release(boxes, "people")


def test_the_interval_is_wilsons():
    assert bound_share(10, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert bound_share(0, 50)[0] == pytest.approx(0) and bound_share(50, 50)[1] == pytest.approx(1)


def test_verbs_refuse_samples_that_cannot_be(con, release):
    with pytest.raises(UsageError, match="draws a sample; say"):
        sqlanon.attack(release, seed=2)
    with pytest.raises(UsageError, match="at least 100 rows"):
        sqlanon.attack(release, sample=99)
    with pytest.raises(UsageError, match="at least 100 rows"):
        sqlanon.report(release, sample=99)
    with pytest.raises(UsageError, match="holds what was found before"):
        sqlanon.report(release, attack=sqlanon.attack(release, sample=600), sample=600)
    roles = {"quasi": ["age", "area"], "sensitive": "value", "id": "id"}
    with pytest.raises(UsageError, match="runs none: say one of them"):
        sqlanon.compare(con, "people", **roles, sample=600, quick=True)
    with pytest.raises(UsageError, match="at least 100 rows"):
        sqlanon.compare(con, "people", **roles, sample=99)


@pytest.mark.thorough
def test_a_comparison_attacks_groups_on_a_sample_and_says_its_error(con, release):
    roles = {"quasi": ["age", "area"], "sensitive": "value", "id": "id", "methods": ["anatomy"], "l": 2, "queries": 8}
    whole, part = (sqlanon.compare(con, "people", **roles, sample=sample) for sample in (None, 600))
    assert any("600 of 3,000 rows: shares are known to 4.0 points of a hundred" in note for note in part.notes)
    assert not any("sample" in note for note in whole.notes)
    reached = [comparison.overall[0]["reached"] for comparison in (whole, part)]
    assert reached[0] != reached[1] and reached[0] == pytest.approx(reached[1], abs=0.15)
