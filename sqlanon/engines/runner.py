"""The only loop that runs a plan in a database: relations are made in order, and checks may refuse."""

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, TemplateError, UsageError, raised_as, undone_by
from sqlanon.key import Key
from sqlanon.plans.build import build, render_queries
from sqlanon.plans.chapters import TURN, Chapter
from sqlanon.plans.plan import Loop, Plan, Report, Row, Statement, refuse_as_said, relation_name
from sqlanon.plans.templates import Sql, ident

if TYPE_CHECKING:
    import pandas as pd


log = logging.getLogger("sqlanon")


def read_persons(engine: Engine, rows: Sql, identifier: Sequence[str]) -> Row:
    """Return how many persons have several of these rows (`repeating_persons`), and what refuses it (`refusal`)."""
    chapter = Chapter("persons", {"identifiers": identifier})
    (question,) = render_queries(chapter, {"population": rows}, engine.dialect).values()
    return engine.rows(question)[0]


def fresh_prefix() -> str:
    """Return a prefix for the relations of one run, so that two runs in one session never meet."""
    return f"sqlanon_{secrets.token_hex(4)}_"


@contextmanager
def run_plan(
    plan: Plan,
    engine: Engine,
    key: Key,
    look: Callable[[str, Row], None] | None = None,
    watch: Callable[[Statement, float], None] | None = None,
) -> Iterator[dict[str, Row]]:
    """Run the steps of `plan`; its relations stand inside the block and are forgotten after it.

    look: is shown the name and the row of every report as soon as it is there. watch: is shown every
    relation while it stands, and the seconds that it took. Yields these rows by name.
    """
    relations = [str(plan.key)]  # to be forgotten: each is noted before it is made, for making it may fail
    reports: dict[str, Row] = {}
    with undone_by(lambda: engine.drop(relations)):  # an interrupted run leaves no microdata in the session either
        engine.keep_key(plan.key, key)
        for constants in plan.constants:
            relations.append(str(constants.relation))
            engine.keep_constants(constants.relation, constants.row)
        run_steps(plan.steps, engine, relations, reports, look, watch)
        yield reports
    engine.drop(relations)


def run_steps(
    steps: Sequence[Statement | Report | Loop],
    engine: Engine,
    relations: list[str],
    reports: dict[str, Row] | None = None,
    look: Callable[[str, Row], None] | None = None,
    watch: Callable[[Statement, float], None] | None = None,
) -> dict[str, Row]:
    """Run steps in order, and note in `relations` what they make, before it is made; return the reports' rows by name.

    reports: where the rows are put. look, watch: as of `run_plan`.
    """
    reports = {} if reports is None else reports
    for step in steps:
        if isinstance(step, Report):
            name = step.statement.name
            log.info("checking %s", name)
            # a check may have nothing to say
            (reports[name],) = engine.rows(step.statement.sql) or [{}]
            if step.check:
                refuse_as_said(reports[name])
            if look is not None:
                look(name, reports[name])
        elif isinstance(step, Loop):
            relations += [statement.relation for statement in step.body]
            reports[step.name] = _run_loop(step, engine, watch)
        else:
            log.info("making %s", step.name)
            relations.append(step.relation)
            _create(step, engine, watch)
    return reports


def _create(statement: Statement, engine: Engine, watch: Callable[[Statement, float], None] | None) -> None:
    before = time.perf_counter()
    engine.create(statement)
    if watch is not None:
        watch(statement, time.perf_counter() - before)


def _run_loop(loop: Loop, engine: Engine, watch: Callable[[Statement, float], None] | None) -> Row:
    """Run a loop's turns; return the last row of its query, with the number of `turns`."""
    for turn in range(loop.limit + 1):
        (row,) = engine.rows(loop.left.sql)
        log.info("%s, turn %d: %d left", loop.name, turn, row["left_over"])
        if not row["left_over"] or turn == loop.limit:
            break
        made: list[Statement] = []
        for statement in loop.body:
            _create(replace(statement, sql=statement.sql.replace(TURN, str(turn))), engine, watch)
            if statement.replaces:
                # what reads the old one goes before it: a turn's views, and with its last statement all that it made
                gone = [one for one in made if one.kind == "view" or statement is loop.body[-1]]
                engine.drop([statement.replaces, *(one.relation for one in gone)])
                engine.rename(statement.relation, statement.replaces)
                made = [one for one in made if one not in gone]
            else:
                made.append(statement)
        engine.drop([one.relation for one in made])
    return {**row, "turns": turn}


def creation_text(statement: Statement, sql: str, lasting: bool) -> str:
    """Return what keeps a statement's rows or text under its relation's name; a query's `sql` as it is."""
    if statement.kind == "query":
        return sql
    what = "table" if lasting else f"temporary {statement.kind}"
    return f"create {what} {statement.relation} as\n{sql}"


def typed(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """Return a select list of columns with the types that are wanted. found: those that they have."""
    columns = ((ident(name), sql_type == found[name], sql_type) for name, sql_type in wanted.items())
    return ", ".join(name if same else f"cast({name} as {sql_type}) as {name}" for name, same, sql_type in columns)


def translate_for_engine(sql: str, dialect: str) -> str:
    """Translate SQL that an engine is to run; raise UsageError where it cannot be said there."""
    from sqlanon.sql.translate import translate  # sqlglot is slow to import, and DuckDB's SQL needs no translation

    with raised_as(UsageError, f"{dialect} cannot run this", TemplateError):
        return translate(sql, dialect)


def first_line(error: Exception) -> str:
    """Return the first line of an error: the lines behind it quote the statement, with its names and constants."""
    return str(error).strip().partition("\n")[0]


@dataclass
class ChapterRun:
    """What the chapters of one question have made in a database so far.

    relations: by the names under which chapters read them; a newer one takes the place of an older. made: what is to
    be dropped. named: all names that were given so far.
    """

    engine: Engine
    relations: dict[str, Sql] = field(default_factory=dict)
    prefix: str = field(default_factory=fresh_prefix)
    made: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)

    def build(self, written: Sequence[Chapter]) -> list[Statement | Report | Loop]:
        """Render chapters; what they make stands for those that are written later on."""
        steps = build(written, self.prefix, self.relations, self.engine.dialect, self.named)
        made = [step for step in steps if isinstance(step, Statement)]
        self.named |= {statement.relation for statement in made}
        self.relations |= {statement.name: Sql(statement.relation) for statement in made}
        return [*steps]

    def take(self, written: Sequence[Chapter]) -> dict[str, Any]:
        """Run chapters; return the rows of their reports by name."""
        return run_steps(self.build(written), self.engine, self.made)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a relation, in the order in which it is written."""
        return self.engine.rows(f"select * from {self.relations[name]}")

    def keep(self, name: str, frame: "pd.DataFrame") -> None:
        """Put a table of the driver's beside the relations."""
        self.relations[name] = relation_name(self.prefix, name)
        self.made.append(str(self.relations[name]))
        self.engine.keep_frame(self.relations[name], frame)

    def drop(self, kept: Sequence[str] = ()) -> None:
        """Forget all relations but some; an engine that failed may refuse that as well."""
        with suppress(SqlanonError):
            self.engine.drop([relation for relation in self.made if relation not in kept])
