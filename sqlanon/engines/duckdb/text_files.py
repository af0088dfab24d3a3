"""The types of CSV and JSON files: every row is looked at, and no value is changed by the way it is read."""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import SourceError, UsageError
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine

SAMPLE = 20_480  # rows that tell most columns of texts; the others are looked at whole
MISSING = (  # words for "no value"
    *("NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "NULL", "Null", "null", "None", "none"),
    *("?", " ?", ".", "-"),
)
_WRITTEN = {0: "VARCHAR", 8: "DATE", 16: "TIMESTAMP", 32: "TIME", 64: "BOOLEAN"}
_NO_FOLDERS = ", hive_partitioning = false"
_DIGITS = ("low", "high", "length")  # of decimals: places behind the point, letters
_SINGLE = re.compile(r"[A-Za-z]\w*( [A-Za-z]+)*(\(\d+(, ?\d+)?\))?")
_CODES = re.compile(r"(?i)(^|[\W_])(zip|zip_?code|post_?code|postal|plz|code|icd\d*|phone)($|[\W_])")
_FOLDER_TYPES = {"BIGINT": re.compile(r"0|-?[1-9]\d{0,17}"), "DATE": re.compile(r"\d{4}-\d\d-\d\d")}


@dataclass
class Reading:
    """How a caller wants text files read: types by column, and texts of CSV that stand for "no value"."""

    types: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    used: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no name of a type of single values."""
        for column, sql_type in self.types.items():
            if not _SINGLE.fullmatch(sql_type):
                raise UsageError(f"{option('types')}: {sql_type!r} of {column!r} is no type; write VARCHAR or DATE")

    def refuse_unused(self) -> None:
        """Refuse types and missing values of a source that has types of its own."""
        if (self.types or self.missing) and not self.used:
            asked, files = "types", "CSV and JSON files"
            if self.missing:
                asked, files = "missing", "CSV files, for JSON has null"
            raise UsageError(f"{option(asked)} is about {files}; columns of other sources are cast in a query")

    def chosen(self, names: Iterable[str], is_csv: bool) -> dict[str, str]:
        """Return the types by the columns' own names; the first file that is read has all that are asked for."""
        own = {name.lower(): name for name in names}
        for column in () if self.used else self.types:
            if column.lower() not in own:
                # its names are not told: they may be somebody's row
                raise UsageError(f"{option('types')}: the file has no column {column!r}", about=["types"])
        self.used = is_csv or not self.missing
        return {own[column.lower()]: sql_type for column, sql_type in self.types.items() if column.lower() in own}


def refuse_nul(names: Iterable[str]) -> None:
    """Refuse a name that no constant of SQL can hold."""
    if any("\0" in name for name in names):
        raise SourceError("the name of a column holds a NUL character")


def read_typed(
    engine: "DuckDBEngine", reader: str, path: str, options: str, folders: str
) -> tuple[str, dict[str, str]]:
    """Return SQL that reads CSV or JSON with types under which all texts come back, and what to say of columns.

    path: as a constant. options: of the reader. folders: what it is told of folders' names.
    """
    is_csv, named = reader == "read_csv", "types" if reader == "read_csv" else "columns"
    whole = "" if is_csv else ", sample_size = -1, maximum_sample_files = 1000000"
    guessed = engine.columns(f"select * from {reader}({path}{options}{_NO_FOLDERS}{whole})")
    refuse_nul(guessed)
    chosen = engine.reading.chosen(guessed, is_csv)
    if not is_csv and list(guessed) == ["json"]:  # no records
        return f"{reader}({path}{options}{folders}{whole})", {}
    notes = _find_repeated(engine, path, options, guessed) if is_csv else {}
    if is_csv and not all(re.fullmatch(r"column\d+", name) for name in guessed):
        options += ", header = true"
    # of JSON numbers and truth values are what they are, and texts are texts; what looks like a date may be none
    own = () if is_csv else ("BIGINT", "UBIGINT", "BOOLEAN", "VARCHAR")
    single = [n for n, t in guessed.items() if not (t in own or t.startswith(("STRUCT", "MAP")) or t.endswith("]"))]
    texts = guessed | dict.fromkeys(single, "VARCHAR")
    judged = [name for name in single if name not in chosen]
    as_texts = f"{reader}({path}{options}{_NO_FOLDERS}, {named} = {_listed(texts)})"
    counted = [name for name, sql_type in texts.items() if sql_type == "VARCHAR" and name not in chosen]
    found, words, commas = _find_types(engine, as_texts, judged, counted)
    types = texts | found | chosen
    notes |= {name: _say_missing(name, said, is_csv) for name, said in words.items()}
    for name in judged:
        as_text = option("types", f"{name}=VARCHAR")
        if name in commas:
            notes[name] = (
                f"{name!r} holds numbers with a decimal comma, which are read as text: write them with a point"
            )
        elif types[name] == "VARCHAR" and guessed[name] not in ("VARCHAR", "JSON", '"NULL"') and name not in notes:
            way = option("types", f"{name}={guessed[name]}")
            notes[name] = f"{name!r} is read as text, for as {guessed[name]} it would not come back as written; {way}"
        elif types[name] != "VARCHAR" and _CODES.search(name):
            notes[name] = f"{name!r} is read as {types[name]}; {as_text} reads it as text"
    return f"{reader}({path}{options}{folders}, {named} = {_listed(types)})", notes


def _find_repeated(engine: "DuckDBEngine", path: str, options: str, columns: Iterable[str]) -> dict[str, str]:
    """Return what to say of columns whose name stands twice in a CSV file's first line: the second gets another."""
    known = {name.lower() for name in columns}
    names = [name for name in columns if f"{name.lower()}_1" in known]
    if not names:
        return {}
    lines = f"select * from read_csv({path}{options}, header = false, all_varchar = true) limit 1"
    first = [str(text).strip().lower() for row in engine.execute(lines) for text in row]
    said = "{!r} stands {} times in the first line of the file: those behind the first are read as '{}_1' and so on"
    counts = {name: first.count(name.lower()) for name in names}
    return {name: said.format(name, count, name) for name, count in counts.items() if count > 1}


def _listed(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {literal(sql_type)}" for name, sql_type in types.items()) + "}"


def _find_types(
    engine: "DuckDBEngine", texts: str, judged: list[str], counted: list[str]
) -> tuple[dict[str, str], dict[str, Mapping[str, int]], list[str]]:
    """Return the types under which all texts of columns come back, how many rows say which word for "no value", and
    the columns of numbers with a decimal comma.
    """
    head = _look(engine, f"(select * from {texts} limit {SAMPLE})", judged, judged, counted)
    undecided = [name for name in judged if not head["bits", name] & 128]
    decimals = [name for name in undecided if head["bits", name] & 4]
    seen = head if head["rows", ""] < SAMPLE else _look(engine, texts, undecided, decimals, counted)
    words = {name: seen["missing", name] for name in counted if seen["missing", name]}
    commas = [name for name in undecided if seen["bits", name] & 4096]
    types = dict.fromkeys(judged, "VARCHAR")
    for name in undecided:
        if name not in words:
            types[name] = _type_of(seen["bits", name], *(seen.get((what, name)) for what in _DIGITS))
    return types, words, commas


def _look(
    engine: "DuckDBEngine", texts: str, judged: list[str], decimals: list[str], counted: list[str]
) -> dict[tuple[str, str], Any]:
    words = Sql(", ".join(map(literal, MISSING)))
    values = {"judged": judged, "decimals": decimals, "counted": counted, "words": words}
    (row,) = engine.execute(render_query("text_types", values, {"texts": Sql(texts)}))
    digits = [(what, name) for name in decimals for what in _DIGITS]
    told = [("rows", ""), *(("bits", name) for name in judged), *digits, *(("missing", name) for name in counted)]
    return dict(zip(told, row, strict=True))


def _type_of(bits: int, low: int | None, high: int | None, length: int | None) -> str:
    """Return the type of texts by their bits; digits behind the point that all have alike are kept by a decimal."""
    if not bits & 7:
        return _WRITTEN.get(bits & 248, "VARCHAR")
    if bits & (248 | 2048 | 4096):
        return "VARCHAR"
    if bits & 7 == 1:
        return "BIGINT"
    if not bits & (4 | 512) and not (bits & 1 and bits & 256):
        return "DOUBLE"
    if low is not None and low == high and length is not None and length <= 38 and not bits & 1024:
        return f"DECIMAL({18 if length <= 18 else 38},{low})"
    return "VARCHAR"


def _say_missing(column: str, words: Mapping[str, int], is_csv: bool) -> str:
    rows, said = sum(words.values()), ", ".join(sorted(words))
    way = f"{option('missing', shlex.quote(','.join(sorted(words))))} reads it as no value"
    return f"{rows:,} rows of {column!r} say {said}, a value as any other; {way if is_csv else 'no value is null'}"


def read_folders(engine: "DuckDBEngine", reader: str, path: str, options: str, paths: Iterable[str]) -> str:
    """Return what a reader is told of folders named like `sex=F`: they are a column that the files lack, or nothing.

    Raises SourceError where files have a column of that name with other values.
    """
    parts = [part.partition("=") for each in paths for part in Path(each).parts[:-1] if "=" in part]
    values = {name: {value for key, _, value in parts if key == name} for name, _, _ in parts}
    files = f"{reader}({path}{options}{_NO_FOLDERS}, filename = 'sqlanon_file')"
    own = (
        {name.lower(): (name, sql_type) for name, sql_type in engine.columns(f"from {files}").items()} if values else {}
    )
    types = {}
    for name, found in values.items():
        if name.lower() not in own:
            matching = (t for t, pattern in _FOLDER_TYPES.items() if all(map(pattern.fullmatch, found)))
            types[name] = next(matching, "VARCHAR")
            continue
        column, types[name] = own[name.lower()]
        value = f"url_decode(regexp_extract(sqlanon_file, {literal('(?:^|/)' + re.escape(name) + '=([^/]*)/')}, 1))"
        written = f"cast({ident(column)} as varchar)"
        differ = f"coalesce(try_cast({written} as double) <> try_cast({value} as double), true)"
        if engine.execute(f"select 1 from {files} where {written} is distinct from {value} and {differ} limit 1"):
            raise SourceError(
                f"the files have a column {column!r} with other values than their folders' names ({name}=…): name"
                " the folders otherwise"
            )
    if all(name.lower() in own for name in values):
        return _NO_FOLDERS
    return f", hive_partitioning = true, hive_types = {_listed(types)}"
