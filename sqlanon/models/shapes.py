"""Shapes of what we write as JSON and a stranger may have changed, as types that pydantic checks and describes.

Numbers have limits, texts a pattern, or a length where they are compared with what the tables say, and some have to be
names of published columns, by their role: `columnOf` in JSON schemas, which other readers ignore. A whole number is
written without a fraction.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Union

import pydantic
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Shape = Any  # a type, as pydantic reads it
Shapes = Mapping[str, Shape]
Path = tuple[str, ...]  # keys and positions that lead to a value
MOST = 2**62  # of rows, bytes and numbers of groups: sums of two stay within a bigint
LONGEST_TEXT = 4096  # letters of a name or a value


class UnknownMember(Path):
    """The path of a member that the shape's objects do not have, whatever its value is.

    A later version may have written it, for a format may grow; what may be of several shapes is not looked into.
    """


class Record(BaseModel):
    """An object that has some members, and no other."""

    model_config = ConfigDict(
        strict=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False, defer_build=True
    )


def _where(holds: Callable[[Any, Any], object]) -> Callable[[Any, ValidationInfo], Any]:
    """Return what refuses a value for which something does not hold; this gets the published columns by role, too."""

    def check(value: Any, info: ValidationInfo) -> Any:
        if not holds(value, info.context or {}):
            raise ValueError("is another")
        return value

    return check


NAME = Annotated[str, Field(max_length=LONGEST_TEXT)]  # of a column: tables are compared with it


def whole(least: int = 0, most: int = MOST) -> Shape:
    """Return the shape of whole numbers from `least` to `most`."""
    return Annotated[int, Field(ge=least, le=most)]


def number(least: float = 0, most: float = MOST) -> Shape:
    """Return the shape of numbers from `least` to `most`."""
    return Annotated[float, Field(ge=least, le=most)]


def text(pattern: str) -> Shape:
    """Return the shape of texts that match a pattern from beginning to end."""
    # `$` would let a line's end follow, and \\d any script's digits
    match = re.compile(pattern, re.ASCII).fullmatch
    described = WithJsonSchema({"type": "string", "pattern": f"^(?:{pattern})$", "maxLength": LONGEST_TEXT})
    return Annotated[NAME, AfterValidator(_where(lambda value, _: match(value))), described]


def word(*words: object) -> Shape:
    """Return the shape of a few values; 1 equals 1.0 and True in Python, and not here."""
    same = _where(lambda value, _: any(type(each) is type(value) and each == value for each in words))
    return Annotated[Any, PlainValidator(same), WithJsonSchema({"enum": list(words)})]


def column(role: str) -> Shape:
    """Return the shape of the names of published columns of a role."""
    named = AfterValidator(_where(lambda value, columns: value in columns.get(role, ())))
    return Annotated[NAME, named, WithJsonSchema({"type": "string", "columnOf": role})]


def several(items: Shape, least: int = 0, most: int | None = None) -> Shape:
    """Return the shape of lists."""
    return Annotated[list[items], Field(min_length=least, max_length=most)]


def record(required: Shapes, optional: Shapes | None = None) -> type[Record]:
    """Return the shape of objects that have these members, and perhaps those, and no other."""
    fields: Any = {name: (shape, ...) for name, shape in required.items()}
    fields |= {name: (shape, Field(default_factory=str)) for name, shape in (optional or {}).items()}
    return pydantic.create_model("object", __base__=Record, **fields)


def by_column(role: str, member: Shape) -> Shape:
    """Return the shape of objects whose keys are published columns of a role."""
    return dict[column(role), member]  # type: ignore[misc]


def keyed(member: Shape) -> Shape:
    """Return the shape of objects of any keys, whose members are alike."""
    return dict[str, member]


def either(*shapes: Shape) -> Shape:
    """Return the shape of what one of these describes."""

    def read(value: Any, read_one: ValidatorFunctionWrapHandler) -> Any:
        try:
            return read_one(value)
        except ValidationError:
            raise ValueError("is neither") from None  # the value is wrong, and no part of it

    return Annotated[Union[shapes], WrapValidator(read)]  # noqa: UP007 - there may be any number


def described(title: str, shape: Shape) -> dict[str, Any]:
    """Return the JSON schema of a shape."""
    return {"$schema": DRAFT, "title": title, **pydantic.TypeAdapter(shape).json_schema()}


def faults(shape: type[BaseModel], value: Any, names: Mapping[str, Collection[str]]) -> Iterator[Path]:
    """Yield the path of each value that is not as the shape says, in the order of the shape.

    names: the published columns by role.
    """
    try:
        shape.model_validate(value, context=names)
    except ValidationError as error:
        found: dict[Path, Path] = {}  # a key that is no name, and what it leads to, are one fault
        for each in error.errors(include_url=False, include_input=False):
            path = tuple(str(part) for part in each["loc"] if part != "[key]")
            missing = ("is missing",) if each["type"] == "missing" else ()
            found.setdefault(path, UnknownMember(path) if each["type"] == "extra_forbidden" else (*path, *missing))
        yield from found.values()


def shown_path(path: Sequence[str]) -> str:
    """Return a path in words; keys may be a stranger's, and begin no line of their own."""
    words = " ".join(part if len(part) <= 40 else f"{part[:40]}…" for part in path)
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
