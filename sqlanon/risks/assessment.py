"""Check a table before (or after) it is anonymized, in a few SQL scans.

Equivalence classes are rows with equal quasi values; NULL is a value like any other. Conventions: t over the table's
own distribution; 0 ln 0 = 0; δ-disclosure is infinite where a class lacks a value; recursive (c, l) of a class with
fewer than l values fails.

The check also says, in sentences with counts and never with values, what a publisher should know before publishing, and
estimates how many rows that are unique in a sample are unique in the population.
"""

import itertools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlanon.adversary.given_away import USUAL_SIZE, find_given_away, look_at_source, select_columns
from sqlanon.engines.base import Engine, count_called
from sqlanon.engines.coarser_source import coarsen_source
from sqlanon.engines.runner import ChapterRun
from sqlanon.errors import DataError, UsageError
from sqlanon.plain_values import is_ordered
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import NAMELESS, is_nameless
from sqlanon.plans.templates import Sql, ident
from sqlanon.risks.check import Check, write_failing
from sqlanon.risks.question import CheckQuestion, judge, read_measures
from sqlanon.risks.suggestion import (
    NEARLY_UNIQUE,
    NOT_RECOGNIZED,
    SAYS_NOTHING,
    describe_columns,
    mondrian_command,
    profile_columns,
    say_frequent,
    suggest_command,
    suggest_next,
    suggest_roles,
)
from sqlanon.wording import option

log = logging.getLogger("sqlanon")
USUAL_SUBSETS, MOST_SETS = 2, 300  # columns that are looked at together, and how often
USUAL_K = 5  # what risks are counted against where no k is required


def estimate_population_uniqueness(size_counts: Mapping[int, int], fraction: float) -> float:
    """Return the chance that a row which is unique in a sample is unique in the population.

    Zayatz, Estimation of the percent of unique population elements on a microdata file using the sample (1991):
    P(F = 1 | f = 1) = P(F = 1) P(f = 1 | F = 1) / Σ_i P(F = i) P(f = 1 | F = i), where the sample's own sizes serve as
    P(F = i), and P(f = 1 | F = i) is hypergeometric: one of a class's i persons among the n of N that were drawn.
    size_counts: how many classes of the sample have each size. fraction: n / N. Returns nan where no row is unique.
    Raises UsageError where fraction is no share.
    """
    from scipy.stats import hypergeom

    if not 0 < fraction <= 1:
        raise UsageError(f"a sample of {fraction:g} of the population cannot be; say a share above 0, at most 1")
    drawn = sum(size * count for size, count in size_counts.items())
    whole = round(drawn / fraction)
    weight = {size: count * float(hypergeom.pmf(1, whole, size, drawn)) for size, count in size_counts.items()}
    total = sum(weight.values())
    return weight.get(1, 0.0) / total if size_counts.get(1) and total else float("nan")


@dataclass
class Checked:
    """A table that is being checked.

    run: what was made of it so far. types: of its columns. columns: by sensitive column the relations that it was
    measured by.
    """

    run: ChapterRun
    question: CheckQuestion
    types: Mapping[str, str]
    columns: dict[str, dict[str, Sql]] = field(default_factory=dict)


def _persons(checked: Checked, figures: dict[str, Any]) -> list[str]:
    """Say that persons have several rows, and among how many of them each may hide where these are put together."""
    if not figures.get("repeating_persons"):
        return []
    question, people = checked.question, figures["person_count"]
    notes = [
        f"{figures['repeating_persons']:,} of {people:,} persons have several rows, up to {figures['most_rows']:,}: a"
        " class of k rows may be fewer than k persons"
    ]
    for column, ours in zip(question.sensitive, question.ours(question.sensitive), strict=True):
        values = {"identifiers": question.ours(question.identifier), "value": ours}
        most = checked.run.take([Chapter("check/columns/owners", values)])["owners"]["largest_people"]
        allowed = f"l = {people // most} at most" if people // most >= 2 else "no l"
        notes.append(
            f"anatomy and robust put the rows of a person together: the most frequent {column} belongs to"
            f" {most / people:.1%} of the persons, which allows {allowed}"
        )
    return notes


def _near_identifiers(quasi: Sequence[str], uniqueness: Sequence[dict[str, Any]], rows: int) -> list[str]:
    return [
        f"{name} alone singles out {line['unique_rows']:,} of {rows:,} rows: it identifies, and should not be"
        " published as a quasi column"
        for name, line in zip(quasi, uniqueness, strict=False)
        if rows > 1 and line["unique_rows"] >= NEARLY_UNIQUE * rows
    ]


def _missing(feasible: Sequence[dict[str, Any]]) -> list[str]:
    notes = []
    for line in feasible:
        if line["values"] == 1:
            notes.append(f"{line['column']} has one value only: everybody's is known")
        elif line["largest_l"] is None:
            notes.append(say_frequent(line["column"], line["largest_share"]))
        if line["nulls"]:
            notes.append(f"{line['nulls']:,} rows have no {line['column']}: NULL counts as a value here")
    return notes


def check(question: CheckQuestion, engine: Engine, failing: Path | None = None) -> Check:
    """Check a source; failing: where the rows go of classes that miss a required value.

    Raises UsageError for what cannot be asked, DataError for a source without rows, or a population that lacks the
    sample's values.
    """
    source, types = engine.find_source(question.source)
    resolved_question, guessed = _with_usual_quasi(question.resolved(types), engine, source, types)
    if not resolved_question.quasi:
        return _describe(resolved_question, engine, source, types)
    for column in resolved_question.names:
        if types[column] == "NESTED":
            raise UsageError(f"column {column!r} holds nested values; check takes columns of single values")
    source.refuse_collated(tuple(resolved_question.names))
    source, types = coarsen_source(engine, source, types, question.coarsen, resolved_question.quasi)
    microdata = select_columns(source, resolved_question.names)
    checked = Checked(ChapterRun(engine, {"microdata": microdata}), resolved_question, types)
    try:
        answer = _assess(checked)
        answer = replace(answer, notes=(*guessed, *answer.notes, *source.note_columns(tuple(resolved_question.names))))
        if failing is not None and not answer.holds:
            write_failing(checked.run, resolved_question, types, checked.columns, failing)
        return answer
    finally:
        checked.run.drop()
        engine.drop(source.keys)


def _with_usual_quasi(
    question: CheckQuestion, engine: Engine, source: Source, types: Mapping[str, str]
) -> tuple[CheckQuestion, list[str]]:
    """Return the question with the columns that others usually know, where none is named, and say which these are."""
    if question.quasi or not (question.sensitive or question.subsets):
        return question, []
    named = {*question.sensitive, *question.identifier}
    columns = profile_columns(engine, source, {name: kind for name, kind in types.items() if name not in named})
    roles = zip(columns, suggest_roles(columns), strict=True)
    quasi = tuple(column.name for column, (role, _) in roles if role == "quasi")
    if not quasi:
        raise UsageError(
            "no column's name says that others may know it (age, sex, place, a date); name those that they do with"
            f" {option('quasi')}"
        )
    return replace(question, quasi=quasi), [
        f"taken for what others know: {', '.join(quasi)}; name other columns with {option('quasi')}"
    ]


def _describe(question: CheckQuestion, engine: Engine, source: Source, types: Any) -> Check:
    """Without roles: a line per column, a role that it may have, and the command to type or why there is none."""
    columns = profile_columns(engine, source, types)
    rows = columns[0].rows if columns else 0
    _refuse_empty(rows)
    roles = suggest_roles(columns)
    command, reason = suggest_command(question.source, columns, roles)
    notes = [reason] if reason else []
    if is_nameless([*types]) or count_called(engine, source.relation, types) > 1:
        notes.insert(0, NAMELESS)
    if any(why == SAYS_NOTHING for _, why in roles):
        notes.append(NOT_RECOGNIZED)
    # what is left out because its name says nothing is better left out where it gives the sensitive column away
    judged = list(zip(columns, roles, strict=True))
    others = [each.name for each, (_, why) in judged if why.startswith(SAYS_NOTHING) and not each.unique_rows]
    sensitive = [each.name for each, (role, _) in judged if role == "sensitive"][:1]
    found = look_at_source(engine, source, types, others, sensitive, drop=True)
    notes += [each.note for each in found if each.note and len(each.columns) == 1]
    return Check(
        {"rows": rows},
        columns=tuple(describe_columns(columns, roles)),
        notes=(*notes, *source.note_columns(types)),
        command=command,
    )


def _assess(checked: Checked) -> Check:
    question, run = checked.question, checked.run
    k = question.limits.k or USUAL_K
    log.info("counting classes")
    counted = [question.class_values(column) for column in question.sensitive[:1]]
    reports = run.take([*counted, question.classes(k)])
    (sizes,) = run.rows("class_figures")
    _refuse_empty(sizes["row_count"])
    figures, found = _size_figures(sizes, k), [judge("k", "", sizes["smallest_class"], question.limits.k)]
    figures |= reports.get("persons", {}) | _population_figures(checked)
    feasible, given_away = [], []
    ours = zip(question.quasi, checked.question.ours(question.quasi), strict=True)
    quasi = {name: (internal, checked.types[name]) for name, internal in ours}
    for column in question.sensitive:
        log.info("measuring %s", column)
        worst = _measure(checked, column)
        found += read_measures(column, worst, question.limits)
        size = question.limits.l or USUAL_SIZE
        feasible.append(_feasible(column, worst, size))
        own = Sql(f"(select *, {ident(*checked.question.ours([column]))} as value from {run.relations['microdata']})")
        given_away += find_given_away(run.engine, own, quasi, column, size, coarse=question.coarsen)
    uniqueness = _uniqueness(checked, figures["rows"], k)
    frequent = next((line["column"] for line in feasible if line["largest_l"] is None and line["values"] > 1), "")
    boxes = mondrian_command(question.source, question.quasi, frequent, question.identifier) if frequent else ""
    notes = [
        *_risks(figures, k),
        *_persons(checked, figures),
        *_near_identifiers(question.quasi, uniqueness, figures["rows"]),
        *_missing(feasible),
        *(each.note for each in given_away if each.note),
    ]
    lines = tuple(
        {"sensitive": each.sensitive, "known": each.known, "named": each.named, "by_chance": 1 / each.size}
        for each in given_away
    )
    comparable = bool(question.quasi and feasible) and not (
        run.engine.lacks.get("compare") or figures.get("repeating_persons") or question.population is not None
    )
    nulls = any(line["nulls"] for line in feasible)
    return Check(
        figures, tuple(found), uniqueness, lines, feasible=tuple(feasible), notes=tuple(notes),
        command=boxes or suggest_next(question, given_away, comparable, nulls),
    )  # fmt: skip


def _refuse_empty(rows: Any) -> None:
    if not rows:
        raise DataError("the source has no rows to check; name another table, or widen its query")


def _size_figures(sizes: dict[str, Any], k: int) -> dict[str, Any]:
    """Name what the classes' sizes come to; a prosecutor knows that somebody is in the table: risk 1 / class size."""
    rows = sizes["row_count"]
    return {
        "rows": rows,
        "classes": sizes["class_count"],
        "unique_rows": sizes["unique_rows"],
        "average_class": rows / sizes["class_count"],
        "largest_class": sizes["largest_class"],
        "discernibility": int(sizes["discernibility"]),
        "prosecutor_largest_risk": 1 / sizes["smallest_class"],
        "prosecutor_average_risk": sizes["class_count"] / rows,
        f"share_of_rows_above_1/{k}": sizes["rows_below"] / rows,
        f"rows_in_classes_below_{k}": sizes["rows_below"],
    }


def _risks(figures: Mapping[str, Any], k: int) -> list[str]:
    """Say in words how surely whom an adversary finds, by what they know and look for."""
    below, rows = figures[f"rows_in_classes_below_{k}"], figures["rows"]
    notes = [
        f"who knows that somebody is in the table (the prosecutor) takes the right row for theirs in"
        f" {figures['prosecutor_average_risk']:.0%} of cases, of the easiest to find in"
        f" {figures['prosecutor_largest_risk']:.0%}; {below:,} of {rows:,} rows look like fewer than {k - 1} others"
    ]
    if "marketer_risk" in figures:
        notes.append(
            "who looks for anybody of the population (the journalist) is right in"
            f" {figures['journalist_largest_risk']:.0%} of cases at best; who looks for everybody of it (the marketer)"
            f" in {figures['marketer_risk']:.0%}"
        )
    return notes


def _population_figures(checked: Checked) -> dict[str, Any]:
    """Return the journalist's and the marketer's risks, from a population or a sampling fraction."""
    question, run = checked.question, checked.run
    if question.population is not None:
        source, types = run.engine.find_source(question.population)
        lacking = [name for name in question.quasi if name not in types]
        if lacking:
            raise UsageError(
                f"the population lacks the quasi column {lacking[0]!r}; hand over a population that has all of them"
            )
        source, _ = coarsen_source(run.engine, source, types, question.coarsen, question.quasi)
        names = dict(zip(question.quasi, checked.question.ours(question.quasi), strict=True))
        run.relations["population"] = select_columns(source, names)
        try:
            row = run.take([Chapter("check/columns/population_risk", {"quasi": [*names.values()]})])["population_risk"]
        finally:
            run.engine.drop(source.keys)
        # the risk of a row that is not in the population would be 1/0
        if row["missing_rows"]:
            raise DataError(
                f"{row['missing_rows']:,} rows have quasi values that nobody in the population has; the source is no"
                " part of it, or its columns are written in another way"
            )
        return {
            "journalist_largest_risk": row["largest_risk"],
            "marketer_risk": row["mean_risk"],
            "rows_unique_in_the_population": row["population_unique_rows"],
        }
    if question.sampled is not None:
        counts = {line["class_size"]: line["class_count"] for line in run.rows("size_count")}
        chance = estimate_population_uniqueness(counts, question.sampled)
        return {"unique_rows_that_are_unique_in_the_population": chance}
    return {}


def _measure(checked: Checked, column: str) -> dict[str, Any]:
    """Return what one sensitive column's classes come to at their worst; of a number or a date, t is by order."""
    run, question = checked.run, checked.question
    if column != question.sensitive[0]:  # whose values were counted before the classes
        run.take([question.class_values(column)])
    run.take([question.measures(is_ordered(checked.types[column]))])
    checked.columns[column] = dict(run.relations)
    (worst,) = run.rows("diversity_figures")
    return worst


def _feasible(column: str, worst: dict[str, Any], l: int) -> dict[str, Any]:
    """Return which l and gamma a sensitive column allows, what limits them, and whose class has fewer than l values."""
    # a value stands at most once in a group of l: its rows need as many groups of l rows each
    room = worst["row_count"] // worst["largest_count"]
    return {
        "column": column,
        "values": worst["table_values"],
        "nulls": worst["null_count"],
        "largest_share": worst["largest_count"] / worst["row_count"],
        "largest_l": room if room >= 2 else None,
        "largest_gamma": room if room >= 2 else None,
        f"rows_in_classes_below_l_{l}": worst["rows_below"],
    }


def _uniqueness(checked: Checked, rows: int, k: int) -> tuple[dict[str, Any], ...]:
    """Return how many rows are unique, and in classes below k, by some of the quasi columns and by all together."""
    quasi, most = checked.question.quasi, checked.question.subsets or USUAL_SUBSETS
    sizes = [*range(1, min(most, len(quasi)) + 1), *([len(quasi)] if len(quasi) > most else [])]
    sets = [columns for size in sizes for columns in itertools.combinations(quasi, size)]
    if len(sets) > MOST_SETS:
        raise UsageError(
            f"{option('subsets', most)} makes {len(sets):,} sets of {len(quasi)} columns, more than {MOST_SETS}; name"
            f" fewer columns with {option('quasi')}, or say less"
        )
    singling = [checked.question.ours(columns) for columns in sets]
    told = checked.run.take([Chapter("check/known", {"singling": singling, "k": k})])
    lines = []
    for number, columns in enumerate(sets, start=1):
        found = told[f"unique_{number}"]
        lines.append(
            {
                "known": " + ".join(columns), "values": found["distinct_values"], "smallest_class": found["smallest"],
                f"rows_below_{k}": found["rows_below"], "unique_rows": found["unique_rows"],
                "share": found["unique_rows"] / rows,
            }
        )  # fmt: skip
    return tuple(lines)
