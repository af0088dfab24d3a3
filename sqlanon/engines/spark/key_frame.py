"""The key as a one-row data frame that shows in no text of SQL, no plan and no file."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from sqlanon.engines.spark.classic import frame_of, java_session
from sqlanon.key import Key


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
