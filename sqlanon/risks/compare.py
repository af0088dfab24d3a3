"""Compare methods on one table: publish each, ask all of them the same queries, compare answers with the truth."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.adversary.findings import CLEAR
from sqlanon.adversary.given_away import look_at_source
from sqlanon.engines.base import Engine
from sqlanon.engines.coarser_source import refuse_endless
from sqlanon.engines.runner import read_persons
from sqlanon.errors import DataError, QueryError, SqlanonError, UsageError
from sqlanon.estimation.release_tables import Workspace
from sqlanon.plans.coarsening import resolve_rules
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import Roles, resolve_roles
from sqlanon.plans.templates import ident
from sqlanon.publishing.publish import publish
from sqlanon.publishing.release_request import ReleaseRequest
from sqlanon.releases.release import Release
from sqlanon.risks.candidates import (
    Candidate,
    CompareQuestion,
    Resistance,
    attack_candidate,
    check_target,
    may_resist,
    search,
)
from sqlanon.risks.comparison import Comparison, Found, choose, frame_answers, overall_line, summarize, write_lines
from sqlanon.risks.workload import WORKLOADS, AskedQuery, Microdata, draw_analysts, draw_queries, read_queries
from sqlanon.sql.query_reader import parse_query
from sqlanon.sql.source import source_of_release
from sqlanon.wording import STEP

if TYPE_CHECKING:
    import pandas as pd

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
    roles = resolve_roles(types, question.quasi, question.sensitive, question.identifier)
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
    workspace = Workspace(engine)
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
    resolve_rules(question.coarsen, data.quasi, data.types)  # what cannot be is told before anything is published
    firsts = _first_candidates(question, data, notes)
    trials = _Trials(question, roles, engine, queries, row["row_count"], notes)
    telling = () if question.resist is None else _order_by_telling(question, data)
    chosen = trials.look(firsts, telling)
    for number in range(1, len(telling)):
        # no release without these columns is more accurate than one that answers everything else as it is
        if chosen is not None and chosen["error"] <= trials.lose(telling[:number]):
            break
        chosen = trials.look(firsts, telling, telling[:number])
    return trials.summarize()


def _order_by_telling(question: CompareQuestion, data: Microdata) -> tuple[str, ...]:
    """Return the quasi columns, the one first that tells most of a sensitive one in the source, alone or in a pair."""
    engine, drops = data.workspace.engine, question.options.get("nulls") == "drop"
    found = look_at_source(engine, Source(data.relation), data.types, data.quasi, data.sensitive, drops)
    found.sort(key=lambda each: -each.named)
    return tuple(dict.fromkeys(column for each in found for column in each.columns))


@dataclass
class _Trials:
    """What was tried of candidates: each is published once, attacked by some rows, and asked unless these rule it out.

    rows: of the source. tried: what was found. refused: what this data does not allow. forms: of every candidate the
    one with all columns, then the one that leaves some out. ways: the searches for these, in words.
    """

    question: CompareQuestion
    roles: Roles
    engine: Engine
    queries: Sequence[AskedQuery]
    rows: int
    notes: list[str]
    tried: dict[Candidate, Found] = field(default_factory=dict)
    refused: dict[Candidate, SqlanonError] = field(default_factory=dict)
    capped: set[Candidate] = field(default_factory=set)
    forms: dict[Candidate, list[Candidate]] = field(default_factory=dict)
    ways: dict[str, list[str]] = field(default_factory=dict)

    def look(
        self, firsts: list[Candidate], telling: Sequence[str], without: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Try every candidate of which no form may resist yet, then attack by all rows what is about to be proposed.

        firsts: they grow by those that take another's place. telling: the quasi columns, the most telling one first.
        without: those that are left out. Returns the line of what is proposed, None where nothing is.
        """
        started, target, looked_at = time.perf_counter(), self.question.resist, set[Candidate]()
        while True:
            before = len(looked_at)
            for done, first in enumerate(firsts):
                if first in looked_at or self._is_needless(first):
                    continue
                _say_progress(done, len(firsts) + 1, time.perf_counter() - started, without)
                looked_at.add(first)
                form = self.strengthen(first, telling)
                self.forms[first] = [form]
                if target is not None and without and form in self.tried and not may_resist(self.attack(form), target):
                    self._leave_out(first, form, without)
                if first in self.refused and first not in self.capped:
                    smaller = self._cap(first)
                    firsts += [smaller] if smaller is not None and smaller not in firsts else []
            _say_progress(len(firsts), len(firsts) + 1, time.perf_counter() - started, without)
            chosen = self.settle()
            if len(looked_at) == before or target is None:
                return chosen

    def _is_needless(self, first: Candidate) -> bool:
        """Tell whether this method may resist already by as much or less, which is more accurate."""
        return self.question.resist is not None and any(
            may_resist(self.attack(form), self.question.resist)
            for each, forms in self.forms.items()
            if each.method == first.method and each.value <= first.value
            for form in forms
        )

    def _leave_out(self, first: Candidate, form: Candidate, without: Sequence[str]) -> None:
        shorter = form.leave_out(without)
        if shorter is not None and (outcome := self.attack(shorter)) is not None:
            self.forms[first].append(shorter)
            way = f"{first.method}, {first.parameter}, attacked without the columns that give most away"
            self.ways.setdefault(way, []).append(f"{shorter.shown}: {outcome.words}")

    def _cap(self, first: Candidate) -> Candidate | None:
        """Say why a candidate is left out, and return what takes its place."""
        error = self.refused[first]
        smaller, place = self.question.cap(first, error), ""
        if smaller is not None:
            self.capped.add(first)
            place = f", {smaller.parameter} compared in its place"
        note = f"{first.method}, {first.parameter} is left out{place}: {error}"
        self.notes += [note] if note not in self.notes else []
        return smaller

    def attack(self, candidate: Candidate) -> Resistance | None:
        """Return what attacks reach on a candidate, None where the data does not allow it, or it is not attacked."""
        if candidate not in self.tried and candidate not in self.refused:
            self._try(candidate)
        found = self.tried.get(candidate)
        return None if found is None else found.attacked

    def _try(self, candidate: Candidate) -> None:
        begin, target = time.perf_counter(), self.question.resist
        log.info("publishing %s, %s", candidate.method, candidate.shown)
        try:
            with _published(self.question, self.roles, candidate, self.engine) as release:
                confidence, attacked = candidate.confidence(release.manifest["verified"]), None
                # what a release promises is no protection where it promises less than is asked for
                may_be_proposed = target is None or confidence <= target + CLEAR
                if may_be_proposed and not self.question.quick:
                    attacked = self._attack_published(release, candidate, by_some=True)
                may_be_proposed &= target is None or may_resist(attacked, target)
                answers = self._ask(release, candidate) if may_be_proposed else frame_answers(candidate, [], self.rows)
        # what this data does not allow must not hide what the others cost
        except (DataError, UsageError) as error:
            self.refused[candidate] = error
        else:
            self.tried[candidate] = Found(candidate, time.perf_counter() - begin, confidence, answers, attacked)

    def _attack_published(self, release: Release, candidate: Candidate, by_some: bool) -> Resistance | None:
        log.info("attacking %s, %s", candidate.method, candidate.shown)
        original = source_of_release(self.question.source, dict(candidate.coarsen))
        try:
            return attack_candidate(release, original, self.roles.identifier, by_some)
        except (DataError, UsageError) as error:
            self.notes.append(f"{candidate.method}, {candidate.parameter} is not attacked: {error}")
            return None

    def strengthen(self, first: Candidate, telling: Sequence[str]) -> Candidate:
        """Return the candidate that the search for resistance comes to with all columns."""
        self.attack(first)
        target, rules, candidate = self.question.resist, self.question.coarsen, first
        if target is None:
            return first
        named = f"{first.method}, {first.parameter}, attacked with each"
        if first.strength.knows:

            def learn(trial: Candidate, column: str) -> Candidate | None:
                known = tuple(name for name in telling if name in {*trial.background, column})
                return None if column in trial.background else replace(trial, background=known)

            candidate, way = search(candidate, telling, learn, target, self.attack)
            self.ways[f"{named} further background"] = way
        if rules:

            def coarsen(trial: Candidate, column: str) -> Candidate | None:
                rule = ((column, rules[column]),) if column in rules else ()
                return replace(trial, coarsen=(*trial.coarsen, *rule)) if rule else None

            coarser, way = search(candidate, telling, coarsen, target, self.attack)
            # what does not help enough is not done
            candidate = coarser if may_resist(self.attack(coarser), target) else candidate
            self.ways[f"{named} column coarser"] = way
        return candidate

    def settle(self) -> dict[str, Any] | None:
        """Attack by all rows what is about to be proposed, until one stands; return its line."""
        while True:
            chosen, _ = choose(self.question, [overall_line(found) for found in self.shown()])
            if chosen is None or not chosen["at_least"]:
                return chosen
            candidate = chosen["candidate"]
            with _published(self.question, self.roles, candidate, self.engine) as release:
                attacked = self._attack_published(release, candidate, by_some=False)
            self.tried[candidate] = replace(self.tried[candidate], attacked=attacked)

    def lose(self, without: Sequence[str]) -> float:
        """Return by how much answers are off that are exact but for those about columns that are left out."""
        lines: list[dict[str, Any]] = []
        for number, query in enumerate(self.queries, start=1):
            answered = not _reads(query, self.roles, without)
            lines += write_lines(number, query, query.truth, answered)
        first = next(iter(self.forms))
        return float(overall_line(Found(first, 0.0, 0.0, frame_answers(first, lines, self.rows)))["error"])

    def shown(self) -> list[Found]:
        """Return what is told: of every candidate its form with all columns, and the one that leaves some out."""
        told = dict.fromkeys(form for forms in self.forms.values() for form in forms)
        return [self.tried[candidate] for candidate in told if candidate in self.tried]

    def summarize(self) -> Comparison:
        """Return what it comes to; what errors cost is told of one candidate at least."""
        found = self.shown()
        if not found:
            raise next(iter(self.refused.values()))
        if not any(len(each.answers) for each in found):
            nearest = min(found, key=lambda each: (each.attacked and each.attacked.reached) or 1.0).candidate
            with _published(self.question, self.roles, nearest, self.engine) as release:
                self.tried[nearest] = replace(self.tried[nearest], answers=self._ask(release, nearest))
        notes = [*self.notes, *(f"{named}: {'; '.join(way)}" for named, way in self.ways.items() if way)]
        failed = [(first, self.refused[first]) for first in self.forms if first in self.refused]
        return replace(
            summarize(self.question, self.roles, self.shown(), notes),
            failed=tuple(
                (each.method, each.parameter, str(error)) for each, error in failed if each not in self.capped
            ),
        )

    def _ask(self, release: Release, candidate: Candidate) -> "pd.DataFrame":
        """Return a line per figure of the answers; who asks for a column left out has an answer of 0."""
        import pandas as pd

        log.info("asking %s, %s", candidate.method, candidate.shown)
        lines: list[dict[str, Any]] = []
        answers = release.estimate_each(query.text for query in self.queries)
        for number, (query, answer) in enumerate(zip(self.queries, answers, strict=True), start=1):
            if not isinstance(answer, SqlanonError):
                lines += write_lines(number, query, answer)
                continue
            lines += write_lines(number, query, pd.DataFrame(), answered=False)
            if not _reads(query, self.roles, candidate.without):
                place = f"line {query.line}: " if query.line else f"{query.workload}: "
                self.notes.append(f"{place}{candidate.method}, {candidate.parameter} has no answer: {answer}")
        return frame_answers(candidate, lines, self.rows)


def _reads(query: AskedQuery, roles: Roles, columns: Sequence[str]) -> bool:
    """Tell whether a query, which all columns answer, names one of these quasi columns."""
    try:
        parse_query(query.text, [name for name in roles.quasi if name not in columns], roles.sensitive)
    except QueryError:
        return bool(columns)
    return False


def _say_progress(done: int, whole: int, seconds: float, without: Sequence[str]) -> None:
    """Say how far it has come, and how long the others take if they are like these; little is no news.

    whole: of the candidates, and the attack by all rows of what is proposed. They differ much: the time is told once a
    third is done.
    """
    left = seconds / done * (whole - done) if done else 0.0
    words = f"about {left / 60:.0f} minutes left" if left >= 90 else f"about {left:.0f} seconds left"
    lacking = f" without {' and '.join(without)}" if without else ""
    log.log(
        STEP if left >= NEWS else logging.INFO,
        "candidate %d of %d%s%s", min(done + 1, whole - 1), whole - 1, lacking,
        f", {words}" if 3 * done >= whole else "",
    )  # fmt: skip


def _first_candidates(question: CompareQuestion, data: Microdata, notes: list[str]) -> list[Candidate]:
    """Return what is compared: where no attack decides that, each candidate as it is and with what may be coarser.

    What promises less than is asked for is not proposed whatever attacks reach, and left out. Raises UsageError where
    none is left.
    """
    terms = ", ".join(f"count(distinct {ident(name)})" for name in data.quasi)
    (row,) = data.workspace.engine.rows(f"select {terms} from {data.relation}")
    # a column of one value tells nobody anything
    candidates = question.candidates(
        min(zip(row.values(), data.quasi, strict=True), key=lambda pair: pair[0] if pair[0] > 1 else float("inf"))[1]
    )
    if question.resist is None:
        rules = tuple(question.coarsen.items())
        return [form for each in candidates for form in dict.fromkeys((each, replace(each, coarsen=rules)))]
    least = question.least_value
    for each in (weak := [each for each in candidates if each.value < least]):
        notes.append(
            f"{each.method}, {each.parameter} is left out: 1 in {each.value} is more than {question.resist:.1%}; a"
            f" value of at least {least} promises that"
        )
    if weak == candidates:
        raise UsageError(f"nothing that is compared promises what is asked for: {notes[-1]}")
    return [each for each in candidates if each not in weak]


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
