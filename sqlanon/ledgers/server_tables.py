"""A ledger as tables of a PostgreSQL server, written in the one transaction in which the release appears."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import SourceError, SqlanonError, TargetError, UsageError
from sqlanon.ledgers.contents import COLUMNS, DESCRIPTION, Contents, history_text, parse_history
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.releases.database_targets import RESERVED_SCHEMAS
from sqlanon.wording import option

LONGEST = 63  # bytes of a name; PostgreSQL cuts longer ones, and two could become one
FOREIGN = {"policy of", "rule of", "trigger of"}  # a stranger's functions that reading or writing would run


class ServerTables:
    """One run's hold on a ledger SCHEMA.TABLE: it says what it is, and TABLE_person, TABLE_value hold the rest."""

    def __init__(self, engine: Engine, named: str) -> None:
        """Keep other runs away; raise UsageError or TargetError for what names no ledger of the caller's."""
        self.named, self._engine = named, engine
        self.note_name: str | None = None
        self._schema, self._table = split_name(named)
        if engine.tables(self._schema) is None:
            raise TargetError(f"no schema {self._schema!r} to keep the ledger in; make one that is not handed on")
        # the schema and its lock are another matter: releases may be written there meanwhile
        self._lock = f"ledger {named}"
        if not engine.reserve(self._lock):
            raise TargetError(f"another run publishes under {named!r}; wait until it has ended")
        self._present = False

    @contextmanager
    def reading(self) -> Iterator[Contents | None]:
        """Read what the tables say of the ledger."""
        tables = read_tables(self._engine, self.named)
        self._present = tables is not None
        yield tables

    @contextmanager
    def writing(self, made: Mapping[str, Sql]) -> Iterator[Mapping[str, Sql]]:
        """Make the tables anew; all of it appears with the transaction that is open, or nothing."""
        for table, relation in made.items():
            self._renew(table, f"select * from {relation}")
        yield _relations(self._schema, self._table)

    def write_history(self, description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]]) -> None:
        """Make the table anew that says what the ledger is."""
        text = literal(history_text(description, releases))
        self._renew(DESCRIPTION, f"select {text} as {ident(DESCRIPTION)}")

    def _renew(self, table: str, sql: str) -> None:
        relation = _relations(self._schema, self._table)[table]
        try:
            if self._present:
                self._engine.execute(f"drop table {relation}")
            self._engine.create(Statement(table, sql, "table", str(relation)), lasting=True)
            self._engine.keep_private(relation)
        except SqlanonError as error:
            raise TargetError(f"cannot write the ledger: {error}") from None

    def read_note(self) -> None:
        """Return nothing: whoever restores the tables would restore a table of notes as well."""

    def appear(self, release: Mapping[str, Any], note: str) -> None:
        """Do nothing: the transaction lets release and ledger appear."""

    def place_note(self) -> bool:
        """Do nothing: there is no note."""
        return True

    def undo(self) -> None:
        """Do nothing: the transaction is undone."""

    def close(self) -> None:
        """Let other runs publish under the ledger."""
        self._engine.release(self._lock)


def split_name(named: str) -> tuple[str, str]:
    """Return schema and table of a ledger's name; raise UsageError for what names no table of a ledger."""
    schema, _, table = named.rpartition(".")
    longest = max(len(name) for name in COLUMNS) + 1
    if not schema or not table or "\0" in named:
        raise UsageError(f"a ledger on postgres is a table: say {option('ledger', 'SCHEMA.TABLE')}, not {named!r}")
    if schema in RESERVED_SCHEMAS or schema.startswith("pg_"):
        raise UsageError(f"{schema!r} is the server's own schema; keep the ledger in one of yours")
    if max(len(schema.encode("utf-8", "replace")), len(table.encode("utf-8", "replace")) + longest) > LONGEST:
        raise UsageError(f"the name of the ledger is too long: {LONGEST - longest} bytes for a table's")
    return schema, table


def _relations(schema: str, table: str) -> dict[str, Sql]:
    names = {DESCRIPTION: table, **{name: f"{table}_{name}" for name in COLUMNS}}
    return {name: Sql(f"{ident(schema)}.{ident(table_name)}") for name, table_name in names.items()}


def read_tables(engine: Engine, named: str) -> Contents | None:
    """Read a ledger SCHEMA.TABLE, None where nothing has its names; raise SourceError for what is no ledger."""
    schema, table = split_name(named)
    names, relations = [table, *(f"{table}_{name}" for name in COLUMNS)], _relations(schema, table)
    kinds = [(kind, name) for kind, name in engine.contents(schema) or () if name in names]
    if not kinds:
        return None
    # looked at before they are read: a view would be run, and so would a policy
    if not {("table", name) for name in names} <= {*kinds} or {kind for kind, _ in kinds} & FOREIGN:
        raise SourceError(f"{named!r} is no ledger: other things have the names of its tables")
    described = relations.pop(DESCRIPTION)
    if set(engine.columns(f"select * from {described}")) != {DESCRIPTION}:
        raise SourceError(f"{named!r} is a table, and no ledger")
    rows = engine.rows(f"select * from {described}")
    # another format may have other columns: it is told first
    history = parse_history(rows[0][DESCRIPTION] if len(rows) == 1 else None, named)
    if {name: set(engine.columns(f"select * from {relation}")) for name, relation in relations.items()} != COLUMNS:
        raise SourceError(f"{named!r} is a table, and no ledger")
    return Contents(*history, relations)
