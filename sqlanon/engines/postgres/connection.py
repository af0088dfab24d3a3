"""Open PostgreSQL connections of our own, under settings that keep the text of values the same everywhere.

The server's errors become ours: what the caller can do about each, and no value of the data.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.rows import tuple_row

from sqlanon.errors import DataError, SourceError, SqlanonError, TargetError, UsageError

# What the text of a value depends on, and with it a row's identity and the draws of a key.
# (Where functions are looked up stands beside them: `search_path`, in the engine, for every statement.)
# And no compiling of expressions: each of our statements runs once, and a million rows do not pay the compiler back.
SETTINGS = {"datestyle": "ISO, YMD", "timezone": "UTC", "extra_float_digits": "1", "jit": "off"}


def connect(dsn: str | None) -> psycopg.Connection[Any]:
    """Open a connection of our own; `dsn` is never shown, as it may hold a password."""
    logging.getLogger("psycopg").addHandler(logging.NullHandler())  # a lost session is told once, by us
    # set from the first statement on: what a date's text is must not depend on the server's configuration
    options = " ".join(f"-c {name}={value.replace(' ', '')}" for name, value in SETTINGS.items())
    try:
        parameters: dict[str, Any] = {"connect_timeout": 10, **psycopg.conninfo.conninfo_to_dict(dsn or "")}
        parameters["options"] = f"{parameters.get('options') or ''} {options}".strip()
        return psycopg.connect(**parameters, autocommit=True)
    except psycopg.ProgrammingError:
        raise UsageError("the --dsn cannot be read; write postgresql://user@host:port/database") from None
    except psycopg.OperationalError as error:
        raise SourceError(f"cannot open a session on the PostgreSQL server: {last_cause(error)}") from None


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn the server's errors into ours; a value of the data that one quotes is left out."""
    try:
        yield
    except psycopg.Error as error:
        raise _translate_error(error) from None


def _translate_error(error: psycopg.Error) -> SqlanonError:
    line = last_cause(error)
    if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction | errors.DiskFull):
        return TargetError(f"PostgreSQL refuses: {line}")
    if isinstance(error, errors.DuplicateSchema | errors.DuplicateTable | errors.UniqueViolation):
        return TargetError(f"another run has written there meanwhile, which stays: {line.partition('DETAIL')[0]}")
    # its message quotes the value that could not be read, which may be a sensitive one
    if isinstance(error, errors.DataError):
        return DataError(f"PostgreSQL cannot read a value of the source ({type(error).__name__})")
    if isinstance(error, errors.QueryCanceled):
        return DataError(f"PostgreSQL stopped a statement: {line}")
    # class 08 is the connection's, 57 the operator's: a server that stops or a session that is ended
    if error.sqlstate is None or error.sqlstate[:2] in ("08", "57"):
        return SourceError("the session on the PostgreSQL server was lost; nothing was published: run again")
    if error.sqlstate[:2] == "42":  # syntax, names, rights
        return UsageError(line)
    return SqlanonError(line)


def last_cause(error: psycopg.Error) -> str:
    """Return the last cause that the client or the server names, without addresses tried before."""
    primary = error.diag.message_primary
    lines = [line for line in str(error).strip().splitlines() if line and not line.lstrip().startswith("Is the ")]
    text = primary or (lines[0] if lines else type(error).__name__)
    return text.rpartition("FATAL:  ")[2].strip()


# no function and no operator of the database's owner stands in for one of the server's
_PATH = {"search_path": "pg_catalog, pg_temp"}
# each worker groups rows by itself, and where groups are nearly as many as rows it hands on nearly all of them, which
# costs more than it saves; the server, which has no figures of rows that a statement makes, takes groups to be few
# and the start of a worker takes as much of a processor as some 100,000 rows do, which below millions saves nothing
_FEW_HANDED_ON = {"parallel_tuple_cost": "0.5", "parallel_setup_cost": "50000"}
# of tables that are read once or twice a tenth of the server's own sample tells enough
FEW_ROWS = {"default_statistics_target": "10"}
# `lag(…) over ()` sees the rows as they lie: one process reads the table, from its first page on, and no index
_STORED_ORDER = {
    "max_parallel_workers_per_gather": "0",
    "synchronize_seqscans": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
}
# of rows that a statement makes itself little is known, and where it is guessed that they are few, a nested loop over
# them takes the square of their number; our tables have no index, so that in no case it is much better than a hash
_NO_LOOPS = {"enable_nestloop": "off"}
_JOINS = re.compile(r"\bjoin\b", re.IGNORECASE)
# what only loops can join: forbidden, they would outweigh every other cost
_LOOPS = re.compile(r"\b(cross join|lateral|on\s+true|unnest)\b", re.IGNORECASE)
# what many rows are sorted or hashed for
_SORTS = re.compile(r"\b(?:group by|order by|partition by|distinct|(?<!cross )join)\b", re.IGNORECASE)
_LAG = re.compile(r"\blag\(", re.IGNORECASE)
_ENOUGH = 64 * 2**20  # bytes: beyond them, sorts and hashes of millions of rows hardly get faster
_SIZE = "pg_catalog.pg_size_bytes(pg_catalog.current_setting('{}'))"


def settings_for(sql: str) -> Mapping[str, str]:
    """Return what a statement has to run under."""
    loops = _NO_LOOPS if _JOINS.search(sql) and not _LOOPS.search(sql) else {}
    return {**_PATH, **_FEW_HANDED_ON, **loops, **(_STORED_ORDER if _LAG.search(sql) else {})}


def quarters_for(sql: str) -> int:
    """Return how many quarters of a task's memory one sort or hash of a statement has: two where there is one alone.

    A statement of ours has four sorts and hashes of many rows at most, which stay within a task's memory together. One
    alone has two quarters, for a hash takes twice what it is given.
    """
    return 2 if len(_SORTS.findall(sql)) == 1 else 1


@contextmanager
def pinned(connection: psycopg.Connection[Any], settings: Mapping[str, str], quarters: int = 1) -> Iterator[None]:
    """Hold settings to these values, inside, in the transaction that is open.

    quarters: of the memory that a task may have (`maintenance_work_mem`), what one sort or hash gets at least.
    """
    cursor, names = connection.cursor(row_factory=tuple_row), [*settings, "work_mem"]
    calls = [*["pg_catalog.current_setting(%s)"] * len(names), *map(_SIZE.format, ("work_mem", "maintenance_work_mem"))]
    ((*before, work, maintenance),) = cursor.execute(f"select {', '.join(calls)}", names).fetchall()
    memory = f"{max(work, min(maintenance * quarters // 4, _ENOUGH)) // 1024}kB"
    setting = f"select {', '.join(['pg_catalog.set_config(%s, %s, true)'] * len(names))}"
    cursor.execute(setting, [text for pair in zip(names, [*settings.values(), memory], strict=True) for text in pair])
    yield  # an error undoes this with all else
    cursor.execute(setting, [text for pair in zip(names, before, strict=True) for text in pair])
