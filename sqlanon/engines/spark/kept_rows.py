"""Rows kept for the steps that follow: computed once, with a size that the planner can trust.

Spark carries its guess of a checkpoint's size over from the plan behind it, and for a join it guesses the product of
both sides. In a chain of steps the guess doubles its digits at each join, until to multiply it takes longer than to
run the step; and nothing looks small enough to be sent to every worker. So a checkpoint is told the size of its rows.

Nor does it know that rows of one part are together, and moves a table of counts by a stage of its own at each window
and sum. Where they are few it is told; many rows in one part it may spread over its workers.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from sqlanon.engines.spark.classic import frame_of_plan, java_session, parts_of

_SMALL = 2**22  # bytes: below them one worker is done before several have begun


def keep_rows(frame: DataFrame) -> tuple[DataFrame, Callable[[], object]]:
    """Compute the rows once and return them, their plan cut and its size (bytes in memory) known, and what frees them.

    A checkpoint cuts the plan: rows that an executor loses are an error, never drawn anew.
    """
    kept: Any = frame.localCheckpoint()
    session: Any = frame.sparkSession
    java = java_session(session)
    if java is None:
        return cast(DataFrame, kept), lambda: None
    jvm, plan = session._jvm, kept._jdf.logicalPlan()
    own, others = parts_of(plan)  # of the others the session, its guessed size and what is known of its values
    size = _size(session, plan)
    others[1:3] = _statistics(session, size), jvm.scala.Option.empty()
    if size is not None and size <= _SMALL and plan.rdd().getNumPartitions() == 1:
        own[2] = getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.physical, "SinglePartition$"), "MODULE$")
    # else they burden the memory until Java finds that nobody reads them, and with it whatever runs meanwhile
    return frame_of_plan(plan.copy(*own, *others), session), lambda: plan.rdd().unpersist(False)


def _size(session: SparkSession, plan: Any) -> int | None:
    """Return how many bytes are kept; None where not all blocks are known."""
    context: Any = session.sparkContext._jsc.sc()
    with suppress(Py4JJavaError):  # blocks are told of by events; a session that is behind with them may not know yet
        context.listenerBus().waitUntilEmpty()
    number = plan.rdd().id()
    blocks = (kept for kept in context.getRDDStorageInfo() if kept.id() == number)
    # a table that only some parts are known of could be large, and look small
    whole = (kept for kept in blocks if kept.numCachedPartitions() == kept.numPartitions())
    sizes = (kept.memSize() + kept.diskSize() for kept in whole)
    return next(sizes, 0 if plan.rdd().getNumPartitions() == 0 else None)


def _statistics(session: SparkSession, size: int | None) -> Any:
    """Return what the planner reads a size from (an Option of Statistics)."""
    option = cast(Any, session._jvm).scala.Option
    if size is None:
        return option.empty()
    # py4j cannot pass a large integer of Scala's; a range of n numbers is known to have 8 n bytes
    numbers = java_session(session).range(max(size // 8, 1))
    return option.apply(numbers.queryExecution().optimizedPlan().stats())
