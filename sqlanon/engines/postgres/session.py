"""One session of PostgreSQL's: statements that fail alone, transactions, and one moment that all of a run sees."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from sqlanon.engines.postgres.connection import SETTINGS
from sqlanon.engines.postgres.errors import translated_errors
from sqlanon.engines.postgres.settings import pinned, quarters_for, settings_for


class Session:
    """Run statements on one PostgreSQL connection, ours or the caller's."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Take an open connection; it stays open when the engine goes."""
        self.connection = connection
        self._begun: list[AbstractContextManager[Any]] = []

    def _run(
        self, sql: str, parameters: Any = None, settings: Mapping[str, str] | None = None
    ) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """Run one statement under these settings; where it fails, only it is undone and the session can go on."""
        # without a savepoint of its own, a failed statement aborts the caller's transaction
        held = {**settings_for(sql), **(settings or {})}
        with translated_errors(), self.connection.transaction(), pinned(self.connection, held, quarters_for(sql)):
            cursor = self.connection.cursor(row_factory=tuple_row)
            cursor.execute(sql, parameters)
            return list(cursor.description or ()), cursor.fetchall() if cursor.description else []

    def execute(self, sql: str) -> None:
        """Run a statement that is written alike everywhere."""
        self._run(sql)

    @contextmanager
    def interruptible(self) -> Iterator[Callable[[], None]]:
        """Give what asks the server to end the statement that runs; only that is undone."""
        yield self.connection.cancel

    def _idle(self) -> bool:
        """Tell whether no transaction is open."""
        return self.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let everything inside be one transaction (of the caller's, if one is open) that sees one moment."""
        idle = self._idle()
        with translated_errors(), self.connection.transaction():
            if idle:  # inside a transaction of the caller's, which may have run queries, it can no longer be set
                self.connection.execute("set transaction isolation level repeatable read")
            before = {name: self._set(name, value) for name, value in SETTINGS.items()}
            yield
            for name, value in before.items():
                self._set(name, value)

    def _set(self, name: str, value: str) -> str:
        """Set what the text of a value depends on, until the transaction ends; return what it was."""
        _, ((before,),) = self._run("select current_setting(%s)", [name])
        self._run("select set_config(%s, %s, true)", [name, value])
        return str(before)

    def begin(self) -> None:
        """Begin a transaction, or a part of the one that is open."""
        transaction = self.connection.transaction()
        with translated_errors():
            transaction.__enter__()
        self._begun.append(transaction)

    def commit(self) -> None:
        """Let what was made since `begin` appear."""
        with translated_errors():
            self._begun.pop().__exit__(None, None, None)

    def rollback(self) -> None:
        """Undo what was made since `begin`."""
        with translated_errors():
            self._begun.pop().__exit__(psycopg.Rollback, psycopg.Rollback(), None)
