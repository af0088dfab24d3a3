"""Anatomy (Xiao and Tao, VLDB 2006): publish QIT and ST from an l-diverse partition of the rows.

QIT holds every row's exact quasi-identifier values and its group; ST holds each group's sensitive values
with their counts. No value fills more than 1/l of a group, so that from QIT and ST alone nobody infers a
person's value with confidence above 1/l.
"""

from sqlanon import grouping
from sqlanon.errors import UsageError
from sqlanon.plan import Plan, Request, Step, build, relation_name
from sqlanon.roles import free_name
from sqlanon.templates import Sql

NAME = "anatomy"
PAPER = "Xiao and Tao, Anatomy: Simple and Effective Privacy Preservation, VLDB 2006"
STEPS = (*grouping.STEPS, "qit", "st")


def plan(
    request: Request,
    l: int,
    block: int | None = grouping.GROUPS_PER_BLOCK,
    prefix: str = "sqlanon_",
    key: Sql | None = None,
) -> Plan:
    """Return the plan of an l-diverse release.

    l: whole number >= 2, the least number of different sensitive values in a group.
    block: groups per block of mixed values (accuracy against what several releases tell); None: one block.
    Raises UsageError where l or block is out of range, or the roles are not Anatomy's.
    """
    if l < 2:
        raise UsageError(f"l = {l} protects nobody; l is a whole number of at least 2")
    if block is not None and block < 1:
        raise UsageError(f"--block {block} holds no group; give a whole number of at least 1, or all")
    if len(request.roles.sensitive) != 1:
        raise UsageError(
            f"anatomy publishes one sensitive column, {len(request.roles.sensitive)} were given:"
            f" {', '.join(map(repr, request.roles.sensitive))}"
        )
    (sensitive,) = request.roles.sensitive
    published = (*request.roles.quasi, sensitive)
    group_column = free_name("group_id", published)
    count_column = free_name("count", published)
    values = grouping.values(request, f"{NAME}/{sensitive}", l, block or grouping.ONE_BLOCK)
    values |= {"sensitive": sensitive, "group_column": group_column, "count_column": count_column}
    steps = grouping.steps(request, "l", l)
    outputs = (Step("anatomy/qit"), Step("anatomy/st"))
    secret = key if key is not None else relation_name(prefix, "key")
    built = build((*steps, *outputs), values, prefix, {"key": secret})
    return Plan(
        method=NAME,
        steps=built[: -len(outputs)],
        outputs=built[-len(outputs) :],  # type: ignore[arg-type]
        parameters={
            "l": l,
            "block": "all" if block is None else block,
            "draws": request.draws,
            "nulls": request.nulls,
        },
        columns={
            "quasi": list(request.roles.quasi),
            "sensitive": [sensitive],
            "group": group_column,
            "count": count_column,
        },
        guarantee={"l": l, "confidence": 1 / l},
        key=secret,
    )
