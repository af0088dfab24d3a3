"""Find what a user named as a source in DuckDB: a table or view, a file or glob, or an object in the caller's scope."""

import csv
import glob
import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from sqlanon.bounded_files import UnfitFileError, require_regular
from sqlanon.engines.duckdb.errors import MISSING_EXTENSION, describe_convertible
from sqlanon.engines.duckdb.text_files import read_folders, read_typed, refuse_nul
from sqlanon.engines.duckdb.unlike_files import count_lacking, escape_pattern
from sqlanon.errors import SourceError, SqlanonError, raised_as
from sqlanon.near_texts import find_near
from sqlanon.plans.plan import Source, find_floats
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.sources.queried_source import QueriedSource
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine

# Find the line of a CSV that makes DuckDB take the whole file for something else.
DELIMITERS = ",;\t|"
_ENDINGS = (".csv", ".tsv", ".txt")
_LONGEST_HEAD = 1 << 20  # letters of the first line


def refuse_broken_line(engine: "DuckDBEngine", text: object) -> None:
    """Raise SourceError, with its line, for a CSV file that is unlike its first line somewhere; else do nothing.

    DuckDB guesses delimiter and quotes from what fits most lines: one broken line can make it guess a single column.
    """
    if not isinstance(text, str) or not text.lower().endswith(_ENDINGS) or not Path(text).is_file():
        return
    try:
        with Path(text).open(encoding="utf-8", newline="") as file:
            head = file.readline(_LONGEST_HEAD)
    except (OSError, ValueError):
        return
    delimiter = max(DELIMITERS, key=head.count)
    names = next(csv.reader([head], delimiter=delimiter), [])
    if len(names) < 2:
        return
    columns = ", ".join(f"{literal(f'c{number}')}: 'VARCHAR'" for number in range(len(names)))
    form = f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
    try:
        engine.execute(f"select count(c0) from read_csv({literal(text)}, {form}, columns = {{{columns}}})")
    except SqlanonError as error:
        if "line" in str(error):
            raise SourceError(str(error)) from None


_READERS = {
    "read_parquet": (".parquet", ".parq", ".pq"),
    "read_csv": (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".txt"),
    "read_json": (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"),
}
_FETCHED_BY = {  # extensions, and the schemes of URLs for which DuckDB installs and loads them
    "httpfs": ("http", "https", "s3", "s3a", "s3n", "gcs", "gs", "r2", "hf"),
    "azure": ("azure", "az", "abfs", "abfss"),
}
_PUBLISHED_AS = {  # what Parquet would round or forget
    "HUGEINT": "DECIMAL(38,0)",
    "UHUGEINT": "DECIMAL(38,0)",
    "BIGNUM": "VARCHAR",
    "BIT": "VARCHAR",
    "TIME WITH TIME ZONE": "VARCHAR",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}
# a Parquet file and a table know their rows' numbers; this counts them, in one thread
_COUNTED = "row_number() over ()"
_ROW_NUMBERS = {
    "rowid",
    "file_index",
    "file_row_number",
}  # DuckDB's, unless the source has a column of that name
_FIND_TABLE = """
with known as (
    select database_name, schema_name, table_name as name, 'table' as kind from duckdb_tables()
    union all
    select database_name, schema_name, view_name, 'view' from duckdb_views()
)
select kind, database_name, schema_name, name
from known
where case
    when $2 is null then lower(name) = lower($1) and database_name in ($4, 'temp') and schema_name in ($5, 'main')
    when $3 is null then lower(name) = lower($2) and (
        (lower(schema_name) = lower($1) and database_name in ($4, 'temp'))
        or (lower(database_name) = lower($1) and schema_name = 'main')
    )
    else lower(name) = lower($3) and lower(schema_name) = lower($2) and lower(database_name) = lower($1)
end
order by
    database_name = 'temp' desc nulls last,
    database_name = $4 desc nulls last,
    schema_name = $5 desc nulls last
limit 1
"""
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
_LIST = re.compile(r"\[\d*\]\Z")
_NESTED = ("LIST", "STRUCT", "MAP", "UNION", "ARRAY", "VARIANT")


def find_source(engine: "DuckDBEngine", text: object, as_text: bool | str = False) -> tuple[Source, Mapping[str, str]]:
    """Find a source; return its SQL and its columns with their types, in order.

    text: a name, path or glob, a query, or an object that DuckDB can read. as_text: a CSV's values as they are written.
    Raises SourceError where there is none, or none that can be read.
    """
    notes: dict[str, str] = {}
    relation, numbering = _find_relation(engine, text, as_text, notes)
    with _naming_source(engine, text):
        types = engine.columns(f"select * from {relation}")
        refuse_nul(types)
    engine.reading.refuse_unused()
    if len(types) == 1 and any(letter in name for name in types for letter in DELIMITERS):
        refuse_broken_line(engine, text)
    if {name.lower() for name in types} & _ROW_NUMBERS:
        numbering = _COUNTED  # a column of the user's would stand where we mean the engine's own numbers
    casts = {name: _PUBLISHED_AS[sql_type] for name, sql_type in types.items() if sql_type in _PUBLISHED_AS}
    # an enumeration's type lists every value that there could be, published or not
    casts |= {name: "VARCHAR" for name, sql_type in types.items() if sql_type.startswith("ENUM")}
    nested = {
        name: "NESTED" for name, sql_type in types.items() if sql_type.startswith(_NESTED) or sql_type.endswith("]")
    }
    lists, list_casts = _list_columns(types)
    single = (types | casts | nested).items()
    texts = frozenset(name for name, sql_type in single if sql_type == "VARCHAR")
    lacking = _count_lacking(engine, text, as_text)
    # files have none, and are not opened once more
    is_file = isinstance(text, str) and text in engine.files_read
    named = [] if is_file else [name for name, sql_type in types.items() if sql_type == "VARCHAR"]

    def is_collated(columns: Sequence[str]) -> bool:
        listed = ", ".join(map(ident, columns))
        plan = engine.execute(f"explain select {listed} from {relation} group by {listed}")
        return "__collated_group" in str(plan)

    return Source(
        relation=Sql(relation), casts=casts | list_casts, numbering=Sql(numbering), texts=texts, lists=lists,
        lacking=lacking, floats=find_floats(types), notes=notes,
        collated=frozenset([name for name in named if is_collated([name])] if named and is_collated(named) else []),
    ), types | casts | nested  # fmt: skip


@contextmanager
def _naming_source(engine: "DuckDBEngine", text: object) -> Iterator[None]:
    """Say of a source that cannot be read which it is, and which of its lines is unlike the first."""
    try:
        yield
    except SqlanonError as error:
        if "types" in error.about:
            raise
        refuse_broken_line(engine, text)
        # what is said of the file by its name needs no second name
        names_source = isinstance(error, SourceError) and isinstance(text, str) and repr(text) in str(error)
        what = "query" if isinstance(text, QueriedSource) else type(text).__name__
        name = repr(text) if isinstance(text, str) else f"the {what}"
        raise SourceError(str(error) if names_source else f"cannot read {name}: {error}") from None


def _count_lacking(engine: "DuckDBEngine", text: object, as_text: bool | str) -> Mapping[str, tuple[int, int]]:
    """Count which columns files of a pattern lack; of a query, in each pattern that it reads."""
    if isinstance(text, QueriedSource):
        return dict(item for table in text.tables for item in _count_lacking(engine, table, False).items())
    if not isinstance(text, str) or not is_pattern(text) or _find_table(engine, text) is not None:
        return {}
    reader = _reader_of(text)
    return {} if reader is None else count_lacking(engine, reader, text, _reader_options(engine, reader, as_text))


LISTED = 5  # tables that a message names
_TABLES = (
    "select table_name from duckdb_tables() where database_name = $1 and not internal"
    " union all select view_name from duckdb_views() where database_name = $1 and not internal"
)


def _find_relation(engine: "DuckDBEngine", text: object, as_text: bool | str, notes: dict[str, str]) -> tuple[str, str]:
    """Return SQL that reads a source, and an expression that numbers its rows; add what to say of columns."""
    if isinstance(text, QueriedSource):
        # the engine looks no name up, for a macro could answer
        return text.write(lambda table: _find_relation(engine, table, False, notes)[0]), _COUNTED
    if not isinstance(text, str):
        return engine.register(text), _COUNTED
    place = _find_table(engine, text)
    if place is not None:
        return place
    if _QUERY.match(text) and not Path(text).exists():
        raise SourceError(f"{text!r} is a query, and no name of a source; say {option('query', 'SELECT …')}")
    files = _find_files(text)
    if files is not None:
        _refuse_fetching(engine, text)
        engine.files_read.append(text)
        return _read_files(engine, text, *files, as_text, notes)
    value = _find_in_scope(text)
    if value is not None:
        return engine.register(value), _COUNTED
    raise SourceError(f"no table, view or file {text!r}; {_what_to_name(engine, text)}")


def _what_to_name(engine: "DuckDBEngine", text: str) -> str:
    """Return what is there in the place of a name: the nearest table of the database, or how sources are named."""
    tables = [name for (name,) in engine.execute(_TABLES, [engine.place[0]])]
    if near := find_near(text, tables, most=1):
        return f"the nearest table is {near[0]!r}"
    if tables:
        listed = ", ".join(map(repr, sorted(tables)[:LISTED]))
        return f"the database has {listed}{' and others' if len(tables) > LISTED else ''}"
    return f"a table needs its {option('database')}, a file's name ends in .parquet, .csv, .tsv, .json or .jsonl"


def _is_database(path: Path) -> bool:
    """Tell whether a file is DuckDB's own: four letters stand behind a checksum."""
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def _refuse_fetching(engine: "DuckDBEngine", text: str) -> None:
    """Refuse a URL whose extension is not installed: a caller's connection would fetch it from the network."""
    scheme, url, _ = text.partition("://")
    extension = next((name for name, schemes in _FETCHED_BY.items() if scheme.lower() in schemes), None)
    if not url or extension is None:
        return
    listed = "select installed or loaded from system.main.duckdb_extensions() where extension_name = ?"
    if engine.execute(listed, [extension]) != [(True,)]:
        raise SourceError(f"cannot read {text!r}: {MISSING_EXTENSION.format(name=extension)}")


def _find_table(engine: "DuckDBEngine", text: str) -> tuple[str, str] | None:
    """Find a table or view: in the schema in use or `main`, as schema.table, as database.table, or by all three."""
    place = engine.place
    dotted = text.split(".")
    # as one name, then as schema and table, then with a catalog
    for parts in [[text], *([dotted] if 1 < len(dotted) <= 3 and all(dotted) else [])]:
        tables = engine.execute(_FIND_TABLE, [*parts, *[None] * (3 - len(parts)), *place])
        if tables:
            kind, *names = tables[0]
            return ".".join(ident(name) for name in names), "rowid" if kind == "table" else _COUNTED
    return None


def _list_columns(types: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns that hold lists of single values with their values' types, and what is read as another type.

    A list of known length is a list; values are published as they are outside of lists.
    """
    item_types = {name: _LIST.sub("", sql_type) for name, sql_type in types.items() if _LIST.search(sql_type)}
    item_types = {
        name: sql_type
        for name, sql_type in item_types.items()
        if not (sql_type.startswith((*_NESTED, "JSON")) or sql_type.endswith("]"))
    }
    lists = {
        name: "VARCHAR" if sql_type.startswith("ENUM") else _PUBLISHED_AS.get(sql_type, sql_type)
        for name, sql_type in item_types.items()
    }
    return lists, {name: f"{sql_type}[]" for name, sql_type in lists.items() if types[name] != f"{sql_type}[]"}


def _find_files(text: str) -> tuple[str, bool] | None:
    """Return what reads a file or the files of a pattern, and whether it is one; None where it names no file."""
    path = Path(text)
    if path.is_dir():
        raise SourceError(f"{text!r} is a directory; name its files, for example {str(path / '*.parquet')!r}")
    reader = _reader_of(text)
    if reader is None:
        if text.startswith(("postgres://", "postgresql://")):
            named = f"{option('engine', 'postgres')} {option('dsn', 'URL')}"
            raise SourceError(f"a database of PostgreSQL is named by {named}, and the source is a table of it")
        if "://" in text:
            raise SourceError(
                f"the URL {text!r} has no ending that tells its format; its path ends in .parquet, .csv or .json, or"
                " the file is fetched first and named so"
            )
        if path.is_file():
            if convertible := describe_convertible(text):
                raise SourceError(convertible)
            if _is_database(path):
                place = option("database", text)
                raise SourceError(f"{text!r} is a database; name one of its tables, and say {place}")
            endings = ", ".join(suffix for many in _READERS.values() for suffix in many)
            raise SourceError(f"{text!r} has no ending that tells its format; use one of {endings}")
        return None
    is_file = path.is_file()
    if is_file and not os.access(path, os.R_OK):
        raise SourceError(f"no right to read {text!r}; let this user read it (chmod), or copy it")
    if is_file and not path.stat().st_size:
        raise SourceError(f"{text!r} is empty: it holds no byte, and no names of columns; write it again")
    several = not is_file and is_pattern(text)
    if several and "://" not in text:
        _require_files(text)
    if not is_file and not several and "://" not in text:
        listed = path.parent.iterdir() if path.parent.is_dir() else ()
        beside = [file.name for file in listed if _reader_of(file.name)]
        files = [str(path.parent / name) for name in find_near(path.name, beside, most=1)]
        raise SourceError(f"no file {text!r}" + "".join(f"; the nearest is {name!r}" for name in files))
    return reader, several


def _read_files(
    engine: "DuckDBEngine", text: str, reader: str, several: bool, as_text: bool | str, notes: dict[str, str]
) -> tuple[str, str]:
    """Return SQL that reads a file or the files of a pattern, and an expression that numbers their rows."""
    if text.startswith("~"):  # which the engine would take for a home
        text = f"./{text}"
    path = literal(escape_pattern(text) if Path(text).is_file() else text)
    # files of one pattern may have been written at different times, with columns added or in another order
    options = _reader_options(engine, reader, as_text) + (", union_by_name = true" if several else "")
    paths = [name for (name,) in engine.execute("select file from glob(?)", [text])] if several else [text]
    with _naming_source(engine, text):
        folders = read_folders(engine, reader, path, options, paths)
        relation = f"{reader}({path}{options}{folders})"
        if reader != "read_parquet" and not as_text:
            relation, said = read_typed(engine, reader, path, options, folders, engine.reading)
            notes.update(said)
    # below 2^40 rows a file
    parquet_number = "cast(file_index as bigint) * 1099511627776 + file_row_number"
    return relation, parquet_number if reader == "read_parquet" else _COUNTED


def _require_files(pattern: str) -> None:
    """Raise SourceError where a pattern matches a pipe or a device, which would be read for ever."""
    for path in glob.iglob(pattern, recursive=True, include_hidden=True):  # noqa: PTH207 - a text, as engines take it
        with raised_as(SourceError, f"{pattern!r} matches {path!r}", UnfitFileError):
            require_regular(path)


def _reader_of(text: str) -> str | None:
    path = _path_of(text).lower()
    return next((reader for reader, endings in _READERS.items() if path.endswith(endings)), None)


def _path_of(text: str) -> str:
    # behind the path of a URL there may be more: a signature, a version
    return text.partition("?")[0] if "://" in text else text


def _reader_options(engine: "DuckDBEngine", reader: str, as_text: bool | str) -> str:
    """Return what a reader takes beside the file, as text to stand behind its path."""
    if reader != "read_csv":
        return ""
    texts = f", all_varchar = true, header = {literal(as_text != 'lines')}" if as_text else ""
    missing = engine.reading.missing
    nulls = f", nullstr = [{', '.join(map(literal, ('', *missing)))}]" if missing else ""
    return nulls + texts


def is_pattern(text: str) -> bool:
    """Tell whether a text names files by a pattern."""
    return any(letter in _path_of(text) for letter in "*?[") and not Path(text).is_file()


def _find_in_scope(name: str) -> object | None:
    """Look `name` up in the frames of the callers outside this package, nearest first."""
    package = __name__.partition(".")[0]
    # frames of ours are passed over: a local of this package is never what the user means
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != package:
            for scope in (frame.f_locals, frame.f_globals):
                if name in scope and not isinstance(scope[name], str | bytes | int | float | list | dict | tuple):
                    value: object = scope[name]
                    return value
        frame = frame.f_back
    return None
