"""Read the columns of a published table from its Parquet file, and name their types in words that fit every engine."""

import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from sqlanon.engines.duckdb.connection import connect_beside, escape_pattern
from sqlanon.plans.templates import literal

TableTypes = Mapping[str, Mapping[str, str]]  # by table and column

_WORDS = {
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?": "whole number",
    r"FLOAT|DOUBLE": "number",
    r"VARCHAR": "text",
    r"BOOLEAN": "true or false",
    r"BLOB": "bytes",
    r"TIMESTAMP.*": "timestamp",
    r"TIME.*": "time",
    r"DATE|INTERVAL|DECIMAL.*": "",  # in small letters, as they are
    r".*\]|STRUCT.*|MAP.*": "list",
}


def literal_path(path: Path) -> str:
    """Write a file's path so that DuckDB reads that file: no pattern, nothing below somebody's home."""
    return str(literal(escape_pattern(str(path.absolute()))))


def read_columns(path: Path) -> dict[str, str]:
    """Return the SQL type of each column of a Parquet file, in order; raise what DuckDB raises where it is none."""
    with closing(connect_beside()) as connection:
        rows = connection.execute(f"describe from read_parquet({literal_path(path)})").fetchall()
    return {name: sql_type for name, sql_type, *_ in rows}


def read_types(path: Path) -> dict[str, str]:
    """Return the type of each column of a Parquet file, in words, in order (`list` for nested values)."""
    return {name: _word(sql_type) for name, sql_type in read_columns(path).items()}


def _word(sql_type: str) -> str:
    word = next((words or sql_type.lower() for types, words in _WORDS.items() if re.fullmatch(types, sql_type)), "")
    return (word or sql_type).replace(",", ", ")
