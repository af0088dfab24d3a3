"""DuckDB's errors as ours: which are the data's, and which a disk's."""

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb.connection import connect_beside
from sqlanon.engines.duckdb.engine import UNUSABLE, DuckDBEngine
from sqlanon.engines.duckdb.errors import translate_error
from sqlanon.errors import ResourceError, SqlanonError, TargetError


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (
            duckdb.OutOfMemoryException("Out of Memory Error: failed to offload data block of size 160.0 KiB"),
            TargetError,
            "no space left on the disk, or in temp_directory",
        ),
        (duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block"), ResourceError, "memory_limit"),
        (duckdb.FatalException("FATAL Error: commit: No space left on device"), TargetError, "no space left"),
        (
            duckdb.TransactionException('Failed to commit: Could not write file "w.wal": File too large'),
            TargetError,
            "File too large",
        ),
        (duckdb.IOException("IO Error: Could not write file"), TargetError, "Could not write"),
        (duckdb.TransactionException("Catalog write-write conflict on create"), TargetError, "another run has written"),
        (
            duckdb.IOException(
                "IO Error: Async write failed for range [offset=27, size=9]:"
                ' {"exception_type":"IO","exception_message":"Could not write file \\"a.parquet\\": File too large"}'
            ),
            TargetError,
            'size=9]: Could not write file "a.parquet": File too large',
        ),
        (duckdb.IOException('IO Error: failed: {"exception_type":"IO",'), TargetError, "failed: "),
        (duckdb.TransactionException("cannot rollback"), SqlanonError, "cannot rollback"),
    ],
)
def test_an_error_says_whose_it_is(error, kind, says):
    told = translate_error(error)
    assert type(told) is kind and says in str(told)
    assert "exception_type" not in str(told) or "}" not in str(error)


class FaultyConnection:
    """Pass all on to a connection, but fail inside DuckDB at a statement that holds a text; stay shut if so asked."""

    def __init__(self, connection, text, shuts):
        self.connection, self.text, self.shuts, self.shut = connection, text, shuts, False

    def execute(self, sql, *parameters):
        if self.shut:
            raise duckdb.FatalException("FATAL Error: database has been invalidated: 'd1'")
        if self.text in sql:
            self.shut = self.shuts
            raise duckdb.InternalException("INTERNAL Error: vector of size 1, index 'd1'\n\nStack Trace:\n0x1")
        return self.connection.execute(sql, *parameters)

    def __getattr__(self, name):
        return getattr(self.connection, name)


@pytest.mark.parametrize("shuts", [False, True])
def test_a_fault_of_duckdbs_own_names_the_template_and_leaves_nothing(patients, tmp_path, monkeypatch, shuts):
    begin = DuckDBEngine.__init__

    def begin_faulty(engine, connection, catalog=None):
        begin(engine, connection, catalog)
        engine.connection = FaultyConnection(connection, '_ranked" as', shuts)

    monkeypatch.setattr(DuckDBEngine, "__init__", begin_faulty)
    roles = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}
    temporary = "select count(*) from duckdb_tables() where temporary"
    before = patients.execute(temporary).fetchall()
    with pytest.raises(sqlanon.SqlanonError) as raised:
        sqlanon.robust(patients, "patients", r=2, background_from="sex", out=tmp_path / "release", **roles)
    said = str(raised.value)
    assert raised.value.exit_code == 1 and "\n" not in said and "d1" not in said and "index" not in said
    assert "sql_templates/counting.sql.j2" in said and "duckdb/issues" in said
    assert (UNUSABLE in said) is shuts
    assert list(tmp_path.iterdir()) == []
    if not shuts:
        assert patients.execute(temporary).fetchall() == before


def test_readers_that_share_a_database_outlive_its_fault(monkeypatch):
    first = connect_beside()
    assert first.execute("select 1").fetchall() == [(1,)]
    from sqlanon.engines.duckdb import connection

    shut = FaultyConnection(first, "", shuts=True)
    shut.shut, opened = True, iter([shut])
    real = connection._instance
    monkeypatch.setattr(connection, "_instance", lambda process: next(opened, None) or real(process))
    connection._instance.cache_clear = real.cache_clear
    assert connect_beside().execute("select 2").fetchall() == [(2,)]
