"""Read a job file, which describes a release, check it, and run it; lines of its log, and the JSON schemas of both.

Its roles, parameters and outputs are Python's arguments, and every mistake has its line.
"""

import json
import logging
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Union, cast

import pydantic
import yaml
from pydantic import Field

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.models import shapes
from sqlanon.models.fields import Asked, Parameter, model_of
from sqlanon.models.publication import OfTable
from sqlanon.models.values import PATH_TEXT, SCHEMA_NAME, TEXT_BY_COLUMN, TEXTS, Here, Kind, Names, Text
from sqlanon.plans.engines import ENGINES, Way
from sqlanon.plans.plan import Report
from sqlanon.publishing.publish import publish
from sqlanon.publishing.release_request import ReleaseRequest, prepared, request_of
from sqlanon.publishing.thresholds import BOUND, FIGURE, threshold_of
from sqlanon.publishing.yaml_file import YamlFile
from sqlanon.releases.release import Release
from sqlanon.sql.source import QueriedSource
from sqlanon.sql.source_select import read_source_select
from sqlanon.wording import heard

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

    def query(self, text: str) -> QueriedSource:
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

    environment: where `${NAME}` in sources, outputs and paths is looked up; the process's own if None.
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


def _job(methods: tuple[str, ...], source: Any, method: str | None, require: Any = None) -> type[Asked]:
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
        "require": (require or dict[str, str | int | Annotated[float, Field(allow_inf_nan=True)]], {}),
        "key_env": (Text, None),
    }
    return pydantic.create_model(f"job of {method}", __base__=Asked, **fields)


def _section(name: str, parameters: Mapping[str, Parameter]) -> type[Asked]:
    defaults = {name: each.default for name, each in parameters.items() if not each.required}
    return model_of(name, {name: each.hint for name, each in parameters.items()}, defaults, OfTable)


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


NO_IDENTIFIER = "the promise is per row: name an id in roles so that several rows of a person are seen"


def open_engine_of(job: Job, check: bool = False, **limits: Any) -> Engine:
    """Open what runs a job's SQL; check: nothing will be written. limits: resources of the session, as options."""
    with secrets_hidden(job):
        writes = job.request.place.schema is not None and not check
        return open_engine(**job.session, write=writes, **limits)


def run_job(job: Job, engine: Engine) -> Release:
    """Publish what the job describes; return the release, whose notes say what to know.

    Raises UsageError for what is not right on any data, DataError where this data does not allow it
    or a threshold is missed: nothing is visible then, and what stood at the target stands.
    """
    with secrets_hidden(job):
        release = publish(job.request, engine, expect=True)
    release.notes = [_hidden(note, job.secrets) for note in release.notes]
    if not job.request.identifier:
        release.notes.append(NO_IDENTIFIER)
    return release


def check_job(job: Job, engine: Engine) -> list[str]:
    """Look at the source's columns and rows as far as anything in them could refuse the job; publish nothing.

    Returns what the job's publisher should know. Raises what `run_job` would raise, but for thresholds and the target.
    """
    request = job.request
    with secrets_hidden(job), ExitStack() as stack:
        plan, _, ledger = stack.enter_context(prepared(request, engine, fresh_prefix()))
        # what may refuse the data, or has something to say of it
        telling = [number for number, step in enumerate(plan.steps) if isinstance(step, Report)]
        looked_at = replace(plan, steps=plan.steps[: max(telling, default=-1) + 1])
        stack.enter_context(engine.snapshot())
        if ledger is not None:
            ledger.take_rows()
        # persons are known again by the ledger's own key
        key = request.key if request.ledger is not None and request.key is not None else Key.fresh()
        reports = stack.enter_context(run_plan(looked_at, engine, key))
        return [_hidden(note, job.secrets) for note in looked_at.notes(reports)]


@contextmanager
def secrets_hidden(job: Job) -> Iterator[None]:
    """Show the name of an environment variable wherever a message would show its value, and the line it is about."""
    try:
        yield
    except SqlanonError as error:
        lines = [job.lines[name] for name in (text.lower() for text in error.about) if name in job.lines]
        place = f"{job.path}, line {lines[0]}: " if lines else ""
        raise type(error)(place + _hidden(str(error), job.secrets)) from None


def _hidden(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with variables' names in the place of their values."""
    for value in sorted((value for value in variables if len(value) > 2), key=len, reverse=True):
        text = text.replace(value, variables[value])
    return text


_EVERY_LINE = {
    "time": shapes.text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"),
    "job": str,
    "run": shapes.text("[0-9a-f]{16}"),
}
_STEP = {"event": shapes.text("[a-z]+"), "name": str, "seconds": shapes.number()}
_WORDS = {"event": shapes.word("note", "warning", "error"), "message": str}


def log_schema() -> dict[str, Any]:
    """Return the JSON schema of a line of the log: of a step that has ended, or of words to the publisher."""
    lines = shapes.either(*(shapes.record({**_EVERY_LINE, **members}) for members in (_STEP, _WORDS)))
    return shapes.described("a line of sqlanon run --log json", lines)


class JobLog:
    """Lines of JSON about one run of a job: time (UTC), job, run (a number of its own), event, and what it says."""

    def __init__(self, stream: IO[str], job: str) -> None:
        """Write to a stream, about the job of this name."""
        self._stream, self._job, self._run = stream, job, secrets.token_hex(8)

    def write(self, event: str, **fields: object) -> None:
        """Write one line."""
        time_now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": time_now, "job": self._job, "run": self._run, "event": event, **fields}
        self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._stream.flush()

    @contextmanager
    def of_steps(self) -> Iterator[None]:
        """Write a line for every step (each turn of a loop is one): event, name, seconds it took."""
        step, begun = "", 0.0

        def begin(words: str) -> None:
            """Close a step when the next one begins: what is logged is that a step begins."""
            nonlocal step, begun
            now = time.monotonic()
            if step:
                event, _, name = step.partition(" ")
                self.write(event.rstrip(","), name=name, seconds=round(now - begun, 6))
            step, begun = words, now

        try:
            with heard(logging.INFO, begin):
                yield
        finally:
            begin("")
