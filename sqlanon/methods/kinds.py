"""Kinds of parameters: how their values are read, whichever surface gave them, and what each surface calls them."""

import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sqlanon.errors import UsageError
from sqlanon.plans import json_schema
from sqlanon.plans.json_schema import Schema
from sqlanon.removed import removed
from sqlanon.wording import word_marks

LONGEST_SHOWN = 60  # characters of a value that a message holds
LISTED: Any = list[str]
TEXT_OF_JOB: Schema = {"type": "string", "minLength": 1}
TEXTS_OF_JOB = json_schema.either(TEXT_OF_JOB, json_schema.several(TEXT_OF_JOB, least=1))


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of values.

    read: returns the value of what the command line, Python or a job gave; raises UsageError for any other, which it
    names by the mark that it gets first. made: what methods take for a value that was read. typed: the Python type that
    the command line reads. schema: returns the JSON schema of the value as the manifest says it, from what its numbers
    lie between; None where the manifest does not say it. job: the schema of what a job says, where that is not the
    same. beside: of a value that was read from a job, what it is beside the job's folder, which gives `expanded(text)`,
    `file(text)`, `place(text)` (a table's name or a file), `release(text)`. shown: the value as the manifest and
    `--help` say it. words: all that it may be, where these are few.
    """

    read: Callable[[str, Any], Any]
    made: Callable[[Any], Any] = lambda value: value
    typed: Any = str
    schema: Callable[[Schema], Schema] | None = None
    job: Schema | None = None
    beside: Callable[[Any, Any], Any] = lambda _, value: value
    shown: Callable[[Any], Any] = lambda value: value
    words: tuple[str, ...] = ()


def refused(mark: str, value: Any, words: str) -> UsageError:
    """Return the refusal of a value; of what may hold rows, or be long, the type alone is said."""
    is_plain = isinstance(value, str | int | float | NoneType) and len(repr(value)) <= LONGEST_SHOWN
    return UsageError(f"{mark} = {value!r} {words}" if is_plain else f"{mark} of type {type(value).__name__} {words}")


def _text(mark: str, value: Any) -> str:
    if not isinstance(value, str):
        raise refused(mark, value, "is not a text")
    return value


def _text_by_column(mark: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise refused(mark, value, "is not a mapping of column names to texts")
    return dict(value)


def read_texts(mark: str, value: Any) -> tuple[str, ...]:
    """Return one text or several; raise UsageError for anything else."""
    texts = one_or_several(value)
    if not all(isinstance(text, str) for text in texts):
        raise refused(mark, value, "is not a text, nor several")
    return texts


def whole_number(mark: str, value: Any) -> int:
    """Return a whole number; raise UsageError for anything else, True as well."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise refused(mark, value, "is not a whole number")
    return int(value)


def number(mark: str, value: Any) -> float:
    """Return a number; raise UsageError for anything else, NaN as well."""
    if not isinstance(value, Integral | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124
        raise refused(mark, value, "is not a number")
    return value if isinstance(value, float) else int(value)


def _path(mark: str, path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise refused(mark, path, "is not a path; give a text or a Path")
    return str(os.fspath(path))


def _share(mark: str, value: Any) -> float:
    """Read 0.01 or 1%: a text is a share from 0 to 1."""
    if not isinstance(value, str):
        return number(mark, value)
    digits, percent, rest = value.strip().partition("%")
    try:
        # 1% and 0.01 are the same share
        share = float(digits) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 <= share <= 1:
        raise UsageError(f"{mark} {value!r} is no share; give a number from 0 to 1, or a percentage")
    return share


def _whole_numbers(mark: str, value: Any) -> tuple[int, ...]:
    """Read `3,5,10`, one number, or several."""
    parts = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value
    try:
        return tuple(int(str(part)) for part in parts)
    except (TypeError, ValueError):
        raise refused(mark, value, "is not a whole number, nor several, for example 3,5,10") from None


def _count_or_file(mark: str, value: Any) -> int | Path:
    """Take digits for a number, any other text for a path."""
    if isinstance(value, str | os.PathLike) and not re.fullmatch(r"-?\d+", str(value)):
        return Path(value)
    if isinstance(value, bool) or not isinstance(value, Integral | str):
        raise refused(mark, value, "is neither a whole number nor a path")
    return int(value)


def _block(mark: str, value: Any) -> int | None:
    """Read groups per block of mixed values, a whole number, or `all` for one block: None."""
    if value is None or str(value).lower() == "all":
        return None
    if isinstance(value, str) and not is_whole(value):
        raise refused(mark, value, "is not a whole number, nor all")
    return int(value) if isinstance(value, str) else whole_number(mark, value)


def choice(words: tuple[str, ...], or_none: bool = False) -> Kind:
    """Return the kind of a few words."""

    def read(mark: str, value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            gone = removed(word_marks(mark, "python"), str(value))
            raise UsageError(gone) if gone else refused(mark, value, f"is none of {', '.join(words)}")
        return value

    # the command line lists them, and refuses others itself
    literal: Any = Literal[words]
    allowed = json_schema.word(*words, *([None] if or_none else []))
    return Kind(read, typed=literal, schema=lambda _: allowed, words=words)


def one_or_several(value: Any) -> tuple[Any, ...]:
    """Return one thing, or several, as a tuple."""
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else (value,)


def _words(mark: str, value: Any) -> tuple[str, ...]:
    """Read words between commas, or several."""
    return tuple(word.strip() for text in read_texts(mark, value) for word in text.split(","))


def _switch(mark: str, value: Any) -> bool:
    """Read True or False; a text could mean either."""
    if not isinstance(value, int) or value not in (0, 1):
        raise refused(mark, value, "is neither True nor False")
    return bool(value)


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of plain digits."""
    return text.strip().isascii() and text.strip().isdigit()


TEXT = Kind(_text)
TEXT_BY_COLUMN = Kind(_text_by_column)
TEXTS = Kind(read_texts, typed=LISTED)
WHOLE = Kind(whole_number, typed=int, schema=lambda limits: {"type": "integer", **limits})
NUMBER = Kind(number, typed=float, schema=lambda limits: {"type": "number", **limits})
SHARE = replace(
    NUMBER,
    read=_share,
    typed=str,
    job=json_schema.either(json_schema.number(0, 1), json_schema.text(r"\d+(\.\d+)?\s*%")),
)
SWITCH = Kind(_switch, typed=bool, schema=lambda _: {"type": "boolean"})
WHOLE_NUMBERS = Kind(_whole_numbers)
WORDS = Kind(_words, shown=",".join)
COUNT_OR_FILE = Kind(_count_or_file)
BLOCK = Kind(
    _block,
    schema=lambda limits: json_schema.either(json_schema.word("all"), {"type": "integer", **limits}),
    shown=lambda value: "all" if value is None else value,
)
FilePath = str | os.PathLike[str]
PATH_NAME = Kind(_path)
_KINDS: dict[frozenset[Any], Kind] = {
    frozenset([str]): TEXT,
    frozenset([int]): WHOLE,
    frozenset([float]): NUMBER,
    frozenset([bool]): SWITCH,
    **dict.fromkeys((frozenset([str, Path]), frozenset(get_args(FilePath))), PATH_NAME),
}


def kind_of(python_type: Any, or_none: bool = False) -> Kind | None:
    """Return how values of a plain type are read: text, number, yes or no, path, a few words; any of these, or None.

    None for a type that says too little.
    """
    if get_origin(python_type) is Literal:
        return choice(get_args(python_type), or_none)
    is_union = get_origin(python_type) in (Union, UnionType)
    others = [each for each in get_args(python_type) if each is not NoneType] if is_union else [python_type]
    if is_union and len(others) == 1:
        return kind_of(others[0], or_none=True)
    return _KINDS.get(frozenset(others)) if all(isinstance(each, Hashable) for each in others) else None
