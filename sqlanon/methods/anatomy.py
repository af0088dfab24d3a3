"""Anatomy (Xiao and Tao, VLDB 2006): publish QIT and ST from an l-diverse partition of the rows.

QIT holds every row's exact quasi-identifier values and its group; ST holds each group's sensitive values
with their counts. No value fills more than 1/l of a group, so that from QIT and ST alone nobody infers a
person's value with confidence above 1/l.
"""

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, macro_steps, qit_st
from sqlanon.plans.plan import Plan, Request, Step
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message

NAME = "anatomy"
PAPER = "Xiao and Tao, Anatomy: Simple and Effective Privacy Preservation, VLDB 2006"
STEPS = (*grouping.STEPS, "qit", "st")
TOO_SMALL = "l = {l} protects nobody; l is a whole number of at least 2"


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
        raise UsageError(TOO_SMALL.format(l=l))
    qit_st.check(NAME, request, block)
    attribute = qit_st.attribute(NAME, request, "l", l, block)
    return qit_st.planned(
        NAME,
        request,
        grouping.steps(request, attribute),
        {"l": l, "block": qit_st.shown_block(block)},
        {"l": l, "confidence": 1 / l},
        prefix,
        key,
    )


_SMALL = (
    Sql("coalesce(l < 2 or l <> floor(l), true)"),
    write_message(TOO_SMALL, {"l": "coalesce(cast(l as varchar), 'NULL')"}),
)
_OPTIONS = (macro_steps.IDENTIFIER, macro_steps.NULLS, macro_steps.BLOCK)

MACROS = (
    Macro(
        "anatomy_groups",
        (macro_steps.TABLE, macro_steps.SENSITIVE, "l", *_OPTIONS, macro_steps.DRAWS),
        "every row with its group_id: microdata to take quasi columns from, not a release",
        "from anatomy_groups('patients', 'disease', 4)",
        (*macro_steps.GROUPING, Step("methods/macro_steps/groups")),
        macro_steps.grouping_values(NAME, "l", True, [_SMALL]) | {"order_purpose": f"{NAME}/order/"},
    ),
    Macro(
        "anatomy_qit",
        (macro_steps.TABLE, macro_steps.QUASI, macro_steps.SENSITIVE, "l", *_OPTIONS),
        "the quasi columns and group_id; under one key it belongs to anatomy_st",
        "from anatomy_qit('patients', ['age', 'sex'], 'disease', 4)",
        (*macro_steps.GROUPING, Step("methods/macro_steps/qit")),
        macro_steps.grouping_values(
            NAME, "l", False, [*macro_steps.column_refusals(macro_steps.QUASI, "--quasi"), _SMALL]
        )
        | {"quasi_names": Sql(f"cast({macro_steps.QUASI} as varchar[])")},
    ),
    Macro(
        "anatomy_st",
        (macro_steps.TABLE, macro_steps.SENSITIVE, "l", *_OPTIONS),
        "group_id, the sensitive column and its count; under one key it belongs to anatomy_qit",
        "from anatomy_st('patients', 'disease', 4)",
        (*macro_steps.GROUPING, Step("methods/macro_steps/st")),
        macro_steps.grouping_values(NAME, "l", False, [_SMALL]),
    ),
)
