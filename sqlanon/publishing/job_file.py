"""Read a job file, which describes a release: its keys are Python's arguments, and every mistake has its line."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Union, cast

import pydantic
import yaml
from pydantic import Field

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.models import shapes
from sqlanon.models.fields import Asked, Parameter, model_of
from sqlanon.models.values import PATH_TEXT, SCHEMA_NAME, TEXT_BY_COLUMN, TEXTS, Here, Kind, Names, Text
from sqlanon.plans.engines import ENGINES, Way
from sqlanon.publishing.release_request import ReleaseRequest, request_of
from sqlanon.publishing.thresholds import BOUND, FIGURE, threshold_of
from sqlanon.publishing.yaml_file import YamlFile
from sqlanon.sql.sources.source_select import SourceSelect, read_source_select

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_FIRST = next(iter(ENGINES))  # which runs what names no engine
_ROLES, _TARGET = ("quasi", "sensitive", "id"), ("out", "into", "overwrite")
_ONE: Any = {"oneOf": [{"required": ["out"]}, {"required": ["into"]}]}
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
class _Folder(Here):
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

    def query(self, text: str) -> SourceSelect:
        """Read a query; its files lie beside the job."""
        # a value from outside would be read as SQL
        if _VARIABLE.search(text):
            raise UsageError("a query takes no environment variables; put what varies into a view or into database")
        return read_source_select(text, self.engine).beside(self.path)


_SOURCES: dict[str, Any] = {  # what finds a source
    **dict.fromkeys(("path", "database"), Annotated[str, PATH_TEXT]),
    **dict.fromkeys(("table", "dsn", "master"), Annotated[str, SCHEMA_NAME]),
    "query": Annotated[str, Kind(lambda text, here: cast(_Folder, here).query(text))],
    "types": Annotated[Mapping[str, str], TEXT_BY_COLUMN],
    "missing": Annotated[Names, TEXTS],
}


def read_job(path: str | Path, environment: Mapping[str, str] | None = None) -> Job:
    """Read and check a job file; paths in it are relative to its folder.

    environment: where `${NAME}` in `source` and `output` is looked up; the process's own if None.
    Raises UsageError, with the line, for what is not a job.
    """
    file = YamlFile(Path(path))
    said: Any = file.value if isinstance(file.value, dict) else {}
    method, source, output = said.get("method"), said.get("source"), said.get("output")
    given = source if isinstance(source, dict) else {"path": source}
    engine = str(given.get("engine") if given.get("engine") in tuple(ENGINES) else _FIRST)
    ways = ENGINES[engine].sources
    way = ways[next((name for name in reversed(ways) if name in given), next(iter(ways)))]
    # what may be wrong is told of what it seems to be
    place = _source(engine, way, tuple(ENGINES)) if isinstance(source, dict) else _SOURCES["path"]
    variables = os.environ if environment is None else environment
    in_schema = isinstance(output, dict) and "into" in output
    folder = _Folder(str(file.path.parent), variables, engine, "directory" in ENGINES[engine].lacks, in_schema)
    job: Any = file.read(_job(tuple(METHODS), place, method if method in tuple(METHODS) else None), folder)
    found = {"path": job.source} if isinstance(job.source, str) else dict(job.source)
    _check_output(file, output, engine, found.get("database") is not None)
    arguments = {name: parameter.default for name, parameter in METHODS[method].arguments.items()}
    arguments |= {**dict(job.roles), **dict(job.parameters), **dict(job.output)}
    if job.key_env is not None:
        arguments["key"] = file.take(("key_env",), _key, job.key_env, variables)
    require = tuple(
        file.take(("require", figure), threshold_of, f"{figure} {text}", method) for figure, text in job.require.items()
    )
    # a DSN may hold a password: the variable that the command line reads serves a job, too
    dsn = found.get("dsn") or variables.get("SQLANON_DSN") if "--dsn" in ENGINES[engine].options else None
    session = {name: found.get(name) for name in ("database", "master", "types")}
    return Job(
        request=replace(
            request_of(arguments, method, next(found[name] for name in ("query", "table", "path") if found.get(name))),
            require=require,
        ),
        session=session | {"engine": engine, "dsn": dsn, "missing": found.get("missing") or ()},
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


# -- the model of jobs ---------------------------------------------------------------------------------------------


def _job(
    methods: tuple[str, ...], source: Any, method: str | None, require: Any = dict[str, str | int | float]
) -> type[Asked]:
    """Return the model of a job of one of some methods; method: whose parameters it says, where that is known."""
    declared = METHODS[method or _ANY].arguments
    own = {name: each for name, each in declared.items() if each.on.job and name not in (*_ROLES, *_TARGET)}
    fields = {
        "method": Literal[methods],
        "source": source,
        "roles": _section("roles", {name: declared[name] for name in _ROLES}),
        "parameters": _section(f"parameters of {method}", own) if method else dict,
        "output": Annotated[
            _section("output", {name: declared[name] for name in _TARGET}), Field(json_schema_extra=_ONE)
        ],
        "require": (require, {}),
        "key_env": (Text | None, None),
    }
    return pydantic.create_model(f"job of {method}", __base__=Asked, **fields)


def _section(name: str, parameters: Mapping[str, Parameter]) -> type[Asked]:
    defaults = {name: each.default for name, each in parameters.items() if not each.required}
    return model_of(name, {name: each.hint for name, each in parameters.items()}, defaults)


_FIGURES: Any = Annotated[
    dict[str, Annotated[str, Field(pattern=f"^{BOUND}$")]],
    Field(json_schema_extra={"propertyNames": {"pattern": FIGURE}}),
]


def _source(engine: str, way: Way, engines: tuple[str, ...]) -> type[Asked]:
    """Return the model of a mapping that finds rows for an engine; what names no engine is for the first."""
    needed, others = way
    named = {"engine": Literal[engines], **{name: _SOURCES[name] for name in (*needed, *others)}}
    optional = (*others, *(("engine",) if engine == _FIRST else ()))
    return model_of(f"source of {engine} by {needed[-1]}", named, dict.fromkeys(optional))


def job_schema() -> dict[str, Any]:
    """Return the JSON schema of job files: of the job of one of the methods."""
    sources = [_source(engine, way, (engine,)) for engine, each in ENGINES.items() for way in each.sources.values()]
    source: Any = Union[(Text, *sources)]
    jobs = [_job((name,), source, name, _FIGURES) for name in METHODS]
    return shapes.described("a job of sqlanon run, a YAML file", Union[tuple(jobs)])  # noqa: UP007
