"""Answers from randomized rows: slow oracles, exact cases, several columns, values that never came out."""

import math

import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DataError, QueryError, ReleaseError, UsageError
from sqlanon.estimation.randomized import Randomized
from sqlanon.estimation.session import Session
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.plans.templates import Sql
from tests.databases import connect
from tests.oracles import decoys


def session_of(frame, sensitive, gamma, truth=None, **parameters):
    """Open a release of published rows: a frame of quasi columns, then the sensitive ones."""
    con = connect()
    con.register("frame", frame)
    con.execute("create table data as select * from frame").fetchall()
    if truth is not None:
        con.register("truth", truth)
        con.execute("create table microdata as select * from truth").fetchall()
    quasi = [name for name in frame.columns if name not in sensitive]
    manifest = {
        "method": "splu",
        "parameters": {"gamma": dict(zip(sensitive, gamma, strict=True)), "residue": "keep", **parameters},
        "columns": {"quasi": quasi, "sensitive": list(sensitive)},
    }
    session = Session(Randomized, DuckDBEngine(con), {"data": Sql("data")}, manifest, OF_RANDOMIZED)
    session.con = con
    return session


def make_census():
    """8,000 rows; job (12 values, γ = 4) goes with age and sex, band (9 values, γ = 3) with job."""
    random = np.random.default_rng(7)
    n = 8000
    job = random.choice(12, n, p=np.array([12, 11, 10, 10, 10, 9, 9, 8, 7, 6, 5, 3]) / 100)
    band = np.where(random.random(n) < 0.5, job % 9, random.integers(0, 9, n))
    age = 20 + 2 * job + random.integers(0, 30, n)
    sex = np.where(random.random(n) < 0.3 + 0.04 * job, "M", "F")
    truth = pd.DataFrame({"age": age, "sex": sex, "job": job, "band": band})
    release = truth.copy()
    for name, gamma in (("job", 4), ("band", 3)):
        _, release[name] = decoys.published(truth[name].to_numpy(), gamma, random, "keep")
    return session_of(release, ["job", "band"], [4, 3], truth)


census = pytest.fixture(make_census, scope="module", name="census")


# -- what is not there ----------------------------------------------------------------------------


def test_a_value_that_no_row_publishes_is_told(census):
    answer = census.answer("select count(*) from release where job = 12 and band = 3 and sex = 'm'")
    assert answer.attrs["warnings"] == [
        "no such value in the release: job = 12; its values lie between 0 and 11",
        "no such value in the release: sex = 'm'; did you mean 'M'?",
    ]


# -- an independent oracle -----------------------------------------------------------------------


def inverted(session, column, gamma):
    """Return P(publishes s | has w) of the closed form, entry by entry."""
    counts = dict(session.con.execute(f"select {column}, count(*) from data group by all").fetchall())
    rows = sum(counts.values())
    gamma = rows / (rows // gamma)
    q = {s: f * (gamma - 1) / (gamma * (rows - f)) for s, f in counts.items()}
    return gamma, q


def oracle(session, column, gamma, satisfies, weight=lambda row: 1):
    """Sum (y - q |P|) / (1/γ - q) over the values, each with the rows that satisfy the query given that value."""
    gamma, q = inverted(session, column, gamma)
    rows = session.con.execute("select * from data").df().to_dict("records")
    found = 0.0
    for s, qs in q.items():
        hits = [row for row in rows if satisfies(row, s)]
        y = sum(weight(row) for row in hits if row[column] == s)
        total = sum(weight(row) for row in hits)
        found += (y - qs * total) / (1 / gamma - qs)
    return found


QUESTIONS = [
    ("sex = 'M' and job = 3", lambda r, s: r["sex"] == "M" and s == 3),
    ("age > 40 and job in (1, 2, 7)", lambda r, s: r["age"] > 40 and s in (1, 2, 7)),
    ("sex = 'F' and not job < 8", lambda r, s: r["sex"] == "F" and s >= 8),
]


@pytest.mark.parametrize(("where", "satisfies"), QUESTIONS)
def test_the_closed_form_equals_the_oracle(census, where, satisfies):
    wanted = oracle(census, "job", 4, satisfies)
    answer = census.answer(f"select count(*) from release where {where}", "closed_form")
    assert answer["count"][0] == pytest.approx(max(wanted, 0))
    wanted = oracle(census, "job", 4, satisfies, lambda row: row["age"])
    answer = census.answer(f"select sum(age) from release where {where}", "closed_form")
    assert answer["sum"][0] == pytest.approx(wanted)


def test_the_standard_error_is_the_paper_fs_binomial_where_the_part_is_small(census):
    """se² = Var y / (1/γ - q)²; the published count's own noise changes it by little for a small part."""
    gamma, q = inverted(census, "job", 4)
    where = "age between 30 and 31 and job = 2"
    answer = census.answer(f"select count(*) from release where {where}", "closed_form").iloc[0]
    (hits,) = census.con.execute("select count(*) from data where age between 30 and 31").fetchone()
    x, qs = answer["count"], q[2]
    variance = x / gamma * (1 - 1 / gamma) + (hits - x) * qs * (1 - qs)
    assert answer["count_std_error"] == pytest.approx(math.sqrt(variance) / (1 / gamma - qs), rel=0.05)


def test_a_mixed_condition_is_the_sum_of_its_cases(census):
    mixed = census.answer("select count(*) from release where (age > 40 and job = 1) or (sex = 'F' and job = 2)")
    parts = [
        census.answer(f"select count(*) from release where {where}", "closed_form")["count"][0]
        for where in ("age > 40 and job = 1", "sex = 'F' and job = 2")
    ]
    truth = census.con.execute(
        "select count(*) from microdata where (age > 40 and job = 1) or (sex = 'F' and job = 2)"
    ).fetchone()[0]
    assert mixed["count"][0] == pytest.approx(sum(parts), rel=0.3)
    assert mixed["count_low"][0] <= truth <= mixed["count_high"][0]


# -- exact answers and shapes ------------------------------------------------------------------


def test_whole_counts_are_the_published_ones(census):
    """Over all rows the closed form returns f' itself: q makes its expectation f."""
    for estimator in ("closed_form", "shrinkage"):
        answer = census.answer("select job, count(*) from release group by job order by job", estimator)
        published = census.con.execute("select job, count(*) as n from data group by job order by job").df()
        np.testing.assert_allclose(answer["count"], published["n"], rtol=2e-3)
        wanted = np.sqrt(published["n"] * (1 - 1 / 4))
        assert ((answer["count_std_error"] / wanted).between(0.9, 1.2)).all()


# -- several sensitive columns -------------------------------------------------------------------


def test_two_columns_are_inverted_factor_by_factor(census):
    (_, q1), (_, q2) = inverted(census, "job", 4), inverted(census, "band", 3)
    rows = census.con.execute("select job, band from data where age > 40").fetchall()
    y = np.zeros((12, 9))
    for job, band in rows:
        y[job, band] += 1
    backward = []
    for q, gamma in ((q1, 4), (q2, 3)):
        kept, others = 8000 // gamma / 8000, np.array([q[value] for value in sorted(q)])
        t = (np.eye(len(q)) - others[:, None]) / (kept - others)[:, None]
        backward.append(t)
    wanted = (np.kron(*backward) @ y.ravel()).reshape(12, 9)
    answer = census.answer(
        "select job, band, count(*) from release where age > 40 group by all order by all", "closed_form"
    )
    np.testing.assert_allclose(answer["count"].to_numpy().reshape(12, 9), np.clip(wanted, 0, len(rows)), atol=1e-6)


def test_two_columns_are_answered_with_honest_intervals(census):
    sql = "select job, band, count(*) from release where age > 30 and job < 8 group by all order by all"
    truth = census.con.execute(
        "select j.job, b.band, count(m.age) as n from (select distinct job from microdata where job < 8) j"
        " cross join (select distinct band from microdata) b left join microdata m"
        " on m.job = j.job and m.band = b.band and m.age > 30 group by all order by all"
    ).df()
    answer = census.answer(sql)
    inside = (answer["count_low"] <= truth["n"]) & (truth["n"] <= answer["count_high"])
    assert inside.mean() >= 0.9
    assert census.answer("select count(*) from release where job = band")["count"][0] > 0
    other = census.answer("select count(*) from release where job = 1 or band = 2 and sex = 'M'").iloc[0]
    (true,) = census.con.execute("select count(*) from microdata where job = 1 or band = 2 and sex = 'M'").fetchone()
    assert other["count_low"] <= true <= other["count_high"]


@pytest.fixture(scope="module")
def hidden():
    """6,000 rows, γ = 8 for two columns of nine values each (the largest is 9); job goes with sex."""
    random = np.random.default_rng(11)
    n = 6000
    truth = pd.DataFrame(
        {"age": random.integers(20, 60, n), "job": np.arange(n) % 9, "band": random.permutation(n) % 9}
    )
    truth.insert(1, "sex", np.where(random.random(n) < 0.2 + 0.06 * truth["job"], "M", "F"))
    release = truth.copy()
    for name in ("job", "band"):
        _, release[name] = decoys.published(truth[name].to_numpy(), 8, random, "keep")
    return session_of(release, ["job", "band"], [8, 8], truth)


def test_near_the_largest_gamma_several_columns_fall_back_on_their_margins(hidden):
    sql = "select sex, job, band, count(*) as n from release group by all order by all"
    truth = hidden.con.execute(sql.replace("release", "microdata")).df()["n"]
    found = {name: hidden.answer(sql, name) for name in ("shrinkage", "closed_form")}
    assert len(found["shrinkage"]) == len(truth) == 162
    errors = {name: (np.abs(answer["n"] - truth) / truth).mean() for name, answer in found.items()}
    assert errors["shrinkage"] < 0.45 and errors["closed_form"] > 1
    answer = found["shrinkage"]
    assert ((answer["n_low"] <= truth) & (truth <= answer["n_high"])).mean() >= 0.94
    assert ((answer["n_low"] <= answer["n"]) & (answer["n"] <= answer["n_high"])).all()


def test_the_answers_of_a_condition_add_up_to_its_rows(hidden, census):
    for session in (hidden, census):
        answer = session.answer("select job, band, count(*) as n from release where sex = 'M' group by all")
        (hits,) = session.con.execute("select count(*) from data where sex = 'M'").fetchone()
        assert answer["n"].sum() == pytest.approx(hits, rel=0.05)  # cells below 0 are answered with 0


def test_sums_of_two_columns_come_nearer_than_the_inverse(hidden):
    sql = "select sex, job, band, sum(age) as total from release group by all order by all"
    truth = hidden.con.execute(sql.replace("release", "microdata")).df()
    found = {name: hidden.answer(sql, name) for name in ("shrinkage", "closed_form")}
    errors = {
        name: (np.abs(answer["total"] - truth["total"]) / truth["total"]).mean() for name, answer in found.items()
    }
    assert errors["shrinkage"] < 0.5 < errors["closed_form"]


def test_what_is_not_asked_has_the_rest_of_the_interval(census):
    both = [
        census.answer(f"select count(*) from release where age > 40 and {condition}").iloc[0]
        for condition in ("job = 1 and band = 1", "not (job = 1 and band = 1)")
    ]
    (hits,) = census.con.execute("select count(*) from data where age > 40").fetchone()
    assert both[0]["count"] + both[1]["count"] == pytest.approx(hits)
    assert both[0]["count_low"] + both[1]["count_high"] == pytest.approx(hits)
    assert both[0]["count_high"] + both[1]["count_low"] == pytest.approx(hits)


# -- the iteration -------------------------------------------------------------------------------


def test_the_iteration_reports_its_turns_and_what_did_not_converge(census, monkeypatch):
    answer = census.answer("select job, count(*) from release where sex = 'M' group by job", "iterative")
    message, bars = answer.attrs["messages"]
    assert "iterative gives no error bars" in bars
    assert message.startswith("iteration: 12 estimates, ")
    assert answer[["count_std_error", "count_low", "count_high"]].isna().all(axis=None)
    monkeypatch.setattr("sqlanon.estimation.randomized.TOLERANCE", 1e-12)
    answer = census.answer("select count(*) from release where sex = 'M' and job = 3", "iterative")
    assert "1 of 1 estimates had not converged after 10,000 turns: what is left" in answer.attrs["messages"][1]


def test_the_iteration_counts_and_weighs_values_but_not_quasi_columns(census):
    both = census.answer("select count(*), avg(job) from release where sex = 'M' and job in (2, 4)", "iterative")
    one, two = (
        census.answer(f"select count(*) from release where sex = 'M' and job = {job}", "iterative")["count"][0]
        for job in (2, 4)
    )
    assert both["count"][0] == pytest.approx(one + two)
    assert both["avg"][0] == pytest.approx((2 * one + 4 * two) / (one + two))
    with pytest.raises(QueryError, match="the iteration counts rows"):
        census.answer("select sum(age) from release where job = 2", "iterative")


# -- values that are not there, names, refusals ----------------------------------------------------


@pytest.mark.parametrize("estimator", ["shrinkage", "closed_form"])
def test_a_value_that_the_release_does_not_contain_is_0_with_an_error_bar(census, estimator):
    answer = census.answer("select count(*) from release where sex = 'M' and job = 99", estimator).iloc[0]
    limit = math.log(0.05) / (4 * math.log(0.75))
    assert answer["count"] == answer["count_low"] == 0
    assert answer["count_high"] == pytest.approx(limit) and 0 < answer["count_std_error"] < limit
    none = census.answer("select count(*) from release where age < 0 and job = 99", estimator).iloc[0]
    assert none.tolist() == [0, 0, 0, 0]


def test_that_no_row_has_an_unseen_value_is_not_certain_either(census):
    answer = census.answer("select count(*) from release where sex = 'M' and job <> 99").iloc[0]
    (hits,) = census.con.execute("select count(*) from data where sex = 'M'").fetchone()
    assert answer["count"] == hits == answer["count_high"]
    assert hits - 3 < answer["count_low"] < hits


def rare(listed):
    """300 values of one row and 60 of two, γ = 3, 6 frequent ones: a third of the rare ones is published by nobody."""
    random = np.random.default_rng(3)
    values = [*(f"r{number}" for number in [*range(300), *range(300, 360), *range(300, 360)])]
    values += [f"d{number % 6}" for number in range(1980)]
    truth = pd.DataFrame({"age": random.integers(20, 60, len(values)), "symptom": values})
    release = truth.copy()
    _, release["symptom"] = decoys.published(truth["symptom"].to_numpy(), 3, random)
    session = session_of(release, ["symptom"], [3], truth)
    if listed:
        session.con.execute("create table values_1 as select distinct symptom from microdata order by all")
        engine = session.tables_of("").engine
        session = Session(Randomized, engine, {"data": Sql("data"), "values_1": Sql("values_1")}, {
            "method": "splu",
            "parameters": {"gamma": {"symptom": 3}, "residue": "keep", "values": "list"},
            "columns": {"quasi": ["age"], "sensitive": ["symptom"]},
        }, OF_RANDOMIZED)  # fmt: skip
    return session, truth, sorted(set(truth["symptom"]) - set(release["symptom"]))


@pytest.mark.parametrize("estimator", ["shrinkage", "closed_form", "iterative"])
def test_listed_values_that_nobody_publishes_are_answered(estimator):
    session, truth, unpublished = rare(listed=True)
    assert len(unpublished) > 80
    answer = session.answer("select symptom, count(*) as n from release group by symptom", estimator)
    counts = truth["symptom"].value_counts()
    assert set(answer["symptom"]) == set(counts.index)
    if estimator != "iterative":
        both = answer.set_index("symptom").join(counts)
        assert ((both["n_low"] <= both["count"]) & (both["count"] <= both["n_high"])).mean() >= 0.95
        of_them = answer[answer["symptom"].isin(unpublished)]
        assert (of_them["n_high"] > 2).all() and of_them.notna().all(axis=None)


@pytest.mark.parametrize("listed", [False, True])
def test_values_that_nobody_publishes_are_asked_for_together(listed):
    session, truth, unpublished = rare(listed)
    rows = int(truth["symptom"].isin(unpublished).sum())
    named = ", ".join(map(repr, unpublished))
    answer = session.answer(f"select count(*) as n from release where symptom in ({named})").iloc[0]
    assert answer["n_low"] <= rows <= answer["n_high"] <= 3 * rows
    with_one = session.answer(f"select count(*) as n from release where symptom in ('r0', {named})").iloc[0]
    assert with_one["n_low"] <= rows + 1 <= with_one["n_high"]
    warned = session.answer(f"select count(*) as n from release where symptom = {unpublished[0]!r}")
    assert (
        warned["n_low"][0] <= 1 <= warned["n_high"][0]
        and ("warnings" in warned.attrs and bool(warned.attrs["warnings"])) != listed
    )


@pytest.mark.parametrize("listed", [False, True])
def test_how_many_values_there_are_is_exact_where_they_are_listed_and_else_the_least(listed):
    session, truth, unpublished = rare(listed)
    answer = session.answer("select count(distinct symptom) as n from release r").iloc[0]
    values = truth["symptom"].nunique()
    if listed:
        assert answer.tolist() == [values, 0, values, values]
    else:
        assert answer["n"] == answer["n_low"] == values - len(unpublished) and math.isnan(answer["n_high"])
    with pytest.raises(QueryError, match=r"COUNT\(DISTINCT x\)"):
        session.answer("select count(distinct symptom) from release where age > 30")


def test_null_is_a_value():
    frame = pd.DataFrame({"age": range(60), "disease": ["flu", "cold", None] * 20})
    session = session_of(frame, ["disease"], [3])
    answer = session.answer("select disease, count(*) from release group by disease order by 1 nulls first")
    assert answer["disease"].isna().tolist() == [True, False, False]
    assert answer["count"].tolist() == pytest.approx([20, 20, 20])


def test_too_much_at_once_is_refused_by_name(census, monkeypatch):
    monkeypatch.setattr("sqlanon.estimation.randomized.LARGEST_ANSWER", 1000)
    with pytest.raises(DataError, match="groups and cases x 108 combinations"):
        census.answer("select age, count(*) from release where job = band group by age")


def test_a_manifest_without_gamma_is_refused():
    for gamma in ({}, {"job": 1}, {"job": True}, {"job": "5"}, None):
        manifest = {"method": "splu", "parameters": {"gamma": gamma}, "columns": {"quasi": ["a"], "sensitive": ["job"]}}
        with pytest.raises(ReleaseError, match="gamma of 'job'"):
            Session(Randomized, None, {"data": Sql("x")}, manifest, OF_RANDOMIZED)
    with pytest.raises(UsageError, match="no table of randomized rows"):
        Session(
            Randomized,
            None,
            {"qit": Sql("x")},
            {"method": "anatomy", "columns": {"quasi": ["a"], "sensitive": ["b"]}},
            OF_RANDOMIZED,
        )


# -- releases that this package publishes ------------------------------------------------------------


@pytest.mark.parametrize("block", [8, 64, "all"])
def test_intervals_hold_whatever_the_size_of_blocks(block):
    """Who meets whom is drawn once for a whole block: the larger it is, the more the answers vary."""
    con, random = connect(), np.random.default_rng(1)
    value = random.choice(12, 12_000, p=np.array([20, 16, 12, 10, 9, 8, 7, 6, 5, 4, 2, 1]) / 100)
    frame = pd.DataFrame({"id": range(12_000), "age": value * 3 + random.integers(0, 12, 12_000), "value": value})
    con.register("people", frame)
    truth, held = frame[frame.age < 15].groupby("value").size(), []
    for key in range(8):
        roles = {"quasi": "age", "sensitive": "value", "id": "id"}
        release = sqlanon.splu(con, "people", **roles, gamma=4, block=block, key=f"{key + 7:064x}")
        question = "select value, count(*) as n from release where age < 15 group by value"
        for row in release.estimate(question, "closed_form").itertuples():
            held.append(row.n_low <= truth.get(row.value, 0) <= row.n_high)
    assert np.mean(held) > 0.9
