"""Compare: truths and errors by an independent count, nothing left behind, the target, input that cannot be."""

import math
import re
import statistics

import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import DataError, QueryError, SourceError, UsageError
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import connect

pytestmark = pytest.mark.xdist_group("compare")  # one comparison serves several tests
ROLES = {"quasi": ["age", "sex", "born"], "sensitive": "disease", "quick": True}


def people(rows=400):
    con = connect()
    con.execute(
        "create table people as select 'p' || i as ssn, (i * 7) % 40 as age, if(i % 3 = 0, 'F', 'M') as sex,"
        " date '1990-01-01' + cast(i % 4 as integer) * 31 as born,"
        f" ['flu', 'cold', 'gout', 'acne', 'ulcer'][1 + (i * i + i // 7) % 5] as disease from range({rows}) as r(i)"
    )
    return con


@pytest.fixture(scope="module")
def compared():
    con = people()
    before = con.execute("select count(*) from duckdb_tables()").fetchone()
    found = sqlanon.compare(con, "people", **ROLES, id="ssn", l=[2, 3], gamma=2, queries=16, target_error=0.9)
    assert con.execute("select count(*) from duckdb_tables()").fetchone() == before
    return con, found


def test_every_truth_is_the_sources(compared):
    con, found = compared
    asked = found.answers.drop_duplicates("query")
    assert len(asked) == 16
    assert set(asked["workload"]) == {"ranges", "conjunctions", "groups", "averages"}
    by_candidate = found.answers[found.answers["parameter"] == "l = 2"]
    for text, lines in by_candidate[by_candidate["method"] == "anatomy"].groupby("text"):
        truths = [row[-1] for row in con.execute(text.replace("from release", "from people")).fetchall()]
        assert sorted(lines["truth"]) == pytest.approx(sorted(truths))
        assert len(truths) == 1 or " group by " in text
    assert (asked[asked["workload"] == "conjunctions"]["truth"] > 0).all()


def test_errors_and_coverage_are_what_their_names_say(compared):
    _, found = compared
    lines = found.df()
    assert lines["method"].unique().tolist() == ["anatomy", "robust", "splu", "mondrian"]
    for line in lines.itertuples():
        own = [
            one for one in found.answers.itertuples()
            if (one.method, one.parameter, one.workload, one.selectivity, one.truth > 0)
            == (line.method, line.parameter, line.workload, line.selectivity, True)
        ]  # fmt: skip
        errors = [abs(one.estimate - one.truth) / one.truth for one in own]
        assert len({one.query for one in own}) == line.queries
        assert line.median_relative_error == pytest.approx(statistics.median(errors))
        assert line.mean_relative_error == pytest.approx(statistics.mean(errors))
        inside = [one.low <= one.truth <= one.high for one in own if one.low == one.low]  # a group that lacks has none
        held = sum(inside) / len(inside) if inside else math.nan
        assert line.coverage == pytest.approx(held, abs=1e-9, nan_ok=True)
        assert {one.selectivity for one in own} == {"1 to 10 rows"} or all(one.truth > 10 for one in own)


def test_the_command_is_the_strongest_promise_within_the_target(compared):
    _, found = compared
    within = [line for line in found.overall if line["error"] <= 0.9]
    strongest = max(int(line["parameter"].split()[-1]) for line in within)
    assert strongest == 3
    words = found.command.split()
    assert words[:4] == ["sqlanon", "publish", "robust", "people"]
    assert words[words.index("-r") + 1] == "3"
    assert words[-2:] == ["--out", "release"]
    assert found.summary.count(". ") == 1
    for line in found.overall:
        own = [
            abs(one.estimate - one.truth) / one.truth for one in found.answers.itertuples()
            if (one.method, one.parameter) == (line["candidate"], line["parameter"]) and one.truth > 10 and one.answered
        ]  # fmt: skip
        # what has no answer is off by 100 %
        assert line["error"] == pytest.approx(line["unanswered"] + (1 - line["unanswered"]) * statistics.median(own))
    assert "robust (r = 3)" in found.summary


def test_the_same_seed_asks_the_same_queries():
    con = people(200)
    asked = [
        sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=2, queries=12, seed=seed).answers["text"].tolist()
        for seed in (1, 1, 2)
    ]
    assert asked[0] == asked[1] != asked[2]


def test_a_range_holds_a_share_of_a_columns_values_and_the_paper_has_sets():
    con = people(200)
    roles = {**ROLES, "methods": "anatomy", "l": 2, "queries": 40}
    asked = sqlanon.compare(con, "people", **roles).answers.drop_duplicates("query")
    ranges = asked[asked["workload"] == "ranges"]["text"]
    ends = [re.search('"age" between ([0-9]+) and ([0-9]+)', text) for text in ranges]
    widths = {int(end[2]) - int(end[1]) + 1 for end in ends if end}
    assert widths == {4, 10, 20} and len(ranges) == 16  # of 40 values
    counts = asked["workload"].value_counts().to_dict()
    assert sum(counts.values()) == asked["text"].nunique() <= 40  # nothing is asked twice
    assert counts["conjunctions"] >= 16
    assert 1 <= counts["groups"] <= 4 and 1 <= counts["averages"] <= 4
    assert all(re.search("\"disease\" = '[a-z]+'", text) for text in ranges)
    assert {len(text.split(" and ")) - ("between" in text) for text in ranges} == {2, 3}
    sets = sqlanon.compare(con, "people", **{**roles, "queries": 12}, workload="paper").answers.drop_duplicates("query")
    assert set(sets["workload"]) == {"sets", "conjunctions"}
    with pytest.raises(UsageError, match="workload = 'mine' is none of analysts, paper"):
        sqlanon.compare(con, "people", **roles, workload="mine")


def test_a_file_of_queries_names_what_it_leaves_out(tmp_path):
    con = people(200)
    path = tmp_path / "ours.sql"
    path.write_text("select sex, count(*) n, avg(age) from release where disease = 'flu' group by sex;\n\n"
                    "select count(*) from elsewhere;\nselect sum(age) from release limit 2")  # fmt: skip
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=2, queries=str(path))
    assert [note.partition(":")[0] for note in found.notes] == ["line 3", "line 4"]
    truth = con.execute(
        "select count(*), avg(age) from people where disease = 'flu' group by sex order by sex"
    ).fetchall()
    by_figure = found.answers.groupby("figure")["truth"].apply(sorted).to_dict()
    assert by_figure["n"] == sorted(row[0] for row in truth)
    assert by_figure["avg"] == pytest.approx(sorted(row[1] for row in truth))
    assert "sums, averages" in set(found.df()["selectivity"])
    path.write_text("select 1")
    with pytest.raises(QueryError, match=r"no query of .* can be compared: line 1: "):
        sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=2, queries=str(path))
    with pytest.raises(SourceError, match="cannot read the queries"):
        sqlanon.compare(con, "people", **ROLES, queries=str(tmp_path / "missing.sql"))


OWN_QUERIES = [  # of analysts, whose counts over one column a condition are counted together
    "count(*) from release",
    "count(*) from release r where r.AGE between 3 and 20 and (disease = 'flu' or disease = 'gout')",
    'count(*) as "N" from release where (age > 3 and age < 30) and "sex" in (\'F\') and not born is null',
    "count(*) from (select * from release where age < 20) where disease <> 'flu'",
    "count(*) from release where age % 2 = 0 and 1 = 1",
    "count(*) from release where age > 10 or disease = 'flu'",
    "count(*) from release where disease = sex or age = 3",
    "count(*) from release where born >= date '1990-03-01' and age is not null and age > 35",
    "count(*) filter (where sex = 'F') from release where age > 20",
    "count(distinct age) from release where disease = 'flu'",
    "count(age) from release where age > 20",
    "count(*) + 1 from release where age > 20",
    "count(*) a, count(*) b from release where age > 20",
    "count(*), sum(age) from release where disease = 'cold'",
    "sex, count(*) from release where disease = 'cold' group by sex",
    "count(*) from release where cast(sex as integer) = 1 and age > 3",
]


def test_queries_that_are_counted_together_have_the_answers_of_each_alone(tmp_path):
    con, path = people(200), tmp_path / "ours.sql"
    con.execute("insert into people values ('p201', 12, NULL, NULL, 'flu'), ('p202', NULL, 'F', NULL, 'gout')")
    path.write_text(";\n".join(f"select {query}" for query in OWN_QUERIES))
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=2, queries=str(path))
    refused = {int(note.split()[1].rstrip(":")) for note in found.notes if note.startswith("line")}
    assert len(OWN_QUERIES) in refused  # a cast that no value allows
    for number, query in enumerate(OWN_QUERIES, start=1):
        if number not in refused:
            truth = con.execute(f"select {query.replace('release', 'people')}").df().select_dtypes("number")
            asked = found.answers[found.answers["text"] == f"select {query}"]
            assert sorted(asked["truth"]) == sorted(truth.to_numpy(dtype=float).ravel()), query
    assert len(refused) <= 3


def test_a_usual_strength_that_is_not_possible_gives_way_to_the_largest_that_is():
    con, few = people(90), {"queries": 6, "methods": "anatomy,splu"}
    con.execute("create table frequent as select * replace (if(rowid % 7 < 2, 'x', disease) as disease) from people")
    found = sqlanon.compare(con, "frequent", **ROLES, **few)
    assert {line[1] for line in found.shown()[1]} == {"l = 3", "gamma = 3"} and found.failed == ()
    assert sorted(note.partition(":")[0] for note in found.notes if "is left out" in note) == [
        "anatomy, l = 5 is left out, l = 3 compared in its place",
        "splu, gamma = 5 is left out, gamma = 3 compared in its place",
    ]
    # several usual values give way to one
    searched = sqlanon.compare(con, "frequent", **{**ROLES, **few, "methods": "anatomy", "quick": False, "resist": 0.3})
    assert [line[1] for line in searched.shown()[1]] == ["l = 3"]
    assert len([note for note in searched.notes if "l = 3 compared in its place" in note]) == 3
    # what the user names is tried as it is
    with pytest.raises(DataError, match="l = 5 is not possible"):
        sqlanon.compare(con, "frequent", **ROLES, queries=6, methods="anatomy", l=5)


def test_what_this_data_does_not_allow_is_left_out_and_said():
    con = people(100)
    found = sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=[4, 90], queries=6, target_error=1e-9)
    assert [note for note in found.notes if note.startswith("anatomy, l = 90 is left out: ")]
    heads, lines = found.shown()
    assert [line[:3] for line in lines] == [["anatomy", "l = 4", "25.0%"], ["anatomy", "l = 90", "not possible"]]
    assert all(len(line) == len(heads) for line in lines)
    assert [line[:2] for line in found.failed] == [("anatomy", "l = 90")] and "l = 90" in found.failed[0][2]
    assert (found.holds, found.command) == (False, "")
    assert any(note.startswith("no error is at most 1e-09; the nearest is ") for note in found.notes)
    with pytest.raises(DataError, match="l = 90"):
        sqlanon.compare(con, "people", **ROLES, methods="anatomy", l=90, queries=6)


def test_several_sensitive_columns_are_compared_by_every_method_that_takes_them():
    con = people(120)
    con.execute("alter table people add column ward varchar")
    con.execute("update people set ward = 'w' || cast(substr(ssn, 2) as integer) * 5 % 7")
    asked = {
        "quasi": ["age", "sex"],
        "sensitive": ["disease", "ward"],
        "id": "ssn",
        "l": 2,
        "queries": 4,
        "quick": True,
    }
    found = sqlanon.compare(con, "people", **asked, methods="robust,mondrian")
    assert not [note for note in found.notes if "is left out" in note]
    assert {(line["method"], line["parameter"]) for line in found.lines} == {
        ("robust", "r = 2"),
        ("mondrian", "l = 2"),
    }
    sensitive = {column for query in found.answers["text"] for column in ("disease", "ward") if column in query}
    assert sensitive == {"disease", "ward"}


def test_hostile_names_and_values():
    con = connect()
    names = [name for name in NASTY_NAMES if "\0" not in name][:6]
    rows = [[NASTY_VALUES[(i * (n + 1) + i // 5) % len(NASTY_VALUES)] for n in range(6)] for i in range(120)]
    frame = pd.DataFrame(rows, columns=names)
    con.register("hostile", frame)
    found = sqlanon.compare(
        con, "hostile", quasi=[names[0], names[1]], sensitive=names[2], methods="anatomy", l=2, queries=16
    )
    for line in found.answers.itertuples():
        where = line.text.partition(" where ")[2]
        assert con.execute(f"select count(*) from hostile where {where}").fetchone() == (line.truth,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"methods": "anatomy,magic"}, "methods names 'magic'"),
        ({"l": "3,x"}, "nor several, for example 3,5,10"),
        ({"l": 1}, "at least 2"),
        ({"gamma": []}, "at least 2"),
        (
            {"methods": "anatomy,dbr"},
            'methods="dbr" was removed in 0.3.0; compare holds against each other what can be',
        ),
        ({"queries": 0}, "a number from 1"),
        ({"target_error": 1.0}, "between 0 and 1"),
        ({"nulls": "maybe"}, "nulls = 'maybe' is none of refuse, value, drop"),
        ({"sensitive": "age"}, "one role"),
        ({"quasi": "nowhere"}, "no column 'nowhere'"),
    ],
)
def test_what_cannot_be_compared(given, message):
    with pytest.raises(UsageError, match=message):
        sqlanon.compare(people(10), "people", **{**ROLES, **given})


def test_nobody_and_nothing():
    con = people(0)
    with pytest.raises(DataError, match="no rows"):
        sqlanon.compare(con, "people", **ROLES)
    con.execute("insert into people select 'a', null, null, null, 'flu'")
    with pytest.raises(DataError, match="nothing to ask"):
        sqlanon.compare(con, "people", **ROLES)


def test_columns_that_say_nothing():
    con = connect()
    con.execute(
        "create table people as select (i * 7) % 40 as age, 1 as constant, null::integer as nothing, [i] as nested,"
        " 'x' || i % 5 as disease, i // 2 as person from range(200) as r(i)"
    )
    asked = {"methods": "anatomy,mondrian", "l": 2, "queries": 8, "quick": True}
    for quasi in ("constant", ["age", "nothing"]):
        found = sqlanon.compare(con, "people", quasi=quasi, sensitive="disease", **asked)
        assert not found.answers["truth"].isna().any()
    for quasi, sensitive, words in (
        ("nothing", "disease", "nothing to ask"),
        ("age", "nothing", "nothing to ask"),
        ("age", "constant", "is not possible"),
    ):
        with pytest.raises(DataError, match=words):
            sqlanon.compare(con, "people", quasi=quasi, sensitive=sensitive, **asked)
    with pytest.raises(UsageError, match="nested values"):
        sqlanon.compare(con, "people", quasi="nested", sensitive="disease", **asked)
    with pytest.raises(DataError, match="more than one row"):
        sqlanon.compare(
            con, "people", quasi="age", sensitive="disease", id="person", methods="anatomy", l=2, quick=True
        )
    with pytest.raises(DataError, match="the largest k that works is 200"):
        sqlanon.compare(con, "people", quasi="age", sensitive="disease", methods="mondrian", l=1000, quick=True)


def test_the_command_line(shell):
    con = people(150)
    con.execute(f"copy people to '{shell.folder}/people.parquet'")
    line = ("compare", "people.parquet", "--quasi", "age,sex", "--sensitive", "disease", "--methods", "anatomy,splu",
            "--l", "2", "--gamma", "2", "--queries", "8", "--quick")  # fmt: skip
    run = shell(*line, "--target-error", "0.99")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("method ")
    assert "Answers, small counts aside, are off by" in run.stdout
    assert "sqlanon publish " in run.stderr
    assert shell(*line, "--target-error", "0.0000001").returncode == 3
    assert shell(*line, "--sql").returncode == 2


def test_the_confidence_beside_each_error(compared):
    _, found = compared
    by_candidate = found.df().groupby(["method", "parameter"], sort=False)["confidence"].first().to_dict()
    assert by_candidate["anatomy", "l = 3"] == by_candidate["robust", "r = 3"] == pytest.approx(1 / 3)
    assert by_candidate["splu", "gamma = 2"] == 1 / 2
    assert by_candidate["mondrian", "l = 3"] <= 1 / 3  # no value stands in more than a third of a box


def test_values_that_nothing_tells_apart_have_intervals_that_hold():
    con = connect()
    con.execute("create table people as select i as ssn, i % 5 as age, 'd' || i % 2 as disease from range(40) r(i)")
    # every group has both values, and tells them apart nowhere
    found = sqlanon.compare(
        con, "people", quasi="age", sensitive="disease", methods="anatomy", l=2, queries=6, quick=True
    )
    assert "its 95 % intervals hold" in found.summary


def test_counts_of_all_sizes_are_asked():
    con = people(3000)
    roles = {**ROLES, "methods": "anatomy", "l": 2, "queries": 100}
    asked = sqlanon.compare(con, "people", **roles).answers.drop_duplicates("query")
    for kind in ("ranges", "conjunctions"):
        sizes = asked[asked["workload"] == kind]["selectivity"].value_counts()
        assert len(sizes) >= 3 and sizes.min() >= 4, sizes


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_infinite_dates_are_refused_with_their_column_and_the_way(kind):
    con = connect()
    con.execute(
        f"create table t as select case when i = 5 then 'infinity'::{kind} else date '2024-01-01' + i % 40 end as seen,"
        " i as pid, 'd' || i % 6 as d from range(300) r(i)".replace("i % 40", "(i % 40)::int")
    )
    says = r"1 row has an infinite date in 'seen'; read the column as CASE WHEN isfinite\(seen\)"
    with pytest.raises(sqlanon.DataError, match=says):
        sqlanon.compare(con, "t", quasi="seen", sensitive="d", id="pid", quick=True)
    release = sqlanon.mondrian(con, "t", quasi="seen", sensitive="d", id="pid", k=5)
    if kind == "date":
        with pytest.raises(sqlanon.DataError, match=says):
            release.verify(voters="t")
    else:
        assert release.verify(voters="t").holds
