"""Show what each step of a method makes of a table, relation by relation: microdata, to see how it works."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.key import Key
from sqlanon.plans.plan import Report, Row
from sqlanon.plans.statement import Statement
from sqlanon.publishing.release_request import ReleaseRequest, prepare


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
