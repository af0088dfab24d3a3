"""DuckDB's errors as ours: what the caller can do about each, and no value of the data."""

import duckdb

from sqlanon.engines.statement_text import first_line
from sqlanon.errors import DataError, ResourceError, SqlanonError, TargetError, UsageError
from sqlanon.wording import option


def translate_error(error: duckdb.Error) -> SqlanonError:
    """Return the exception of ours that says the same; a value of the data that DuckDB quotes is left out."""
    line = first_line(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"not enough memory or temporary space: {line}; raise {option('memory_limit')} or free disk space"
        )
    if isinstance(error, duckdb.IOException):
        return TargetError(line)
    # these quote the value that could not be read, which may be a sensitive one: only their kind is told
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException | duckdb.OutOfRangeException):
        return DataError(f"DuckDB cannot read a value of the source ({type(error).__name__})")
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        return UsageError(line)
    return SqlanonError(line)
