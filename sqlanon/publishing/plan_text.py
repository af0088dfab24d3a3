"""What would run, as text: the statements of a plan in order, and the script of a method for another engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Constants, Loop, Plan, Report, Row, Source, Statement
from sqlanon.plans.roles import checked_roles, split_columns
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from sqlanon.releases.opening import Place

PREFIX = "sqlanon_"  # of relations in texts; a run's own are drawn


def statements_text(plan: Plan, engine: Engine, place: Place) -> str:
    """Return what publishing would run, in order, as text."""
    plan = plan.assumed()
    texts = [plan_text(plan, engine)]
    for output in plan.outputs:
        if place.schema is not None:
            relation = f"{engine.qualified(place.schema)}.{ident(output.name)}"
            written = engine.text(Statement(output.name, output.sql, "table", relation), lasting=True)
        else:
            written = engine.parquet_text(output.sql, (place.directory or Path()) / f"{output.name}.parquet")
        texts.append(f"-- {output.name}\n{written};")
    return "\n\n".join(texts) + "\n"


def plan_text(plan: Plan, engine: Engine) -> str:
    """Return the statements of a plan as they run before anything is written, in order."""
    texts = [text for step in plan.steps for text in _step_text(step, engine)]
    # the key is bound as a parameter: no text that is shown ever holds it
    key = f"-- key (bound, never shown)\ncreate temporary table {plan.key} (secret varchar);"
    bound = [text for constants in plan.constants for text in _constants_text(constants)]
    range_query = [] if plan.range_query is None else _step_text(plan.range_query.statement, engine)
    return "\n\n".join([*range_query, key, f"insert into {plan.key} values (?);", *bound, *texts])


def _constants_text(constants: Constants) -> list[str]:
    columns = ", ".join(f"{ident(name)} bigint" for name in constants.row)
    head = f"-- {constants.name} (bound: from `ranges`; what does not fit into one number stays columns)"
    statement = f"{head}\ncreate temporary table {constants.relation} ({columns});"
    return [statement, f"insert into {constants.relation} values ({', '.join('?' for _ in constants.row)});"]


def _step_text(step: Statement | Report | Loop, engine: Engine) -> list[str]:
    if isinstance(step, Loop):
        (rest,) = _step_text(step.left, engine)
        turn = [text for statement in step.body for text in _step_text(statement, engine)]
        after = [f"{made.relation} takes the place of {made.replaces}" for made in step.body if made.replaces]
        again = f"again from left_over on, while it is above 0, at most {step.limit} turns"
        last = f"-- {step.name}: {', '.join(after)}; {again}"
        return [rest, *turn, last]
    statement = step.statement if isinstance(step, Report) else step
    return [f"-- {statement.name}\n{engine.text(statement)};"]


def compiled(asked: ReleaseRequest, dialect: str, engine: Engine | None = None) -> str:
    """Return the method's script for another engine; no database is needed, columns are taken as given.

    engine: where the source stands, for a method whose script depends on the types of its columns.
    """
    from sqlanon.sql.shell_script import write_script  # its translator is slow to load, and publishing needs none

    method = METHODS[asked.method]
    if engine is not None:
        table = None if dialect == engine.dialect else table_elsewhere(str(asked.source), dialect)
        with prepare(asked, engine, PREFIX, table=table, dialect=dialect) as (plan, _):
            return write_script(plan, dialect, method.paper)
    roles = checked_roles(*(split_columns(names) for names in (asked.quasi, asked.sensitive, asked.identifier)))
    source = Source(table_elsewhere(str(asked.source), dialect))
    request = asked.to_plan(source, roles, identity=asked.identity_elsewhere, engine=dialect)
    return write_script(method.plan(request, prefix=PREFIX, **asked.parameters), dialect, method.paper)


def table_elsewhere(text: str, dialect: str) -> Sql:
    """Return the reference to a table of another engine, its dotted parts quoted one by one."""
    if text.lower().endswith(".parquet") or "/" in text:
        if dialect == "duckdb":
            return Sql(f"read_parquet({literal(text)})")
        if dialect == "spark":
            return Sql(f"{ident('parquet')}.{ident(text)}")
        raise UsageError(f"{dialect} publishes from a table, not from the file {text!r}; load it, then name the table")
    parts = text.split(".")
    if not all(parts):
        raise UsageError(f"{text!r} is not the name of a table")
    return Sql(".".join(ident(part) for part in parts))


@dataclass(frozen=True)
class ShownStep:
    """One step that ran: `kind` is that of its statement, a check's is `query`.

    sentence: what it makes. row_count: rows of the relation. rows: the first of them. seconds: what
    making it took; of a view, whose rows are computed where it is read, and of a check nothing is measured.
    """

    name: str
    kind: str
    sentence: str
    row_count: int
    rows: Sequence[Row]
    seconds: float | None = None


def show_steps(
    asked: ReleaseRequest, engine: Engine, count: int, show: Callable[[ShownStep], None], **parameters: Any
) -> None:
    """Run a method's steps and show each relation with its first `count` rows; nothing is published.

    Raises UsageError and DataError as publishing does.
    """

    def read(statement: Statement, seconds: float | None = None) -> None:
        relation = statement.relation or f"(\n{statement.sql}\n)"
        (counted,) = engine.rows(f"select count(*) as row_count from {relation} as shown")
        rows = engine.rows(f"select * from {relation} as shown limit {count}")
        took = seconds if statement.kind == "table" else None
        show(ShownStep(statement.name, statement.kind, statement.sentence, counted["row_count"], rows, took))

    def look(name: str, row: Row) -> None:
        show(ShownStep(name, "query", checks[name].sentence, 1, [row]))

    with prepare(asked, engine, fresh_prefix(), **parameters) as (prepared, _), engine.snapshot():
        plan = prepared.with_ranges(engine.rows)
        checks = {step.statement.name: step.statement for step in plan.steps if isinstance(step, Report)}
        with run_plan(plan, engine, asked.key or Key.fresh(), look, read) as reports:
            for output in plan.published(reports).outputs:
                read(Statement(output.name, output.sql, "table", sentence=output.sentence))
