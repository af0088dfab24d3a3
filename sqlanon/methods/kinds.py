"""Kinds of values that parameters take, and how each is read: from the command line, from Python, from a job file."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from sqlanon.errors import UsageError
from sqlanon.plans.plan import Beside


class JobReader(Protocol):
    """What a job file offers to the kinds: its nodes as values, each complaint with its line."""

    def typed(self, node: Any, name: str, kinds: tuple[str, ...]) -> Any:
        """Return a scalar that YAML reads as one of `kinds`."""

    def choice(self, node: Any, name: str, choices: tuple[str, ...]) -> str:
        """Return one of `choices`."""

    def columns(self, node: Any, role: str) -> tuple[str, ...]:
        """Return one column or a list of them."""

    def several(self, node: Any) -> list[Any]:
        """Return the nodes of a list, or the one node."""

    def by_column(self, node: Any, name: str) -> dict[str, Any] | None:
        """Return the nodes of a mapping, None where the node is none."""

    def file(self, node: Any, name: str) -> str:
        """Return the path of a file, relative to the job's folder."""

    def text_or_file(self, node: Any, name: str, word: str) -> str:
        """Return `word` where it stands there, else the path of a file."""

    def place(self, node: Any, name: str) -> str:
        """Return the name of a table, or the path of a file."""

    def refuse(self, node: Any, words: str) -> Any:
        """Raise UsageError with the node's line."""


class Kind:
    """How the values of a parameter are read. recorded: whether the manifest says the value as it is."""

    recorded = True
    typed: Any = str

    def read(self, option: str, given: Any) -> Any:
        """Return the value of what the command line was given."""
        return given

    def check(self, name: str, value: Any) -> Any:
        """Return the value of what Python was given; raise UsageError where it is of another kind."""
        return value

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Return the value of a job's node."""
        raise NotImplementedError

    def shown(self, value: Any) -> Any:
        """Return the value as the manifest and `--help` say it."""
        return value


class Whole(Kind):
    """A whole number."""

    typed = int

    def check(self, name: str, value: Any) -> int:
        """Refuse what is no whole number; True is none."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(f"{name} = {value!r} is not a whole number")
        return value

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read a whole number."""
        return reader.typed(node, name, ("int",))


class Number(Kind):
    """A number."""

    typed: Any = float

    def check(self, name: str, value: Any) -> float:
        """Refuse what is no number; NaN is none."""
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124
            raise UsageError(f"{name} = {value!r} is not a number")
        return value

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read a number."""
        return reader.typed(node, name, ("float",))


class Share(Number):
    """A number from 0 to 1; the command line takes a percentage, too."""

    typed = str

    def read(self, option: str, given: Any) -> float:
        """Read 0.01 or 1%."""
        number, percent, rest = str(given).strip().partition("%")
        try:
            # 1% and 0.01 are the same share
            value = float(number) / (100 if percent else 1)
        except ValueError:
            value = -1.0
        if rest or not 0 <= value <= 1:
            raise UsageError(f"{option} {given!r} is no share; give a number from 0 to 1, or a percentage")
        return value


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words; optional: or none of them."""

    words: tuple[str, ...]
    optional: bool = False

    @property
    def typed(self) -> Any:
        """Return an enumeration of the words."""
        # an enumeration, so that the command line lists the words and refuses others itself
        kind = Enum("Choice", {word: word for word in self.words}, type=str)  # type: ignore[misc]
        return kind | None if self.optional else kind

    def read(self, option: str, given: Any) -> str | None:
        """Return the word that the command line chose."""
        return None if given is None else str(given.value)

    def check(self, name: str, value: Any) -> Any:
        """Refuse any other word."""
        if value not in self.words and not (self.optional and value is None):
            raise UsageError(f"{name} = {value!r} is none of {', '.join(self.words)}")
        return value

    def load(self, reader: JobReader, node: Any, name: str) -> str:
        """Read one of the words."""
        return reader.choice(node, name, self.words)


class Switch(Kind):
    """Yes or no."""

    typed = bool

    def check(self, name: str, value: Any) -> bool:
        """Take anything for yes or no, as Python does."""
        return bool(value)


class Block(Kind):
    """Groups per block of mixed values, a whole number, or `all` for one block: None."""

    def read(self, option: str, given: Any) -> int | None:
        """Read a whole number or `all`."""
        text = str(given)
        if text.lower() == "all":
            return None
        if not text.isascii() or not text.isdigit():
            raise UsageError(f"{option} {text!r} is not a whole number, nor all")
        return int(text)

    def check(self, name: str, value: Any) -> int | None:
        """Take None and `all` for one block."""
        return None if value is None or value == "all" else Whole().check(name, value)

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read a whole number or `all`."""
        return None if getattr(node, "value", None) == "all" else reader.typed(node, name, ("int",))

    def shown(self, value: Any) -> Any:
        """Say `all` for one block."""
        return "all" if value is None else value


class WholePerColumn(Kind):
    """A whole number for all columns, or one for each by its name."""

    typed = list[str]

    def read(self, option: str, given: Any) -> int | dict[str, int]:
        """Read 5, or COLUMN=5 split at the last `=`; commas and repetition separate them."""
        if len(given) == 1 and _is_whole(given[0]):
            return int(given[0])
        numbers: dict[str, int] = {}
        for text in given:
            # a column's name may hold commas and equals signs: split only where that is unambiguous
            for part in [text] if text.count("=") == 1 else text.split(","):
                name, found, number = part.rpartition("=")
                if not found or not name.strip() or not _is_whole(number):
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
        return {column: reader.typed(one, f"{name} of {column}", ("int",)) for column, one in nodes.items()}


@dataclass(frozen=True)
class Column(Kind):
    """The name of a column, or none."""

    typed = str | None

    def check(self, name: str, value: Any) -> str | None:
        """Refuse what is no text."""
        return None if value is None else check_name(value)

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read a text."""
        return reader.typed(node, name, ("str",))


class Columns(Kind):
    """Names of columns; on the command line commas separate them, and a text that is a column's name is that column."""

    recorded = False
    typed = list[str]

    def read(self, option: str, given: Any) -> tuple[str, ...]:
        """Take the texts as they are: they are split when the source's columns are known."""
        return tuple(given)

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Take one name or several."""
        return check_names(value)


class ColumnSets(Kind):
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
        return tuple(reader.columns(one, name) for one in reader.several(node))


class Tables(Kind):
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
        return tuple(Beside(reader.place(one, name)) for one in reader.several(node))


class TableByColumn(Kind):
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
            column: parameter_table(reader.file(one, f"{name} of {column}")) for column, one in (nodes or {}).items()
        }


class Files(Kind):
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


def _is_whole(text: str) -> bool:
    return text.strip().isascii() and text.strip().isdigit()


def _refuse_repeated(option: str, name: str, before: Mapping[str, object]) -> None:
    if name.lower() in (known.lower() for known in before):
        raise UsageError(f"{option} is given twice for {name!r}")
