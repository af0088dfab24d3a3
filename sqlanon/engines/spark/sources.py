"""Find what a user named as a source in Spark, and name the types of its columns."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from sqlanon.errors import SourceError

_FORMATS = {"parquet": (".parquet", ".parq", ".pq"), "csv": (".csv", ".tsv"), "json": (".json", ".jsonl", ".ndjson")}
_PATTERN = "*?[{"
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


def read_source(session: SparkSession, source: object, as_text: bool | str = False) -> DataFrame:
    """Read a table or view, a path or pattern of files, or take a DataFrame; raise SourceError where there is none."""
    if isinstance(source, DataFrame):
        return source
    if not isinstance(source, str):
        raise SourceError(f"a {type(source).__name__} is no source of Spark; give a table, a path or a DataFrame")
    form = form_of(source)
    if form is None:
        if not session.catalog.tableExists(source):
            raise SourceError(f"no table, view or file {source!r}; a file's name ends in .parquet, .csv or .json")
        return session.table(source)
    reader = session.read.option("header", str(as_text != "lines").lower()).option(
        "inferSchema", str(not as_text).lower()
    )
    if any(letter in source for letter in _PATTERN):
        # else Spark takes one file's columns for all: others' Parquet columns go, and CSV is read by place
        reader = reader.option("mergeSchema", "true").option("enforceSchema", "false")
    return reader.format(form).load(_locate(source))


def count_lacking(frame: DataFrame, source: object) -> Mapping[str, tuple[int, int]]:
    """Count the Parquet files of a pattern that lack a column which others have: how many, and of how many.

    Only footers are read, here; of files on another machine nothing is said.
    """
    if not isinstance(source, str) or form_of(source) != "parquet" or not any(letter in source for letter in _PATTERN):
        return {}
    places = [urlsplit(address) for address in frame.inputFiles()]
    if any(place.scheme != "file" for place in places):
        return {}
    file_counts = Counter(name.lower() for place in places for name in parquet.read_schema(unquote(place.path)).names)
    return {
        name: (len(places) - file_counts[name.lower()], len(places))
        for name in frame.columns
        if 0 < file_counts[name.lower()] < len(places)
    }


def form_of(source: str) -> str | None:
    """Return the format that a file's name ends in, None where it names no file."""
    return next((form for form, endings in _FORMATS.items() if source.lower().endswith(endings)), None)


def _locate(text: str) -> str:
    """Return where Spark finds a path, pattern or URL; without a scheme it would ask the cluster's file system."""
    if "://" in text:
        return text
    if Path(text).exists():
        return file_address(Path(text))
    if not any(letter in text for letter in _PATTERN):
        raise SourceError(f"no file {text!r}")
    return f"file:{os.path.abspath(text)}"  # noqa: PTH100


def file_address(path: Path) -> str:
    """Write a local path as Spark reads patterns, its letters taken literally."""
    return "file:" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path.absolute()))


def item_type(sql_type: str) -> str:
    """Return what DuckDB calls the type of the items of an array of single values; empty for any other column."""
    item = sql_type.removeprefix("array<").removesuffix(">")
    name = type_name(item) if item != sql_type else "NESTED"
    return "" if name == "NESTED" else name


def type_name(sql_type: str) -> str:
    """Return what DuckDB calls a type of Spark's; `NESTED` where it holds several values."""
    if sql_type == "array<struct<attribute:string,count:int>>":  # as we publish it
        return 'STRUCT("attribute" VARCHAR, count INTEGER)[]'
    if sql_type.startswith(("array", "map", "struct", "variant")):
        return "NESTED"
    return _NAMES.get(
        sql_type.partition(" ")[0], "VARCHAR" if sql_type.startswith(("char", "varchar")) else sql_type.upper()
    )
