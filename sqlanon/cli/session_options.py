"""What every verb takes that opens an engine and prints a result, said once and handed over as one object."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_type_hints

from sqlanon.cli.options import (
    DatabaseOption,
    Dsn,
    EngineName,
    EngineOption,
    Format,
    FormatOption,
    Master,
    Memory,
    SqlOption,
    Temporary,
    Threads,
    open_engine,
)

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine


@dataclass(kw_only=True)
class SessionOptions:
    """Which engine runs a verb, with what resources, and how its result is printed."""

    database: DatabaseOption = None
    engine: EngineOption = EngineName.duckdb
    master: Master = None
    dsn: Dsn = None
    how: FormatOption = Format.table
    sql: SqlOption = False
    threads: Threads = None
    memory_limit: Memory = None
    temp_directory: Temporary = None

    def open(self, write: bool = False) -> "Engine":
        """Open the engine; with --sql nothing is ever written."""
        resources = (self.threads, self.memory_limit, self.temp_directory)
        return open_engine(self.engine, self.database, write and not self.sql, self.master, self.dsn, *resources)


def with_session(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of SessionOptions behind its own; it gets them as the argument `session`.

    typer reads a command from its signature: the one made here holds both.
    """
    own_hints, hints = (get_type_hints(one, include_extras=True) for one in (command, SessionOptions))
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [
        one.replace(kind=keyword, annotation=own_hints[one.name])
        for one in inspect.signature(command).parameters.values()
        if one.name != "session"
    ]
    shared = [
        inspect.Parameter(one.name, keyword, default=one.default, annotation=hints[one.name])
        for one in fields(SessionOptions)
    ]

    def typed(**given: Any) -> None:
        session = SessionOptions(**{one.name: given.pop(one.name) for one in shared})
        command(**given, session=session)

    typed.__name__, typed.__doc__, typed.__module__ = command.__name__, command.__doc__, command.__module__
    typed.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    typed.__annotations__ = {one.name: one.annotation for one in (*own, *shared)} | {"return": None}
    return typed
