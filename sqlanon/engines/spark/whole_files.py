"""Files read whole, each by one worker and in its order, so that windows over a file's rows move and sort none.

Spark cuts files where it likes, and does not know that the rows of one lie in the order of their places: a window over
each file moved all rows, sorted them, and spilled.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession

from sqlanon.engines.spark.classic import frame_of_plan, java_session, parts_of

# no file is as large: none is cut, and a file counts as so much that no second one is read with it
_WHOLE = str(2**40)
_CUTS = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")


def read_whole(frame: DataFrame, file: str, place: str) -> DataFrame:
    """Return rows of files, of which Spark is told that those of one `file` lie together, by `place`.

    It is told, not proved: who asks has to look whether each place follows the one before it. A remote session, whose
    plans are out of reach, is told nothing.
    """
    session, given = frame.sparkSession, cast(Any, frame)._jdf
    java = java_session(session)
    if java is None:
        return frame
    jvm: Any = session._jvm
    with _uncut(session):
        rows = given.queryExecution().toRdd()
    plan = java.internalCreateDataFrame(rows, given.schema(), False).logicalPlan()
    catalyst, columns = jvm.org.apache.spark.sql.catalyst, plan.output()
    named = {columns.apply(number).name(): columns.apply(number) for number in range(columns.size())}
    ascending = getattr(getattr(catalyst.expressions, "Ascending$"), "MODULE$")
    order = getattr(getattr(catalyst.expressions, "SortOrder$"), "MODULE$")
    by_file, by_place = (order.apply(named[name], ascending, _listed(jvm)) for name in (file, place))
    # no hash leads to a file's worker: of a partitioning by ranges no join takes that it does
    parts = catalyst.plans.physical.RangePartitioning(_listed(jvm, by_file), rows.getNumPartitions())
    told, others = parts_of(plan)
    told[2:4] = parts, _listed(jvm, by_file, by_place)
    return frame_of_plan(plan.copy(*told, *others), session)


def _listed(jvm: Any, *items: Any) -> Any:
    """Return a list of Scala's."""
    held = jvm.java.util.ArrayList()
    for item in items:
        held.append(item)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(held).toSeq()


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
