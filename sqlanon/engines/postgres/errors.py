"""PostgreSQL's errors as ours: what the caller can do about each, and no value of the data."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from sqlanon.errors import DataError, SourceError, SqlanonError, TargetError, UsageError


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
