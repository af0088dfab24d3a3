"""Compare methods on one table: publish each, ask all of them the same queries, compare answers with the truth."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from sqlanon.adversary.findings import CLEAR
from sqlanon.comparison.analysts import draw_analysts
from sqlanon.comparison.comparison import Comparison
from sqlanon.comparison.figures import Found, summarize, write_lines
from sqlanon.comparison.own_queries import read_queries
from sqlanon.comparison.question import Candidate, CompareQuestion
from sqlanon.comparison.resistance import (
    Resistance,
    attack_candidate,
    check_target,
    know,
    resists,
    search,
)
from sqlanon.comparison.workload import WORKLOADS, AskedQuery, Microdata, draw_queries
from sqlanon.engines.base import Engine
from sqlanon.engines.coarser_source import refuse_endless
from sqlanon.engines.runner import read_persons
from sqlanon.errors import DataError, QueryError, SqlanonError, UsageError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.plans.coarsening import resolve_rules
from sqlanon.plans.roles import Roles, resolve_roles
from sqlanon.plans.templates import ident
from sqlanon.publishing.publish import publish
from sqlanon.publishing.release_request import ReleaseRequest
from sqlanon.releases.release import Release
from sqlanon.sql.query_reader import parse_query
from sqlanon.wording import STEP

log = logging.getLogger("sqlanon")
SEVERAL_ROWS = (
    "{:,} persons have more than one row, and compare holds answers against rows: publish with anatomy or robust, which"
    " put the rows of a person together, and attack what is published; or compare a table of one row per person"
)
NEWS = 20  # seconds that are left, from which on it is said where no wheel turns


def compare(question: CompareQuestion, engine: Engine) -> Comparison:
    """Publish every candidate in the session, ask, and tell what each costs; nothing is left behind.

    Raises UsageError for what cannot be compared, DataError where this data allows no candidate.
    """
    if mark := engine.lacks.get("compare"):
        raise UsageError(f"compare runs on DuckDB, not on {engine.dialect}: {mark.why}")
    source, types = engine.find_source(question.source)
    roles = resolve_roles(list(types), question.quasi, question.sensitive, question.identifier)
    source.refuse_collated(roles.all)
    # a query FROM release can ask nothing of a struct or a list
    nested = [name for name in roles.all if types[name] == "NESTED"]
    if nested:
        raise UsageError(f"column {nested[0]!r} holds nested values; roles take columns of single values")
    for name in (name for name in roles.quasi if types[name].startswith(("DATE", "TIMESTAMP"))):
        refuse_endless(engine, source.relation, name, source.expression(name), "no ranges are drawn to compare by: ")
    if roles.identifier:
        repeating = read_persons(engine, source.relation, roles.identifier)["repeating_persons"]
        if repeating:
            raise DataError(SEVERAL_ROWS.format(repeating))
    workspace = Workspace(engine, {}, {}, {})
    try:
        data = Microdata.read(workspace, source, types, roles.quasi, roles.sensitive)
        comparison = _compare(question, roles, data)
        return replace(comparison, notes=(*comparison.notes, *source.note_columns(roles.all)))
    finally:
        with suppress(SqlanonError):
            workspace.close()


def _compare(question: CompareQuestion, roles: Roles, data: Microdata) -> Comparison:
    engine = data.workspace.engine
    (row,) = engine.rows(f"select count(*) as row_count from {data.relation}")
    if not row["row_count"]:
        raise DataError("the source has no rows to compare methods on; name another table, or widen its query")
    log.info("asking the source")
    if isinstance(question.queries, Path):
        queries, notes = read_queries(data, question.queries)
    else:
        draw, notes = draw_analysts if question.workload == WORKLOADS[0] else draw_queries, []
        queries = draw(data, question.queries, question.seed)
    if question.resist is not None:
        check_target(data, question.resist, question.options.get("nulls") == "drop")
    outcomes: list[Found] = []
    refused: dict[Candidate, SqlanonError] = {}
    capped: dict[Candidate, Candidate] = {}  # by a refused candidate, what is compared in its place
    resolve_rules(question.coarsen, data.quasi, data.types)  # what cannot be is told before anything is published

    @cache
    def attack(trial: Candidate) -> Resistance | None:
        """Return what attacks reach on a candidate, None where the data does not allow it."""
        log.info("attacking %s, %s, knowing %s", trial.method, trial.parameter, ", ".join(trial.background))
        with suppress(DataError, UsageError):
            return _attack(question, roles, trial, engine, limit=question.resist or 0.0, telling=True)
        return None

    def try_candidate(candidate: Candidate, begin: float) -> None:
        log.info("publishing and asking %s, %s", candidate.method, candidate.parameter)
        try:
            # what was found not to resist is not attacked once more
            known = None if question.resist is None else attack(candidate)
            known = None if resists(known, question.resist or 0.0) else known
            outcome, failures = _answers(question, roles, candidate, queries, engine, known)
        # what this data does not allow must not hide what the others cost
        except (DataError, UsageError) as error:
            refused[candidate], place = error, ""
            if smaller := question.cap(candidate, error):
                capped[candidate], place = smaller, f", {smaller.parameter} compared in its place"
            notes.append(f"{candidate.method}, {candidate.parameter} is left out{place}: {error}")
        else:
            outcomes.append(replace(outcome, seconds=time.perf_counter() - begin))
            notes.extend(failures)

    # they grow by those that take another's place
    started = time.perf_counter()
    for done, first_candidate in enumerate(first_candidates := _first_candidates(question, data)):
        begin = time.perf_counter()
        _say_progress(done, len(first_candidates), begin - started)
        candidate, way = _resisting(question, roles, first_candidate, attack)
        notes += way
        try_candidate(candidate, begin)
        if smaller := capped.get(candidate):
            first_candidates += {replace(first_candidate, value=smaller.value)} - {*first_candidates}
        begin = time.perf_counter()
        shorter, way = _without_columns(question, roles, candidate, attack)
        notes += way
        if shorter is not None:
            try_candidate(shorter, begin)
    if not outcomes:
        raise next(iter(refused.values()))
    return replace(
        summarize(
            question, roles, outcomes, row["row_count"], notes, lambda each: _attack(question, roles, each, engine)
        ),
        failed=tuple(
            (each.method, each.parameter, str(error)) for each, error in refused.items() if each not in capped
        ),
    )


def _attack(question: CompareQuestion, roles: Roles, candidate: Candidate, engine: Engine, **how: Any) -> Resistance:
    """Publish a candidate and attack it; how: as `attack_candidate` takes it."""
    with _published(question, roles, candidate, engine) as release:
        return attack_candidate(release, candidate.original(question.source), roles.identifier, **how)


def _say_progress(done: int, whole: int, seconds: float) -> None:
    """Say how many candidates are done, and how long the others take if they are like these; little is no news."""
    left = seconds / done * (whole - done) if done else 0.0
    words = f"about {left / 60:.0f} minutes left" if left >= 90 else f"about {left:.0f} seconds left"
    log.log(
        STEP if left >= NEWS else logging.INFO, "candidate %d of %d%s", done + 1, whole, f", {words}" if done else ""
    )


def _first_candidates(question: CompareQuestion, data: Microdata) -> list[Candidate]:
    """Return what is compared: where no attack decides that, each candidate as it is and with what may be coarser."""
    terms = ", ".join(f"count(distinct {ident(name)})" for name in data.quasi)
    (row,) = data.workspace.engine.rows(f"select {terms} from {data.relation}")
    # a column of one value tells nobody anything
    candidates = question.candidates(
        min(zip(row.values(), data.quasi, strict=True), key=lambda pair: pair[0] if pair[0] > 1 else float("inf"))[1]
    )
    if question.resist is not None or not question.coarsen:
        return candidates
    rules = tuple(question.coarsen.items())
    return [form for candidate in candidates for form in (candidate, replace(candidate, coarsen=rules))]


def _answers(
    question: CompareQuestion,
    roles: Roles,
    candidate: Candidate,
    queries: Sequence[AskedQuery],
    engine: Engine,
    attacked: Resistance | None,
) -> tuple[Found, list[str]]:
    """Publish a candidate, ask it everything and attack it where that is asked; return also what has no answer.

    attacked: what attacks reach, where that is known.
    """
    with _published(question, roles, candidate, engine) as release:
        lines, failures = _ask(release, candidate, queries, roles)
        confidence = candidate.confidence(release.manifest["verified"])
        if attacked is None and not question.quick:
            log.info("attacking %s, %s", candidate.method, candidate.parameter)
            try:
                original = candidate.original(question.source)
                limit = confidence + CLEAR if question.resist is None else question.resist
                attacked = attack_candidate(release, original, roles.identifier, limit)
            except (DataError, UsageError) as error:
                failures.append(f"{candidate.method}, {candidate.parameter} is not attacked: {error}")
        return Found(candidate, 0.0, confidence, lines, attacked), failures


def _resisting(
    question: CompareQuestion, roles: Roles, candidate: Candidate, attack: Callable[[Candidate], Resistance | None]
) -> tuple[Candidate, list[str]]:
    """Return the candidate that the search for resistance comes to, and its way in words."""
    strength, target = candidate.strength, question.resist
    if target is None or _promises_less(candidate, target):
        return candidate, []
    named, notes = f"{candidate.method}, {candidate.parameter}", []
    if strength.knows:

        def learn(trial: Candidate, column: str) -> Candidate | None:
            return None if column in trial.background else know(trial, roles.quasi, {*trial.background, column})

        candidate, way = search(candidate, roles.quasi, learn, target, attack)
        notes += [f"{named}, attacked with each further background: {'; '.join(way)}"] if way else []
    if question.coarsen:
        rules = question.coarsen

        def coarsen(trial: Candidate, column: str) -> Candidate:
            return replace(trial, coarsen=(*trial.coarsen, (column, rules[column])))

        coarser, way = search(candidate, tuple(rules), coarsen, target, attack)
        # what does not help enough is not done
        candidate = coarser if resists(attack(coarser), target) else candidate
        notes += [f"{named}, attacked with each column coarser: {'; '.join(way)}"] if way else []
    return candidate, notes


def _promises_less(candidate: Candidate, target: float) -> bool:
    """Tell whether a release's own promise is above the target, so that it is not proposed whatever attacks reach."""
    strength = candidate.strength
    return (strength.chance or strength.knows) and target < 1 / candidate.value - CLEAR


def _without_columns(
    question: CompareQuestion, roles: Roles, candidate: Candidate, attack: Callable[[Candidate], Resistance | None]
) -> tuple[Candidate | None, list[str]]:
    """Return the candidate that resists, or comes nearest, because quasi columns are left out; and the way in words.

    That is tried where the rest of the search found nothing.
    """
    target = question.resist
    if target is None or _promises_less(candidate, target):
        return None, []
    if attack(candidate) is None or resists(attack(candidate), target):
        return None, []

    def leave_out(trial: Candidate, column: str) -> Candidate | None:
        return trial.leave_out(column) if len(trial.published(roles.quasi)) > 1 else None

    shorter, way = search(candidate, roles.quasi, leave_out, target, attack)
    named = f"{candidate.method}, {candidate.parameter}, attacked without the columns that give most away"
    return (shorter if way else None), [f"{named}: {'; '.join(way)}"] if way else []


@contextmanager
def _published(question: CompareQuestion, roles: Roles, candidate: Candidate, engine: Engine) -> Iterator[Release]:
    """Publish a candidate in the session for the block."""
    request = ReleaseRequest(
        candidate.method, question.source, candidate.published(roles.quasi), roles.sensitive, roles.identifier,
        key=candidate.key(question.seed), coarsen=dict(candidate.coarsen), **question.options,
        unique_sensitive="keep",  # nothing is published, and the command that is told asks for no such thing
    )  # fmt: skip
    release = publish(request, engine, **candidate.arguments)
    try:
        yield release
    finally:
        # releases of the same people tell more together than any of them: none may stay
        with suppress(SqlanonError):
            release.close()
            engine.drop([str(table) for table in release.tables.values()])


def _ask(
    release: Release, candidate: Candidate, queries: Sequence[AskedQuery], roles: Roles
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a line per figure of the answers, and what has none; who asks for a column left out has an answer of 0."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    failures = []
    answers = release.estimate_each(query.text for query in queries)
    for number, (query, answer) in enumerate(zip(queries, answers, strict=True), start=1):
        if isinstance(answer, SqlanonError):
            lines += write_lines(number, query, pd.DataFrame(), answered=False)
            if _reads_left_out(query, candidate, roles):
                continue
            place = f"line {query.line}: " if query.line else f"{query.workload}: "
            failures.append(f"{place}{candidate.method}, {candidate.parameter} has no answer: {answer}")
        else:
            lines += write_lines(number, query, answer)
    return lines, failures


def _reads_left_out(query: AskedQuery, candidate: Candidate, roles: Roles) -> bool:
    """Tell whether a query, which all columns answer, names one that a candidate leaves out."""
    try:
        parse_query(query.text, candidate.published(roles.quasi), roles.sensitive)
    except QueryError:
        return bool(candidate.without)
    return False
