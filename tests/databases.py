"""Empty databases in memory, one after the other in the same few instances of DuckDB.

An instance registers its thousands of functions anew, which takes longer than most tests.
"""

import contextlib
from collections.abc import Iterator

import duckdb

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

_idle: list[duckdb.DuckDBPyConnection] = []  # one connection each of the instances that nobody uses


@contextlib.contextmanager
def empty_database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend a connection to an empty database; what it made or set is gone after it."""
    root = _idle.pop() if _idle else duckdb.connect()
    settings = root.execute(SET).fetchall()
    connection = root.cursor()
    try:
        yield connection
    finally:
        connection.close()
        try:
            root.execute(EMPTY)
            clean = root.execute(SET).fetchall() == settings and root.execute(ATTACHED).fetchall() == [("memory",)]
        except duckdb.Error:  # the test locked it, or left a statement running
            clean = False
        if clean:
            _idle.append(root)
        else:
            root.close()


def close_instances() -> None:
    """Close what nobody uses."""
    while _idle:
        _idle.pop().close()
