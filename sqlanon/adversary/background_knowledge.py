"""Adversaries who know distributions: join a release with background tables, and compute their posteriors."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.runner import ChapterRun
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Loop, Report, Source, Statement
from sqlanon.verification.checks import ROUNDING, PublishedTables

PAIRS_AT_ONCE = 50_000  # pairs of a group and a signature or value in memory at once; equal groups count once
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


def posterior_queries(published: PublishedTables, tables: Sequence[object], r: float) -> list[Statement]:
    """Return the statements that `examine_backgrounds` runs, in order; of the groups, the first portion's."""
    backgrounds, run = find_backgrounds(published, tables), _start(published)
    statements = _statements(run, [_values(published)])
    for number, match in enumerate(backgrounds, start=1):
        statements += _statements(run, _chapters(published, match, number, r))
        texts = _priors(run, number) | _portion(run, 0)
        statements += [Statement(f"{name}_{number}", sql, "query") for name, sql in texts.items()]
    return statements


def _statements(run: ChapterRun, chapters: Sequence[Chapter]) -> list[Statement]:
    return [
        step.statement if isinstance(step, Report) else step
        for step in run.build(chapters)
        if not isinstance(step, Loop)
    ]


def examine_backgrounds(
    published: PublishedTables, backgrounds: Sequence[MatchedBackground], r: float
) -> list[dict[str, Any]]:
    """Return for each background the figures of its `Exposure`, with its name (`background`) and its `attributes`.

    r: rows are counted whose largest posterior is above 1/r. The groups of QIT and ST fit each other.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    from sqlanon.adversary.exposure import Exposure, Holding  # numpy and scipy are slow to import
    from sqlanon.adversary.priors import Priors

    run, engine = _start(published), published.engine
    try:
        run.take([_values(published)])
        found = []
        for number, match in enumerate(backgrounds, start=1):
            reports = run.take(_chapters(published, match, number, r))
            exposure = Exposure(r)
            exposure.add_alone(run.rows("one_signature"))
            priors = Priors.from_frames(*(engine.frame(sql) for sql in _priors(run, number).values()))
            portions = reports["portions"]["portions"]
            for portion in range(portions):
                log.info("posteriors of background %d, portion %d of %d", number, portion + 1, portions)
                signatures, values = (Holding.from_frame(engine.frame(sql)) for sql in _portion(run, portion).values())
                exposure.add(signatures, values, priors)
            named = {"background": match.name, "attributes": list(match.background.attributes)}
            unknown = reports.get(f"gaps_{number}", {}).get("unknown_values", 0)
            found.append({**named, "unknown_values": unknown, **exposure.figures()})
        return found
    finally:  # the tables hold the adversary's knowledge, not the release's
        run.drop()


def _start(published: PublishedTables) -> ChapterRun:
    # a background's chapter is a publisher's, who checks it against the microdata: here QIT stands for its rows
    return ChapterRun(published.engine, {**published.tables, "population": published.tables["qit"]})


def _values(published: PublishedTables) -> Chapter:
    columns = published.manifest["columns"]
    (sensitive,) = columns["sensitive"]
    return Chapter("verify/values", {"sensitive": sensitive, "group": columns["group"], "count": columns["count"]})


def _chapters(published: PublishedTables, match: MatchedBackground, number: int, r: float) -> list[Chapter]:
    """Return the chapters of one background: what it says, and the groups that it meets."""
    values = {
        "number": number,
        "group": published.manifest["columns"]["group"],
        "attributes": match.background.columns,
        "names": background.names_of(match.background),
        "r": float(r),
        "limit": 1 / r + ROUNDING,
        "most": PAIRS_AT_ONCE,
    }
    return [background.read_table(match.background, number, spelled=False), Chapter("verify/background", values)]


def _priors(run: ChapterRun, number: int) -> dict[str, str]:
    """Return what the driver reads of a background: priors that it lists, what it leaves over, and rows of values."""
    remainder = run.relations[f"remainder_{number}"]
    return {
        "listed_prior": f"select * from {run.relations['listed_prior']}",
        "share": f"select signature_number, share from {remainder}",
        "tally": f"select value_number, row_count from {run.relations['tally']}",
    }


def _portion(run: ChapterRun, portion: int) -> dict[str, str]:
    """Return what the driver reads of some of the different groups."""
    return {
        name: f"select group_id, item, row_count, often from {run.relations[name]} where portion = {portion}"
        for name in ("signatures_alike", "values_alike")
    }
