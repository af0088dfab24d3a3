"""The only loop that walks a plan through a database: checks refuse, relations are made in order."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.engines.base import Engine
from sqlanon.plan import Check, Plan
from sqlanon.secret import Key
from sqlanon.statement import Statement
from sqlanon.templates import Sql

log = logging.getLogger("sqlanon")


def fresh_prefix() -> str:
    """Return a prefix for the relations of one run, so that two runs in one session never meet."""
    return f"sqlanon_{secrets.token_hex(4)}_"


@contextmanager
def carried_out(plan: Plan, engine: Engine, key: Key) -> Iterator[None]:
    """Run the steps of `plan`; its relations stand inside the block and are forgotten after it."""
    relations: list[str] = []
    try:
        relations.append(str(plan.key))
        engine.keep_key(Sql(plan.key), key)
        for step in plan.steps:
            if isinstance(step, Check):
                log.info("checking %s", step.statement.name)
                (row,) = engine.rows(step.statement.sql)
                step.refuse(row)
            else:
                _make(engine, step, relations)
        yield
    finally:
        engine.drop(relations)


def _make(engine: Engine, statement: Statement, relations: list[str]) -> None:
    log.info("making %s", statement.name)
    relations.append(statement.relation)
    engine.create(statement)
