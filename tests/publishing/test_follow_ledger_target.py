"""A ledger that is a file, and releases that are schemas of a DuckDB database: both appear or neither."""

import json
import signal
import subprocess
import sys

import duckdb
import pytest

import sqlanon
from sqlanon.engines.connect import open_duckdb
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DataError, TargetError, UsageError

KEY = "5e" * 32
ASKED = {"quasi": "age", "sensitive": "disease", "id": "ssn", "l": 3, "key": KEY, "unique_quasi": "keep"}
PEOPLE = "select i as ssn, i % 40 as age, 'd' || i % 8 as disease from range(60) as t(i)"
# publish and die just before the database's commit, or just after it
DYING = """
import os, signal, sys
import duckdb, sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
commit = DuckDBEngine.commit
def die(engine):
    if sys.argv[2] == "after":
        commit(engine)
    os.kill(os.getpid(), signal.SIGKILL)
DuckDBEngine.commit = die
con = duckdb.connect(sys.argv[1] + "/hospital.duckdb")
sqlanon.anatomy(con, "people", quasi="age", sensitive="disease", id="ssn", l=3, key="5e" * 32, unique_quasi="keep",
    ledger=sys.argv[1] + "/ward.ledger", into="ward", overwrite=True)
"""


@pytest.fixture
def hospital(tmp_path):
    """Make a database file with people; return its folder."""
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as con:
        con.execute(f"create table people as {PEOPLE}")
    return tmp_path


def release(folder, into="ward", **options):
    """Publish in a session of its own."""
    with duckdb.connect(str(folder / "hospital.duckdb")) as con:
        given = {**ASKED, "ledger": folder / "ward.ledger", **options}
        return sqlanon.anatomy(con, given.pop("source", "people"), into=into, **given)


def standing(folder):
    """Return the numbers of the release and of the ledger, None for what is not there; mends first, as anybody does."""
    try:
        ledger = len(sqlanon.ledger(folder / "ward.ledger").history)
    except sqlanon.SqlanonError:
        ledger = None
    with duckdb.connect(str(folder / "hospital.duckdb"), read_only=True) as con:
        if not con.execute("select * from duckdb_tables() where table_name = 'manifest'").fetchall():
            return None, ledger
        ((text,),) = con.execute("select manifest from ward.manifest").fetchall()
        return json.loads(text)["parameters"]["release"], ledger


def test_releases_in_schemas_follow_each_other(hospital):
    release(hospital)
    with duckdb.connect(str(hospital / "hospital.duckdb")) as con:
        arrivals = "select 90 + i, 30, 'e' || i from range(4) t(i)"
        con.execute(f"create table later as select * from people where ssn > 4 union all {arrivals}")
    told = release(hospital, "ward_2", source="later", since="ward")
    assert told.manifest["parameters"]["release"] == 2 and told.manifest["rows"] == 55
    second = sqlanon.open("ward_2", str(hospital / "hospital.duckdb"))
    assert second.verify(since="ward").holds and "shared" in second.verification_sql(since="ward")
    second.engine.connection.close()
    with pytest.raises(UsageError, match="'ward' is release 1 of a ledger, and the last one"):
        release(hospital, "ward_3", since="ward")
    assert {path.name for path in hospital.iterdir()} == {"hospital.duckdb", "ward.ledger", "ward.ledger.last"}


def test_a_directory_of_the_schemas_name_is_another_release(hospital, monkeypatch):
    monkeypatch.chdir(hospital)
    with duckdb.connect(str(hospital / "hospital.duckdb")) as con:
        for number in (1, 2):
            sqlanon.anatomy(con, "people", **ASKED, ledger="other.ledger", out="ward", overwrite=number == 2)
    release(hospital)
    assert release(hospital, overwrite=True, since="ward").manifest["parameters"]["release"] == 2
    release(hospital, "ward_2")
    with pytest.raises(UsageError, match=r"'ward' is release 2 of a ledger, and the last one of .* is 3"):
        release(hospital, "ward_3", since="ward")


def test_what_fails_leaves_both_as_they_were(hospital, monkeypatch):
    def full(*_):
        raise TargetError("disk full")

    for number in (None, 1):
        for broken in ("commit", "create"):
            with monkeypatch.context() as patch:
                patch.setattr(DuckDBEngine, broken, full)
                with pytest.raises(TargetError, match="disk full"):
                    release(hospital, overwrite=True)
            assert standing(hospital) == (number, number)
        with pytest.raises(DataError):
            release(hospital, overwrite=True, require="rows >= 500")
        assert standing(hospital) == (number, number)
        release(hospital, overwrite=True)
    assert standing(hospital) == (2, 2)


@pytest.mark.parametrize(("moment", "number"), [("before", 1), ("after", 2)])
def test_killed_around_the_commit_both_stand_or_neither(hospital, moment, number):
    release(hospital)
    done = subprocess.run([sys.executable, "-c", DYING, str(hospital), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    # while another program has the database open, nobody can tell: the folder that says what was under way stays
    words = "cannot be looked at while another program has that database open"
    with duckdb.connect(str(hospital / "hospital.duckdb")), pytest.raises(TargetError, match=words):
        sqlanon.ledger(hospital / "ward.ledger")
    assert standing(hospital) == (number, number)
    release(hospital, overwrite=True, since="ward")
    assert standing(hospital) == (number + 1, number + 1)
    assert {path.name for path in hospital.iterdir()} == {"hospital.duckdb", "ward.ledger", "ward.ledger.last"}


def test_the_run_that_follows_a_dead_one_mends_in_its_own_session(hospital):
    done = subprocess.run([sys.executable, "-c", DYING, str(hospital), "before"], check=False)
    assert done.returncode == -signal.SIGKILL and (hospital / "ward.ledger").is_file()
    assert release(hospital).manifest["parameters"]["release"] == 1
    assert standing(hospital) == (1, 1)


def test_a_release_in_memory_has_a_ledger_too(tmp_path):
    engine = open_duckdb()
    engine.execute(f"create table people as {PEOPLE}")
    for number in (1, 2):
        found = sqlanon.anatomy(
            engine.connection, "people", **ASKED, ledger=tmp_path / "l", into="ward", overwrite=number == 2
        )
        assert found.manifest["parameters"]["release"] == number
    assert len(sqlanon.ledger(tmp_path / "l").history) == 2
