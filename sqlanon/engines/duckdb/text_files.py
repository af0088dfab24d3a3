"""The types of CSV and JSON files: every row is looked at, and no value is changed by the way it is read."""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import SourceError, UsageError
from sqlanon.near_texts import find_near
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
_DIGITS = ("low", "high", "length")  # of decimals: places behind the point, letters
_SINGLE = re.compile(r"[A-Za-z]\w*( [A-Za-z]+)*(\(\d+(, ?\d+)?\))?")
_CODES = re.compile(r"(?i)(^|[\W_])(zip|zip_?code|post_?code|postal|plz|code|icd\d*|phone)($|[\W_])")
_FOLDER_TYPES = {"BIGINT": re.compile(r"0|-?[1-9]\d{0,17}"), "DATE": re.compile(r"\d{4}-\d\d-\d\d")}


@dataclass
class Reading:
    """How a caller wants text files read: types by column, and texts that stand for "no value"."""

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
            asked = option("types" if self.types else "missing")
            raise UsageError(f"{asked} is about CSV and JSON files; columns of other sources are cast in a query")

    def chosen(self, names: Iterable[str]) -> dict[str, str]:
        """Return the types by the columns' own names; the first file that is read has all that are asked for."""
        own = {name.lower(): name for name in names}
        for column in () if self.used else self.types:
            if column.lower() not in own:
                near = "".join(f"; did you mean {name!r}?" for name in find_near(column, own.values(), most=1))
                raise UsageError(f"{option('types')}: the file has no column {column!r}{near}", about=["types"])
        self.used = True
        return {own[column.lower()]: sql_type for column, sql_type in self.types.items() if column.lower() in own}


def refuse_nul(names: Iterable[str]) -> None:
    """Refuse a name that no constant of SQL can hold."""
    if any("\0" in name for name in names):
        raise SourceError("the name of a column holds a NUL character")


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


def read_typed(
    engine: "DuckDBEngine", reader: str, path: str, options: str, folders: str, reading: Reading
) -> tuple[str, dict[str, str]]:
    """Return SQL that reads CSV or JSON with types under which all texts come back, and what to say of columns.

    path: as a constant. options: of the reader. folders: what it is told of folders' names.
    """
    whole = ", sample_size = -1, maximum_sample_files = 1000000" if reader == "read_json" else ""
    inside = f"{options}, hive_partitioning = false"
    guessed = engine.columns(f"select * from {reader}({path}{inside}{whole})")
    refuse_nul(guessed)
    chosen = reading.chosen(guessed)
    twice = _find_repeated(engine, path, options, guessed) if reader == "read_csv" else {}
    if reader == "read_json" and list(guessed) == ["json"]:  # no records
        return f"{reader}({path}{options}{folders}{whole})", {}
    named = "types" if reader == "read_csv" else "columns"
    if reader == "read_csv" and not all(re.fullmatch(r"column\d+", name) for name in guessed):
        options, inside = f"{options}, header = true", f"{inside}, header = true"
    # of JSON numbers and truth values are what they are; a text that looks like a date may be none
    own = ("BIGINT", "UBIGINT", "BOOLEAN", "VARCHAR") if reader == "read_json" and not reading.missing else ()
    single = [n for n, t in guessed.items() if not (t in own or t.startswith(("STRUCT", "MAP")) or t.endswith("]"))]
    texts = {name: "VARCHAR" if name in single else sql_type for name, sql_type in guessed.items()}
    columns = [name for name in texts if texts[name] == "VARCHAR"]
    as_texts = f"{reader}({path}{inside}, {named} = {_listed(texts)})"
    nulled = reader == "read_json" and bool(reading.missing)
    if nulled:
        as_texts = _with_nulls(as_texts, columns, reading.missing)
    judged = [name for name in single if name not in chosen]
    found, words, commas = _find_types(engine, as_texts, judged, [name for name in columns if name not in chosen])
    if reader == "read_json":  # its texts are texts
        found = {name: sql_type for name, sql_type in found.items() if guessed[name] != "VARCHAR"}
    types = texts | found | chosen
    notes = twice | {name: _say_missing(name, said) for name, said in words.items()}
    for name in judged:
        if name in commas:
            notes[name] = (
                f"{name!r} holds numbers with a decimal comma, which are read as text: write them with a point"
            )
        elif types[name] == "VARCHAR" and guessed[name] not in ("VARCHAR", "JSON", '"NULL"') and name not in notes:
            way = option("types", f"{name}={guessed[name]}")
            notes[name] = f"{name!r} is read as text, for as {guessed[name]} it would not come back as written; {way}"
        elif types[name] != "VARCHAR" and _CODES.search(name):
            notes[name] = f"{name!r} is read as {types[name]}; {option('types', f'{name}=VARCHAR')} reads it as text"
    if not nulled:
        return f"{reader}({path}{options}{folders}, {named} = {_listed(types)})", notes
    source = _with_nulls(f"{reader}({path}{options}{folders}, {named} = {_listed(texts)})", columns, reading.missing)
    casts = ", ".join(f"cast({ident(name)} as {types[name]}) as {ident(name)}" for name in columns)
    return f"(select * replace ({casts}) from {source})", notes


def _with_nulls(texts: str, columns: Iterable[str], missing: Iterable[str]) -> str:
    listed = ", ".join(map(literal, missing))
    nulls = (f"case when {ident(name)} not in ({listed}) then {ident(name)} end as {ident(name)}" for name in columns)
    return f"(select * replace ({', '.join(nulls)}) from {texts})"


def _listed(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {literal(sql_type)}" for name, sql_type in types.items()) + "}"


def _find_types(
    engine: "DuckDBEngine", texts: str, judged: list[str], counted: list[str]
) -> tuple[dict[str, str], dict[str, Mapping[str, int]], list[str]]:
    """Return the types under which all texts of columns come back, how many rows say which word for "no value", and
    the columns of numbers with a decimal comma.
    """
    head = _look(engine, f"(select * from {texts} limit {SAMPLE})", judged, judged, counted)
    undecided = [name for name in judged if not (head["bits", name] or 0) & 128]
    decimals = [name for name in undecided if (head["bits", name] or 0) & 4]
    seen = head if head["rows", ""] < SAMPLE else _look(engine, texts, undecided, decimals, counted)
    words = {name: seen["missing", name] for name in counted if seen["missing", name]}
    commas = [name for name in undecided if (seen["bits", name] or 0) & 4096]
    types = dict.fromkeys(judged, "VARCHAR")
    for name in undecided:
        if name not in words:
            types[name] = _type_of(seen["bits", name] or 0, [seen.get((what, name)) for what in _DIGITS])
    return types, words, commas


def _look(
    engine: "DuckDBEngine", texts: str, judged: list[str], decimals: list[str], counted: list[str]
) -> dict[tuple[str, str], Any]:
    values = {
        "judged": judged,
        "decimals": decimals,
        "counted": counted,
        "words": Sql(", ".join(map(literal, MISSING))),
    }
    (row,) = engine.execute(render_query("text_types", values, {"texts": Sql(texts)}))
    digits = [(what, name) for name in decimals for what in _DIGITS]
    told = [("rows", ""), *(("bits", name) for name in judged), *digits, *(("missing", name) for name in counted)]
    return dict(zip(told, row, strict=True))


def _type_of(bits: int, digits: list[Any]) -> str:
    """Return the type of texts by their bits; digits behind the point that all have alike are kept by a decimal."""
    low, high, length = digits
    if not bits & 7:
        return _WRITTEN.get(bits & 248, "VARCHAR")
    if bits & (248 | 2048 | 4096):
        return "VARCHAR"
    if bits & 7 == 1:
        return "BIGINT"
    if not bits & (4 | 512) and not (bits & 1 and bits & 256):
        return "DOUBLE"
    if low is not None and low == high and length <= 38 and not bits & 1024:
        return f"DECIMAL({18 if length <= 18 else 38},{low})"
    return "VARCHAR"


def _say_missing(column: str, words: Mapping[str, int]) -> str:
    rows, said = sum(words.values()), ", ".join(sorted(words))
    way = option("missing", shlex.quote(",".join(sorted(words))))
    return f"{rows:,} rows of {column!r} say {said}, a value as any other; {way} reads it as no value"


def read_folders(engine: "DuckDBEngine", reader: str, path: str, options: str, paths: Iterable[str]) -> str:
    """Return what a reader is told of folders named like `sex=F`: they are a column that the files lack, or nothing.

    Raises SourceError where files have a column of that name with other values.
    """
    parts = [part.partition("=") for each in paths for part in Path(each).parts[:-1] if "=" in part]
    values = {name: {value for key, _, value in parts if key == name} for name, _, _ in parts}
    off = ", hive_partitioning = false"
    if not values:
        return off
    own = {name.lower(): (name, t) for name, t in engine.columns(f"from {reader}({path}{options}{off})").items()}
    types = {}
    for name, found in values.items():
        if name.lower() not in own:
            matching = (t for t, pattern in _FOLDER_TYPES.items() if all(map(pattern.fullmatch, found)))
            types[name] = next(matching, "VARCHAR")
            continue
        column, types[name] = own[name.lower()]
        value = f"url_decode(regexp_extract(sqlanon_file, {literal('(?:^|/)' + re.escape(name) + '=([^/]*)/')}, 1))"
        written = f"cast({ident(column)} as varchar)"
        differ = (
            f"select 1 from {reader}({path}{options}{off}, filename = 'sqlanon_file') where {written} is distinct from"
            f" {value} and coalesce(try_cast({written} as double) <> try_cast({value} as double), true) limit 1"
        )
        if engine.execute(differ):
            raise SourceError(
                f"the files have a column {column!r} with other values than their folders' names ({name}=…): name"
                " the folders otherwise"
            )
    if all(name.lower() in own for name in values):
        return off
    return f", hive_partitioning = true, hive_types = {_listed(types)}"
