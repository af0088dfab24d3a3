"""What would run, as text: the statements of a plan in order, and the script of a method for another engine."""

from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Constants, Loop, Plan, Report, Source
from sqlanon.plans.roles import checked_roles, split_columns
from sqlanon.plans.statement import Statement
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
