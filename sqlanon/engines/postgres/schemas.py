"""Schemas of a PostgreSQL database: what they contain, who may read them, and the lock of the run that writes.

A schema may contain tables and other objects that carry text or can run. A session can try single statements, hold a
transaction, and read everything at one moment.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from sqlanon.engines.postgres.connection import SETTINGS
from sqlanon.engines.postgres.errors import translated_errors
from sqlanon.engines.postgres.settings import pinned, quarters_for, settings_for
from sqlanon.errors import SqlanonError
from sqlanon.plans.templates import Sql, ident

# a release's tables are made of a SELECT and have nothing of this; what comments say is looked at apart
# parameter: the schema
FIND_CONTENTS = """
with home as (select oid, nspname from pg_namespace where nspname = %(schema)s),
held as (select c.* from pg_class as c join home on c.relnamespace = home.oid)
select case relkind when 'r' then 'table' when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence'
    when 'i' then 'index' when 'c' then 'type' else 'relation ' || relkind::text end, relname::text from held
union
select 'function', proname::text from pg_proc join home on pronamespace = home.oid
union
select 'type', typname::text from pg_type join home on typnamespace = home.oid where typrelid = 0 and typelem = 0
union
select 'constraint of', held.relname::text from pg_constraint join held on conrelid = held.oid
union
select 'trigger of', held.relname::text from pg_trigger join held on tgrelid = held.oid
union
select 'policy of', held.relname::text from pg_policy join held on polrelid = held.oid
union
select 'rule of', held.relname::text from pg_rewrite join held on ev_class = held.oid where held.relkind = 'r'
union
select 'default of', held.relname::text from pg_attrdef join held on adrelid = held.oid
union
select 'comment on schema', nspname::text from pg_description join home on objoid = home.oid
    where classoid = 'pg_namespace'::regclass
"""

FIND_COMMENTS = """
select held.relname::text, coalesce(attname::text, ''), description
from pg_description
join pg_class as held on objoid = held.oid
join pg_namespace as home on held.relnamespace = home.oid and nspname = %(schema)s
left join pg_attribute on attrelid = held.oid and attnum = objsubid and objsubid > 0
where classoid = 'pg_class'::regclass
"""


class Session:
    """Run statements on one PostgreSQL connection, ours or the caller's; look at schemas and reserve them."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Take an open connection, which has reserved nothing yet; it stays open when the engine goes."""
        self.connection = connection
        self._begun: list[AbstractContextManager[Any]] = []
        self._reserved: set[str] = set()

    def _run(
        self, sql: str, parameters: Any = None, settings: Mapping[str, str] | None = None
    ) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """Run one statement under these settings; where it fails, only it is undone and the session can go on."""
        # without a savepoint of its own, a failed statement aborts the caller's transaction
        all_settings = {**settings_for(sql), **(settings or {})}
        with (
            translated_errors(),
            self.connection.transaction(),
            pinned(self.connection, all_settings, quarters_for(sql)),
        ):
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
    def snapshot(self) -> Iterator[bool]:
        """Let everything inside be one transaction (of the caller's, if one is open) that sees one moment."""
        idle = self._idle()
        with translated_errors(), self.connection.transaction():
            if idle:  # inside a transaction of the caller's, which may have run queries, it can no longer be set
                self.connection.execute("set transaction isolation level repeatable read")
            before = {name: self._set(name, value) for name, value in SETTINGS.items()}
            yield True
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

    def contents(self, schema: str) -> list[tuple[str, str]] | None:
        """Return what a schema holds, kind and name; None where there is none."""
        # the catalogs also show what information_schema hides from a user without rights
        if not self._run("select oid from pg_namespace where nspname = %s", [schema])[1]:
            return None
        return [(kind, name) for kind, name in self._run(FIND_CONTENTS, {"schema": schema})[1]]

    def comments(self, schema: str) -> dict[tuple[str, str], str]:
        """Return the comments on a schema's tables and columns."""
        lines = self._run(FIND_COMMENTS, {"schema": schema})[1]
        return {(table, column): text for table, column, text in lines}

    def qualified(self, schema: str) -> Sql:
        """Return a schema's name: a session sees one database."""
        return ident(schema)

    def database_name(self) -> str:
        """Return the server's number and the database's."""
        ((name,),) = self._run(
            "select concat_ws(' ', 'postgres', system_identifier, oid) from pg_control_system(), pg_database"
            " where datname = current_database()"
        )[1]
        return str(name)

    def reserve(self, schema: str) -> bool:
        """Take the server's lock for a schema; False where another session has it.

        It ends with the session; inside a transaction of the caller's, with that: what was written is not to be seen
        before, and another run would wait for it.
        """
        if schema in self._reserved:
            return False
        lock = "pg_try_advisory_lock" if self._idle() else "pg_try_advisory_xact_lock"
        # a name's number may be another's too: that costs a wait, not a release
        _, ((has_lock,),) = self._run(f"select {lock}(hashtextextended(%s, 7))", [f"sqlanon {schema}"])
        if has_lock:
            self._reserved.add(schema)
        return bool(has_lock)

    def release(self, schema: str) -> None:
        """Give the lock back, unless the caller's transaction keeps it."""
        if schema in self._reserved:
            self._reserved.discard(schema)
            if self._idle():
                with suppress(SqlanonError):  # of a session that is lost it goes by itself
                    self._run("select pg_advisory_unlock(hashtextextended(%s, 7))", [f"sqlanon {schema}"])
