"""Parquet files that Spark writes, one for each partition, named in the order of their rows."""

from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.functions import col as column


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
