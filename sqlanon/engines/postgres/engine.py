"""The engine protocol on one PostgreSQL connection."""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import tuple_row

from sqlanon.engines.base import Engine
from sqlanon.engines.postgres.catalogs import (
    AS_TEXT,
    FIND_COMMENTS,
    FIND_CONTENTS,
    FIND_DECIMALS,
    FIND_TYPES,
    build_frame,
    find_collated,
    item_type,
    type_name,
    whole_number,
)
from sqlanon.engines.postgres.connection import (
    FEW_ROWS,
    SETTINGS,
    pinned,
    quarters_for,
    settings_for,
    translated_errors,
)
from sqlanon.engines.runner import creation_text, translate_for_engine
from sqlanon.errors import SourceError, SqlanonError, TargetError, UsageError
from sqlanon.key import Key
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.plan import Source, Statement, find_floats
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.source import QueriedSource
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.engines.duckdb.engine import DuckDBEngine


_CSV = "format csv, force_quote *"
_ALIAS = re.compile(r"\s+as\b", re.IGNORECASE)


class PostgresEngine(Engine):
    """Run statements on one PostgreSQL connection, ours or the caller's."""

    dialect = "postgres"
    lacks = ENGINES["postgres"].lacks
    in_process = False
    in_parts = False

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Take an open connection; it stays open when the engine goes."""
        self.connection = connection
        self.name = f"postgres {connection.info.server_version // 10000}"
        self._queries: dict[str, str] = {}  # that are sources, by the names that our SQL has for them
        self._begun: list[AbstractContextManager[Any]] = []
        self._reserved: set[str] = set()

    # -- running ------------------------------------------------------------------------------

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

    @contextmanager
    def _copying(self, sql: str) -> Iterator[psycopg.Copy]:
        """Run a COPY of rows that come from here, or go here."""
        with translated_errors(), self.connection.transaction(), self.connection.cursor().copy(sql) as copy:
            yield copy

    def execute(self, sql: str) -> None:
        """Run a statement that is written alike everywhere."""
        self._run(sql)

    def _translate(self, sql: str) -> str:
        """Translate a statement of ours; a query that is its source is put in as it was read, in PostgreSQL's SQL."""
        text = translate_for_engine(sql, self.dialect)
        for name, query in self._queries.items():
            first, *rest = text.split(f'"{name}"')
            # PostgreSQL before 16 wants a name for every query in FROM
            parts = (part if _ALIAS.match(part) else f' as "{name}"{part}' for part in rest)
            text = first + "".join(f"{query}{part}" for part in parts)
        return text

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own."""
        return creation_text(statement, self._translate(statement.sql), lasting)

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name."""
        self._run(self.text(statement, lasting))
        if statement.kind == "table":  # nothing else counts the rows of a temporary table
            self._run(f"analyze {statement.relation}", settings={} if lasting else FEW_ROWS)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT and fetch every row; whole numbers of any size are int."""
        described, rows = self._run(self._translate(sql))
        names = [column.name for column in described]
        return [dict(zip(names, map(whole_number, row), strict=True)) for row in rows]

    def frame(self, sql: str) -> "pd.DataFrame":
        """Run one SELECT and fetch it as columns; numeric ones are float."""
        described, rows = self._run(self._translate(sql))
        return build_frame([column.name for column in described], self._types(described)[0], rows)

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        described = self._describe(sql)
        return dict(zip([column.name for column in described], self._types(described)[0], strict=True))

    def _describe(self, sql: str) -> list[Any]:
        return self._run(f"select * from (\n{self._translate(sql)}\n) as described limit 0")[0]

    def _types(self, described: Sequence[Any]) -> tuple[list[str], Mapping[int, Sequence[Any]]]:
        """Return the types of a result's columns, which tells their numbers alone, and what the catalog has of them."""
        rows = self._run(FIND_TYPES, {"types": [column.type_code for column in described]})[1]
        catalog = {oid: told for oid, *told in rows}
        digits = [f"({column.precision},{column.scale})" if column.precision else "" for column in described]
        return [type_name(one.type_code, catalog, of) for one, of in zip(described, digits, strict=True)], catalog

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row temporary table (`secret`), as data, never as a literal."""
        self._run(f"create temporary table {relation} (secret text)")
        # that it is one row decides how the rows are joined; of what it holds no statistics are written down
        self._run(f"alter table {relation} alter column secret set statistics 0")
        self._fill(relation, [[key.text]])

    def keep_constants(self, relation: Sql, row: Mapping[str, int]) -> None:
        """Put whole numbers into a one-row temporary table, as data."""
        self._run(f"create temporary table {relation} ({', '.join(f'{ident(name)} bigint' for name in row)})")
        self._fill(relation, [[*row.values()]])

    def keep_frame(self, relation: Sql, frame: "pd.DataFrame") -> None:
        """Put a small table of numbers, times and texts of the driver's into a temporary table."""
        types = {"i": "bigint", "u": "bigint", "f": "double precision", "M": "timestamp"}
        text = 'varchar collate "C"'  # in the order of bytes, whatever the database's language is
        sql_types = [types.get(dtype.kind, text) for dtype in frame.dtypes]
        columns = (f"{ident(str(name))} {kind}" for name, kind in zip(frame.columns, sql_types, strict=True))
        self.drop([str(relation)])
        self._run(f"create temporary table {relation} ({', '.join(columns)})")
        values = frame.astype(object)
        has_null = [sql_type in (text, "timestamp") for sql_type in sql_types]  # NaN is a number
        self._fill(relation, values.mask(values.isna() & has_null, None).itertuples(index=False, name=None))

    def _fill(self, relation: Sql, rows: Iterable[Sequence[Any]]) -> None:
        with self._copying(f"copy {relation} from stdin") as copy:
            for row in rows:
                copy.write_row(row)
        self._run(f"analyze {relation}")

    def drop(self, relations: Sequence[str]) -> None:
        """Forget temporary relations; missing ones do not matter."""
        _, rows = self._run("select relname, relkind = 'v' from pg_class where relnamespace = pg_my_temp_schema()")
        kinds = {str(ident(name)): "view" if view else "table" for name, view in rows}
        for relation in reversed(dict.fromkeys(relations)):  # views go before what they read
            if str(relation) in kinds:
                self._run(f"drop {kinds[str(relation)]} pg_temp.{relation}")

    def rename(self, relation: str, name: str) -> None:
        """Give a temporary table another name."""
        self._run(f"alter table pg_temp.{relation} rename to {name}")

    def relation(self, sql: str) -> psycopg.Cursor[Any]:
        """Return a cursor over the rows of a SELECT."""
        with translated_errors():
            return self.connection.execute(self._translate(sql))

    # -- files: there are none ------------------------------------------------------------------

    def parquet_text(self, sql: str, path: Path) -> str:
        """Refuse: there is no file to write."""
        raise TargetError(
            f"postgres keeps everything in the server and writes no files; say {option('into', 'SCHEMA')}"
        )

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Refuse: there is no file to write."""
        raise TargetError(self.parquet_text(sql, path))

    def read_parquet(self, paths: Sequence[Path]) -> Sql:
        """Refuse: there is no file to read."""
        raise UsageError(
            "postgres reads no files; a release in a directory is opened by DuckDB: say nothing of --engine"
        )

    # -- rows that a session of DuckDB keeps, by files of CSV, in which no value and an empty text differ

    def take_rows(self, relation: Sql, like: str, keeper: "DuckDBEngine", rows: Sql, folder: Path) -> None:
        """Copy rows of DuckDB's into a temporary table, whose columns read them as the texts that they are there."""
        self.create(Statement("rows", like, "table", relation))
        listed = ", ".join(map(ident, self.columns(like)))
        path = folder / f"{secrets.token_hex(4)}.csv"
        keeper.execute(f"copy (select {listed} from {rows}) to {literal(str(path))} ({_CSV}, header false)")
        text = f"copy {relation} ({listed}) from stdin (format csv, encoding 'utf8')"
        with self._copying(text) as copy, path.open("rb") as file:
            while block := file.read(2**20):
                copy.write(block)
        path.unlink()
        self._run(f"analyze {relation}")

    def give_rows(self, sql: str, keeper: "DuckDBEngine", folder: Path) -> Sql:
        """Copy the rows of a SELECT to a file that DuckDB reads: all are texts, as the server writes them."""
        path = folder / f"{secrets.token_hex(4)}.csv"
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.columns(sql))
        text = f"copy ({self._translate(sql)}) to stdout ({_CSV}, encoding 'utf8')"
        with self._copying(text) as copy, path.open("wb") as file:
            for block in copy:
                file.write(block)
        reading = "header = false, auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
        limits = "allow_quoted_nulls = false, parallel = false, max_line_size = 1000000000"
        return Sql(f"read_csv({literal(str(path))}, columns = {{{columns}}}, {reading}, {limits})")

    # -- schemas and transactions ---------------------------------------------------------------

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
            with pinned(self.connection, SETTINGS):
                yield True

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

    # -- sources ------------------------------------------------------------------------------

    def find_source(self, text: object, as_text: bool | str = False) -> tuple[Source, Mapping[str, str]]:
        """Find a table or view, named as it is written in SQL without quotes, or letter by letter; or take a query."""
        if isinstance(text, QueriedSource):
            relation = ident(f"sqlanon_source_{secrets.token_hex(4)}")
            self._queries[str(relation).strip('"')] = text.write(self._find_table)
        elif isinstance(text, str):
            relation = self._find_table(text)
        else:
            raise SourceError(f"a {type(text).__name__} is no table of PostgreSQL; name a table")
        described = self._describe(f"select * from {relation}")
        sql_types, catalog = self._types(described)
        oids = {column.name: column.type_code for column in described}
        types = dict(zip([column.name for column in described], sql_types, strict=True))
        digits = dict(self._run(FIND_DECIMALS, [str(relation)])[1])
        items = {name: item_type(oid, catalog, digits.get(name, "")) for name, oid in oids.items()}
        # an enumeration's type lists every value that there could be, published or not
        casts = {name: "VARCHAR" for name, sql_type in types.items() if sql_type in AS_TEXT}
        lists = {name: "VARCHAR" if sql_type in AS_TEXT else sql_type for name, sql_type in items.items() if sql_type}
        # of its two types of text the server compares no array of one with an array of the other
        varying = {name for name, oid in oids.items() if items[name] and catalog[catalog[oid][2]][0] == "varchar"}
        list_casts = {name: "VARCHAR[]" for name, item in items.items() if item in AS_TEXT or name in varying}
        all_types = (types | casts | lists).items()
        texts = frozenset(name for name, sql_type in all_types if sql_type == "VARCHAR")
        # citext takes spellings for one value by its operators, others by a collation that is not deterministic
        named = [name for name, oid in oids.items() if types[name] == "VARCHAR" or catalog[oid][0] == "citext"]
        return Source(
            relation, casts | list_casts, Sql("row_number() over ()"), texts, lists, floats=find_floats(types),
            collated=frozenset(find_collated(lambda sql: self._run(self._translate(sql))[1], str(relation), named)),
        ), types | casts  # fmt: skip

    def _find_table(self, text: str) -> Sql:
        with translated_errors(), self.connection.transaction():  # where the session looks names up
            cursor = self.connection.cursor(row_factory=tuple_row)
            ((path,),) = cursor.execute("select pg_catalog.current_schemas(true)::pg_catalog.text[]").fetchall()
        # a name with a point may be one name, or schema and table; each as written, then folded as PostgreSQL folds it
        for *schema, name in ([text], text.split(".")):
            for fold in (str, str.lower):
                match = self._run(
                    "select n.nspname, c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace"
                    " where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = %s"
                    " and n.nspname = any(%s::text[]) order by array_position(%s::text[], n.nspname::text) limit 1",
                    [fold(name), *2 * ([fold(".".join(schema))] if schema else path,)],
                )[1]
                if match:
                    return Sql(".".join(ident(part) for part in match[0]))
        raise SourceError(f"no table or view {text!r} in the database; name it as schema.table")
