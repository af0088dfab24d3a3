"""Publish: resolve what was asked, run the method's plan, verify, and let the release appear."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.driver import carried_out, fresh_prefix
from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.manifest import new_manifest
from sqlanon.methods import METHODS
from sqlanon.plan import Draws, Identity, Nulls, Plan, Request
from sqlanon.release import Release, open_release, published
from sqlanon.roles import Roles, resolve_roles
from sqlanon.secret import Key, PrivacyWarning
from sqlanon.targets import DirectoryTarget, SchemaTarget, SessionTarget, Target


@dataclass(frozen=True)
class Asked:
    """A publication as it was asked for, before any database was looked at."""

    method: str
    source: object
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifier: tuple[str, ...] = ()
    nulls: Nulls = "refuse"
    draws: Draws = "keyed"
    key: Key | None = None
    many_rows_per_person: bool = False
    show_values: bool = False


def as_tuple(names: str | Iterable[str]) -> tuple[str, ...]:
    """Take one name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def prepared(asked: Asked, engine: Engine, prefix: str, **parameters: Any) -> tuple[Plan, Any]:
    """Resolve the source and the roles; return the plan, and the source with its columns' types."""
    source, types = engine.source(asked.source)
    roles = resolve_roles(list(types), asked.quasi, asked.sensitive, asked.identifier)
    for name in roles.all:
        if types[name] == "NESTED":
            raise UsageError(f"column {name!r} holds nested values; roles take columns of single values")
    request = Request(
        source,
        roles,
        nulls=asked.nulls,
        draws=asked.draws,
        identity=_identity(asked),
        many_rows_per_person=asked.many_rows_per_person,
        show_values=asked.show_values,
    )
    return METHODS[asked.method].plan(request, prefix=prefix, **parameters), (source, types)


def _identity(asked: Asked) -> Identity:
    if asked.key is None or not asked.key.given:
        return "number"
    return "identifier" if asked.identifier and not asked.many_rows_per_person else "row"


def unpublished(roles: Roles, columns: Iterable[str]) -> list[str]:
    """Return the columns that have no role and are not published."""
    named = {name.lower() for name in roles.all}
    return [column for column in columns if column.lower() not in named]


def publish(
    asked: Asked,
    engine: Engine,
    out: str | Path | None = None,
    into: str | None = None,
    overwrite: bool = False,
    **parameters: Any,
) -> Release:
    """Publish to a directory (`out`), a schema (`into`), or the session; return the release.

    Raises UsageError for requests that no data could meet, DataError for those that this data cannot.
    """
    if out is not None and into is not None:
        raise UsageError("say --out or --into, not both")
    if asked.draws == "random":
        warnings.warn(
            "the engine's random() can be predicted from published values by a determined adversary;"
            " keyed draws (the default) cannot",
            PrivacyWarning,
            stacklevel=2,
        )
    plan, against = prepared(asked, engine, fresh_prefix(), **parameters)
    target = _target(engine, out, into, overwrite)
    with carried_out(plan, engine, asked.key or Key.fresh()) as found, target:
        dropped = found["feasibility"]["null_count"] if asked.nulls == "drop" else 0
        manifest = new_manifest(plan, engine.name, {}, dropped)
        manifest, tables = published(engine, target, plan.outputs, manifest, against)
    release = open_release(out) if out is not None else Release(engine, tables, manifest)
    release.sql = plan_text(plan)
    return release


def _target(engine: Engine, out: str | Path | None, into: str | None, overwrite: bool) -> Target:
    if out is not None:
        return DirectoryTarget(engine, out, overwrite)
    if into is not None:
        return SchemaTarget(engine, into, overwrite)
    return SessionTarget(engine, fresh_prefix())


def plan_text(plan: Plan) -> str:
    """Return the statements of a plan as they run, in order."""
    return "\n\n".join(f"-- {statement.name}\n{statement.sql};" for statement in plan.statements)
