"""Schemas of a PostgreSQL database: what they hold, who may read it, and one run at a time that writes there."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from sqlanon.engines.postgres.contents import FIND_COMMENTS, FIND_CONTENTS
from sqlanon.engines.postgres.session import Session
from sqlanon.errors import SqlanonError
from sqlanon.plans.templates import Sql, ident


class Schemas(Session):
    """Look at schemas and reserve them, in one session."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Take an open connection, which has reserved nothing yet."""
        super().__init__(connection)
        self._reserved: set[str] = set()

    def tables(self, schema: str) -> list[str] | None:
        """Return the names of a schema's tables and views, None where there is no such schema."""
        _, schemas = self._run("select oid from pg_namespace where nspname = %s", [schema])
        if not schemas:
            return None
        # pg_class also shows what information_schema hides from a user without rights
        listing = "select relname from pg_class where relnamespace = %s and relkind in ('r', 'p', 'v', 'm', 'f')"
        return [name for (name,) in self._run(listing, list(schemas[0]))[1]]

    def contents(self, schema: str) -> list[tuple[str, str]] | None:
        """Return what a schema holds, kind and name; None where there is none."""
        if self.tables(schema) is None:
            return None
        return [(kind, name) for kind, name in self._run(FIND_CONTENTS, {"schema": schema})[1]]

    def comments(self, schema: str) -> dict[tuple[str, str], str]:
        """Return the comments on a schema's tables and columns."""
        found = self._run(FIND_COMMENTS, {"schema": schema})[1]
        return {(table, column): text for table, column, text in found}

    def qualified(self, schema: str) -> Sql:
        """Return a schema's name: a session sees one database."""
        return ident(schema)

    def full_name(self, parts: Sequence[str]) -> Sql:
        """Return the name of a user's table as it is: the session looks it up where the user does."""
        return Sql(".".join(ident(part) for part in parts))

    def database_path(self) -> Path | None:
        """Return none: the server keeps the files."""
        return None

    def keep_private(self, relation: Sql) -> None:
        """Take back what default privileges granted to others than the owner."""
        # a role may have any name: each is quoted by the server
        granted = (
            "select distinct case when a.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end"
            " from pg_class as c, aclexplode(c.relacl) as a where c.oid = %s::regclass and a.grantee <> c.relowner"
        )
        for (role,) in self._run(granted, [str(relation)])[1]:
            self._run(f"revoke all on {relation} from {role} cascade")

    def reserve(self, schema: str) -> bool:
        """Take the server's lock for a schema; False where another session has it.

        It ends with the session; inside a transaction of the caller's, with that: what was written is not to be seen
        before, and another run would wait for it.
        """
        if schema in self._reserved:
            return False
        lock = "pg_try_advisory_lock" if self._idle() else "pg_try_advisory_xact_lock"
        # a name's number may be another's too: that costs a wait, not a release
        _, ((taken,),) = self._run(f"select {lock}(hashtextextended(%s, 7))", [f"sqlanon {schema}"])
        if taken:
            self._reserved.add(schema)
        return bool(taken)

    def release(self, schema: str) -> None:
        """Give the lock back, unless the caller's transaction keeps it."""
        if schema in self._reserved:
            self._reserved.discard(schema)
            if self._idle():
                with suppress(SqlanonError):  # of a session that is lost it goes by itself
                    self._run("select pg_advisory_unlock(hashtextextended(%s, 7))", [f"sqlanon {schema}"])
