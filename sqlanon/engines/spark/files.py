"""Parquet files that Spark writes, one for each partition, named in the order of their rows, and how it reads them."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col as column

from sqlanon.engines.spark.classic import java_session
from sqlanon.engines.spark.sources import file_address

_WRITTEN_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"  # where Spark keeps it in a file's footer


def write_partitions(frame: DataFrame, folder: Path) -> None:
    """Write a frame's partitions into a new folder, without what its source's columns say of themselves."""
    # Spark writes a column's metadata (comments, a source's own keys) into the files' footer
    names = frame.columns
    plain = frame.select(*(column(f"`{name.replace('`', '``')}`").alias(name, metadata={}) for name in names))
    plain.write.option("compression", "zstd").parquet(f"file:{folder.absolute()}")


def rename_partitions(folder: Path, path: Path) -> dict[Path, int]:
    """Move the files of `folder` beside `path`, as `<stem>-00000.parquet` …; return them with their rows."""
    partitions = sorted(folder.glob("part-*.parquet"))  # Spark numbers them in the order of a sorted frame
    width = max(5, len(str(len(partitions))))
    renamed = {}
    for number, part in enumerate(partitions):
        target = part.rename(path.with_name(f"{path.stem}-{number:0{width}d}.parquet"))
        renamed[target] = pq.read_metadata(target).num_rows
    return renamed


def read_partitions(session: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """Read files of ours; what columns they have is looked up here, for Spark would start a job for it."""
    reader: Any = session.read
    with suppress(OSError, pa.ArrowException, Py4JJavaError):  # it says better what is wrong with a file
        if java_session(session) is not None and (schema := _written_schema(session, paths[0])) is not None:
            reader._jreader.schema(schema)
    frame: DataFrame = reader.parquet(*(file_address(path) for path in paths))
    return frame


def _written_schema(session: SparkSession, path: Path) -> Any:
    """Return what a file that Spark has written says of its columns, as Java has it; None of another's file."""
    text = (pq.read_schema(path).metadata or {}).get(_WRITTEN_SCHEMA)
    # Java reads it, as it would by itself: Python's reader of such texts runs code that a stranger's file names
    jvm: Any = session._jvm
    return None if text is None else jvm.org.apache.spark.sql.types.DataType.fromJson(text.decode())
