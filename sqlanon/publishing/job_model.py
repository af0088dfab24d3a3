"""What a job file may say, as pydantic models: the parameters from their declarations, the sources from the engines."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WithJsonSchema, create_model
from pydantic.json_schema import GenerateJsonSchema

from sqlanon.methods import METHODS
from sqlanon.methods.kinds import JOB_FILE, JOB_TEXT, JOB_TEXTS, JobText
from sqlanon.methods.parameters import Parameter, declared
from sqlanon.methods.request_options import RequestOptions
from sqlanon.plans import json_schema
from sqlanon.plans.engines import ENGINES, Way
from sqlanon.publishing.thresholds import THRESHOLDS
from sqlanon.wording import spoken

_ROLES = ("quasi", "sensitive", "id")
SHARED = {name: argument for name, argument in declared(RequestOptions).items() if argument.job and name not in _ROLES}
_EXPANDED = Annotated[str, JobText(lambda folder, text: folder.expanded(text))]
_SOURCES: dict[str, Any] = {
    "path": JOB_FILE,
    "database": JOB_FILE,
    "table": _EXPANDED,
    "dsn": _EXPANDED,
    "master": _EXPANDED,
    "query": Annotated[str, JobText(lambda folder, text: folder.query(text))],
    "types": dict[str, JOB_TEXT],
    "missing": JOB_TEXTS,
}
_FIGURES = Annotated[dict[str, str | int | float], WithJsonSchema(THRESHOLDS)]
_FIRST = next(iter(ENGINES))  # which runs what names no engine


def _closed(name: str, needed: Mapping[str, Any], others: Mapping[str, Any], extra: Any = None) -> type[BaseModel]:
    """Return the model of a mapping that has some keys, perhaps the others, and no more. extra: of its schema."""
    keys: dict[str, Any] = {key: (kind, ...) for key, kind in needed.items()}
    keys |= {key: (kind, None) for key, kind in others.items()}
    return create_model(name, __config__=ConfigDict(strict=True, extra="forbid", json_schema_extra=extra), **keys)


_Roles = _closed("roles", {"quasi": JOB_TEXTS, "sensitive": JOB_TEXTS}, {"id": JOB_TEXTS})
_Output = _closed(
    "output",
    {},
    {"out": JOB_FILE, "into": _EXPANDED, "overwrite": bool},
    {"oneOf": [{"required": ["out"]}, {"required": ["into"]}]},
)


def _job(methods: tuple[str, ...], source: Any, parameters: Any) -> type[BaseModel]:
    needed = {"method": Literal[methods], "source": source, "roles": _Roles, "parameters": parameters}
    others = {"require": _FIGURES, "key_env": JOB_TEXT}
    return _closed(f"a job that publishes with {methods[0]}", {**needed, "output": _Output}, others)


def _source(engine: str, way: Way, engines: tuple[str, ...]) -> type[BaseModel]:
    """Return the model of a mapping that finds rows for an engine."""
    named, (needed, others) = {"engine": Literal[engines]}, way
    kinds = [{name: _SOURCES[name] for name in names} for names in (needed, others)]
    # what names no engine is for the first
    return _closed("source", *((kinds[0], named | kinds[1]) if engine == _FIRST else (kinds[0] | named, kinds[1])))


def own_parameters(method: str) -> dict[str, Parameter]:
    """Return the method's own parameters that a job can say; SHARED are those of all methods."""
    return {name: parameter for name, parameter in METHODS[method].parameters.items() if parameter.job}


def _parameters(method: str) -> type[BaseModel]:
    own = own_parameters(method)
    kinds = {name: _kind(parameter) for name, parameter in {**own, **SHARED}.items()}
    needed = {name: kinds.pop(name) for name, parameter in own.items() if parameter.required}
    return _closed(f"parameters of {method}", needed, kinds)


def _kind(parameter: Parameter) -> Any:
    words, limits = spoken(parameter.help, "command line"), partial(_limit, parameter.limits)
    return Annotated[parameter.kind.job, Field(description=words, json_schema_extra=limits)]


def _limit(limits: Mapping[str, float], schema: dict[str, Any]) -> None:
    """Write into a schema what its numbers lie between."""
    if schema.get("type") in ("integer", "number"):
        schema |= limits
    for part in (*schema.get("anyOf", ()), schema.get("additionalProperties")):
        if part:
            _limit(limits, part)


def model_of(method: Any, engine: str, source: Any) -> type[BaseModel]:
    """Return the model of a job that names a method, an engine and a source, which may be wrong."""
    kind: Any = JOB_FILE
    if isinstance(source, dict):
        ways = ENGINES[engine].sources
        way = ways[next((name for name in reversed(ways) if name in source), next(iter(ways)))]
        kind = _source(engine, way, tuple(ENGINES))
    return _job(tuple(METHODS), kind, _parameters(method) if method in tuple(METHODS) else Any)


class _Schema(GenerateJsonSchema):
    """Neither titles of keys, nor defaults: a key that is left out has none."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave titles out."""
        return False

    def default_schema(self, schema: Any) -> dict[str, Any]:
        """Leave defaults out."""
        return self.generate_inner(schema["schema"])


def _sources() -> Iterator[Any]:
    yield JOB_FILE
    for engine, declared_engine in ENGINES.items():
        for way in declared_engine.sources.values():
            yield _source(engine, way, (engine,))


def job_schema() -> dict[str, Any]:
    """Return the JSON schema of job files: of the job of one of the methods."""
    source: Any = Union[tuple(_sources())]  # noqa: UP007
    methods: Any = Union[tuple(_job((method,), source, _parameters(method)) for method in METHODS)]  # noqa: UP007
    schema = TypeAdapter(methods).json_schema(schema_generator=_Schema)
    return {"$schema": json_schema.DRAFT, "title": "a job of sqlanon run, a YAML file", **schema}
