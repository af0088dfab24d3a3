"""The engine protocol on one PostgreSQL connection."""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import tuple_row

from sqlanon.engines.base import Engine
from sqlanon.engines.collations import find_collated
from sqlanon.engines.postgres.errors import translated_errors
from sqlanon.engines.postgres.schemas import Session
from sqlanon.engines.postgres.settings import FEW_ROWS
from sqlanon.engines.statement_text import creation_text, translate_for_engine
from sqlanon.errors import SourceError, TargetError, UsageError
from sqlanon.key import Key
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.plan import Source, find_floats
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.sources.queried_source import QueriedSource
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.engines.duckdb.engine import DuckDBEngine


# What PostgreSQL's types are called and become outside the server: DuckDB's names, columns of numbers and
# dates.
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
    "jsonb": "JSON",
}

_EMPTY = {"SMALLINT": "int64", "INTEGER": "int64", "BIGINT": "int64", "FLOAT": "float64", "DOUBLE": "float64"}
AS_TEXT = ("ENUM", "OTHER", "JSON")  # what a source's values are published as text of

# an array's items: its own name, typtype and category are those of what it holds
FIND_TYPES = """
select t.oid, t.typname, t.typtype::text, t.typcategory::text, coalesce(e.typname, ''), e.typtype::text,
    e.typcategory::text
from pg_type as t
left join pg_type as e on t.typcategory = 'A' and t.typtype = 'b' and t.typelem = e.oid and e.typarray = t.oid
where t.oid = any(%s)
"""
# a result does not tell how many digits the numbers in an array have
FIND_DECIMALS = """
select attname, substring(format_type(atttypid, atttypmod) from '\\([0-9]+,[0-9]+\\)')
from pg_attribute
where attrelid = to_regclass(%s) and atttypid = 'numeric[]'::regtype and atttypmod >= 0
"""


def type_names(described: Sequence[Any], catalog: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Name the types of a result's columns as DuckDB does; `ENUM` and `OTHER` are published as text.

    catalog: type names, `typtype` and categories by oid, as FIND_TYPES returns them.
    """
    for column in described:
        name, typtype, category, *_ = catalog[column.type_code]
        if name == "numeric":
            yield f"DECIMAL({column.precision},{column.scale})" if column.precision else "DECIMAL"
        elif category == "A" or typtype in ("c", "p"):  # arrays, composite types and records
            yield "NESTED"
        else:
            yield _single(name, typtype)


def _single(name: str, typtype: str) -> str:
    return _NAMES.get(name, "ENUM" if typtype == "e" else "OTHER")


def item_types(
    described: Sequence[Any], catalog: Mapping[int, Sequence[str]], decimals: Mapping[str, str]
) -> Iterator[str]:
    """Name the types of the items of arrays of single values, as `type_names` does; empty for any other column.

    decimals: the digits of numbers in arrays by column, as FIND_DECIMALS returns them.
    """
    for column in described:
        *_, name, typtype, category = catalog[column.type_code]
        single = name and category != "A" and typtype not in ("c", "p")
        number = "DECIMAL" + decimals.get(column.name, "")
        yield (number if name == "numeric" else _single(name, typtype)) if single else ""


def build_frame(names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]) -> "pd.DataFrame":
    """Return rows as columns; numeric ones are float, dates and times are datetimes."""
    import pandas as pd

    columns = {}
    for place, sql_type in enumerate(types):  # by place: two columns of a result may have one name
        # no rows tell no type, and what is joined to such a column would lose its own
        column = pd.Series([row[place] for row in rows], dtype=None if rows else _EMPTY.get(sql_type, "object"))
        if sql_type.startswith("DECIMAL"):
            column = pd.to_numeric(column).astype(float)
        elif sql_type == "DATE" or sql_type.startswith("TIMESTAMP"):
            column = pd.to_datetime(column, utc=sql_type.endswith("ZONE"))
        columns[place] = column
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(names)
    return frame


def whole_number(value: Any) -> Any:
    """Return a number without decimals as int: PostgreSQL sums whole numbers as numeric."""
    return int(value) if hasattr(value, "as_tuple") and value.is_finite() and value.as_tuple().exponent == 0 else value


_CSV = "format csv, force_quote *"
_ALIAS = re.compile(r"\s+as\b", re.IGNORECASE)


class PostgresEngine(Session, Engine):
    """Run statements on one PostgreSQL connection, ours or the caller's."""

    dialect = "postgres"
    lacks = ENGINES["postgres"].lacks
    in_process = False
    in_parts = False

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Take an open connection; it stays open when the engine goes."""
        super().__init__(connection)
        self.name = f"postgres {connection.info.server_version // 10000}"
        self._queries: dict[str, str] = {}  # that are sources, by the names that our SQL has for them

    # -- running ------------------------------------------------------------------------------

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
        return build_frame([column.name for column in described], self._types(described), rows)

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        described = self._describe(sql)
        return dict(zip([column.name for column in described], self._types(described), strict=True))

    def _describe(self, sql: str) -> list[Any]:
        return self._run(f"select * from (\n{self._translate(sql)}\n) as described limit 0")[0]

    def _types(self, described: Sequence[Any]) -> list[str]:
        return list(type_names(described, self._catalog(described)))

    def _catalog(self, described: Sequence[Any]) -> dict[int, Sequence[str]]:
        # a result tells its types by oid alone
        _, rows = self._run(FIND_TYPES, [[column.type_code for column in described]])
        return {oid: names for oid, *names in rows}

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row temporary table (`secret`), as a bound parameter."""
        self._run(f"create temporary table {relation} (secret text)")
        self._run(f"insert into {relation} values (%s)", [key.text])
        # that it is one row decides how the rows are joined; of what it holds no statistics are written down
        self._run(f"alter table {relation} alter column secret set statistics 0")
        self._run(f"analyze {relation}")

    def keep_constants(self, relation: Sql, row: Mapping[str, int]) -> None:
        """Put whole numbers into a one-row temporary table, as bound parameters."""
        self._run(f"create temporary table {relation} ({', '.join(f'{ident(name)} bigint' for name in row)})")
        self._run(f"insert into {relation} values ({', '.join('%s' for _ in row)})", list(row.values()))
        self._run(f"analyze {relation}")

    def keep_frame(self, relation: Sql, frame: "pd.DataFrame") -> None:
        """Put a small table of numbers, times and texts of the driver's into a temporary table."""
        types = {"i": "bigint", "u": "bigint", "f": "double precision", "M": "timestamp"}
        text = 'varchar collate "C"'  # in the order of bytes, whatever the database's language is
        sql_types = [types.get(dtype.kind, text) for dtype in frame.dtypes]
        columns = ", ".join(
            f"{ident(str(name))} {sql_type}" for name, sql_type in zip(frame.columns, sql_types, strict=True)
        )
        self.drop([str(relation)])
        self._run(f"create temporary table {relation} ({columns})")
        with translated_errors(), self.connection.transaction(), self.connection.cursor() as cursor:  # noqa: SIM117
            with cursor.copy(f"copy {relation} from stdin") as copy:
                values = frame.astype(object)
                has_null = [sql_type in (text, "timestamp") for sql_type in sql_types]  # NaN is a number
                for row in values.mask(values.isna() & has_null, None).itertuples(index=False, name=None):
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
        with translated_errors(), self.connection.transaction(), self.connection.cursor() as cursor:  # noqa: SIM117
            with cursor.copy(f"copy {relation} ({listed}) from stdin (format csv, encoding 'utf8')") as copy:
                with path.open("rb") as file:
                    while block := file.read(2**20):
                        copy.write(block)
        path.unlink()
        self._run(f"analyze {relation}")

    def give_rows(self, sql: str, keeper: "DuckDBEngine", folder: Path) -> Sql:
        """Copy the rows of a SELECT to a file that DuckDB reads: all are texts, as the server writes them."""
        path = folder / f"{secrets.token_hex(4)}.csv"
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.columns(sql))
        text = f"copy ({self._translate(sql)}) to stdout ({_CSV}, encoding 'utf8')"
        with translated_errors(), self.connection.transaction(), self.connection.cursor() as cursor:  # noqa: SIM117
            with cursor.copy(text) as copy, path.open("wb") as file:
                for block in copy:
                    file.write(block)
        reading = "header = false, auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
        limits = "allow_quoted_nulls = false, parallel = false, max_line_size = 1000000000"
        return Sql(f"read_csv({literal(str(path))}, columns = {{{columns}}}, {reading}, {limits})")

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
        names, catalog = [column.name for column in described], self._catalog(described)
        types = dict(zip(names, type_names(described, catalog), strict=True))
        decimals = dict(self._run(FIND_DECIMALS, [str(relation)])[1])
        items = dict(zip(names, item_types(described, catalog, decimals), strict=True))
        # an enumeration's type lists every value that there could be, published or not
        casts = {name: "VARCHAR" for name, sql_type in types.items() if sql_type in AS_TEXT}
        lists = {name: "VARCHAR" if sql_type in AS_TEXT else sql_type for name, sql_type in items.items() if sql_type}
        list_casts = {name: "VARCHAR[]" for name, sql_type in items.items() if sql_type in AS_TEXT}
        all_types = (types | casts | lists).items()
        texts = frozenset(name for name, sql_type in all_types if sql_type == "VARCHAR")
        # citext takes spellings for one value by its operators, others by a collation that is not deterministic
        named = [
            name
            for name, sql_type, column in zip(types, types.values(), described, strict=True)
            if sql_type == "VARCHAR" or catalog[column.type_code][0] == "citext"
        ]
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
