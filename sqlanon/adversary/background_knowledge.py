"""An adversary who knows distributions: join a release with background tables, and say what posteriors they allow."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlanon.adversary.exposure import SLACK, Exposure, Holding, Priors
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import UsageError
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.plans.plan import Check as Refusal
from sqlanon.plans.plan import Source, Step, build, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.verification.checks import REPORTED, Check, Published, Report

NO_BACKGROUND = "-r says what no posterior may be above: name with --background what the adversary knows"
TOO_SMALL = "-r {r:g} protects nobody: a posterior of at most 1/r is none; r is a number above 1"
ROWS_AT_ONCE = 2_000_000  # of a release, held in memory as numbers; a quarter of it where they are fetched as objects
log = logging.getLogger("sqlanon")


@dataclass(frozen=True)
class Knowledge:
    """A background as it was named, matched with a release."""

    name: str
    background: Background


def knowledge(published: Published, tables: Sequence[object]) -> list[Knowledge]:
    """Find background tables as SOURCEs are found, and match them with a release's columns.

    Raises UsageError where one is not there or has other columns than a background has.
    """
    found = [(named, *published.engine.find_source(named)) for named in tables]
    return matched(published, found)


def matched(published: Published, tables: Sequence[tuple[object, Source, Mapping[str, str]]]) -> list[Knowledge]:
    """Match background tables, each with its source and its columns' types, with a release's columns."""
    columns = published.manifest["columns"]
    (sensitive,) = columns["sensitive"]
    qit, st = (published.engine.columns(f"select * from {published.tables[name]}") for name in ("qit", "st"))
    wanted = background.Columns({name: (name, qit[name]) for name in columns["quasi"]}, (sensitive, st[sensitive]))
    return [
        Knowledge(
            named if isinstance(named, str) else f"background {number}",
            background.declared(named, source, types, wanted),
        )
        for number, (named, source, types) in enumerate(tables, start=1)
    ]


def check_r(r: float | None, backgrounds: Sequence[object]) -> None:
    """Refuse an r that protects nobody, and an r without a background to hold against."""
    if r is None:
        return
    if not backgrounds:
        raise UsageError(NO_BACKGROUND)
    if not 1 < r < math.inf:
        raise UsageError(TOO_SMALL.format(r=r))


def reported(report: Report, published: Published, known: Sequence[Knowledge], r: float | None) -> Report:
    """Add to a release's verification what an adversary makes of it who knows these distributions.

    r: posteriors above 1/r fail the check; without it they are reported, beside what the release promises.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    rows, parameters = report.figures["rows"], published.manifest["parameters"]
    if not rows or any(check.name == "sizes" and not check.holds for check in report.checks):
        return _with(report, r, "not run: the groups of QIT and ST do not fit each other")
    name = "r" if r is not None or "r" in parameters else "l"
    limit = float(parameters[name]) if r is None else r
    found = examine(published, known, limit, rows)
    if any(one["rows"] < rows for one in found):
        return _with(report, r, "not run: some rows are in no group")
    promise = f"{'promised' if r is None else 'asked'} 1/{name} = {100 / limit:.4g} %"
    largest = max(one["largest_posterior"] for one in found)
    return replace(_with(report, r, largest), posterior=tuple(found), promise=promise)


def _with(report: Report, r: float | None, found: object) -> Report:
    """Add the check; a text says why there is no posterior."""
    required = REPORTED if r is None else f"<= 1/{r:g}"
    holds = found <= 1 / r + SLACK if r is not None and isinstance(found, float) else None
    return replace(report, checks=(*report.checks, Check("posterior", required, found, holds)))


def queries(published: Published, tables: Sequence[object]) -> list[Statement]:
    """Return the statements that `examine` runs, in order; of the groups, the first portion's."""
    known = knowledge(published, tables)
    prefix, portions = fresh_prefix(), _portions(published, published.manifest["rows"])
    found = [step.statement if isinstance(step, Refusal) else step for step in _steps(published, known, prefix)]
    for number, one in enumerate(known, start=1):
        told = _priors_queries(published, prefix, number, one) | _held_queries(
            published, prefix, number, one, portions, 0
        )
        found += [Statement(f"{name}_{number}", sql, "query") for name, sql in told.items()]
    return found


def examine(published: Published, known: Sequence[Knowledge], r: float, rows: int) -> list[dict[str, Any]]:
    """Return for each background what it makes of the release: `background`, `attributes`, figures of `Exposure`.

    r: rows are counted whose largest posterior is above 1/r. The groups of QIT and ST, `rows` rows, fit each other.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    prefix, engine, made = fresh_prefix(), published.engine, list[str]()
    unknown: list[int] = []
    try:
        for step in _steps(published, known, prefix):
            if isinstance(step, Refusal):
                (row,) = engine.rows(step.statement.sql)
                step.refuse(row)
                unknown += [row["unknown_values"]] if "unknown_values" in row else []
            else:
                made.append(step.relation)
                engine.create(step)
        return [
            {"background": one.name, "attributes": list(one.background.attributes), "unknown_values": unseen}
            | _exposure(published, prefix, number, one, r, rows).figures()
            for number, (one, unseen) in enumerate(zip(known, unknown, strict=True), start=1)
        ]
    finally:
        engine.drop(made)


def _steps(published: Published, known: Sequence[Knowledge], prefix: str) -> list[Statement | Refusal]:
    """Return the release's values, then each background's rows, checks, signatures and what it leaves over."""
    (sensitive,) = published.manifest["columns"]["sensitive"]
    counted = {"sensitive": sensitive, "count_column": published.manifest["columns"]["count"]}
    steps = [Step("adversary/background_knowledge/value", yields="tally", values=counted)]
    for number, one in enumerate(known, start=1):
        steps += background.steps(one.background, f"_{number}")
    given = {**published.tables, "population": published.tables["qit"]}
    return list(build(steps, {}, prefix, given))  # type: ignore[arg-type]


def _exposure(published: Published, prefix: str, number: int, one: Knowledge, r: float, rows: int) -> Exposure:
    """Let one background meet the groups, a portion of them at a time."""
    engine, portions = published.engine, _portions(published, rows)
    found = {name: engine.frame(sql) for name, sql in _priors_queries(published, prefix, number, one).items()}
    listed, share, tally = found["listed_prior"], found["share"], found["tally"]
    priors = Priors(
        _whole(listed["signature_number"]),
        _whole(listed["value_number"]),
        listed["probability"].to_numpy(dtype=float),
        share["share"].to_numpy(dtype=float)[np.argsort(_whole(share["signature_number"]))],
        _whole(tally["row_count"])[np.argsort(_whole(tally["value_number"]))],
    )
    exposure = Exposure(r)
    for portion in range(portions):
        log.info("posteriors of background %d, portion %d of %d", number, portion + 1, portions)
        asked = _held_queries(published, prefix, number, one, portions, portion)
        held = {name: engine.frame(sql) for name, sql in asked.items()}
        signatures, values = (
            Holding(*(_whole(frame[name]) for name in ("group_id", "item", "row_count"))) for frame in held.values()
        )
        exposure.add(signatures, values, priors)
    return exposure


def _priors_queries(published: Published, prefix: str, number: int, one: Knowledge) -> dict[str, str]:
    given = _relations(prefix, number)
    return {
        "listed_prior": published.query(
            "adversary/background_knowledge/listed_prior", given, attributes=one.background.columns
        ),
        "share": published.query("adversary/background_knowledge/share", given),
        "tally": published.query("adversary/background_knowledge/tally", given),
    }


def _held_queries(
    published: Published, prefix: str, number: int, one: Knowledge, portions: int, portion: int
) -> dict[str, str]:
    columns, given = published.manifest["columns"], _relations(prefix, number)
    (sensitive,) = columns["sensitive"]
    asked = {"group_column": columns["group"], "portions": portions, "portion": portion}
    valued = {"sensitive": sensitive, "count_column": columns["count"]}
    return {
        "held_signature": published.query(
            "adversary/background_knowledge/held_signature", given, attributes=one.background.columns, **asked
        ),
        "held_value": published.query("adversary/background_knowledge/held_value", given, **valued, **asked),
    }


def _relations(prefix: str, number: int) -> dict[str, Any]:
    names = ("background", "signature", "remainder")
    return {name: relation_name(prefix, f"{name}_{number}") for name in names} | {
        "tally": relation_name(prefix, "tally")
    }


def _portions(published: Published, rows: int) -> int:
    """Return in how many portions the groups are looked at; engines of other processes hand over objects."""
    most = ROWS_AT_ONCE if published.engine.in_process else ROWS_AT_ONCE // 4
    return 1 + rows // most


def _whole(column: Any) -> Any:
    return column.to_numpy(dtype=np.int64)
