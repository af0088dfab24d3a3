"""Which engine stands behind a connection or a command line's options; each library is imported when it is used."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError

ENGINES = ("duckdb", "spark", "postgres")
_LIMITS = {"--threads", "--memory-limit", "--temp-directory"}
_OPTIONS = {"duckdb": {"--database", *_LIMITS}, "spark": {"--master", *_LIMITS}, "postgres": {"--dsn"}}


def engine_of(connection: Any) -> Engine:
    """Return the engine of an open connection: DuckDB's, a Spark session, or psycopg's."""
    # the type is known by its name, so that nothing is imported that the caller does not use
    libraries = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
    if "pyspark" in libraries:
        with _extra("Spark is", "spark"):
            from sqlanon.engines.spark import SparkEngine
        return SparkEngine(connection)
    if "psycopg" in libraries:
        with _extra("the PostgreSQL client is", "postgres"):
            from sqlanon.engines.postgres import PostgresEngine
        return PostgresEngine(connection)
    if libraries & {"duckdb", "_duckdb"}:
        from sqlanon.engines.duckdb import DuckDBEngine

        return DuckDBEngine(connection)
    raise UsageError(f"a {type(connection).__name__} is no connection of {', '.join(ENGINES)}")


def open_engine(
    engine: str,
    database: str | None = None,
    write: bool = False,
    master: str | None = None,
    dsn: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> Engine:
    """Open a session of our own; raise UsageError for an option that the engine does not know."""
    options = {"--database": database, "--master": master, "--dsn": dsn, "--threads": threads}
    options |= {"--memory-limit": memory_limit, "--temp-directory": temp_directory}
    foreign = [name for name, value in options.items() if value is not None and name not in _OPTIONS[engine]]
    if foreign:
        raise UsageError(f"{foreign[0]} is not for --engine {engine}")
    if engine == "spark":
        with _extra("Spark is", "spark"):
            from sqlanon.engines import spark
        return spark.SparkEngine(spark.connect(master, threads, memory_limit, temp_directory))
    if engine == "postgres":
        with _extra("the PostgreSQL client is", "postgres"):
            from sqlanon.engines import postgres
        return postgres.PostgresEngine(postgres.connect(dsn))
    return open_duckdb(database, write, threads=threads, memory_limit=memory_limit, temp_directory=temp_directory)


def open_duckdb(database: str | None = None, write: bool = False, **limits: Any) -> Engine:
    """Open DuckDB in memory, or on a database file (`write`: not read only), within `limits` as `connect` has them."""
    from sqlanon.engines import duckdb

    return duckdb.DuckDBEngine(duckdb.connect(database, write, **limits))


@contextmanager
def _extra(subject: str, name: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise UsageError(f"{subject} not installed here; type: pip install 'sqlanon[{name}]'") from None
