"""Read a job file, which describes a release: its keys are Python's arguments, and every mistake has its line."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.methods.kinds import TEXT_OF_JOB, TEXTS_OF_JOB, one_or_several
from sqlanon.plans import json_schema
from sqlanon.plans.engines import ENGINES, Way
from sqlanon.plans.json_schema import Schema
from sqlanon.publishing.release_request import ReleaseRequest, request_of
from sqlanon.publishing.thresholds import THRESHOLDS, threshold_of
from sqlanon.publishing.yaml_file import YamlFile
from sqlanon.sql.source import QueriedSource
from sqlanon.sql.source_select import read_source_select

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_FIGURES = json_schema.keyed(json_schema.either({"type": "string"}, {"type": "number"}))
_FIRST = next(iter(ENGINES))  # which runs what names no engine
_ROLES, _TARGET = ("quasi", "sensitive", "id"), ("out", "into", "overwrite")
_ANY = next(iter(METHODS))  # roles and targets are those of every method


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

    def query(self, text: str) -> QueriedSource:
        """Read a query; its files lie beside the job."""
        # a value from outside would be read as SQL
        if _VARIABLE.search(text):
            raise UsageError("a query takes no environment variables; put what varies into a view or into database")
        return read_source_select(text, self.engine).beside(self.path)


# what finds a source: its schema, and what becomes of it
_SOURCES: dict[str, tuple[Schema, Callable[[_Folder, Any], Any]]] = {
    "path": (TEXT_OF_JOB, _Folder.file),
    "database": (TEXT_OF_JOB, _Folder.file),
    "table": (TEXT_OF_JOB, _Folder.expanded),
    "dsn": (TEXT_OF_JOB, _Folder.expanded),
    "master": (TEXT_OF_JOB, _Folder.expanded),
    "query": (TEXT_OF_JOB, _Folder.query),
    "types": (json_schema.keyed(TEXT_OF_JOB), lambda _, types: types),
    "missing": (TEXTS_OF_JOB, lambda _, texts: one_or_several(texts)),
}


def read_job(path: str | Path, environment: Mapping[str, str] | None = None) -> Job:
    """Read and check a job file; paths in it are relative to its folder.

    environment: where `${NAME}` in `source` and `output` is looked up; the process's own if None.
    Raises UsageError, with the line, for what is not a job.
    """
    file = YamlFile(Path(path))
    said: Any = file.value if isinstance(file.value, dict) else {}
    method, source, output = said.get("method"), said.get("source"), said.get("output")
    by_path = not isinstance(source, dict)
    given = {"path": source} if by_path else source
    engine = str(given.get("engine") if given.get("engine") in tuple(ENGINES) else _FIRST)
    ways = ENGINES[engine].sources
    way = ways[next((name for name in reversed(ways) if name in given), next(iter(ways)))]
    # what may be wrong is checked by the schema of what it seems to be; `require` says more of itself than a schema
    place = TEXT_OF_JOB if by_path else _source(engine, way, tuple(ENGINES))
    parameters = _parameters(method) if method in tuple(METHODS) else {}
    file.check(_job(tuple(METHODS), place, parameters, _FIGURES), file.value)
    variables = os.environ if environment is None else environment
    on_server = "directory" in ENGINES[engine].lacks
    folder = _Folder(str(file.path.parent), variables, engine, on_server, in_schema="into" in output)
    found = {
        name: file.take(("source",) if by_path else ("source", name), _SOURCES[name][1], folder, value)
        for name, value in given.items()
        if name in _SOURCES
    }
    _check_output(file, output, engine, "database" in found)
    declared = METHODS[method].arguments
    arguments = {name: parameter.default for name, parameter in declared.items()}
    for key in ("roles", "parameters", "output"):
        for name, value in said[key].items():
            arguments[name] = file.take((key, name), declared[name].read, value, folder)
    if "key_env" in said:
        arguments["key"] = file.take(("key_env",), _key, said["key_env"], variables)
    require = tuple(
        file.take(("require", figure), threshold_of, f"{figure} {text}", method)
        for figure, text in said.get("require", {}).items()
    )
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


def _key(variable: str, variables: Mapping[str, str]) -> Key:
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


# -- the schema of jobs ------------------------------------------------------------------------------------------


def _job(methods: tuple[str, ...], source: Schema, parameters: Schema, require: Schema) -> Schema:
    roles, target = ({name: METHODS[_ANY].arguments[name].job_schema for name in names} for names in (_ROLES, _TARGET))
    person = roles.pop("id")
    needed = {
        "method": json_schema.word(*methods),
        "source": source,
        "roles": json_schema.record(roles, {"id": person}),
        "parameters": parameters,
        "output": {**json_schema.record({}, target), "oneOf": [{"required": ["out"]}, {"required": ["into"]}]},
    }
    return json_schema.record(needed, {"require": require, "key_env": TEXT_OF_JOB})


def _source(engine: str, way: Way, engines: tuple[str, ...]) -> Schema:
    """Return the schema of a mapping that finds rows for an engine; what names no engine is for the first."""
    named = {"engine": json_schema.word(*engines)}
    needed, others = ({name: _SOURCES[name][0] for name in names} for names in way)
    if engine == _FIRST:
        return json_schema.record(needed, named | others)
    return json_schema.record(needed | named, others)


def _parameters(method: str) -> Schema:
    declared = {
        name: parameter
        for name, parameter in METHODS[method].arguments.items()
        if parameter.job and name not in (*_ROLES, *_TARGET)
    }
    schemas = {name: parameter.job_schema for name, parameter in declared.items()}
    needed = {name: schemas.pop(name) for name, parameter in declared.items() if parameter.required}
    return json_schema.record(needed, schemas)


def _ways() -> Iterator[Schema]:
    yield TEXT_OF_JOB
    for engine, declared in ENGINES.items():
        yield from (_source(engine, way, (engine,)) for way in declared.sources.values())


def job_schema() -> dict[str, Any]:
    """Return the JSON schema of job files: of the job of one of the methods."""
    source = json_schema.either(*_ways())
    methods = [
        {"title": f"a job that publishes with {name}", **_job((name,), source, _parameters(name), THRESHOLDS)}
        for name in METHODS
    ]
    return {
        "$schema": json_schema.DRAFT,
        "title": "a job of sqlanon run, a YAML file",
        **json_schema.either(*methods),
    }
