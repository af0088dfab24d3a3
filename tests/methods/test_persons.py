"""Persons with several rows: judged person by person by a slow oracle, then who is refused, answers, attacks."""

import collections
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from scipy import stats

import sqlanon
from sqlanon.errors import DataError, UsageError
from sqlanon.plans.templates import Sql
from tests.databases import connect, database, insert
from tests.examples import examples

ASKED = {"quasi": "q", "sensitive": "s", "id": "person", "unique_quasi": "keep", "unique_sensitive": "keep"}
RANDOM = """
create or replace table visits as
select p as person, 20 + hash(p + 1000) % 60 as age, if(hash(p + 2000) % 2 = 0, 'f', 'm') as sex,
    case when hash(p + 100 * k + 5000) % 100 < 45 + (if(20 + hash(p + 1000) % 60 >= 50, 25, -25))
        then 'old ' || hash(p + 1000 * k + 7000) % 12 else 'any ' || hash(p + 1000 * k + 9000) % 25 end as disease
from range({people}) t(p), range(4) u(k) where k <= hash(p + 3000) % 4
"""


def fill(con, people):
    """Make the table t: a person's sets as rows, one value twice, in an order of its own; quasi values of their own."""
    con.execute("create or replace table t (person integer, q integer, s varchar)").fetchall()
    rows = [(n, n, value) for n, values in enumerate(people) for value in [*values, *values[:1]]]
    insert(con, "t", sorted(rows, key=lambda row: (str(row[2]), -row[0])))


def members_of(release, people):
    """Return the sets of each group's members; check ST against them."""
    groups, listed = collections.defaultdict(list), collections.defaultdict(list)
    for person, group in release.table("qit").fetchall():
        groups[group].append(set(people[person]))
    for group, value, count in release.table("st").fetchall():
        assert count == 1
        listed[group].append(value)
    assert {group: sorted(map(str, values)) for group, values in listed.items()} == {
        group: sorted(map(str, itertools.chain(*sets))) for group, sets in groups.items()
    }
    return dict(groups)


def posteriors(sets):
    """Return for each value of a group and each of its people how many of all assignments give it to them."""
    worlds = list(itertools.permutations(sets)) if len(sets) <= 5 else [sets[n:] + sets[:n] for n in range(len(sets))]
    return [
        Fraction(sum(value in world[person] for world in worlds), len(worlds))
        for value in set().union(*sets)
        for person in range(len(sets))
    ]


SETS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "g", None]), min_size=1, max_size=3, unique=True)


@given(
    people=st.lists(SETS, min_size=2, max_size=30).filter(lambda sets: any(len(one) > 1 for one in sets)),
    l=st.integers(2, 4),
    key=st.integers(0, 5),
    most=st.sampled_from([0, 0.3, 0.9]),
)
@examples(12, HealthCheck.function_scoped_fixture)
def test_nobody_of_a_group_shares_a_value_with_anybody_or_it_is_refused(con, people, l, key, most):
    fill(con, people)
    asked = {"l": l, "key": f"{key:064x}", "max_suppressed": most, "nulls": "value", **ASKED}
    largest = max(collections.Counter(itertools.chain(*people)).values())
    try:
        release = sqlanon.anatomy(con, "t", **asked)
    except DataError as refused:
        if largest > len(people) // l:  # a value by itself stands in the way
            assert len(people) < l or "the most frequent value of" in str(refused)
        else:
            assert "find no group" in str(refused) or "there are no groups" in str(refused)
        return
    assert largest <= len(people) // l
    groups = members_of(release, people)
    assert set(groups) == set(range(len(groups)))
    for sets in groups.values():
        assert len(sets) >= l
        assert set(posteriors(sets)) == {Fraction(1, len(sets))}
    assert release.manifest["dropped_rows"] == len(people) - sum(map(len, groups.values())) <= most * len(people)
    assert release.manifest["parameters"]["unit"] == "person"
    assert release.verify(against="t", id="person").holds


def test_every_value_of_a_group_is_as_likely_each_members(con):
    """Of all releases with the same tables, as many give a value to each of a group's people."""
    people = [["a"], ["b", "c"], ["d", "e"], ["a", "f"], ["g"], ["b", "h"]]
    owners = collections.defaultdict(collections.Counter)
    for draw in range(15):
        shuffled = np.random.default_rng(draw).permutation(len(people))  # which set is whose is as likely, too
        fill(con, [people[n] for n in shuffled])
        release = sqlanon.anatomy(con, "t", l=3, **ASKED)
        groups = collections.defaultdict(list)
        for person, group in sorted(release.table("qit").fetchall()):
            groups[group].append(person)
        for group, value, _ in release.table("st").fetchall():
            (owner,) = (n for n, person in enumerate(groups[group]) if value in people[shuffled[person]])
            owners[value, len(groups[group])][owner] += 1
    for (_, size), counts in owners.items():
        assert stats.chisquare([counts[n] for n in range(size)]).pvalue > 1e-4


def test_a_set_that_clashes_with_everybody_is_left_out_as_far_as_is_allowed(con):
    people = [["a", "b", "c", "d"], ["a", "e"], ["b", "f"], ["c", "g"], ["d", "h"], ["i"]]
    fill(con, people)
    with pytest.raises(DataError, match=r"find no group|no groups"):
        sqlanon.anatomy(con, "t", l=3, max_suppressed=0, **ASKED)
    release = sqlanon.anatomy(con, "t", l=2, max_suppressed=0.5, **ASKED)
    members_of(release, people)


@pytest.mark.parametrize(("sql", "asked", "words"), [
    ("select * from t", {"l": 5}, r"the most frequent value of 's' stands in 3 of 12 .* in the way of is 4"),
    ("select if(person = 3, null, person) as person, q, s from t", {}, "3 rows have no id, and belong to nobody"),
    ("select person, q + (s = 'a')::int as q, s from t", {}, r"3 persons have several values of a quasi column.*'q' in"
     " 3; a person has one value of each: say which row tells it with vary=\"latest COLUMN\""),
    ("select person, q, case when person > 8 then null else s end as s from t", {}, "3 rows have no value"),
])  # fmt: skip
def test_what_stands_in_the_way_is_said(con, sql, asked, words):
    fill(con, [["a", "x1"], ["a", "y1"], ["a", "z1"], *([f"v{n % 5}", f"w{n}"] for n in range(9))])
    con.execute(f"create or replace temporary view changed as {sql}")
    with pytest.raises(DataError, match=words):
        sqlanon.anatomy(con, "changed", **{"l": 2, **ASKED, **asked})


def test_rows_without_a_value_are_dropped_and_who_has_nothing_else_is_counted(con):
    fill(con, [["a", None], [None], ["b"], ["c"], ["d"]])
    release = sqlanon.anatomy(con, "t", l=2, nulls="drop", **ASKED)
    assert release.manifest["dropped_rows"] == 1 and release.manifest["rows"] == 4
    assert any("dropped: 1 of 5 persons (20.0%)" in note for note in release.notes)
    assert sorted(value for _, value, _ in release.table("st").fetchall()) == ["a", "b", "c", "d"]
    assert release.verify(against="t", id="person").holds
    fill(con, [["a", None], ["b"], ["c"], ["d", "e"]])  # nobody is left out, and a row is
    release = sqlanon.anatomy(con, "t", l=2, nulls="drop", **ASKED)
    assert release.manifest["dropped_rows"] == 0 and release.verify(against="t", id="person").holds


def test_no_more_values_may_lack_than_those_of_who_is_left_out(con):
    con.execute(
        "create or replace table t as select i // 3 as person, i // 3 % 5 as q, 'v' || i % 90 as s from range(300) r(i)"
    )
    con.execute("insert into t select 1000, 1, 'v' || i from range(90) r(i)")
    asked = {**ASKED, "unique_quasi": "refuse"}
    release = sqlanon.anatomy(con, "t", l=3, max_suppressed=0.1, **asked)
    assert release.manifest["dropped_rows"] and release.verify(against="t", id="person").holds
    st = release.tables["st"]
    con.execute(f"create table fewer as select * from {st} where hash(s, group_id) % 3 > 0")
    forged = type(release)(release.engine, {**release.tables, "st": Sql("fewer")}, release.manifest, release.place)
    assert "sensitive_counts" in forged.verify(against="t", id="person").failed()


@pytest.mark.parametrize(("vary", "shown"), [("latest day", 1), ("earliest day", 0), ("largest s", 1)])
def test_one_row_tells_the_quasi_values_of_a_person(con, vary, shown):
    con.execute("create or replace table t as select i // 2 as person, i % 2 as day, 10 * (i // 2) + i % 2 as q,"
                " 's' || lpad(i::varchar, 2, '0') as s from range(20) r(i)").fetchall()  # fmt: skip
    release = sqlanon.anatomy(con, "t", l=2, vary=vary, **ASKED)
    assert sorted(q for q, _ in release.table("qit").fetchall()) == [10 * n + shown for n in range(10)]
    assert release.verify(against="t", id="person", vary=vary).holds
    assert release.verify(against="t", id="person").failed().startswith("quasi_rows")
    with pytest.raises(UsageError, match='vary="last day": write latest or earliest'):
        sqlanon.anatomy(con, "t", l=2, vary="last day", **ASKED)
    for wrong in ({"id": ()}, {"unit": "row"}):
        with pytest.raises(UsageError, match="vary is about the rows of a person"):
            sqlanon.anatomy(con, "t", l=2, vary=vary, **{**ASKED, **wrong})
    with pytest.raises(UsageError, match="anatomy and robust alone take several"):
        sqlanon.splu(con, "t", gamma=2, vary=vary, **ASKED)
    with pytest.raises(UsageError, match="people have several rows in the source: say whose they are"):
        release.verify(against="t")


def test_one_person_with_very_many_values_and_people_all_alike(con):
    con.execute("create or replace table t as select if(i < 10000, 0, i) as person, if(i < 10000, 0, i) as q,"
                " 'v' || i as s from range(10040) r(i) union all select 10001, 10001, 'w'").fetchall()  # fmt: skip
    release = sqlanon.anatomy(con, "t", l=4, **ASKED)
    assert release.manifest["rows"] == 41 and release.verify().holds
    con.execute(
        "create or replace table t as select i // 2 as person, i // 2 as q, 'v' || i % 2 as s from range(20) r(i)"
    )
    with pytest.raises(DataError, match="no l of at least 2 works"):
        sqlanon.anatomy(con, "t", l=2, **ASKED)


def test_people_of_a_group_have_about_as_many_values(con):
    people = [[f"v{(7 * n + k) % 40}" for k in range(1 + n % 7)] for n in range(120)]
    fill(con, people)
    release = sqlanon.anatomy(con, "t", l=3, known_size=True, max_suppressed=0.2, **ASKED)
    groups = members_of(release, people)
    assert len({(len(one) - 1).bit_length() for sets in groups.values() for one in sets}) == 4
    for sets in groups.values():
        assert len({(len(one) - 1).bit_length() for one in sets}) == 1
    assert release.manifest["parameters"]["known_size"] is True
    plain = sqlanon.anatomy(con, "t", l=3, max_suppressed=0.2, **ASKED)
    assert "known_size" not in plain.manifest["parameters"]
    with pytest.raises(DataError, match=r"l = 20 is not possible.*of people with about as many values"):
        sqlanon.anatomy(con, "t", l=20, known_size=True, **ASKED)


visits = database(RANDOM.format(people=3000))


@pytest.mark.parametrize(("method", "asked"), [
    ("anatomy", {"l": 3}), ("anatomy", {"l": 2, "known_size": True}), ("robust", {"r": 2, "background_from": "sex"}),
])  # fmt: skip
def test_intervals_hold_the_truth_in_95_of_100(visits, method, asked):
    """Values, sets of values, averages and sums, by conditions of every size, in several releases."""
    publish = getattr(sqlanon, method)
    wheres = ["age >= 50", "age < 30 and sex = 'f'", "sex = 'm'", "age = 44"]
    facts = "(select distinct person, age, sex, disease from visits)"
    held, errors = [], []
    for key in range(2):
        release = publish(
            visits, "visits", quasi="age,sex", sensitive="disease", id="person", key=f"{key:064x}", **asked
        )
        assert not release.manifest["dropped_rows"]
        for where in wheres:
            queries = [
                f"SELECT disease, COUNT(*) AS n FROM {{}} WHERE {where} GROUP BY disease ORDER BY disease",
                f"SELECT COUNT(*) AS n FROM {{}} WHERE {where} AND disease IN ('old 1', 'old 2', 'any 3')",
                f"SELECT SUM(age) AS n FROM {{}} WHERE {where} AND disease = 'old 3'",
                "SELECT AVG(age) AS n FROM {} WHERE disease = 'any 4'",
            ]
            for query in queries:
                truth = visits.execute(query.format(facts)).df()
                answer = release.estimate(query.format("release"))
                if "disease" in truth:
                    answer = answer.set_index("disease").reindex(truth["disease"])
                held += list(
                    (answer["n_low"].to_numpy() - 1e-6 <= truth["n"])
                    & (truth["n"] <= answer["n_high"].to_numpy() + 1e-6)
                )
                if "disease" in truth:
                    errors.append(np.mean(answer["n"].to_numpy() - truth["n"]) / truth["n"].mean())
    assert np.mean(held) >= 0.94
    assert abs(np.mean(errors)) < 0.03


def test_intervals_hold_where_how_many_values_somebody_has_goes_with_what_is_asked(con):
    """One of 60 values at 20 years, ten at 79: who sits with somebody of many values has few."""
    con.execute("""
        create table visits as
        select p as person, 20 + hash(p + 1000) % 60 as age, if(hash(p + 2000) % 2 = 0, 'f', 'm') as sex,
            'd' || hash(p + 1000 * k + 9000) % 60 as disease
        from range(6000) t(p), range(10) u(k) where k <= hash(p + 1000) % 60 // 6
    """)
    held, facts = collections.defaultdict(list), "(select distinct person, age, sex, disease from visits)"
    for key in range(3):
        release = sqlanon.anatomy(
            con, "visits", quasi="age,sex", sensitive="disease", id="person", l=3, key=f"{key:064x}"
        )
        for where in ("age < 30", "age >= 70", "sex = 'f'", "age between 40 and 59"):
            query = f"SELECT disease, COUNT(*) AS n FROM {{}} WHERE {where} GROUP BY disease ORDER BY disease"
            truth = con.execute(query.format(facts)).df().set_index("disease")["n"]
            answer = release.estimate(query.format("release")).set_index("disease").reindex(truth.index)
            held[where] += list((answer["n_low"] - 1e-6 <= truth) & (truth <= answer["n_high"] + 1e-6))
            every = release.estimate(f"SELECT COUNT(*) AS n FROM release WHERE {where} AND disease LIKE 'd%'")
            assert every["n"][0] == pytest.approx(truth.sum(), rel=0.2)
            assert every["n_low"][0] <= truth.sum() <= every["n_high"][0]
    assert min(np.mean(each) for each in held.values()) >= 0.94
    sizes = con.execute(f"select count(*) as n from {facts} group by person").df()["n"]
    (told,) = release.manifest["parameters"]["owner_values"].values()
    assert told == pytest.approx((sizes**2).sum() / sizes.sum(), rel=1e-3)


def test_nothing_is_made_of_sizes_that_are_alike(con):
    """Everybody has three values: what groups' numbers of values go with is rounding."""
    con.execute("create table visits as select p as person, 20 + hash(p + 1000) % 60 as age,"
                " 'd' || (hash(p) + k * 7) % 50 as disease from range(3000) t(p), range(3) u(k)")  # fmt: skip
    release = sqlanon.anatomy(con, "visits", quasi="age", sensitive="disease", id="person", l=3, key=f"{7:064x}")
    assert release.manifest["parameters"]["owner_values"] == {"disease": 3}
    query = "SELECT disease, COUNT(*) AS n FROM {} WHERE age < 40 GROUP BY disease ORDER BY disease"
    answer, truth = release.estimate(query.format("release")), con.execute(query.format("visits")).df()["n"]
    assert ((answer["n_low"] <= truth) & (truth <= answer["n_high"])).mean() >= 0.9
    assert answer["n_std_error"].max() < 20 and answer["n"].sum() == pytest.approx(truth.sum(), rel=0.05)


def test_people_are_counted_exactly_and_what_belongs_together_is_not_said(visits):
    release = sqlanon.anatomy(visits, "visits", quasi="age,sex", sensitive="disease", id="person", l=3)
    people = "SELECT sex, COUNT(*) AS n FROM {} GROUP BY sex ORDER BY sex"
    truth = visits.execute(people.format("(select distinct person, sex from visits)")).df()
    assert release.estimate(people.format("release"))["n"].tolist() == truth["n"].tolist()
    values = "SELECT COUNT(*) AS n FROM {} WHERE disease = 'old 1'"
    (facts,) = visits.execute(values.format("(select distinct person, disease from visits)")).fetchone()
    assert release.estimate(values.format("release"))["n"][0] == facts
    told = release.estimate("SELECT COUNT(*) FROM release WHERE disease LIKE 'old%'").attrs["messages"]
    assert any("somebody counts once for each of the values" in message for message in told)
    for wrong in ({"id": ()}, {"unit": "row"}):
        asked = {"quasi": "age,sex", "sensitive": "disease", "id": "person", "l": 3, "known_size": True}
        with pytest.raises(UsageError, match="known_size is about the rows of a person"):
            sqlanon.anatomy(visits, "visits", **{**asked, **wrong})
    several = release.estimate("SELECT COUNT(*) FROM release WHERE age < 40 AND disease IN ('old 1', 'any 1')")
    assert any("somebody counts once for each of the values" in message for message in several.attrs["messages"])
    with pytest.raises(UsageError, match="which of them belong to one person is published nowhere"):
        release.complete(2)
    with pytest.raises(DataError, match="persons have more than one row, and compare holds answers against rows"):
        sqlanon.compare(visits, "visits", quasi="age,sex", sensitive="disease", id="person")


def test_weights_in_plain_sql_count_as_answers_do(visits, tmp_path):
    sqlanon.anatomy(visits, "visits", quasi="age,sex", sensitive="disease", id="person", l=3, out=tmp_path / "release")
    con = connect()
    con.execute(f"set variable release = '{tmp_path / 'release'}'")
    con.execute((tmp_path / "release" / "estimate.sql").read_text())
    where = "where age >= 50 and disease = 'old 1'"
    weighted, error, paper = (
        con.execute(f"select {figure} from {view} {where}").fetchone()[0]
        for figure, view in (
            ("sum(weight)", "weighted"), ("sqrt(sum(weight * weight))", "weighted"), ("sum(weight)", "weighted_paper"),
        )
    )  # fmt: skip
    truth = visits.execute(f"select count(distinct person) from visits {where}").fetchone()[0]
    assert abs(weighted - truth) < 3 * error
    asked = f"SELECT COUNT(*) AS n FROM release {where}"
    assert paper == pytest.approx(sqlanon.open(tmp_path / "release").estimate(asked, estimator="uniform")["n"][0])


def test_an_attack_is_as_sure_as_it_is_right(con):
    con.execute(RANDOM.format(people=3000))
    con.execute("alter table visits add column code integer")
    con.execute("update visits set code = hash(person + 4000) % 100000")
    asked = {"quasi": "age,sex,code", "sensitive": "disease", "id": "person", "l": 3}
    release = sqlanon.anatomy(con, "visits", **asked)
    attack = sqlanon.attack(release, against="visits", id="person")
    (named,) = (one for one in attack.findings if one.attack.startswith("the likeliest value"))
    assert named.reached > 0.36 and named.promised == pytest.approx(1 / 3)
    (sizes,) = (one for one in attack.findings if one.attack.startswith("how many values"))
    assert 0.5 < sizes.reached <= 4 / 6
    above = attack.sure[0]
    assert above.people > 50 and above.right > above.claimed - 0.07
    with pytest.raises(UsageError, match="say whose they are with"):
        sqlanon.attack(release, against="visits")
    with pytest.raises(DataError, match="the source has 60 persons, and the release was made of 3,000"):
        sqlanon.attack(release, against="visits", id="age")
