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
