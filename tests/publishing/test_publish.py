"""Bad input: a clear message, the right exit code, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest

from tests.conftest import NASTY_NAMES

ROLES = ["--quasi", "age,sex,zipcode", "--sensitive", "disease"]
PUBLISH = ["publish", "anatomy", "patients.parquet", *ROLES, "-l", 4, "--out", "release"]


def refused(shell, code, *arguments, says, **environment):
    """Run, and assert the exit code, the message, silence on stdout and an unchanged folder."""
    before = shell.left()
    done = shell(*arguments, **environment)
    assert done.returncode == code, done.stderr
    for words in [says] if isinstance(says, str) else says:
        assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert shell.left() == before
    return done


def sql(shell, text):
    """Run SQL beside the command line, on the folder's own database file."""
    connection = duckdb.connect(str(shell.folder / "hospital.duckdb"))
    rows = connection.execute(text).fetchall()
    connection.close()
    return rows


def table(shell, select):
    """Write `bad.parquet` from a SELECT."""
    duckdb.sql(select).write_parquet(str(shell.folder / "bad.parquet"))
    return ["publish", "anatomy", "bad.parquet", "--quasi", "q", "--sensitive", "s", "--out", "release", "-l"]


# -- data that does not allow it: 3 --------------------------------------------------------------------------


def test_null_sensitive_values(shell):
    asked = table(shell, "select i as q, case when i % 9 > 0 then i % 5 end as s from range(90) t(i)")
    refused(
        shell,
        3,
        *asked,
        2,
        says=["10 rows have no value in the sensitive column 's'", "--nulls value", "--nulls drop"],
    )


def test_null_values_published_or_dropped(shell):
    asked = table(shell, "select i as q, case when i % 9 > 0 then i % 5 end as s from range(90) t(i)")
    assert shell(*asked, 2, "--nulls", "value").returncode == 0
    done = shell(*asked[:-2], "dropped", "-l", 2, "--nulls", "drop", "--format", "json")
    assert done.returncode == 0
    assert "dropped" in done.stderr
    assert json.loads(done.stdout)["dropped_rows"] == 10
    values = duckdb.sql(f"select distinct s from '{shell.folder}/release/st.parquet'").fetchall()
    assert len(values) == 6


def test_infeasible_l_names_the_largest_feasible_but_no_value(shell):
    done = refused(shell, 3, *PUBLISH[:-4], "-l", 9, "--out", "release", says="the largest l that works is")
    shown = shell(*PUBLISH[:-4], "-l", 9, "--out", "release", "--show-values")
    assert "'d0'" not in done.stderr
    assert "'d0'" in shown.stderr
    works = int(done.stderr.rsplit(" ", 1)[1])
    assert shell(*PUBLISH[:-4], "-l", works, "--out", "r1").returncode == 0
    assert shell(*PUBLISH[:-4], "-l", works + 1, "--out", "r2").returncode == 3


def test_one_value_only(shell):
    refused(
        shell,
        3,
        *table(shell, "select i as q, 1 as s from range(9) t(i)"),
        2,
        says="no l of at least 2 works",
    )


def test_l_above_the_number_of_rows(shell):
    refused(
        shell,
        3,
        *table(shell, "select i as q, i as s from range(9) t(i)"),
        10,
        says="needs at least 10 rows; the source has 9",
    )


def test_empty_table(shell):
    refused(shell, 3, *table(shell, "select i as q, i as s from range(0) t(i)"), 2, says="no rows")


def test_several_rows_of_one_person(shell):
    asked = table(shell, "select i as q, i % 5 as s, least(i, 87) as ssn from range(90) t(i)")
    refused(
        shell,
        3,
        *asked,
        3,
        "--id",
        "ssn",
        says=["1 persons have more than one row", "--rows-per-person many"],
    )
    assert shell(*asked, 3, "--id", "ssn", "--rows-per-person", "many").returncode == 0


# -- requests that no data could meet: 2 -----------------------------------------------------------------------


@pytest.mark.parametrize("l", [1, 0, -3])
def test_l_below_two(shell, l):
    refused(shell, 2, *PUBLISH[:-4], "-l", l, "--out", "release", says="at least 2")


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        (["--quasi", "age,hight", "--sensitive", "disease"], ["no column 'hight'", "'zipcode'"]),
        (["--quasi", "age,AGE", "--sensitive", "disease"], ["'age' is named twice in --quasi"]),
        (
            ["--quasi", "age,disease", "--sensitive", "disease"],
            ["'disease' stands in --quasi and in --sensitive"],
        ),
        (
            ["--quasi", "age", "--sensitive", "disease", "--id", "AGE"],
            ["'age' stands in --quasi and in --id"],
        ),
        (["--quasi", "age", "--sensitive", "disease,sex"], ["one sensitive column, 2 were given"]),
        (["--quasi", "age,,sex", "--sensitive", "disease"], ["empty column name"]),
        (["--quasi", "", "--sensitive", "disease"], ["empty column name"]),
    ],
)
def test_columns_missing_doubled_overlapping(shell, roles, says):
    refused(shell, 2, "publish", "anatomy", "patients.parquet", *roles, "-l", 4, "--out", "release", says=says)


def test_sources_that_are_none(shell):
    (shell.folder / "folder").mkdir()
    (shell.folder / "not.parquet").write_text("age,sex\n1,2\n")
    (shell.folder / "empty.parquet").write_bytes(b"")
    (shell.folder / "noending").write_text("x")

    def ask(source, says):
        refused(shell, 2, "publish", "anatomy", source, *ROLES, "-l", 4, "--out", "release", says=says)

    ask("gone.parquet", "no file 'gone.parquet'")
    ask("gone*.parquet", "gone*.parquet")
    ask("folder", "is a directory; name its files")
    ask("not.parquet", "cannot read 'not.parquet'")
    ask("empty.parquet", "cannot read 'empty.parquet'")
    ask("noending", "no ending that tells its format")
    ask("patients", "no table, view or file 'patients'")
    ask("patients.parquet'); drop table x; --", "no table, view or file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_source_and_target_without_rights(shell):
    (shell.folder / "patients.parquet").chmod(0)
    refused(shell, 2, *PUBLISH, says="no right to read")
    (shell.folder / "patients.parquet").chmod(0o600)
    (shell.folder / "locked").mkdir(mode=0o500)
    refused(shell, 2, *PUBLISH[:-1], "locked/release", says="no right to write")


def test_databases_that_are_none(shell):
    (shell.folder / "text.duckdb").write_text("not a database at all, only text that is long enough to be read")
    asked = ["publish", "anatomy", "patients", *ROLES, "-l", 4, "--out", "release", "--database"]
    refused(shell, 2, *asked, "gone.duckdb", says="no database file 'gone.duckdb'")
    refused(shell, 2, *asked, "text.duckdb", says="cannot open the database 'text.duckdb'")
    refused(
        shell,
        2,
        "publish",
        "anatomy",
        "nobody",
        *asked[3:],
        "hospital.duckdb",
        says="no table, view or file 'nobody'",
    )


def test_target_exists(shell):
    assert shell(*PUBLISH).returncode == 0
    before = (shell.folder / "release" / "release.json").read_bytes()
    refused(shell, 2, *PUBLISH, says=["exists", "--overwrite"])
    assert (shell.folder / "release" / "release.json").read_bytes() == before


def test_overwrite_replaces_what_the_manifest_names_and_nothing_else(shell):
    assert shell(*PUBLISH).returncode == 0
    (shell.folder / "release" / "notes.txt").write_text("mine")
    before = (shell.folder / "release" / "qit.parquet").read_bytes()
    assert shell(*PUBLISH, "--overwrite").returncode == 0
    assert (shell.folder / "release" / "notes.txt").read_text() == "mine"
    assert (shell.folder / "release" / "qit.parquet").read_bytes() != before
    assert shell("verify", "release").returncode == 0


def test_overwrite_refuses_what_is_no_release(shell):
    (shell.folder / "release").mkdir()
    (shell.folder / "release" / "thesis.txt").write_text("years of work")
    refused(shell, 2, *PUBLISH, "--overwrite", says="holds files but no release")
    assert (shell.folder / "release" / "thesis.txt").read_text() == "years of work"
    (shell.folder / "file").write_text("x")
    refused(shell, 2, *PUBLISH[:-1], "file", "--overwrite", says="is not a directory")


def test_a_failed_run_leaves_the_old_release_alone(shell):
    assert shell(*PUBLISH).returncode == 0
    before = {path.name: path.read_bytes() for path in (shell.folder / "release").iterdir()}
    refused(shell, 3, *PUBLISH[:-4], "-l", 100, "--out", "release", "--overwrite", says="l = 100 is not possible")
    assert {path.name: path.read_bytes() for path in (shell.folder / "release").iterdir()} == before


def test_target_without_parent(shell):
    refused(shell, 2, *PUBLISH[:-1], "no/such/release", says="no directory")


def test_disk_full(shell):
    full = shell.folder / "full"
    full.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        duckdb.sql("select i as q, hash(i) as q2, i % 5 as s from range(200000) t(i)").write_parquet(
            str(shell.folder / "bad.parquet")
        )
        asked = ["publish", "anatomy", "bad.parquet", "--quasi", "q,q2", "--sensitive", "s", "-l", 3]
        refused(shell, 2, *asked, "--out", "full/release", says="cannot write")
        assert list(full.iterdir()) == []
    finally:
        subprocess.run(["umount", full], check=True)


def test_where_it_goes_must_be_said_once(shell):
    refused(shell, 2, *PUBLISH[:-2], says="say where the release goes")
    refused(shell, 2, *PUBLISH, "--into", "x", "--database", "hospital.duckdb", says="say where the release goes")
    refused(shell, 2, *PUBLISH[:-2], "--into", "x", says="--database FILE")


@pytest.mark.parametrize("block", ["0", "-1", "many", "1.5"])
def test_block_out_of_range(shell, block):
    refused(shell, 2, *PUBLISH, "--block", block, says="--block")


def test_keys(shell):
    (shell.folder / "key").write_text("ab" * 32 + "\n")
    refused(shell, 2, *PUBLISH, "--key", "x", "--key-file", "key", says="not both")
    refused(shell, 2, *PUBLISH, "--key-file", "gone", says="cannot read the key file 'gone'")
    refused(shell, 2, *PUBLISH, SQLANON_KEY="  ", says="the key is empty")
    done = shell(*PUBLISH, "--key", "letmein")
    assert done.returncode == 0
    assert "guesses it can undo" in done.stderr
    assert "process list" in done.stderr
    assert "letmein" not in done.stderr + done.stdout


def test_the_same_key_by_file_or_environment_gives_the_same_release(shell):
    (shell.folder / "key").write_text("ab" * 32 + "\n")
    assert shell(*PUBLISH, "--key-file", "key").returncode == 0
    assert shell(*PUBLISH[:-1], "again", SQLANON_KEY="AB" * 32).returncode == 0
    for name in ("qit", "st"):
        one, two = (
            duckdb.sql(f"from '{shell.folder}/{out}/{name}.parquet'").fetchall() for out in ("release", "again")
        )
        assert one == two


# -- into a schema -----------------------------------------------------------------------------------------


def into(shell, *more):
    return shell(
        "publish",
        "anatomy",
        "patients",
        *ROLES,
        "--id",
        "ssn",
        "-l",
        4,
        "--database",
        "hospital.duckdb",
        *more,
    )


def test_into_a_schema_and_back(shell):
    done = into(shell, "--into", "re lease")
    assert done.returncode == 0, done.stderr
    assert "never the database file" in done.stderr
    tables = sql(shell, "select table_schema, table_name from information_schema.tables order by all")
    assert tables == [("main", "patients"), ("re lease", "manifest"), ("re lease", "qit"), ("re lease", "st")]
    checked = shell("verify", "re lease", "--database", "hospital.duckdb", "--against", "patients")
    assert checked.returncode == 0, checked.stderr
    assert into(shell, "--into", "re lease").returncode == 2
    assert into(shell, "--into", "re lease", "--overwrite").returncode == 0


def test_a_schema_that_holds_other_tables_is_refused(shell):
    assert into(shell, "--into", "main", "--overwrite").returncode == 2
    assert sql(shell, "select count(*) from patients") == [(600,)]
    sql(shell, "create schema mine")
    assert into(shell, "--into", "mine").returncode == 2
    assert into(shell, "--into", "mine", "--overwrite").returncode == 0


def test_a_refused_schema_leaves_nothing(shell):
    done = into(shell, "--into", "release", "-l", 60)
    assert done.returncode == 3
    assert sql(shell, "select schema_name from information_schema.schemata where schema_name = 'release'") == []


def test_enums_go_into_a_schema_as_text(shell):
    sql(shell, "create type mood as enum ('sad', 'gay', 'never seen')")
    sql(
        shell,
        "create table moods as select i as q, (['sad', 'gay'])[1 + i % 2]::mood as s from range(20) t(i)",
    )
    asked = [
        "publish",
        "anatomy",
        "moods",
        "--quasi",
        "q",
        "--sensitive",
        "s",
        "-l",
        2,
        "--database",
        "hospital.duckdb",
    ]
    assert shell(*asked, "--into", "release").returncode == 0
    kinds = sql(
        shell,
        "select data_type from information_schema.columns where table_schema = 'release' and column_name = 's'",
    )
    assert kinds == [("VARCHAR",)]


# -- killed in the middle ---------------------------------------------------------------------------------------


def killed(shell, arguments, reached, within=30.0):
    """Start a run, kill -9 it as soon as `reached()`, and return whether it was still running."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sqlanon", *map(str, arguments)],
        cwd=shell.folder,
        env=os.environ | {"TMPDIR": str(shell.folder / "tmp")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + within
    while not reached() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return alive


@pytest.fixture
def large(shell):
    duckdb.sql("select i as q, hash(i) as q2, i % 50 as s from range(700000) t(i)").write_parquet(
        str(shell.folder / "large.parquet")
    )
    return ["publish", "anatomy", "large.parquet", "--quasi", "q,q2", "--sensitive", "s", "-l", 10]


def test_a_killed_run_leaves_no_half_release_and_the_next_cleans_up(shell, large):
    before = shell.left()

    def writing():
        return any(folder.glob("new/qit.parquet") for folder in shell.folder.glob(".release.sqlanon-*")) and any(
            path.stat().st_size for path in shell.folder.glob(".release.sqlanon-*/new/qit.parquet")
        )

    assert killed(shell, [*large, "--out", "release"], writing)
    assert not (shell.folder / "release").exists()
    assert shell.left() > before, "the dead run left its private folder"
    assert shell(*large, "--out", "release").returncode == 0
    assert shell.left() == before | {"release"}
    assert shell("verify", "release", "--against", "large.parquet").returncode == 0


def test_a_killed_run_into_a_schema_leaves_the_database_as_it_was(shell, large):
    size = (shell.folder / "hospital.duckdb").stat().st_size

    def writing():
        wal = shell.folder / "hospital.duckdb.wal"
        return (wal.exists() and wal.stat().st_size > 0) or (shell.folder / "hospital.duckdb").stat().st_size > size

    killed(shell, [*large, "--database", "hospital.duckdb", "--into", "release"], writing)
    assert sql(shell, "select schema_name from information_schema.schemata where schema_name = 'release'") == []
    assert shell(*large, "--database", "hospital.duckdb", "--into", "release").returncode == 0
    assert shell("verify", "release", "--database", "hospital.duckdb").returncode == 0


# -- what is printed ---------------------------------------------------------------------------------------------


def test_publish_prints_the_manifest_as_json(shell):
    done = shell(*PUBLISH, "--format", "json")
    printed = json.loads(done.stdout)
    assert printed == json.loads((shell.folder / "release" / "release.json").read_text())
    assert set(printed) == {
        *("format", "method", "parameters", "columns", "rows", "groups", "dropped_rows"),
        *("guarantee", "verified", "files", "engine", "sqlanon", "created"),
    }
    assert "not published: ssn" in done.stderr
    assert str(shell.folder) not in done.stdout


def test_sql_prints_and_runs_nothing(shell):
    done = shell(*PUBLISH, "--sql")
    assert done.returncode == 0
    assert not (shell.folder / "release").exists()
    assert "600" not in done.stdout, "no statement holds a number read from the data"
    for name in ("tally", "drawn", "frequency", "positioned", "block", "grouped", "qit", "st"):
        assert f"-- {name}\n" in done.stdout


def test_parquet_files_tell_nothing_else(shell):
    assert shell(*PUBLISH, "--id", "ssn").returncode == 0
    for name in ("qit", "st"):
        path = f"{shell.folder}/release/{name}.parquet"
        assert duckdb.sql(f"select * from parquet_kv_metadata('{path}')").fetchall() == []
        columns = {
            row[0] for row in duckdb.sql(f"select distinct path_in_schema from parquet_metadata('{path}')").fetchall()
        }
        assert "ssn" not in columns
        assert str(shell.folder).encode() not in (shell.folder / "release" / f"{name}.parquet").read_bytes()


@pytest.mark.parametrize("name", [name for name in NASTY_NAMES if "\\" not in name and "%" not in name])
def test_nasty_paths(shell, name):
    source = name.replace("/", "_") + "[1]*?.parquet"
    (shell.folder / "patients.parquet").rename(shell.folder / source)
    out = name.replace("/", "_") + "[out]*"
    done = shell("publish", "anatomy", source, *ROLES, "-l", 4, f"--out={out}")
    assert done.returncode == 0, done.stderr
    assert shell("verify", out, "--against", source).returncode == 0
