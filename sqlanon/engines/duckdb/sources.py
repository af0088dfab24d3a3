"""Find what a user named as a source in DuckDB: a table or view, a file or glob, or an object in the caller's scope."""

import csv
import glob
import inspect
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from sqlanon.bounded_files import UnfitFileError, require_regular
from sqlanon.engines.base import count_called
from sqlanon.engines.duckdb.connection import escape_pattern
from sqlanon.engines.duckdb.errors import MISSING_EXTENSION, describe_convertible
from sqlanon.engines.duckdb.text_files import read_folders, read_typed, refuse_nul
from sqlanon.errors import SourceError, SqlanonError, raised_as
from sqlanon.plans.plan import Source, find_floats
from sqlanon.plans.roles import SourceColumns
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.source import QueriedSource
from sqlanon.wording import find_near, option

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine

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
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}
_NESTED = ("LIST", "STRUCT", "MAP", "UNION", "ARRAY", "VARIANT")
_LIST = re.compile(r"\[\d*\]\Z")
# a Parquet file and a table know their rows' numbers; this counts them, in one thread
_COUNTED = "row_number() over ()"
_PARQUET_NUMBER = "cast(file_index as bigint) * 1099511627776 + file_row_number"  # below 2^40 rows a file
_ROW_NUMBERS = {"rowid", "file_index", "file_row_number"}  # DuckDB's, unless the source has such a column
_TABLES = """
select 'rowid', database_name, schema_name, table_name from duckdb_tables()
union all
select 'row_number() over ()', database_name, schema_name, view_name from duckdb_views() where not internal
"""
_LISTED = 5  # tables that a message names
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
_DELIMITERS = ",;\t|"
_LONGEST_HEAD = 1 << 20  # letters of the first line


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
    if len(types) == 1 and any(letter in name for name in types for letter in _DELIMITERS):
        _refuse_broken_line(engine, text)
    if {name.lower() for name in types} & _ROW_NUMBERS:
        numbering = _COUNTED  # a column of the user's would stand where we mean the engine's own numbers
    columns = {name: _publish_as(sql_type) for name, sql_type in types.items()}
    published = SourceColumns(columns)
    # a mapping that held itself would hold the session, and with it the database's file
    published.are_values = lambda: count_called(engine, Sql(relation), columns) > 0
    items = {name: _LIST.sub("", sql_type) for name, sql_type in types.items() if _LIST.search(sql_type)}
    lists = {name: _publish_as(item) for name, item in items.items() if _publish_as(item) not in ("NESTED", "JSON")}
    read_as = {name: sql_type for name, sql_type in published.items() if sql_type != "NESTED"}
    read_as |= {name: f"{item}[]" for name, item in lists.items()}
    texts = [name for name, sql_type in types.items() if sql_type == "VARCHAR"]

    def is_collated(columns: Sequence[str]) -> bool:
        listed = ", ".join(map(ident, columns))
        plan = engine.execute(f"explain select {listed} from {relation} group by {listed}")
        return "__collated_group" in str(plan)

    # files have no collations, and are not opened once more
    is_file = isinstance(text, str) and text in engine.files_read
    may_be = bool(texts) and not is_file and is_collated(texts)
    return Source(
        relation=Sql(relation),
        casts={name: sql_type for name, sql_type in read_as.items() if sql_type != types[name]},
        numbering=Sql(numbering),
        texts=frozenset(name for name, sql_type in published.items() if sql_type == "VARCHAR"),
        lists=lists,
        lacking=_count_lacking(engine, text),
        floats=find_floats(types),
        notes=notes,
        collated=frozenset(name for name in texts if is_collated([name])) if may_be else frozenset(),
    ), published


def _publish_as(sql_type: str) -> str:
    """Return the type in which values of a type are published, NESTED where each holds several."""
    if sql_type.startswith(_NESTED) or sql_type.endswith("]"):
        return "NESTED"
    # an enumeration's type lists every value that there could be, published or not
    return "VARCHAR" if sql_type.startswith("ENUM") else _PUBLISHED_AS.get(sql_type, sql_type)


# -- what is there under a name -------------------------------------------------------------------


def _find_relation(engine: "DuckDBEngine", text: object, as_text: bool | str, notes: dict[str, str]) -> tuple[str, str]:
    """Return SQL that reads a source, and an expression that numbers its rows; add what to say of columns."""
    if isinstance(text, QueriedSource):
        # the engine looks no name up, for a macro could answer
        return text.write(lambda table: _find_relation(engine, table, False, notes)[0]), _COUNTED
    if not isinstance(text, str):
        return engine.register(text), _COUNTED
    tables = engine.execute(_TABLES)
    if (place := _find_table(engine, tables, text)) is not None:
        return place
    if _QUERY.match(text) and not Path(text).exists():
        raise SourceError(f"{text!r} is a query, and no name of a source; say {option('query', 'SELECT …')}")
    if (reader := _find_reader(text)) is not None:
        _refuse_fetching(engine, text)
        engine.files_read.append(text)
        return _read_files(engine, reader, text, as_text, notes)
    if (value := _find_in_scope(text)) is not None:
        return engine.register(value), _COUNTED
    known = sorted(name for _, database, _, name in tables if database == engine.place[0])
    if near := find_near(text, known, most=1):
        instead = f"the nearest table is {near[0]!r}"
    elif known:
        others = " and others" if len(known) > _LISTED else ""
        instead = f"the database has {', '.join(map(repr, known[:_LISTED]))}{others}"
    else:
        ends = "a file's name ends in .parquet, .csv, .tsv, .json or .jsonl"
        instead = f"a table needs its {option('database')}, {ends}"
    raise SourceError(f"no table, view or file {text!r}; {instead}")


def _find_table(engine: "DuckDBEngine", tables: Sequence[Sequence[str]], text: str) -> tuple[str, str] | None:
    """Find a table or view: in the schema in use or `main`, as schema.table, as database.table, or by all three."""
    known = {tuple(map(str.lower, names)): (numbering, names) for numbering, *names in tables}
    database, schema = engine.place
    for *above, name in ([text], text.split(".")):  # as one name, then with what it lies in
        places: dict[int, list[list[str]]] = {
            0: [["temp", "main"], [database, schema], [database, "main"]],
            1: [["temp", *above], [database, *above], [*above, "main"]],
            2: [above],
        }
        for place in places.get(len(above), []):
            if found := known.get((*map(str.lower, [*place, name]),)):
                numbering, names = found
                return ".".join(map(ident, names)), numbering
    return None


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


# -- files ----------------------------------------------------------------------------------------


def _find_reader(text: str) -> str | None:
    """Return what reads a file or the files of a pattern, None where it names no file; refuse what cannot be read."""
    path, url = Path(text), "://" in text
    reader = next((each for each, endings in _READERS.items() if _path_of(text).lower().endswith(endings)), None)
    if path.is_dir():
        raise SourceError(f"{text!r} is a directory; name its files, for example {str(path / '*.parquet')!r}")
    if reader is None:
        if text.startswith(("postgres://", "postgresql://")):
            named = f"{option('engine', 'postgres')} {option('dsn', 'URL')}"
            raise SourceError(f"a database of PostgreSQL is named by {named}, and the source is a table of it")
        if not (url or path.is_file()):
            return None
        if path.is_file() and _is_database(path):
            raise SourceError(f"{text!r} is a database; name one of its tables, and say {option('database', text)}")
        endings = ", ".join(suffix for many in _READERS.values() for suffix in many)
        unknown = f"{text!r} has no ending that tells its format; use one of {endings}, or fetch the file first"
        raise SourceError(describe_convertible(text) or unknown)
    if path.is_file():
        if not os.access(path, os.R_OK):
            raise SourceError(f"no right to read {text!r}; let this user read it (chmod), or copy it")
        if not path.stat().st_size:
            raise SourceError(f"{text!r} is empty: it holds no byte, and no names of columns; write it again")
    elif not url and is_pattern(text):
        for match in glob.iglob(text, recursive=True, include_hidden=True):  # noqa: PTH207 - a text, as engines take it
            with raised_as(SourceError, f"{text!r} matches {match!r}", UnfitFileError):
                require_regular(match)  # a pipe or a device would be read for ever
    elif not url:
        beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        files = find_near(path.name, [name for name in beside if name.endswith(sum(_READERS.values(), ()))], most=1)
        near = "".join(f"; the nearest is {str(path.parent / name)!r}" for name in files)
        raise SourceError(f"no file {text!r}{near}")
    return reader


def _refuse_fetching(engine: "DuckDBEngine", text: str) -> None:
    """Refuse a URL whose extension is not installed: a caller's connection would fetch it from the network."""
    scheme, is_url, _ = text.lower().partition("://")
    if is_url and scheme != "file":
        extension = "azure" if scheme.startswith(("az", "abfs")) else "httpfs"
        listed = "select installed or loaded from system.main.duckdb_extensions() where extension_name = ?"
        if engine.execute(listed, [extension]) != [(True,)]:
            raise SourceError(f"cannot read {text!r}: {MISSING_EXTENSION.format(extension)}")


def _is_database(path: Path) -> bool:
    """Tell whether a file is DuckDB's own: four letters stand behind a checksum."""
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def _path_of(text: str) -> str:
    # behind the path of a URL there may be more: a signature, a version
    return text.partition("?")[0] if "://" in text else text


def is_pattern(text: str) -> bool:
    """Tell whether a text names files by a pattern."""
    return any(letter in _path_of(text) for letter in "*?[") and not Path(text).is_file()


def _read_files(
    engine: "DuckDBEngine", reader: str, text: str, as_text: bool | str, notes: dict[str, str]
) -> tuple[str, str]:
    """Return SQL that reads a file or the files of a pattern, and an expression that numbers their rows."""
    if text.startswith("~"):  # which the engine would take for a home
        text = f"./{text}"
    path, paths, options = literal(escape_pattern(text) if Path(text).is_file() else text), [text], ""
    if reader == "read_csv" and as_text:
        options = f", all_varchar = true, header = {literal(as_text != 'lines')}"
    elif reader == "read_csv" and engine.reading.missing:
        options = f", nullstr = [{', '.join(map(literal, ('', *engine.reading.missing)))}]"
    if is_pattern(text):
        # files of one pattern may have been written at different times, with columns added or in another order
        options += ", union_by_name = true"
        paths = [name for (name,) in engine.execute("select file from glob(?)", [text])]
    with _naming_source(engine, text):
        folders = read_folders(engine, reader, path, options, paths)
        if reader == "read_parquet" or as_text:
            return f"{reader}({path}{options}{folders})", _PARQUET_NUMBER if reader == "read_parquet" else _COUNTED
        relation, said = read_typed(engine, reader, path, options, folders)
    notes.update(said)
    return relation, _COUNTED


def _count_lacking(engine: "DuckDBEngine", text: object) -> Mapping[str, tuple[int, int]]:
    """Count the files of a pattern that lack a column which others have: how many, and of how many.

    Of a query, in each pattern that it reads. Their rows have NULL there, which is no real value.
    """
    if isinstance(text, QueriedSource):
        return dict(item for table in text.tables for item in _count_lacking(engine, table).items())
    if not isinstance(text, str) or text not in engine.files_read or not is_pattern(text):
        return {}
    reader = _find_reader(text)
    paths = [path for (path,) in engine.execute("select file from glob(?)", [text])]
    counts, spelled = Counter[str](), dict[str, str]()
    for path in paths if len(paths) > 1 else ():
        # only heads and footers are read
        columns = engine.columns(f"select * from {reader}({literal(escape_pattern(path))})")
        counts.update(map(str.lower, columns))
        spelled = {name.lower(): name for name in columns} | spelled
    return {spelled[name]: (len(paths) - count, len(paths)) for name, count in counts.items() if count < len(paths)}


@contextmanager
def _naming_source(engine: "DuckDBEngine", text: object) -> Iterator[None]:
    """Say of a source that cannot be read which it is, and which of its lines is unlike the first."""
    try:
        yield
    except SqlanonError as error:
        if "types" in error.about:
            raise
        _refuse_broken_line(engine, text)
        # what is said of the file by its name needs no second name
        names_source = isinstance(error, SourceError) and isinstance(text, str) and repr(text) in str(error)
        what = "query" if isinstance(text, QueriedSource) else type(text).__name__
        name = repr(text) if isinstance(text, str) else f"the {what}"
        raise SourceError(str(error) if names_source else f"cannot read {name}: {error}") from None


def _refuse_broken_line(engine: "DuckDBEngine", text: object) -> None:
    """Raise SourceError, with its line, for a CSV file that is unlike its first line somewhere; else do nothing.

    DuckDB guesses delimiter and quotes from what fits most lines: one broken line can make it guess a single column.
    """
    if not isinstance(text, str) or not text.lower().endswith((".csv", ".tsv", ".txt")) or not Path(text).is_file():
        return
    try:
        with Path(text).open(encoding="utf-8", newline="") as file:
            head = file.readline(_LONGEST_HEAD)
    except (OSError, ValueError):
        return
    delimiter = max(_DELIMITERS, key=head.count)
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
