"""A ledger of releases that are schemas of a PostgreSQL server: a file of the publisher's, in step with them."""

import json
import signal
import subprocess
import sys

import pytest

import sqlanon
from sqlanon.errors import DataError, SourceError, SqlanonError, TargetError, UsageError

KEY = "5e" * 32
ASKED = {"quasi": "age", "sensitive": "disease", "id": "ssn", "l": 3, "key": KEY, "unique_quasi": "keep"}
PEOPLE = "select i as ssn, i % 40 as age, 'd' || i % 8 as disease, i % 5 as ward from generate_series(1, 60) as t(i)"


LINES = "select group_id, disease::text, count from ward.st"
# publish and die before the database's commit, or just after it
DYING = """
import os, signal, sys
import psycopg, sqlanon
from sqlanon.engines.postgres.engine import PostgresEngine
snapshot = PostgresEngine.snapshot
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "before":
    commit = PostgresEngine.commit
    PostgresEngine.commit = lambda engine: (commit(engine), die())
else:
    from sqlanon.ledgers.place import LedgerFile
    LedgerFile.place_note = die
with psycopg.connect(sys.argv[1], autocommit=True) as con:
    sqlanon.anatomy(con, "people", quasi="age", sensitive="disease", id="ssn", l=3, key="5e" * 32, unique_quasi="keep",
        ledger=sys.argv[2], into="ward", overwrite=True)
"""


@pytest.fixture(scope="module")
def hospital(server):
    """Make a database with people; return the server."""
    import psycopg

    with psycopg.connect(server.new_database("ledgers"), autocommit=True) as con:
        con.execute(f"create table people as {PEOPLE}")
    return server


@pytest.fixture
def con(hospital, tmp_path, monkeypatch):
    """Open a connection in a folder for ledgers; what a test makes is dropped after it."""
    import psycopg

    monkeypatch.chdir(tmp_path)
    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as con:
        yield con
    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as con:
        for schema in ("vault", "ward", "ward_2"):
            con.execute(f"drop schema if exists {schema} cascade")


def release(con, source="people", into="ward", **options):
    return sqlanon.anatomy(con, source, **{**ASKED, "ledger": "ward.ledger", **options}, into=into)


def standing(con):
    """Return the numbers of the release and of the ledger that stand, None for what is not there."""
    try:
        ledger = len(sqlanon.ledger("ward.ledger", con).history)
    except SourceError:
        ledger = None
    there = con.execute("select to_regclass('ward.manifest')").fetchone()[0]
    told = con.execute("select manifest from ward.manifest").fetchone()[0] if there else None
    return told and json.loads(told)["parameters"]["release"], ledger


def test_release_and_ledger_appear_together_or_not_at_all(con, hospital, monkeypatch, tmp_path):
    import psycopg

    from sqlanon.engines.postgres.engine import PostgresEngine

    with pytest.raises(DataError):
        release(con, require="rows >= 500")
    assert standing(con) == (None, None)
    release(con)
    assert standing(con) == (1, 1)
    with monkeypatch.context() as patch:
        patch.setattr(PostgresEngine, "commit", lambda *_: (_ for _ in ()).throw(TargetError("disk full")))
        with pytest.raises(TargetError, match="disk full"):
            release(con, overwrite=True)
    assert standing(con) == (1, 1)
    commit = PostgresEngine.commit
    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as lost, monkeypatch.context() as patch:
        number = lost.info.backend_pid

        def lose(engine):
            commit(engine)
            con.execute(f"select pg_terminate_backend({number})")

        patch.setattr(PostgresEngine, "commit", lose)
        with pytest.raises(SqlanonError, match="the session on the PostgreSQL server was lost"):
            release(lost, overwrite=True)
    # whether it was reached is looked at by whoever comes next, where the release went
    with pytest.raises(TargetError, match="can only be looked at there"):
        sqlanon.ledger("ward.ledger")
    assert standing(con) == (1, 1)
    release(con, overwrite=True, since="ward")
    assert standing(con) == (2, 2)
    assert {path.name for path in tmp_path.iterdir()} == {"ward.ledger", "ward.ledger.last"}


def test_a_transaction_of_the_callers_that_is_undone_leaves_a_ledger_that_knows_more(con):
    release(con)
    con.execute("begin")
    release(con, overwrite=True)
    con.execute("rollback")
    assert standing(con) == (1, 2)
    release(con, overwrite=True)
    assert standing(con) == (3, 3)


@pytest.mark.parametrize(("moment", "number"), [("before", 1), ("after", 2)])
def test_killed_around_the_commit_both_stand_or_neither(con, hospital, tmp_path, moment, number):
    release(con)
    words = [sys.executable, "-c", DYING, hospital.dsn("ledgers"), str(tmp_path / "ward.ledger"), moment]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    lock = "select pg_advisory_lock(hashtextextended('sqlanon ward', 7))"
    con.execute(lock)  # until the server has heard of the death
    con.execute("select pg_advisory_unlock_all()")
    assert standing(con) == (number, number)
    assert (tmp_path / "ward.ledger").stat().st_mode & 0o777 == 0o600
    release(con, overwrite=True, since="ward")
    assert standing(con) == (number + 1, number + 1)
    assert {path.name for path in tmp_path.iterdir()} == {"ward.ledger", "ward.ledger.last"}


def test_an_older_copy_is_noticed(con, tmp_path):
    release(con)
    copies = {path: path.read_bytes() for path in tmp_path.iterdir()}
    con.execute("create schema vault")
    con.execute("create view decoys as select 'x' as manifest")
    con.execute("create schema evil create view manifest as select 1 / 0 as manifest")
    try:
        release(con, into="ward_2")
        report = sqlanon.ledger("ward.ledger", con).check(KEY)
        assert report.holds and report.checks[-1].found == {"compared": 2, "changed": []}
        for path, content in copies.items():
            path.write_bytes(content)
        with pytest.raises(UsageError, match=r"'ward_2' is release 2 of a ledger, and '.*ward\.ledger' knows 1"):
            release(con, into="ward_3")
        assert sqlanon.ledger("ward.ledger", con).check(KEY).holds is False
        con.execute("drop schema ward_2 cascade")
        assert release(con, into="ward_2").manifest["parameters"]["release"] == 2
    finally:
        con.execute("drop schema evil cascade; drop view decoys")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("text", "case i % 6 when 0 then '' when 1 then E'a,\"b\"\nc\\\\' else 'd' || i % 6 end"),
        ("numeric", "(i % 6) / 7.0"),
        ("timestamptz", "timestamptz '2024-05-06 07:08:09.123+02' + (i % 6) * interval '1 hour'"),
        ("bytea", "decode('00ff0' || i % 6, 'hex')"),
    ],
)
def test_values_of_the_servers_own_types_come_back(con, kind, values):
    con.execute(
        "create table kinds as select i as ssn, i % 40 as age,"
        f" cast({values} as {kind}) as disease from generate_series(1, 60) as t(i)"
    )
    try:
        asked = {"source": "kinds", "nulls": "value", "overwrite": True, "unique_sensitive": "keep"}
        first = release(con, **asked)
        lines = [con.execute(LINES).fetchall()]
        con.execute("delete from kinds where ssn < 4")
        release(con, **asked)
        lines.append(con.execute(LINES).fetchall())
        told = sqlanon.ledger("ward.ledger").as_plain()
        assert (told["departed"], told["present"], first.manifest["rows"]) == (3, 57, 60)
        assert {*lines[1]} <= {*lines[0]}
    finally:
        con.execute("drop table kinds")


def test_tables_of_the_server_are_no_ledger(con):
    con.execute("create schema vault")
    for name in ("book", "book_person", "book_value"):
        con.execute(f"create table vault.{name} as select 'x' as description")
    for look in (lambda: release(con, ledger="vault.book"), lambda: sqlanon.ledger("vault.book", con)):
        with pytest.raises(
            SourceError, match=r"'vault\.book' is a ledger of 0\.2\.0: ledger=SCHEMA\.TABLE was removed"
        ):
            look()


def test_a_job_and_the_command_line_name_the_table(con, hospital, shell):
    job = """\
method: anatomy
source: {engine: postgres, table: people}
roles: {quasi: age, sensitive: disease, id: ssn}
parameters: {l: 3, ledger: ward.ledger, unique_quasi: keep%s}
output: {into: ward, overwrite: true}
key_env: WARD_KEY
"""
    asked = {"WARD_KEY": KEY, "SQLANON_DSN": hospital.dsn("ledgers")}
    for number, since in ((1, ""), (2, ", since: ward")):
        (shell.folder / "nightly.yml").write_text(job % since)
        done = shell("run", "nightly.yml", **asked)
        assert json.loads(done.stdout)["parameters"]["release"] == number
    assert standing(con) == (2, 2)
    found = json.loads(shell("ledger", "ward.ledger", "--format", "json").stdout)
    assert found["releases"] == 2 and found["persons"] == 60
    look = ("ledger", "ward.ledger", "--check", "--engine", "postgres")
    checked = json.loads(shell(*look, "--format", "json", **asked, SQLANON_KEY=KEY).stdout)
    assert all(check["holds"] for check in checked["checks"]) and len(checked["checks"]) == 3
    done = shell("ledger", "ward.ledger", "--engine", "spark")
    assert done.returncode == 2 and "leave --engine spark out" in done.stderr
    done = shell("ledger", "ward.ledger", "--dsn", asked["SQLANON_DSN"])
    assert done.returncode == 2 and "--dsn is not for --engine duckdb" in done.stderr
    (shell.folder / "nightly.yml").write_text(job % ", changed: move")
    done = shell("run", "nightly.yml", "--check", **asked)
    assert done.returncode == 2 and "changed move was removed in 0.3.0" in done.stderr
