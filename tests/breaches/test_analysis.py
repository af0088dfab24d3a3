"""Breach analysis: the paper's figures, the worlds written down one by one, refusals, hostile names and values."""

import csv
import io
import json
from fractions import Fraction

import duckdb
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.plans.templates import ident
from tests.conftest import NASTY_NAMES, NASTY_VALUES, PAPERS
from tests.databases import connect, insert
from tests.examples import examples
from tests.oracles import worlds
from tests.pairs import read_pairs

FIGURE_1 = str(PAPERS / "views" / "figure_1.csv")
FIGURE_2 = str(PAPERS / "views" / "figure_2.csv")
VIEWS_1 = ["SELECT name, age FROM base", "SELECT age, job, problem FROM base"]
VIEWS_2 = ["SELECT a, b FROM base", "SELECT b, c FROM base"]


def found(con, base, views, secret, model="unrestricted"):
    """Return {(id, property): row} of an analysis, and the analysis."""
    breach = sqlanon.breach(con, base=base, views=views, secret=secret, model=model)
    frame = breach.df().astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return {(row["id"], row["property"]): row for row in rows}, breach


# -- the paper -----------------------------------------------------------------------------------------


def test_figure_1(con):
    rows, breach = found(con, FIGURE_1, VIEWS_1, "SELECT name, problem FROM base")
    george = rows["George", "HIV"]
    assert george["probability"] == pytest.approx(161 / 265, abs=george["error_bound"])
    assert (george["m"], george["n"], george["cover"]) == ([3], [3], 3)
    assert rows["Bill", "Cold"]["probability"] == rows["Alan", "Cold"]["probability"] == 1
    assert rows["Bill", "Cold"]["error_bound"] == 0
    assert list(found(con, FIGURE_1, VIEWS_1, "SELECT name, problem FROM base WHERE problem = 'HIV'")[0]) == [
        ("George", "HIV")
    ]
    assert breach.summary["associations"] == 5
    assert breach.summary["certain"] == 2
    assert breach.summary["max_probability"] == 1
    restricted, _ = found(con, FIGURE_1, VIEWS_1, "SELECT name, problem FROM base", "restricted")
    assert restricted["George", "HIV"]["probability"] == pytest.approx(1 / 3, abs=1e-16)
    assert restricted["Alan", "Cold"]["probability"] == 1


def test_figure_2(con):
    rows, _ = found(con, FIGURE_2, VIEWS_2, "SELECT a, c FROM base")
    assert {key: round(row["probability"], 15) for key, row in rows.items()} == dict.fromkeys(
        [("a1", "c1"), ("a2", "c2")], round(5 / 7, 15)
    )
    rows, _ = found(con, FIGURE_2, VIEWS_2, "SELECT a, c FROM base", "restricted")
    assert [row["probability"] for row in rows.values()] == [0.5, 0.5]


def test_components_of_one_id_are_independent_or_share_a_property(con):
    con.execute(
        "create table t as select * from (values ('a', 'x', 'p1'), ('a', 'x', 'p2'), ('a', 'y', 'p1'),"
        " ('a', 'y', 'p3'), ('b', 'x', 'p1'), ('c', 'y', 'p1')) as v(i, j, p)"
    ).fetchall()
    asked = (con, "t", ["SELECT i, j FROM t", "SELECT j, p FROM t"], "SELECT i, p FROM t WHERE i = 'a'")
    rows, breach = found(*asked)
    expected = {("a", "p1"): 45 / 49, ("a", "p2"): 5 / 7, ("a", "p3"): 5 / 7}
    assert {key: row["probability"] for key, row in rows.items()} == pytest.approx(expected, abs=1e-14)
    assert rows["a", "p1"]["m"] == [2, 2]
    assert rows["a", "p1"]["cover"] == 3
    assert any("1 ids have several properties" in note for note in breach.notes)
    rows, _ = found(*asked, "restricted")
    assert {key: row["probability"] for key, row in rows.items()} == {("a", "p1"): 1, ("a", "p2"): 0, ("a", "p3"): 0}


def test_contradictions_are_noted(con):
    con.execute(
        "create table t as select * from (values ('a', 'x', 'p1'), ('a', 'x', 'p2'), ('b', 'y', 'p1'),"
        " ('b', 'z', 'p2'), ('c', 'y', 'p1'), ('c', 'z', 'p2')) v(i, j, p)"
    ).fetchall()
    asked = (con, "t", ["SELECT i, j FROM t", "SELECT j, p FROM t"], "SELECT i, p FROM t")
    rows, _ = found(*asked, "restricted")
    assert rows["a", "p1"]["probability"] == 1
    assert "alone" in rows["a", "p1"]["note"]
    assert "no property under every join value" in rows["b", "p1"]["note"]


# -- worlds written down one by one --------------------------------------------------------------------

COLUMNS = ("i", "p", "j", "k", "w", "x")
ROW = st.fixed_dictionaries(
    dict.fromkeys("ip", st.integers(0, 2)) | dict.fromkeys("jkwx", st.sampled_from([0, 0, 1, 1, None]))
)
VIEW = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique=True)


def agrees(rows, views, conditions, model):
    """Compare an analysis with the oracle: probabilities within the bounds, notes where no world fits the model."""
    tests = [lambda line, c=c, v=v: line[c] == v for c, v in conditions.items()]
    wanted = worlds.probabilities(rows, views, "i", "p", tests, limit=10)
    assume(wanted is not None)
    with connect() as con:
        con.execute("create table t (i integer, p integer, j integer, k integer, w integer, x integer)")
        insert(con, "t", [[row[c] for c in COLUMNS] for row in rows])
        where = " WHERE " + " AND ".join(f"{c} = {v}" for c, v in conditions.items()) if conditions else ""
        definitions = [f"SELECT {', '.join(view)} FROM t" for view in views]
        got, _ = found(con, "t", definitions, f"SELECT i, p FROM base{where}", model)
    assert set(got) == set(wanted)
    for pair, (free, single) in wanted.items():
        row = got[pair]
        exact = free if model == "unrestricted" or single is None else single
        assert abs(Fraction(row["probability"]) - exact) <= row["error_bound"] + Fraction(1, 2**60), (pair, row, exact)
        assert (row["note"] is not None) == (model == "restricted" and single is None)
        assert row["error_bound"] <= 1e-14


SETTINGS = examples(20, *HealthCheck)


@given(
    rows=st.lists(ROW, min_size=1, max_size=4),
    one=VIEW,
    two=VIEW,
    conditions=st.dictionaries(st.sampled_from(COLUMNS), st.integers(0, 1), max_size=2),
    model=st.sampled_from(["unrestricted", "restricted"]),
)
@SETTINGS
def test_two_views_agree_with_their_worlds(rows, one, two, conditions, model):
    views = [["i", *(c for c in one if c not in "ip")], ["p", *(c for c in two if c not in "ip")]]
    shown = set(views[0]) | set(views[1])
    agrees(rows, views, {c: v for c, v in conditions.items() if c in shown}, model)


@given(
    rows=st.lists(ROW, min_size=1, max_size=4),
    views=st.lists(VIEW, min_size=1, max_size=4),
    conditions=st.dictionaries(st.sampled_from(COLUMNS), st.integers(0, 1), max_size=2),
    model=st.sampled_from(["unrestricted", "restricted"]),
)
@SETTINGS
def test_any_views_agree_with_their_worlds(rows, views, conditions, model):
    shown = set().union(*views)
    assume({"i", "p"} <= shown)
    agrees(rows, views, {c: v for c, v in conditions.items() if c in shown}, model)


# -- what is refused -----------------------------------------------------------------------------------

REFUSED_VIEWS = read_pairs("refused_views") | {"": "0 statements"}


def test_views_that_are_no_projections_are_refused(patients):
    for view, words in REFUSED_VIEWS.items():
        views = ["SELECT ssn, age FROM patients", view]
        with pytest.raises(sqlanon.QueryError, match=words):
            sqlanon.breach(patients, base="patients", views=views, secret="SELECT ssn, disease FROM base")
    assert patients.execute("select count(*) from patients").fetchone()[0] == 600


def test_secrets_outside_the_grammar_are_refused(patients):
    views = ["SELECT ssn, age FROM patients", "SELECT age, disease FROM patients"]
    for secret, words in read_pairs("refused_secrets").items():
        with pytest.raises(sqlanon.QueryError, match=words):
            sqlanon.breach(patients, base="patients", views=views, secret=secret)


def test_other_requests_that_cannot_be_right(patients):
    asked = {"base": "patients", "views": ["SELECT ssn, disease FROM base"], "secret": "SELECT ssn, disease FROM base"}
    for wrong in ({"views": []}, {"model": "magic"}, {"base": "nothing"}):
        with pytest.raises(sqlanon.UsageError):
            sqlanon.breach(patients, **(asked | wrong))
    for named in ({"base": None}, {"query": "SELECT 1"}):
        with pytest.raises(sqlanon.UsageError, match="say"):
            sqlanon.breach(patients, **(asked | named))
    patients.execute("create table nested as select ssn, [disease] as disease from patients").fetchall()
    with pytest.raises(sqlanon.UsageError, match="nested"):
        sqlanon.breach(patients, **(asked | {"base": "nested"}))


# -- names, values, types, sources ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NASTY_NAMES[:3])
def test_any_column_and_table_name_works(con, name):
    names, table = ", ".join(map(ident, NASTY_NAMES)), ident(name)
    con.execute(f"create table {table} as select * from (values (1, 'a'), (2, 'b')) v(i, p),"
                f" (select {', '.join(f'7 as {ident(one)}' for one in NASTY_NAMES)})").fetchall()  # fmt: skip
    views = [f"SELECT i, {names} FROM base", f"SELECT {names}, p FROM {table}"]
    where = " AND ".join(f"{ident(one)} = 7" for one in NASTY_NAMES)
    rows, _ = found(con, name, views, f"SELECT i, p FROM base WHERE {where}")
    assert rows[1, "a"]["probability"] == pytest.approx(5 / 7)


def test_any_value_works_and_is_not_run(con):
    con.execute("create table t (i varchar, j varchar, p varchar)").fetchall()
    insert(con, "t", [(value, value, value) for value in NASTY_VALUES])
    insert(con, "t", [(f"other {value}", value, "other") for value in NASTY_VALUES])
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in NASTY_VALUES)
    secret = f"SELECT i, p FROM t WHERE p IN ({listed})"
    rows, _ = found(con, "t", ["SELECT i, j FROM t", "SELECT j, p FROM t"], secret)
    assert {value for _, value in rows} == set(NASTY_VALUES)
    assert all(rows[value, value]["probability"] == pytest.approx(5 / 7) for value in NASTY_VALUES)


KINDS = ["date", "timestamptz", "decimal(9, 2)", "double", "boolean", "hugeint", "uuid", "time", "enum", "blob"]


@pytest.mark.parametrize(("one", "other"), [*zip(KINDS[::2], KINDS[1::2], strict=True)])
def test_any_scalar_type_works(con, one, other):
    con.execute("create type grade as enum ('1', '0')").fetchall()
    cast = {"date": "date '2020-01-01' + i::int", "timestamptz": "timestamptz '2020-01-01' + to_days(i::int)"}
    cast |= {"uuid": "md5(i::varchar)::uuid", "time": "time '10:00' + to_hours(i)", "enum": "i::varchar::grade"}
    cast |= {"blob": "i::varchar::blob"}
    values = [cast.get(kind, f"i::{kind}") for kind in (one, other)]
    con.execute(f"create table t as select {values[0]} as i, {values[1]} as p, 1 as j from range(2) r(i)").fetchall()
    for i, p in (("i", "p"), ("p", "i")):
        views = [f"SELECT {i}, j FROM t", f"SELECT j, {p} FROM t"]
        breach = sqlanon.breach(con, base="t", views=views, secret=f"SELECT {i}, {p} FROM t")
        assert breach.df()["probability"].tolist() == pytest.approx([5 / 7, 5 / 7])


def test_frames_patterns_and_queries_are_bases(con, tmp_path):
    frame = pd.DataFrame({"a": ["a1", "a2"], "b": ["b1", "b1"], "c": ["c1", "c2"]})
    frame.to_parquet(tmp_path / "t.parquet")
    for base in ({"base": frame}, {"query": f"SELECT * FROM '{tmp_path}/*.parquet' WHERE c <> 'c3'"}):
        breach = sqlanon.breach(con, **base, views=VIEWS_2, secret="SELECT a, c FROM base WHERE a = 'a1' AND c = 'c1'")
        assert breach.df()["probability"].tolist() == [pytest.approx(5 / 7)]


def test_a_table_with_a_schema_is_called_by_either_name(con):
    con.execute("create schema ward; create table ward.t as select 1 as i, 2 as p").fetchall()
    views = [f"SELECT i, p FROM {name}" for name in ("ward.t", "t", "base", "WARD.T")]
    rows, _ = found(con, "ward.t", views, "SELECT i, p FROM t as x")
    assert rows[1, 2]["probability"] == 1


def test_a_file_is_called_base_and_nothing_else(con):
    for name in ("csv", "figure_2", "'figure_2.csv'", f"'{FIGURE_2}'"):
        with pytest.raises(sqlanon.QueryError, match="one table to read: base"):
            found(con, FIGURE_2, [f"SELECT a, b FROM {name}"], "SELECT a, c FROM base")


# -- engines -------------------------------------------------------------------------------------------

PEOPLE = [(i, 20 + i * 7 % 30, f"d{i % 8}" if i % 5 else None, i % 3, f"s{i % 2}") for i in range(300)]
PEOPLE += [(i, 50, "d1", 1, "s0") for i in range(40)]  # ids in several components
VIEWS_3 = ["SELECT ssn, age, w FROM people", "SELECT age, disease, sex FROM people"]
ELSEWHERE = [
    (VIEWS_3, "SELECT ssn, disease FROM people"),
    (VIEWS_3, "SELECT ssn, disease FROM people WHERE w = 1 AND sex = 's0'"),
    (["SELECT ssn, sex FROM people", "SELECT age, disease FROM people"], "SELECT ssn, disease FROM people"),
    (["SELECT ssn, age FROM people WHERE age > 25", "SELECT age, disease FROM people WHERE age IN (20, 30, 50)"],
     "SELECT ssn, disease FROM people"),
]  # fmt: skip


CHAIN = ["SELECT ssn, age FROM base", "SELECT age, w FROM base", "SELECT w, disease FROM base"]
ALL_SECRETS = "SELECT ssn, disease FROM base"
# enumerated twice, counted piece by piece, bounded
CHAINS = [("few", "unrestricted"), ("few", "restricted"), ("apart", "unrestricted"), ("people", "unrestricted")]
APART = "select i as ssn, i / 4 as age, 'd' || i % 3 as disease, i / 8 as w, 's' as sex from {} as r(i)"


@pytest.fixture
def people(con):
    """Make a table of people, and one of so few that their worlds are enumerated."""
    con.execute("create table people (ssn integer, age integer, disease varchar, w integer, sex varchar)")
    insert(con, "people", PEOPLE)
    con.execute("create table few as select * from people where ssn < 8").fetchall()
    con.execute("create table apart as {}".format(APART.replace("/", "//").format("range(2400)"))).fetchall()
    return con


def same_findings(here, there, base, views, secret, model):
    """Say whether two engines find the same associations, up to the rounding of logarithms, and note the same."""
    (rows, breach), (other_rows, other_breach) = (found(each, base, views, secret, model) for each in (here, there))
    assert rows and rows.keys() == other_rows.keys()
    for pair, row in rows.items():
        other = other_rows[pair]
        assert abs(row["probability"] - other["probability"]) <= row["error_bound"] + other["error_bound"]
        near = pytest.approx(other["error_bound"], abs=1e-13)
        assert row == other | {"probability": row["probability"], "error_bound": near}
    return breach.notes == other_breach.notes


def test_postgres_finds_the_same(people, server):
    import psycopg

    with psycopg.connect(server.new_database("views"), autocommit=True) as other:
        other.execute("create table people (ssn integer, age integer, disease varchar, w integer, sex varchar)")
        other.cursor().executemany("insert into people values (%s, %s, %s, %s, %s)", PEOPLE)
        other.execute("create table few as select * from people where ssn < 8")
        other.execute("create table apart as {}".format(APART.format("generate_series(0, 2399)")))
        # scripts of the others run there as well
        for (views, secret), model in zip(ELSEWHERE[::3], ("unrestricted", "restricted"), strict=True):
            assert same_findings(people, other, "people", views, secret, model)
        for base, model in CHAINS[1:]:
            assert same_findings(people, other, base, CHAIN, ALL_SECRETS, model)


def test_spark_finds_the_same(people, spark, tmp_path):
    spark = spark.newSession()  # other tests look at what stays in theirs
    people.execute(f"copy people to '{tmp_path}/people.parquet'").fetchall()
    spark.read.parquet(str(tmp_path / "people.parquet")).createOrReplaceTempView("people")
    assert same_findings(people, spark, "people", CHAIN, ALL_SECRETS, "unrestricted")


# -- the result ----------------------------------------------------------------------------------------


def test_the_relation_stays_and_can_be_joined(patients):
    views = ["SELECT ssn, age FROM patients", "SELECT age, disease FROM patients"]
    breach = sqlanon.breach(patients, base="patients", views=views, secret="SELECT ssn, disease FROM patients")
    relation = breach.relation
    assert relation.columns == ["id", "property", "m", "n", "cover", "probability", "error_bound", "note"]
    joined = patients.sql("select count(*) from relation join patients on id = ssn and property = disease").fetchall()
    assert joined[0][0] == breach.summary["associations"] == 600
    assert sum(breach.histogram()) == 600
    assert "duplicate rows" in breach.notes[0]
    assert len(breach.top(5)) == 5
    assert "most probable associations" in breach._repr_html_()
    breach.close()
    assert patients.execute("select count(*) from duckdb_tables() where temporary").fetchone()[0] == 0


ASKED = ["breach", "--database", "hospital.duckdb", "--base", "patients", "--view", "SELECT ssn, age FROM patients",
         "--view", "SELECT age, disease FROM patients", "--secret"]  # fmt: skip
SECRET = "SELECT ssn, disease FROM patients WHERE disease = 'd3'"
VIEWS_OF_A_QUERY = ["--view", "SELECT ssn, age FROM base", "--view", "SELECT age, disease FROM base"]


def test_formats_agree(shell):
    whole = json.loads(shell(*ASKED, SECRET, "--format", "json").stdout)
    assert set(whole) == {"associations", "summary"}
    first = whole["associations"][0]
    assert list(first) == ["id", "property", "m", "n", "cover", "probability", "error_bound", "note"]
    assert isinstance(first["m"], list) and first["note"] is None
    lines = list(csv.DictReader(io.StringIO(shell(*ASKED, SECRET, "--format", "csv").stdout)))
    assert [int(line["id"]) for line in lines] == [row["id"] for row in whole["associations"]]
    assert len(lines) == whole["summary"]["associations"] == 72
    shown = shell(*ASKED, SECRET).stdout
    assert "… and 52 more" in shown and "0.6 to 0.7" in shown and "█" in shown


def test_explanations_thresholds_and_empty_secrets(shell):
    asked = ["breach", "--base", FIGURE_2, *(f"--view={view}" for view in VIEWS_2), "--secret=SELECT a, c FROM base"]
    (component,) = json.loads(shell(*asked, "--explain", "a1", "c1", "--format", "json").stdout)["components"]
    counts = [component[name] for name in ("worlds", "interesting", "restricted_worlds", "restricted_interesting")]
    assert counts == [7, 5, 4, 2] and len(component["listed"]) == 7
    assert "4 edges, 7 worlds, 5 with a1–c1" in shell(*asked, "--explain", "a1", "c1").stdout
    unknown = shell(*asked, "--explain", "Nobody", "HIV")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "the base has no c 'C1'; did you mean 'c1'?" in shell(*asked, "--explain", "a1", "C1").stderr
    assert "takes an id and a property, with a blank between" in shell(*asked, "--explain", "a1,c1").stderr
    done = shell(*asked, "--threshold", 0.6)
    assert done.returncode == 3 and "of 2 associations are above 0.6 (the largest is 0.71428" in done.stderr
    assert shell(*asked, "--threshold", 0.72, "--cover", 2).returncode == 0
    done = shell(*asked, "--cover", 3, "--model", "restricted", "--threshold", 0.5)
    assert done.returncode == 3 and "above" not in done.stderr
    done = shell(*ASKED, "SELECT ssn, disease FROM patients WHERE disease = 'none'", "--format", "json")
    assert done.returncode == 0 and "the secret names no association" in done.stderr
    whole = json.loads(done.stdout)
    assert whole["associations"] == []
    assert whole["summary"] == {"associations": 0, "max_probability": None, "mean_probability": None, "certain": 0}


def test_associations_go_to_a_file_or_a_table_that_is_not_read(shell):
    for name in ("found.parquet", "found.csv"):
        assert shell(*ASKED, SECRET, "--out", name).returncode == 0
    for wrong, words in (
        (["--out", "found.csv"], "exists"),
        (["--out", "x.txt"], "x.txt"),
        (["--threshold", 1.5], "threshold"),
        (["--cover", 0], "cover"),
    ):
        done = shell(*ASKED, SECRET, *wrong)
        assert (done.returncode, done.stdout, words in done.stderr) == (2, "", True), done.stderr
    done = shell("breach", "--query", "SELECT * FROM 'patients.parquet'", *VIEWS_OF_A_QUERY, "--secret",
                 "SELECT ssn, disease FROM base", "--out", "patients.parquet", "--overwrite")  # fmt: skip
    assert done.returncode == 2 and "is what this run reads" in done.stderr
    assert shell(*ASKED, SECRET, "--out", "found.csv", "--overwrite").returncode == 0
    assert shell.left() == {"tmp", "hospital.duckdb", "patients.parquet", "found.parquet", "found.csv"}
    for name in ("found.parquet", "found.csv"):
        assert duckdb.sql(f"select count(*) from '{shell.folder / name}'").fetchall() == [(72,)]
    assert shell(*ASKED, SECRET, "--into", "found").returncode == 0
    with duckdb.connect(str(shell.folder / "hospital.duckdb")) as con:
        assert con.execute("select count(*) from found").fetchone()[0] == 72


def test_sql_prints_statements_without_numbers_of_the_data(shell):
    done = shell(*ASKED, SECRET, "--sql")
    assert done.returncode == 0 and done.stdout.count("create temporary") >= 15
    assert "600" not in done.stdout and "72" not in done.stdout and '"patients"' in done.stdout
