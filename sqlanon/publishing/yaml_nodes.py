"""Read YAML so that every complaint names the file and the line. The only importer of `yaml`."""

from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from sqlanon.bounded_files import read_text
from sqlanon.errors import UsageError

__all__ = ["MappingNode", "Node", "NodeReader", "ScalarNode", "SequenceNode", "composed"]

LONGEST = 2**20  # bytes of a job
_WORDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}


def composed(path: Path) -> Node | None:
    """Return the file's root node, None where the file is empty; raise UsageError where it is not YAML."""
    text = ""
    try:
        text = read_text(path, LONGEST)
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise UsageError(f"{path}: not YAML that a job needs: lists or mappings are nested too deep") from None
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"cannot read {str(path)!r}: it is not UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        line = min(error.problem_mark.line + 1, len(text.splitlines())) if error.problem_mark else 1
        raise UsageError(f"{path}, line {line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not YAML: {str(error).partition(chr(10))[0]}") from None
    return root


class NodeReader:
    """Turn nodes into values of the kinds that a schema asks for."""

    def __init__(self, path: Path) -> None:
        """Name the file that complaints are about."""
        self.path = path

    def refuse(self, node: yaml.Node, words: str) -> NoReturn:
        """Raise UsageError with the file and the node's line."""
        raise UsageError(f"{self.path}, line {node.start_mark.line + 1}: {words}")

    def pairs(self, node: yaml.Node, name: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
        """Return the keys and values of a mapping; refuse what is none, and a key given twice."""
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, f"{name} is a mapping of keys to values, not {_kind(node)}")
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(key, f"a key of {name} is a word, not {_kind(key)}")
            if key.value in keys:
                self.refuse(key, f"the key {key.value!r} is given twice in {name}")
            keys.add(key.value)
        return list(node.value)

    def mapping(
        self, node: yaml.Node, name: str, needed: tuple[str, ...], allowed: tuple[str, ...]
    ) -> dict[str, yaml.Node]:
        """Return a mapping's values by key; refuse unknown keys and missing ones."""
        values: dict[str, yaml.Node] = {}
        for key, value in self.pairs(node, name):
            if key.value not in (*needed, *allowed):
                self.refuse(key, f"unknown key {key.value!r} in {name}; there are {', '.join((*needed, *allowed))}")
            values[key.value] = value
        missing = [key for key in needed if key not in values]
        if missing:
            self.refuse(node, f"{name} lacks {', '.join(missing)}")
        return values

    def typed(self, node: yaml.Node, name: str, kinds: tuple[str, ...]) -> Any:
        """Return a scalar's value where YAML reads it as one of `kinds`."""
        kind = node.tag.rpartition(":")[2]
        scalar = isinstance(node, yaml.ScalarNode)
        if not scalar or (kind not in kinds and not (kind == "int" and "float" in kinds)):
            advice = "; put it into quotes" if scalar and kinds == ("str",) and node.value else ""
            self.refuse(node, f"{name} is {' or '.join(_WORDS[each] for each in kinds)}, not {_kind(node)}{advice}")
        try:
            return yaml.SafeLoader("").construct_object(node, deep=True)
        except ValueError:  # Python reads whole numbers of some thousand digits, no longer ones
            self.refuse(node, f"{name} is a number that is too long")

    def text(self, node: yaml.Node, name: str) -> str:
        """Return a text that is not empty."""
        value: str = self.typed(node, name, ("str",))
        if not value:
            self.refuse(node, f"{name} is empty")
        return value

    def choice(self, node: yaml.Node, name: str, choices: tuple[str, ...]) -> str:
        """Return one of `choices`."""
        value = self.text(node, name)
        if value not in choices:
            self.refuse(node, f"{name} is one of {', '.join(choices)}, not {value!r}")
        return value


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return _WORDS.get(node.tag.rpartition(":")[2], f"a {node.tag.rpartition(':')[2]}")
