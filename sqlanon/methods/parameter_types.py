"""Types of the parameters, and how each is read: from the command line, from Python, from a job file."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from sqlanon.errors import UsageError
from sqlanon.plans import json_schema
from sqlanon.plans.json_schema import Schema
from sqlanon.removed import removed
from sqlanon.wording import option


class JobReader(Protocol):
    """What a job file offers to types of parameters: its nodes as values, each complaint with its line."""

    def typed(self, node: Any, name: str, tags: tuple[str, ...]) -> Any:
        """Return a scalar that YAML reads as one of `tags` (str, int, float, bool)."""

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

    def place(self, node: Any, name: str, before: str = "") -> str:
        """Return the name of a table, or the path of a file; before: what may stand before it."""

    def release(self, node: Any, name: str) -> str:
        """Return the path of a release, or its schema's name."""

    def refuse(self, node: Any, words: str) -> Any:
        """Raise UsageError with the node's line."""


class ParameterType:
    """How the values of a parameter are read. recorded: whether the manifest says the value as it is."""

    recorded = True
    typed: Any = str

    def read(self, option: str, given: Any) -> Any:
        """Return the value of what the command line was given."""
        return given

    def check(self, name: str, value: Any) -> Any:
        """Return the value of what Python was given; raise UsageError where it is of another type."""
        return value

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Return the value of a job's node."""
        raise NotImplementedError

    def shown(self, value: Any) -> Any:
        """Return the value as the manifest and `--help` say it."""
        return value

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of the value as the manifest says it; limits: what its numbers lie between."""
        raise NotImplementedError

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of the value as a job file says it: what `load` takes."""
        return self.schema(limits)


class Text(ParameterType):
    """A text."""

    def check(self, name: str, value: Any) -> str:
        """Refuse what is no text."""
        if not isinstance(value, str):
            raise UsageError(f"{name} = {value!r} is not a text")
        return value


class Whole(ParameterType):
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

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of whole numbers."""
        return {"type": "integer", **limits}


class Number(ParameterType):
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

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of numbers."""
        return {"type": "number", **limits}


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
class Choice(ParameterType):
    """One of a few words; optional: or none of them."""

    words: tuple[str, ...]
    optional: bool = False

    @property
    def typed(self) -> Any:
        """Return an enumeration of the words."""
        # an enumeration, so that the command line lists the words and refuses others itself
        choice = Enum("Choice", {word: word for word in self.words}, type=str)  # type: ignore[misc]
        return choice | None if self.optional else choice

    def read(self, option: str, given: Any) -> str | None:
        """Return the word that the command line chose."""
        return None if given is None else str(given.value)

    def check(self, name: str, value: Any) -> Any:
        """Refuse any other word."""
        if value not in self.words and not (self.optional and value is None):
            raise UsageError(removed(name, value) or f"{name} = {value!r} is none of {', '.join(self.words)}")
        return value

    def load(self, reader: JobReader, node: Any, name: str) -> str:
        """Read one of the words."""
        return reader.choice(node, name, self.words)

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of the words."""
        return json_schema.word(*self.words, *([None] if self.optional else []))

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of the words: a job that wants none leaves the key out."""
        return json_schema.word(*self.words)


class Switch(ParameterType):
    """Yes or no."""

    typed = bool

    def check(self, name: str, value: Any) -> bool:
        """Take anything for yes or no, as Python does."""
        return bool(value)


class Numbers(ParameterType):
    """`0.1,0.01`, one number, or several."""

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Refuse anything else; return them sorted, each once."""
        try:
            values = tuple(sorted({float(part) for part in _parts(value)}))
        except (TypeError, ValueError):
            raise UsageError(f"{option(name)} takes numbers, for example 0.1,0.01; not {value!r}") from None
        if not values:
            raise UsageError(f"{option(name)} takes numbers, for example 0.1,0.01; none is given")
        return values

    def shown(self, value: Any) -> Any:
        """Return the numbers as they are typed."""
        return ",".join(f"{number:.3f}".rstrip("0") for number in _parts(value))


class WholeNumbers(ParameterType):
    """`3,5,10`, one number, or several."""

    def check(self, name: str, value: Any) -> tuple[int, ...]:
        """Refuse anything else."""
        try:
            return tuple(int(str(part)) for part in _parts(value))
        except (TypeError, ValueError):
            raise UsageError(f"{option(name)} takes whole numbers, for example 3,5,10; not {value!r}") from None


class Words(ParameterType):
    """Words between commas, or several."""

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Split them."""
        return tuple(
            word.strip() for text in ([value] if isinstance(value, str) else value) for word in text.split(",")
        )

    def shown(self, value: Any) -> Any:
        """Return the words as they are typed."""
        return ",".join(value)


class CountOrFile(ParameterType):
    """A whole number, or the path of a file."""

    def check(self, name: str, value: Any) -> int | Path:
        """Take digits for a number, any other text for a path."""
        whole = isinstance(value, int) or (isinstance(value, str) and re.fullmatch(r"-?\d+", value))
        return int(value) if whole else Path(value)


def _parts(value: Any) -> Iterable[Any]:
    return value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value


class Block(ParameterType):
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

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of whole numbers and `all`."""
        return json_schema.either(json_schema.word("all"), {"type": "integer", **limits})


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of plain digits."""
    return text.strip().isascii() and text.strip().isdigit()
