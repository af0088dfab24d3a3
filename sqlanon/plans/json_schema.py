"""JSON schemas written as Python values, and the check of a value against its schema.

A subset of JSON Schema's keywords (2020-12), with two differences: a whole number is written without a fraction (1.0 is
not accepted), and a text or a key may have to be the name of a published column: `columnOf`, which other readers
ignore.
"""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

Schema = Mapping[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Path = tuple[str, ...]  # keys and positions that lead to a value
MOST = 2**62  # of rows, bytes and numbers of groups: sums of two stay within a bigint
LONGEST_TEXT = 4096  # letters of a name or a value


class UnknownMember(Path):
    """The path of a member that the schema's objects do not have, whatever its value is.

    A later version may have written it, for a format may grow; what may be of several types is not looked into.
    """


def whole(least: int = 0, most: int = MOST) -> dict[str, Any]:
    """Return the schema of whole numbers from `least` to `most`."""
    return {"type": "integer", "minimum": least, "maximum": most}


def number(least: float = 0, most: float = MOST) -> dict[str, Any]:
    """Return the schema of numbers from `least` to `most`."""
    return {"type": "number", "minimum": least, "maximum": most}


def text(pattern: str) -> dict[str, Any]:
    """Return the schema of texts that match a pattern from beginning to end."""
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def word(*words: object) -> dict[str, Any]:
    """Return the schema of a few values."""
    return {"enum": list(words)}


def column(role: str) -> dict[str, Any]:
    """Return the schema of the names of published columns of a role."""
    return {"type": "string", "columnOf": role}


def several(items: Schema, least: int = 0, most: int = MOST) -> dict[str, Any]:
    """Return the schema of lists."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def record(required: Schema, optional: Schema | None = None) -> dict[str, Any]:
    """Return the schema of objects that have these members, and perhaps those, and no other."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def by_column(role: str, member: Schema) -> dict[str, Any]:
    """Return the schema of objects whose keys are published columns of a role."""
    return {"type": "object", "propertyNames": column(role), "additionalProperties": member}


def keyed(member: Schema) -> dict[str, Any]:
    """Return the schema of objects of any keys, whose members are alike."""
    return {"type": "object", "additionalProperties": member}


def either(*schemas: Schema) -> dict[str, Any]:
    """Return the schema of what one of these describes."""
    return {"anyOf": list(schemas)}


def faults(schema: Schema, value: Any, names: Mapping[str, Collection[str]], path: Path = ()) -> Iterator[Path]:
    """Yield the path of each value that is not as the schema says, in the order of the document.

    names: the published columns by role.
    """
    if "anyOf" in schema:
        if not any(next(faults(choice, value, names), None) is None for choice in schema["anyOf"]):
            yield path
    elif not _is_plain(schema, value) or ("columnOf" in schema and value not in names.get(schema["columnOf"], ())):
        yield path
    elif isinstance(value, dict):
        yield from _member_faults(schema, value, names, path)
    elif isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from faults(schema["items"], item, names, (*path, str(place)))


def _member_faults(
    schema: Schema, value: Mapping[str, Any], names: Mapping[str, Collection[str]], path: Path
) -> Iterator[Path]:
    properties, other = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from ((*path, name, "is missing") for name in schema.get("required", ()) if name not in value)
    for name, member in value.items():
        member_schema = properties.get(name, other)
        if member_schema is False:
            yield UnknownMember((*path, name))
        elif next(faults(schema.get("propertyNames", {}), name, names), None) is not None:
            yield (*path, name)
        elif member_schema is not True:
            yield from faults(member_schema, member, names, (*path, name))


def _is_plain(schema: Schema, value: Any) -> bool:
    """Tell whether a value is of the type, one of the words, and within the limits that stand beside them."""
    types = schema.get("type", ())
    if types and not any(_TYPES[name](value) for name in ([types] if isinstance(types, str) else types)):
        return False
    # 1 equals 1.0 and True in Python
    if "enum" in schema and not any(type(choice) is type(value) and choice == value for choice in schema["enum"]):
        return False
    if isinstance(value, str):
        fits = "pattern" not in schema or _pattern(schema["pattern"]).fullmatch(value)
        return bool(fits) and len(value) <= schema.get("maxLength", LONGEST_TEXT)
    if isinstance(value, list):
        return bool(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", MOST))
    return isinstance(value, bool) or not isinstance(value, int | float) or in_range(schema, value)


def in_range(schema: Schema, value: float) -> bool:
    """Tell whether a number lies within the limits of a schema; one that is not a number lies in none."""
    return bool(
        schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
        and not value <= schema.get("exclusiveMinimum", math.nan)
        and not value >= schema.get("exclusiveMaximum", math.nan)
    )


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    # `$` would let a line's end follow, and \d any script's digits
    return re.compile(pattern.removeprefix("^").removesuffix("$"), re.ASCII)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def shown_path(path: Sequence[str]) -> str:
    """Return a path in words; keys may be a stranger's, and begin no line of their own."""
    words = " ".join(part if len(part) <= 40 else f"{part[:40]}…" for part in path)
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
