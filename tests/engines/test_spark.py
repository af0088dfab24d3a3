"""What is Spark's own: its driver, its plans, its files, its session; what it makes alike is in test_alike."""

import json
import re

import duckdb
import pytest

import sqlanon
from sqlanon.engines.connect import engine_of
from sqlanon.errors import SourceError, SqlanonError, TargetError
from sqlanon.plans.templates import ident
from sqlanon.releases.contents import foreign_parts
from sqlanon.releases.verification_run import check_since
from tests.engines.conftest import views
from tests.engines.hostile import (
    ASKED,
    IDENTIFIERS,
    KEY,
    PUBLISH,
    ROWS,
    SENSITIVE,
    rows_of,
)
from tests.engines.nights import ASKED_NIGHTS, NIGHTS, publish_nights, tables_of, told_of


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
def spark_release(spark, duck, fetched, tmp_path_factory):
    """Publish with Spark; return the directory, what came to the driver meanwhile, and which views it left."""
    path, out = tmp_path_factory.mktemp("tables") / "hostile.parquet", tmp_path_factory.mktemp("spark") / "rel {1}"
    duck.execute(f"copy hostile to '{path}'").fetchall()
    stood, before = views(spark), len(fetched)
    sqlanon.anatomy(spark, str(path), id=IDENTIFIERS, key=KEY, out=out, **ASKED)
    came = list(fetched[before:])
    return out, came, views(spark) - stood


def test_spark_brings_no_rows_to_the_driver(spark_release):
    # what each column gives away is a row
    large = [count for count in spark_release[1] if count > 2]
    assert spark_release[1] and len(large) <= 1 and sum(large) <= len(ASKED["quasi"]) < len(ROWS)


def test_spark_leaves_the_callers_configuration(spark, spark_release):
    assert spark.conf.get("spark.sql.session.timeZone") == "Europe/Rome"
    assert spark.conf.get("spark.sql.ansi.enabled") == "false"
    assert spark_release[2] == set()


def test_a_release_of_spark_is_parquet_files_and_a_manifest(spark_release):
    out, *_ = spark_release
    manifest = sqlanon.open(out).manifest
    assert {path.name for path in out.iterdir()} == {"release.json", *manifest["files"]}
    listed = sorted(name for name in manifest["files"] if name.startswith("qit"))
    assert listed == [f"qit-{number:05d}.parquet" for number in range(len(listed))] and len(listed) > 1
    assert sum(manifest["files"][name]["rows"] for name in listed) == manifest["rows"] == len(ROWS)
    assert {path.name for path in out.parent.iterdir()} == {out.name}


def test_spark_matches_columns_of_several_files_by_name(spark, con, tmp_path):
    for form in ("parquet", "csv"):
        for name, columns in (("1", "i as ssn, i % 4 as d"), ("2", "i % 4 as d, i + 40 as ssn, 'x' as more")):
            rows = f"copy (select {columns} from range(40) r(i)) to '{tmp_path}/{name}.{form}'"
            con.execute(rows).fetchall()
    found = sqlanon.check(spark, f"{tmp_path}/*.parquet", quasi="more", sensitive="d", id="ssn")
    assert found.figures["rows"] == 80 and found.figures["classes"] == 2
    assert found.notes[-1] == "NULL stands in the rows of files that lack a column: 'more' (1 of 2 files)"
    with pytest.raises(SqlanonError):  # and reads no column for another
        sqlanon.check(spark, f"{tmp_path}/*.csv", quasi="d", id="ssn")


@pytest.fixture(scope="module")
def spark_nights(spark, duck, fetched, tmp_path_factory):
    """Publish the nights with Spark under one ledger; return the folder, the releases and what came to the driver."""
    folder = tmp_path_factory.mktemp("spark nights")
    for night, name in enumerate(NIGHTS):
        duck.execute(f"copy {ident(name)} to '{folder}/people_{night}.parquet'").fetchall()
    # other tests leave views, and to look at them fetches them
    there, before = views(spark), len(fetched)
    files = [f"{folder}/people_{night}.parquet" for night in range(3)]
    releases = publish_nights(
        spark, folder / "ward [1]", lambda night: {"out": folder / f"night_{night}"}, sources=files, **ASKED_NIGHTS[0]
    )
    brought = fetched[before:]
    assert views(spark) == there
    return folder, releases, brought


def test_spark_follows_a_ledger_as_duckdb_does(spark, spark_nights, nights):
    folder, releases, brought = spark_nights
    told = told_of(folder / "ward [1]")
    assert (tables_of([sqlanon.open(release.directory) for release in releases]), told) == nights(0)
    assert sorted(brought)[-4] <= 2  # figures, and a line for each half of the groups; orders once a release
    later, earlier = (sqlanon.open(folder / f"night_{night}", con=spark).published_tables for night in (2, 1))
    assert check_since(later, earlier).holds


def test_a_ledger_of_spark_is_its_owners_file(spark, spark_nights):
    folder, _, _ = spark_nights
    there, ledger = views(spark, "sqlanon_files"), folder / "ward [1]"
    assert ledger.stat().st_mode & 0o777 == 0o600
    report = sqlanon.ledger(ledger, spark).check(KEY, folder)
    assert report.holds and report.checks[-1].found["compared"] == 3
    asked = {**ASKED, "quasi": "age", "id": [*IDENTIFIERS], "key": KEY, "out": folder / "refused", "ledger": ledger}
    for options, words in (
        ({"since": folder / "night_1"}, "and the last one of"),
        ({"ledger": folder / "people_0.parquet"}, "is no ledger"),
    ):
        with pytest.raises(SqlanonError, match=words):
            sqlanon.anatomy(spark, f"{folder}/people_2.parquet", **{**asked, **options})
    assert not (folder / "refused").exists() and views(spark, "sqlanon_files") == there
    assert {path.name for path in folder.glob("ward*")} == {"ward [1]", "ward [1].last"}


def test_rows_that_spark_keeps_have_the_size_they_have(spark):
    from pyspark.sql.functions import expr

    from sqlanon.engines.spark.files import keep_rows

    def size(frame):
        return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())

    first, free = keep_rows(spark.range(1000).withColumnRenamed("id", "a"))
    kept = first
    assert 8_000 <= size(kept) < 200_000
    for _ in range(3):  # what Spark carries over by itself squares the size each time
        kept, _ = keep_rows(kept.join(kept.withColumnRenamed("a", "b").alias("other"), expr("a = b")).select("a"))
    assert size(kept) < 4 * size(first) and kept.count() == 1000
    assert size(keep_rows(first.where("a < 0"))[0]) < 1000
    stored = {one.id() for one in spark._jsc.sc().getRDDStorageInfo()}
    free()
    assert len(stored - {one.id() for one in spark._jsc.sc().getRDDStorageInfo()}) == 1


def test_spark_counts_combinations_where_many_may_be_unique(spark, tmp_path):
    columns = "id % 60 as a", "id div 60 as b", "concat('d', id % 8) as disease"
    spark.range(3000).selectExpr(*columns).createOrReplaceTempView("combined")
    release = sqlanon.anatomy(spark, "combined", quasi=["a", "b"], sensitive="disease", l=4, out=tmp_path / "release")
    assert "combination" in release.sql
    assert any("tell 3,000 of 3,000 rows" in note for note in release.notes)


def test_few_rows_of_one_part_are_not_moved_before_they_are_summed(spark):
    from sqlanon.engines.spark.files import keep_rows

    def plan(parts):
        kept, _ = keep_rows(spark.range(1000).coalesce(parts))
        counted = kept.groupBy((kept.id % 7).alias("seventh")).count()
        assert sorted(row["count"] for row in counted.collect()) == [142] + [143] * 6
        return (
            counted._jdf.queryExecution().sparkPlan().toString(),
            counted._jdf.queryExecution().executedPlan().toString(),
        )

    assert "Exchange" not in plan(1)[1]
    assert "Exchange" in plan(2)[1]


def test_packed_rows_of_spark_stay_sorted_and_hold_what_columns_hold(spark, tmp_path):
    """NULLs, negative numbers and a type that only some engines have; from Parquet, whose rows are not kept."""
    con, path = duckdb.connect(), tmp_path / "people.parquet"
    con.execute(
        f"copy (select i, (nullif(i % 9, 4) - 5)::tinyint as a, case when i % 7 > 0 then i % 5 * 1000000000 end as b,"
        f" 'v' || i % 11 as s from range(1000) t(i)) to '{path}'"
    ).fetchall()
    asked = {"quasi": ["a", "b"], "sensitive": "s", "l": 4, "block": 5}
    keyed = {**asked, "id": "i", "key": KEY}
    release = sqlanon.anatomy(spark, str(path), out=tmp_path / "release", **keyed)
    assert "packed" in release.sql and "distribute by" in release.sql
    expected = sqlanon.anatomy(con, str(path), out=tmp_path / "expected", **keyed)
    assert rows_of(release) == rows_of(expected)
    fresh = sqlanon.anatomy(spark, str(path), out=tmp_path / "fresh", **asked)
    assert rows_of(fresh) != rows_of(expected)
    # of its own numbers one statement reads, once; rows of a frame, which may be dear to make again, are kept
    kept = "kept\ncreate temporary view `[a-z0-9_]*source`"
    assert not re.search(kept, fresh.sql)
    frame = spark.read.parquet(str(path)).withMetadata("a", {"comment": "read from handwriting"})
    framed = sqlanon.anatomy(spark, frame, out=tmp_path / "framed", **asked)
    assert re.search(kept, framed.sql) and framed.manifest["engine"].startswith("spark")
    assert not any(b"handwriting" in path.read_bytes() for path in (tmp_path / "framed").iterdir())


def test_spark_sees_files_and_rows_that_lie_in_another_order(spark, tmp_path):
    from sqlanon.forms.qit_st import verification as qit_st
    from sqlanon.plans.templates import Sql
    from sqlanon.verification.checks import PublishedTables

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
        tables = {"qit": Sql(engine.read_parquet(paths)), "st": Sql(engine.read_parquet([st]))}
        spark.catalog.clearCache()
        (check, *_) = qit_st.verify(PublishedTables(engine, tables, manifest)).checks
        assert check.found == ("sorted" if not misplaced else {"misplaced rows of qit": misplaced} | check.found)
        assert check.holds is (not misplaced)


def test_figures_are_one_row_and_read_back(spark):
    engine, figures = engine_of(spark), {"least_1": -(2**40), "unit_1": 2**61}
    engine.keep_constants(ident("sqlanon_test_constants"), figures)
    try:
        assert engine.rows("select * from sqlanon_test_constants") == [figures]
    finally:
        engine.drop([str(ident("sqlanon_test_constants"))])


def test_figures_are_parameters_of_a_statement_that_is_joined_with_them(spark):
    """A join would undo the sort below it; names of figures in texts and other columns stay what they are."""
    engine = engine_of(spark)
    engine.keep_constants(ident("sqlanon_test_constants"), {"unit": 10, "least": -(2**40)})
    spark.range(100).createOrReplaceTempView("sqlanon_test_rows")
    sql = """
        with line as (select id * 7 % 100 as number from sqlanon_test_rows order by number asc)
        select number // figures.unit as tens, number + figures.least as least, 'figures.unit' as text
        from line cross join sqlanon_test_constants as figures
    """
    try:
        frame = engine.relation(sql)
        plan = frame._jdf.queryExecution().optimizedPlan().toString()
        assert "Join" not in plan and "Sort" in plan
        assert [tuple(row) for row in frame.collect()] == [(n // 10, n - 2**40, "figures.unit") for n in range(100)]
        # where it is no join with one row beside all others, it is a view like any
        assert engine.rows("select least as unit from sqlanon_test_constants where unit = 10") == [{"unit": -(2**40)}]
    finally:
        engine.drop([str(ident("sqlanon_test_constants")), str(ident("sqlanon_test_rows"))])


def test_the_key_stands_in_no_plan_of_spark(spark):
    from sqlanon.key import Key
    from sqlanon.plans.templates import Sql

    engine = engine_of(spark)
    engine.keep_key(Sql('"sqlanon_test_key"'), Key(KEY))
    assert engine.rows('select secret from "sqlanon_test_key"') == [{"secret": KEY}]
    plan = engine.relation('select sha256(secret) as h from "sqlanon_test_key"')._jdf.queryExecution().toString()
    engine.drop(['"sqlanon_test_key"'])
    assert KEY not in plan and "LocalTableScan" in plan


def test_spark_refuses_a_column_with_a_collation(spark, tmp_path):
    frame = spark.range(60).selectExpr("id % 9 as age", "cast('d' || id % 4 as string collate UTF8_LCASE) as d", "id")
    with pytest.raises(sqlanon.UsageError, match="column 'd' has a collation"):
        sqlanon.anatomy(spark, frame, quasi="age", sensitive="d", l=2, id="id", out=tmp_path / "rel")


def test_bad_input_of_spark_is_refused(spark, tmp_path):
    asked = {"quasi": "age", "sensitive": "disease", "l": 4}
    with pytest.raises(SourceError, match="no file"):
        sqlanon.anatomy(spark, "missing.parquet", out=tmp_path / "rel", **asked)
    with pytest.raises(SourceError, match="no table, view or file 'missing'"):
        sqlanon.anatomy(spark, "missing", out=tmp_path / "rel", **asked)
    with pytest.raises(TargetError, match="say out=DIR"):
        sqlanon.anatomy(spark, spark.range(9).selectExpr("id as age", "id as disease"), into="rel", **asked)
    assert not list(tmp_path.iterdir())


def test_the_command_line_prints_what_spark_would_run(spark, shell):
    words = (*PUBLISH[:2], "patients.parquet", *PUBLISH[3:], "--engine", "spark", "--master", "local[2]")
    run = shell(*words, "--out", "rel", "--sql", SQLANON_KEY=KEY)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    assert "sha2(" in run.stdout and "order by" in run.stdout and KEY not in run.stdout
    assert not (shell.folder / "rel").exists()


def test_a_job_of_spark_calls_no_function_of_its_session(spark, spark_side, duck, tmp_path, monkeypatch):
    """Spark looks its own functions up first: what a session registers under their names stays unread."""
    monkeypatch.setenv("KEY", KEY)
    roles = {"quasi": "age", "sensitive": SENSITIVE, "id": "number"}
    job = {
        "method": "anatomy", "roles": roles, "key_env": "KEY",
        "source": {"engine": "spark", "path": spark_side.take(duck, "hostile")},
        "parameters": {"l": 3, "nulls": "value"}, "output": {"out": "released"},
    }  # fmt: skip
    (tmp_path / "nightly.yml").write_text(json.dumps(job))  # which is YAML as well
    for name in ("sha2", "coalesce", "max"):
        spark.udf.register(name, lambda *values: "0")
    try:
        release = sqlanon.run(tmp_path / "nightly.yml")
    finally:
        for name in ("sha2", "coalesce", "max"):
            spark.sql(f"drop temporary function if exists {name}")
    assert release.manifest["engine"].startswith("spark")
    expected = sqlanon.anatomy(duck, "hostile", **roles, **job["parameters"], key=KEY)
    assert rows_of(sqlanon.open(tmp_path / "released")) == rows_of(expected)


def test_what_spark_says_beside_the_rows_is_known(spark, tmp_path):
    from sqlanon.engines.spark.files import rename_partitions, write_partitions
    from sqlanon.engines.spark.session import required_settings

    columns = [
        "concat('k', id % 7) as few",
        "concat(repeat('long text ', 10), id) as long",
        "case when id < 20000 then concat('v', id % 100) else sha2(string(id), 256) end as many",
        "case when id % 3 = 0 then double('nan') else id / 7 end as part",
        "case when id % 5 = 0 then null else id % 7 = 0 end as yes",
        "cast(id % 500 - 250 as decimal(30, 3)) as money",
        "date_add(date'1969-01-01', cast(id % 1000 as int)) as day",
        "timestamp_micros(id * 1000) as time",
        "cast(null as string) as nothing",
        "array(named_struct('attribute', 'q', 'count', cast(id % 3 as int))) as marks",
    ]
    with required_settings(spark):
        write_partitions(spark.range(45000).coalesce(1).selectExpr(*columns), tmp_path / "parts")
    (path,) = rename_partitions(tmp_path / "parts", tmp_path / "qit.parquet")
    assert foreign_parts([path]) == {}
