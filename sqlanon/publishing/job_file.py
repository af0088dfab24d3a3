"""Read a job file, which describes a release: its keys are Python's arguments, and every mistake has its line."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.methods.kinds import TEXT, choice
from sqlanon.methods.name_kinds import check_names
from sqlanon.plans.engines import ENGINES
from sqlanon.publishing.release_request import ReleaseRequest, request_of
from sqlanon.publishing.thresholds import Threshold, threshold_of
from sqlanon.publishing.yaml_file import YamlFile
from sqlanon.sql.sources.source_select import SourceSelect, read_source_select

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_FIRST = next(iter(ENGINES))  # which runs what names no engine
_ROLES, _TARGET = ("quasi", "sensitive", "id"), ("out", "into", "overwrite")


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
        if not isinstance(text, str):
            raise UsageError("a path, a name or a query is text")

        def value(match: re.Match[str]) -> str:
            setting = self.environment.get(match[1])
            if not setting:
                raise UsageError(f"the environment variable {match[1]} is not set")
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
        if _VARIABLE.search(TEXT.read("query", text)):
            raise UsageError("a query takes no environment variables; put what varies into a view or into database")
        return read_source_select(text, self.engine).beside(self.path)


# what becomes of what finds a source
_SOURCES: dict[str, Callable[[_Folder, Any], Any]] = {
    **dict.fromkeys(("path", "database"), _Folder.file),
    **dict.fromkeys(("table", "dsn", "master"), _Folder.expanded),
    "query": _Folder.query,
    "types": lambda _, types: dict(zip(types, check_names(types.values()), strict=True)),
    "missing": lambda _, texts: check_names(texts),
}


def read_job(path: str | Path, environment: Mapping[str, str] | None = None) -> Job:
    """Read and check a job file; paths in it are relative to its folder.

    environment: where `${NAME}` in `source` and `output` is looked up; the process's own if None.
    Raises UsageError, with the line, for what is not a job.
    """
    file = YamlFile(Path(path))
    said = file.members((), ("method", "source", "roles", "parameters", "output"), ("require", "key_env"))
    method = file.take(("method",), partial(choice(tuple(METHODS)).read, "method"))
    engine, places = _source(file, said["source"])
    declared = METHODS[method].arguments
    own = {name: each for name, each in declared.items() if each.job and name not in (*_ROLES, *_TARGET)}
    required = [name for name, each in own.items() if each.required]
    file.members(("roles",), _ROLES[:2], _ROLES[2:])
    file.members(("parameters",), required, [name for name in own if name not in required])
    output = file.members(("output",), (), _TARGET)
    variables = os.environ if environment is None else environment
    on_server = "directory" in ENGINES[engine].lacks
    folder = _Folder(str(file.path.parent), variables, engine, on_server, in_schema="into" in output)
    found = {name: file.take(place, partial(_SOURCES[name], folder)) for name, place in places.items()}
    _check_output(file, output, engine, "database" in found)
    arguments = {name: parameter.default for name, parameter in declared.items()}
    for key in ("roles", "parameters", "output"):
        for name in said[key]:
            arguments[name] = file.take((key, name), partial(declared[name].read, folder=folder))
    if "key_env" in said:
        arguments["key"] = file.take(("key_env",), partial(_key, variables))
    figures = file.members(("require",), others=None) if "require" in said else {}
    require = tuple(file.take(("require", figure), partial(_threshold, figure)) for figure in figures)
    # a DSN may hold a password: the variable that the command line reads serves a job, too
    dsn = found.get("dsn", variables.get("SQLANON_DSN")) if "--dsn" in ENGINES[engine].options else None
    session = {name: found.get(name) for name in ("database", "master", "types")}
    named = next(found[name] for name in ("query", "table", "path") if name in found)
    return Job(
        request=replace(request_of(arguments, method, named), require=require),
        session=session | {"engine": engine, "dsn": dsn, "missing": found.get("missing", ())},
        secrets=folder.secrets,
        path=file.path,
        lines=_lines(file),
    )


def _source(file: YamlFile, source: Any) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the engine of a source, and where what finds it stands, by name; what names no engine is for the first."""
    if not isinstance(source, dict):
        return _FIRST, {"path": ("source",)}
    engine = _FIRST
    if "engine" in source:
        engine = file.take(("source", "engine"), partial(choice(tuple(ENGINES)).read, "engine"))
    ways = ENGINES[engine].sources
    needed, others = ways[next((name for name in reversed(ways) if name in source), next(iter(ways)))]
    file.members(("source",), needed, ("engine", *others))
    if "types" in source:
        file.members(("source", "types"), others=None)
    return engine, {name: ("source", name) for name in source if name != "engine"}


def _threshold(figure: str, text: Any) -> Threshold:
    return threshold_of(f"{figure} {text}")


def _key(variables: Mapping[str, str], variable: str) -> Key:
    if not isinstance(variable, str):  # whatever it is, no message shows it
        raise UsageError("key_env is text, the name of an environment variable")
    if re.fullmatch("[0-9a-fA-F]{32,}", variable):  # it is shown in no message
        raise UsageError("key_env names the environment variable that holds the key; it is not the key itself")
    if not (text := variables.get(variable)):
        raise UsageError(f"the environment variable {variable}, which key_env names, is not set; it holds the key")
    return Key.of(text)


def _lines(file: YamlFile) -> dict[str, int]:
    """Return where parameters stand, and texts that may name columns."""
    lines: dict[str, int] = {}
    for place, node in file.nodes.items():
        if place[:1] == ("parameters",) and len(place) == 2:
            lines[str(place[1])] = file.line(place)
        if place[:1] in (("roles",), ("parameters",)) and isinstance(node, yaml.ScalarNode):
            lines.setdefault(node.value.lower(), file.line(place))
    return lines


def _check_output(file: YamlFile, output: Mapping[str, Any], engine: str, in_database: bool) -> None:
    """Refuse a target that the engine does not write."""
    if ("out" in output) == ("into" in output):
        file.refuse(("output",), "output takes out (a directory) or into (a schema), and one of them")
    if "out" in output:
        key, mark, instead = "out", ENGINES[engine].lacks.get("directory"), "into: and a schema"
    else:
        key, mark, instead = "into", ENGINES[engine].lacks.get("schema"), "out in the place of into"
    if mark:
        file.refuse(("output", key), f"{engine} {mark.why}; write {instead}")
    if key == "into" and engine == _FIRST and not in_database:
        words = "into names a schema of the source's database; give source a database and a table"
        file.refuse(("output", key), words)
