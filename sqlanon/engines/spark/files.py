"""Rows that Spark keeps, and Parquet files: one for each partition, named in row order.

The key is a data frame of one row, so that it appears in no text of SQL, in no plan and in no file.

Rows that later steps need are checkpointed: computed once, with a size that the planner can trust. Spark would take a
checkpoint's size from the plan behind it, and for a join it estimates the product of both sides. In a chain of steps
the estimate doubles its digits at each join, until multiplying it takes longer than the step; and no relation looks
small enough for a broadcast. So a checkpoint is given the size of its rows.

Spark also does not know that rows with equal keys are in one partition, and shuffles a table of counts for each window
and sum. Where rows are few, it is told so; many rows of one partition may be spread over the workers.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col as column

from sqlanon.key import Key

_SMALL = 2**22  # bytes: below them one worker is done before several have begun


# What stands in the Java process behind a session, and data frames made of it.
def java_session(session: SparkSession) -> Any:
    """Return the session as Java has it; None for a remote one, whose plans and sets of rows are out of reach."""
    return getattr(session, "_jsparkSession", None)


def frame_of(dataset: Any, session: SparkSession) -> DataFrame:
    """Return Java's set of rows as a data frame."""
    make: Any = DataFrame  # its constructor makes the classic kind, which its types do not tell
    return cast(DataFrame, make(dataset, session))


def keep_rows(frame: DataFrame) -> tuple[DataFrame, Callable[[], object]]:
    """Compute the rows once and return them, their plan cut and its size (bytes in memory) known, and what frees them.

    A checkpoint cuts the plan: rows that an executor loses are an error, never drawn anew.
    """
    checkpoint: Any = frame.localCheckpoint()
    session: Any = frame.sparkSession
    java = java_session(session)
    if java is None:
        return cast(DataFrame, checkpoint), lambda: None
    spark, plan = session._jvm.org.apache.spark.sql, checkpoint._jdf.logicalPlan()
    # a case class of Scala's: its own arguments; the session, what it guesses of its size, what is known of values …
    arguments = [plan.productElement(number) for number in range(plan.productArity())]
    others, size = plan.otherCopyArgs(), _size(session, plan)
    others = [others.apply(number) for number in range(others.size())]
    others[1:3] = _statistics(session, size), session._jvm.scala.Option.empty()
    if size is not None and size <= _SMALL and plan.rdd().getNumPartitions() == 1:
        arguments[2] = getattr(getattr(spark.catalyst.plans.physical, "SinglePartition$"), "MODULE$")
    sets = getattr(getattr(spark.classic, "Dataset$"), "MODULE$")
    kept = frame_of(sets.ofRows(java, plan.copy(*arguments, *others)), session)
    # else they burden the memory until Java finds that nobody reads them, and with it whatever runs meanwhile
    return kept, lambda: plan.rdd().unpersist(False)


def _size(session: SparkSession, plan: Any) -> int | None:
    """Return how many bytes are kept; None where not all blocks are known."""
    context: Any = session.sparkContext._jsc.sc()
    with suppress(Py4JJavaError):  # blocks are told of by events; a session that is behind with them may not know yet
        context.listenerBus().waitUntilEmpty()
    number = plan.rdd().id()
    blocks = (storage for storage in context.getRDDStorageInfo() if storage.id() == number)
    # a table that only some parts are known of could be large, and look small
    whole = (storage for storage in blocks if storage.numCachedPartitions() == storage.numPartitions())
    sizes = (storage.memSize() + storage.diskSize() for storage in whole)
    return next(sizes, 0 if plan.rdd().getNumPartitions() == 0 else None)


def _statistics(session: SparkSession, size: int | None) -> Any:
    """Return what the planner reads a size from (an Option of Statistics)."""
    option = cast(Any, session._jvm).scala.Option
    if size is None:
        return option.empty()
    # py4j cannot pass a large integer of Scala's; a range of n numbers is known to have 8 n bytes
    numbers = java_session(session).range(max(size // 8, 1))
    return option.apply(numbers.queryExecution().optimizedPlan().stats())


def key_frame(session: SparkSession, key: Key) -> DataFrame:
    """Return a data frame of one row and one column, `secret`."""
    java = java_session(session)
    if java is None:  # a remote session: the row travels inside the query
        return session.createDataFrame([(key.text,)], "secret string")
    jvm: Any = session._jvm  # what pyspark makes of a Python list goes through a temporary file
    text = jvm.java.util.ArrayList()
    text.append(key.text)
    row = java.createDataset(text, jvm.org.apache.spark.sql.Encoders.STRING())
    return frame_of(row, session).toDF("secret")


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
