"""Find the engine for a connection or for the options of the command line; libraries are imported when needed."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, cast

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.models.fields import verb
from sqlanon.models.values import TEXT_BY_COLUMN, TEXTS, Names, refused
from sqlanon.plans.engines import ENGINES
from sqlanon.sql.source import NO_SOURCE, choose_source
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine


FRAMES = {"pandas", "polars", "pyarrow"}  # whose objects are tables
_CLASSES = {"duckdb": "DuckDBEngine", "spark": "SparkEngine", "postgres": "PostgresEngine"}


@dataclass(frozen=True)
class Opener:
    """What opens an engine when it is needed: what is refused for other reasons waits for none. dialect: of its SQL."""

    dialect: str
    open: Callable[[], Engine]


def opener_of(connection: Any) -> Opener:
    """Return what opens the engine: an Opener as it is, of an open connection one whose engine is there."""
    if isinstance(connection, Opener):
        return connection
    engine = engine_of(connection)
    return Opener(engine.dialect, lambda: engine)


def session_and_source(first: Any, source: object, query: str | None) -> tuple[Opener, object]:
    """Return what opens the session, and the source: a frame, a table or a path by itself has a session of its own.

    first: a connection, or the source in its place, a pandas or polars frame, an Arrow table, or the path of a file.
    query: in place of a source.
    """
    if source is None and (isinstance(first, str | os.PathLike) or _libraries(first) & FRAMES):
        opener, source = Opener("duckdb", open_duckdb), first
    else:
        opener = opener_of(first)
    named = os.fspath(source) if isinstance(source, os.PathLike) else source
    return opener, choose_source(named, query, opener.dialect, NO_SOURCE)


def _libraries(thing: Any) -> set[str]:
    """Return where the types of an object are defined, so that nothing is imported that the caller does not use."""
    return {base.__module__.partition(".")[0] for base in type(thing).__mro__}


def engine_of(connection: Any) -> Engine:
    """Return the engine of an open connection: DuckDB's, a Spark session, or psycopg's; a session of ours is one."""
    libraries = _libraries(connection)
    if type(connection).__name__ == "DuckDBPyRelation":
        raise refused(option("con"), connection, "is no connection: hand over that first, and the relation behind it")
    if "sqlanon" in libraries:
        return cast(Engine, connection)
    engine = next((name for name, declared in ENGINES.items() if libraries.intersection(declared.libraries)), "")
    if not engine:
        raise refused(option("con"), connection, f"is no connection of {', '.join(ENGINES)}")
    return cast(Engine, _load(engine, "engine", _CLASSES[engine])(connection))


@verb
def read_as(
    con: Any,
    *,
    types: Annotated[Mapping[str, str] | None, TEXT_BY_COLUMN] = None,
    missing: Annotated[Names | None, TEXTS] = None,
) -> Engine:
    """Return a connection for any verb, through which CSV and JSON files are read as is said here.

    con: an open DuckDB connection. types: of columns, by name, as DuckDB calls them; of all others every row is looked
    at, and they are numbers, dates or truth values where all texts come back as they were. missing: texts of CSV that
    are no value (NULL), `NA` for example. Raises UsageError for other engines, which read no text files with types.
    """
    engine, texts = engine_of(con), tuple(missing or ())
    if types or texts:
        from sqlanon.engines.duckdb.engine import DuckDBEngine
        from sqlanon.engines.duckdb.text_files import Reading

        if not isinstance(engine, DuckDBEngine):
            raise UsageError(f"{option('types')} and {option('missing')} are for DuckDB; {engine.dialect} reads tables")
        engine.reading = Reading(dict(types or {}), texts)
    return engine


def read_types(given: Iterable[str]) -> dict[str, str]:
    """Read types as they are typed: COLUMN=TYPE, commas between; a comma inside of brackets belongs to a type."""
    parts = [part for text in given for part in re.split(r",(?![^(]*\))", text)]
    if wrong := [part for part in parts if not all(part.rpartition("=")[::2])]:
        raise UsageError(f"{option('types')} takes COLUMN=TYPE, for example zip=VARCHAR, not {wrong[0]!r}")
    return {column.strip(): sql_type.strip() for column, _, sql_type in (part.rpartition("=") for part in parts)}


def read_missing(given: Iterable[str]) -> list[str]:
    """Read texts that are no value as they are typed, commas between."""
    return [text for each in given for text in each.split(",")]


def open_engine(
    engine: str,
    database: str | None = None,
    write: bool = False,
    master: str | None = None,
    dsn: str | None = None,
    readable: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    **limits: Any,
) -> Engine:
    """Open a session of our own; raise UsageError for an option that the engine does not know.

    readable: of a database file that is a stranger's, the files that are read beside it; None for one's own. types,
    missing: as for `read_as`. limits: threads, memory_limit, temp_directory; None is none.
    """
    for name, value in {"database": database, "master": master, "dsn": dsn, **limits}.items():
        flag = f"--{name.replace('_', '-')}"
        if value is not None and flag not in ENGINES[engine].options:
            raise UsageError(f"{flag} is not for --engine {engine}; leave it out")
    if engine == "duckdb":
        opened: Any = open_duckdb(database, write, readable, **limits)
    elif engine == "spark":
        opened = _load(engine, "session", "connect")(master, **limits)
    else:
        opened = _load(engine, "connection", "connect")(dsn)
    return read_as(opened, types=types, missing=missing)


def open_duckdb(
    database: str | None = None, write: bool = False, readable: Sequence[str] | None = None, **limits: Any
) -> "DuckDBEngine":
    """Open DuckDB in memory, with a database file attached (`write`: not read only), within `limits`.

    A macro or view of the file's is a name in the file, never in the session: none can stand in for what we call.
    readable: of a stranger's file, what the session may read beside it, and nothing else; None for one's own.
    """
    from sqlanon.engines.duckdb.connection import attach, confine, connect
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    connection = connect(**limits)
    catalog = "memory" if database is None else attach(connection, database, write)
    if readable is not None:
        confine(connection, readable)
    return DuckDBEngine(connection, catalog)


def open_reader() -> "DuckDBEngine":
    """Open DuckDB in memory to read files, beside the other readers of this process."""
    from sqlanon.engines.duckdb.connection import connect_beside
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    return DuckDBEngine(connect_beside(), "memory")


def _load(engine: str, module: str, name: str) -> Any:
    """Return what a module of an engine has; raise UsageError where the extra that it needs is not installed."""
    try:
        return getattr(import_module(f"sqlanon.engines.{engine}.{module}"), name)
    except ImportError:
        subject, extra = ENGINES[engine].extra
        raise UsageError(f"{subject} not installed here; type: pip install 'sqlanon[{extra}]'") from None
