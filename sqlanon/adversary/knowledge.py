"""What an adversary knows beside a release: distributions of the sensitive value (backgrounds), or a list of people.

Backgrounds are joined with a release of groups, and their holder's posteriors added to its verification. The answer
about a list of people has one line for all voters whose quasi values are equal: its columns are published ones, so that
a list with names, or with the sensitive column, shows nothing more than what the release does.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.coarser_source import refuse_endless
from sqlanon.engines.runner import ChapterRun
from sqlanon.errors import UsageError
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.plan import Source, Statement, statements_of
from sqlanon.plans.roles import free_name, resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import REPORTED, ROUNDING, Check, PublishedTables, Report
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("sqlanon")

PAIRS_AT_ONCE = 50_000  # pairs of a group and a signature or value in memory at once; equal groups count once


Matched = list[tuple[str, Background]]  # backgrounds as they were named, matched with a release
NO_BACKGROUND = (
    f"{option('r', flag='-r')} says what no posterior may be above: name with {option('background')} what the adversary"
    " knows"
)
ANSWERS = ("matching_rows", "voters_alike", "presence", "confidence", "risk")


def find_backgrounds(published: PublishedTables, tables: Sequence[object]) -> Matched:
    """Find background tables as SOURCEs are found, and match them with a release's columns.

    Raises UsageError where one is not there or has other columns than a background has.
    """
    sources = [(table, *published.engine.find_source(table)) for table in tables]
    return match_backgrounds(published, sources)


def match_backgrounds(
    published: PublishedTables, tables: Sequence[tuple[object, Source, Mapping[str, str]]]
) -> Matched:
    """Match background tables, each with its source and its columns' types, with a release's columns."""
    columns = published.manifest["columns"]
    (sensitive,) = columns["sensitive"]
    qit, st = published.columns("qit"), published.columns("st")
    release_columns = background.Columns(
        {name: (name, qit[name]) for name in columns["quasi"]}, (sensitive, st[sensitive])
    )
    return [
        (
            table if isinstance(table, str) else f"background {number}",
            background.declared(table, source, types, release_columns),
        )
        for number, (table, source, types) in enumerate(tables, start=1)
    ]


def posterior_queries(published: PublishedTables, tables: Sequence[object], r: float) -> list[Statement]:
    """Return the statements that `examine_backgrounds` runs, in order; of the groups, the first portion's."""
    backgrounds, run = find_backgrounds(published, tables), _start(published)
    statements = [statement for step in run.build([_values(published)]) for statement in statements_of(step)]
    for number, (_, match) in enumerate(backgrounds, start=1):
        steps = run.build(_chapters(published, match, number, r))
        statements += [statement for step in steps for statement in statements_of(step)]
        texts = _priors(run, number) | _portion(run, 0)
        statements += [Statement(f"{name}_{number}", sql, "query") for name, sql in texts.items()]
    return statements


def examine_backgrounds(published: PublishedTables, backgrounds: Matched, r: float) -> list[dict[str, Any]]:
    """Return for each background the figures of its `Exposure`, with its name (`background`) and its `attributes`.

    r: rows are counted whose largest posterior is above 1/r. The groups of QIT and ST fit each other.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    from sqlanon.adversary.exposure import Exposure, Holding, Priors  # numpy and scipy are slow to import

    run, engine = _start(published), published.engine
    try:
        run.take([_values(published)])
        found = []
        for number, (name, match) in enumerate(backgrounds, start=1):
            reports = run.take(_chapters(published, match, number, r))
            exposure = Exposure(r)
            exposure.add_alone(run.rows("one_signature"))
            listed, share, tally = (engine.arrays(sql) for sql in _priors(run, number).values())
            priors = Priors(listed, share["share"], tally["row_count"])
            portions = reports["portions"]["portions"]
            for portion in range(portions):
                log.info("posteriors of background %d, portion %d of %d", number, portion + 1, portions)
                signatures, values = (Holding.of(engine.arrays(sql)) for sql in _portion(run, portion).values())
                exposure.add(signatures, values, priors)
            named = {"background": name, "attributes": list(match.attributes)}
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


def _chapters(published: PublishedTables, match: Background, number: int, r: float) -> list[Chapter]:
    """Return the chapters of one background: what it says, and the groups that it meets."""
    values = {
        "number": number,
        "group": published.manifest["columns"]["group"],
        "attributes": match.columns,
        "names": background.names_of(match),
        "r": float(r),
        "limit": 1 / r + ROUNDING,
        "most": PAIRS_AT_ONCE,
    }
    return [background.read_table(match, number, spelled=False), Chapter("verify/background", values)]


def _priors(run: ChapterRun, number: int) -> dict[str, str]:
    """Return what the driver reads of a background: priors that it lists, what it leaves over, and rows of values."""
    remainder = run.relations[f"remainder_{number}"]
    return {
        "listed_prior": f"select signature_number, value_number, probability from {run.relations['listed_prior']}",
        "share": f"select share from {remainder} order by signature_number asc nulls last",
        "tally": f"select row_count from {run.relations['tally']} order by value_number asc nulls last",
    }


def _portion(run: ChapterRun, portion: int) -> dict[str, str]:
    """Return what the driver reads of some of the different groups."""
    return {
        name: f"select group_id, item, row_count, often from {run.relations[name]} where portion = {portion}"
        " order by group_id asc nulls last, row_count desc nulls last, item asc nulls last"
        for name in ("signatures_alike", "values_alike")
    }


def check_r(r: float | None, backgrounds: Sequence[object]) -> None:
    """Refuse an r without a background to hold against."""
    if r is not None and not backgrounds:
        raise UsageError(NO_BACKGROUND)


def add_posteriors(report: Report, published: PublishedTables, backgrounds: Matched, r: float | None) -> Report:
    """Add the check `posterior`, and for each background the posteriors that an adversary reaches with it.

    r: posteriors above 1/r fail the check; without it they are reported, beside what the release promises.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    rows, parameters = report.figures["rows"], published.manifest["parameters"]
    # posteriors are about groups in which each row has one of the group's values
    if not rows or any(check.name == "sizes" and not check.holds for check in report.checks):
        return _add_check(report, r, "not run: the groups of QIT and ST do not fit each other")
    name, limit = limit_of(published, r)
    exposures = examine_backgrounds(published, backgrounds, limit)
    if any(figures["rows"] < rows for figures in exposures):
        return _add_check(report, r, "not run: some rows are in no group")
    promise = f"{'promised' if r is None else 'asked'} 1/{name} = {100 / limit:.4g} %"
    largest = max(figures["largest_posterior"] for figures in exposures)
    added = _add_check(report, r, largest)
    known = {frozenset(figures["attributes"]) for figures in exposures}
    is_promise = (
        "r" in parameters and limit >= parameters["r"] and known >= set(map(frozenset, parameters["backgrounds"]))
    )
    if added.checks[-1].holds and is_promise:
        # groups of several signatures prove nothing by themselves; their posteriors do
        proved = (replace(each, holds=True) if each.promised and each.holds is None else each for each in added.checks)
        added = replace(added, checks=tuple(proved))
    return replace(added, posterior=tuple(exposures), promise=promise)


def limit_of(published: PublishedTables, r: float | None) -> tuple[str, float]:
    """Return what posteriors are seen against, with its name: r, or what the release promises."""
    parameters = published.manifest["parameters"]
    # robust promises 1/r; Anatomy 1/l, which holds against adversaries who know no distribution
    name = "r" if r is not None or "r" in parameters else "l"
    return name, float(parameters[name]) if r is None else r


def _add_check(report: Report, r: float | None, largest: object) -> Report:
    """Add the check; a text says why there is no posterior."""
    required = REPORTED if r is None else f"<= 1/{r:g}"
    holds = largest <= 1 / r + ROUNDING if r is not None and isinstance(largest, float) else None
    check = Check("posterior", required, largest, holds, promised=r is not None)
    return replace(report, checks=(*report.checks, check))


def read_voters(published: PublishedTables, voters: object, sql_types: Mapping[str, str]) -> tuple[Sql, list[Sql]]:
    """Find a voter list; return its SQL, and what reads its quasi values as the release shows them.

    A file's values are taken as they are written, for a column of F alone would be read as one of BOOLEAN, and codes
    without their leading zeros. sql_types: the types of the columns that voters are looked up by. Raises UsageError
    where a column's type is such that nobody would be found.
    """
    rules, readings = published.manifest["parameters"].get("coarsen", {}), []
    source, types = published.engine.find_source(voters, as_text=True)
    for name, (column, sql_type) in zip(resolve_names(types, list(sql_types)), sql_types.items(), strict=True):
        voter_type = types[name]
        if (voter_type == "BOOLEAN" != sql_type) or (
            sql_type == "BOOLEAN" and voter_type not in ("BOOLEAN", "VARCHAR")
        ):
            raise UsageError(
                f"the voters' column {name!r} is of type {voter_type}, and {column!r} of the release is of {sql_type}:"
                f" nobody would be found; hand over a CSV file, whose values are read as {sql_type}, or a column of"
                " that type"
            )
        if sql_type == "DATE":  # which no answer can hold in Python
            refuse_endless(published.engine, source.relation, name, Sql(f"cast({ident(name)} as date)"))
        reading = Sql(f"cast({ident(name)} as {sql_type})")
        readings.append(Coarsening(rules[column]).write(reading, sql_type) if column in rules else reading)
    return source.relation, readings


def presence_query(published: PublishedTables, voters: object) -> str:
    """Return the query that counts a voter list together with a release."""
    columns, published_types = published.manifest["columns"], published.columns("qit")
    sql_types = {column: published_types[column] for column in columns["quasi"]}
    relation, quasi = read_voters(published, voters, sql_types)
    return published.query(
        "adversary/voter_list/presence",
        {"voters": relation},
        voter_quasi=quasi,
        group_column=columns["group"],
        count_column=columns["count"],
        **name_answers(columns["quasi"]),
    )


def name_answers(quasi: Sequence[str], *more: str) -> dict[str, Any]:
    """Return the names of an answer's columns: where the user's have one of ours, it gives way."""
    return {"quasi": quasi, **{f"{answer}_column": free_name(answer, quasi) for answer in (*more, *ANSWERS)}}


def boxes_query(published: PublishedTables, boxed: Sequence[str], sensitive: str) -> str:
    """Write the query for a release's boxes: box (a number), shown_1 … (the columns `boxed`), row_count, confidence."""
    return published.query("adversary/voter_list/box", {}, boxed=list(boxed), sensitive=sensitive)


def presence_figures(frame: "pd.DataFrame") -> dict[str, Any]:
    """Summarize a voter list: how many voters, how many surely present, mean and largest risk of a voter."""
    if frame.empty:
        return {"voters": 0, "surely_present": 0, "mean_risk": None, "largest_risk": None}
    _, alike, presence, _, risk = (frame.iloc[:, place] for place in range(-len(ANSWERS), 0))
    voters = int(alike.sum())
    return {
        "voters": voters,
        "surely_present": int(alike[presence >= 1].sum()),
        # fsum: the order in which an engine returns the lines does not show in the last digit
        "mean_risk": float(math.fsum(alike * risk) / voters),
        "largest_risk": float(risk.max()),
    }
