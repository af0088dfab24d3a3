"""A question ends after its time, whatever the engine runs; the session goes on."""

import math
import time

import pytest

import sqlanon
from sqlanon.engines.connect import engine_of, open_engine
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.time_limit import time_limit
from sqlanon.errors import ResourceError, UsageError

ENDLESS = "select count(*) as n from range(100000000) a cross join range(100000000) b"


def test_a_statement_is_interrupted(con):
    engine = DuckDBEngine(con)
    started = time.monotonic()
    told = r"took more than 0.2 seconds and was interrupted; .* raise timeout"
    with pytest.raises(ResourceError, match=told), time_limit(engine, 0.2):
        engine.rows(ENDLESS)
    assert time.monotonic() - started < 20
    assert engine.rows("select 1 as one") == [{"one": 1}]


def test_so_is_one_that_begins_after_the_time(con):
    engine = DuckDBEngine(con)
    with pytest.raises(ResourceError), time_limit(engine, 0.05):
        time.sleep(0.2)
        engine.rows(ENDLESS)


def test_what_ends_in_time_is_left_alone(con):
    engine = DuckDBEngine(con)
    for seconds in (60, math.inf):
        with time_limit(engine, seconds):
            assert engine.rows("select 1 as one") == [{"one": 1}]
        with pytest.raises(UsageError, match="no_such_table"), time_limit(engine, seconds):
            engine.rows("select * from no_such_table")


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_no_time_is_refused(con, seconds):
    with (
        pytest.raises(UsageError, match="is no time; give seconds, more than 0"),
        time_limit(DuckDBEngine(con), seconds),
    ):
        pass


def test_a_slow_question_leaves_nothing_behind(con):
    con.execute("create table t as select range as id, range % 50 as age, 'd' || range % 5 as d from range(40000)")
    release = sqlanon.anatomy(con, "t", quasi=["age"], sensitive="d", id="id", l=4)
    before = con.execute("select count(*) from duckdb_tables()").fetchone()
    slow = "sum(damerau_levenshtein(concat(" + "sha256(age::text || '{0}'), " * 40 + "''), md5(d)))"
    items = ", ".join(slow.format(number) for number in range(20))
    with pytest.raises(sqlanon.SqlanonError, match="was interrupted"):
        release.estimate(f"select {items} from release", timeout=0.3)
    assert con.execute("select count(*) from duckdb_tables()").fetchone() == before
    assert release.estimate("select count(*) from release where d = 'd1'")["count"].tolist() == [8000]


DIGITS = " union all ".join(f"select {number} as digit" for number in range(10))


def count_pairs(letters: str) -> str:
    """Return a query that counts 10 rows to the power of one more than the letters."""
    joins = "".join(f" cross join digits as {letter}" for letter in letters)
    return f"with digits as ({DIGITS}) select count(*) as n from digits as a{joins}"


@pytest.mark.engines
def test_postgres_is_interrupted(server):
    engine = open_engine("postgres", dsn=server.new_database("hurried"))
    with pytest.raises(ResourceError), time_limit(engine, 0.2):
        engine.rows(count_pairs("bcdefghijklm"))
    assert engine.rows("select 1 as one") == [{"one": 1}]


@pytest.mark.engines
def test_spark_is_interrupted_and_keeps_its_group_of_jobs(spark):
    engine, context = engine_of(spark), spark.sparkContext
    context.setLocalProperty("spark.jobGroup.id", "the caller's")
    # the question ends at once; Spark lets tasks that look for no end run to theirs, so these have one
    with pytest.raises(ResourceError), time_limit(engine, 0.5):
        engine.rows(count_pairs("bcdefgh"))
    assert context.getLocalProperty("spark.jobGroup.id") == "the caller's"
    context.setLocalProperty("spark.jobGroup.id", None)
    assert engine.rows("select 1 as one") == [{"one": 1}]
