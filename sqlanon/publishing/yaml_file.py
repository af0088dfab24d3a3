"""Read a YAML file key by key; whatever cannot be read is refused with its line."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import yaml

from sqlanon.bounded_files import read_text
from sqlanon.errors import UsageError
from sqlanon.plain_values import refuse_broken_text
from sqlanon.removed import removed
from sqlanon.wording import spoken

LONGEST = 2**20  # bytes of a file
MOST_NODES = 100_000  # of its values: anchors could stand for any number
_TAGS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}
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
        """Return a node's value."""
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
            self.refuse(place, f"{_name(place)} is {_described(node)}, which no job takes; put it into quotes")
        self._read(node, refuse_broken_text, [node.value])
        try:
            return yaml.SafeLoader("").construct_object(node)
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

    def members(self, place: _Place, needed: Iterable[str] = (), others: Iterable[str] | None = ()) -> dict[str, Any]:
        """Return the mapping at a place; refuse what is none, lacks a key, or has others than these (None: any)."""
        value, known = self._at(place), None if others is None else (*needed, *others)
        if not isinstance(value, dict):
            self.refuse(place, f"{_name(place)} is a mapping of keys to values, not {_described(self.nodes[place])}")
        for key in value:
            if known is not None and key not in known:
                unknown = f"unknown key {key!r} in {_name(place)}; there are {', '.join(known)}"
                self._refuse(self.keys[(*place, key)], removed(key) or unknown)
        if missing := [key for key in needed if key not in value]:
            self.refuse(place, f"{_name(place)} lacks {', '.join(missing)}")
        return value

    def take(self, place: _Place, read: Callable[[Any], Any]) -> Any:
        """Return what `read` makes of the value at a place; what it refuses, and nothing, is told with the line."""
        value, node = self._at(place), self.nodes[place]
        if value is None or value in ("", []):
            self.refuse(place, f"{_name(place)} is {'nothing' if value is None else 'empty'}")
        return self._read(node, read, value)

    def _at(self, place: _Place) -> Any:
        value = self.value
        for part in place:
            value = value[part]
        return value

    def _read(self, node: yaml.Node, read: Callable[[Any], Any], value: Any) -> Any:
        try:
            return read(value)
        except UsageError as error:  # keys are called as Python's arguments
            words = spoken(error.args[0], "python")
            # what is in quotes is text
            quotable = "text" in words and isinstance(node, yaml.ScalarNode) and not isinstance(value, str)
            self._refuse(node, words + ("; put it into quotes" if quotable else ""))


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
