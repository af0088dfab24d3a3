"""Kinds of values that pydantic's own types do not tell: how each is given, read and shown.

Columns and tables by name, sets of them, one value per column, shares, paths.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.models import shapes
from sqlanon.models.shapes import Shape
from sqlanon.plans.coarsening import LOOKED_UP, PATTERN, Coarsening
from sqlanon.plans.plan import Beside, read_order
from sqlanon.sql.source import choose_source, with_rules
from sqlanon.wording import option

LONGEST_SHOWN = 60  # characters of a value that a message holds
FilePath = str | os.PathLike[str]
Names = str | Iterable[str]
# of jobs and their JSON schemas
Text = Annotated[str, Field(min_length=1)]
Texts = Text | Annotated[list[Text], Field(min_length=1)]
LISTED: Any = list[str]


class Here:
    """What texts are about: those of Python and the command line stay as they are; those of a job lie beside it."""

    def expanded(self, text: str) -> str:
        """Return a text."""
        return text

    def file(self, text: str) -> str:
        """Return the path of a file."""
        return text

    def place(self, text: Any) -> Any:
        """Return a table's name or a file, or whatever else stands for a table."""
        return text

    def release(self, text: Any) -> Any:
        """Return a release, its path, or its schema's name."""
        return text


HERE = Here()


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of values, which stands in `Annotated` beside the type that Python's callers see.

    read: returns the value of what the command line, Python or a job gave, whose texts are about a `Here`; of anything
    else it raises ValueError with words that go on from the value, and the part that they are about, or UsageError.
    takes: what a job may say, as a type. made: what methods take for a value that was read. typed: the Python type that
    the command line reads. recorded: the shape of the value in a manifest; None where that does not say it, or its type
    tells. shown: the value as the manifest and `--help` say it. before: whether pydantic reads by its type what was
    read, for its limits.
    """

    read: Callable[[Any, Here], Any]
    takes: Any = Text
    made: Callable[[Any], Any] = lambda value: value
    typed: Any = str
    recorded: Shape = None
    shown: Callable[[Any], Any] = lambda value: value
    before: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let pydantic read values so, and say of them in JSON schemas what a job may say."""

        def read(value: Any, info: core_schema.ValidationInfo) -> Any:
            # pydantic tells which parameter it is; an error of Python's would hold what was given
            try:
                return self.made(self.read(value, info.context or HERE))
            except UsageError as error:
                said = {"kind": type(error), "said": error.args[0], "about": error.about}
            except ValueError as error:
                said = {"words": error.args[0], "of": error.args[1:]}
            raise PydanticCustomError("refused", "is refused", said)

        def read_job(
            value: Any, job: core_schema.ValidatorFunctionWrapHandler, info: core_schema.ValidationInfo
        ) -> Any:
            return read(value if info.context is None else job(value), info)

        takes = handler.generate_schema(self.takes)
        if self.before:
            return core_schema.with_info_before_validator_function(
                read, handler(source), json_schema_input_schema=takes
            )
        return core_schema.with_info_wrap_validator_function(read_job, takes)

    def of(self, value: Any, mark: str) -> Any:
        """Return a value that was not read by a model, as it is before it is made; raise UsageError for no such."""
        try:
            return self.read(value, HERE)
        except ValueError as error:
            raise refused(mark, *reversed((*error.args, value)[:2])) from None


def refused(mark: str, value: Any, words: str) -> UsageError:
    """Return the refusal of a value; of what may hold rows, or be long, the type alone is said."""
    is_plain = isinstance(value, str | int | float | NoneType) and len(repr(value)) <= LONGEST_SHOWN
    return UsageError(f"{mark} = {value!r} {words}" if is_plain else f"{mark} of type {type(value).__name__} {words}")


def one_or_several(value: Any) -> tuple[Any, ...]:
    """Return one thing, or several, as a tuple."""
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else (value,)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("is not a text", value)
    return value


def read_texts(value: Any, _: Here = HERE) -> tuple[str, ...]:
    """Return one text or several; raise ValueError for anything else."""
    texts = one_or_several(value)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("is not a text, nor several")
    return texts


def whole_number(value: Any) -> int:
    """Return a whole number; raise ValueError for anything else, True as well."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError("is not a whole number", value)
    return int(value)


def number(value: Any) -> float:
    """Return a number; raise ValueError for anything else, True and NaN as well."""
    if not isinstance(value, Integral | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124
        raise ValueError("is not a number", value)
    return value if isinstance(value, float) else int(value)


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of plain digits."""
    return text.strip().isascii() and text.strip().isdigit()


def _path(path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ValueError("is not a path; give a text or a Path")
    return str(os.fspath(path))


def _text_by_column(value: Any, _: Here) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise ValueError("is not a mapping of column names to texts")
    return dict(value)


def _share(value: Any, _: Here) -> float:
    """Read 0.01 or 1%: a text is a share from 0 to 1."""
    try:
        if not isinstance(value, str):
            return number(value)
        digits, percent, rest = value.strip().partition("%")
        # 1% and 0.01 are the same share
        share = float(digits) / (100 if percent else 1)
    except ValueError:
        share, rest = -1.0, ""
    if rest or not 0 <= share <= 1:
        raise ValueError("is no share; give a number from 0 to 1, or a percentage")
    return share


def _whole_numbers(value: Any, _: Here) -> tuple[int, ...]:
    """Read `3,5,10`, one number, or several."""
    parts = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value
    try:
        return tuple(int(str(part)) for part in parts)
    except (TypeError, ValueError):
        raise ValueError("is not a whole number, nor several, for example 3,5,10") from None


def _count_or_file(value: Any, _: Here) -> int | Path:
    """Take digits for a number, any other text for a path."""
    if isinstance(value, str | os.PathLike) and not re.fullmatch(r"-?\d+", str(value)):
        return Path(value)
    if isinstance(value, bool) or not isinstance(value, Integral | str):
        raise ValueError("is neither a whole number nor a path")
    return int(value)


def _block(value: Any, _: Here) -> int | None:
    """Read groups per block of mixed values, a whole number, or `all` for one block: None."""
    if value is None or str(value).lower() == "all":
        return None
    if isinstance(value, str) and not is_whole(value):
        raise ValueError("is not a whole number, nor all")
    if (groups := int(value) if isinstance(value, str) else whole_number(value)) < 1:
        raise ValueError("holds no group; give a whole number of at least 1, or all")
    return groups


def choice(words: tuple[str, ...]) -> Kind:
    """Return the kind of a few words."""

    def read(value: Any, _: Here) -> Any:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"is none of {', '.join(words)}")
        return value

    # the command line lists them, and refuses others itself
    literal: Any = Literal[words]
    return Kind(read, literal, typed=literal, recorded=shapes.word(*words))


def _place(table: Any, here: Here) -> Any:
    """Return a path as the text by which engines find its file, any other object as it is; refuse plain values."""
    if isinstance(table, _PLAIN):
        raise ValueError("is no table; give a table's name, a path, or an object that the engine reads", table)
    return here.place(os.fspath(table) if isinstance(table, os.PathLike) else table)


def _places(tables: Any, here: Here) -> tuple[Any, ...]:
    return tuple(_place(table, here) for table in _listed(tables))


def _listed(value: Any) -> tuple[Any, ...]:
    """Return one, several or none as a tuple; an object that could be asked for several is one."""
    return tuple(value) if isinstance(value, list | tuple) else () if value is None else (value,)


def parameter_table(named: object) -> Beside:
    """Return a table whose rows are parameters rather than data: all of them are read, as they are written."""
    return Beside(named, fetched=True, as_text=True)


def _whole_per_column(value: Any, _: Here) -> int | dict[str, int]:
    """Read 5, or COLUMN=5 split at the last `=`, commas and repetition between; or a mapping of names to numbers."""
    if isinstance(value, Mapping):
        return {_text(column): whole_number(each) for column, each in value.items()}
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return whole_number(value)
    if len(value) == 1 and is_whole(value[0]):
        return int(value[0])
    pairs = (pair for text in value for pair in _pairs(text))
    words = "is no COLUMN=NUMBER; say one whole number for all columns, or disease=3,zip=5"
    return _by_column(pairs, words, lambda _, text: int(text) if is_whole(text) else None)


def _table_by_column(value: Any, here: Here) -> dict[str, object]:
    """Read COLUMN=FILE, split at the first `=` behind which a file's name begins; or a mapping of names to tables."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        pairs = (text.partition("=") for text in value)
        return _by_column(pairs, "is not COLUMN=FILE", lambda _, path: path.strip())
    if not isinstance(value, Mapping | None):
        raise ValueError("is not a mapping of column names to tables")
    tables = {_text(column): _place(table, HERE) for column, table in (value or {}).items()}
    return {column: here.file(table) if isinstance(table, str) else table for column, table in tables.items()}


def _rule_by_column(value: Any, here: Here) -> dict[str, str]:
    """Read COLUMN=RULE, split at the last `=`; commas and repetition separate them, but not in COLUMN=map:TABLE.

    Python and jobs may give a mapping of column names to rules, texts or numbers.
    """
    if isinstance(value, Mapping | None):
        rules = {_text(column): Coarsening.read(column, str(rule)) for column, rule in (value or {}).items()}
        return {
            column: (replace(rule, table=str(here.place(rule.table))) if rule.table else rule).typed
            for column, rule in rules.items()
        }
    if not isinstance(value, Iterable):
        raise ValueError("is not a mapping of column names to rules, as in {'age': 10}")
    pairs: list[tuple[str, str, str]] = []
    for text in read_texts(value):
        named = next((beginning for beginning in LOOKED_UP.values() if f"={beginning}" in text), "")
        column, _, place = text.partition(f"={named}")
        pairs += [(column, "=", f"{named}{place}")] if named else _pairs(text)
    words = "is not COLUMN=RULE, as in age=10"
    return _by_column(pairs, words, lambda name, rule: rule.strip() and Coarsening.read(name, rule).typed)


def _pairs(text: str) -> list[tuple[str, str, str]]:
    """Split COLUMN=VALUE at its last `=`, several at commas."""
    # a column's name may hold commas and equals signs: split only where that is unambiguous
    return [part.rpartition("=") for part in ([text] if text.count("=") == 1 else text.split(","))]


def _by_column(pairs: Iterable[tuple[str, str, str]], words: str, read: Callable[[str, str], Any]) -> dict[str, Any]:
    """Return values by their columns, each named once in whatever case; raise ValueError, in words, for what is none.

    pairs: of each the column, `=`, and the text. read: returns the value of a column's text, nothing for what is none.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, value = pair[0].strip(), read(pair[0].strip(), pair[2]) if pair[1] else None
        if not name or value in (None, ""):
            raise ValueError(words, "".join(pair))
        if name.lower() in map(str.lower, values):
            raise ValueError("is a column that is named twice", name)
        values[name] = value
    return values


def _words(value: Any, _: Here) -> tuple[str, ...]:
    """Read words between commas, or several."""
    return tuple(word.strip() for text in read_texts(value) for word in text.split(","))


def _key(value: Any, _: Here) -> Key:
    """Read a key: 64 hex digits, or a Key."""
    return value if isinstance(value, Key) else Key.of(value)


def _row_of_person(value: Any, _: Here) -> str:
    """Read which row of a person has the quasi values: a word, a blank and a column."""
    read_order(_text(value))
    return str(value)


# what no engine reads as a table
_PLAIN = (int, float, bytes, list, tuple, set, Mapping, NoneType)
TEXTS = Kind(read_texts, takes=Texts, typed=LISTED)
TEXT_BY_COLUMN = Kind(_text_by_column, takes=dict[str, Text])
SHARE = Kind(
    _share,
    takes=Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
    | Annotated[str, Field(json_schema_extra={"pattern": r"^\d+(\.\d+)?\s*%$"})],
    before=True,
)
WHOLE_NUMBERS = Kind(_whole_numbers)
WORDS = Kind(_words, shown=",".join)
COUNT_OR_FILE = Kind(_count_or_file)
BLOCK = Kind(
    _block,
    takes=Literal["all"] | Annotated[int, Field(json_schema_extra={"minimum": 1})],
    recorded=shapes.either(shapes.word("all"), shapes.whole(1, 2**31 - 1)),
    shown=lambda value: "all" if value is None else value,
)
# a whole number for all columns, or one for each by its name: a manifest says it of all
WHOLE_PER_COLUMN = Kind(
    _whole_per_column,
    takes=int | dict[str, int],
    typed=LISTED,
    recorded=shapes.by_column("sensitive", shapes.whole()),
)
# the name of a column, which need not be a published one
COLUMN = Kind(lambda value, _: _text(value), recorded=Annotated[str, Field(max_length=128)] | None)
# on the command line commas separate names, and a text that is a column's name is that column
COLUMNS = TEXTS
# each text names one column or, between commas, several
COLUMN_SETS = Kind(
    lambda value, _: tuple(map(read_texts, one_or_several(value))), takes=Text | list[Texts], typed=LISTED
)
# a table, view, file or glob; in Python also an object that the engine reads as one: the engine refuses others
PLACE = Kind(_place)
PLACES = Kind(_places, typed=LISTED)
# tables that stand beside the source: any SOURCE
TABLES = replace(PLACES, made=lambda tables: tuple(map(Beside, tables)), takes=Text | list[Text])
# a table for some of the columns; its rows are parameters, read whole
TABLE_BY_COLUMN = Kind(
    _table_by_column,
    takes=dict[str, Text],
    made=lambda tables: {column: parameter_table(table) for column, table in tables.items()},
    typed=LISTED,
)
# how to coarsen some of the columns
COARSEN = Kind(
    _rule_by_column,
    takes=dict[str, Text | float],
    typed=LISTED,
    recorded=shapes.by_column("quasi", shapes.text(PATTERN)),
)
KEY_TEXT = Kind(_key)
ROW_OF_PERSON = Kind(_row_of_person)
PATH = Kind(lambda value, _: Path(_path(value)), typed=Path)
PATH_NAME = Kind(lambda value, _: _path(value))
PATH_TEXT = Kind(lambda value, here: here.file(_path(value)))
# the path of a release, or its schema's name
RELEASE_PLACE = Kind(lambda value, here: here.release(_path(value)))
SCHEMA_NAME = Kind(lambda value, here: here.expanded(_text(value)))
# paths of files to appear: one, several or none
FILES = Kind(
    lambda value, _: tuple(Path(_path(path)) for path in _listed(value)),
    typed=list[Path],
)
FILE = replace(FILES, typed=Path)


def source_against(
    against: object, query: str | None, dialect: str, coarsen: Any, identifier: Any = (), vary: str | None = None
) -> object:
    """Return the source that a release is held against, with what is said of how it was made; None without one.

    coarsen: the ways in which columns got labels. identifier, vary: as a release of people who have several rows was
    made. Raises UsageError for two sources, and for what is about one without.
    """
    rules, names = COARSEN.of(coarsen, option("coarsen")), COLUMNS.of(identifier, option("id"))
    source = choose_source(against, query, dialect, named=option("against"))
    for name, said in (("coarsen", rules), ("id", names), ("vary", vary)):
        if said and source is None:
            raise UsageError(f"{option(name)} is about the source; say which with {option('against', 'SOURCE')}")
    return None if source is None else with_rules(source, rules, names, vary)
