"""Counts from boxes: overlap by points and by length, judged by enumeration; bounds that hold; hostile manifests."""

import datetime
import itertools
import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.plans.manifest import manifest_text
from tests.databases import insert
from tests.examples import examples
from tests.generalized_release import SLIDES, write_release

INTEGER = {"type": "INTEGER", "nulls": False}


def estimate(folder, published, rows, where, **more):
    release = sqlanon.open(write_release(folder, published, rows, **more))
    return release.estimate(f"SELECT COUNT(*) AS n FROM release WHERE {where}")[["n", "n_low", "n_high"]].values[0]


TYPED = [
    ("INTEGER", (21, 60), "age < 31", 10 / 40),
    ("INTEGER", (21, 60), "age % 2 = 0", 20 / 40),
    ("INTEGER", (1, 100_000_000), "age BETWEEN 1 AND 25000000", 1 / 4),
    ("UTINYINT", (200, 255), "age >= 228", 28 / 56),
    ("BIGINT", (-10, 9), "age < -5", 5 / 20),
    ("DATE", (datetime.date(2020, 1, 1), datetime.date(2020, 1, 31)), "age <= DATE '2020-01-10'", 10 / 31),
    ("DATE", (datetime.date(2020, 1, 1), datetime.date(2020, 2, 29)), "month(age) = 2", 29 / 60),
    ("DOUBLE", (0.0, 10.0), "age < 2.5", 1 / 4),
    ("DECIMAL(6,2)", (1, 5), "age BETWEEN 2 AND 3.5", 3 / 8),
    (
        "TIMESTAMP",
        (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 5)),
        "age < TIMESTAMP '2020-01-02'",
        1 / 4,
    ),
    ("DOUBLE", (3.0, 3.0), "age = 3", 1),
    ("INTEGER", (21, 60), "age > 60", 0),
]


@pytest.mark.parametrize(("kind", "ends", "where", "share"), TYPED)
def test_whole_numbers_and_dates_are_counted_and_others_measured(tmp_path, kind, ends, where, share):
    published = {"age": {"type": kind, "nulls": False, "low": "age_low", "high": "age_high"}}
    found = estimate(tmp_path / "r", published, [(*ends, "flu")] * 4, where)
    certain, possible = (4 if share == 1 else 0), (4 if share else 0)
    assert found.tolist() == pytest.approx([4 * share, certain, possible], abs=1e-9)


SPECIAL = {  # by type, values that lie outside of what is counted or measured, and conditions on them
    "DATE": (
        ["2024-01-01", "2024-01-02", "2023-07-01", "infinity", "-infinity", None],
        ["v = 'infinity'", "v >= '2024-01-01'", "v < '2000-01-01'", "v is null", "year(v) = 2024", "isfinite(v)"],
    ),
    "TIMESTAMP": (
        ["2024-01-01", "2024-01-02 03:04:05", "infinity", "-infinity", None],
        ["v = 'infinity'", "v <= '2024-01-01'", "v is null", "year(v) = 2024", "isfinite(v)"],
    ),
    **dict.fromkeys(
        ("DOUBLE", "FLOAT"),
        (
            ["1", "2.5", "4", "nan", "inf", "-inf", None],
            ["v = 'nan'", "v <> 'nan'", "isnan(v)", "v = 'inf'", "v > 2", "v < 0", "v is null", "v + 1 = 3.5"],
        ),
    ),
}


@pytest.mark.parametrize(
    "kind", ["DATE", "DOUBLE", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in ("TIMESTAMP", "FLOAT"))]
)
def test_bounds_hold_where_values_are_infinite_or_no_numbers(con, kind):
    values, conditions = SPECIAL[kind]
    con.execute(f"create table t (pid integer, d integer, v {kind})")
    rows = [(number, number % 2, values[number // 2]) for number in range(2 * len(values))]
    insert(con, "t", rows)
    for k in (2, 10):
        release = sqlanon.mondrian(con, "t", quasi=["v"], sensitive="d", id="pid", k=k)
        queries = [f"SELECT COUNT(*) AS n FROM release WHERE {condition}" for condition in conditions]
        answers = [release.estimate(query) for query in queries] + release.estimate_many(queries)
        for condition, answer in zip(conditions * 2, answers, strict=True):
            truth = con.execute(f"select count(*) from t where {condition}").fetchone()[0]
            (row,) = answer.itertuples()
            assert row.n_low <= truth <= row.n_high and row.n_low <= row.n <= row.n_high, (k, condition, truth, row)
            assert k > 2 or row.n_low == row.n_high == truth, (condition, row)


@pytest.mark.parametrize(
    ("where", "high"), [("age + 1 = 4", 4), ("age = 3", 4), ("floor(age) = 12", 4), ("age = 11", 0)]
)
def test_what_a_function_says_of_values_between_two_points_is_open(tmp_path, where, high):
    published = {"age": {"type": "DOUBLE", "nulls": False, "low": "age_low", "high": "age_high"}}
    assert estimate(tmp_path / "r", published, [(0.0, 10.0, "flu")] * 4, where).tolist()[1:] == [0, high]


def test_a_single_point_of_a_length_is_possible_and_not_expected(tmp_path):
    published = {"age": {"type": "DOUBLE", "nulls": False, "low": "age_low", "high": "age_high"}}
    assert estimate(tmp_path / "r", published, [(0.0, 10.0, "flu")] * 2, "age = 5").tolist() == [0, 0, 2]


def test_sets_nodes_and_unknown_values_are_equally_likely(tmp_path):
    published = {
        "age": {"type": "INTEGER", "nulls": True, "low": "age_low", "high": "age_high", "unknown": "age_unknown"},
        "sex": {"type": "VARCHAR", "nulls": True, "set": "sex"},
        "job": {"type": "VARCHAR", "nulls": False, "node": "job"},
    }
    tree = {"job": [["nurse", "clinic"], ["surgeon", "clinic"], ["clinic", "any"], ["clerk", "any"]]}
    rows = [(1, 3, True, '["F","M",null]', "clinic", "flu")] * 6 + [(None, None, True, "[null]", "any", "flu")] * 6
    release = sqlanon.open(write_release(tmp_path / "r", published, rows, hierarchies=tree))
    assert release.verify().holds
    for where, expected, low, high in (
        ("age IS NULL", 6 / 4 + 6, 6, 12),
        ("sex IS NULL", 6 / 3 + 6, 6, 12),
        ("sex = 'M' AND age <= 2", 6 / 3 * 2 / 4, 0, 6),
        ("job = 'nurse'", 6 / 2 + 6 / 3, 0, 12),
        ("job IN ('nurse', 'surgeon')", 6 + 6 * 2 / 3, 6, 12),
        ("age = 1 OR sex = 'F'", 6 * (1 - 3 / 4 * 2 / 3), 0, 6),
    ):
        answer = release.estimate(f"SELECT COUNT(*) AS n FROM release WHERE {where}")
        assert answer[["n", "n_low", "n_high"]].values[0].tolist() == pytest.approx([expected, low, high]), where


@pytest.mark.property
@examples(20, HealthCheck.function_scoped_fixture)
@given(data=st.data())
def test_answers_are_those_of_enumeration(data, tmp_path_factory):
    ends = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)
    box = st.tuples(ends, ends).map(lambda pair: (*pair[0], *pair[1]))
    boxes = data.draw(st.lists(st.tuples(box, st.sampled_from(["flu", "cold"])), min_size=2, max_size=6))
    rows = sorted((*bounds, value) for bounds, value in boxes for _ in range(2))
    x, y = data.draw(st.integers(-1, 7)), data.draw(st.integers(-1, 7))
    where, holds = data.draw(
        st.sampled_from(
            [
                (f"a <= {x} AND b > {y}", lambda a, b, s: a <= x and b > y),
                (f"a <= {x} OR b = {y}", lambda a, b, s: a <= x or b == y),
                (f"a + b < {x + y}", lambda a, b, s: a + b < x + y),
                (f"a < {x} OR s = 'flu'", lambda a, b, s: a < x or s == "flu"),
            ]
        )
    )
    published = {name: {**INTEGER, "low": f"{name}_low", "high": f"{name}_high"} for name in "ab"}
    folder = tmp_path_factory.mktemp("drawn") / "r"
    found = estimate(folder, published, rows, where, sensitive="s")
    expected = low = high = 0.0
    for a, b, c, d, value in rows:
        points = [holds(*point, value) for point in itertools.product(range(a, b + 1), range(c, d + 1))]
        expected += sum(points) / len(points)
        low, high = low + all(points), high + any(points)
    assert found.tolist() == pytest.approx([expected, low, high])


def test_groups_and_order_are_answered_as_of_other_releases(tmp_path):
    release = sqlanon.open(write_release(tmp_path / "r", **SLIDES))
    answer = release.estimate("SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY ALL ORDER BY n DESC, disease")
    assert answer[["sex", "disease", "n"]].values.tolist()[:3] == [
        ["M", "dyspepsia", 2],
        ["F", "flu", 2],
        ["M", "pneumonia", 2],
    ]
    assert (answer["n_std_error"][:3] == 0).all()
    assert "-- spread_1" in release.estimation_sql("SELECT COUNT(*) FROM release WHERE age < 3")
    with pytest.raises(sqlanon.UsageError, match="no estimator 'ridge' for a release of mondrian; choose one of uni"):
        release.estimate("SELECT COUNT(*) FROM release", "ridge")
    with pytest.raises(sqlanon.QueryError, match="AVG over generalized rows is not answered: a box holds a range"):
        release.estimate("SELECT AVG(age) FROM release")


def test_too_wide_a_question_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sqlanon.estimation.cells.LARGEST_ANSWER", 2000)
    published = {name: {**INTEGER, "low": f"{name}_low", "high": f"{name}_high"} for name in "ab"}
    release = sqlanon.open(write_release(tmp_path / "r", published, [(1, 90, 1, 90, "flu")] * 2))
    with pytest.raises(sqlanon.SqlanonError, match="more than 2,000; ask one column at a time, or coarser"):
        release.estimate("SELECT a, b, COUNT(*) FROM release GROUP BY a, b")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda said: said["age"].update(type="INTEGER); drop table data; --"),
            "has: parameters published age type",
        ),
        (lambda said: said["age"].pop("high"), "'age' is not published as its type is"),
        (lambda said: said["age"].update(low=3), "has: parameters published age low"),
        (lambda said: said["age"].update(nulls="no"), "has: parameters published age nulls"),
        (lambda said: said.pop("sex"), "it does not say how each quasi column is published"),
        (lambda said: said["age"].update(high="AGE_LOW"), "two published columns have one name"),
    ],
)
def test_a_hostile_manifest_is_refused(tmp_path, change, words):
    folder = write_release(tmp_path / "r", **SLIDES)
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest["parameters"]["published"])
    (folder / "release.json").write_text(manifest_text(manifest))
    with pytest.raises(sqlanon.ReleaseError, match=words):
        sqlanon.open(folder)
