"""Publish: resolve what was asked, run the method's plan, verify, and let the release appear."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.errors import TargetError, UsageError
from sqlanon.key import Key, PrivacyWarning
from sqlanon.methods import METHODS
from sqlanon.plans.manifest import Manifest, new_manifest
from sqlanon.plans.plan import Beside, Check, Draws, Identity, Loop, Nulls, Plan, Request, Row, Source
from sqlanon.plans.roles import checked_roles, resolve_roles, split_columns
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.publishing.kept_files import check, saved
from sqlanon.releases.database_targets import SchemaTarget, SessionTarget
from sqlanon.releases.directory_target import DirectoryTarget
from sqlanon.releases.release import Release, open_release
from sqlanon.releases.targets import Target
from sqlanon.releases.verified_write import write_verified
from sqlanon.sql.shell_script import write_script
from sqlanon.verification.checks import Report


@dataclass(frozen=True)
class Asked:
    """A publication as it was asked for, before any database was looked at; files: what else the run reads."""

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
    files: tuple[str, ...] = ()


def prepared(
    asked: Asked, engine: Engine, prefix: str, identity: Identity | None = None, **parameters: Any
) -> tuple[Plan, Any]:
    """Resolve the source and the roles; return the plan, and the source with its columns' types.

    identity: how rows are told apart; what serves the key best if None.
    """
    method = METHODS[asked.method]
    _refuse_elsewhere(method, engine.dialect)
    source, types = engine.find_source(asked.source)
    roles = resolve_roles(list(types), asked.quasi, asked.sensitive, asked.identifier)
    listed = source.lists if getattr(method, "TAKES_LISTS", False) else {}
    for name in roles.all:
        if types[name] == "NESTED" and (name not in listed or name in roles.identifier):
            raise UsageError(f"column {name!r} holds nested values; roles take columns of single values")
    request = Request(
        source,
        roles,
        nulls=asked.nulls,
        draws=asked.draws,
        identity=identity or _identity(asked),
        many_rows_per_person=asked.many_rows_per_person,
        show_values=asked.show_values,
        types=types,
    )
    found = {name: _found(value, engine) for name, value in parameters.items()}
    if probe := getattr(method, "probe", None):
        asked_first = probe(request, **found)
        request = replace(request, probed=engine.rows(asked_first)[0] if asked_first else {})
    return method.plan(request, prefix=prefix, **found), (source, types)


def _refuse_elsewhere(method: ModuleType, dialect: str) -> None:
    """Refuse a dialect in which a method cannot be said."""
    dialects = getattr(method, "DIALECTS", (dialect,))
    if dialect not in dialects:
        raise UsageError(f"{method.NAME} runs on {', '.join(dialects)}, not on {dialect}: {method.DIALECTS_WHY}")


def _found(value: Any, engine: Engine) -> Any:
    """Look up the tables that parameters name beside the source, alone, in a tuple or in a mapping."""
    if isinstance(value, Beside):
        source, types = engine.find_source(value.named, value.as_text)
        rows = (
            tuple(engine.rows(f"select {_read(types, value.as_text)} from {source.relation}")) if value.fetched else ()
        )
        return replace(value, source=source, types=types, rows=rows)
    if isinstance(value, tuple):
        return tuple(_found(one, engine) for one in value)
    if isinstance(value, Mapping):
        return {name: _found(one, engine) for name, one in value.items()}
    return value


def _read(types: Mapping[str, str], as_text: bool) -> str:
    return ", ".join(f"cast({ident(name)} as varchar) as {ident(name)}" for name in types) if as_text else "*"


def _identity(asked: Asked) -> Identity:
    if asked.key is None or not asked.key.given:
        return "number"
    return _identity_elsewhere(asked)


def _identity_elsewhere(asked: Asked) -> Identity:
    """Return how rows are told apart where the key is another's: as they are, whatever numbers them."""
    return "identifier" if asked.identifier and not asked.many_rows_per_person else "row"


def publish(
    asked: Asked,
    engine: Engine,
    out: str | Path | None = None,
    into: str | None = None,
    overwrite: bool = False,
    accept: Callable[[Manifest], None] | None = None,
    save: Sequence[Path] = (),
    **parameters: Any,
) -> Release:
    """Publish to a directory (`out`), a schema (`into`), or the session; return the release.

    accept: looks at the verified manifest before anything is visible, and may raise.
    save: a file for each of the plan's asides, which the publisher keeps, or none.
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
    kept = _kept(asked, plan, save, overwrite, out)
    with engine.snapshot(), run_plan(plan, engine, asked.key or Key.fresh()) as found:
        plan = plan.fitted(found) if plan.fitted else plan
        dropped = sum(int(row["dropped_rows"]) for row in found.values() if "dropped_rows" in row)
        manifest = new_manifest(plan, engine.name, {}, dropped)
        with saved(engine, kept, save), target:
            made = write_verified(engine, target, plan.outputs, manifest, against, accept, _known(plan, engine))
    manifest, tables, report = made
    release = open_release(out) if out is not None else Release(engine, tables, manifest)
    release.sql = plan_text(plan, engine)
    release.notes = [*plan.notes, *_notes(asked, plan, against[1], into), *_exposed(report), *_unknown(found)]
    release.learned = dict(plan.learned)
    return release


def _kept(
    asked: Asked, plan: Plan, save: Sequence[Path], overwrite: bool, out: str | Path | None
) -> tuple[Statement, ...]:
    """Return the asides that are saved: all of them, or none; refuse files that would be lost or handed on."""
    read = (asked.source, *asked.files, *plan.read)
    check(plan.saves, overwrite, out, read)
    if not save:
        return ()
    if len(save) != len(plan.asides):
        raise UsageError(f"{len(plan.asides)} tables are learned from the data, and {len(save)} files are to keep them")
    check(save, overwrite, out, read)
    return plan.asides


def _exposed(report: Report) -> list[str]:
    """Tell the publisher alone what the backgrounds come to: it is a function of what they hold."""
    largest = [one["largest_posterior"] for one in report.posterior]
    return [f"the largest posterior of who knows these backgrounds is {max(largest):.1%}"] if largest else []


def _unknown(found: Mapping[str, Row]) -> list[str]:
    """Tell how many values backgrounds list that the data does not have: they may be spelt differently."""
    rows = [row for row in found.values() if row.get("unknown_values")]
    return [
        f"{row['unknown_values']} of {row['listed_values']} values of a background are none of the data's"
        for row in rows
    ]


def _known(plan: Plan, engine: Engine) -> list[tuple[str, Source, Mapping[str, str]]]:
    """Return the distributions that the finished release is looked at with: name, source, types of the columns."""
    found: list[tuple[str, Source, Mapping[str, str]]] = []
    for number, one in enumerate(plan.known, start=1):
        if isinstance(one, Statement):
            found.append((f"background {number}", Source(Sql(f"(\n{one.sql}\n)")), engine.columns(one.sql)))
        elif one.source is not None:
            found.append((f"background {number}", one.source, one.types))
    return found


def _target(engine: Engine, out: str | Path | None, into: str | None, overwrite: bool) -> Target:
    place = "directory" if out is not None else "schema" if into is not None else "session"
    if place not in engine.places:
        raise TargetError(
            f"{engine.dialect} does not publish to a {place}; say --out DIR"
            if "directory" in engine.places
            else f"{engine.dialect} keeps everything in the server and writes no files; say --into SCHEMA"
        )
    if out is not None:
        return DirectoryTarget(engine, out, overwrite)
    if into is not None:
        return SchemaTarget(engine, into, overwrite)
    return SessionTarget(engine, fresh_prefix())


def statements(
    asked: Asked,
    engine: Engine,
    out: str | Path | None,
    into: str | None,
    overwrite: bool = False,
    save: Sequence[Path] = (),
    **parameters: Any,
) -> str:
    """Return what `publish` would run, in order, as text; nothing runs but a look at the source's columns."""
    plan, _ = prepared(asked, engine, "sqlanon_", **parameters)
    _kept(asked, plan, save, overwrite, out)
    written = {}
    for output in plan.outputs:
        if into is not None:
            relation = f"{ident(into)}.{ident(output.name)}"
            written[output.name] = engine.text(Statement(output.name, output.sql, "table", relation), lasting=True)
        else:
            written[output.name] = engine.parquet_text(output.sql, Path(out or ".") / f"{output.name}.parquet")
    texts = [plan_text(plan, engine)] + [f"-- {name}\n{text};" for name, text in written.items()]
    return "\n\n".join(texts) + "\n"


def compiled(asked: Asked, dialect: str, engine: Engine | None = None, **parameters: Any) -> str:
    """Return the method's script for another engine; no database is needed, columns are taken as given.

    engine: where the source stands, for a method whose script depends on the types of its columns.
    """
    method = METHODS[asked.method]
    _refuse_elsewhere(method, dialect)
    if engine is not None:
        plan, _ = prepared(asked, engine, "sqlanon_", _identity_elsewhere(asked), **parameters)
        return write_script(plan, dialect, method.PAPER)
    roles = checked_roles(*(split_columns(names) for names in (asked.quasi, asked.sensitive, asked.identifier)))
    request = Request(
        Source(_table_elsewhere(str(asked.source), dialect)),
        roles,
        nulls=asked.nulls,
        draws=asked.draws,
        identity=_identity_elsewhere(asked),
        many_rows_per_person=asked.many_rows_per_person,
    )
    return write_script(method.plan(request, prefix="sqlanon_", **parameters), dialect, method.PAPER)


def _table_elsewhere(text: str, dialect: str) -> Sql:
    """Return the reference to a table of another engine, its dotted parts quoted one by one."""
    if text.lower().endswith(".parquet") or "/" in text:
        if dialect == "duckdb":
            return Sql(f"read_parquet({literal(text)})")
        if dialect in ("spark", "databricks"):
            return Sql(f"{ident('parquet')}.{ident(text)}")
        raise UsageError(f"{dialect} publishes from a table, not from the file {text!r}; load it, then name the table")
    parts = text.split(".")
    if not all(parts):
        raise UsageError(f"{text!r} is not the name of a table")
    return Sql(".".join(ident(part) for part in parts))


def plan_text(plan: Plan, engine: Engine) -> str:
    """Return the statements of a plan as they run before anything is written, in order."""
    texts = [text for step in plan.steps for text in _step_text(step, engine)]
    key = f"-- key (bound, never shown)\ncreate temporary table {plan.key} (secret varchar);"
    return "\n\n".join([key, f"insert into {plan.key} values (?);", *texts])


def _step_text(step: Statement | Check | Loop, engine: Engine) -> list[str]:
    if isinstance(step, Loop):
        (left,) = _step_text(step.left, engine)
        turn = [text for statement in step.body for text in _step_text(statement, engine)]
        after = f"{step.body[-1].relation} takes the place of {step.state}"
        last = f"-- {step.name}: {after}; again from left_over on, while it is above 0, at most {step.limit} turns"
        return [left, *turn, last]
    statement = step.statement if isinstance(step, Check) else step
    return [f"-- {statement.name}\n{engine.text(statement)};"]


def _notes(asked: Asked, plan: Plan, types: Mapping[str, str], into: str | None) -> list[str]:
    """Say what a publisher has to know about what just happened."""
    label = [plan.columns["label"]] if "label" in plan.columns else []
    named = {name.lower() for name in (*plan.columns["quasi"], *plan.columns["sensitive"], *label)}
    left_out = [column for column in types if column.lower() not in named]
    notes = []
    if left_out:
        notes.append(f"not published: {', '.join(left_out)}")
    if asked.nulls == "drop":
        notes.append("dropped: rows without a sensitive value; who knows who was in the table can tell whose they were")
    if asked.key is not None and asked.key.given:
        notes.append(
            "keep the key as secret as the source: whoever has it can undo the release. Publishing these people again,"
            " with this key on changed data or with another key, gives a second release that intersects with this one"
        )
    if into is not None:
        notes.append(f"hand on a copy of the schema {into!r}, never the database file, which holds the microdata")
    return notes
