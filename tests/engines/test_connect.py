"""Engines that are not there, and connections that are none, are refused with what to do."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from sqlanon.engines.connect import engine_of, open_engine, open_reader
from sqlanon.errors import UsageError
from sqlanon.plans.plan import Statement
from tests.engines.hostile import PUBLISH, refused
from tests.servers import extra


@pytest.mark.engines
def test_without_java_spark_does_not_start(shell):
    extra("spark", "pyspark")
    run = shell(*PUBLISH, "--engine", "spark", "--out", "rel", PATH="", JAVA_HOME="")
    refused(run, "Spark needs a Java runtime")


def test_options_of_another_engine_are_refused(shell):
    refused(shell(*PUBLISH, "--engine", "spark", "--dsn", "x", "--out", "rel"), "--dsn is not for --engine spark")
    refused(shell(*PUBLISH, "--master", "local[2]", "--out", "rel"), "--master is not for --engine duckdb")
    refused(shell(*PUBLISH, "--engine", "postgres", "--threads", "2", "--into", "rel"), "--threads is not for")


@pytest.mark.parametrize(("engine", "library"), [("spark", "pyspark"), ("postgres", "psycopg")])
def test_a_missing_extra_says_what_to_type(engine, library):
    code = (
        f"import sys; sys.modules[{library!r}] = None\nfrom sqlanon.engines.connect import open_engine\n"
        f"from sqlanon.errors import UsageError\ntry: open_engine({engine!r})\nexcept UsageError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.count("\n") == 1 and f"pip install 'sqlanon[{engine}]'" in run.stdout


def test_what_is_no_connection_is_refused():
    with pytest.raises(UsageError, match="con of type dict is no connection of duckdb, spark, postgres"):
        engine_of({})
    assert open_engine("duckdb").dialect == "duckdb"


def test_threads_are_as_many_as_the_machine_has_use_for():
    engine = open_engine("duckdb", threads=1_000_000)
    ((threads,),) = engine.execute("select current_setting('threads')")
    assert threads <= 4 * os.cpu_count()


def test_no_bar_of_progress_stands_in_what_a_program_reads():
    # DuckDB's own would begin after two seconds, on standard output
    assert open_engine("duckdb").execute("select current_setting('enable_progress_bar')") == [(False,)]


def test_readers_of_one_process_see_nothing_of_each_other_and_every_file_as_it_is(con, tmp_path):
    one, other = open_reader(), open_reader()
    one.create(Statement("kept", "select 1 as a", "table", '"kept"'))
    one.register(pd.DataFrame({"a": [1]}))
    seen = "select table_name from duckdb_tables() union all select view_name from duckdb_views() where not internal"
    assert one.rows(seen) and not other.rows(seen)
    path = tmp_path / "t.parquet"
    for number in range(3):
        con.execute(f"copy (select {number} as a) to '{path}'").fetchall()
        assert [each.rows(f"select a from '{path}'") for each in (one, other)] == [[{"a": number}]] * 2
    one.connection.close()
    assert other.rows("select 2 as a") == [{"a": 2}]
