"""Read a job file, which describes a release; every mistake is reported with its line."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from sqlanon.bounded_files import read_text
from sqlanon.errors import QueryError, UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.methods.name_kinds import check_names
from sqlanon.plans.engines import ENGINES
from sqlanon.publishing.job_model import model_of
from sqlanon.publishing.release_request import ReleaseRequest, request_of
from sqlanon.publishing.thresholds import threshold
from sqlanon.removed import removed
from sqlanon.sql.sources.source_select import SourceSelect, read_source_select
from sqlanon.wording import spoken

LONGEST = 2**20  # bytes of a job
MOST_NODES = 100_000  # of its values: anchors could stand for any number
_TAGS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}
_KINDS = {
    **{f"{name}_type": words for name, words in _TAGS.items()},
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping of keys to values",
}
_QUOTES = "a colon ends a key, a text that begins with > or holds ': ' stands in quotes, lines are indented with blanks"
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_Place = tuple[str | int, ...]  # keys and positions that lead to a value


@dataclass(frozen=True)
class Job:
    """A release as a file describes it; `secrets` are texts that no message may show, with what to show.

    session: what opens its engine, as options. path: the file. lines: where it names columns (without case) and
    parameters.
    """

    request: ReleaseRequest
    session: Mapping[str, Any]
    secrets: Mapping[str, str]
    path: Path
    lines: Mapping[str, int]


class _Document:
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
                inside = (*place, key.value) if isinstance(key, yaml.ScalarNode) else place
                if inside == place:
                    self._refuse(key, f"a key of {_name(place)} is a word, not {_described(key)}")
                if inside in self.keys:
                    self._refuse(key, f"the key {key.value!r} is given twice in {_name(place)}")
                self.keys[inside] = key
                values[key.value] = self._plain(value, inside)
            return values
        if node.tag.rpartition(":")[2] not in _TAGS:
            return node
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

    def take(self, place: _Place, read: Callable[..., Any], *values: Any) -> Any:
        """Return what `read` makes of values; what it refuses is told with the line."""
        try:
            return read(*values)
        except UsageError as error:  # keys are called as Python's arguments
            self.refuse(place, spoken(error.args[0], "python"))

    def lines(self) -> dict[str, int]:
        """Return where parameters stand, and texts that may name columns."""
        lines: dict[str, int] = {}
        for place, node in self.nodes.items():
            if place[:1] == ("parameters",) and len(place) == 2:
                lines[str(place[1])] = self.line(place)
            if place[:1] in (("roles",), ("parameters",)) and isinstance(node, yaml.ScalarNode):
                lines.setdefault(node.value.lower(), self.line(place))
        return lines

    def tell(self, model: type[BaseModel], fault: ValidationError) -> NoReturn:
        """Raise UsageError of the first mistake that pydantic found."""
        errors = [(self._place(error["loc"]), error) for error in fault.errors(include_url=False, include_input=False)]
        # of what may be of several types, the one counts whose parts were looked into
        deep = {place[:length] for place, _ in errors for length in range(len(place))}
        told = [(place, error) for place, error in errors if place not in deep]
        place, _ = min(told, key=lambda each: (each[1]["type"] == "missing", self.line(each[0])))
        mistakes = [error for other, error in told if other == place]
        name, node = _name(place), self.nodes[place]
        for error in mistakes:
            if error["type"] == "told":
                self.refuse(place, error["ctx"]["words"])
            if error["type"] == "extra_forbidden":
                key, inside = str(place[-1]), place[:-1]
                mapping: Any = model.model_fields[str(inside[0])].annotation if inside else model
                unknown = f"unknown key {key!r} in {_name(inside)}; there are {', '.join(mapping.model_fields)}"
                self._refuse(self.keys[place], removed(key) or unknown)
            if error["type"] in ("string_too_short", "too_short"):
                self.refuse(place, f"{name} is empty")
            if error["type"] == "string_unicode":
                self.refuse(place, f"{name} holds a text that is not Unicode: half of a pair")
        if mistakes[0]["type"] == "missing":
            self.refuse(place, f"{name} lacks {', '.join(str(error['loc'][-1]) for error in mistakes)}")
        self._refuse(node, _mistyped(name, node, mistakes))

    def _place(self, loc: _Place) -> _Place:
        """Return the place of what an error is about: pydantic names types, and what is missing, as well."""
        place: _Place = ()
        for part in loc:
            place = (*place, part) if (*place, part) in self.nodes else place
        return place


def _mistyped(name: str, node: yaml.Node, mistakes: list[ErrorDetails]) -> str:
    """Say what a value is in the place of what it may be: words, kinds of values, or either."""
    words = [word for error in mistakes for word in re.findall("'([^']*)'", error.get("ctx", {}).get("expected", ""))]
    kinds = [_KINDS[error["type"]] for error in mistakes if error["type"] != "literal_error"]
    kinds = [kind for kind in dict.fromkeys(kinds) if kind != "a whole number" or "a number" not in kinds]
    found = _described(node)
    if words and not kinds and found == "text":
        found = repr(node.value)
        if gone := removed(name, node.value):
            return gone
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


@dataclass
class _Folder:
    """What a job's texts are about: the environment, and what lies beside it.

    on_server, in_schema: whether the release goes to a server's schema, or to one of a file. secrets: what the
    variables held that were read.
    """

    path: str
    environment: Mapping[str, str]
    engine: str
    on_server: bool
    in_schema: bool
    secrets: dict[str, str] = field(default_factory=dict)

    def expanded(self, text: str) -> str:
        """Put environment variables in the place of `${NAME}`; remember what no message may show."""

        def value(match: re.Match[str]) -> str:
            setting = self.environment.get(match[1])
            if not setting:
                raise _told(f"the environment variable {match[1]} is not set")
            self.secrets |= {setting: match[0], os.path.normpath(setting): match[0]}
            return setting

        return _VARIABLE.sub(value, text)

    def file(self, text: str) -> str:
        """Return the path of a file, relative to the job's folder; what lies elsewhere stays."""
        path = self.expanded(text)
        return path if "://" in path else os.path.normpath(Path(self.path, path))

    def place(self, text: str) -> str:
        """Return the name of a table, or the path of a file: what has a suffix or lies in a folder is one."""
        name = self.expanded(text).strip()
        return self.file(name) if Path(name).suffix or os.sep in name else name

    def release(self, text: str) -> str:
        """Return the path of a release; for one that goes to a schema, what is no path is a schema, too."""
        if self.on_server:
            return self.expanded(text)
        return self.place(text) if self.in_schema else self.file(text)

    def query(self, text: str) -> SourceSelect:
        """Read a query; its files lie beside the job."""
        # a value from outside would be read as SQL
        if _VARIABLE.search(text):
            raise _told("a query takes no environment variables; put what varies into a view or into database")
        try:
            return read_source_select(text, self.engine).beside(self.path)
        except QueryError as error:
            raise _told(str(error)) from None


def _told(words: str) -> PydanticCustomError:
    return PydanticCustomError("told", "{words}", {"words": words})


def read_job(path: str | Path, environment: Mapping[str, str] | None = None) -> Job:
    """Read and check a job file; paths in it are relative to its folder.

    environment: where `${NAME}` in `source` and `output` is looked up; the process's own if None.
    Raises UsageError, with the line, for what is not a job.
    """
    document = _Document(Path(path))
    method, source, output = (_member(document.value, key) for key in ("method", "source", "output"))
    engine = _member(source, "engine")
    engine = engine if engine in tuple(ENGINES) else next(iter(ENGINES))
    on_server, in_schema = "directory" in ENGINES[engine].lacks, _member(output, "into") is not None
    variables = os.environ if environment is None else environment
    folder = _Folder(str(document.path.parent), variables, engine, on_server, in_schema)
    model = model_of(method, engine, source)
    try:
        said = _given(model.model_validate(document.value, context=folder))
    except ValidationError as error:
        document.tell(model, error)
    source = _given(said["source"]) if isinstance(source, dict) else {"path": said["source"]}
    _check_output(document, _given(said["output"]), engine, "database" in source)
    declared = METHODS[method].arguments
    arguments = {name: parameter.default for name, parameter in declared.items()}
    for key in ("roles", "parameters", "output"):
        for name, value in _given(said[key]).items():
            arguments[name] = document.take((key, name), declared[name].read, value)
    arguments["key"] = _key(said.get("key_env"), variables)
    require = tuple(
        document.take(("require", figure), threshold, figure, str(text))
        for figure, text in said.get("require", {}).items()
    )
    named = next(source[name] for name in ("query", "table", "path") if name in source)
    # a DSN may hold a password: the variable that the command line reads serves a job, too
    dsn = source.get("dsn", variables.get("SQLANON_DSN")) if "--dsn" in ENGINES[engine].options else None
    session = {name: source.get(name) for name in ("database", "master", "types")}
    session |= {"engine": engine, "dsn": dsn, "missing": check_names(source.get("missing", ()))}
    return Job(
        request=replace(request_of(arguments, method, named), require=require),
        session=session,
        secrets=folder.secrets,
        path=document.path,
        lines=document.lines(),
    )


def _key(variable: str | None, variables: Mapping[str, str]) -> Key | None:
    if variable is None:
        return None
    if not (text := variables.get(variable)):
        raise UsageError(f"the environment variable {variable}, which key_env names, is not set; it holds the key")
    return Key.of(text)


def _member(value: Any, key: str) -> Any:
    """Return what stands under a key of what may be a mapping, None where there is none."""
    return value.get(key) if isinstance(value, dict) else None


def _given(model: Any) -> dict[str, Any]:
    """Return what was said of a model's keys."""
    return {name: getattr(model, name) for name in type(model).model_fields if name in model.model_fields_set}


def _check_output(document: _Document, output: Mapping[str, Any], engine: str, in_database: bool) -> None:
    """Refuse a target that the engine does not write."""
    if ("out" in output) == ("into" in output):
        document.refuse(("output",), "output takes out (a directory) or into (a schema), and one of them")
    for key, kind, instead in (
        ("into", "schema", "out in the place of into"),
        ("out", "directory", "into: and a schema"),
    ):
        mark = ENGINES[engine].lacks.get(kind)
        if key in output and mark:
            document.refuse(("output", key), f"{engine} {mark.why}; write {instead}")
    if "into" in output and engine == next(iter(ENGINES)) and not in_database:
        document.refuse(
            ("output", "into"),
            "into names a schema of the source's database; give source a database and a table",
        )
