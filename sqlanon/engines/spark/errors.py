"""Spark's errors as ours: what the caller can do about each, and no value of the data."""

import re

from pyspark.errors import PySparkException

from sqlanon.engines.statement_text import first_line
from sqlanon.errors import DataError, SourceError, SqlanonError, UsageError

# conditions whose messages quote the value that could not be read, which may be a sensitive one
_VALUE_ERRORS = re.compile(r"CAST_|ARITHMETIC|OVERFLOW|DIVIDE_BY_ZERO|NUMERIC_VALUE|DATETIME|INVALID_FRACTION")


def translate_error(error: Exception) -> SqlanonError:
    """Return the exception of ours that says the same; a value of the data that Spark quotes is left out."""
    line = first_line(error)
    condition = error.getCondition() or "" if isinstance(error, PySparkException) else ""
    if condition.startswith(("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "CANNOT_INFER", "UNABLE_TO_INFER")):
        return SourceError(line)
    if _VALUE_ERRORS.search(condition) or _VALUE_ERRORS.search(line.partition("]")[0]):
        return DataError(f"Spark cannot read a value of the source ({condition or 'a value'})")
    # py4j raises these when the Java process is gone; they have no class that pyspark exports
    if type(error).__name__ in ("Py4JNetworkError", "ConnectionRefusedError"):
        return SourceError("the Spark session was lost; nothing was published: run again")
    if type(error).__name__ in ("AnalysisException", "ParseException"):
        return UsageError(line)
    return SqlanonError(line)
