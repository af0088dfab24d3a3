"""Adversaries who know distributions: join a release with background tables, and count the posteriors they reach."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.engines.runner import fresh_prefix
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.plans.build import build
from sqlanon.plans.plan import Check as Refusal
from sqlanon.plans.plan import Loop, Report, Source, Step, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables

if TYPE_CHECKING:
    from sqlanon.adversary.exposure import Exposure

ROWS_AT_ONCE = 250_000  # of a release, held in memory as numbers
FETCHED_AT_ONCE = 500_000  # from engines of other processes, where each question costs more than its rows
log = logging.getLogger("sqlanon")


@dataclass(frozen=True)
class MatchedBackground:
    """A background as it was named, matched with a release."""

    name: str
    background: Background


def find_backgrounds(published: PublishedTables, tables: Sequence[object]) -> list[MatchedBackground]:
    """Find background tables as SOURCEs are found, and match them with a release's columns.

    Raises UsageError where one is not there or has other columns than a background has.
    """
    sources = [(table, *published.engine.find_source(table)) for table in tables]
    return match_backgrounds(published, sources)


def match_backgrounds(
    published: PublishedTables, tables: Sequence[tuple[object, Source, Mapping[str, str]]]
) -> list[MatchedBackground]:
    """Match background tables, each with its source and its columns' types, with a release's columns."""
    columns = published.manifest["columns"]
    (sensitive,) = columns["sensitive"]
    qit, st = published.columns("qit"), published.columns("st")
    release_columns = background.Columns(
        {name: (name, qit[name]) for name in columns["quasi"]}, (sensitive, st[sensitive])
    )
    return [
        MatchedBackground(
            table if isinstance(table, str) else f"background {number}",
            background.declared(table, source, types, release_columns),
        )
        for number, (table, source, types) in enumerate(tables, start=1)
    ]


def posterior_queries(published: PublishedTables, tables: Sequence[object]) -> list[Statement]:
    """Return the statements that `examine_backgrounds` runs, in order; of the groups, the first portion's."""
    backgrounds = find_backgrounds(published, tables)
    # nothing runs here: the manifest's rows stand for those that verification counts
    prefix, portions = fresh_prefix(), _portions(published, published.manifest["rows"])
    steps = _steps(published, backgrounds, prefix)
    statements = [step.statement if isinstance(step, Report) else step for step in steps]
    for number, match in enumerate(backgrounds, start=1):
        texts = _priors_queries(published, prefix, number, match)
        texts |= _held_queries(published, prefix, number, match, portions, 0)
        statements += [Statement(f"{name}_{number}", sql, "query") for name, sql in texts.items()]
    return statements


def examine_backgrounds(
    published: PublishedTables, backgrounds: Sequence[MatchedBackground], r: float, rows: int
) -> list[dict[str, Any]]:
    """Return for each background the figures of its `Exposure`, with its name (`background`) and its `attributes`.

    r: rows are counted whose largest posterior is above 1/r. The groups of QIT and ST, `rows` rows, fit each other.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    prefix, engine, relations = fresh_prefix(), published.engine, list[str]()
    unknown: list[int] = []
    try:
        for step in _steps(published, backgrounds, prefix):
            if isinstance(step, Report):
                (row,) = engine.rows(step.statement.sql)
                if isinstance(step, Refusal):
                    step.refuse(row)
                unknown += [row["unknown_values"]] if "unknown_values" in row else []
            else:
                relations.append(step.relation)
                engine.create(step)
        return [
            {"background": match.name, "attributes": list(match.background.attributes), "unknown_values": count}
            | _measure_exposure(published, prefix, number, match, r, rows).figures()
            for number, (match, count) in enumerate(zip(backgrounds, unknown, strict=True), start=1)
        ]
    finally:  # the tables hold the adversary's knowledge, not the release's
        engine.drop(relations)


def _steps(
    published: PublishedTables, backgrounds: Sequence[MatchedBackground], prefix: str
) -> list[Statement | Report]:
    """Return the release's values, then each background's rows, checks, signatures and what it leaves over."""
    (sensitive,) = published.manifest["columns"]["sensitive"]
    names = {"sensitive": sensitive, "count_column": published.manifest["columns"]["count"]}
    # every background's values are numbered alike, by the release's own
    steps = [Step("adversary/background_knowledge/value", yields="tally", values=names)]
    for number, match in enumerate(backgrounds, start=1):
        steps += background.steps(match.background, f"_{number}")
    # the steps are a publisher's, who checks a background against the microdata: here QIT stands for its rows
    relations = {**published.tables, "population": published.tables["qit"]}
    return [step for step in build(steps, {}, prefix, relations) if not isinstance(step, Loop)]


def _measure_exposure(
    published: PublishedTables, prefix: str, number: int, match: MatchedBackground, r: float, rows: int
) -> "Exposure":
    """Let one background meet the groups, a portion of them at a time."""
    from sqlanon.adversary.exposure import Exposure, Holding  # numpy and scipy are slow to import
    from sqlanon.adversary.priors import Priors

    engine, portions = published.engine, _portions(published, rows)
    texts = _priors_queries(published, prefix, number, match)
    priors = Priors.from_frames(*(engine.frame(sql) for sql in texts.values()))
    exposure = Exposure(r)
    for portion in range(portions):
        log.info("posteriors of background %d, portion %d of %d", number, portion + 1, portions)
        texts = _held_queries(published, prefix, number, match, portions, portion)
        signatures, values = (Holding.from_frame(engine.frame(sql)) for sql in texts.values())
        exposure.add(signatures, values, priors)
    return exposure


def _priors_queries(published: PublishedTables, prefix: str, number: int, match: MatchedBackground) -> dict[str, str]:
    relations = _relations(prefix, number)
    return {
        "listed_prior": published.query(
            "adversary/background_knowledge/listed_prior", relations, attributes=match.background.columns
        ),
        "share": published.query("adversary/background_knowledge/share", relations),
        "tally": published.query("adversary/background_knowledge/tally", relations),
    }


def _held_queries(
    published: PublishedTables, prefix: str, number: int, match: MatchedBackground, portions: int, portion: int
) -> dict[str, str]:
    columns, relations = published.manifest["columns"], _relations(prefix, number)
    (sensitive,) = columns["sensitive"]
    grouped = {"group_column": columns["group"], "portions": portions, "portion": portion}
    names = {"sensitive": sensitive, "count_column": columns["count"]}
    return {
        "held_signature": published.query(
            "adversary/background_knowledge/held_signature", relations, attributes=match.background.columns, **grouped
        ),
        "held_value": published.query("adversary/background_knowledge/held_value", relations, **names, **grouped),
    }


def _relations(prefix: str, number: int) -> dict[str, Sql]:
    names = ("background", "signature", "remainder")
    return {name: relation_name(prefix, f"{name}_{number}") for name in names} | {
        "tally": relation_name(prefix, "tally")
    }


def _portions(published: PublishedTables, rows: int) -> int:
    """Return in how many portions the groups are looked at."""
    most = ROWS_AT_ONCE if published.engine.in_process else FETCHED_AT_ONCE
    return 1 + rows // most
