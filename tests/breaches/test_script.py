"""Scripts of breach analyses: what they make is what the analysis finds, on each engine whose shell can be had."""

import pytest
import sqlglot

import sqlanon
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.templates import ident
from tests.breaches.test_analysis import ALL_SECRETS, CHAIN, ELSEWHERE, PEOPLE, found
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import connect, insert

SIMPLE = ["SELECT ssn, age, w FROM base", "SELECT age, w, disease FROM base"]
COLUMNS = "ssn integer, age integer, disease varchar, w integer, sex varchar"
TOGETHER = ["SELECT ssn, disease, age FROM people", "SELECT age, w FROM people"]
THREE = ["SELECT ssn, age, w FROM people", "SELECT age, disease FROM people", "SELECT age, sex FROM people"]
ASKED = [
    (SIMPLE, ALL_SECRETS, "unrestricted"),
    (SIMPLE, ALL_SECRETS, "restricted"),
    (*ELSEWHERE[3], "unrestricted"),
    (*ELSEWHERE[1], "restricted"),
    (TOGETHER, f"{ALL_SECRETS} WHERE w = 1", "restricted"),
    (THREE, f"{ALL_SECRETS} WHERE w < 2 AND sex = 's0'", "unrestricted"),
    (CHAIN, ALL_SECRETS, "unrestricted"),
]


@pytest.fixture(scope="module")
def people():
    con = connect()
    con.execute(f"create table people ({COLUMNS})")
    insert(con, "people", PEOPLE)
    yield con
    con.close()


@pytest.fixture(scope="module")
def expected(people):
    return [found(people, "people", *asked)[0] for asked in ASKED]


def script_of(asked, dialect="duckdb") -> str:
    views, secret, model = asked
    return sqlanon.compile("breach", "people", views=views, secret=secret, model=model, dialect=dialect)


def fault_of(rows, expected) -> str:
    """Say where a script's table is not what the analysis found; nothing where it is."""
    by_pair = {(row[0], row[1]): row for row in rows}
    if len(rows) != len(expected) or by_pair.keys() != expected.keys():
        return "other associations"
    for pair, there in expected.items():
        _, _, m, n, cover, probability, error, note = by_pair[pair]
        # a piece is counted by the verb, and bounded by the script
        lies_within = abs(probability - there["probability"]) <= error + there["error_bound"]
        if there["m"] and not m and there["cover"] == cover and lies_within:
            continue
        sizes = [[int(size) for size in (text or "").split(",") if size] for text in (m, n)]
        if (*sizes, cover, note) != (there["m"], there["n"], there["cover"], there["note"]):
            return f"{by_pair[pair]} instead of {there}"
        if abs(probability - there["probability"]) > 1e-13 or abs(error - there["error_bound"]) > 1e-12:
            return f"{by_pair[pair]} instead of {there}"
    return ""


def test_the_script_makes_what_the_analysis_finds(people, expected):
    before = people.execute("select count(*) from duckdb_tables()").fetchone()
    for asked, there in zip(ASKED, expected, strict=True):
        people.execute(script_of(asked))
        assert not fault_of(people.execute("from sqlanon_breach").fetchall(), there)
        people.execute("drop table sqlanon_breach")
    assert people.execute("select count(*) from duckdb_tables()").fetchone() == before


def test_every_dialect_says_it():
    for dialect in ENGINES:
        text = script_of(ASKED[-1], dialect)
        made = [piece for piece in sqlglot.parse(text, read=dialect) if isinstance(piece, sqlglot.exp.Create)]
        assert made[-1].this.name == "sqlanon_breach"


def test_the_head_says_what_the_script_does_not():
    assert "counts no worlds" in script_of(ASKED[-1]) and "counts no worlds" not in script_of(ASKED[0])
    assert "does not look for duplicate rows" in script_of(ASKED[0])


def test_postgres_runs_the_scripts(expected, server):
    import psycopg

    with psycopg.connect(server.new_database("scripts_of_views"), autocommit=True) as con:
        con.execute(f"create table people ({COLUMNS})")
        con.cursor().executemany("insert into people values (%s, %s, %s, %s, %s)", PEOPLE)
        for asked, there in [*zip(ASKED, expected, strict=True)][-4:]:
            con.execute(script_of(asked, "postgres"))
            assert not fault_of(con.execute("select * from sqlanon_breach").fetchall(), there)
            con.execute("drop table sqlanon_breach")


def pieces(text: str) -> list[str]:
    return [piece for piece in text.split(";\n") if any(line[:2] not in ("", "--") for line in piece.splitlines())]


def test_spark_runs_a_script(expected, spark):
    spark = spark.newSession()  # other tests look at what stays in theirs
    frame = spark.createDataFrame(PEOPLE, "ssn int, age int, disease string, w int, sex string")
    frame.createOrReplaceTempView("people")
    try:
        for piece in pieces(script_of(ASKED[1], "spark")):
            spark.sql(piece)
        assert not fault_of([tuple(row) for row in spark.table("sqlanon_breach").collect()], expected[1])
    finally:
        spark.sql("drop table if exists sqlanon_breach")


def test_what_sql_cannot_answer_is_refused():
    for asked, reason in (
        ((THREE, ALL_SECRETS, "restricted"), "has no bounds"),
        ((CHAIN, ALL_SECRETS, "restricted"), "has no bounds"),
        ((["SELECT ssn FROM people; drop table people"], ALL_SECRETS, "unrestricted"), "2 statements"),
        ((["SELECT ssn, age FROM elsewhere"], ALL_SECRETS, "unrestricted"), "there is one table to read"),
        ((SIMPLE, ALL_SECRETS, "open"), "is none of unrestricted, restricted"),
        (([], ALL_SECRETS, "unrestricted"), "name the published views"),
    ):
        with pytest.raises(sqlanon.UsageError, match=reason):
            script_of(asked)
    with pytest.raises(sqlanon.UsageError, match="no script for postgres"):
        script_of(
            (SIMPLE, "SELECT ssn, disease FROM people WHERE regexp_matches(disease, 'd')", "unrestricted"), "postgres"
        )


def test_names_and_values_of_a_script_are_quoted(con):
    for name, value in ((NASTY_NAMES[0], NASTY_VALUES[0]), (NASTY_NAMES[12], NASTY_VALUES[10])):
        others = [other for other in ("ssn", "age") if other != name.lower()]
        rows = [(i, 20 + i % 3, value if i % 2 else "d") for i in range(12)]
        con.execute(f"create or replace table people ({others[0]} integer, {others[1]} integer, {ident(name)} varchar)")
        insert(con, "people", rows)
        views = ["SELECT ssn, age FROM people", f"SELECT age, {ident(name)} FROM people"]
        literal = value.replace("'", "''")
        secret = f"SELECT ssn, {ident(name)} FROM people WHERE {ident(name)} = '{literal}'"
        there = found(con, "people", views, secret)[0]
        con.execute(script_of((views, secret, "unrestricted")))
        assert not fault_of(con.execute("from sqlanon_breach").fetchall(), there)
        con.execute("drop table sqlanon_breach")
