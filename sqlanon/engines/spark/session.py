"""Open Spark sessions, and check any session for the settings that our SQL relies on.

Spark's errors are translated into ours: they say what the caller can do, and quote no value of the data.
"""

import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sqlanon.engines.runner import first_line
from sqlanon.errors import DataError, SourceError, SqlanonError, UsageError

# conditions whose messages quote the value that could not be read, which may be a sensitive one
_VALUE_ERRORS = re.compile(r"CAST_|ARITHMETIC|OVERFLOW|DIVIDE_BY_ZERO|NUMERIC_VALUE|DATETIME|INVALID_FRACTION")
_SETTINGS = {  # what our SQL takes for granted
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",  # a name may hold ${
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def translate_error(error: Exception) -> SqlanonError:
    """Return the exception of ours that says the same; a value of the data that Spark quotes is left out."""
    line = first_line(error)
    condition = error.getCondition() or "" if isinstance(error, PySparkException) else ""
    if condition.startswith(("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "CANNOT_INFER", "UNABLE_TO_INFER")):
        return SourceError(line)
    if _VALUE_ERRORS.search(condition) or _VALUE_ERRORS.search(line.partition("]")[0]):
        return DataError(f"Spark cannot read a value of the source ({condition or 'a value'})")
    # py4j raises these when the Java process is gone; they have no class that pyspark exports
    if type(error).__name__ in ("Py4JNetworkError", "ConnectionRefusedError"):
        return SourceError("the Spark session was lost; nothing was published: run again")
    if type(error).__name__ in ("AnalysisException", "ParseException"):
        return UsageError(line)
    return SqlanonError(line)


def connect(
    master: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> SparkSession:
    """Start a session of our own, on this machine unless `master` says otherwise."""
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else Path("java")
    if shutil.which(java) is None:
        raise UsageError("Spark needs a Java runtime and there is none: install Java 17 or later, or set JAVA_HOME")
    for noisy in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL + 1)  # errors are told once, by us
    master_url = master or f"local[{threads or '*'}]"
    settings: dict[str, Any] = {**_SETTINGS, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    settings["spark.log.level"] = "OFF"
    # a publication has more compiled pieces than Spark keeps by itself (100): each would be compiled at every run
    settings["spark.sql.codegen.cache.maxEntries"] = "2000"
    # tables that we keep are told as large as they are in memory, some five times what is sent of them
    settings["spark.sql.autoBroadcastJoinThreshold"] = "64MB"
    if master_url.startswith("local"):
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        settings["spark.sql.shuffle.partitions"] = "16"  # one machine: Spark's 200 are for a cluster
    if memory_limit is not None:
        settings["spark.driver.memory"] = re.sub(r"(?i)i?b$", "", memory_limit.replace(" ", ""))
    if temp_directory is not None:
        settings["spark.local.dir"] = temp_directory
    try:
        with _quiet():
            return SparkSession.builder.master(master_url).appName("sqlanon").config(map=settings).getOrCreate()
    except Exception as error:  # what the gateway raises is no PySparkException
        raise UsageError(f"Spark does not start with --master {master_url}: {first_line(error)}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Let the Java process start without standard error, where it would write beside our own messages."""
    if os.environ.get("SQLANON_DEBUG"):
        yield
        return
    standard_error, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(standard_error, 2)
        os.close(standard_error)
        os.close(nowhere)


@contextmanager
def required_settings(session: SparkSession) -> Iterator[None]:
    """Set what our SQL takes for granted, put back what was, and turn Spark's errors into ours."""
    conf = session.conf
    try:
        before = {name: conf.get(name, None) for name in _SETTINGS}
        changed = [name for name, value in _SETTINGS.items() if str(before[name]).lower() != value.lower()]
        for name in changed:
            conf.set(name, _SETTINGS[name])
        try:
            yield
        finally:
            for name in changed:
                value = before[name]
                if value is None:
                    conf.unset(name)
                else:
                    conf.set(name, value)
    except SqlanonError:
        raise
    except Exception as error:  # what the gateway raises is no PySparkException
        raise translate_error(error) from None
