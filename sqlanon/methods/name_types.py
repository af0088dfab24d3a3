"""Types of parameters that name things: columns, tables, files; how each is given, read and shown."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.methods.parameter_types import JobReader, ParameterType, Text, Whole, is_whole
from sqlanon.plans import json_schema
from sqlanon.plans.coarsening import PATTERN, TABLE, Coarsening
from sqlanon.plans.json_schema import Schema
from sqlanon.plans.plan import Beside


class WholePerColumn(ParameterType):
    """A whole number for all columns, or one for each by its name."""

    typed = list[str]

    def read(self, option: str, given: Any) -> int | dict[str, int]:
        """Read 5, or COLUMN=5 split at the last `=`; commas and repetition separate them."""
        if len(given) == 1 and is_whole(given[0]):
            return int(given[0])
        numbers: dict[str, int] = {}
        for text in given:
            # a column's name may hold commas and equals signs: split only where that is unambiguous
            for part in [text] if text.count("=") == 1 else text.split(","):
                name, equals, number = part.rpartition("=")
                if not equals or not name.strip() or not is_whole(number):
                    raise UsageError(f"{option} {part!r} is neither a whole number nor COLUMN=NUMBER")
                _refuse_repeated(option, name.strip(), numbers)
                numbers[name.strip()] = int(number)
        return numbers

    def check(self, name: str, value: Any) -> int | dict[str, int]:
        """Take a whole number or a mapping of column names to whole numbers."""
        if isinstance(value, Mapping):
            return {check_name(column): Whole().check(name, number) for column, number in value.items()}
        return Whole().check(name, value)

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read a whole number or a mapping."""
        nodes = reader.by_column(node, name)
        if nodes is None:
            return reader.typed(node, name, ("int",))
        return {column: reader.typed(item, f"{name} of {column}", ("int",)) for column, item in nodes.items()}

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of a number for each sensitive column: a manifest says it of all."""
        return json_schema.by_column("sensitive", {"type": "integer", **limits})

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of a number, or of one for each column."""
        number = {"type": "integer", **limits}
        return json_schema.either(number, json_schema.keyed(number))


@dataclass(frozen=True)
class Column(ParameterType):
    """The name of a column, or none."""

    typed = str | None

    def check(self, name: str, value: Any) -> str | None:
        """Refuse what is no text."""
        return None if value is None else check_name(value)

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read a text."""
        return reader.typed(node, name, ("str",))

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of a name, which need not be a published column's."""
        return {"type": ["string", "null"]}

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of a name."""
        return {"type": "string"}


class Columns(ParameterType):
    """Names of columns; on the command line commas separate them, and a text that is a column's name is that column."""

    recorded = False
    typed = list[str]

    def read(self, option: str, given: Any) -> tuple[str, ...]:
        """Take the texts as they are: they are split when the source's columns are known."""
        return tuple(given)

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Take one name or several."""
        return check_names(value)

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of one name, or of several."""
        return json_schema.either(json_schema.any_text(), json_schema.several(json_schema.any_text(), 1))


class ColumnSets(ParameterType):
    """Sets of columns: each text names one or, between commas, several."""

    recorded = False
    typed = list[str]

    def read(self, option: str, given: Any) -> tuple[tuple[str, ...], ...]:
        """Take each text for a set."""
        return tuple((columns,) for columns in given)

    def check(self, name: str, value: Any) -> tuple[tuple[str, ...], ...]:
        """Take one set, or several."""
        return tuple(check_names(columns) for columns in ((value,) if isinstance(value, str) else tuple(value)))

    def load(self, reader: JobReader, node: Any, name: str) -> tuple[tuple[str, ...], ...]:
        """Read one set, or a list of them."""
        return tuple(reader.columns(item, name) for item in reader.several(node))

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of one name, or of a list of names and lists."""
        return json_schema.either(json_schema.any_text(), json_schema.several(Columns().job_schema(limits)))


class Tables(ParameterType):
    """Tables that stand beside the source: any SOURCE."""

    recorded = False
    typed = list[str]

    def read(self, option: str, given: Any) -> tuple[Beside, ...]:
        """Take each text for a table."""
        return tuple(map(Beside, given))

    def check(self, name: str, value: Any) -> tuple[Beside, ...]:
        """Take one table or several."""
        return tuple(Beside(named_place(table)) for table in (value if isinstance(value, list | tuple) else (value,)))

    def load(self, reader: JobReader, node: Any, name: str) -> tuple[Beside, ...]:
        """Read one table or a list of them: a name, or a file beside the job."""
        return tuple(Beside(reader.place(item, name)) for item in reader.several(node))

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of one table, or of several."""
        return json_schema.either(json_schema.any_text(), json_schema.several(json_schema.any_text()))


class TableByColumn(ParameterType):
    """A table for some of the columns, by the column's name; its rows are parameters, read whole."""

    recorded = False
    typed = list[str]

    def read(self, option: str, given: Any) -> dict[str, Beside]:
        """Read COLUMN=FILE, split at the first `=` behind which a file's name begins."""
        tables: dict[str, Beside] = {}
        for text in given:
            name, equals, path = text.partition("=")
            if not equals or not name.strip() or not path.strip():
                raise UsageError(f"{option} {text!r} is not COLUMN=FILE")
            _refuse_repeated(option, name.strip(), tables)
            tables[name.strip()] = parameter_table(path.strip())
        return tables

    def check(self, name: str, value: Any) -> dict[str, Beside]:
        """Take a mapping of column names to tables, or none."""
        if not isinstance(value, Mapping | None):
            raise UsageError(f"{name} is a mapping of column names to tables")
        return {check_name(column): parameter_table(table) for column, table in (value or {}).items()}

    def load(self, reader: JobReader, node: Any, name: str) -> dict[str, Beside]:
        """Read a mapping of columns to files."""
        nodes = reader.by_column(node, name)
        if nodes is None:
            reader.refuse(node, f"{name} is a mapping of columns")
        return {
            column: parameter_table(reader.file(item, f"{name} of {column}")) for column, item in (nodes or {}).items()
        }

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of a file for some of the columns."""
        return json_schema.keyed(json_schema.any_text())


class RuleByColumn(ParameterType):
    """How to coarsen some of the columns, by the column's name."""

    typed = list[str]

    def read(self, option: str, given: Any) -> dict[str, str]:
        """Read COLUMN=RULE, split at the last `=`; commas and repetition separate them, but not in COLUMN=map:TABLE."""
        rules: dict[str, str] = {}
        for text in given:
            # a column's name may hold commas and equals signs: split only where that is unambiguous
            named = f"={TABLE}" in text
            for part in [text] if text.count("=") == 1 or named else text.split(","):
                name, equals, rule = part.partition(f"={TABLE}") if named else part.rpartition("=")
                rule = f"{TABLE}{rule}" if named else rule
                if not equals or not name.strip() or not rule.strip():
                    raise UsageError(f"{option} {part!r} is not COLUMN=RULE, as in age=10")
                _refuse_repeated(option, name.strip(), rules)
                rules[name.strip()] = Coarsening.read(name.strip(), rule).typed
        return rules

    def check(self, name: str, value: Any) -> dict[str, str]:
        """Take a mapping of column names to rules, texts or numbers; or texts COLUMN=RULE; or none."""
        if isinstance(value, str):
            return self.read(name, [value])
        if isinstance(value, Iterable) and not isinstance(value, Mapping):
            return self.read(name, check_names(value))
        if not isinstance(value, Mapping | None):
            raise UsageError(f"{name} is a mapping of column names to rules, as in {{'age': 10}}")
        return {check_name(column): Coarsening.read(column, str(rule)).typed for column, rule in (value or {}).items()}

    def load(self, reader: JobReader, node: Any, name: str) -> dict[str, str]:
        """Read a mapping of columns to rules."""
        nodes = reader.by_column(node, name)
        if nodes is None:
            reader.refuse(node, f"{name} is a mapping of columns")
        rules = self.check(name, {
            column: str(reader.typed(item, f"{name} of {column}", ("str", "int", "float")))
            for column, item in (nodes or {}).items()
        })  # fmt: skip
        # a file of labels lies beside the job
        return rules | {
            column: f"{TABLE}{reader.place(item, f'{name} of {column}', TABLE)}"
            for column, item in (nodes or {}).items()
            if rules[column].startswith(TABLE)
        }

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of a rule for some quasi columns."""
        return json_schema.by_column("quasi", json_schema.text(PATTERN))

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of a rule, a text or a number, for some columns."""
        return json_schema.keyed({"type": ["string", "number"]})


COARSEN = RuleByColumn()


class Place(ParameterType):
    """A table, view, file or glob; in Python also an object that the engine reads as one."""

    def check(self, name: str, value: Any) -> object:
        """Take a path as text, and anything else as it is: the engine says what it cannot read."""
        return named_place(value)


class Places(ParameterType):
    """Several of them."""

    typed = list[str]

    def read(self, option: str, given: Any) -> tuple[str, ...]:
        """Take each text."""
        return tuple(given)


class Selects(Places):
    """Texts of SELECTs."""

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Take one or several; refuse what is no text."""
        return tuple(Text().check(name, text) for text in ((value,) if isinstance(value, str) else value))


class PathName(ParameterType):
    """The path of a file or a folder."""

    typed = Path

    def check(self, name: str, value: Any) -> Path:
        """Refuse what is no path."""
        return _path(value)


class Files(ParameterType):
    """Paths of files to appear: one, several or none."""

    recorded = False
    typed = list[Path]

    def read(self, option: str, given: Any) -> tuple[Path, ...]:
        """Take the paths."""
        return tuple(given)

    def check(self, name: str, value: Any) -> tuple[Path, ...]:
        """Take one path or several."""
        paths = value if isinstance(value, list | tuple) else () if value is None else (value,)
        return tuple(map(_path, paths))


class File(Files):
    """The path of a file to appear, or none."""

    typed = Path | None

    def read(self, option: str, given: Any) -> tuple[Path, ...]:
        """Take the path."""
        return () if given is None else (given,)


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


def _refuse_repeated(option: str, name: str, before: Mapping[str, object]) -> None:
    """Refuse a name that was given before, in whatever case."""
    if name.lower() in (previous_name.lower() for previous_name in before):
        raise UsageError(f"{option} is given twice for {name!r}")
