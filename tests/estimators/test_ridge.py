"""The ridge: a dense oracle, class by class; what is exact, what is only guessed, and how often its interval holds."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import sqlanon
from sqlanon.errors import ReleaseError
from sqlanon.estimators.class_systems import MEAN_VARIANCE, OWN_GRID, ReleaseClass, prepare_classes
from sqlanon.estimators.inference_by_class import bound_left_out
from tests.estimation.test_qit_st import reopened, session_of
from tests.examples import examples
from tests.oracles.ridge import posterior

COUNT = "select count(*) from release where"


def robust(rows, names, *backgrounds, dropped=0, added=("group_id", "count")):
    """Open rows (quasi values …, sensitive value, group) as an r-robust release."""
    manifest = {"method": "robust", "parameters": {"backgrounds": list(backgrounds)}, "dropped_rows": dropped}
    return reopened(
        session_of(rows, names, *added), manifest, columns=dict(zip(("group", "count"), added, strict=True))
    )


def dealt(value, classes, size, random):
    """Group rows inside their classes: at most m rows of a value, m the largest number that works; -1: left out."""
    group, first = np.full(len(value), -1), 0
    for one in np.unique(classes):
        own = np.flatnonzero(classes == one)
        counts = np.bincount(value[own], minlength=value.max() + 1)
        tail = np.sort(counts)[::-1][::-1].cumsum()[::-1]
        places = min(int(tail[j]) // (size - j) for j in range(size)) if (counts > 0).sum() >= size else 0
        order = np.concatenate(
            [random.permutation(own[value[own] == v])[:places] for v in random.permutation(counts.size)]
        )
        blocks = max(1, places // 8)
        for block in range(blocks):
            members = order[np.arange(len(order)) % max(places, 1) % blocks == block]
            mixed = random.permutation(value.max() + 1)
            members = members[np.argsort(mixed[value[members]], kind="stable")]
            here = len(range(block, places, blocks))
            group[members] = first + np.arange(len(members)) % here * blocks + block
        first += places
    return group


def population(random, count=3000):
    """Draw rows: sex, area, age, value; the value depends on sex, the age on the value."""
    sex, area = random.integers(0, 2, count), random.integers(0, 5, count)
    chance = np.array([[24, 18, 14, 12, 10, 8, 8, 6], [6, 10, 12, 16, 20, 16, 12, 8]]) / 100
    value = np.array([random.choice(8, p=chance[one]) for one in sex])
    age = 20 + 4 * value + 5 * area + random.integers(0, 30, count)
    return sex, area, age, value


def rows_of(random, count=3000, size=4):
    """Make a class-first release of the population by sex and area; return rows, and those left out."""
    sex, area, age, value = population(random, count)
    group = dealt(value, sex * 5 + area, size, random)
    rows = list(zip(*(array.tolist() for array in (sex, area, age, value, group)), strict=True))
    return [row for row in rows if row[-1] >= 0], [row for row in rows if row[-1] < 0]


NAMES = ["sex", "area", "age", "income"]


def make_census():
    kept, _ = rows_of(np.random.default_rng(3))
    return robust(kept, NAMES, ["sex"], ["sex", "area"])


census = pytest.fixture(make_census, scope="module", name="census")


def seen_by(rows, x):
    """Return rows as the oracle reads them: class, group, value, what x counts."""
    return [((row[0], row[1]), row[-1], row[-2], x(row)) for row in rows]


# -- an independent oracle -----------------------------------------------------------------------


@given(
    groups=st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=3)),
        min_size=2,
        max_size=9,
    ),
    seed=st.integers(0, 1000),
)
@examples(25)
def test_any_small_release_equals_the_oracle(groups, seed):
    """Groups may repeat a value, a class may have one group, S be singular, a class be hit whole or not at all."""
    random = np.random.default_rng(seed)
    rows = [(one, 0, int(random.integers(0, 6)), v, number) for number, (one, own) in enumerate(groups) for v in own]
    session = robust(rows, NAMES, ["sex"])
    mean, variance = posterior(seen_by(rows, lambda row: row[2] > 2), range(4), {1: 1.0, 2: 1.0})
    row = session.answer(f"{COUNT} age > 2 and income in (1, 2)").iloc[0]
    hits, asked = sum(row[2] > 2 for row in rows), sum(row[3] in (1, 2) for row in rows)
    least = max(0, hits + asked - len(rows))
    inside = least < mean < min(hits, asked)
    places = {v: sum(one[3] == v and one[-1] == hit[-1] for hit in rows if hit[2] > 2 for one in rows) for v in (1, 2)}
    most = min(hits, sum(min(count, sum(one[3] == v for one in rows)) for v, count in places.items()))
    if row["count_std_error"] > 0:
        possible = (most - least) / 2
        assert row["count_std_error"] == pytest.approx(min(math.sqrt(variance), possible), rel=1e-6, abs=1e-6)
    if inside and row["count_std_error"] > 0:
        shared = session.con.execute(
            "select coalesce(sum(st.count), 0) from qit join st using (group_id) where age > 2 and income in (1, 2)"
        ).fetchone()[0]
        assert row["count"] == pytest.approx(min(mean, shared, most), abs=1e-6)
    assert row["count_low"] <= row["count"] <= row["count_high"]


QUESTIONS = {
    "count(*)": (lambda row: row[2] > 40, {2: 1.0, 5: 1.0}),
    "sum(age)": (lambda row: row[2] * (row[2] > 40), {2: 1.0, 5: 1.0}),
    "sum(income)": (lambda row: row[2] > 40, {2: 2.0, 5: 5.0}),
}


@pytest.mark.parametrize("aggregate", QUESTIONS)
def test_answers_equal_the_oracle(aggregate):
    rows, _ = rows_of(np.random.default_rng(8), 300, 3)
    session = robust(rows, NAMES, ["area", "sex"])
    x, weights = QUESTIONS[aggregate]
    mean, variance = posterior(seen_by(rows, x), range(8), weights)
    row = session.answer(f"select {aggregate} as n from release where age > 40 and income in (2, 5)").iloc[0]
    assert row["n"] == pytest.approx(mean) and row["n_std_error"] == pytest.approx(math.sqrt(variance))
    assert row["n_low"] == pytest.approx(mean - 1.959964 * math.sqrt(variance))


def test_units_make_no_difference(census):
    where = "where age > 40 and income in (2, 5)"
    plain, tiny = (
        census.answer(f"select sum({e}) as n from release {where}").iloc[0] for e in ("age", "age / 1000000000000.0")
    )
    assert (tiny * 1e12).tolist() == pytest.approx(plain.tolist())


# -- what a class settles ------------------------------------------------------------------------


def test_a_signature_of_one_value_is_an_anatomy_release():
    kept, _ = rows_of(np.random.default_rng(4), 400)
    rows = [(0, *row[1:]) for row in kept]
    one = robust(rows, NAMES, ["sex"])
    other = reopened(one, {"method": "anatomy"})
    sql = f"{COUNT} age > 40 and income in (2, 5)"
    pd.testing.assert_frame_equal(one.answer(sql), other.answer(sql, "ridge"))
    assert one.answer(sql)["count_std_error"][0] > 0


def test_values_that_always_go_together_are_told_together():
    """Values 1 and 2 share every group: their sum is known as well as that of others, each alone is a guess."""
    random = np.random.default_rng(6)
    groups = [([1, 2, 3], [1, 2, 4], [3, 4, 5])[i % 3] for i in range(300)]
    rows = [(i % 2, 0, int(random.random() < 0.15 * v), v, i) for i, own in enumerate(groups) for v in own]
    session = robust(rows, NAMES, ["sex"])
    one, two = (session.answer(f"{COUNT} age = 1 and income = {v}").iloc[0] for v in (1, 2))
    both = session.answer(f"{COUNT} age = 1 and income in (1, 2)").iloc[0]
    assert one["count"] == pytest.approx(two["count"]) and one["count_std_error"] > 1.4 * both["count_std_error"]
    for values, row in (((1,), one), ((2,), two), ((1, 2), both)):
        truth = sum(age for _, _, age, value, _ in rows if value in values)
        assert row["count_low"] <= truth <= row["count_high"]


def test_a_range_of_many_values_is_told_where_no_value_is():
    """Wages of some 600 values that grow with the hours: of each the groups tell next to nothing, of a range much."""
    con, off = duckdb.connect(), []
    noise = " + ".join(f"hash(i * 9 + {number}) % 1000" for number in range(2, 8))
    con.execute(
        f"create table people as select *, (4 * floor(exp(6 + .9 * long + .4 * ({noise} - 3000.0) / 707) / 4))::int"
        " as wage from (select i, i % 2 as sex, (hash(i * 9 + 1) % 10 < 7)::int as long from range(9000) as r(i))"
    )
    for key in range(3):
        roles = {"quasi": ["sex", "long"], "sensitive": "wage", "id": "i", "key": f"{key:064x}"}
        release = sqlanon.robust(con, "people", r=3, background_from=["sex"], **roles)
        for least in (400, 600, 800):
            sql = f"select long, count(*) as n from {{}} where wage > {least} group by long order by long"
            truth, told = con.execute(sql.format("people")).df(), release.estimate(sql.format("release"))
            assert ((told["n_low"] <= truth["n"]) & (truth["n"] <= told["n_high"])).all()
            off += [*(told["n"] - truth["n"])]
        sql = "select long, avg(wage) as n from {} group by long order by long"
        truth, told = con.execute(sql.format("people")).df(), release.estimate(sql.format("release"))
        assert ((told["n_low"] <= truth["n"]) & (truth["n"] <= told["n_high"])).all()
    # each value drawn to the mean by itself made this 360
    assert np.sqrt(np.mean(np.square(off))) < 60


def test_groups_of_several_classes_are_answered_uniformly():
    """With nothing but shared groups there is only the uniform answer, and its variance is at most n q (1 - q)."""
    rows = [(i % 2, 0, i // 4 % 2, [1, 2, 3, 4][i % 4], i // 4) for i in range(80)]
    session = robust(rows, NAMES, ["sex"])
    row = session.answer(f"{COUNT} age = 1 and income = 1").iloc[0]
    assert row["count"] == pytest.approx(10) and row["count_std_error"] == pytest.approx(math.sqrt(40 * 0.25 * 0.75))


@pytest.mark.parametrize("single", [2_000, 10])
def test_a_class_tells_what_the_definition_says_however_it_is_solved(monkeypatch, single):
    """K is C less what S removes of it, under Σ f δ = 0: of few groups from a factor of S, of few values from S."""
    random = np.random.default_rng(12)
    monkeypatch.setattr("sqlanon.estimators.class_systems.SINGLE", single)
    group, places = np.repeat(np.arange(20), 4), len(OWN_GRID)
    value = np.concatenate([random.choice(37, 4, replace=False) for _ in range(20)])
    occurrences = sparse.csr_array((np.ones(80), (group, value)), shape=(20, 37))[:, np.unique(value)]
    totals, codes = occurrences.sum(axis=0), np.arange(occurrences.shape[1])
    normal = (occurrences.T @ occurrences).tocsr()
    assert len(codes) > 20
    spreads, near = [], {"rtol": 1e-6, "atol": 1e-9} if single > 10 else {"rtol": 1e-2, "atol": 1e-3}
    for share in (1.0, 0.0):
        monkeypatch.setattr("sqlanon.estimators.class_systems.FEW_GROUPS", share)
        systems = prepare_classes([ReleaseClass(codes, normal, totals, 20)] * 2, len(codes))
        one = systems.classes[0]
        assert one.has_few_groups == bool(share)
        told = [one.tell(place) for place in range(places)]
        spreads.append([each.spread - told[0].spread for each in told])
        covariance = np.diag(one.prior) + MEAN_VARIANCE
        line = covariance @ totals
        covariance -= np.outer(line, line) / (totals @ line)
        centred = np.eye(len(codes)) - np.outer(line, totals) / (totals @ line)
        scores = normal @ random.random(len(codes))
        for each in told:
            prior = each.t2 * covariance
            noise = np.linalg.pinv(normal.toarray()) * one.group_size
            basis = np.linalg.svd(occurrences.toarray(), full_matrices=False)[2]
            seen = basis @ (prior + noise) @ basis.T
            gain = prior @ basis.T @ np.linalg.inv(seen) @ basis
            left = prior - gain @ prior
            found = each.base * covariance + (each.lines * each.signs) @ each.lines.T
            np.testing.assert_allclose(found, left, **near)
            np.testing.assert_allclose(each.find_mean(scores), left @ scores / one.group_size, **near)
            precision = centred.T @ basis.T @ np.linalg.inv(seen) @ basis @ centred
            np.testing.assert_allclose(each.block, precision, **near)
    np.testing.assert_allclose(*spreads, rtol=1e-6, atol=1e-6 if single > 10 else 1e-2)


def test_classes_beyond_memory_are_answered_uniformly(census, monkeypatch):
    monkeypatch.setattr("sqlanon.estimators.class_systems.MOST_KEPT", 0)
    session = reopened(census, {"method": "robust", "parameters": {"backgrounds": [["sex", "area"]]}})
    sql = f"{COUNT} age > 40 and income in (2, 5)"
    assert session.answer(sql)["count"][0] == pytest.approx(census.answer(sql, "uniform")["count"][0])
    assert session.answer(sql)["count_std_error"][0] > 0
    (message,) = session.answer(sql).attrs["messages"]
    rows = f"{census.tables_of('').totals.sum():,.0f}"
    assert message.startswith(f"{rows} of {rows} rows are of classes too many to solve together")


# -- how often intervals hold --------------------------------------------------------------------

ASKED = {
    "by value": "income as k, count(*) as n from release where age > {age} and area < {area} group by all order by k",
    "by area": "area as k, count(*) as n from release where age > {age} and income in (1, 4) group by all order by k",
    "sum": "income as k, sum(age) as n from release where age > {age} group by all order by k",
    "average": "income as k, avg(age) as n from release where area < {area} group by all order by k",
    "average of values": "area as k, avg(income) as n from release where age > {age} group by all order by k",
    "like values": "area as k, count(*) as n from release where age > {age} and income > 3 group by all order by k",
    "cases": "1 as k, count(*) as n from release where (age > {age} and income = 2) or (age < 40 and income = 6)",
}


def test_intervals_hold_the_truth():
    """12 releases by sex and area, whose ages rise with values and areas: 94 of 100 intervals hold, 88 of each kind.

    Averages of values, and sets of values that are like each other, ask for that rise: the prior's worst case.
    """
    random = np.random.default_rng(20)
    sex, area, age, value = population(random, 2000)
    found = {name: [] for name in ASKED}
    for _ in range(12):
        group = dealt(value, sex * 5 + area, 4, random)
        columns = [array[group >= 0].tolist() for array in (sex, area, age, value, group)]
        session = robust(list(zip(*columns, strict=True)), NAMES, ["sex"], ["area"])
        drawn = {"age": int(random.integers(30, 60)), "area": int(random.integers(2, 5))}
        for name, text in ASKED.items():
            sql = f"select {text.format(**drawn)}"
            answer = session.answer(sql)
            truth = session.con.execute(sql.replace("release", "microdata")).df().set_index("k")["n"]
            answer["truth"] = answer["k"].map(truth).fillna(0)
            if name in ("by value", "sum", "average", "by area"):
                assert (answer["n_std_error"] > 0).all() or name == "by area"
            found[name] += ((answer["n_low"] <= answer["truth"]) & (answer["truth"] <= answer["n_high"])).tolist()
        session.close()
        session.con.close()
    held = {name: float(np.mean(each)) for name, each in found.items()}
    assert all(share >= 0.88 for share in held.values()), held
    assert np.mean(np.concatenate([*found.values()])) >= 0.94, held


def concentrated(random, count=4000):
    """Draw rows by school, age, married, work: a school's own two kinds of work are most of what its people do."""
    school, age = random.integers(0, 6, count), random.integers(20, 60, count)
    own = random.random(count) < 0.55
    work = np.where(own, 2 * school + (random.random(count) < 0.3), 12 + random.integers(0, 60, count))
    # who does a school's own work is married far more often, and all others there are as they are elsewhere
    married = (random.random(count) < np.where(own, 0.8, 0.25)).astype(int)
    return school, age, married, work


def test_intervals_hold_where_values_stand_in_every_group_of_a_class():
    """6 fixed draws of 4,000 rows, 72 values: groups cannot tell what a school's own work does there."""
    random, held = np.random.default_rng(529), []
    school, age, married, work = concentrated(random)
    for _ in range(6):
        group = dealt(work, school, 3, random)
        rows = zip(*(array.tolist() for array in (school, age, married, work, group)), strict=True)
        rows = list(rows)
        kept = [row for row in rows if row[-1] >= 0]
        names = ["school", "age", "married", "work"]
        session = robust(kept, names, ["school"], dropped=len(rows) - len(kept))
        everywhere = session.tables_of("").systems.everywhere
        assert len(everywhere.code) >= 6
        for code in range(0, 12):
            row = session.answer(f"{COUNT} married = 1 and work = {code}").iloc[0]
            truth = sum(one[2] == 1 and one[3] == code for one in rows)
            held.append(row["count_low"] <= truth <= row["count_high"])
        session.close()
        session.con.close()
    assert np.mean(held) >= 0.94, np.mean(held)


# -- what a release leaves out -------------------------------------------------------------------


def test_intervals_reach_what_the_release_leaves_out():
    random = np.random.default_rng(2)
    kept, left = rows_of(random, 3000, 6)
    assert len(left) > 20
    short = robust(kept, NAMES, ["sex", "area"])
    told = robust(kept, NAMES, ["sex", "area"], dropped=len(left))
    sql = f"{COUNT} age > 40 and income in (0, 4)"
    narrow, wide = short.answer(sql), told.answer(sql)
    assert short.answer(sql).attrs["messages"] == []
    (message,) = wide.attrs["messages"]
    assert message.startswith(f"the release leaves out {len(left)} of 3,000 rows: answers count those published,")
    assert message.endswith(f"only a bound; a count of the source may lie up to {len(left)} above the upper end")
    (message,) = told.answer(sql.replace("count(*)", "sum(age)")).attrs["messages"]
    assert message.endswith("which is only a bound")
    for name in ("count", "count_low"):
        assert wide[name][0] == pytest.approx(narrow[name][0], rel=1e-12)
    missing = sum(row[2] > 40 and row[3] in (0, 4) for row in left)
    assert missing <= wide["count_high"][0] - narrow["count_high"][0] <= len(left)
    whole = told.answer("select count(*) from release where age > 40")
    assert whole["count_high"][0] == whole["count"][0] and whole.attrs["messages"] == []


def test_the_reach_of_sums_and_averages():
    kept, left = rows_of(np.random.default_rng(2), 3000, 6)
    short = robust(kept, NAMES, ["sex", "area"])
    told = robust(kept, NAMES, ["sex", "area"], dropped=len(left))
    for aggregate in ("sum(age)", "avg(age)", "avg(income)", "sum(0 - age)"):
        sql = f"select {aggregate} as n from release where age > 40 and income in (0, 4)"
        narrow, wide = short.answer(sql).iloc[0], told.answer(sql).iloc[0]
        assert wide["n_low"] <= narrow["n_low"] and narrow["n_high"] <= wide["n_high"]
        assert wide["n_high"] - wide["n_low"] > narrow["n_high"] - narrow["n_low"]


def surplus_of(most_frequent):
    """Make two signatures: A's values stand 100 times each, B's v0 and v2 in each of 134 groups of 3, rows left out."""
    kept = [(0, 0, i % 7, v, g) for g in range(100) for i, v in enumerate(["v0", "v1", "v2"], g)]
    kept += [(1, 0, i % 7, v, 100 + g) for g in range(134) for i, v in enumerate(["v0", "v2", f"v{g % 2 * 2 + 1}"], g)]
    return kept, [(1, 0, i % 7, "v0" if i < most_frequent else "v2", -1) for i in range(198)]


@pytest.mark.parametrize("most_frequent", [0, 99, 131, 198])
def test_the_reach_of_counts_is_what_is_possible(most_frequent):
    """Rows left out can only add: nothing below what is published, nothing above all of them, and the truth inside."""
    kept, left = surplus_of(most_frequent)
    told = robust(kept, NAMES, ["sex"], dropped=len(left))
    alone = robust(kept, NAMES, ["sex"])
    for where in ("age > -1", "age < 3", "age = 1 or age = 5"):
        sql = f"select sex, income, count(*) as n from release where {where} group by all order by all"
        wide, narrow = told.answer(sql), alone.answer(sql)
        assert wide["n"].tolist() == pytest.approx(narrow["n"].tolist())
        assert wide["n_low"].tolist() == pytest.approx(narrow["n_low"].tolist()) and (wide["n_low"] >= 0).all()
        assert (wide["n_high"] >= narrow["n_high"] - 1e-9).all()
        assert (wide["n_high"] <= narrow["n_high"] + len(left) + 1e-9).all()
        if where == "age > -1":
            rows = pd.DataFrame([*kept, *left], columns=[*NAMES, "group"])
            truth = rows.groupby(["sex", "income"]).size()
            for row in wide.itertuples():
                count = truth.get((row.sex, row.income), 0)
                assert row.n_low <= count <= row.n_high, row
            full = wide[(wide["sex"] == 1) & wide["income"].isin(["v0", "v2"])]
            assert full["n_low"].tolist() == [134, 134] and (full["n_high"] > 134 + 99).all()


def test_many_values_share_what_is_left_out():
    """Beyond, the range is the middle 95 % of a Dirichlet distribution of weights a half, drawn here by chance."""
    rows = [(0, 0, 1, v, g) for g in range(6) for v in range(12)]
    share = robust(rows, NAMES, ["sex"]).tables_of("").systems.everywhere.share
    random = np.random.default_rng(5)
    each = np.array([[1.0] + [0] * 11, [1] * 6 + [0] * 6, [0.4] * 12, [-1] * 3 + [1] * 9, [-2] * 12])
    less, more = bound_left_out(each, share, 100)
    drawn = 100 * random.dirichlet(np.full(12, 0.5), 200_000) @ each.T
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert less.tolist() == pytest.approx(np.minimum(low, 0), abs=0.5)
    assert more.tolist() == pytest.approx(np.maximum(high, 0), abs=0.5)


# -- how large an error may be -------------------------------------------------------------------


def full_value(random):
    """Make a release in which one value stands in every group: the groups tell next to nothing of it."""
    others = [(1, 2), (3, 4), (1, 3), (2, 4), (1, 4), (2, 3)]
    group = [(0, *others[g % 6]) for g in range(139)] + [(0, 1, 2, 3)] * 2
    rows = [(0, 0, int(random.random() < 0.3 + 0.1 * (v == 0)), v, g) for g, own in enumerate(group) for v in own]
    return rows, sum(row[2] for row in rows if row[3] == 0)


def test_an_error_is_no_larger_than_what_is_possible():
    """The count is among 0 … 141: its error is at most half of that, and mostly much less; the interval holds."""
    errors, held = [], []
    for seed in range(12):
        rows, truth = full_value(np.random.default_rng(seed))
        row = robust(rows, NAMES, ["sex"]).answer(f"{COUNT} age = 1 and income = 0").iloc[0]
        errors.append(row["count_std_error"])
        held.append(row["count_low"] <= truth <= row["count_high"])
    assert sum(held) >= 11
    assert max(errors) <= 70.5 and np.mean(errors) < 40 and min(errors) > 10


def test_groups_that_tell_nothing_leave_all_that_the_release_allows():
    """Each of 15,000 groups has both of two values, and age goes with the value as far as it can: any count is left."""
    rows = [(0, 0, v, v, g) for g in range(15_000) for v in (0, 1)]
    answer = session_of(rows, NAMES).answer(
        "select count(*) as n, sum(age) as s, avg(case when age = 1 then 1 else 0 end) as share"
        " from release where income = 1"
    )
    row = answer.iloc[0]
    assert (row["n"], row["n_std_error"]) == (15_000, 0)
    assert row[["s_low", "s", "s_high"]].tolist() == pytest.approx([0, 7500, 15_000])
    assert row[["share_low", "share", "share_high"]].tolist() == pytest.approx([0, 0.5, 1])
    assert row[["s_std_error", "share_std_error"]].tolist() == pytest.approx([7500, 0.5])


# -- names, refusals, statements -----------------------------------------------------------------


def test_a_background_of_columns_that_are_not_published_is_refused(census):
    with pytest.raises(ReleaseError, match="backgrounds read 'gender', which it does not publish"):
        reopened(census, {"method": "robust", "parameters": {"backgrounds": [["gender", "sex"]]}})
