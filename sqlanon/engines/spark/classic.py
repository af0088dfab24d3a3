"""What stands in the Java process behind a session, and data frames made of it."""

from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession


def java_session(session: SparkSession) -> Any:
    """Return the session as Java has it; None for a remote one, whose plans and sets of rows are out of reach."""
    return getattr(session, "_jsparkSession", None)


def frame_of(dataset: Any, session: SparkSession) -> DataFrame:
    """Return Java's set of rows as a data frame."""
    kind: Any = DataFrame  # its constructor makes the classic kind, which its types do not tell
    return cast(DataFrame, kind(dataset, session))


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
