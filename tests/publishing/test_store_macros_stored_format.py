"""Files that older clients of DuckDB open."""

import duckdb
import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.publishing.demo import tour
from sqlanon.publishing.store_macros import store
from tests.client import Client
from tests.conftest import FEW_PATIENTS


def version(path):
    con = duckdb.connect(str(path), read_only=True)
    found = con.execute("select tags['storage_version'] from duckdb_databases() where not internal").fetchall()
    con.close()
    return found


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


def test_the_tour_makes_a_file_that_older_clients_open(tmp_path):
    assert version(tour(tmp_path).database) == [("v1.4.0+",)]
