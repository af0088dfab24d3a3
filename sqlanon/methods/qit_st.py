"""QIT and ST: what is published of groups, whichever method made them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.methods import grouping
from sqlanon.plans.plan import Plan, Repeat, Request, Step, build, relation_name
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql

OUTPUTS = (Step("methods/qit_st/qit"), Step("methods/qit_st/st"))


def check(method: str, request: Request, block: int | None) -> None:
    """Refuse several sensitive columns, and blocks that hold no group."""
    if block is not None and block < 1:
        raise UsageError(f"--block {block} holds no group; give a whole number of at least 1, or all")
    if len(request.roles.sensitive) != 1:
        raise UsageError(
            f"{method} publishes one sensitive column, {len(request.roles.sensitive)} were given:"
            f" {', '.join(map(repr, request.roles.sensitive))}"
        )


def attribute(method: str, request: Request, parameter: str, size: int, block: int | None) -> grouping.Attribute:
    """Return the one attribute that is grouped, in groups of at least `size` rows."""
    (sensitive,) = request.roles.sensitive
    return grouping.Attribute(
        column=sensitive,
        size=size,
        parameter=parameter,
        purpose=f"{method}/{sensitive}",
        groups_per_block=block or grouping.ONE_BLOCK,
        carried=grouping.quasi_names(request),
    )


def planned(
    method: str,
    request: Request,
    steps: Sequence[Step | Repeat],
    parameters: Mapping[str, Any],
    guarantee: Mapping[str, Any],
    prefix: str,
    key: Sql | None,
) -> Plan:
    """Return the plan whose steps end in `grouped` (quasi_1 …, code, group_id) and in `frequency` (code, sensitive)."""
    (sensitive,) = request.roles.sensitive
    published = (*request.roles.quasi, sensitive)
    columns = {"group": free_name("group_id", published), "count": free_name("count", published)}
    values = {
        "quasi": request.roles.quasi,
        "sensitive": sensitive,
        "group_column": columns["group"],
        "count_column": columns["count"],
    }
    secret = key if key is not None else relation_name(prefix, "key")
    built = build((*steps, *OUTPUTS), values, prefix, {"key": secret})
    return Plan(
        method=method,
        steps=built[: -len(OUTPUTS)],
        outputs=built[-len(OUTPUTS) :],  # type: ignore[arg-type]
        parameters={**parameters, "draws": request.draws, "nulls": request.nulls},
        columns={"quasi": list(request.roles.quasi), "sensitive": [sensitive], **columns},
        guarantee=guarantee,
        key=secret,
    )


def shown_block(block: int | None) -> int | str:
    """Return what the manifest says of a block."""
    return "all" if block is None else block
