"""Types of parameters that name things: columns, tables, files; how each is given, read and shown."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from sqlanon.errors import UsageError
from sqlanon.methods.parameter_types import (
    FILE,
    PLACE,
    TEXT,
    TEXTS,
    JobText,
    ParameterType,
    Text,
    Whole,
    is_whole,
    one_or_several,
)
from sqlanon.plans import json_schema
from sqlanon.plans.coarsening import LOOKED_UP, PATTERN, Coarsening
from sqlanon.plans.json_schema import Schema
from sqlanon.plans.plan import Beside
from sqlanon.sql.sources.queried_source import with_rules
from sqlanon.sql.sources.source_choice import choose_source
from sqlanon.wording import option


class WholePerColumn(ParameterType):
    """A whole number for all columns, or one for each by its name."""

    typed = list[str]
    job = int | dict[str, int]

    def read(self, option: str, given: Any) -> int | dict[str, int]:
        """Read 5, or COLUMN=5 split at the last `=`; commas and repetition separate them."""
        if len(given) == 1 and is_whole(given[0]):
            return int(given[0])
        pairs = (pair for text in given for pair in _pairs(text))
        words = "is no COLUMN=NUMBER; say one whole number for all columns, or disease=3,zip=5"
        return _by_column(option, pairs, words, lambda _, number: int(number) if is_whole(number) else None)

    def check(self, name: str, value: Any) -> int | dict[str, int]:
        """Take a whole number or a mapping of column names to whole numbers."""
        if isinstance(value, Mapping):
            return {check_name(column): Whole().check(name, number) for column, number in value.items()}
        return Whole().check(name, value)

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of a number for each sensitive column: a manifest says it of all."""
        return json_schema.by_column("sensitive", {"type": "integer", **limits})


class Column(ParameterType):
    """The name of a column."""

    def check(self, name: str, value: Any) -> str:
        """Refuse what is no text."""
        return check_name(value)

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of a name, which need not be a published column's."""
        return {"type": ["string", "null"]}


class Columns(ParameterType):
    """Names of columns; on the command line commas separate them, and a text that is a column's name is that column."""

    recorded = False
    typed = list[str]
    job = TEXTS

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Take one name or several."""
        return check_names(value)


class ColumnSets(ParameterType):
    """Sets of columns: each text names one or, between commas, several."""

    recorded = False
    typed = list[str]
    job = TEXT | list[TEXTS]

    def check(self, name: str, value: Any) -> tuple[tuple[str, ...], ...]:
        """Take one set, or several."""
        return tuple(map(check_names, one_or_several(value)))


class Tables(ParameterType):
    """Tables that stand beside the source: any SOURCE."""

    recorded = False
    typed = list[str]
    job = PLACE | list[PLACE]

    def check(self, name: str, value: Any) -> tuple[Beside, ...]:
        """Take one table or several."""
        return tuple(Beside(named_place(table)) for table in (value if isinstance(value, list | tuple) else (value,)))


class TableByColumn(ParameterType):
    """A table for some of the columns, by the column's name; its rows are parameters, read whole."""

    recorded = False
    typed = list[str]
    job = dict[str, FILE]

    def read(self, option: str, given: Any) -> dict[str, str]:
        """Read COLUMN=FILE, split at the first `=` behind which a file's name begins."""
        pairs = (text.partition("=") for text in given)
        return _by_column(option, pairs, "is not COLUMN=FILE", lambda _, path: path.strip())

    def check(self, name: str, value: Any) -> dict[str, Beside]:
        """Take a mapping of column names to tables, or none."""
        if not isinstance(value, Mapping | None):
            raise UsageError(f"{name} is a mapping of column names to tables")
        return {check_name(column): parameter_table(table) for column, table in (value or {}).items()}


def _rule_of_job(folder: Any, text: str) -> str:
    """Return a rule whose file of labels or key lies beside the job; what is none is told with its column's name."""
    try:
        rule = Coarsening.read("", text)
    except UsageError:
        return text
    return replace(rule, table=str(folder.place(rule.table))).typed if rule.table else text


class RuleByColumn(ParameterType):
    """How to coarsen some of the columns, by the column's name."""

    typed = list[str]
    job = dict[str, Annotated[str, JobText(_rule_of_job)] | int | float]

    def read(self, option: str, given: Any) -> dict[str, str]:
        """Read COLUMN=RULE, split at the last `=`; commas and repetition separate them, but not in COLUMN=map:TABLE."""
        pairs: list[tuple[str, str, str]] = []
        for text in given:
            named = next((beginning for beginning in LOOKED_UP.values() if f"={beginning}" in text), "")
            column, _, place = text.partition(f"={named}")
            pairs += [(column, "=", f"{named}{place}")] if named else _pairs(text)
        words = "is not COLUMN=RULE, as in age=10"
        return _by_column(option, pairs, words, lambda name, rule: rule.strip() and Coarsening.read(name, rule).typed)

    def check(self, name: str, value: Any) -> dict[str, str]:
        """Take a mapping of column names to rules, texts or numbers; or texts COLUMN=RULE; or none."""
        if isinstance(value, str):
            return self.read(name, [value])
        if isinstance(value, Iterable) and not isinstance(value, Mapping):
            return self.read(name, check_names(value))
        if not isinstance(value, Mapping | None):
            raise UsageError(f"{name} is a mapping of column names to rules, as in {{'age': 10}}")
        return {check_name(column): Coarsening.read(column, str(rule)).typed for column, rule in (value or {}).items()}

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of a rule for some quasi columns."""
        return json_schema.by_column("quasi", json_schema.text(PATTERN))


COARSEN = RuleByColumn()


class Place(ParameterType):
    """A table, view, file or glob; in Python also an object that the engine reads as one."""

    def check(self, name: str, value: Any) -> object:
        """Take a path as text, and anything else as it is: the engine says what it cannot read."""
        return named_place(value)


class Places(ParameterType):
    """Several of them."""

    typed = list[str]


class Selects(Places):
    """Texts of SELECTs."""

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Take one or several; refuse what is no text."""
        return tuple(Text().check(name, text) for text in one_or_several(value))


class PathName(ParameterType):
    """The path of a file or a folder."""

    typed = Path

    def check(self, name: str, value: Any) -> Path:
        """Refuse what is no path."""
        return _path(value)


class Files(ParameterType):
    """Paths of files to appear: one, several or none."""

    recorded = False
    typed: Any = list[Path]

    def check(self, name: str, value: Any) -> tuple[Path, ...]:
        """Take one path or several."""
        paths = value if isinstance(value, list | tuple) else () if value is None else (value,)
        return tuple(map(_path, paths))


class File(Files):
    """The path of a file to appear, or none."""

    typed = Path


def source_against(
    against: object, query: str | None, dialect: str, coarsen: Any, identifier: Any = (), vary: str | None = None
) -> object:
    """Return the source that a release is held against, with what is said of how it was made; None without one.

    coarsen: the ways in which columns got labels. identifier, vary: as a release of people who have several rows was
    made. Raises UsageError for two sources, and for what is about one without.
    """
    rules, names = COARSEN.check("coarsen", coarsen), check_names(identifier)
    source = choose_source(against, query, dialect, named=option("against"))
    for name, said in (("coarsen", rules), ("id", names), ("vary", vary)):
        if said and source is None:
            raise UsageError(f"{option(name)} is about the source; say which with {option('against', 'SOURCE')}")
    return None if source is None else with_rules(source, rules, names, vary)


def parameter_table(named: object) -> Beside:
    """Return a table whose rows are parameters rather than data: all of them are read, as they are written."""
    return Beside(named_place(named), fetched=True, as_text=True)


def named_place(table: object) -> object:
    """Return a path as the text by which engines find its file, anything else as it is."""
    return os.fspath(table) if isinstance(table, os.PathLike) else table


def check_names(names: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple of texts; raise UsageError for anything else."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise UsageError(f"columns are named by text, not by a {type(names).__name__}")
    return tuple(check_name(name) for name in names)


def check_name(name: Any) -> str:
    """Return a column's name; raise UsageError for what is no text."""
    if not isinstance(name, str):
        raise UsageError(f"columns are named by text, not by a {type(name).__name__}")
    return name


def _path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by a path, not by a {type(path).__name__}")
    return Path(path)


def _pairs(text: str) -> list[tuple[str, str, str]]:
    """Split COLUMN=VALUE at its last `=`, several at commas."""
    # a column's name may hold commas and equals signs: split only where that is unambiguous
    return [part.rpartition("=") for part in ([text] if text.count("=") == 1 else text.split(","))]


def _by_column(
    option: str, pairs: Iterable[tuple[str, str, str]], words: str, read: Callable[[str, str], Any]
) -> dict[str, Any]:
    """Return values by their columns, each named once in whatever case; raise UsageError, in words, for what is none.

    pairs: of each the column, `=`, and the text. read: returns the value of a column's text, nothing for what is none.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, value = pair[0].strip(), read(pair[0].strip(), pair[2]) if pair[1] else None
        if not name or value in (None, ""):
            raise UsageError(f"{option} {''.join(pair)!r} {words}")
        if name.lower() in map(str.lower, values):
            raise UsageError(f"{option} is given twice for {name!r}")
        values[name] = value
    return values
