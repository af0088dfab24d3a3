"""Read a job's YAML, whose values a model reads; whatever this refuses is told with its line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sqlanon.bounded_files import read_text
from sqlanon.errors import UsageError
from sqlanon.models.fields import Asked, Parameter
from sqlanon.models.values import Here
from sqlanon.plain_values import refuse_broken_text
from sqlanon.removed import removed
from sqlanon.wording import spoken

LONGEST = 2**20  # bytes of a file
MOST_NODES = 100_000  # of its values: anchors could stand for any number
_TAGS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}
_TYPES = {  # what a value should be, by pydantic's names of errors
    "string_type": "text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false",
    "list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping of keys to values",
}  # fmt: skip
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
                    raise self._refusal(key, f"a key of {_name(place)} is a word, not {_described(key)}")
                inside = (*place, key.value)
                if inside in self.keys:
                    raise self._refusal(key, f"the key {key.value!r} is given twice in {_name(place)}")
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
        raise self._refusal(self.nodes[place], words)

    def _refusal(self, node: yaml.Node, words: str) -> UsageError:
        return UsageError(f"{self.path}, line {node.start_mark.line + 1}: {words}")

    def take(self, place: _Place, read: Callable[..., Any], *values: Any) -> Any:
        """Return what `read` makes of values; what it refuses is told with the line."""
        return self._read(self.nodes[place], read, *values)

    def _read(self, node: yaml.Node, read: Callable[..., Any], *values: Any) -> Any:
        try:
            return read(*values)
        except UsageError as error:  # keys are called as Python's arguments
            raise self._refusal(node, spoken(error.args[0], "python")) from None

    def read(self, model: type[Asked], here: Here) -> Asked:
        """Return what the file says as its model reads it; raise UsageError, with the line, for the first fault."""
        try:
            return model.model_validate(self.value, context=here)
        except ValidationError as error:
            faults = error.errors(include_url=False)
        # a key that is unknown may be one that is missing
        told = [fault for fault in faults if fault["type"] != "missing"] or faults
        placed = [(self._place(fault["loc"]), fault) for fault in told]
        first = min((place[:2] for place, _ in placed), key=self._line_of)
        # of what may be of several types, the one that fits furthest is meant
        place = max((place for place, _ in placed if place[:2] == first), key=len)
        raise self._told(model, place, [fault for each, fault in placed if each == place])

    def _place(self, location: tuple[str | int, ...]) -> _Place:
        """Return the keys and positions of a location, without pydantic's words for what a value may be."""
        place: _Place = ()
        for part in location:
            place = (*place, part) if (*place, part) in self.nodes else place
        return place

    def _line_of(self, place: _Place) -> int:
        return int((self.keys.get(place) or self.nodes[place]).start_mark.line)

    def _told(self, model: Any, place: _Place, faults: list[ErrorDetails]) -> UsageError:
        """Return the refusal of the value at a place, in which the model found some faults."""
        found, node = {fault["type"] for fault in faults}, self.nodes[place]
        names = [str(part) for fault in faults for part in fault["loc"][-1:]]
        if "extra_forbidden" in found:
            section = model if len(place) == 1 else model.model_fields[place[0]].annotation
            words = f"unknown key {names[0]!r} in {_name(place[:-1])}; there are {', '.join(section.model_fields)}"
            words, node = removed(names[0]) or words, self.keys[place]
        elif "missing" in found:
            words = f"{_name(place)} lacks {', '.join(names)}"
        elif found & {"string_too_short", "too_short"}:
            words = f"{_name(place)} is empty"
        elif found <= {*_TYPES, "literal_error"}:
            words = _mistyped(_name(place), node, faults)
        else:
            for part in place[:2]:
                field = model.model_fields[part]
                model = field.annotation
            words = spoken(Parameter.of(str(place[:2][-1]), field).refusal(faults[0]).args[0], "python")
        return self._refusal(node, words)


def _mistyped(name: str, node: yaml.Node, faults: list[ErrorDetails]) -> str:
    """Say what a value is in the place of what it may be: words, kinds of values, or either."""
    words = [word for fault in faults for word in re.findall("'([^']*)'", fault.get("ctx", {}).get("expected", ""))]
    kinds = [*dict.fromkeys(_TYPES[fault["type"]] for fault in faults if fault["type"] in _TYPES)]
    kinds = [kind for kind in kinds if kind != "a whole number" or "a number" not in kinds]
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
