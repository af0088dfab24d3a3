"""PostgreSQL: the server runs every statement and keeps every row. The only importer of `psycopg`."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
from psycopg import errors
from psycopg.rows import tuple_row

from sqlanon.errors import DataError, SourceError, SqlanonError, TargetError, TemplateError, UsageError
from sqlanon.key import Key
from sqlanon.plans.plan import Source
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.translate import translate

_NAMES = {  # types by what DuckDB calls them
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "interval": "INTERVAL",
    "uuid": "UUID",
    "bytea": "BLOB",
    "text": "VARCHAR",
    "varchar": "VARCHAR",
}
_SETTINGS = {"datestyle": "ISO, YMD", "timezone": "UTC", "extra_float_digits": "1"}


def connect(dsn: str | None) -> psycopg.Connection[Any]:
    """Open a connection of our own; `dsn` is never shown, as it may hold a password."""
    logging.getLogger("psycopg").addHandler(logging.NullHandler())  # a lost session is told once, by us
    options = " ".join(f"-c {name}={value.replace(' ', '')}" for name, value in _SETTINGS.items())
    try:
        given = psycopg.conninfo.conninfo_to_dict(dsn or "")
        given["options"] = f"{given.get('options') or ''} {options}".strip()
        return psycopg.connect(**{"connect_timeout": 10, **given}, autocommit=True)  # type: ignore[arg-type]
    except psycopg.ProgrammingError:
        raise UsageError("the --dsn cannot be read; write postgresql://user@host:port/database") from None
    except psycopg.OperationalError as error:
        raise SourceError(f"cannot open a session on the PostgreSQL server: {_reason(error)}") from None


class PostgresEngine:
    """Run statements on one PostgreSQL connection, ours or the caller's."""

    dialect = "postgres"
    places = frozenset({"schema", "session"})
    in_process = False
    in_parts = False

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Take an open connection; it stays open when the engine goes."""
        self.connection = connection
        self.name = f"postgres {connection.info.server_version // 10000}"
        self._begun: list[AbstractContextManager[Any]] = []

    # -- running ------------------------------------------------------------------------------

    def _run(self, sql: str, parameters: Sequence[object] | None = None) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """Run one statement; where it fails, only it is undone and the session can go on."""
        with _told(), self.connection.transaction(), self.connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(sql, parameters)
            return list(cursor.description or ()), cursor.fetchall() if cursor.description else []

    def execute(self, sql: str) -> None:
        """Run a statement that is written alike everywhere."""
        self._run(sql)

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own."""
        sql = _translated(statement.sql)
        if statement.kind == "query":
            return sql
        what = "table" if lasting else f"temporary {statement.kind}"
        return f"create {what} {statement.relation} as\n{sql}"

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name."""
        self._run(self.text(statement, lasting))
        if statement.kind == "table":
            self._run(f"analyze {statement.relation}")  # nothing else counts the rows of a temporary table

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT and fetch every row; whole numbers of any size are int."""
        described, rows = self._run(_translated(sql))
        names = [column.name for column in described]
        return [dict(zip(names, map(_whole, row), strict=True)) for row in rows]

    def frame(self, sql: str) -> pd.DataFrame:
        """Run one SELECT and fetch it as columns; numeric ones are float."""
        described, rows = self._run(_translated(sql))
        types = list(self._types(described))
        found = {}
        for place, kind in enumerate(types):
            column = pd.Series([row[place] for row in rows])
            if kind.startswith("DECIMAL"):
                column = pd.to_numeric(column).astype(float)
            elif kind == "DATE" or kind.startswith("TIMESTAMP"):
                column = pd.to_datetime(column, utc=kind.endswith("ZONE"))
            found[place] = column
        frame = pd.DataFrame(found)
        frame.columns = pd.Index([column.name for column in described])
        return frame

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        described, _ = self._run(f"select * from (\n{_translated(sql)}\n) as described limit 0")
        return dict(zip([column.name for column in described], self._types(described), strict=True))

    def _types(self, described: Sequence[Any]) -> Iterator[str]:
        """Name types as DuckDB does; `ENUM` and `OTHER` are published as text."""
        found = "select oid, typname, typtype::text, typcategory::text from pg_type where oid = any(%s)"
        _, rows = self._run(found, [[column.type_code for column in described]])
        known = {oid: names for oid, *names in rows}
        for column in described:
            name, kind, category = known[column.type_code]
            if name == "numeric":
                yield f"DECIMAL({column.precision},{column.scale})" if column.precision else "DECIMAL"
            elif category == "A" or kind in ("c", "p"):
                yield "NESTED"
            else:
                yield _NAMES.get(name, "ENUM" if kind == "e" else "OTHER")

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row temporary table (`secret`), as a bound parameter."""
        self._run(f"create temporary table {relation} (secret text)")
        self._run(f"insert into {relation} values (%s)", [key.text])

    def keep_frame(self, relation: Sql, frame: pd.DataFrame) -> None:
        """Put a small table of numbers of the driver's into a temporary table."""
        kinds = ["bigint" if kind.kind in "iu" else "double precision" for kind in frame.dtypes]
        columns = ", ".join(f"{ident(str(name))} {kind}" for name, kind in zip(frame.columns, kinds, strict=True))
        self.drop([str(relation)])
        self._run(f"create temporary table {relation} ({columns})")
        with _told(), self.connection.transaction(), self.connection.cursor() as cursor:  # noqa: SIM117
            with cursor.copy(f"copy {relation} from stdin") as copy:
                for row in frame.astype(object).itertuples(index=False, name=None):
                    copy.write_row(row)
        self._run(f"analyze {relation}")

    def drop(self, relations: Sequence[str]) -> None:
        """Forget temporary relations; missing ones do not matter."""
        _, rows = self._run("select relname, relkind = 'v' from pg_class where relnamespace = pg_my_temp_schema()")
        kinds = {str(ident(name)): "view" if view else "table" for name, view in rows}
        for relation in reversed(relations):
            if str(relation) in kinds:
                self._run(f"drop {kinds[str(relation)]} pg_temp.{relation}")

    def relation(self, sql: str) -> psycopg.Cursor[Any]:
        """Return a cursor over the rows of a SELECT."""
        with _told():
            return self.connection.execute(_translated(sql))

    # -- files: there are none ------------------------------------------------------------------

    def written(self, sql: str, path: Path) -> str:
        """Refuse."""
        raise TargetError("postgres keeps everything in the server and writes no files; say --into SCHEMA")

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Refuse."""
        raise TargetError(self.written(sql, path))

    def parquet(self, paths: Sequence[Path]) -> Sql:
        """Refuse."""
        raise UsageError("postgres reads no files; leave --engine away to open a release that is a directory")

    def stored(self, relation: Sql) -> Sql:
        """Return the table itself: the place of its rows is a hidden column."""
        return relation

    # -- schemas and transactions ---------------------------------------------------------------

    def tables(self, schema: str) -> list[str] | None:
        """Return the names of a schema's tables and views, None where there is no such schema."""
        _, found = self._run("select oid from pg_namespace where nspname = %s", [schema])
        if not found:
            return None
        wanted = "select relname from pg_class where relnamespace = %s and relkind in ('r', 'p', 'v', 'm', 'f')"
        return [name for (name,) in self._run(wanted, list(found[0]))[1]]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let everything inside be one transaction (of the caller's, if one is open) that sees one moment."""
        idle = self.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with _told(), self.connection.transaction():
            if idle:
                self.connection.execute("set transaction isolation level repeatable read")
            before = {name: self._set(name, value) for name, value in _SETTINGS.items()}
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
        with _told():
            transaction.__enter__()
        self._begun.append(transaction)

    def commit(self) -> None:
        """Let what was made since `begin` appear."""
        with _told():
            self._begun.pop().__exit__(None, None, None)

    def rollback(self) -> None:
        """Undo what was made since `begin`."""
        with _told():
            self._begun.pop().__exit__(psycopg.Rollback, psycopg.Rollback(), None)

    # -- sources ------------------------------------------------------------------------------

    def source(self, text: object, as_text: bool = False) -> tuple[Source, Mapping[str, str]]:
        """Find a table or view, named as it is written in SQL without quotes, or letter by letter."""
        if not isinstance(text, str):
            raise SourceError(f"a {type(text).__name__} is no table of PostgreSQL; name a table")
        relation = self._relation(text)
        types = self.columns(f"select * from {relation}")
        casts = {name: "VARCHAR" for name, kind in types.items() if kind in ("ENUM", "OTHER")}
        texts = frozenset(name for name, kind in types.items() if kind in ("VARCHAR", "ENUM", "OTHER"))
        return Source(relation, casts, Sql("row_number() over ()"), texts), types | casts

    def _relation(self, text: str) -> Sql:
        for *schema, name in ([text], text.split(".")):
            for fold in (str, str.lower):
                match = self._run(
                    "select n.nspname, c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace"
                    " where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = %s"
                    " and (n.nspname = %s or %s and pg_table_is_visible(c.oid))",
                    [fold(name), fold(".".join(schema)), not schema],
                )[1]
                if match:
                    return Sql(".".join(ident(part) for part in match[0]))
        raise SourceError(f"no table or view {text!r} in the database; name it as schema.table")


@contextmanager
def _told() -> Iterator[None]:
    """Turn the server's errors into ours; a value of the data that one quotes is left out."""
    try:
        yield
    except psycopg.Error as error:
        raise _ours(error) from None


def _ours(error: psycopg.Error) -> SqlanonError:
    line = _reason(error)
    if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction | errors.DiskFull):
        return TargetError(f"PostgreSQL refuses: {line}")
    if isinstance(error, errors.DataError):
        return DataError(f"PostgreSQL cannot read a value of the source ({type(error).__name__})")
    if isinstance(error, errors.QueryCanceled):
        return DataError(f"PostgreSQL stopped a statement: {line}")
    if error.sqlstate is None or error.sqlstate[:2] in ("08", "57"):
        return SourceError("the session on the PostgreSQL server was lost; nothing was published: run again")
    if error.sqlstate[:2] == "42":
        return UsageError(line)
    return SqlanonError(line)


def _reason(error: psycopg.Error) -> str:
    """Return the last cause that the client or the server names, without addresses tried before."""
    primary = error.diag.message_primary
    lines = [line for line in str(error).strip().splitlines() if line and not line.lstrip().startswith("Is the ")]
    text = primary or (lines[0] if lines else type(error).__name__)
    return text.rpartition("FATAL:  ")[2].strip()


def _translated(sql: str) -> str:
    try:
        return translate(sql, "postgres", run=True)
    except TemplateError as error:
        raise UsageError(f"postgres cannot run this: {error}") from None


def _whole(value: Any) -> Any:
    """Return a number without decimals as int: sums of whole numbers come as numeric."""
    return int(value) if hasattr(value, "as_tuple") and value.is_finite() and value.as_tuple().exponent == 0 else value
