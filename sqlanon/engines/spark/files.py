"""Parquet files of Spark: how they are written, one for each partition, named in row order, and how they are read.

The key is a data frame of one row, so that it appears in no text of SQL, in no plan and in no file.

Rows that later steps need are checkpointed: computed once, with a size that the planner can trust. Spark would take a
checkpoint's size from the plan behind it, and for a join it estimates the product of both sides. In a chain of steps
the estimate doubles its digits at each join, until multiplying it takes longer than the step; and no relation looks
small enough for a broadcast. So a checkpoint is given the size of its rows.

Spark also does not know that rows with equal keys are in one partition, and shuffles a table of counts for each window
and sum. Where rows are few, it is told so; many rows of one partition may be spread over the workers.

A file is read whole by one worker, in its order, so that windows over a file's rows neither shuffle nor sort. By itself
Spark splits files anywhere, and does not know that a file's rows are in order.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col as column

from sqlanon.engines.spark.sources import file_address
from sqlanon.key import Key


# What stands in the Java process behind a session, and data frames made of it.
def java_session(session: SparkSession) -> Any:
    """Return the session as Java has it; None for a remote one, whose plans and sets of rows are out of reach."""
    return getattr(session, "_jsparkSession", None)


def frame_of(dataset: Any, session: SparkSession) -> DataFrame:
    """Return Java's set of rows as a data frame."""
    make: Any = DataFrame  # its constructor makes the classic kind, which its types do not tell
    return cast(DataFrame, make(dataset, session))


def parts_of(plan: Any) -> tuple[list[Any], list[Any]]:
    """Return what a plan of Scala's case class is made of: its own arguments, and those that its copies need beside."""
    others = plan.otherCopyArgs()
    arguments = [plan.productElement(number) for number in range(plan.productArity())]
    return arguments, [others.apply(number) for number in range(others.size())]


def frame_of_plan(plan: Any, session: SparkSession) -> DataFrame:
    """Return a plan of Java's as a data frame."""
    jvm: Any = session._jvm
    sets = getattr(getattr(jvm.org.apache.spark.sql.classic, "Dataset$"), "MODULE$")
    return frame_of(sets.ofRows(java_session(session), plan), session)


# no file is as large: none is cut, and a file counts as so much that no second one is read with it
_WHOLE = str(2**40)
_CUTS = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
_SMALL = 2**22  # bytes: below them one worker is done before several have begun
_WRITTEN_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"  # where Spark keeps it in a file's footer


def read_whole(frame: DataFrame, file: str, place: str) -> DataFrame:
    """Return rows of files, of which Spark is told that those of one `file` lie together, by `place`.

    It is told, not proved: who asks has to look whether each place follows the one before it. A remote session, whose
    plans are out of reach, is told nothing.
    """
    session, java_frame = frame.sparkSession, cast(Any, frame)._jdf
    java = java_session(session)
    if java is None:
        return frame
    jvm: Any = session._jvm
    with _uncut(session):
        rows = java_frame.queryExecution().toRdd()
    plan = java.internalCreateDataFrame(rows, java_frame.schema(), False).logicalPlan()
    catalyst, columns = jvm.org.apache.spark.sql.catalyst, plan.output()
    named_columns = {columns.apply(number).name(): columns.apply(number) for number in range(columns.size())}
    ascending = getattr(getattr(catalyst.expressions, "Ascending$"), "MODULE$")
    order = getattr(getattr(catalyst.expressions, "SortOrder$"), "MODULE$")
    by_file, by_place = (order.apply(named_columns[name], ascending, _listed(jvm)) for name in (file, place))
    # no hash leads to a file's worker: of a partitioning by ranges no join takes that it does
    parts = catalyst.plans.physical.RangePartitioning(_listed(jvm, by_file), rows.getNumPartitions())
    arguments, others = parts_of(plan)
    arguments[2:4] = parts, _listed(jvm, by_file, by_place)
    return frame_of_plan(plan.copy(*arguments, *others), session)


def _listed(jvm: Any, *items: Any) -> Any:
    """Return a list of Scala's."""
    java_list = jvm.java.util.ArrayList()
    for item in items:
        java_list.append(item)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(java_list).toSeq()


@contextmanager
def _uncut(session: SparkSession) -> Iterator[None]:
    """Let no file be cut in what is planned inside."""
    conf: Any = session.conf
    before = {name: conf.get(name) for name in _CUTS}
    try:
        for name in _CUTS:
            conf.set(name, _WHOLE)
        yield
    finally:
        for name, value in before.items():
            conf.set(name, value)


def keep_rows(frame: DataFrame) -> tuple[DataFrame, Callable[[], object]]:
    """Compute the rows once and return them, their plan cut and its size (bytes in memory) known, and what frees them.

    A checkpoint cuts the plan: rows that an executor loses are an error, never drawn anew.
    """
    checkpoint: Any = frame.localCheckpoint()
    session: Any = frame.sparkSession
    java = java_session(session)
    if java is None:
        return cast(DataFrame, checkpoint), lambda: None
    jvm, plan = session._jvm, checkpoint._jdf.logicalPlan()
    arguments, others = parts_of(plan)  # of the others the session, its guessed size and what is known of its values
    size = _size(session, plan)
    others[1:3] = _statistics(session, size), jvm.scala.Option.empty()
    if size is not None and size <= _SMALL and plan.rdd().getNumPartitions() == 1:
        arguments[2] = getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.physical, "SinglePartition$"), "MODULE$")
    # else they burden the memory until Java finds that nobody reads them, and with it whatever runs meanwhile
    return frame_of_plan(plan.copy(*arguments, *others), session), lambda: plan.rdd().unpersist(False)


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
