"""Read a YAML file whose values are as a JSON schema says; whatever is not is refused with its line."""

import re
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn

import yaml

from sqlanon.bounded_files import read_text
from sqlanon.errors import UsageError
from sqlanon.plain_values import refuse_broken_text
from sqlanon.plans.json_schema import Schema
from sqlanon.removed import removed
from sqlanon.wording import spoken

LONGEST = 2**20  # bytes of a file
MOST_NODES = 100_000  # of its values: anchors could stand for any number
_TAGS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", list: "array"}
_WORDS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
_QUOTES = "a colon ends a key, a text that begins with > or holds ': ' stands in quotes, lines are indented with blanks"
_Place = tuple[str | int, ...]  # keys and positions that lead to a value


class YamlFile:
    """The values of a YAML file, and where each stands."""

    def __init__(self, path: Path) -> None:
        """Read the file; raise UsageError where it is not YAML, or says a key twice."""
        self.path = path
        self.keys: dict[_Place, yaml.Node] = {}
        self.nodes: dict[_Place, yaml.Node] = {}
        text = ""
        try:
            text = read_text(path, LONGEST)
            root = yaml.compose(text, Loader=yaml.SafeLoader)
            if root is None:
                raise UsageError(f"{path} is empty; a job has the keys method, source, roles, parameters and output")
            self.value = self._plain(root, ())
        except RecursionError:
            raise UsageError(f"{path}: not YAML that a job needs: lists or mappings are nested too deep") from None
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"cannot read {str(path)!r}: {why}; sqlanon guide jobs shows a job") from None
        except yaml.MarkedYAMLError as error:
            line = min(error.problem_mark.line + 1, len(text.splitlines())) if error.problem_mark else 1
            raise UsageError(f"{path}, line {line}: not YAML: {error.problem}; {_QUOTES}") from None
        except yaml.YAMLError as error:
            raise UsageError(f"{path}: not YAML: {str(error).partition(chr(10))[0]}") from None

    def _plain(self, node: yaml.Node, place: _Place) -> Any:
        """Return a node's value; a scalar that is no plain value stays a node."""
        self.nodes[place] = node
        if len(self.nodes) > MOST_NODES:
            self.refuse(place, f"a job has at most {MOST_NODES:,} values")
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*place, number)) for number, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            values = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    self._refuse(key, f"a key of {_name(place)} is a word, not {_described(key)}")
                inside = (*place, key.value)
                if inside in self.keys:
                    self._refuse(key, f"the key {key.value!r} is given twice in {_name(place)}")
                self._read(key, refuse_broken_text, [key.value])
                self.keys[inside] = key
                values[key.value] = self._plain(value, inside)
            return values
        if node.tag.rpartition(":")[2] not in _TAGS:
            return node
        self._read(node, refuse_broken_text, [node.value])
        try:
            value = yaml.SafeLoader("").construct_object(node)
            # YAML 1.1 reads 010 as 8, 0x10 as 16, 1:30 as 90 and 4_0 as 40
            if isinstance(value, int | float) and re.match(r"[-+]?0[\dbx]|.*[:_]", node.value):
                self.refuse(place, f"{_name(place)} = {node.value} is read as {value}: write it in plain digits")
            return value
        except ValueError:  # Python reads whole numbers of some thousand digits, no longer ones
            self.refuse(place, f"{_name(place)} is a number that is too long")

    def line(self, place: _Place) -> int:
        """Return the line at which a value begins."""
        return int(self.nodes[place].start_mark.line) + 1

    def refuse(self, place: _Place, words: str) -> NoReturn:
        """Raise UsageError with the file and the value's line."""
        self._refuse(self.nodes[place], words)

    def _refuse(self, node: yaml.Node, words: str) -> NoReturn:
        raise UsageError(f"{self.path}, line {node.start_mark.line + 1}: {words}")

    def take(self, place: _Place, read: Callable[..., Any], *values: Any) -> Any:
        """Return what `read` makes of values; what it refuses is told with the line."""
        return self._read(self.nodes[place], read, *values)

    def _read(self, node: yaml.Node, read: Callable[..., Any], *values: Any) -> Any:
        try:
            return read(*values)
        except UsageError as error:  # keys are called as Python's arguments
            self._refuse(node, spoken(error.args[0], "python"))

    def check(self, schema: Schema, value: Any, place: _Place = ()) -> None:
        """Refuse the first value whose type is not as the schema says, or that is empty, and what keys are too many.

        What a pattern or limits describe, whatever reads the value refuses in words of its own.
        """
        if not schema:
            return
        choices = schema.get("anyOf", [schema])
        fitting = [each for each in choices if _fits(each, value)]
        if not fitting:
            self.refuse(place, _mistyped(_name(place), self.nodes[place], choices))
        chosen = fitting[0]
        if value in ("", []) and (chosen.get("minLength") or chosen.get("minItems")):
            self.refuse(place, f"{_name(place)} is empty")
        if isinstance(value, list):
            for number, item in enumerate(value):
                self.check(chosen.get("items", {}), item, (*place, number))
        if isinstance(value, dict):
            self._check_members(chosen, value, place)

    def _check_members(self, schema: Schema, value: dict[str, Any], place: _Place) -> None:
        members, other = schema.get("properties", {}), schema.get("additionalProperties", {})
        for key, member in value.items():
            inside = (*place, key)
            if key not in members and other is False:
                unknown = f"unknown key {key!r} in {_name(place)}; there are {', '.join(members)}"
                self._refuse(self.keys[inside], removed(key) or unknown)
            self.check(members.get(key, other), member, inside)
        if missing := [key for key in schema.get("required", ()) if key not in value]:
            self.refuse(place, f"{_name(place)} lacks {', '.join(missing)}")


def _fits(schema: Schema, value: Any) -> bool:
    """Tell whether a value is one of the words, or of the type, that a schema asks for."""
    if "enum" in schema:
        return value in schema["enum"]
    kind = _TYPES.get(type(value), "object" if isinstance(value, dict) else "")
    return schema.get("type", kind) in (kind, "number" if kind == "integer" else kind)


def _mistyped(name: str, node: yaml.Node, choices: list[Schema]) -> str:
    """Say what a value is in the place of what it may be: words, kinds of values, or either."""
    words = [word for each in choices for word in each.get("enum", ()) if word is not None]
    mapping = "a mapping of keys to values" if any("properties" in each for each in choices) else "a mapping"
    kinds = [{"array": "a list", "object": mapping, **_WORDS}[each["type"]] for each in choices if "type" in each]
    found = _described(node)
    if words and not kinds and found == "text":
        if gone := removed(name, node.value):
            return gone
        found = repr(node.value)
    expected = [f"one of {', '.join(words)}"] if len(words) > 1 else words
    # what is in quotes is text
    quotable = "text" in kinds and "a number" not in kinds and isinstance(node, yaml.ScalarNode) and node.value
    return f"{name} is {' or '.join([*expected, *kinds])}, not {found}" + ("; put it into quotes" if quotable else "")


def _name(place: _Place) -> str:
    """Return what a message calls a value: `roles`, `gamma of disease`, `each of quasi`."""
    if not place:
        return "the job"
    keys = [str(part) for part in place if isinstance(part, str)]
    return ("" if isinstance(place[-1], str) else "each of ") + " of ".join(keys[1:] or keys)


def _described(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    tag = node.tag.rpartition(":")[2]
    return _TAGS.get(tag, f"a {tag}")
