"""The learned adversary: exact posteriors, the strongest features without the truth, as sure as it is right."""

import itertools

import numpy as np
import pytest

import sqlanon
from sqlanon.adversary import evidence, learned
from sqlanon.adversary.evidence import Pairs
from sqlanon.adversary.learned import NAMED
from sqlanon.adversary.model import MOST_LEVELS, find_features

ROLES = {"id": "id", "key": "ab" * 32, "unique_quasi": "keep"}
# hospitals number their wards their own way: both together tell the disease of four people in five
WARDS = (
    "create table people as select *, 'd' || case when hash(id, 5) % 10 < 8 then (hospital * 7 + ward * (3 + hospital))"
    " % 20 else hash(id, 6) % 20 end as value from (select i as id, i as number,"
    " (hash(i, 1) % 12)::integer as hospital, (hash(i, 2) % 12)::integer as ward, (hash(i, 3) % 80)::integer as age"
    " from range(6000) t(i)) people"
)
# of a year only some incomes are paid
WAGES = (
    "create table people as select i as id, i as number, (hash(i, 1) % 14)::integer as year,"
    " (hash(i, 2) % 2)::integer as gender, ((hash(i, 1) % 14) * 20 + hash(i, 4) % 20)::integer as value"
    " from range(12000) t(i)"
)


def named(result):
    return next(one.reached for one in result.findings if one.attack == NAMED)


def pairs_of(people, held):
    """Return one group's pairs."""
    person = np.repeat(np.arange(len(people)), len(held))
    slot = np.tile(np.arange(len(held)), len(people))
    zeros, values = np.zeros(len(held), dtype=np.int64), np.arange(len(held))
    return Pairs(np.array(people, float), person, slot, zeros, values, np.array(held, float), len(held))


@pytest.mark.parametrize("held", [(1,) * 2, (1,) * 5, (2, 1), (3, 2, 1), (2, 2, 2, 1), (1,) * 7])
def test_weights_of_a_group_are_those_of_all_ways_to_deal_its_values(held):
    size, score = sum(held), np.random.default_rng(1).normal(0, 1.5, (sum(held), len(held)))
    values = [value for value, count in enumerate(held) for _ in range(count)]
    expected, total = np.zeros((size, len(held))), 0.0
    for way in set(itertools.permutations(values)):
        weight = np.exp(sum(score[person, value] for person, value in enumerate(way)))
        expected[range(size), way] += weight
        total += weight
    weights, likelihood = pairs_of((1,) * size, held).weigh(score.ravel(), np.zeros(0))
    assert weights == pytest.approx((expected / total).ravel())
    moved = pairs_of((1,) * size, held).weigh(score.ravel() + 0.5, np.full(size, 0.5))[1]
    assert moved == pytest.approx(likelihood)  # what is as much likelier for everybody tells nothing


def test_large_groups_are_scaled_until_everything_is_dealt_out(monkeypatch):
    score = np.random.default_rng(2).normal(0, 1, 36)
    exact, _ = pairs_of((1,) * 6, (1,) * 6).weigh(score, np.zeros(0))
    monkeypatch.setattr(evidence, "MOST_STATES", 1)
    monkeypatch.setattr(evidence, "SCALINGS", 100)
    pairs = pairs_of((1,) * 6, (1,) * 6)
    scaled, likelihood = pairs.weigh(score, np.zeros(0))
    assert pairs.weigh(score, np.zeros(0))[1] == likelihood  # nothing hangs on what was weighed before
    square = scaled.reshape(6, 6)
    assert square.sum(axis=0) == pytest.approx(np.ones(6)) and square.sum(axis=1) == pytest.approx(np.ones(6))
    assert scaled == pytest.approx(exact, abs=0.12)


def test_features_are_columns_quantiles_of_fine_ones_and_pairs_that_are_not_too_fine():
    draws = np.random.default_rng(3)
    ranks = np.stack([draws.integers(0, size, 4000) for size in (2000, 20, 3)], axis=1)
    features = find_features(ranks, [True, False, False], np.ones(4000))
    assert [(each.columns, each.by_quantiles) for each in features] == [
        ((0,), (True,)), ((1,), (False,)), ((2,), (False,)),
        ((0, 1), (True, False)), ((0, 2), (True, False)), ((1, 2), (False, False)),
    ]  # fmt: skip
    assert all(each.levels.max() + 1 == each.size <= MOST_LEVELS for each in features)


def test_a_pair_of_columns_that_tells_is_found_and_so_is_who_is_sure(con):
    con.execute(WARDS)
    release = sqlanon.anatomy(
        con, "people", quasi=["hospital", "ward", "age", "number"], sensitive="value", l=5, **ROLES
    )
    result = sqlanon.attack(release, against="people", id="id")
    assert named(result) > 0.8 and result.told[0].name == "hospital with ward"
    assert set(result.telling) == {"hospital", "ward"}
    assert all(each.without < named(result) - 0.2 for each in result.told if each.name in result.telling)
    sure = result.sure[1]
    assert sure.of == 6000 and sure.people > 3000 and sure.right > 0.95
    assert f"{sure.people:,} of 6,000 people are told with" in result.headline
    alone = sqlanon.attack(release)
    assert not alone.scored and named(alone) == pytest.approx(named(result), abs=0.05)
    assert [each.people for each in alone.sure] == [each.people for each in result.sure]


def test_nothing_is_learned_from_noise_that_is_randomized(con):
    con.execute("select setseed(0.1)").fetchall()
    con.execute(
        "create table people as select i as id, i as number, floor(random() * 5)::integer as b,"
        " 'v' || floor(random() * 9)::integer as value from range(12000) t(i)"
    ).fetchall()
    release = sqlanon.splu(con, "people", quasi=["b", "number"], sensitive="value", gamma=8, **ROLES)
    result = sqlanon.attack(release, against="people", id="id")
    assert not any(each.people for each in result.sure) and not result.telling


def test_values_that_are_published_nowhere_count_as_wrong(con):
    con.execute("create table people as select i as id, i as a, 'v' || i % 5 as value from range(400) t(i)")
    release = sqlanon.anatomy(con, "people", quasi=["a"], sensitive="value", l=2, **ROLES)
    for share in (2, 25):
        con.execute(
            f"create table others_{share} as select id, a, if(id % {share} = 0, 'else', value) as value from people"
        )
    whole, some = (sqlanon.attack(release, against=source, id="id") for source in ("people", "others_25"))
    assert whole.sure[0].of == some.sure[0].of == 400 and named(some) < named(whole)
    with pytest.raises(
        sqlanon.DataError,
        match="of 400 people whom the release tells from others 200 have in it the value of the source",
    ):
        sqlanon.attack(release, against="others_2", id="id")


def test_what_three_columns_tell_together_is_not_found(con):
    con.execute(
        "create table people as select *, 'v' || (a + b + c) % 7 as value from (select i as id, i as number,"
        " (hash(i, 1) % 7)::integer as a, (hash(i, 2) % 7)::integer as b, (hash(i, 3) % 7)::integer as c"
        " from range(4000) t(i)) people"
    )
    release = sqlanon.anatomy(con, "people", quasi=["a", "b", "c", "number"], sensitive="value", l=4, **ROLES)
    result = sqlanon.attack(release, against="people", id="id")
    assert named(result) == pytest.approx(1 / 4, abs=0.03) and not result.sure[1].people
    assert all("with" in each.name or each.name in "abc" for each in result.told)
    assert "columns and pairs at most" in str(result) or not result.told


def test_randomized_values_are_told_where_few_are_possible(con):
    con.execute(WAGES)
    release = sqlanon.splu(con, "people", quasi=["year", "gender", "number"], sensitive="value", gamma=5, **ROLES)
    result = sqlanon.attack(release, against="people", id="id")
    above, *_ = result.sure
    assert above.people > 0.1 * above.of and above.right > 0.6 and result.telling[0] == "year"
    assert above.claimed == pytest.approx(above.right, abs=0.1)


@pytest.mark.parametrize("method", ["anatomy", "robust"])
def test_the_adversary_is_as_sure_as_it_is_right(con, method):
    """Of three in ten the value depends on nothing, of others on one of two columns, of some on a pair of them."""
    con.execute(
        "create table people as select *, 'v' || case when hash(id, 8) % 10 < 3 then hash(id, 9) % 12"
        " when hash(id, 8) % 10 < 6 then area when hash(id, 8) % 10 < 8 then 3 + job else (area * 5 + job) % 12"
        " end as value from (select i as id, i as number, (hash(i, 1) % 6)::integer as area,"
        " (hash(i, 2) % 5)::integer as job, (hash(i, 3) % 2)::integer as sex from range(20000) t(i)) people"
    )
    more = {"l": 5} if method == "anatomy" else {"r": 4, "background_from": "sex", "max_suppressed": 0.2}
    quasi = ["area", "job", "sex", "number"]
    release = getattr(sqlanon, method)(con, "people", quasi=quasi, sensitive="value", **ROLES, **more)
    view = release.form.view(release.engine, release.tables, release.manifest)
    adversary = learned.Adversary(view)
    adversary.learn()
    known = adversary.name(adversary.learner)
    right = learned.read_truth(view, view.read_source("people", ("id",))).right(known)
    for low in np.arange(0, 1, 0.1):
        some = (known.confidence > low) & (known.confidence <= low + 0.1) & ~np.isnan(right)
        if some.sum() >= 200:
            assert known.confidence[some].mean() == pytest.approx(right[some].mean(), abs=0.05)
    view.close()


def test_what_is_learned_from_is_bounded_and_said(con, monkeypatch):
    con.execute(WARDS)
    release = sqlanon.anatomy(
        con, "people", quasi=["hospital", "ward", "age", "number"], sensitive="value", l=5, **ROLES
    )
    monkeypatch.setattr(learned, "MOST_PEOPLE", 3000)
    result = sqlanon.attack(release, against="people", id="id")
    assert named(result) > 0.7 and result.sure[0].of == 3000
    assert any(note.startswith("learned from 50.0% of the groups") for note in result.notes)
    again = sqlanon.attack(release, against="people", id="id")
    assert again == result


@pytest.mark.parametrize(
    "rows",
    [
        "select 1 as id, 1 as a, 'x' as value union all select 2, 2, 'y' union all select 3, 3, 'z'",
        "select i as id, i as a, 'v' || i as value from range(40) t(i)",
        "select i as id, 1 as a, 'v' || i % 2 as value from range(40) t(i)",
        "select i as id, null::integer as a, 'v' || i % 2 as value from range(40) t(i)",
    ],
)
def test_releases_that_tell_nothing_are_attacked_all_the_same(con, rows):
    con.execute(f"create table people as {rows}")
    release = sqlanon.anatomy(con, "people", quasi=["a"], sensitive="value", l=2, **ROLES)
    result = sqlanon.attack(release, against="people", id="id")
    assert result.scored and not result.told and all(each.people in (0, each.of) for each in result.sure)


def test_hundreds_of_values_hide_nothing(con):
    """A value comes in twenty-four forms, each as likely: who knows it by quasi columns names as many."""
    con.execute(
        "create table people as select i as id, i as number, (i * 7919 % 31)::integer as job,"
        " (i * 104729 % 7)::integer as area, 'v' || (i * 7919 % 31) % 20 * 24 + hash(i) % 24 as value"
        " from range(8000) t(i)"
    )
    release = sqlanon.anatomy(con, "people", quasi=["job", "area", "number"], sensitive="value", l=5, **ROLES)
    result = sqlanon.attack(release, against="people", id="id")
    assert named(result) > 0.75 and result.telling == ("job",) and result.sure[1].right > 0.9
