"""Which engine stands behind a connection or a command line's options; an extra is imported when it is asked for."""

from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import UsageError

ENGINES = ("duckdb", "spark", "postgres")


def engine_of(connection: Any) -> Engine:
    """Return the engine of an open connection: DuckDB's, a Spark session, or psycopg's.

    The connection's type is known by its name, so that nothing is imported that the caller does not use.
    """
    libraries = [kind.__module__.partition(".")[0] for kind in type(connection).__mro__]
    if "pyspark" in libraries:
        return _spark().SparkEngine(connection)  # type: ignore[no-any-return]
    if "psycopg" in libraries:
        return _postgres().PostgresEngine(connection)  # type: ignore[no-any-return]
    if any(library in ("duckdb", "_duckdb") for library in libraries):
        return DuckDBEngine(connection)
    raise UsageError(f"a {type(connection).__name__} is no connection of {', '.join(ENGINES)}")


def opened(
    engine: str,
    database: str | None = None,
    write: bool = False,
    master: str | None = None,
    dsn: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> Engine:
    """Open a session of our own; refuse what the engine does not know."""
    options = {"--database": database, "--master": master, "--dsn": dsn, "--threads": threads}
    options |= {"--memory-limit": memory_limit, "--temp-directory": temp_directory}
    known = {
        "duckdb": {"--database", "--threads", "--memory-limit", "--temp-directory"},
        "spark": {"--master", "--threads", "--memory-limit", "--temp-directory"},
        "postgres": {"--dsn"},
    }[engine]
    foreign = [name for name, value in options.items() if value is not None and name not in known]
    if foreign:
        raise UsageError(f"{foreign[0]} is not for --engine {engine}")
    if engine == "spark":
        library = _spark()
        return library.SparkEngine(library.connect(master, threads, memory_limit, temp_directory))  # type: ignore[no-any-return]
    if engine == "postgres":
        library = _postgres()
        return library.PostgresEngine(library.connect(dsn))  # type: ignore[no-any-return]
    return DuckDBEngine(
        connect(database, write, threads=threads, memory_limit=memory_limit, temp_directory=temp_directory)
    )


def _spark() -> Any:
    try:
        from sqlanon.engines import spark
    except ImportError:
        raise UsageError("Spark is not installed here; type: pip install 'sqlanon[spark]'") from None
    return spark


def _postgres() -> Any:
    try:
        from sqlanon.engines import postgres
    except ImportError:
        raise UsageError("the PostgreSQL client is not installed here; type: pip install 'sqlanon[postgres]'") from None
    return postgres
