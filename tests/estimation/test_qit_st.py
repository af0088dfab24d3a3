"""Answers from QIT and ST: the paper's example, an independent slow oracle, exact cases, hostile names."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import AnswerError, DataError, QueryError, ReleaseError, SqlanonError, UsageError
from sqlanon.estimation.qit_st import GroupTables
from sqlanon.estimation.session import Session
from sqlanon.estimators import OF_GROUPS
from sqlanon.plans.templates import Sql, ident
from tests.databases import connect
from tests.examples import examples
from tests.pairs import read_pairs
from tests.recording import Recording

PATIENTS = [
    (23, "M", 11000, "pneumonia", 1),
    (27, "M", 13000, "dyspepsia", 1),
    (35, "M", 59000, "dyspepsia", 1),
    (59, "M", 12000, "pneumonia", 1),
    (61, "F", 54000, "flu", 2),
    (65, "F", 25000, "gastritis", 2),
    (65, "F", 25000, "flu", 2),
    (70, "F", 30000, "bronchitis", 2),
]


def session_of(rows, names, group="group_id", count="count"):
    """Open a release of rows (quasi values …, sensitive value, group)."""
    con = connect()
    *quasi, sensitive = names
    frame = pd.DataFrame(rows, columns=[*(f"c{i}" for i in range(len(names))), "g"]).astype(object)
    con.register("frame", frame)
    columns = ", ".join(f"c{i} as {ident(name)}" for i, name in enumerate(quasi))
    last = f"c{len(quasi)}"
    con.execute(f"create table qit as select {columns}, g as {ident(group)} from frame")
    con.execute(
        f"create table st as select g as {ident(group)}, {last} as {ident(sensitive)},"
        f" count(*) as {ident(count)} from frame group by g, {last}"
    )
    manifest = {
        "method": "anatomy",
        "columns": {"quasi": quasi, "sensitive": [sensitive], "group": group, "count": count},
    }
    con.execute(f"create table microdata as select {columns}, {last} as {ident(sensitive)} from frame")
    session = Session(GroupTables, DuckDBEngine(con), {"qit": Sql("qit"), "st": Sql("st")}, manifest, OF_GROUPS)
    session.con = con
    return session


def reopened(session, manifest=None, engine=None, columns=None, **tables):
    """Open the tables of a session again: under another manifest, by another engine, some of them replaced."""
    loaded = session.tables_of("")
    roles = {"quasi": loaded.quasi, "sensitive": [loaded.sensitive], "group": "group_id", "count": "count"}
    manifest = {"columns": roles | (columns or {}), **(manifest or {})}
    found = Session(GroupTables, engine or DuckDBEngine(session.con), {**loaded.tables, **tables}, manifest, OF_GROUPS)
    found.con = session.con
    return found


@pytest.fixture(scope="module")
def hospital():
    return session_of(PATIENTS, ["age", "sex", "zipcode", "disease"])


def make_census():
    """6,000 rows, 9 values, groups of 3 random rows: enough for estimates, though not for privacy."""
    random = np.random.default_rng(5)
    code = np.sort(random.choice(9, 6000, p=np.array([18, 16, 14, 12, 10, 10, 8, 7, 5]) / 100))
    age = (20 + 3 * code + random.integers(0, 30, 6000)).astype(int)
    sex = np.where(random.random(6000) < 0.3 + 0.05 * code, "M", "F")
    groups = random.permutation(np.arange(6000) % 2000)
    rows = [(int(a), str(s), float(a) * 10, int(v), int(g)) for a, s, v, g in zip(age, sex, code, groups, strict=True)]
    return session_of(rows, ["age", "sex", "salary", "income"])


census = pytest.fixture(make_census, scope="module", name="census")


# -- the paper's example -------------------------------------------------------------------------


def test_query_a_of_the_slides(hospital):
    sql = (
        "SELECT COUNT(*) FROM release WHERE age BETWEEN 0 AND 30 AND zipcode BETWEEN 10001 AND 20000"
        " AND disease = 'pneumonia'"
    )
    answer = hospital.answer(sql, "uniform")
    assert answer["count"].tolist() == [1.0]
    assert answer[["count_std_error", "count_low", "count_high"]].isna().all(axis=None)
    assert list(answer.columns) == ["count", "count_std_error", "count_low", "count_high"]


# -- what an engine says, in words of ours -------------------------------------------------------

COMPLAINTS = read_pairs("complaints")


@pytest.mark.parametrize("condition", COMPLAINTS)
def test_an_engines_complaint_is_told_plainly(hospital, condition):
    with pytest.raises(SqlanonError) as caught:
        hospital.answer(f"select count(*) from release where {condition}")
    assert str(caught.value) == COMPLAINTS[condition] and "pneumonia" not in str(caught.value)


@pytest.mark.parametrize("date", ["timestamptz 'infinity'", "date '-infinity'", "timestamp '20000-01-01'"])
def test_dates_that_no_program_reads_are_refused(hospital, date):
    with pytest.raises(AnswerError, match="infinite or beyond the years 1 to 9999"):
        hospital.answer(f"select {date}, count(*) from release group by 1")
    shown = hospital.answer(f"select cast({date} as varchar) as d, count(*) from release group by 1")
    assert shown["d"].tolist() == [hospital.con.execute(f"select cast({date} as varchar)").fetchone()[0]]


def test_times_of_nanoseconds_are_grouped_by(con):
    con.execute(
        "create table people as select timestamp '2020-01-03'::timestamp_ns as seen, 'd' || i % 4 as disease"
        " from range(40) as numbers(i)"
    ).fetchall()
    release = sqlanon.anatomy(con, "people", quasi=["seen"], sensitive="disease", l=2)
    answer = release.estimate("SELECT seen, COUNT(*) AS n FROM release GROUP BY seen")
    assert answer[["seen", "n"]].values.tolist() == [[pd.Timestamp("2020-01-03"), 40.0]]


# -- what is not there ----------------------------------------------------------------------------

MISSING = read_pairs("missing_values")


@pytest.mark.parametrize("condition", MISSING)
def test_a_value_that_no_row_has_is_told(hospital, condition):
    answer = hospital.answer(f"select count(*) from release where {condition}")
    assert [text for text in answer.attrs["warnings"] if "no such value" in text] == [
        *filter(None, [MISSING[condition]])
    ]


def test_a_missing_value_of_a_key_or_an_argument_is_told(hospital):
    answer = hospital.answer("select sex = 'W', sum(case when disease = 'cold' then 1 end) from release group by 1")
    assert [text.partition(";")[0] for text in answer.attrs["warnings"]] == [
        "no such value in the release: sex = 'W'",
        "no such value in the release: disease = 'cold'",
    ]


# -- an independent oracle -----------------------------------------------------------------------


def oracle(session, satisfies):
    """Enumerate rows and the values of their groups: the uniform estimate."""
    columns = session.tables_of("")
    lines = session.con.execute("select * from st").fetchall()
    people = session.con.execute("select * from qit").fetchall()
    values = list(dict.fromkeys(v for _, v, _ in lines))
    groups = list(dict.fromkeys(g for g, _, _ in lines))
    held = {(g, v): n for g, v, n in lines}
    size = {g: sum(held.get((g, v), 0) for v in values) for g in groups}
    rows = [(dict(zip(columns.quasi, person[:-1], strict=True)), person[-1]) for person in people]
    weight = [[satisfies(row, v) for v in values] for row, _ in rows]
    return sum(
        held.get((g, v), 0) / size[g] * x
        for (_, g), line in zip(rows, weight, strict=True)
        for v, x in zip(values, line, strict=True)
    )


SMALL = [
    (20 + 7 * i % 50 if i % 11 else None, "MF"[i % 3 == 0], 1.5 * i, (None, 1, 2, 3, 5, 8)[j], i)
    for i in range(40)
    for j in sorted({i % 6, (i // 2 + 1) % 6, (i * i + 3) % 6})
]
QUESTIONS = [
    ("age > 30 and income = 3", lambda r, v: (r["age"] or 0) > 30 and v == 3),
    ("age > 30 and income in (1, 2)", lambda r, v: (r["age"] or 0) > 30 and v in (1, 2)),
    ("sex = 'M' and income is null", lambda r, v: r["sex"] == "M" and v is None),
    ("sex = 'M' and not income > 2", lambda r, v: r["sex"] == "M" and v is not None and v <= 2),
    ("age is null and income <> 1", lambda r, v: r["age"] is None and v not in (None, 1)),
    (
        "(age > 30 and income = 1) or (age < 40 and sex = 'F' and income > 2)",
        lambda r, v: ((r["age"] or 0) > 30 and v == 1) or ((r["age"] or 99) < 40 and r["sex"] == "F" and (v or 0) > 2),
    ),
    ("age > income * 10", lambda r, v: r["age"] is not None and v is not None and r["age"] > v * 10),
    ("sex = 'M' or income = 5", lambda r, v: r["sex"] == "M" or v == 5),
    (
        "case when income > 2 then age > 40 else sex = 'M' end",
        lambda r, v: (r["age"] or 0) > 40 if (v or 0) > 2 else r["sex"] == "M",
    ),
]


@pytest.fixture(scope="module")
def small():
    return session_of(SMALL, ["age", "sex", "pay", "income"])


@pytest.mark.parametrize(("where", "satisfies"), QUESTIONS)
def test_counts_equal_the_oracle(small, where, satisfies):
    uniform = oracle(small, satisfies)
    sql = f"select count(*) from release where {where}"
    low, high = 0, sum(1 for _ in SMALL)
    assert small.answer(sql, "uniform")["count"][0] == pytest.approx(min(max(uniform, low), high))


SUMS = [
    ("sum(pay)", lambda r, v: r["pay"]),
    ("sum(income)", lambda r, v: v or 0),
    ("sum(pay * income)", lambda r, v: r["pay"] * (v or 0)),
    ("sum(income * (2 * pay) * (income - 3) / 4)", lambda r, v: (v or 0) * ((v or 0) - 3) * r["pay"] / 2),
    ("sum(7 * income)", lambda r, v: 7 * (v or 0)),
    ("sum(-(pay * income)::double / 2)", lambda r, v: -r["pay"] * (v or 0) / 2),
    ("sum(pay * income + age)", lambda r, v: r["pay"] * v + r["age"] if v and r["age"] else 0),
    ("sum(age)", lambda r, v: r["age"] or 0),
]


@pytest.mark.parametrize(("aggregate", "value"), SUMS)
def test_sums_equal_the_oracle(small, aggregate, value):
    uniform = oracle(small, lambda r, v: value(r, v) if r["sex"] == "M" and (v or 0) > 1 else 0)
    sql = f"select {aggregate} from release where sex = 'M' and income > 1"
    assert small.answer(sql, "uniform")["sum"][0] == pytest.approx(uniform)


@given(
    groups=st.lists(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=1, max_size=3), min_size=3, max_size=9),
    seed=st.integers(0, 1000),
)
@examples(12)
def test_any_small_release_equals_the_oracle(groups, seed):
    random = np.random.default_rng(seed)
    rows = [
        (int(random.integers(0, 4)), "MF"[random.integers(0, 2)], v, number)
        for number, group in enumerate(groups)
        for v in group
    ]
    session = session_of(rows, ["age", "sex", "income"])
    uniform = oracle(session, lambda r, v: r["age"] > 1 and v in (1, 2))
    sql = "select count(*) from release where age > 1 and income in (1, 2)"
    hits = sum(age > 1 for age, *_ in rows)
    asked = sum(v in (1, 2) for *_, v, _ in rows)
    for estimator in ("uniform", "ridge"):
        answer = session.answer(sql, estimator).iloc[0]
        assert max(0, hits + asked - len(rows)) - 1e-9 <= answer["count"] <= min(hits, asked) + 1e-9
        assert math.isnan(answer["count_low"]) or answer["count_low"] <= answer["count_high"]
    if answer["count_std_error"] != 0:
        assert session.answer(sql, "uniform")["count"][0] == pytest.approx(uniform)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(-3, 3)), min_size=24, max_size=24),
    st.sampled_from([(-2, 0, 3), (None, 2, 3), (None, -2, 3)]),
)
@examples(12)
def test_products_are_bounded_by_what_the_release_allows(quasi, values):
    """Every group has the three values, so that nothing is told, and any of its rows may have any of them."""
    quasi += [(2, 1), (2, -1), (0, None)]
    rows = [(age, number, values[place % 3], place // 3) for place, (age, number) in enumerate(quasi)]
    session = session_of(rows, ["age", "number", "income"])
    for where in ("age > 1", "age > 1 and income <> 0", "income < 0 or age = 2"):
        sql = f"select sum(number * income) as s, avg(number * (income + 1)) as mean from release where {where}"
        answer = session.answer(sql).iloc[0]
        truth = session.con.execute(sql.replace("from release", "from microdata")).fetchone()
        for name, value in zip(("s", "mean"), truth, strict=True):
            if value is not None and not math.isnan(answer[f"{name}_low"]):
                assert answer[f"{name}_low"] - 1e-6 <= value <= answer[f"{name}_high"] + 1e-6, (name, where)


@pytest.mark.parametrize("where", ["salary = 300", "age > 200", "salary = 300 and income > 3"])
def test_what_does_not_vary_has_no_correlation(census, where):
    row = census.answer(f"select corr(salary, income) as r, var_pop(income) as v from release where {where}").iloc[0]
    assert row[["r", "r_std_error", "r_low", "r_high"]].isna().all() and math.isnan(row["v"]) == ("200" in where)


def test_a_product_of_a_column_of_each_side_is_told_as_well_as_their_sums():
    """Income goes with age by a slope of 2: 700 values are one question, not one each."""
    sql = (
        "select sum(age * income) as s, regr_slope(income, age) as slope, corr(age, income) as r from {} where age > 5"
    )
    held = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        age = random.integers(0, 40, 6000)
        income = age * 2 + random.integers(0, 620, 6000)
        group = np.argsort(np.argsort(random.random(6000))) // 3
        rows = [(int(a), int(v), int(g)) for a, v, g in zip(age, income, group, strict=True)]
        session = session_of(rows, ["age", "income"])
        row = session.answer(sql.format("release")).iloc[0]
        truth = session.con.execute(sql.format("microdata")).fetchone()
        for name, value, most in zip(("s", "slope", "r"), truth, (0.03 * truth[0], 1.0, 0.05), strict=True):
            assert row[f"{name}_std_error"] < most, name
            held.append(row[f"{name}_low"] <= value <= row[f"{name}_high"])
    assert sum(held) >= 10


# -- shapes, names, refusals -------------------------------------------------------------------


def test_zeros_are_given_for_every_value_that_where_leaves(hospital):
    answer = hospital.answer(
        "select sex, disease, count(*) from release where disease <> 'flu' group by all order by all",
        "uniform",
    )
    assert list(zip(answer["sex"], answer["disease"], strict=True)) == list(
        itertools.product("FM", ["bronchitis", "dyspepsia", "gastritis", "pneumonia"])
    )
    assert answer["count"].tolist() == [1, 0, 1, 0, 0, 2, 0, 2]


def test_null_keys_are_a_group_of_their_own(small):
    answer = small.answer(
        "select age is null as unknown, age, count(*) from release group by all order by age nulls first"
    )
    assert pd.isna(answer["age"][0]) and bool(answer["unknown"][0])
    assert answer["count"].sum() == len(SMALL)


def test_a_release_without_qit_is_refused():
    with pytest.raises(UsageError, match="no QIT"):
        Session(
            GroupTables,
            None,
            {"data": Sql("x")},
            {"method": "splu", "columns": {"quasi": ["a"], "sensitive": ["b"]}},
            OF_GROUPS,
        )


LISTED = [
    *("place", "soundness", "value", "line", "person"),
    *("group_class", "class_value", "class_normal", "asked", "hit", "moment"),
]


def test_statements_run_and_hold_no_value_of_the_data(hospital):
    sql = "select disease, count(*) from release where age > 30 group by disease order by 2"
    engine = Recording(hospital.con)
    fresh = reopened(hospital, engine=engine)
    listed = fresh.statements(sql)
    assert engine.ran == []
    assert [name for name, _ in listed] == LISTED
    fresh.answer(sql)
    for name, text in listed:
        assert text in engine.ran or any(text in ran for ran in engine.ran), name
        assert "pneumonia" not in text
    fresh.close()


def test_no_table_stays_behind(hospital):
    before = hospital.con.execute("select count(*) from duckdb_tables()").fetchone()
    fresh = reopened(hospital)
    fresh.answer("select sex, disease, count(*) from release group by all")
    fresh.close()
    assert hospital.con.execute("select count(*) from duckdb_tables()").fetchone() == before
    assert fresh.answer("select count(*) from release")["count"][0] == 8
    fresh.close()


def test_too_many_values_are_answered_by_uniform(small, monkeypatch):
    monkeypatch.setattr("sqlanon.estimation.qit_st.LARGEST_SYSTEM", 3)
    fresh = reopened(small)
    answer = fresh.answer("select count(*) from release where age > 30 and income = 3")
    assert "sensitive values" in answer.attrs["messages"][0]
    assert answer["count"][0] == pytest.approx(
        small.answer("select count(*) from release where age > 30 and income = 3", "uniform")["count"][0]
    )
    fresh.close()


# -- numbers that are none, constants that fit nothing, tables that do not fit --------------------


@pytest.fixture(scope="module")
def measured():
    """A measure with one NaN, one infinity and one NULL; a numeric sensitive column that has both, too."""
    session = session_of([(i % 7, 1.5, "abcd"[i % 4], i // 4) for i in range(200)], ["q", "f", "d"])
    session.con.execute(
        "create table odd as select q, case row_number() over () when 5 then 'nan'::double when 6 then 'inf'::double"
        " when 7 then null else 1.5 end as f, group_id from qit; drop table qit; alter table odd rename to qit"
    )
    return session


ENDLESS = {
    "select sum(f) from release": "in 1 row of the answer",
    "select avg(f) from release where d = 'a'": "on 2 rows",
    "select d, sum(f) from release group by d": "on 2 rows",
    "select q, count(*), sum(f) from release group by q": "in 2 rows of the answer",
    "select sum(f) from release where f < 10 or f > 1e300": "in 1 row of the answer",
    "select sum(q / 0) from release where q > 0 and d = 'a'": "on 171 rows",
    "select sum(1 / 0) from release where q > 0 and d in ('a', 'b')": "for 2 of the values asked",
    "select sum(case when d = 'a' then f else 1 end) from release": "on 2 rows",
}


@pytest.mark.parametrize("sql", ENDLESS)
@pytest.mark.parametrize("estimator", ["uniform", "ridge"])
def test_sums_of_nan_and_infinity_are_refused_not_stated(measured, sql, estimator):
    with pytest.raises(DataError, match=f"NaN or infinite {ENDLESS[sql]}; leave them out with WHERE"):
        measured.answer(sql, estimator)


def test_null_is_skipped_and_nan_can_be_left_out(measured):
    answer = measured.answer("select sum(f), avg(f), count(*) from release where f < 10 or f is null")
    assert answer[["sum", "avg", "count"]].iloc[0].tolist() == [197 * 1.5, 1.5, 198]


def test_sums_of_sensitive_nan_and_infinity_are_refused():
    session = session_of([(i % 7, i % 4, i // 4) for i in range(80)], ["q", "income"])
    session.con.execute(
        "alter table st alter income type double"
        " using case income when 0 then 'nan'::double when 1 then 'inf'::double when 2 then 1 end"
    )
    for sql, where in (
        ("select sum(income) from release", "in 1 row of the answer"),
        ("select avg(income) from release where q = 3", "for 2 of the values asked"),
    ):
        with pytest.raises(DataError, match=f"NaN or infinite {where}"):
            session.answer(sql)
    with pytest.raises(DataError, match="NaN or infinite for 2 of the values asked"):
        session.answer("select sum(q * income) from release")
    assert session.answer("select sum(income) from release where income < 2")["sum"][0] == 20


def test_squares_beyond_all_numbers_are_refused():
    session = session_of([(1e200 * i, "ab"[i % 2], i // 2) for i in range(20)], ["x", "d"])
    session.con.execute("alter table qit alter x type double")
    with pytest.raises(DataError, match="too large; divide them first"):
        session.answer("select sum(x) from release where d = 'a'")


WRONG = [
    "age in (1, 'x')",
    "disease in (1, 2)",
    "age between 1 and 'x'",
    "age = date '2024-99-99'",
    "regexp_matches(disease, '(')",
    "regexp_matches(disease, 'a', 'zz')",
    "disease like 'a' escape 'xx'",
    "disease like 'a!' escape '!'",
    "disease = 'a\ud83d'",
]


@pytest.mark.parametrize("condition", WRONG)
def test_a_constant_that_fits_nothing_is_refused_and_no_value_is_quoted(hospital, condition):
    for more in ("", " and sex = 'M' and disease = 'flu'"):
        with pytest.raises((QueryError, DataError), match=r"evaluated|ESCAPE|surrogate") as caught:
            hospital.answer(f"select count(*) from release where {condition}{more}")
        assert "pneumonia" not in str(caught.value) and "quasi_" not in str(caught.value)


def test_an_error_of_the_engine_that_nobody_foresaw_quotes_nothing(hospital):
    class Failing(DuckDBEngine):
        def arrays(self, text):
            if "asked_value" in text:
                raise SqlanonError("Some Error: could not digest 'pneumonia'")
            return super().arrays(text)

    fresh = reopened(hospital, engine=Failing(hospital.con))
    with pytest.raises(DataError) as caught:
        fresh.answer("select count(*) from release where disease = 'flu' and age > 30")
    assert "pneumonia" not in str(caught.value)
    fresh.close()


DAMAGED = {
    "a count below one": "update st set count = -1 where disease = 'flu'",
    "no count": "alter table st alter count drop not null; update st set count = null where disease = 'flu'",
    "half of ST": "delete from st where group_id = 2",
    "half of QIT": "delete from qit where group_id = 2",
    "no group": "update st set group_id = null where group_id = 2; update qit set group_id = null where group_id = 2",
    "no rows": "delete from st; delete from qit",
    "half a row": "alter table st alter count type double; update st set count = 1.5",
    "NaN": "alter table st alter count type double; update st set count = 'nan' where disease = 'flu'",
    "a text": "alter table st alter count type varchar; update st set count = 'many'",
    "two spellings": "alter table qit alter group_id type varchar; update qit set group_id = '0' || group_id",
    "no such column": "alter table qit rename age to years",
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_a_damaged_release_is_refused(fault):
    session = session_of(PATIENTS, ["age", "sex", "zipcode", "disease"])
    session.con.execute(DAMAGED[fault])
    with pytest.raises(ReleaseError, match="sqlanon verify") as caught:
        session.answer("select disease, count(*) from release where age < 30 group by disease")
    assert caught.value.exit_code == 2


def test_a_broken_file_is_a_broken_release(hospital, tmp_path):
    broken = tmp_path / "qit.parquet"
    broken.write_bytes(b"PAR1 is no PAR1")
    fresh = reopened(hospital, qit=Sql(f"read_parquet('{broken}')"))
    with pytest.raises(UsageError, match="a file is damaged"):
        fresh.answer("select count(*) from release")


# -- what a message says ---------------------------------------------------------------------------


def test_an_interval_that_is_only_a_bound_says_so(census):
    mixed = "from release where (sex = 'M' and income = 2) or (sex = 'F' and income > 5)"
    assert any("upper bounds" in message for message in census.answer(f"select sum(age) {mixed}").attrs["messages"])
    assert census.answer("select sum(age) from release where income = 2").attrs["messages"] == []


# -- names in ORDER BY, constants in SELECT -----------------------------------------------------------


def test_order_by_expressions_over_names_and_aggregates(small):
    def keys(order):
        sql = f"select income as k, count(*) as n from release where income > 0 group by 1 order by {order}"
        return small.answer(sql, "uniform")["k"].tolist()

    counts = small.con.execute("select income, count(*) from microdata where income > 0 group by 1").fetchall()
    assert keys("-k") == sorted((k for k, _ in counts), reverse=True)
    assert keys("-n, k") == [k for k, n in sorted(counts, key=lambda line: (-line[1], line[0]))]
    assert keys("-count(*), k") == keys("-n, k")
    assert keys("k % 2, 0 - (k + 1)") == sorted((k for k, _ in counts), key=lambda k: (k % 2, -k))


def test_constants_stand_in_select(small):
    answer = small.answer("select 5 as k, 'a' || 'b' as t, count(*) from release")
    assert answer.iloc[0, :3].tolist() == [5, "ab", len(SMALL)]
    answer = small.answer("select 5 as k, count(*), sex from release group by sex order by sex")
    assert answer["k"].tolist() == [5, 5] and answer["sex"].tolist() == ["F", "M"]
    assert small.answer("select 5 as k, count(*) from release where age > 999").iloc[0, :2].tolist() == [5, 0]


def test_signatures_that_share_groups_are_answered_as_one_class(con):
    con.execute(
        "create table t as select i as person, i % 30 as ward, 's' || (i * i // 7 % 9) as s from range(900) r(i);"
        "create table known as select ward, s, 1 / 9.0 as probability from (select distinct ward from t),"
        " (select distinct s from t)"
    ).fetchall()
    release = sqlanon.robust(con, "t", quasi="ward", sensitive="s", id="person", r=3, background="known")
    query = "SELECT COUNT(*) AS n FROM release WHERE ward < 15 AND s = 's3'"
    answer = release.estimate(query)
    assert len(release._session.tables_of("").systems.rows) == 1
    plain = sqlanon.anatomy(con, "t", quasi="ward", sensitive="s", id="person", l=3)
    wanted = plain.estimate(query, "ridge")
    # as precise as Anatomy's, which has one class as well
    assert 0 < answer["n_std_error"][0] < 1.5 * wanted["n_std_error"][0]
