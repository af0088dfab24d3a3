"""The engine protocol on one DuckDB connection."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import duckdb

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb.connection import escape_pattern
from sqlanon.engines.duckdb.errors import translate_error
from sqlanon.engines.duckdb.sources import find_source
from sqlanon.engines.duckdb.text_files import Reading
from sqlanon.engines.runner import creation_text, typed
from sqlanon.errors import SourceError, SqlanonError, TargetError, UsageError, raised_as
from sqlanon.key import Key
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.plan import Source, Statement
from sqlanon.plans.templates import Sql, ident, literal, template_of

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.engines.base import Numbers


T = TypeVar("T")

# What a schema of DuckDB's holds: tables, and whatever else can carry a text.
_KINDS = {  # kind: the catalog's function, the name there, and what tells the kind from others
    "table": ("duckdb_tables()", "table_name", "true"),
    "view": ("duckdb_views()", "view_name", "true"),
    "macro": ("duckdb_functions()", "function_name", "not internal"),
    "sequence": ("duckdb_sequences()", "sequence_name", "true"),
    "type": ("duckdb_types()", "type_name", "not internal"),
    "index": ("duckdb_indexes()", "index_name", "true"),
    "constraint of": ("duckdb_constraints()", "table_name", "true"),
    "tags of": ("duckdb_tables()", "table_name", "cardinality(tags) > 0"),
    "comment on schema": ("duckdb_schemas()", "schema_name", "comment is not null or cardinality(tags) > 0"),
    "default of": ("duckdb_columns()", "table_name || '.' || column_name", "column_default is not null"),
}

# a release's tables are made of a SELECT and have nothing of this; what comments say is looked at apart
# parameters: the database, the schema
FIND_CONTENTS = " union ".join(
    f"select '{kind}', {name} from {listing}"
    f" where database_name = $1 and lower(schema_name) = lower($2) and ({condition})"
    for kind, (listing, name, condition) in _KINDS.items()
)

FIND_COMMENTS = """
select table_name, '', comment from duckdb_tables()
where database_name = $1 and lower(schema_name) = lower($2) and comment is not null
union all
select table_name, column_name, comment from duckdb_columns()
where database_name = $1 and lower(schema_name) = lower($2) and comment is not null
"""


_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
ROW_NUMBER = "file_row_number"
_MEANINGS = {  # a setting: the value that statements are written for, and what comes of another one
    "default_collation": ("", "texts that differ may be one value"),
    "preserve_identifier_case": ("preserve_case", "columns of results get other names"),
    "integer_division": ("false", "a quotient of whole numbers loses what is behind its point"),
}
_OLDER = {("preserve_identifier_case", "true"), ("preserve_identifier_case", "false")}
_UTC = ("UTC", "Etc/UTC")
UNUSABLE = "DuckDB has shut the database of this connection: close all connections to it, and connect anew"
STRETCH = 250_000  # rows; a thread of its own for fewer gains nothing


class DuckDBEngine(Engine):
    """Run statements on one DuckDB connection, ours or the caller's."""

    dialect = "duckdb"
    lacks = ENGINES["duckdb"].lacks
    in_process = True
    in_parts = False

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: str | None = None) -> None:
        """Take an open connection; it stays open when the engine goes.

        catalog: the database that was attached to a session of our own, in which no name is anybody else's; None for
        a caller's connection. Raises UsageError where names on it stand in for functions that our statements call, or
        where one of its settings changes what SQL means.
        """
        self.connection = connection
        self.files_read: list[str] = []  # as they were named, for messages
        self.reading = Reading()
        self.name = f"duckdb {duckdb.__version__}"
        self._attached = catalog
        self._made: dict[str, str] = {}  # temporary relation -> table or view; noted before it is made
        self._single_files: set[Sql] = set()  # what reads one file: its rows are numbered
        if catalog is None:
            self._refuse_false_functions()
            for name, value in self.execute("select name, value from system.main.duckdb_settings()"):
                our_value, consequence = _MEANINGS.get(name, (value, ""))
                # before DuckDB 2 names were kept (true) or lowered (false), which is what ours are
                if value != our_value and (name, value) not in _OLDER:
                    raise UsageError(
                        f"the connection's {name} is {value!r}, under which {consequence}; set {name} ="
                        f" {our_value or literal(our_value)} first"
                    )

    @property
    def place(self) -> tuple[str, str]:
        """Return the database and the schema in which names without either are looked up first."""
        if self._attached is not None:
            return self._attached, "main"
        ((database, schema),) = self.execute("select current_database(), current_schema()")
        return database, schema

    def _refuse_false_functions(self) -> None:
        """Refuse a connection on which a macro has the name of a function of DuckDB's: our statements would call it."""
        # qualified, and compared here: any name in this statement could be a macro too
        ((schemas,),) = self.execute("select system.main.current_schemas(true)")
        functions = self.execute(
            "select database_name, schema_name, function_name, internal from system.main.duckdb_functions()"
        )
        builtin = {name.lower() for _, _, name, internal in functions if internal}
        seen = {name for place, schema, name, own in functions if not own and (place == "temp" or schema in schemas)}
        visible = {name for name in seen if name.lower() in builtin}
        if visible:
            raise UsageError(
                f"on this connection a macro stands in for DuckDB's own {', '.join(sorted(visible))}, which the"
                " statements call: drop it, or attach the database to a connection without such names"
            )

    # -- running ------------------------------------------------------------------------------

    def _fetch(self, fetch: Callable[[Any], T], sql: str, parameters: Sequence[object] | None = None) -> T:
        try:  # DuckDB 2 blocks relations and later calls while a result is not fetched
            return fetch(self.connection.execute(sql, parameters))
        except duckdb.Error as error:
            raise self._translate(error, sql) from None

    def execute(self, sql: str, parameters: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and fetch all of it."""
        return self._fetch(lambda result: list(result.fetchall()), sql, parameters)

    def _translate(self, error: duckdb.Error, sql: str) -> SqlanonError:
        """Return an error of DuckDB's as ours; what it leaves of a caller's connection is said."""
        refusal = translate_error(error, self.files_read, template_of(sql))
        if self._attached is None and isinstance(error, duckdb.InternalException | duckdb.FatalException):
            try:
                self.connection.execute("select 1").fetchall()
            except duckdb.Error:  # DuckDB closes a database behind such an error
                return type(refusal)(f"{refusal}. {UNUSABLE}")
        return refusal

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own."""
        return creation_text(statement, statement.sql, lasting)

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name."""
        if not lasting:
            self._made[statement.relation] = statement.kind
        self.execute(self.text(statement, lasting))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT and fetch every row; values keep their types."""

        def named(result: Any) -> list[dict[str, Any]]:
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

        return self._fetch(named, sql)

    def frame(self, sql: str) -> "pd.DataFrame":
        """Run one SELECT and fetch it as columns."""
        return self._fetch(lambda result: cast("pd.DataFrame", result.df()), sql)

    def arrays(self, sql: str) -> "dict[str, Numbers]":
        """Run one SELECT of numbers and fetch it as arrays; NULL is NaN."""
        fetched = self._fetch(lambda result: cast("dict[str, Any]", result.fetchnumpy()), sql)
        # a column with NULLs comes masked
        return {n: x.astype(float).filled(math.nan) if hasattr(x, "filled") else x for n, x in fetched.items()}

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        return {row["column_name"]: row["column_type"] for row in self.rows(f"describe {sql}")}

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row table (`secret`), as a bound parameter, never as a literal."""
        # a literal would stand in the query log, in profiles and in error messages
        self._keep_row(relation, "varchar", {"secret": key.text})

    def keep_constants(self, relation: Sql, row: Mapping[str, int]) -> None:
        """Put whole numbers into a one-row table, as bound parameters."""
        self._keep_row(relation, "bigint", row)

    def _keep_row(self, relation: Sql, sql_type: str, row: Mapping[str, object]) -> None:
        self._made[relation] = "table"
        self.execute(f"create temporary table {relation} ({', '.join(f'{ident(name)} {sql_type}' for name in row)})")
        self.execute(f"insert into {relation} values ({', '.join('?' for _ in row)})", list(row.values()))

    def keep_frame(self, relation: Sql, frame: "pd.DataFrame") -> None:
        """Put a small table of the driver's into a temporary table."""
        name = "sqlanon_frame_in_transit"
        self.connection.register(name, frame)
        try:
            self._made[relation] = "table"
            self.execute(f"create or replace temporary table {relation} as select * from {name}")
        finally:
            self.connection.unregister(name)

    def drop(self, relations: Sequence[str]) -> None:
        """Forget temporary relations; missing ones do not matter."""
        for relation in reversed(relations):  # views go before what they read
            if relation in self._made:
                self.execute(f"drop {self._made[relation]} if exists temp.{relation}")
                del self._made[relation]

    def rename(self, relation: str, name: str) -> None:
        """Give a temporary table another name."""
        self._made[name] = self._made[relation]
        self.execute(f"alter table temp.{relation} rename to {name}")
        del self._made[relation]

    def relation(self, sql: str) -> duckdb.DuckDBPyRelation:
        """Return a SELECT as a relation of the connection, run when it is fetched."""
        return self.connection.sql(sql)

    def free_memory(self) -> int:
        """Return how many bytes the connection's memory limit leaves of itself."""
        ((limit, used),) = self.execute(
            "select current_setting('memory_limit'), sum(memory_usage_bytes) from system.main.duckdb_memory()"
        )
        number, unit = limit.split()
        return int(float(number) * _UNITS[unit]) - int(used or 0)

    @contextmanager
    def interruptible(self) -> Iterator[Callable[[], None]]:
        """Give what interrupts the statement that runs; the connection goes on."""
        yield self.connection.interrupt

    def parquet_text(self, sql: str, path: Path) -> str:
        """Return the SQL that writes the rows of a SELECT to a Parquet file that says nothing else."""
        # a filter's bits are one more thing to judge, and what DuckDB 2 says of an interval's is nothing of a table
        options = "format parquet, compression zstd, write_bloom_filter false"
        return f"copy (\n{sql}\n) to {literal(str(path))} ({options})"

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Write the rows of a SELECT, in its order, to one Parquet file; return it with its rows."""
        with raised_as(TargetError, f"cannot write {path.name}", SqlanonError):
            ((count,),) = self.execute(self.parquet_text(sql, path))  # a COPY tells how many rows it wrote
        return {path: count}

    def read_parquet(self, paths: Sequence[Path]) -> Sql:
        """Return SQL that reads Parquet files of ours in this order, their names taken literally."""
        # a folder's name like `year=2020` would add a column
        listed = ", ".join(literal(escape_pattern(str(path))) for path in paths)
        reader = Sql(f"read_parquet({listed if len(paths) == 1 else f'[{listed}]'}, hive_partitioning = false)")
        if len(paths) == 1:
            self._single_files.add(reader)
        return reader

    def in_stretches(self, relation: Sql) -> list[Sql]:
        """Return a stretch of a long file for each thread; whatever else there is has one."""
        if relation not in self._single_files:
            return [relation]
        ((count,),) = self.execute(f"select count(*) from {relation}")
        # a column of that name hides the number of a file's row
        if count < 2 * STRETCH or ROW_NUMBER in map(str.lower, self.columns(f"from {relation}")):
            return [relation]
        ((threads,),) = self.execute("select current_setting('threads')")
        number = min(threads, count // STRETCH)
        ends = [place * count // number for place in range(number + 1)]
        if number == 1:
            return [relation]
        return [
            Sql(f"(from {relation} where {ROW_NUMBER} between {max(0, first - 1)} and {end - 1})")
            for first, end in itertools.pairwise(ends)
        ]

    def take_rows(self, relation: Sql, like: str, keeper: "DuckDBEngine", rows: Sql, folder: Path) -> None:
        """Show rows of this session under a name."""
        columns = typed(self.columns(like), self.columns(f"select * from {rows}"))
        self.create(Statement("rows", f"select {columns} from {rows}", "view", relation))

    def give_rows(self, sql: str, keeper: "DuckDBEngine", folder: Path) -> Sql:
        """Return the SELECT: both sessions are this one."""
        return Sql(f"({sql})")

    # -- schemas and transactions ---------------------------------------------------------------

    def contents(self, schema: str) -> list[tuple[str, str]] | None:
        """Return what a schema holds, kind and name; None where there is none."""
        where = [self.place[0], schema]
        query = "select 1 from duckdb_schemas() where database_name = ? and lower(schema_name) = lower(?)"
        return (
            [(kind, name) for kind, name in self.execute(FIND_CONTENTS, where)] if self.execute(query, where) else None
        )

    def comments(self, schema: str) -> dict[tuple[str, str], str]:
        """Return the comments on a schema's tables and columns."""
        lines = self.execute(FIND_COMMENTS, [self.place[0], schema])
        return {(table, column): text for table, column, text in lines}

    def qualified(self, schema: str) -> Sql:
        """Return a schema's name with its database's."""
        return Sql(f"{ident(self.place[0])}.{ident(schema)}")

    def full_name(self, parts: Sequence[str]) -> Sql:
        """Return the name of a user's table with its database and schema: the session's own are others."""
        database, schema = self.place
        return Sql(".".join(ident(part) for part in (database, *([schema] if len(parts) == 1 else []), *parts)))

    def database_name(self) -> str | None:
        """Return the database's file, None where it lies in memory."""
        ((path,),) = self.execute("select path from duckdb_databases() where database_name = ?", [self.place[0]])
        return None if path is None else str(Path(path).absolute())

    def reserve(self, schema: str) -> bool:
        """Reserve nothing: one process writes to a file, and of its transactions that meet one fails."""
        return True

    def release(self, schema: str) -> None:
        """Do nothing."""

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """Write times in UTC inside: a row's identity is text, and a key's draws are the same in every zone.

        One process at a time writes to a DuckDB file, and statements commit as they run.
        """
        ((zone,),) = self.execute("select current_setting('TimeZone')")
        if zone in _UTC:  # a connection whose settings are locked may be so
            yield False
            return
        ((locked,),) = self.execute("select current_setting('lock_configuration')")
        if locked:
            raise UsageError(
                "this connection's settings are locked (lock_configuration), and times are read in UTC: set TimeZone ="
                " 'UTC' before they are locked, or use another connection"
            )
        self.execute("set TimeZone = 'UTC'")
        try:
            yield False
        finally:
            with suppress(SqlanonError):  # an aborted transaction of the caller's takes no setting
                self.execute(f"set TimeZone = {literal(zone)}")

    def begin(self) -> None:
        """Begin a transaction."""
        self.execute("begin transaction")

    def commit(self) -> None:
        """Let what was made since `begin` appear."""
        self.execute("commit")

    def rollback(self) -> None:
        """Undo what was made since `begin`."""
        self.execute("rollback")

    # -- sources ------------------------------------------------------------------------------

    def find_source(self, text: object, as_text: bool | str = False) -> tuple[Source, Mapping[str, str]]:
        """Find a table, view, file, glob, or an object in the caller's scope, in this order."""
        return find_source(self, text, as_text)

    def register(self, value: object) -> Sql:
        """Let SQL read a frame or a relation; return the name of the view."""
        if type(value).__name__ == "RecordBatchReader":  # of Arrow: what was read is gone
            raise SourceError(
                "a RecordBatchReader can be read once, and its rows are read several times; hand over a table, its"
                " read_all()"
            )
        name = f"sqlanon_source_{id(value):x}"
        try:
            self.connection.register(name, value)
        except (duckdb.Error, TypeError, ValueError):
            unread = self._unread_column(value)
            raise SourceError(
                unread or f"an object of type {type(value).__name__} is no relation that DuckDB can read"
            ) from None
        return ident(name)

    def _unread_column(self, value: Any) -> str:
        """Say which column of a pandas or Arrow object DuckDB cannot read; empty where it is none."""
        arrow = getattr(value, "schema", None) if hasattr(getattr(value, "schema", None), "types") else None
        types = getattr(value, "dtypes", {}) if arrow is None else dict(zip(arrow.names, arrow.types, strict=True))
        for column, python_type in types.items() if hasattr(types, "items") else ():
            try:
                self.connection.register("sqlanon_column", value[[column]] if arrow is None else value.select([column]))
                self.connection.unregister("sqlanon_column")
            except duckdb.Error:
                way = "astype" if arrow is None else "cast"
                return (
                    f"column {column!r} is of type {python_type}, which DuckDB cannot read: cast it ({way}) to text,"
                    " float64 or decimal128"
                )
        return ""
