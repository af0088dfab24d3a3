"""Find what a user named as a source in Spark, and name the types of its columns."""

import os
import re
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sqlanon.errors import SourceError

_FORMATS = {"parquet": (".parquet", ".parq", ".pq"), "csv": (".csv", ".tsv"), "json": (".json", ".jsonl", ".ndjson")}
_NAMES = {  # types by what DuckDB calls them
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
    "string": "VARCHAR",
}


def read_source(session: SparkSession, source: object, as_text: bool) -> DataFrame:
    """Read a table or view, a path or pattern of files, or take a DataFrame; raise SourceError where there is none."""
    if isinstance(source, DataFrame):
        return source
    if not isinstance(source, str):
        raise SourceError(f"a {type(source).__name__} is no source of Spark; give a table, a path or a DataFrame")
    form = next((form for form, endings in _FORMATS.items() if source.lower().endswith(endings)), None)
    if form is None:
        if not session.catalog.tableExists(source):
            raise SourceError(f"no table, view or file {source!r}; a file's name ends in .parquet, .csv or .json")
        return session.table(source)
    reader = session.read.option("header", "true").option("inferSchema", str(not as_text).lower())
    return reader.format(form).load(_locate(source))


def _locate(text: str) -> str:
    """Return where Spark finds a path, pattern or URL; without a scheme it would ask the cluster's file system."""
    if "://" in text:
        return text
    if Path(text).exists():
        return file_address(Path(text))
    if not any(letter in text for letter in "*?[{"):
        raise SourceError(f"no file {text!r}")
    return f"file:{os.path.abspath(text)}"  # noqa: PTH100


def file_address(path: Path) -> str:
    """Write a local path as Spark reads patterns, its letters taken literally."""
    return "file:" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path.absolute()))


def type_name(kind: str) -> str:
    """Return what DuckDB calls a type of Spark's; `NESTED` where it holds several values."""
    if kind.startswith(("array", "map", "struct", "variant")):
        return "NESTED"
    return _NAMES.get(kind.partition(" ")[0], "VARCHAR" if kind.startswith(("char", "varchar")) else kind.upper())
