"""Empty databases in memory, one after the other in the same few instances of DuckDB.

An instance registers its thousands of functions anew, which takes longer than most tests.
"""

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
import pytest

from tests.examples import PROFILE

# the database goes with all that is in it, and an empty one gets its name
EMPTY = (
    "attach ':memory:' as next_one; use next_one; detach memory;"
    " attach ':memory:' as memory; use memory; detach next_one"
)
ATTACHED = "select database_name from duckdb_databases() where not internal"
# what one connection sets for every other of its instance, where tests set it or would feel it
SETTINGS = (
    *("threads", "memory_limit", "temp_directory", "default_collation", "default_order", "default_null_order"),
    *("preserve_insertion_order", "integer_division", "enable_external_access", "lock_configuration"),
)
SET = f"select {', '.join(f'current_setting({name!r})' for name in SETTINGS)}"

# each worker of a run has a core of its own; what threads could change is tested with numbers of them that are named,
# and once more with all of them where more examples are drawn
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) if PROFILE == "quick" else 1
THREADS = max(1, (os.cpu_count() or 1) // WORKERS)

_idle: list[tuple[duckdb.DuckDBPyConnection, object]] = []  # a connection of each instance that nobody uses, and SET


def connect() -> duckdb.DuckDBPyConnection:
    """Open an empty database; when nobody has the connection any more, its instance serves the next."""
    while _idle:
        instance, settings = _idle.pop()
        if _emptied(instance, settings):
            break
        instance.close()
    else:
        instance = duckdb.connect(config={"threads": THREADS})
        settings = instance.execute(SET).fetchall()
    connection = instance.cursor()
    weakref.finalize(connection, _idle.append, (instance, settings)).atexit = False
    return connection


def _emptied(instance: duckdb.DuckDBPyConnection, settings: object) -> bool:
    """Empty an instance's database; tell whether it now is as a new one."""
    try:
        instance.execute(EMPTY)
        return instance.execute(SET).fetchall() == settings and instance.execute(ATTACHED).fetchall() == [("memory",)]
    except duckdb.Error:  # locked, or told to read no other database
        return False


def database(*statements: str) -> Any:
    """Return a fixture for all tests of a module: a connection to a database in which statements have run."""

    @pytest.fixture(scope="module")
    def opened() -> Iterator[duckdb.DuckDBPyConnection]:
        con = connect()
        for statement in statements:
            con.execute(statement).fetchall()
        yield con
        con.close()

    return opened


def insert(con: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows, if any, in one statement: one for each of them takes five times as long."""
    held = list(rows)
    if held:
        marks = ", ".join([f"({', '.join('?' * len(held[0]))})"] * len(held))
        con.execute(f"insert into {table} values {marks}", [value for row in held for value in row]).fetchall()


def close_instances() -> None:
    """Close what nobody uses."""
    while _idle:
        _idle.pop()[0].close()
