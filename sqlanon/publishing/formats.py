"""The formats that last, each as a JSON schema: what sqlanon writes for others to read, and what it reads of them."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlanon.ledgers.contents import ledger_schema
from sqlanon.methods import METHODS
from sqlanon.methods.name_types import Columns
from sqlanon.plans import json_schema
from sqlanon.plans.engines import ENGINES, Way
from sqlanon.plans.json_schema import Schema
from sqlanon.publishing.job_file import KEYS, OUTPUT_KEYS, ROLE_KEYS, SHARED, own_parameters
from sqlanon.publishing.run_job import log_schema
from sqlanon.publishing.thresholds import THRESHOLDS
from sqlanon.releases.manifest_schema import release_schema

_TEXT = json_schema.any_text()
_READING = {"types": json_schema.keyed(_TEXT), "missing": json_schema.either(_TEXT, json_schema.several(_TEXT, 1))}
_OUTPUT = {"out": _TEXT, "into": _TEXT, "overwrite": {"type": "boolean"}}


def job_schema() -> dict[str, Any]:
    """Return the JSON schema of job files: of the job of one of the methods."""
    jobs = json_schema.either(*map(_job, METHODS))
    return {"$schema": json_schema.DRAFT, "title": "a job of sqlanon run, a YAML file", **jobs}


def _job(method: str) -> dict[str, Any]:
    members = {
        "method": json_schema.word(method),
        "source": json_schema.either(_TEXT, *_sources(method)),
        "roles": _record(ROLE_KEYS, dict.fromkeys((*ROLE_KEYS[0], *ROLE_KEYS[1]), Columns().job_schema({}))),
        "parameters": _parameters(method),
        "output": json_schema.either(
            *(json_schema.record({place: _OUTPUT[place]}, {"overwrite": _OUTPUT["overwrite"]}) for place in _places())
        ),
        "require": THRESHOLDS,
        "key_env": _TEXT,
    }
    return {"title": f"a job that publishes with {method}", **_record(KEYS, members)}


def _record(keys: Way, members: Schema) -> dict[str, Any]:
    """Return the schema of a mapping with the keys that are needed, and perhaps the others."""
    return json_schema.record(*({name: members[name] for name in names} for names in keys))


def _places() -> list[str]:
    return [name for name in OUTPUT_KEYS[1] if name != "overwrite"]


def _sources(method: str) -> Iterator[dict[str, Any]]:
    """Yield the schema of each mapping that finds rows, on each engine that runs the method."""
    for engine, declared in ENGINES.items():
        named = {"engine": json_schema.word(engine)}
        for needed, others in declared.sources.values():
            required, optional = dict.fromkeys(needed, _TEXT), {name: _READING.get(name, _TEXT) for name in others}
            if engine == next(iter(ENGINES)):  # which runs what names no engine
                yield json_schema.record(required, {**optional, **named})
            else:
                yield json_schema.record({**required, **named}, optional)


def _parameters(method: str) -> dict[str, Any]:
    own = own_parameters(method)
    required = {name: parameter.job_schema for name, parameter in own.items() if parameter.required}
    optional = {name: parameter.job_schema for name, parameter in {**own, **SHARED}.items() if name not in required}
    return json_schema.record(required, optional)


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "release": release_schema,
    "ledger": ledger_schema,
    "job": job_schema,
    "log": log_schema,
}
