"""Files that older clients of DuckDB cannot open are told of, and written anew."""

import duckdb
import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import TargetError
from sqlanon.publishing.demo import tour
from sqlanon.publishing.store_macros import convert, store
from tests.client import Client
from tests.conftest import FEW_PATIENTS


def version(path):
    con = duckdb.connect(str(path), read_only=True)
    found = con.execute("select tags['storage_version'] from duckdb_databases() where not internal").fetchall()
    con.close()
    return found


def write_newest(path, select):
    """Write a table of patients in the newest format that this DuckDB has; return that format, without its `+`."""
    path.unlink(missing_ok=True)
    con = duckdb.connect()
    con.execute(
        f"attach '{path}' as made (storage_version 'latest'); create table made.patients as {select}"
    ).fetchall()
    con.close()
    ((newest,),) = version(path)
    return newest.removesuffix("+")


@pytest.mark.thorough
def test_macros_warn_of_a_file_that_older_clients_cannot_open(shell):
    path = shell.folder / "hospital.duckdb"
    newest = write_newest(path, FEW_PATIENTS)
    told = shell("macros", "--database", "hospital.duckdb").stderr
    warning = f"hospital.duckdb has DuckDB's format {newest}, which clients of earlier versions cannot open"
    assert (warning in told) is (newest != "v1.4.0")
    path.chmod(0o640)
    before = shell.left()
    done = shell("macros", "--database", "hospital.duckdb", "--convert")
    assert done.returncode == 0 and "warning" not in done.stderr
    assert version(path) == [("v1.4.0+",)] and path.stat().st_mode & 0o777 == 0o640 and shell.left() == before
    con = duckdb.connect(str(path))
    assert con.execute("select count(*) from patients").fetchall() == [(240,)]
    assert con.execute("from l_diversity('patients', ['sex'], 'disease')").fetchall()
    con.close()


def test_an_older_client_opens_what_was_converted(shell):
    assert shell("macros", "--database", "hospital.duckdb", "--convert").returncode == 0
    ran = Client(shell.folder / "hospital.duckdb").run("select count(*) as n from patients")
    assert ran.returncode == 0 and "600" in ran.stdout


@pytest.mark.parametrize("written", ["v1.0.0", "v1.4.0"])
def test_an_older_client_calls_the_macros_of_a_file_of_an_older_format(tmp_path, written):
    path = tmp_path / "hospital.duckdb"
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as made (storage_version '{written}'); use made").fetchall()
        con.execute(f"create table patients as {FEW_PATIENTS}").fetchall()
        store(DuckDBEngine(con))
    assert version(path) == [(f"{written}+",)]
    client = Client(path, "ab" * 32)
    assert client.rows("select count(*) as n from robust_groups('patients', 'disease', ['sex'], 2)") == [(240,)]
    assert client.rows("select count(*) as n from anatomy_qit('patients', ['age'], 'disease', 4, id := ['ssn'])") == [
        (240,)
    ]


def test_what_lies_in_the_log_is_not_lost(tmp_path):
    con = duckdb.connect(str(tmp_path / "a.duckdb"), config={"checkpoint_threshold": "1TB"})
    con.execute("pragma disable_checkpoint_on_shutdown").fetchall()
    con.execute("create table t as select 1 as a").fetchall()
    con.close()
    assert (tmp_path / "a.duckdb.wal").exists()
    convert(tmp_path / "a.duckdb")
    assert [path.name for path in tmp_path.iterdir()] == ["a.duckdb"]
    assert duckdb.connect(str(tmp_path / "a.duckdb")).execute("from t").fetchall() == [(1,)]


def test_what_cannot_be_converted_stands(tmp_path, monkeypatch):
    path = tmp_path / "a.duckdb"
    duckdb.connect(str(path)).close()
    kept = path.read_bytes()
    monkeypatch.setattr("sqlanon.publishing.store_macros.READABLE_STORAGE", "v0.0.1")
    with pytest.raises(TargetError, match="cannot convert"):
        convert(path)
    assert path.read_bytes() == kept and [one.name for one in tmp_path.iterdir()] == ["a.duckdb"]


def test_the_tour_makes_a_file_that_older_clients_open(tmp_path):
    assert version(tour(tmp_path).database) == [("v1.4.0+",)]
