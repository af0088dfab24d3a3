"""Spark: reads and writes Parquet by itself; no row of the data comes to the driver. The only importer of `pyspark`."""

import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col as column

from sqlanon.errors import DataError, SourceError, SqlanonError, TargetError, TemplateError, UsageError
from sqlanon.key import Key
from sqlanon.plans.plan import Source
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.translate import translate

_SETTINGS = {  # what our SQL takes for granted
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",  # a name may hold ${
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
_FORMATS = {"parquet": (".parquet", ".parq", ".pq"), "csv": (".csv", ".tsv"), "json": (".json", ".jsonl", ".ndjson")}
_NAMES = {  # types by what DuckDB calls them
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
    "string": "VARCHAR",
}
_VALUE_ERRORS = re.compile(r"CAST_|ARITHMETIC|OVERFLOW|DIVIDE_BY_ZERO|NUMERIC_VALUE|DATETIME|INVALID_FRACTION")
_NUMBERING = "monotonically_increasing_id()"


def connect(
    master: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> SparkSession:
    """Start a session of our own, on this machine unless `master` says otherwise."""
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else Path("java")
    if shutil.which(java) is None:
        raise UsageError("Spark needs a Java runtime and there is none: install Java 17 or later, or set JAVA_HOME")
    for noisy in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL + 1)  # errors are told once, by us
    chosen = master or f"local[{threads or '*'}]"
    given: dict[str, Any] = {**_SETTINGS, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    given["spark.log.level"] = "OFF"
    if chosen.startswith("local"):
        given |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        given["spark.sql.shuffle.partitions"] = "16"  # one machine: Spark's 200 are for a cluster
    if memory_limit is not None:
        given["spark.driver.memory"] = re.sub(r"(?i)i?b$", "", memory_limit.replace(" ", ""))
    if temp_directory is not None:
        given["spark.local.dir"] = temp_directory
    try:
        with _quiet():
            return SparkSession.builder.master(chosen).appName("sqlanon").config(map=given).getOrCreate()
    except Exception as error:  # what the gateway raises is no PySparkException
        raise UsageError(f"Spark does not start with --master {chosen}: {_line(error)}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Let the Java process start without standard error, where it would write beside our own messages."""
    if os.environ.get("SQLANON_DEBUG"):
        yield
        return
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class SparkEngine:
    """Run statements on one Spark session, ours or the caller's."""

    dialect = "spark"
    places = frozenset({"directory"})
    in_process = False
    in_parts = True

    def __init__(self, session: SparkSession) -> None:
        """Take a session; it stays, with its configuration, when the engine goes."""
        self.session = session
        self.name = f"spark {session.version}"
        self._views: list[str] = []

    # -- running ------------------------------------------------------------------------------

    @contextmanager
    def _set(self) -> Iterator[None]:
        """Set what our SQL takes for granted, put back what was, and turn Spark's errors into ours."""
        conf = self.session.conf
        try:
            before = {name: conf.get(name, None) for name in _SETTINGS}
            changed = [name for name, value in _SETTINGS.items() if str(before[name]).lower() != value.lower()]
            for name in changed:
                conf.set(name, _SETTINGS[name])
            try:
                yield
            finally:
                for name in changed:
                    _put_back(conf, name, before[name])
        except SqlanonError:
            raise
        except Exception as error:
            raise _ours(error) from None

    def _frame(self, sql: str) -> DataFrame:
        return self.session.sql(_translated(sql))

    def execute(self, sql: str) -> None:
        """Refuse: there are no schemas here."""
        raise UsageError("spark publishes to a directory; say --out DIR")

    def text(self, statement: Statement, lasting: bool = False) -> str:
        """Return the SQL that `create` runs, or the query's own; a table's rows are kept by a checkpoint."""
        sql = _translated(statement.sql)
        if statement.kind == "query":
            return sql
        name = _translated(f"select * from {statement.relation}").rpartition("from ")[2]
        kept = "-- its rows are computed once, and kept\n" if self._keeps(statement.kind, sql) else ""
        return f"{kept}create temporary view {name} as\n{sql}"

    def _keeps(self, kind: str, sql: str) -> bool:
        """Tell whether rows are to be kept: of a table, and where a row's number must stay the same."""
        return kind == "table" or _NUMBERING in sql

    def create(self, statement: Statement, lasting: bool = False) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name.

        A checkpoint cuts the plan behind it: rows that an executor loses are an error, never drawn anew.
        """
        sql = _translated(statement.sql)
        with self._set():
            frame = self.session.sql(sql)
            if self._keeps(statement.kind, sql):
                frame = frame.localCheckpoint()
            frame.createOrReplaceTempView(_bare(statement.relation))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT of few rows and fetch them."""
        with self._set():
            return [row.asDict() for row in self._frame(sql).collect()]

    def frame(self, sql: str) -> pd.DataFrame:
        """Run one SELECT of few rows and fetch it as columns; decimals are float."""
        with self._set():
            found = self._frame(sql).toArrow()
        floats = [pa.float64() if pa.types.is_decimal(kind) else kind for kind in found.schema.types]
        names = [str(place) for place in range(found.num_columns)]
        table = found.rename_columns(names).cast(pa.schema(list(zip(names, floats, strict=True))))
        frame: pd.DataFrame = table.to_pandas(date_as_object=False)
        frame.columns = pd.Index(found.column_names)
        return frame

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""
        with self._set():
            return {field.name: _type_name(field.dataType.simpleString()) for field in self._frame(sql).schema}

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row view (`secret`) that shows in no text of SQL and no plan, and in no file."""
        with self._set():
            java = getattr(self.session, "_jsparkSession", None)
            if java is None:  # a remote session: the row travels inside the query
                frame = self.session.createDataFrame([(key.text,)], "secret string")
            else:  # what pyspark makes of a Python list goes through a temporary file
                jvm: Any = self.session._jvm
                text = jvm.java.util.ArrayList()
                text.append(key.text)
                row = java.createDataset(text, jvm.org.apache.spark.sql.Encoders.STRING())
                frame = _classic(row, self.session).toDF("secret")
            frame.hint("broadcast").createOrReplaceTempView(_bare(relation))

    def keep_frame(self, relation: Sql, frame: pd.DataFrame) -> None:
        """Put a small table of the driver's into a view."""
        with self._set():
            table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
            self.session.createDataFrame(table).createOrReplaceTempView(_bare(relation))

    def drop(self, relations: Sequence[str]) -> None:
        """Forget views; Spark frees the rows behind them when nothing reads them any more."""
        with self._set():
            for relation in relations:
                self.session.catalog.dropTempView(_bare(relation))

    def relation(self, sql: str) -> DataFrame:
        """Return a SELECT as a DataFrame."""
        with self._set():
            return self._frame(sql)

    # -- files --------------------------------------------------------------------------------

    def written(self, sql: str, path: Path) -> str:
        """Return what `write_parquet` runs."""
        return f"-- its rows are written to {path.with_name(path.stem)}-00000.parquet …\n{_translated(sql)}"

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Write the rows of a sorted SELECT to `<stem>-00000.parquet` …, sorted in the order of their names."""
        parts = path.with_name(f".{path.stem}")
        try:
            with self._set():
                _plain(self._frame(sql)).write.option("compression", "zstd").parquet(f"file:{parts.absolute()}")
            found = sorted(parts.glob("part-*.parquet"))
            width = max(5, len(str(len(found))))
            written = {}
            for number, part in enumerate(found):
                target = part.rename(path.with_name(f"{path.stem}-{number:0{width}d}.parquet"))
                written[target] = pq.read_metadata(target).num_rows
        except (SqlanonError, OSError) as error:
            raise TargetError(f"cannot write {path.name}: {error}") from None
        finally:
            shutil.rmtree(parts, ignore_errors=True)  # with the files that Spark adds for itself
        return written

    def parquet(self, paths: Sequence[Path]) -> Sql:
        """Return SQL that reads Parquet files of ours; beside it stands a view that tells where a row lies."""
        name = f"sqlanon_files_{secrets.token_hex(4)}"
        self._views += [name, f"{name}_stored"]
        with self._set():
            frame = self.session.read.parquet(*(_address(path) for path in paths))
            frame.createOrReplaceTempView(name)
            place = ("_metadata.file_name as sqlanon_file", "_metadata.row_index as sqlanon_position")
            frame.selectExpr("*", *place).createOrReplaceTempView(f"{name}_stored")
        return ident(name)

    def stored(self, relation: Sql) -> Sql:
        """Return the view that tells the file and the place in it of each row."""
        return ident(f"{_bare(relation)}_stored")

    # -- schemas and transactions: there are none -------------------------------------------------

    def tables(self, schema: str) -> list[str] | None:
        """Refuse."""
        raise UsageError(f"no release directory {schema!r}; spark opens directories")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Forget the views of sources and files at the end; files are read as they are."""
        try:
            yield
        finally:
            views, self._views = self._views, []
            self.drop(views)

    def begin(self) -> None:
        """Refuse."""
        self.execute("")

    def commit(self) -> None:
        """Refuse."""
        self.execute("")

    def rollback(self) -> None:
        """Refuse."""
        self.execute("")

    # -- sources ------------------------------------------------------------------------------

    def source(self, text: object, as_text: bool = False) -> tuple[Source, Mapping[str, str]]:
        """Find a table or view, a path or pattern of files, or take a DataFrame."""
        name = f"sqlanon_source_{secrets.token_hex(4)}"
        self._views.append(name)
        with self._set():
            frame = text if isinstance(text, DataFrame) else self._read(text, as_text)
            frame.createOrReplaceTempView(name)
            found = {field.name: field.dataType.simpleString() for field in frame.schema}
        types = {column: _type_name(kind) for column, kind in found.items()}
        casts = {column: "VARCHAR" for column, kind in found.items() if kind.startswith("string collate")}
        return Source(ident(name), casts, Sql("row_number() over ()")), types

    def _read(self, text: object, as_text: bool) -> DataFrame:
        if not isinstance(text, str):
            raise SourceError(f"a {type(text).__name__} is no source of Spark; give a table, a path or a DataFrame")
        form = next((form for form, many in _FORMATS.items() if text.lower().endswith(many)), None)
        if form is None:
            if not self.session.catalog.tableExists(text):
                raise SourceError(f"no table, view or file {text!r}; a file's name ends in .parquet, .csv or .json")
            return self.session.table(text)
        if "://" not in text:
            if not any(letter in text for letter in "*?[{") and not Path(text).exists():
                raise SourceError(f"no file {text!r}")
            text = _address(Path(text)) if Path(text).exists() else f"file:{os.path.abspath(text)}"  # noqa: PTH100
        reader = self.session.read.option("header", "true").option("inferSchema", str(not as_text).lower())
        return reader.format(form).load(text)


def _put_back(conf: Any, name: str, value: str | None) -> None:
    if value is None:
        conf.unset(name)
    else:
        conf.set(name, value)


def _address(path: Path) -> str:
    """Write a local path as Spark reads patterns, its letters taken literally."""
    return "file:" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path.absolute()))


def _plain(frame: DataFrame) -> DataFrame:
    """Leave out what a source's columns say of themselves: Spark would write it into the files."""
    names = frame.columns
    return frame.select(*(column(f"`{name.replace('`', '``')}`").alias(name, metadata={}) for name in names))


def _classic(java: Any, session: SparkSession) -> DataFrame:
    kind: Any = DataFrame
    return cast(DataFrame, kind(java, session))


def _bare(relation: str) -> str:
    """Return the name of a view of ours, which needs no quotes."""
    return str(relation).strip('"')


def _type_name(kind: str) -> str:
    if kind.startswith(("array", "map", "struct", "variant")):
        return "NESTED"
    return _NAMES.get(kind.partition(" ")[0], "VARCHAR" if kind.startswith(("char", "varchar")) else kind.upper())


def _ours(error: Exception) -> SqlanonError:
    line = _line(error)
    condition = error.getCondition() or "" if isinstance(error, PySparkException) else ""
    if condition.startswith(("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "CANNOT_INFER", "UNABLE_TO_INFER")):
        return SourceError(line)
    if _VALUE_ERRORS.search(condition) or _VALUE_ERRORS.search(line.partition("]")[0]):
        return DataError(f"Spark cannot read a value of the source ({condition or 'a value'})")
    if type(error).__name__ in ("Py4JNetworkError", "ConnectionRefusedError"):
        return SourceError("the Spark session was lost; nothing was published: run again")
    if type(error).__name__ in ("AnalysisException", "ParseException"):
        return UsageError(line)
    return SqlanonError(line)


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _translated(sql: str) -> str:
    try:
        return translate(sql, "spark", run=True)
    except TemplateError as error:
        raise UsageError(f"spark cannot run this: {error}") from None
