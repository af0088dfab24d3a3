"""A ledger as tables of a PostgreSQL server: its owner's alone, and in one transaction with the release."""

import json

import pytest

import sqlanon
from sqlanon.errors import DataError, SourceError, SqlanonError, TargetError, UsageError
from sqlanon.ledgers.server_tables import split_name

KEY = "5e" * 32
ASKED = {"quasi": "age", "sensitive": "disease", "id": "ssn", "l": 3, "key": KEY, "unique_quasi": "keep"}
PEOPLE = "select i as ssn, i % 40 as age, 'd' || i % 8 as disease, i % 5 as ward from generate_series(1, 60) as t(i)"


@pytest.fixture(scope="module")
def hospital(server):
    """Make a database with people, whose default privileges give every table to a guest; return the server."""
    import psycopg

    with psycopg.connect(server.new_database("ledgers"), autocommit=True) as con:
        con.execute("create role \"a guest's\" login password 'open sesame'")
        con.execute('alter default privileges grant all on tables to public, "a guest\'s"')
        con.execute(f"create table people as {PEOPLE}")
    return server


@pytest.fixture
def con(hospital):
    """Open a connection with a schema for ledgers; what a test makes is dropped after it."""
    import psycopg

    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as con:
        con.execute("create schema vault")
        con.execute('grant usage on schema vault to public, "a guest\'s"')
        yield con
    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as con:
        for schema in ("vault", "ward", "ward_2"):
            con.execute(f"drop schema if exists {schema} cascade")


def release(con, source="people", into="ward", **options):
    return sqlanon.anatomy(con, source, **{**ASKED, "ledger": "vault.book", **options}, into=into)


def standing(con):
    """Return the numbers of the release and of the ledger that stand, None for what is not there."""
    from sqlanon.engines.postgres.engine import PostgresEngine

    engine = PostgresEngine(con)
    ledger = engine.rows("select * from vault.book") if "book" in engine.tables("vault") else []
    told = engine.rows("select * from ward.manifest") if engine.tables("ward") else []
    number = json.loads(told[0]["manifest"])["parameters"]["release"] if told else None
    return number, json.loads(ledger[0]["description"])["releases"][-1]["number"] if ledger else None


def test_nobody_but_the_owner_reads_a_ledger(con, hospital):
    import psycopg

    for number in (1, 2):
        release(con, overwrite=number == 2)
        with psycopg.connect(hospital.dsn("ledgers", "a%20guest's", "open%20sesame"), autocommit=True) as guest:
            assert guest.execute("select count(*) from people").fetchone() == (60,)
            for table in ("book", "book_person", "book_value"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    guest.execute(f"select * from vault.{table}")
            with pytest.raises(SqlanonError):
                sqlanon.ledger("vault.book", guest)
        granted = (
            "select count(*) from pg_class, aclexplode(relacl) as a where relname ~ '^book' and grantee <> relowner"
        )
        assert con.execute(granted).fetchone() == (0,)
    texts = con.execute("select description from vault.book union all select p::text from vault.book_person as p")
    assert not any(KEY in text for (text,) in texts.fetchall())
    names = "select relname from pg_class where relnamespace = 'vault'::regnamespace and relkind = 'r'"
    assert {name for (name,) in con.execute(names).fetchall()} == {"book", "book_person", "book_value"}


def test_release_and_ledger_appear_together_or_not_at_all(con, hospital, monkeypatch):
    import psycopg

    from sqlanon.engines.postgres.engine import PostgresEngine

    with pytest.raises(DataError):
        release(con, require="rows >= 500")
    assert standing(con) == (None, None)
    release(con)
    assert standing(con) == (1, 1)
    for broken in ("commit", "keep_private"):
        with monkeypatch.context() as patch:
            patch.setattr(PostgresEngine, broken, lambda *_: (_ for _ in ()).throw(TargetError("disk full")))
            with pytest.raises(TargetError, match="disk full"):
                release(con, overwrite=True)
        assert standing(con) == (1, 1)
    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as lost, monkeypatch.context() as patch:
        number = lost.info.backend_pid
        patch.setattr(PostgresEngine, "keep_private", lambda *_: con.execute(f"select pg_terminate_backend({number})"))
        with pytest.raises(SqlanonError, match="the session on the PostgreSQL server was lost"):
            release(lost, overwrite=True)
    assert standing(con) == (1, 1)
    con.execute("begin")
    release(con, overwrite=True)
    assert standing(con) == (2, 2)
    con.execute("rollback")
    assert standing(con) == (1, 1)
    release(con, overwrite=True, since="ward")
    assert standing(con) == (2, 2)


def test_an_edit_and_an_older_copy_are_noticed(con):
    release(con)
    for name in ("book", "book_person", "book_value"):
        con.execute(f"create table vault.old_{name} as table vault.{name}")
    con.execute("create view decoys as select 'x' as manifest")
    con.execute("create schema evil create view manifest as select 1 / 0 as manifest")
    try:
        release(con, into="ward_2")
        ledger = sqlanon.ledger("vault.book", con)
        report = ledger.check(KEY)
        assert report.holds and report.checks[-1].found == {"compared": 2, "changed": []}
        for edit, words in [
            ("update vault.book_person set standing = 'departed' where code = 1", "its table person does not fit"),
            ("update vault.book_value set sensitive = 'd9' where code = 1", "its table value does not fit"),
            ("update vault.book set description = replace(description, '\"l\": 3', '\"l\": 2')", "says of itself"),
        ]:
            con.execute("begin")
            con.execute(edit)
            with pytest.raises(SourceError, match=words):
                release(con, into="ward_3")
            assert ledger.check(KEY).holds is False
            con.execute("rollback")
        for name in ("book", "book_person", "book_value"):
            con.execute(f"drop table vault.{name}")
            con.execute(f"alter table vault.old_{name} rename to {name}")
        with pytest.raises(UsageError, match=r"'ward_2' is release 2 of a ledger, and 'vault\.book' knows 1"):
            release(con, into="ward_3")
        assert ledger.check(KEY).holds is False
        con.execute("drop schema ward_2 cascade")
        assert release(con, into="ward_2").manifest["parameters"]["release"] == 2
    finally:
        con.execute("drop schema evil cascade; drop view decoys")


def test_one_run_at_a_time_publishes_under_a_ledger(con, hospital):
    import psycopg

    with psycopg.connect(hospital.dsn("ledgers"), autocommit=True) as other:
        other.execute("select pg_advisory_lock(hashtextextended('sqlanon ledger vault.book', 7))")
        with pytest.raises(TargetError, match=r"another run publishes under 'vault\.book'"):
            release(con)
        other.execute("select pg_advisory_unlock_all()")
    assert release(con).manifest["rows"] == 60


def test_what_does_not_follow_is_refused(con):
    release(con)
    con.execute("create or replace view grown as select ssn + 10 as ssn, age, disease, ward from people")
    con.execute("create or replace view named as select ssn::text as ssn, age, disease, ward from people")
    con.execute("create or replace view twice as table people union all select 7, 1, 'd1', 1")
    con.execute("create or replace view nameless as select nullif(ssn, 7) as ssn, age, disease, ward from people")
    con.execute("create or replace view gone as select * from people where ssn < 6")
    release(con, "grown", overwrite=True)
    refused = [
        (UsageError, "was made with another key", {"key": "6f" * 32}),
        (UsageError, "have the l 3, this request 4", {"l": 4}),
        (UsageError, "have the sensitive column disease, this request ward", {"sensitive": "ward"}),
        (UsageError, "type of id INTEGER, this request VARCHAR", {"source": "named"}),
        (UsageError, "no release of this ledger had the quasi column 'ward'", {"quasi": ["age", "ward"]}),
        (UsageError, "'ward' is release 2 of a ledger, and 'vault.other' knows 0", {"ledger": "vault.other"}),
        (UsageError, "'nothing' is no release under a ledger", {"since": "nothing"}),
        (UsageError, "lies in a release, which is handed on", {"ledger": "ward.book"}),
        (UsageError, "written in step with a release that lasts", {"into": None, "overwrite": False}),
        (DataError, "more than one row", {"source": "twice"}),
        (DataError, "1 row has no id", {"source": "nameless"}),
        (DataError, "of the last release are not in the source", {"source": "gone"}),
        (TargetError, "no schema 'nowhere' to keep the ledger in", {"ledger": "nowhere.book"}),
    ]
    for kind, words, options in refused:
        with pytest.raises(kind) as error:
            release(con, **{"overwrite": True, **options})
        assert words in str(error.value)
        assert standing(con) == (2, 2)
    with pytest.raises(UsageError, match="have the method anatomy, this request robust"):
        known = {**ASKED, "r": 3, "background_from": "age", "max_suppressed": 0.9, "ledger": "vault.book"}
        sqlanon.robust(con, "people", **{name: value for name, value in known.items() if name != "l"}, into="ward_2")
    assert release(con, "gone", overwrite=True, expect_departures=True, since="ward").manifest["rows"] == 5


def test_names_that_are_no_ledgers_are_refused(con):
    for named, words in [
        ("book", "a ledger on postgres is a table"),
        (".book", "a ledger on postgres is a table"),
        ("pg_temp.book", "is the server's own schema"),
        ("information_schema.book", "is the server's own schema"),
        ("vault." + "b" * 60, "too long: 56 bytes"),
    ]:
        with pytest.raises(UsageError, match=words):
            release(con, ledger=named)
    assert split_name("a.b.c") == ("a.b", "c")
    con.execute("create view vault.book as select 'evil' as description")
    con.execute("create table vault.plain as select 1 as a")
    for name in ("half", "half_person", "half_value"):
        con.execute(f"create table vault.{name} as select 'x' as description")
    for name in ("book", "plain", "half"):
        with pytest.raises(SourceError, match="no ledger"):
            release(con, ledger=f"vault.{name}")
        with pytest.raises(SourceError, match="no ledger"):
            sqlanon.ledger(f"vault.{name}", con)
    with pytest.raises(SourceError, match=r"no ledger 'vault\.none'"):
        sqlanon.ledger("vault.none", con)


def test_a_job_and_the_command_line_name_the_table(con, hospital, shell):
    job = """\
method: anatomy
source: {engine: postgres, table: people}
roles: {quasi: age, sensitive: disease, id: ssn}
parameters: {l: 3, ledger: vault.book, unique_quasi: keep%s}
output: {into: ward, overwrite: true}
key_env: WARD_KEY
"""
    asked = {"WARD_KEY": KEY, "SQLANON_DSN": hospital.dsn("ledgers")}
    for number, since in ((1, ""), (2, ", since: ward")):
        (shell.folder / "nightly.yml").write_text(job % since)
        done = shell("run", "nightly.yml", **asked)
        assert json.loads(done.stdout)["parameters"]["release"] == number
    assert standing(con) == (2, 2)
    found = json.loads(shell("ledger", "vault.book", "--engine", "postgres", "--format", "json", **asked).stdout)
    assert found["releases"] == 2 and found["persons"] == 60
    done = shell("ledger", "vault.book", "--dsn", asked["SQLANON_DSN"])
    assert done.returncode == 2 and "--dsn is not for --engine duckdb" in done.stderr
    (shell.folder / "nightly.yml").write_text(job % ", changed: move")
    done = shell("run", "nightly.yml", "--check", **asked)
    assert done.returncode == 2 and "changed move was removed in 0.3.0" in done.stderr
