"""Kinds of parameters that name things: columns, tables, files; how each is given, read and shown."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.methods.kinds import (
    LISTED,
    PATH_NAME,
    TEXT,
    TEXT_OF_JOB,
    TEXTS,
    TEXTS_OF_JOB,
    Kind,
    is_whole,
    one_or_several,
    read_texts,
    refused,
    whole_number,
)
from sqlanon.plans import json_schema
from sqlanon.plans.coarsening import LOOKED_UP, PATTERN, Coarsening
from sqlanon.plans.plan import Beside
from sqlanon.sql.source import choose_source, with_rules
from sqlanon.wording import option


def _place(mark: str, table: Any) -> Any:
    """Return a path as the text by which engines find its file, any other object as it is; refuse plain values."""
    if isinstance(table, _PLAIN):
        raise refused(mark, table, "is no table; give a table's name, a path, or an object that the engine reads")
    return os.fspath(table) if isinstance(table, os.PathLike) else table


def _places(mark: str, tables: Any) -> tuple[Any, ...]:
    return tuple(_place(mark, table) for table in _several(tables))


def parameter_table(named: object) -> Beside:
    """Return a table whose rows are parameters rather than data: all of them are read, as they are written."""
    return Beside(named, fetched=True, as_text=True)


def _whole_per_column(mark: str, value: Any) -> int | dict[str, int]:
    """Read 5, or COLUMN=5 split at the last `=`, commas and repetition between; or a mapping of names to numbers."""
    if isinstance(value, Mapping):
        return {TEXT.read(mark, column): whole_number(mark, each) for column, each in value.items()}
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return whole_number(mark, value)
    if len(value) == 1 and is_whole(value[0]):
        return int(value[0])
    pairs = (pair for text in value for pair in _pairs(text))
    words = "is no COLUMN=NUMBER; say one whole number for all columns, or disease=3,zip=5"
    return _by_column(mark, pairs, words, lambda _, text: int(text) if is_whole(text) else None)


def _table_by_column(mark: str, value: Any) -> dict[str, object]:
    """Read COLUMN=FILE, split at the first `=` behind which a file's name begins; or a mapping of names to tables."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        pairs = (text.partition("=") for text in value)
        return _by_column(mark, pairs, "is not COLUMN=FILE", lambda _, path: path.strip())
    if not isinstance(value, Mapping | None):
        raise refused(mark, value, "is not a mapping of column names to tables")
    return {TEXT.read(mark, column): _place(mark, table) for column, table in (value or {}).items()}


def _rule_by_column(mark: str, value: Any) -> dict[str, str]:
    """Read COLUMN=RULE, split at the last `=`; commas and repetition separate them, but not in COLUMN=map:TABLE.

    Python and jobs may give a mapping of column names to rules, texts or numbers.
    """
    if isinstance(value, Mapping | None):
        rules = {TEXT.read(mark, column): str(rule) for column, rule in (value or {}).items()}
        return {column: Coarsening.read(column, rule).typed for column, rule in rules.items()}
    if not isinstance(value, Iterable):
        raise refused(mark, value, "is not a mapping of column names to rules, as in {'age': 10}")
    pairs: list[tuple[str, str, str]] = []
    for text in read_texts(mark, value):
        named = next((beginning for beginning in LOOKED_UP.values() if f"={beginning}" in text), "")
        column, _, place = text.partition(f"={named}")
        pairs += [(column, "=", f"{named}{place}")] if named else _pairs(text)
    words = "is not COLUMN=RULE, as in age=10"
    return _by_column(mark, pairs, words, lambda name, rule: rule.strip() and Coarsening.read(name, rule).typed)


def _rules_beside(folder: Any, rules: Mapping[str, str]) -> dict[str, str]:
    """Return a job's rules, whose files of labels or keys lie beside it."""
    read = {column: Coarsening.read(column, rule) for column, rule in rules.items()}
    return {
        column: (replace(rule, table=str(folder.place(rule.table))) if rule.table else rule).typed
        for column, rule in read.items()
    }


def _pairs(text: str) -> list[tuple[str, str, str]]:
    """Split COLUMN=VALUE at its last `=`, several at commas."""
    # a column's name may hold commas and equals signs: split only where that is unambiguous
    return [part.rpartition("=") for part in ([text] if text.count("=") == 1 else text.split(","))]


def _by_column(
    mark: str, pairs: Iterable[tuple[str, str, str]], words: str, read: Callable[[str, str], Any]
) -> dict[str, Any]:
    """Return values by their columns, each named once in whatever case; raise UsageError, in words, for what is none.

    pairs: of each the column, `=`, and the text. read: returns the value of a column's text, nothing for what is none.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, value = pair[0].strip(), read(pair[0].strip(), pair[2]) if pair[1] else None
        if not name or value in (None, ""):
            raise UsageError(f"{mark} {''.join(pair)!r} {words}")
        if name.lower() in map(str.lower, values):
            raise UsageError(f"{mark} is given twice for {name!r}")
        values[name] = value
    return values


def _several(value: Any) -> tuple[Any, ...]:
    """Return one, several or none as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else () if value is None else (value,)


# what no engine reads as a table
_PLAIN = (int, float, bytes, list, tuple, set, Mapping, NoneType)
# a whole number for all columns, or one for each by its name: a manifest says it of all
WHOLE_PER_COLUMN = Kind(
    _whole_per_column,
    typed=LISTED,
    schema=lambda limits: json_schema.by_column("sensitive", {"type": "integer", **limits}),
    job=json_schema.either({"type": "integer"}, json_schema.keyed({"type": "integer"})),
)
# the name of a column, which need not be a published one
COLUMN = Kind(
    TEXT.read,
    schema=lambda _: {"type": ["string", "null"], "maxLength": 128},
    job=TEXT_OF_JOB,
)
# on the command line commas separate names, and a text that is a column's name is that column
COLUMNS = replace(TEXTS, job=TEXTS_OF_JOB)
# each text names one column or, between commas, several
COLUMN_SETS = Kind(
    lambda mark, value: tuple(read_texts(mark, each) for each in one_or_several(value)),
    typed=LISTED,
    job=json_schema.either(TEXT_OF_JOB, json_schema.several(TEXTS_OF_JOB)),
)
# a table, view, file or glob; in Python also an object that the engine reads as one: the engine refuses others
PLACE = Kind(_place)
PLACES = Kind(_places, typed=LISTED)
# tables that stand beside the source: any SOURCE
TABLES = replace(
    PLACES,
    made=lambda tables: tuple(map(Beside, tables)),
    job=json_schema.either(TEXT_OF_JOB, json_schema.several(TEXT_OF_JOB)),
    beside=lambda folder, tables: tuple(map(folder.place, tables)),
)
# a table for some of the columns; its rows are parameters, read whole
TABLE_BY_COLUMN = Kind(
    _table_by_column,
    made=lambda tables: {column: parameter_table(table) for column, table in tables.items()},
    typed=LISTED,
    job=json_schema.keyed(TEXT_OF_JOB),
    beside=lambda folder, tables: {column: folder.file(table) for column, table in tables.items()},
)
# how to coarsen some of the columns
COARSEN = Kind(
    _rule_by_column,
    typed=LISTED,
    schema=lambda _: json_schema.by_column("quasi", json_schema.text(PATTERN)),
    job=json_schema.keyed(json_schema.either(TEXT_OF_JOB, {"type": "number"})),
    beside=_rules_beside,
)
PATH = Kind(lambda mark, value: Path(PATH_NAME.read(mark, value)), typed=Path)
PATH_TEXT = replace(PATH_NAME, beside=lambda folder, text: folder.file(text))
# the path of a release, or its schema's name
RELEASE_PLACE = replace(PATH_NAME, beside=lambda folder, text: folder.release(text))
SCHEMA_NAME = replace(TEXT, beside=lambda folder, text: folder.expanded(text))
# paths of files to appear: one, several or none
FILES: Kind = Kind(
    lambda mark, value: tuple(Path(PATH_NAME.read(mark, path)) for path in _several(value)), typed=list[Path]
)
FILE = replace(FILES, typed=Path)


def source_against(
    against: object, query: str | None, dialect: str, coarsen: Any, identifier: Any = (), vary: str | None = None
) -> object:
    """Return the source that a release is held against, with what is said of how it was made; None without one.

    coarsen: the ways in which columns got labels. identifier, vary: as a release of people who have several rows was
    made. Raises UsageError for two sources, and for what is about one without.
    """
    rules, names = COARSEN.read(option("coarsen"), coarsen), read_texts(option("id"), identifier)
    source = choose_source(against, query, dialect, named=option("against"))
    for name, said in (("coarsen", rules), ("id", names), ("vary", vary)):
        if said and source is None:
            raise UsageError(f"{option(name)} is about the source; say which with {option('against', 'SOURCE')}")
    return None if source is None else with_rules(source, rules, names, vary)
