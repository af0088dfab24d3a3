"""A caller's own settings change no result, or are refused in words."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import duckdb
import pytest

import sqlanon
from sqlanon.engines.connect import engine_of, open_duckdb
from sqlanon.errors import ResourceError, SourceError
from tests.caller_settings import PEOPLE, ROLES, do_all, set_on
from tests.databases import connect


def caller():
    """Open a connection of an instance that no other test gets: what is set or locked stays so."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"create table patients as {PEOPLE}").fetchall()
    return connection


@pytest.fixture(scope="module")
def usual():
    with caller() as connection:
        return do_all(connection)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("default_order", "desc"),
        ("default_null_order", "nulls_first"),
        ("preserve_insertion_order", "false"),
        ("errors_as_json", "true"),
        ("ieee_floating_point_ops", "false"),
        ("old_implicit_casting", "true"),
    ],
)
def test_a_setting_changes_no_result(usual, name, value):
    with caller() as connection:
        if not set_on(connection, name, value):
            pytest.skip("this DuckDB has no such setting")
        assert do_all(connection) == usual


@pytest.mark.parametrize(
    ("name", "value"),
    [("integer_division", "true"), ("default_collation", "nocase"), ("preserve_identifier_case", "uppercase")],
)
def test_a_setting_that_changes_what_sql_means_is_refused(name, value):
    with caller() as connection:
        if not set_on(connection, name, value):
            pytest.skip("this DuckDB has no such setting")
        with pytest.raises(
            sqlanon.UsageError, match=rf"the connection's {name} is '{value}', under which .*; set {name}"
        ):
            sqlanon.anatomy(connection, "patients", l=3, **ROLES)
        (words,) = connection.execute("select value from duckdb_settings() where name = ?", [name]).fetchone()
        assert words == value  # nothing was set back in silence


def test_a_locked_connection_publishes_in_utc_and_else_says_what_to_do():
    for zone, publishes in (("UTC", True), ("Asia/Tokyo", False)):
        with caller() as connection:
            connection.execute(f"set TimeZone = '{zone}'").fetchall()
            connection.execute("set lock_configuration = true").fetchall()
            if publishes:
                assert sqlanon.anatomy(connection, "patients", l=3, **ROLES).verify(against="patients").holds
            else:
                with pytest.raises(
                    sqlanon.UsageError, match=r"locked .lock_configuration.*set TimeZone = 'UTC' before"
                ):
                    sqlanon.anatomy(connection, "patients", l=3, **ROLES)


def test_a_connections_own_limit_of_time_is_told():
    with caller() as connection:
        if not set_on(connection, "max_execution_time", "1"):
            pytest.skip("this DuckDB has no such setting")
        with pytest.raises(ResourceError, match="max_execution_time"):
            engine_of(connection).rows("select sum(hash(range)) as total from range(1000000000)")


# -- extensions -----------------------------------------------------------------------------------


@pytest.fixture
def repository():
    """Serve no extension over HTTP; return the address and the paths that were asked for."""
    paths = []

    class Asked(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Asked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


def point_to(connection, address, folder):
    for name in ("custom_extension_repository", "autoinstall_extension_repository"):
        connection.execute(f"set {name} = '{address}'").fetchall()
    connection.execute(f"set extension_directory = '{folder}'").fetchall()


@pytest.mark.parametrize("url", ["https://localhost:1/patients.parquet", "s3://bucket/patients.csv", "az://box/p.json"])
@pytest.mark.parametrize("ours", [True, False])
def test_a_url_makes_duckdb_fetch_no_extension(repository, tmp_path, url, ours):
    address, paths = repository
    engine = open_duckdb() if ours else engine_of(connect())
    point_to(engine.connection, address, tmp_path)
    try:
        with pytest.raises(SourceError, match=r"needs DuckDB's extension (httpfs|azure), which is not installed"):
            engine.find_source(url)
        assert paths == []
    finally:
        engine.connection.execute("reset extension_directory").fetchall()
        for name in ("custom_extension_repository", "autoinstall_extension_repository"):
            engine.connection.execute(f"reset {name}").fetchall()


def test_our_own_connections_install_nothing_whatever_is_read(repository, tmp_path):
    address, paths = repository
    engine = open_duckdb()
    point_to(engine.connection, address, tmp_path)
    with pytest.raises(sqlanon.SqlanonError, match="needs DuckDB's extension httpfs, which is not installed"):
        engine.rows("select * from read_parquet('https://localhost:1/patients.parquet')")
    assert paths == []
    # a connection as DuckDB opens it does ask: the server would have seen it
    with duckdb.connect() as connection:
        point_to(connection, address, tmp_path)
        with pytest.raises(duckdb.Error):
            connection.execute("select * from read_parquet('https://localhost:1/patients.parquet')")
    assert paths != []
