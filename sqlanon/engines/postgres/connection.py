"""Open PostgreSQL connections of our own, under settings that keep the text of values the same everywhere.

The server's errors become ours: what the caller can do about each, and no value of the data.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors

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
