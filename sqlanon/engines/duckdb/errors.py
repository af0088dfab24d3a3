"""DuckDB's errors as ours: what the caller can do about each, and no value of the data."""

import json
import re
from collections.abc import Sequence

import duckdb

from sqlanon.engines.duckdb.read_errors import describe_damage, describe_read_error
from sqlanon.engines.statement_text import first_line
from sqlanon.errors import (
    DataError,
    InterruptedRunError,
    ResourceError,
    SourceError,
    SqlanonError,
    TargetError,
    UsageError,
)
from sqlanon.wording import option

_ERROR_KIND = re.compile(r"\A[A-Z][A-Za-z ]* Error: ")
# an error of a thread that writes, quoted in another's: DuckDB writes it down as JSON
_INNER = re.compile(r'\{"exception_type":.*\}')
_LONGEST = "exceeded maximum execution time"
_FAULT = re.compile(r"\A(INTERNAL|FATAL) Error|\AInvalid Error: (unordered_map|vector|map|basic_string|deque|std)::")
OLDEST, NEWEST = (1, 4), 2  # the versions of DuckDB that tests run on; pyproject.toml says the same
_FULL_DISK = ("No space left on device", "Disk quota exceeded", "failed to offload data block")
_VALUE_ERRORS = {
    duckdb.ConversionException: "a value of the source cannot be read as what its column holds",
    duckdb.OutOfRangeException: "a number of the source is larger than what its column, or a sum of it, can hold",
    duckdb.InvalidInputException: "DuckDB cannot read a value of the source",
}


def refuse_older_version(version: str = duckdb.__version__) -> None:
    """Refuse a DuckDB that lacks what our statements call, before one of them fails for a reason of its own."""
    numbers = re.findall(r"\d+", version)[:2]
    if tuple(map(int, numbers)) < OLDEST:
        raise UsageError(
            f"sqlanon needs DuckDB {OLDEST[0]}.{OLDEST[1]} or later, and this Python has {version}:"
            " pip install --upgrade 'duckdb>=1.4,<3'"
        )


def _inner_message(quoted: re.Match[str]) -> str:
    """Return the words of an error that is quoted as JSON, none where it cannot be read."""
    try:
        return str(json.loads(quoted[0])["exception_message"])
    except (ValueError, LookupError, RecursionError):
        return "no more is known"


def translate_error(error: duckdb.Error, files: Sequence[str] = (), template: str = "") -> SqlanonError:
    """Return the exception of ours that says the same; a value of the data that DuckDB quotes is left out.

    files: the files that the session reads, as they were named. template: of the statement, '' for another text.
    """
    line = _ERROR_KIND.sub("", _INNER.sub(_inner_message, first_line(error)))
    if isinstance(error, duckdb.InterruptException) and _LONGEST not in line:
        return InterruptedRunError("the statement was interrupted")
    if _LONGEST in line:
        return ResourceError(
            "a statement took longer than this connection's max_execution_time: raise it, or set it to 0"
        )
    # a full disk, wherever DuckDB has met it: in a file, in the log of a commit, or where it spills
    if any(words in line for words in _FULL_DISK):
        return TargetError(f"no space left on the disk, or in {option('temp_directory')}: {line}")
    description = describe_read_error(str(error))
    # what a reader says of bytes has no class of its own; a binder speaks of names that may hold the same words
    if not description and (type(error) is duckdb.Error or isinstance(error, duckdb.InvalidInputException)):
        description = describe_damage(line, files)
    if description and not isinstance(error, duckdb.OutOfMemoryException):
        return SourceError(description)
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"not enough memory or temporary space: {line}; raise {option('memory_limit')} or free disk space"
        )
    # a commit that could not be written: a limit on files, or a fault of the device
    if isinstance(error, duckdb.IOException) or ("ommit" in line and "Could not write" in line):
        return TargetError(line)
    if isinstance(error, duckdb.InternalException | duckdb.FatalException) or _FAULT.match(str(error)):
        return _describe_fault(error, template)
    if isinstance(error, duckdb.TransactionException) and "conflict" in line:
        return TargetError(f"another run has written there meanwhile, which stays: {line}")
    # these quote the value that could not be read, which may be a sensitive one: only their kind is told
    for kind, words in _VALUE_ERRORS.items():
        if isinstance(error, kind):
            return DataError(words)
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        return UsageError(line)
    return SqlanonError(line)


def _describe_fault(error: duckdb.Error, template: str) -> SqlanonError:
    """Say that DuckDB itself has failed, and in which statement; its own words may quote the data."""
    version = duckdb.__version__
    statement = f"the statement of sql_templates/{template}.sql.j2" if template else "a statement"
    newer = ", which is newer than any that sqlanon was tested with," if int(version.split(".")[0]) > NEWEST else ""
    return SqlanonError(
        f"a fault of DuckDB {version}{newer} ({type(error).__name__}) in {statement}; nothing was published."
        f" Try {option('threads', 1)}, or another version of DuckDB (1.4 to 2), and report it to"
        " https://github.com/duckdb/duckdb/issues with the statement"
    )
