"""DuckDB's errors as ours: what the caller can do about each, and no value of the data."""

import re
from collections.abc import Sequence

import duckdb

from sqlanon.engines.duckdb.read_errors import describe_damage, describe_read_error
from sqlanon.engines.statement_text import first_line
from sqlanon.errors import DataError, ResourceError, SourceError, SqlanonError, TargetError, UsageError
from sqlanon.wording import option

_ERROR_KIND = re.compile(r"\A[A-Z][A-Za-z ]* Error: ")
_FULL_DISK = ("No space left on device", "Disk quota exceeded", "failed to offload data block")
_VALUE_ERRORS = {
    duckdb.ConversionException: "a value of the source cannot be read as what its column holds",
    duckdb.OutOfRangeException: "a number of the source is larger than what its column, or a sum of it, can hold",
    duckdb.InvalidInputException: "DuckDB cannot read a value of the source",
}


def translate_error(error: duckdb.Error, files: Sequence[str] = ()) -> SqlanonError:
    """Return the exception of ours that says the same; a value of the data that DuckDB quotes is left out.

    files: the files that the session reads, as they were named.
    """
    line = _ERROR_KIND.sub("", first_line(error))
    # a full disk, wherever DuckDB has met it: in a file, in the log of a commit, or where it spills
    if any(words in line for words in _FULL_DISK):
        return TargetError(f"no space left on the disk, or in {option('temp_directory')}: {line}")
    read = describe_read_error(str(error))
    # what a reader says of bytes has no class of its own; a binder speaks of names that may hold the same words
    if not read and (type(error) is duckdb.Error or isinstance(error, duckdb.InvalidInputException)):
        read = describe_damage(line, files)
    if read and not isinstance(error, duckdb.OutOfMemoryException):
        return SourceError(read)
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"not enough memory or temporary space: {line}; raise {option('memory_limit')} or free disk space"
        )
    if isinstance(error, duckdb.IOException):
        return TargetError(line)
    if "ommit" in line and "Could not write" in line:  # a limit on files, or a fault of the device
        return TargetError(line)
    if isinstance(error, duckdb.TransactionException) and "conflict" in line:
        return TargetError(f"another run has written there meanwhile, which stays: {line}")
    # these quote the value that could not be read, which may be a sensitive one: only their kind is told
    for kind, words in _VALUE_ERRORS.items():
        if isinstance(error, kind):
            return DataError(words)
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        return UsageError(line)
    return SqlanonError(line)
