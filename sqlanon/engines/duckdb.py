"""DuckDB: the engine that is always there. The only importer of `duckdb`."""

import atexit
import inspect
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import pandas as pd

from sqlanon.atomic_files import OwnedFolder, remove_dead_folders
from sqlanon.errors import DataError, ResourceError, SourceError, SqlanonError, TargetError, UsageError
from sqlanon.key import Key
from sqlanon.plans.plan import Source
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal

_READERS = {
    "read_parquet": (".parquet", ".parq", ".pq"),
    "read_csv": (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".txt"),
    "read_json": (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"),
}
_PUBLISHED_AS = {  # what Parquet would round or forget
    "HUGEINT": "DECIMAL(38,0)",
    "UHUGEINT": "DECIMAL(38,0)",
    "BIGNUM": "VARCHAR",
    "BIT": "VARCHAR",
    "TIME WITH TIME ZONE": "VARCHAR",
}
_COUNTED = "row_number() over ()"
_NUMBERS = {"rowid", "file_index", "file_row_number"}  # DuckDB's own columns, unless the source has one of that name
_FIND_TABLE = """
with known as (
    select database_name, schema_name, table_name as name, 'table' as kind from duckdb_tables()
    union all
    select database_name, schema_name, view_name, 'view' from duckdb_views()
)
select kind, database_name, schema_name, name
from known
where case
    when $2 is null then lower(name) = lower($1) and database_name in (current_database(), 'temp')
        and schema_name in (current_schema(), 'main')
    when $3 is null then lower(name) = lower($2) and (
        (lower(schema_name) = lower($1) and database_name in (current_database(), 'temp'))
        or (lower(database_name) = lower($1) and schema_name = 'main')
    )
    else lower(name) = lower($3) and lower(schema_name) = lower($2) and lower(database_name) = lower($1)
end
order by database_name = 'temp' desc, database_name = current_database() desc, schema_name = current_schema() desc
limit 1
"""
_LIST = re.compile(r"\[\d*\]\Z")
_NESTED = ("LIST", "STRUCT", "MAP", "UNION", "ARRAY", "VARIANT")


MOST_THREADS = 1024


def connect(
    database: str | None = None,
    write: bool = False,
    create: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a connection of our own: in memory, or on a database file (`write`: not read only; `create`: a new one)."""
    if database is not None and not create and not Path(database).is_file():
        raise SourceError(f"no database file {database!r}")
    settings: dict[str, Any] = {}
    if threads is not None and threads > MOST_THREADS:
        raise UsageError(f"--threads {threads} is more than any machine has use for; the most is {MOST_THREADS}")
    if memory_limit is not None and memory_limit.strip().startswith("-"):
        raise UsageError(f"--memory-limit {memory_limit} is below nothing; say for example 4GB")
    if threads is not None:
        settings["threads"] = str(threads)
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    settings["temp_directory"] = str(_spill_folder(temp_directory))
    try:
        return duckdb.connect(
            database or ":memory:", read_only=database is not None and not (write or create), config=settings
        )
    except duckdb.Error as error:
        if database is not None:
            raise SourceError(f"cannot open the database {database!r}: {_first_line(error)}") from None
        raise UsageError(f"DuckDB refuses these resources: {_first_line(error)}") from None


@cache
def _spill_folder(parent: str | None) -> Path:
    """Make this process's folder for what does not fit into memory; dead processes' folders go.

    What spills is microdata: nobody else may enter the folder. (DuckDB's own encryption of spilled blocks
    needs an extension from the network, so it is not counted on.)
    """
    place = Path(parent or tempfile.gettempdir())
    remove_dead_folders(place, "sqlanon-spill-")
    folder = OwnedFolder(place, "sqlanon-spill-")
    atexit.register(folder.close)
    return folder.path / "files"


class DuckDBEngine:
    """Run statements on one DuckDB connection, ours or the caller's."""

    dialect = "duckdb"
    places = frozenset({"directory", "schema", "session"})
    in_process = True
    in_parts = False

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Take an open connection; it stays open when the engine goes.

        Raises UsageError where its default collation takes texts that differ for one value.
        """
        self.connection = connection
        self.name = f"duckdb {duckdb.__version__}"
        ((collation,),) = self.execute("select current_setting('default_collation')")
        if collation:
            raise UsageError(
                f"the connection's default_collation is {collation!r}, under which texts that differ may be one value;"
                " set default_collation = '' first"
            )

    # -- running ------------------------------------------------------------------------------

    def execute(self, sql: str, parameters: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and fetch all of it: an unfetched result blocks the connection."""
        try:
            return self.connection.execute(sql, parameters).fetchall()
        except duckdb.Error as error:
            raise _translated(error) from None

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own."""
        if statement.kind == "query":
            return statement.sql
        what = "table" if lasting else f"temporary {statement.kind}"
        return f"create {what} {statement.relation} as\n{statement.sql}"

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name."""
        self.execute(self.text(statement, lasting))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT and fetch every row; values keep their types."""
        try:
            cursor = self.connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.Error as error:
            raise _translated(error) from None

    def frame(self, sql: str) -> pd.DataFrame:
        """Run one SELECT and fetch it as columns."""
        try:
            return self.connection.execute(sql).df()
        except duckdb.Error as error:
            raise _translated(error) from None

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        return {row["column_name"]: row["column_type"] for row in self.rows(f"describe {sql}")}

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row table (`secret`), as a bound parameter, never as a literal."""
        self.execute(f"create temporary table {relation} (secret varchar)")
        self.execute(f"insert into {relation} values (?)", [key.text])

    def keep_frame(self, relation: Sql, frame: pd.DataFrame) -> None:
        """Put a small table of the driver's into a temporary table."""
        name = "sqlanon_frame_in_transit"
        self.connection.register(name, frame)
        try:
            self.execute(f"create or replace temporary table {relation} as select * from {name}")
        finally:
            self.connection.unregister(name)

    def drop(self, relations: Sequence[str]) -> None:
        """Forget temporary relations; missing ones do not matter."""
        kinds = {
            f"{ident(row['name'])}": row["kind"]
            for row in self.rows(
                "select view_name as name, 'view' as kind from duckdb_views() where temporary and not internal"
                " union all select table_name, 'table' from duckdb_tables() where temporary"
            )
        }
        for relation in reversed(relations):
            if str(relation) in kinds:
                self.execute(f"drop {kinds[str(relation)]} temp.{relation}")

    def relation(self, sql: str) -> duckdb.DuckDBPyRelation:
        """Return a SELECT as a relation of the connection, run when it is fetched."""
        return self.connection.sql(sql)

    def written(self, sql: str, path: Path) -> str:
        """Return the SQL that writes the rows of a SELECT to a Parquet file that says nothing else."""
        return f"copy (\n{sql}\n) to {literal(str(path))} (format parquet, compression zstd)"

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Write the rows of a SELECT, in its order, to one Parquet file; return it with its rows."""
        try:
            ((count,),) = self.execute(self.written(sql, path))
        except SqlanonError as error:
            raise TargetError(f"cannot write {path.name}: {error}") from None
        return {path: count}

    def parquet(self, paths: Sequence[Path]) -> Sql:
        """Return SQL that reads Parquet files of ours in this order, their names taken literally."""
        listed = ", ".join(literal(_escaped(str(path))) for path in paths)
        return Sql(f"read_parquet({listed if len(paths) == 1 else f'[{listed}]'}, hive_partitioning = false)")

    def stored(self, relation: Sql) -> Sql:
        """Return the relation itself: files and tables are read in the order in which they lie."""
        return relation

    # -- schemas and transactions ---------------------------------------------------------------

    def tables(self, schema: str) -> list[str] | None:
        """Return the names of a schema's tables and views, None where there is no such schema."""
        if not self.execute("select 1 from information_schema.schemata where lower(schema_name) = lower(?)", [schema]):
            return None
        found = "select table_name from information_schema.tables where lower(table_schema) = lower(?)"
        return [name for (name,) in self.execute(found, [schema])]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let times be written in UTC: a row's identity is text, and a key's draws are the same in every zone.

        One process at a time writes to a DuckDB file, and statements commit as they run.
        """
        ((zone,),) = self.execute("select current_setting('TimeZone')")
        self.execute("set TimeZone = 'UTC'")
        try:
            yield
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

    def source(self, text: object, as_text: bool = False) -> tuple[Source, Mapping[str, str]]:
        """Find a table, view, file, glob, or an object in the caller's scope, in this order."""
        relation, numbering = self._relation(text, as_text)
        try:
            types = self.columns(f"select * from {relation}")
        except SqlanonError as error:
            raise SourceError(f"cannot read {_shown(text)}: {error}") from None
        if {name.lower() for name in types} & _NUMBERS:
            numbering = _COUNTED  # a column of the user's would stand where we mean the engine's own numbers
        casts = {name: _PUBLISHED_AS[kind] for name, kind in types.items() if kind in _PUBLISHED_AS}
        casts |= {name: "VARCHAR" for name, kind in types.items() if kind.startswith("ENUM")}
        nested = {name: "NESTED" for name, kind in types.items() if kind.startswith(_NESTED) or kind.endswith("]")}
        lists, list_casts = _lists(types)
        # a column may have a collation under which texts that differ are one value: classes would mix
        single = (types | casts | nested).items()
        texts = frozenset(name for name, kind in single if kind == "VARCHAR")
        return Source(Sql(relation), casts | list_casts, Sql(numbering), texts, lists), types | casts | nested

    def _relation(self, text: object, as_text: bool = False) -> tuple[str, str]:
        if not isinstance(text, str):
            return self._registered(text), _COUNTED
        table = self._table(text)
        if table is not None:
            return table
        reader = _reader(text, as_text)
        if reader is not None:
            return reader
        found = _in_scope(text)
        if found is not None:
            return self._registered(found), _COUNTED
        raise SourceError(
            f"no table, view or file {text!r}; a table needs its --database, a file's name ends in .parquet, .csv,"
            " .tsv, .json or .jsonl"
        )

    def _table(self, text: str) -> tuple[str, str] | None:
        """Find a table or view: in the schema in use or `main`, as schema.table, as database.table, or by all three."""
        for parts in _name_parts(text):
            found = self.execute(_FIND_TABLE, [*parts, *[None] * (3 - len(parts))])
            if found:
                kind, *names = found[0]
                return ".".join(ident(name) for name in names), "rowid" if kind == "table" else _COUNTED
        return None

    def _registered(self, value: object) -> str:
        name = f"sqlanon_source_{id(value):x}"
        try:
            self.connection.register(name, value)
        except (duckdb.Error, TypeError, ValueError):
            raise SourceError(f"a {type(value).__name__} is not a relation that DuckDB can read") from None
        return str(ident(name))


def _name_parts(text: str) -> list[list[str]]:
    """Return the ways to read a dotted name: as one name, then as schema and table, then with a catalog."""
    parts = text.split(".")
    return [[text], *([parts] if 1 < len(parts) <= 3 and all(parts) else [])]


def _lists(types: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns that hold lists of single values with their values' types, and what is read as another type.

    A list of known length is a list; values are published as they are outside of lists.
    """
    held = {name: _LIST.sub("", kind) for name, kind in types.items() if _LIST.search(kind)}
    held = {
        name: kind for name, kind in held.items() if not (kind.startswith((*_NESTED, "JSON")) or kind.endswith("]"))
    }
    lists = {
        name: "VARCHAR" if kind.startswith("ENUM") else _PUBLISHED_AS.get(kind, kind) for name, kind in held.items()
    }
    return lists, {name: f"{kind}[]" for name, kind in lists.items() if types[name] != f"{kind}[]"}


def _reader(text: str, as_text: bool = False) -> tuple[str, str] | None:
    path = Path(text)
    if path.is_dir():
        raise SourceError(f"{text!r} is a directory; name its files, for example {str(path / '*.parquet')!r}")
    suffixes = {suffix: reader for reader, many in _READERS.items() for suffix in many}
    reader = next((suffixes[suffix] for suffix in suffixes if text.lower().endswith(suffix)), None)
    if reader is None:
        if path.is_file():
            raise SourceError(f"{text!r} has no ending that tells its format; use one of {', '.join(suffixes)}")
        return None
    is_file = path.is_file()
    if is_file and not os.access(path, os.R_OK):
        raise SourceError(f"no right to read {text!r}")
    if not is_file and not any(letter in text for letter in "*?[") and "://" not in text:
        raise SourceError(f"no file {text!r}")
    pattern = _escaped(text) if is_file else text
    numbering = _COUNTED
    if reader == "read_parquet":
        numbering = "cast(file_index as bigint) * 1099511627776 + file_row_number"  # below 2^40 rows a file
    written = ", all_varchar = true, header = true" if as_text and reader == "read_csv" else ""
    return f"{reader}({literal(pattern)}{written})", numbering


def _escaped(path: str) -> str:
    """Take a file's own name literally where DuckDB would read a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _in_scope(name: str) -> object | None:
    """Look `name` up in the frames of the callers outside this package, nearest first."""
    package = __name__.partition(".")[0]
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != package:
            for scope in (frame.f_locals, frame.f_globals):
                if name in scope and not isinstance(scope[name], str | bytes | int | float | list | dict | tuple):
                    found: object = scope[name]
                    return found
        frame = frame.f_back
    return None


def _shown(text: object) -> str:
    return repr(text) if isinstance(text, str) else f"the {type(text).__name__}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _translated(error: duckdb.Error) -> SqlanonError:
    """Turn an engine's error into ours; a value of the data that it quotes is left out."""
    line = _first_line(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(f"not enough memory or temporary space: {line}; raise --memory-limit or free disk space")
    if isinstance(error, duckdb.IOException):
        return TargetError(line)
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException | duckdb.OutOfRangeException):
        return DataError(f"DuckDB cannot read a value of the source ({type(error).__name__})")
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        return UsageError(line)
    return SqlanonError(line)
