"""Adversaries who know distributions: join a release with background tables, and compute their posteriors."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.engines.runner import fresh_prefix
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.plans.build import build, render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Check as Refusal
from sqlanon.plans.plan import Loop, Report, Source, Step, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import PublishedTables

if TYPE_CHECKING:
    from sqlanon.adversary.exposure import Exposure

PAIRS_AT_ONCE = 500_000  # pairs of a group and a signature or value in memory at once; equal groups count once
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
    backgrounds, prefix = find_backgrounds(published, tables), fresh_prefix()
    steps = _steps(published, backgrounds, prefix)
    statements = [step.statement if isinstance(step, Report) else step for step in steps]
    for number, match in enumerate(backgrounds, start=1):
        texts = _priors_queries(published, prefix, number, match)
        texts |= {"portions": _portions_query(published, prefix, number)}
        texts |= _held_queries(published, prefix, number, 0)
        statements += [Statement(f"{name}_{number}", sql, "query") for name, sql in texts.items()]
    return statements


def examine_backgrounds(
    published: PublishedTables, backgrounds: Sequence[MatchedBackground], r: float
) -> list[dict[str, Any]]:
    """Return for each background the figures of its `Exposure`, with its name (`background`) and its `attributes`.

    r: rows are counted whose largest posterior is above 1/r. The groups of QIT and ST fit each other.
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
            | _measure_exposure(published, prefix, number, match, r).figures()
            for number, (match, count) in enumerate(zip(backgrounds, unknown, strict=True), start=1)
        ]
    finally:  # the tables hold the adversary's knowledge, not the release's
        engine.drop(relations)


def _steps(
    published: PublishedTables, backgrounds: Sequence[MatchedBackground], prefix: str
) -> list[Statement | Report]:
    """Return the release's values and where they stand; each background's rows, checks, signatures, groups alike."""
    columns = published.manifest["columns"]
    (sensitive,) = columns["sensitive"]
    names, group = {"sensitive": sensitive, "count_column": columns["count"]}, {"group_column": columns["group"]}
    counted = Sql(f"cast(sum({ident(columns['count'])}) as bigint)")
    values = {"relation": published.tables["st"], "value": ident(sensitive), "row_count": counted}
    # values have the same numbers in every background: those of the release
    steps: list[Step | Chapter] = [
        Step("shared/value", yields="tally", values={**values, "number": "value_number"}),
        Step("adversary/background_knowledge/held_value", values=names | group),
    ]
    for number, match in enumerate(backgrounds, start=1):
        attributes = {"attributes": match.background.columns}
        steps += (
            background.chapter(match.background, number, whole=False),
            Step(
                "adversary/background_knowledge/held_signature",
                values=attributes | group,
                suffix=f"_{number}",
                reads={"signature": f"signature_{number}"},
            ),
            Step("adversary/background_knowledge/alike", values={"most": PAIRS_AT_ONCE}, suffix=f"_{number}"),
        )
    # the steps are a publisher's, who checks a background against the microdata: here QIT stands for its rows
    relations = {**published.tables, "population": published.tables["qit"]}
    return [step for step in build(steps, {}, prefix, relations) if not isinstance(step, Loop)]


def _measure_exposure(
    published: PublishedTables, prefix: str, number: int, match: MatchedBackground, r: float
) -> "Exposure":
    """Let one background meet the groups that differ, a portion of them at a time."""
    from sqlanon.adversary.exposure import Exposure, Holding  # numpy and scipy are slow to import
    from sqlanon.adversary.priors import Priors

    engine = published.engine
    texts = _priors_queries(published, prefix, number, match)
    priors = Priors.from_frames(*(engine.frame(sql) for sql in texts.values()))
    exposure = Exposure(r)
    (row,) = engine.rows(_portions_query(published, prefix, number))
    for portion in range(row["portions"]):
        log.info("posteriors of background %d, portion %d of %d", number, portion + 1, row["portions"])
        texts = _held_queries(published, prefix, number, portion)
        signatures, values = (Holding.from_frame(engine.frame(sql)) for sql in texts.values())
        exposure.add(signatures, values, priors)
    return exposure


def _priors_queries(published: PublishedTables, prefix: str, number: int, match: MatchedBackground) -> dict[str, str]:
    relations = _relations(prefix, number)
    return {
        "listed_prior": published.query(
            "adversary/background_knowledge/listed_prior", relations, attributes=match.background.columns
        ),
        "share": _read_columns(relations["remainder"], "signature_number", "share"),
        "tally": _read_columns(relations["tally"], "value_number", "row_count"),
    }


def _read_columns(relation: Sql, *names: str) -> str:
    selected = [(ident(name), name) for name in names]
    return render_query("shared/source", {"relation": relation, "selected": selected}, {})


def _portions_query(published: PublishedTables, prefix: str, number: int) -> str:
    return published.query("adversary/background_knowledge/portions", _relations(prefix, number))


def _held_queries(published: PublishedTables, prefix: str, number: int, portion: int) -> dict[str, str]:
    relations = _relations(prefix, number)
    return {
        name: published.query(
            "adversary/background_knowledge/lines", relations | {"held": relations[name]}, portion=portion
        )
        for name in ("held_signature", "held_value")
    }


def _relations(prefix: str, number: int) -> dict[str, Sql]:
    names = ("background", "signature", "remainder", "held_signature", "alike")
    return {name: relation_name(prefix, f"{name}_{number}") for name in names} | {
        name: relation_name(prefix, name) for name in ("tally", "held_value")
    }
