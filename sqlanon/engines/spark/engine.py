"""The engine protocol on one Spark session."""

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import translate_for_engine, typed
from sqlanon.engines.spark.files import (
    keep_rows,
    key_frame,
    rename_partitions,
    write_partitions,
)
from sqlanon.engines.spark.session import required_settings
from sqlanon.engines.spark.sources import count_lacking, file_address, form_of, item_type, read_source, type_name
from sqlanon.errors import SqlanonError, TargetError, UsageError
from sqlanon.key import Key
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.plan import Source, Statement, find_floats
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.source import QueriedSource
from sqlanon.sql.translate import bind_constants

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.engines.duckdb.engine import DuckDBEngine

_NUMBERING = "monotonically_increasing_id()"
_PLACE = {"sqlanon_file": "_metadata.file_name", "sqlanon_position": "_metadata.row_index"}


class SparkEngine(Engine):
    """Run statements on one Spark session, ours or the caller's."""

    dialect = "spark"
    lacks = ENGINES["spark"].lacks
    in_process = False
    in_parts = True

    def __init__(self, session: SparkSession) -> None:
        """Take a session; it stays, with its configuration, when the engine goes."""
        self.session = session
        self.name = f"spark {session.version}"
        self._sources: list[str] = []  # views of what was found
        self._columns: list[str] = []  # those of Parquet, which is read again at less than its rows are kept
        self._files: list[str] = []  # and of files of ours
        self._kept: dict[str, Callable[[], object]] = {}  # what frees the rows behind a view
        self._constants: dict[str, Mapping[str, int]] = {}  # views of constants that statements are given as parameters

    # -- running ------------------------------------------------------------------------------

    def _run(self, sql: str) -> DataFrame:
        text, bound = bind_constants(_translate(sql), self._constants)
        return self.session.sql(text, args=bound) if bound else self.session.sql(text)

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own; a table's rows are kept by a checkpoint."""
        sql = _translate(statement.sql)
        if statement.kind == "query":
            return sql
        # a view's name is written as the dialect writes any other
        name = _translate(f"select * from {statement.relation}").rpartition("from ")[2]
        comment = "-- its rows are computed once, and kept\n" if self._keeps(statement, sql) else ""
        return f"{comment}create temporary view {name} as\n{sql}"

    def _keeps(self, statement: Statement, sql: str) -> bool:
        """Tell whether rows are to be kept: of a table, and where a row's number must stay the same."""
        # monotonically_increasing_id() numbers by partition, and partitions differ from one run of a plan to the next
        numbered = _NUMBERING in sql and not (statement.once and any(name in sql for name in self._columns))
        return statement.kind == "table" or numbered

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name."""
        sql = _translate(statement.sql)
        with required_settings(self.session):
            frame = self._run(statement.sql)
            if self._keeps(statement, sql):
                frame, self._kept[_view_name(statement.relation)] = keep_rows(frame)
            frame.createOrReplaceTempView(_view_name(statement.relation))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT of few rows and fetch them."""
        with required_settings(self.session):
            return [row.asDict() for row in self._run(sql).collect()]

    def frame(self, sql: str) -> "pd.DataFrame":
        """Run one SELECT of few rows and fetch it as columns; decimals are float."""
        import pandas as pd

        with required_settings(self.session):
            fetched = self._run(sql).toArrow()
        # by place: two columns of a result may have one name; through Arrow, for pyspark knows no pandas 3
        names = [str(place) for place in range(fetched.num_columns)]
        table = pa.table([_plain(column) for column in fetched.columns], names=names)
        frame: pd.DataFrame = table.to_pandas(date_as_object=False)
        frame.columns = pd.Index(fetched.column_names)
        return frame

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        with required_settings(self.session):
            return {field.name: type_name(field.dataType.simpleString()) for field in self._run(sql).schema}

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row view (`secret`) that shows in no text of SQL and no plan, and in no file."""
        with required_settings(self.session):
            frame = key_frame(self.session, key)
            frame.hint("broadcast").createOrReplaceTempView(_view_name(relation))

    def keep_constants(self, relation: Sql, row: Mapping[str, int]) -> None:
        """Put whole numbers into a one-row view, as bound parameters; those that join it get them bound as well."""
        columns = ", ".join(f"cast(:constant_{place} as bigint) as `{name}`" for place, name in enumerate(row))
        bound = {f"constant_{place}": number for place, number in enumerate(row.values())}
        with required_settings(self.session):
            frame = self.session.sql(f"select {columns}", args=bound)
            frame.hint("broadcast").createOrReplaceTempView(_view_name(relation))
        self._constants[_view_name(relation)] = dict(row)

    def keep_frame(self, relation: Sql, frame: "pd.DataFrame") -> None:
        """Put a small table of the driver's into a view."""
        with required_settings(self.session):
            table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
            self.session.createDataFrame(table).createOrReplaceTempView(_view_name(relation))

    def drop(self, relations: Sequence[str]) -> None:
        """Forget views, and free the rows that were kept for them."""
        with required_settings(self.session):
            for relation in relations:
                self.session.catalog.dropTempView(_view_name(relation))
                self._constants.pop(_view_name(relation), None)
                self._kept.pop(_view_name(relation), lambda: None)()

    def rename(self, relation: str, name: str) -> None:
        """Show a view's rows under another name."""
        with required_settings(self.session):
            self.session.table(_view_name(relation)).createOrReplaceTempView(_view_name(name))
        if (free := self._kept.pop(_view_name(relation), None)) is not None:  # the rows go with the name
            self._kept[_view_name(name)] = free
        self.drop([relation])

    def relation(self, sql: str) -> DataFrame:
        """Return a SELECT as a DataFrame."""
        with required_settings(self.session):
            return self._run(sql)

    # -- files --------------------------------------------------------------------------------

    @contextmanager
    def interruptible(self) -> Iterator[Callable[[], None]]:
        """Give what cancels the jobs that this thread starts inside; the caller's own group of jobs comes back."""
        context, name, group = self.session.sparkContext, "spark.jobGroup.id", f"sqlanon {secrets.token_hex(8)}"
        before = context.getLocalProperty(name)
        context.setLocalProperty(name, group)
        try:
            yield lambda: context.cancelJobGroup(group)
        finally:
            context.setLocalProperty(name, before)  # type: ignore[arg-type]

    def parquet_text(self, sql: str, path: Path) -> str:
        """Return what `write_parquet` runs."""
        return f"-- its rows are written to {path.with_name(path.stem)}-00000.parquet …\n{_translate(sql)}"

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Write the rows of a sorted SELECT to `<stem>-00000.parquet` …, sorted in the order of their names."""
        parts = path.with_name(f".{path.stem}")
        try:
            with required_settings(self.session):
                write_partitions(self._run(sql), parts)
            return rename_partitions(parts, path)
        except (SqlanonError, OSError) as error:
            raise TargetError(f"cannot write {path.name}: {error}") from None
        finally:
            shutil.rmtree(parts, ignore_errors=True)  # with the files that Spark adds for itself

    def read_parquet(self, paths: Sequence[Path]) -> Sql:
        """Return SQL that reads Parquet files of ours; beside it stands a view that tells where a row lies."""
        name = f"sqlanon_files_{secrets.token_hex(4)}"
        self._files += [name, f"{name}_stored"]
        with required_settings(self.session):
            frame = self.session.read.parquet(*map(file_address, paths))
            frame.createOrReplaceTempView(name)
            place = [f"{expression} as {column}" for column, expression in _PLACE.items()]
            frame.selectExpr("*", *place).createOrReplaceTempView(f"{name}_stored")
        return ident(name)

    def in_stored_order(self, relation: Sql) -> Sql:
        """Return the view that tells the file and the place in it of each row."""
        return ident(f"{_view_name(relation)}_stored")

    def take_rows(self, relation: Sql, like: str, keeper: "DuckDBEngine", rows: Sql, folder: Path) -> None:
        """Read rows from a Parquet file of DuckDB's; what is a UUID there is the text of its digits here."""
        types = keeper.columns(f"select * from {rows}")
        columns = ", ".join(
            f"replace(cast({ident(name)} as varchar), '-', '') as {ident(name)}" if kind == "UUID" else ident(name)
            for name, kind in types.items()
        )
        sql = f"select {columns} from {rows}"
        (path,) = keeper.write_parquet(sql, folder / f"{secrets.token_hex(4)}.parquet")
        file = self.read_parquet([path])
        listed = typed(self.columns(like), self.columns(f"select * from {file}"))
        self.create(Statement("rows", f"select {listed} from {file}", "view", relation))

    def give_rows(self, sql: str, keeper: "DuckDBEngine", folder: Path) -> Sql:
        """Write Parquet files for DuckDB."""
        return keeper.read_parquet([*self.write_parquet(sql, folder / f"{secrets.token_hex(4)}.parquet")])

    # -- schemas and transactions: there are none -------------------------------------------------

    def contents(self, schema: str) -> NoReturn:
        """Refuse: there are no schemas here."""
        raise UsageError(f"no release directory {schema!r}; spark opens directories, and has no schemas")

    comments = qualified = reserve = contents

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """Forget the views of sources, and of files that are named inside, at the end; files are read as they are."""
        before = len(self._files)  # those of a release that was opened before are read after it
        try:
            yield False
        finally:
            sources, self._sources = self._sources, []
            self._files, files = self._files[:before], self._files[before:]
            self.drop([*sources, *files])

    # -- sources ------------------------------------------------------------------------------

    def find_source(self, text: object, as_text: bool | str = False) -> tuple[Source, Mapping[str, str]]:
        """Find a table or view, a path or pattern of files, or take a DataFrame or a query."""
        with required_settings(self.session):
            if isinstance(text, QueriedSource):
                frame = self.session.sql(text.write(lambda table: self._view(read_source(self.session, table))))
            else:
                frame = read_source(self.session, text, as_text)
            name = self._view(frame)
            if isinstance(text, str) and form_of(text) == "parquet":
                self._columns.append(name)
            lacking = count_lacking(frame, text)
            sql_types = {field.name: field.dataType.simpleString() for field in frame.schema}
        types = {
            column: "NESTED" if sql_type.startswith("array") else type_name(sql_type)
            for column, sql_type in sql_types.items()
        }
        lists = {column: item for column, sql_type in sql_types.items() if (item := item_type(sql_type))}
        collated = {column: sql_type for column, sql_type in sql_types.items() if "string collate" in sql_type}
        casts = {column: "VARCHAR[]" if "array" in sql_type else "VARCHAR" for column, sql_type in collated.items()}
        return Source(
            ident(name), casts, Sql("row_number() over ()"), lists=lists, lacking=lacking, floats=find_floats(types),
            collated=frozenset(collated),
        ), types  # fmt: skip

    def _view(self, frame: DataFrame) -> str:
        """Let SQL read a DataFrame; return the name of its view, which needs no quotes."""
        name = f"sqlanon_source_{secrets.token_hex(4)}"
        self._sources.append(name)
        frame.createOrReplaceTempView(name)
        return name


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return decimals as floats, and times as the session's clock shows them, without its zone."""
    if pa.types.is_decimal(column.type):
        return column.cast(pa.float64())
    return pc.local_timestamp(column) if getattr(column.type, "tz", None) else column


def _view_name(relation: str) -> str:
    """Return the name of a view of ours, which needs no quotes."""
    return str(relation).strip('"')


def _translate(sql: str) -> str:
    return translate_for_engine(sql, "spark")
