"""DuckDB, Spark and PostgreSQL: the same key gives the same release, the same proofs and the same estimates."""

import datetime
import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.engines.connect import engine_of, opened
from sqlanon.errors import DataError, QueryError, SourceError, TargetError, UsageError
from sqlanon.plans.templates import ident
from tests import cluster
from tests.conftest import NASTY_NAMES, NASTY_VALUES

KEY = "ab" * 32
VALUES = [*NASTY_VALUES, None, "é", "e\u0301", "a\\b", "AB", "ab", "Z", "a z", "a-b"]
SENSITIVE = "sens'it\"ive"
IDENTIFIERS = {"who `is` \\ it": "varchar", "number": "bigint", "born": "date", "paid": "decimal(12, 2)"}
COLUMNS = {
    **dict.fromkeys(NASTY_NAMES, "varchar"),
    "age": "integer",
    "seen": "date",
    "price": "decimal(9, 2)",
    SENSITIVE: "varchar",
    **IDENTIFIERS,
}
QUASI = [name for name in COLUMNS if name not in (SENSITIVE, *IDENTIFIERS)]
ASKED = {"quasi": QUASI, "sensitive": SENSITIVE, "l": 3, "nulls": "value"}
QUERIES = [
    "SELECT COUNT(*) FROM release WHERE age >= 40",
    f"SELECT {ident(SENSITIVE)} AS s, COUNT(*), AVG(age / 2) FROM release WHERE age BETWEEN 20 AND 55"
    f" GROUP BY {ident(SENSITIVE)} ORDER BY s",
    f"SELECT COUNT(*) AS n FROM release WHERE {ident(SENSITIVE)} IN ('Z', 'ab') OR age < 30",
]


def a_row(i: int) -> list[object]:
    day = datetime.date(1950, 1, 31) + datetime.timedelta(days=37 * i)
    quasi = [VALUES[(i * (place + 3) + i // 7) % len(VALUES)] for place in range(len(NASTY_NAMES))]
    numbers = [None if i % 13 == 0 else 18 + i % 50, None if i % 17 == 0 else day, Decimal(i % 40) / 4]
    person = [f"{i}é\\", i * 10_000_000_000, day, Decimal(i) / 100]
    return [*quasi, *numbers, VALUES[i * i % len(VALUES)], *person]


ROWS = [a_row(i) for i in range(240)]


def rows_of(release: sqlanon.Release) -> dict[str, list[str]]:
    """Return a release's tables as multisets, read by whatever engine the release is opened on."""
    relations = {name: release.engine.rows(f"select * from {table}") for name, table in release.tables.items()}
    return {name: sorted(repr(tuple(row.values())) for row in rows) for name, rows in relations.items()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return a DuckDB connection with the table `hostile`, and its Parquet file."""
    con = duckdb.connect()
    con.execute(f"create table hostile ({', '.join(f'{ident(name)} {kind}' for name, kind in COLUMNS.items())})")
    con.executemany(f"insert into hostile values ({', '.join('?' * len(COLUMNS))})", ROWS)
    path = tmp_path_factory.mktemp("source") / "hostile [1].parquet"
    con.execute(f"copy hostile to '{path}'").fetchall()
    yield con, path
    con.close()


@pytest.fixture(scope="module")
def expected(source):
    """Publish with DuckDB."""
    return sqlanon.anatomy(source[0], "hostile", id=IDENTIFIERS, key=KEY, **ASKED)


RANDOMIZED = {"nulls": "value", "id": IDENTIFIERS, "key": KEY}


@pytest.fixture(scope="module")
def randomized(source):
    """Publish randomized values with DuckDB: several attributes, and one whose residue is dropped."""
    name = NASTY_NAMES[0]
    quasi = [column for column in QUASI if column != name]
    several = {**RANDOMIZED, "quasi": quasi, "sensitive": [SENSITIVE, name], "gamma": {SENSITIVE: 3, name: 4}}
    one = {**RANDOMIZED, "quasi": quasi, "sensitive": name, "gamma": 7}
    return [(asked, sqlanon.splu(source[0], "hostile", **asked)) for asked in (several, one)]


@pytest.fixture(scope="module")
def classes(source):
    """Publish class by class with DuckDB: two backgrounds, and one with repair."""
    known = {**RANDOMIZED, "quasi": QUASI, "sensitive": SENSITIVE, "r": 2, "max_suppressed": 0.9}
    several = {**known, "background_from": [["ünï ©ode 漢字"], ["ünï ©ode 漢字", "a,b"]]}
    repaired = {**known, "background_from": [["back\\slash"]], "repair": 2}
    return [(asked, sqlanon.robust(source[0], "hostile", **asked)) for asked in (several, repaired)]


# -- PostgreSQL -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server():
    """Start a server with the table in a database that sorts as English does."""
    psycopg = pytest.importorskip("psycopg", reason="needs the extra postgres")
    if cluster.binaries() is None:
        pytest.skip("needs PostgreSQL's server programs, initdb and postgres")
    running = cluster.Cluster()
    try:
        with psycopg.connect(running.dsn(), autocommit=True) as con:
            con.execute("create role guest login password 'open sesame'")
            con.execute("create database shop template template0 locale_provider icu icu_locale 'en-US'")
        with psycopg.connect(running.dsn("shop"), autocommit=True) as con:
            con.execute(
                f"create table hostile ({', '.join(f'{ident(name)} {kind}' for name, kind in COLUMNS.items())})"
            )
            with con.cursor() as cursor, cursor.copy("copy hostile from stdin") as copy:
                for row in ROWS:
                    copy.write_row(row)
            con.execute(
                "create table patients as select i as ssn, i % 40 as age, 'd' || i % 8 as disease"
                " from generate_series(1, 400) as t(i)"
            )
            con.execute("grant select on patients to guest")
        yield running
    finally:
        running.close()


@pytest.fixture
def postgres(server):
    """Open a connection; what a test publishes is dropped after it."""
    import psycopg

    with psycopg.connect(server.dsn("shop"), autocommit=True) as con:
        yield con
    with psycopg.connect(server.dsn("shop"), autocommit=True) as con:
        con.execute("drop schema if exists release cascade")


def schemas(server) -> set[str]:
    import psycopg

    with psycopg.connect(server.dsn("shop"), autocommit=True) as con:
        names = con.execute("select nspname from pg_namespace where nspname !~ '^pg_|^information|^public'").fetchall()
        return {name for (name,) in names}


def test_postgres_publishes_what_duckdb_publishes(postgres, expected):
    release = sqlanon.anatomy(postgres, "public.hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
    assert rows_of(release) == rows_of(expected)
    left = postgres.execute("select count(*) from pg_class where relnamespace = pg_my_temp_schema()").fetchone()
    assert left == (0,), "intermediate tables went with the run"


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_postgres_reads_each_type_of_identifier_as_duckdb_does(postgres, source, identifier):
    asked = {**ASKED, "quasi": ["age"], "id": identifier, "key": KEY}
    release = sqlanon.anatomy(postgres, "hostile", **asked)
    assert rows_of(release) == rows_of(sqlanon.anatomy(source[0], "hostile", **asked))


def test_postgres_proves_and_estimates_as_duckdb_does(postgres, expected):
    sqlanon.anatomy(postgres, "hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
    release = sqlanon.open("release", con=postgres)
    report, wanted = release.verify(against="hostile"), expected.verify(against="hostile")
    assert report.holds and report.checks == wanted.checks
    assert {key: float(x) for key, x in report.figures.items()} == pytest.approx(dict(wanted.figures))
    for query in QUERIES:
        same_answer(release.estimate(query), expected.estimate(query))
        same_answer(release.estimate(query, "ridge"), expected.estimate(query, "ridge"))


def test_postgres_randomizes_as_duckdb_does(postgres, randomized):
    for asked, expected in randomized:
        release = sqlanon.splu(postgres, "hostile", **asked)
        assert rows_of(release) == rows_of(expected)
        assert release.manifest["dropped_rows"] == expected.manifest["dropped_rows"]
        assert release.verify(against="hostile").holds
        same_answer(release.estimate(QUERIES[0]), expected.estimate(QUERIES[0]))


def test_postgres_groups_class_by_class_as_duckdb_does(postgres, classes):
    for asked, expected in classes:
        release = sqlanon.robust(postgres, "hostile", **asked)
        assert rows_of(release) == rows_of(expected)
        assert release.manifest["dropped_rows"] == expected.manifest["dropped_rows"]
        report, wanted = release.verify(against="hostile"), expected.verify(against="hostile")
        assert report.holds and report.checks == wanted.checks
        for query in QUERIES:
            same_answer(release.estimate(query), expected.estimate(query))


def same_answer(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    assert list(found.columns) == list(wanted.columns) and len(found) == len(wanted)
    for column in wanted.columns:
        if pd.api.types.is_numeric_dtype(wanted[column]):
            np.testing.assert_allclose(found[column].astype(float), wanted[column].astype(float), rtol=1e-9, atol=1e-9)
        else:
            assert found[column].fillna("NULL").tolist() == wanted[column].fillna("NULL").tolist()


def a_background(column: str) -> str:
    """Return SQL for what an adversary may know: frequencies by one column, some of it left to be shared."""
    name, value = ident(column), ident(SENSITIVE)
    counted = f"select {name}, {value}, count(*) as n from hostile group by {name}, {value}"
    shared = f"cast(n as double precision) / sum(n) over (partition by {name}) as probability"
    listed = f"select {name}, {value}, {shared} from ({counted}) as counted"
    return f"select {name}, {value}, probability * 0.9 as probability from ({listed}) as listed"


KNOWN = (NASTY_NAMES[1], "seen", "price")  # text, dates, decimals, NULLs among them


def same_posteriors(found, wanted):
    assert found.posterior
    for one, other in zip(found.posterior, wanted.posterior, strict=False):
        same_answer(pd.DataFrame(one["sizes"]), pd.DataFrame(other["sizes"]))
        told = {key: value for key, value in one.items() if key not in ("background", "sizes")}
        assert told == {key: pytest.approx(other[key]) if isinstance(value, float) else other[key]
                        for key, value in told.items()}  # fmt: skip


@pytest.fixture(scope="module")
def exposed(source, expected, tmp_path_factory):
    """Return what DuckDB says of the release, and the backgrounds as files."""
    con, folder = source[0], tmp_path_factory.mktemp("backgrounds")
    files = []
    for number, column in enumerate(KNOWN):
        files.append(folder / f"known_{number}.parquet")
        con.execute(f"copy ({a_background(column)}) to '{files[-1]}'").fetchall()
    report = expected.verify(background=files, r=2)
    assert len(report.posterior) == 3 and report.posterior[0]["largest_posterior"] > 0.5
    return report, files


def test_postgres_finds_the_posteriors_that_duckdb_finds(postgres, expected, exposed):
    sqlanon.anatomy(postgres, "hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
    release = sqlanon.open("release", con=postgres)
    for number, column in enumerate(KNOWN):
        postgres.execute(f"create temporary table known_{number} as {a_background(column)}")
    report = release.verify(background=[f"known_{number}" for number in range(len(KNOWN))], r=2)
    same_posteriors(report, exposed[0])
    left = postgres.execute("select count(*) from pg_class where relnamespace = pg_my_temp_schema()").fetchone()
    assert left == (len(KNOWN),)
    columns = f"cast('NaN' as real) as probability, 1 as age, 'x' as {ident(SENSITIVE)}"
    postgres.execute(f"create temporary table wrong as select {columns}")
    with pytest.raises(UsageError, match="1 of 1 probabilities are not from 0 to 1"):
        release.verify(background="wrong")


def test_postgres_sees_rows_that_lie_in_another_order(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4, into="release")
    assert release.verify().holds
    postgres.execute("update release.qit set age = age where age = 3")  # the new versions lie behind
    (order,) = [check for check in release.verify().checks if check.name == "row_order"]
    assert order.holds is False


def test_a_fresh_key_needs_no_identifier_in_postgres(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4)
    assert release.manifest["rows"] == 400


def test_postgres_publishes_inside_the_callers_transaction(server, postgres):
    import psycopg

    with psycopg.connect(server.dsn("shop")) as con:
        con.execute("set datestyle = 'German'")
        sqlanon.anatomy(con, "patients", quasi="age", sensitive="disease", l=4, into="release")
        assert con.execute("show datestyle").fetchone()[0].startswith("German")
        assert "release" not in schemas(server)
        con.rollback()
    assert "release" not in schemas(server)


def test_postgres_replaces_a_release_and_nothing_else(server, postgres):
    asked = {"quasi": "age", "sensitive": "disease", "into": "release"}
    sqlanon.anatomy(postgres, "patients", l=4, **asked)
    postgres.execute("create table release.mine as select 1 as one")
    with pytest.raises(TargetError, match="say --overwrite"):
        sqlanon.anatomy(postgres, "patients", l=3, **asked)
    release = sqlanon.anatomy(postgres, "patients", l=3, overwrite=True, **asked)
    assert release.manifest["parameters"]["l"] == 3
    assert set(release.engine.tables("release")) == {"qit", "st", "manifest", "mine"}


def test_a_session_lost_in_mid_run_leaves_nothing(server, postgres, monkeypatch):
    import psycopg

    from sqlanon.engines.postgres import PostgresEngine

    create = PostgresEngine.create

    def until_the_end(self, statement, lasting=False):
        create(self, statement, lasting)
        if statement.name == "qit":
            with psycopg.connect(server.dsn("shop"), autocommit=True) as other:
                other.execute("select pg_terminate_backend(%s, 5000)", [self.connection.info.backend_pid])

    monkeypatch.setattr(PostgresEngine, "create", until_the_end)
    with pytest.raises(SourceError, match="session on the PostgreSQL server was lost; nothing was published"):
        sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4, into="release")
    assert "release" not in schemas(server)


def test_a_refusal_leaves_the_callers_session_as_it_was(postgres):
    with pytest.raises(DataError, match="not possible"):
        sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=9, into="release")
    assert postgres.execute("select 1").fetchone() == (1,)
    assert postgres.info.transaction_status == 0


def test_what_postgres_cannot_answer_alike_is_refused(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4)
    for condition in (
        "regexp_matches(disease, 'd1')",
        "disease LIKE 'd\\_'",
        "upper(disease) = 'D1'",
        "age // 10 = 2",
        "substr(disease, -1) = '1'",
        "CAST(age / 10 AS INTEGER) = 2",
    ):
        with pytest.raises(QueryError, match="postgres cannot run this: not portable"):
            release.estimate(f"SELECT COUNT(*) FROM release WHERE {condition}")


PUBLISH = ("publish", "anatomy", "patients", "--quasi", "age", "--sensitive", "disease", "-l", "4")
ENGINE = ("--engine", "postgres", "--into", "release")


def refused(run: subprocess.CompletedProcess[str], *words: str) -> None:
    """Look at one clear line and exit code 2; no password in it."""
    said = run.stdout + run.stderr
    assert run.returncode == 2 and run.stderr.count("\n") == 1 and "Traceback" not in said
    assert all(word in run.stderr for word in words), run.stderr
    assert "sesame" not in said


def test_the_command_line_publishes_verifies_and_estimates_in_postgres(server, postgres, shell):
    run = shell(*PUBLISH, *ENGINE, SQLANON_DSN=server.dsn("shop"))
    assert run.returncode == 0, run.stderr
    for verb in (
        ("verify", "release", "--against", "patients"),
        ("estimate", "release", "SELECT COUNT(*) FROM release"),
    ):
        run = shell(*verb, "--engine", "postgres", "--dsn", server.dsn("shop"))
        assert run.returncode == 0, run.stderr
    printed = shell(*PUBLISH, "--into", "other", "--engine", "postgres", "--sql", SQLANON_DSN=server.dsn("shop"))
    assert printed.returncode == 0 and "convert_to(" in printed.stdout and "other" not in schemas(server)


def test_bad_input_of_postgres_is_one_clear_line(server, shell):
    guest = server.dsn("shop", "guest", "open%20sesame")
    refused(shell(*PUBLISH, *ENGINE, SQLANON_DSN=guest), "PostgreSQL refuses: permission denied for database shop")
    wrong = server.dsn("shop", "guest", "sesame")
    refused(shell(*PUBLISH, *ENGINE, "--dsn", wrong), "password authentication failed")
    down = f"postgresql://guest:sesame@127.0.0.1:{1}/shop"
    refused(shell(*PUBLISH, *ENGINE, "--dsn", down), "Connection refused")
    refused(shell(*PUBLISH, *ENGINE, "--dsn", "postgresql:/guest:sesame@"), "the --dsn cannot be read")
    missing = (*PUBLISH[:2], "nowhere.patients", *PUBLISH[3:], *ENGINE)
    refused(shell(*missing, SQLANON_DSN=guest), "no table or view 'nowhere.patients'")
    refused(shell(*PUBLISH, "--engine", "postgres", "--out", "rel", SQLANON_DSN=guest), "say --into SCHEMA")
    refused(shell("verify", "nothing", "--engine", "postgres", SQLANON_DSN=guest), "no release in the schema")
    hostile = (*PUBLISH[:2], "hostile", *PUBLISH[3:], *ENGINE)
    refused(shell(*hostile, SQLANON_DSN=guest), "permission denied for table hostile")


# -- Spark ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """Start a session as a caller might: settings of their own, several files for every table."""
    sql = pytest.importorskip("pyspark.sql", reason="needs the extra spark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("needs a Java runtime")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than 240 rows do
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.session.timeZone": "Europe/Rome",
        "spark.sql.ansi.enabled": "false",
    }
    session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def fetched(spark):
    """Record how many rows each call of Spark's brings to the driver."""
    counts: list[int] = []
    frame = type(spark.range(1))
    kept = {name: getattr(frame, name) for name in ("collect", "toArrow", "toPandas", "toLocalIterator", "take")}

    def recording(name):
        def call(self, *arguments, **options):
            rows = kept[name](self, *arguments, **options)
            counts.append(len(rows) if name == "collect" else 10**9)
            return rows

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in kept:
            patch.setattr(frame, name, recording(name))
        yield counts


@pytest.fixture(scope="module")
def spark_release(spark, source, fetched, tmp_path_factory):
    """Publish with Spark; return the directory and what came to the driver meanwhile."""
    out = tmp_path_factory.mktemp("spark") / "rel {1}"
    sqlanon.anatomy(spark, str(source[1]), id=IDENTIFIERS, key=KEY, out=out, **ASKED)
    return out, list(fetched)


def test_spark_publishes_what_duckdb_publishes(spark_release, expected):
    release = sqlanon.open(spark_release[0])
    assert rows_of(release) == rows_of(expected)
    assert release.verify().holds


def test_spark_brings_no_rows_to_the_driver(spark_release):
    assert spark_release[1] and max(spark_release[1]) == 1


def test_spark_leaves_the_callers_configuration(spark, spark_release):
    assert spark.conf.get("spark.sql.session.timeZone") == "Europe/Rome"
    assert spark.conf.get("spark.sql.ansi.enabled") == "false"
    assert spark.catalog.listTables() == []


def test_a_release_of_spark_is_parquet_files_and_a_manifest(spark_release):
    out, _ = spark_release
    manifest = sqlanon.open(out).manifest
    assert {path.name for path in out.iterdir()} == {"release.json", *manifest["files"]}
    listed = sorted(name for name in manifest["files"] if name.startswith("qit"))
    assert listed == [f"qit-{number:05d}.parquet" for number in range(len(listed))] and len(listed) > 1
    assert sum(manifest["files"][name]["rows"] for name in listed) == manifest["rows"] == len(ROWS)
    assert {path.name for path in out.parent.iterdir()} == {out.name}


def test_spark_proves_and_estimates_as_duckdb_does(spark, spark_release, source, expected):
    release = sqlanon.open(spark_release[0], con=spark)
    report, wanted = release.verify(against=str(source[1])), expected.verify(against="hostile")
    assert report.holds and report.checks[1:] == wanted.checks[1:]
    for query in QUERIES[1:]:
        same_answer(release.estimate(query), expected.estimate(query))


def test_spark_finds_the_posteriors_that_duckdb_finds(spark, spark_release, exposed):
    release = sqlanon.open(spark_release[0], con=spark)
    same_posteriors(release.verify(background=exposed[1][0], r=2), exposed[0])


def test_spark_randomizes_as_duckdb_does(spark, source, randomized, tmp_path):
    asked, expected = randomized[1]
    release = sqlanon.splu(spark, str(source[1]), out=tmp_path / "release", **asked)
    assert rows_of(sqlanon.open(tmp_path / "release")) == rows_of(expected)
    assert sqlanon.open(tmp_path / "release").verify().holds
    assert release.manifest["dropped_rows"] == expected.manifest["dropped_rows"]


def test_spark_groups_class_by_class_as_duckdb_does(spark, source, classes, tmp_path):
    asked, expected = classes[1]
    sqlanon.robust(spark, str(source[1]), out=tmp_path / "release", **asked)
    assert rows_of(sqlanon.open(tmp_path / "release")) == rows_of(expected)
    opened_there = sqlanon.open(tmp_path / "release", con=spark)
    assert opened_there.verify().holds
    same_answer(opened_there.estimate(QUERIES[1]), expected.estimate(QUERIES[1]))


def test_spark_sees_files_and_rows_that_lie_in_another_order(spark, source, tmp_path):
    from sqlanon.plans.templates import Sql
    from sqlanon.verification import qit_st
    from sqlanon.verification.checks import Published

    con = duckdb.connect()
    lines = "select i // 2 as q, i // 2 as group_id from range(8) t(i)"
    manifest = {
        "parameters": {"l": 2},
        "columns": {"quasi": ["q"], "sensitive": ["s"], "group": "group_id", "count": "count"},
    }
    st = tmp_path / "st.parquet"
    con.execute(f"copy (select i // 2 as group_id, i % 2 as s, 1 as count from range(8) t(i)) to '{st}'").fetchall()
    engine = engine_of(spark)
    for seam, order, misplaced in ((4, "i", 0), (3, "i", 0), (4, "-i", 4), (4, "(i + 4) % 8", 1)):
        paths = [tmp_path / f"qit-{number}.parquet" for number in range(2)]
        con.execute(f"create or replace table laid as {lines} order by {order}").fetchall()
        con.execute(f"copy (from laid limit {seam}) to '{paths[0]}'").fetchall()
        con.execute(f"copy (from laid offset {seam}) to '{paths[1]}'").fetchall()
        tables = {"qit": Sql(engine.parquet(paths)), "st": Sql(engine.parquet([st]))}
        spark.catalog.clearCache()
        (check, *_) = qit_st.verify(Published(engine, tables, manifest)).checks
        assert check.found == ("sorted" if not misplaced else {"misplaced rows of qit": misplaced} | check.found)
        assert check.holds is (not misplaced)


def test_the_key_stands_in_no_plan_of_spark(spark):
    from sqlanon.key import Key
    from sqlanon.plans.templates import Sql

    engine = engine_of(spark)
    engine.keep_key(Sql('"sqlanon_test_key"'), Key(KEY))
    assert engine.rows('select secret from "sqlanon_test_key"') == [{"secret": KEY}]
    plan = engine.relation('select sha256(secret) as h from "sqlanon_test_key"')._jdf.queryExecution().toString()
    engine.drop(['"sqlanon_test_key"'])
    assert KEY not in plan and "LocalTableScan" in plan


def test_a_fresh_key_needs_no_identifier_in_spark(spark, tmp_path):
    frame = spark.range(300).selectExpr("id % 40 as age", "concat('d', id % 8) as disease")
    frame = frame.withMetadata("age", {"comment": "read from handwriting"})
    release = sqlanon.anatomy(spark, frame, quasi="age", sensitive="disease", l=4, out=tmp_path / "rel")
    assert release.manifest["rows"] == 300 and release.manifest["engine"].startswith("spark")
    assert not any(b"handwriting" in path.read_bytes() for path in (tmp_path / "rel").iterdir())


def test_bad_input_of_spark_is_refused(spark, tmp_path):
    asked = {"quasi": "age", "sensitive": "disease", "l": 4}
    with pytest.raises(SourceError, match="no file"):
        sqlanon.anatomy(spark, "missing.parquet", out=tmp_path / "rel", **asked)
    with pytest.raises(SourceError, match="no table, view or file 'missing'"):
        sqlanon.anatomy(spark, "missing", out=tmp_path / "rel", **asked)
    with pytest.raises(TargetError, match="say --out DIR"):
        sqlanon.anatomy(spark, spark.range(9).selectExpr("id as age", "id as disease"), into="rel", **asked)
    assert not list(tmp_path.iterdir())


def test_the_command_line_prints_what_spark_would_run(spark, shell):
    words = (*PUBLISH[:2], "patients.parquet", *PUBLISH[3:], "--engine", "spark", "--master", "local[2]")
    run = shell(*words, "--out", "rel", "--sql", SQLANON_KEY=KEY)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    assert "sha2(" in run.stdout and "order by" in run.stdout and KEY not in run.stdout
    assert not (shell.folder / "rel").exists()


# -- what needs neither -------------------------------------------------------------------------------


def test_without_java_spark_does_not_start(shell):
    pytest.importorskip("pyspark")
    run = shell(*PUBLISH, "--engine", "spark", "--out", "rel", PATH="", JAVA_HOME="")
    refused(run, "Spark needs a Java runtime")


def test_options_of_another_engine_are_refused(shell):
    refused(shell(*PUBLISH, "--engine", "spark", "--dsn", "x", "--out", "rel"), "--dsn is not for --engine spark")
    refused(shell(*PUBLISH, "--master", "local[2]", "--out", "rel"), "--master is not for --engine duckdb")
    refused(shell(*PUBLISH, "--engine", "postgres", "--threads", "2", "--into", "rel"), "--threads is not for")


@pytest.mark.parametrize(("engine", "library"), [("spark", "pyspark"), ("postgres", "psycopg")])
def test_a_missing_extra_says_what_to_type(engine, library):
    code = (
        f"import sys; sys.modules[{library!r}] = None\nfrom sqlanon.engines.connect import opened\n"
        f"from sqlanon.errors import UsageError\ntry: opened({engine!r})\nexcept UsageError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.count("\n") == 1 and f"pip install 'sqlanon[{engine}]'" in run.stdout


def test_what_is_no_connection_is_refused():
    with pytest.raises(UsageError, match="a dict is no connection of duckdb, spark, postgres"):
        engine_of({})
    assert opened("duckdb").dialect == "duckdb"
    assert Path(__file__).is_file()
