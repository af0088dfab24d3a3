"""Types of the parameters: how each is typed on the command line, given in Python, and written in a job file."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from sqlanon.errors import UsageError
from sqlanon.plans import json_schema
from sqlanon.plans.json_schema import Schema
from sqlanon.removed import removed
from sqlanon.wording import option


@dataclass(frozen=True)
class JobText:
    """Annotate a text of a job, which is not empty; read: what becomes of it, beside the job's folder.

    The folder gives `expanded(text)`, `file(text)`, `place(text)` (a table's name or a file), `release(text)`.
    """

    read: Callable[[Any, str], Any] = lambda _, text: text

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return how pydantic reads it; its validation context is the job's folder."""
        from pydantic_core import core_schema  # slow to import

        text = core_schema.str_schema(strict=True, min_length=1)
        return core_schema.with_info_after_validator_function(lambda value, info: self.read(info.context, value), text)


class NotEmpty:
    """Annotate a list of a job that has an item."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return how pydantic reads it."""
        return {**handler(source), "min_length": 1}


TEXT = Annotated[str, JobText()]
FILE = Annotated[str, JobText(lambda folder, text: folder.file(text))]
PLACE = Annotated[str, JobText(lambda folder, text: folder.place(text))]
TEXTS = TEXT | Annotated[list[TEXT], NotEmpty()]


class ParameterType:
    """How the values of a parameter are read. recorded: whether the manifest says the value as it is.

    typed: the Python type that the command line reads. job: that of what a job file says, in pydantic's terms.
    """

    recorded = True
    typed: Any = str
    job: Any = TEXT

    def read(self, option: str, given: Any) -> Any:
        """Return what the command line was given as Python is given it."""
        return given

    def check(self, name: str, value: Any) -> Any:
        """Return the value of what Python was given, or a job; raise UsageError where it is of another type."""
        return value

    def shown(self, value: Any) -> Any:
        """Return the value as the manifest and `--help` say it."""
        return value

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of the value as the manifest says it; limits: what its numbers lie between."""
        raise NotImplementedError


class Text(ParameterType):
    """A text."""

    def check(self, name: str, value: Any) -> str:
        """Refuse what is no text."""
        if not isinstance(value, str):
            raise UsageError(f"{name} = {value!r} is not a text")
        return value


class Whole(ParameterType):
    """A whole number."""

    typed = job = int

    def check(self, name: str, value: Any) -> int:
        """Refuse what is no whole number; True is none."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(f"{name} = {value!r} is not a whole number")
        return value

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of whole numbers."""
        return {"type": "integer", **limits}


class Number(ParameterType):
    """A number."""

    typed: Any = float
    job = int | float

    def check(self, name: str, value: Any) -> float:
        """Refuse what is no number; NaN is none."""
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124
            raise UsageError(f"{name} = {value!r} is not a number")
        return value

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
    def job(self) -> Any:
        """Return the words."""
        return Literal[self.words]

    typed = job  # the command line lists them, and refuses others itself

    def check(self, name: str, value: Any) -> Any:
        """Refuse any other word."""
        if value not in self.words:
            raise UsageError(removed(name, value) or f"{name} = {value!r} is none of {', '.join(self.words)}")
        return value

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of the words."""
        return json_schema.word(*self.words, *([None] if self.optional else []))


class Switch(ParameterType):
    """Yes or no."""

    typed = job = bool

    def check(self, name: str, value: Any) -> bool:
        """Take anything for yes or no, as Python does."""
        return bool(value)

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of true and false."""
        return {"type": "boolean"}


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
        return tuple(word.strip() for text in one_or_several(value) for word in text.split(","))

    def shown(self, value: Any) -> Any:
        """Return the words as they are typed."""
        return ",".join(value)


class CountOrFile(ParameterType):
    """A whole number, or the path of a file."""

    def check(self, name: str, value: Any) -> int | Path:
        """Take digits for a number, any other text for a path."""
        whole = isinstance(value, int) or (isinstance(value, str) and re.fullmatch(r"-?\d+", value))
        return int(value) if whole else Path(value)


TEXTUAL = Text()
_TYPES: dict[Any, ParameterType] = {str: TEXTUAL, int: Whole(), float: Number(), bool: Switch()}


def type_of(python_type: Any) -> ParameterType:
    """Return how values of a plain type are read: text, number, yes or no, a few words; any of these, or None."""
    if get_origin(python_type) is Literal:
        return Choice(get_args(python_type))
    others = [each for each in get_args(python_type) if each is not NoneType]
    if len(others) != 1:
        return _TYPES[python_type]
    found = type_of(others[0])
    return replace(found, optional=True) if isinstance(found, Choice) else found


def _parts(value: Any) -> Iterable[Any]:
    return value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value


class Block(ParameterType):
    """Groups per block of mixed values, a whole number, or `all` for one block: None."""

    job = Literal["all"] | int

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

    def shown(self, value: Any) -> Any:
        """Say `all` for one block."""
        return "all" if value is None else value

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of whole numbers and `all`."""
        return json_schema.either(json_schema.word("all"), {"type": "integer", **limits})


def one_or_several(value: Any) -> tuple[Any, ...]:
    """Return one text, or several, as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of plain digits."""
    return text.strip().isascii() and text.strip().isdigit()
