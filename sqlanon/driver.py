"""The only loop that walks a plan through a database: checks refuse, relations are made in order."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.plan import Check, Plan, Row
from sqlanon.secret import Key

log = logging.getLogger("sqlanon")


def fresh_prefix() -> str:
    """Return a prefix for the relations of one run, so that two runs in one session never meet."""
    return f"sqlanon_{secrets.token_hex(4)}_"


@contextmanager
def carried_out(plan: Plan, engine: Engine, key: Key) -> Iterator[dict[str, Row]]:
    """Run the steps of `plan`; its relations stand inside the block and are forgotten after it.

    Yields the rows of the plan's checks by name.
    """
    relations = [str(plan.key)]
    found: dict[str, Row] = {}
    try:
        engine.keep_key(plan.key, key)
        for step in plan.steps:
            if isinstance(step, Check):
                log.info("checking %s", step.statement.name)
                (row,) = engine.rows(step.statement.sql)
                step.refuse(row)
                found[step.statement.name] = row
            else:
                log.info("making %s", step.name)
                relations.append(step.relation)
                engine.create(step)
        yield found
    except BaseException:
        with suppress(SqlanonError):  # the first error is the one to tell
            engine.drop(relations)
        raise
    engine.drop(relations)
