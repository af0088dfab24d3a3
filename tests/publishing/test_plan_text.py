"""A script shows what runs: on DuckDB here, on the other engines among their own tests."""

import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from tests.conftest import METHODS
from tests.traced import PEOPLE, hold_against_script


@pytest.mark.parametrize("method", METHODS)
def test_a_script_shows_what_runs(con, method):
    values = {"text": "i", "zip": "'z' || i % 11", "age": "20 + i * 7 % 60", "disease": "'d' || i % 8"}
    con.execute(f"create table patients as {PEOPLE.format(**values, numbers='range(600) as t(i)')}")
    publish = getattr(sqlanon, method)
    hold_against_script(method, DuckDBEngine, "duckdb", lambda **options: publish(con, "patients", **options), con)


def test_the_methods_are_all_traced():
    from sqlanon.methods import METHODS as DECLARED

    assert set(METHODS) == set(DECLARED)
