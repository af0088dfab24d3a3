"""The macros of r-robust publishing: the chapters of `plan.py` as one SELECT, for a signature that is one list.

The adversary's knowledge is given as columns (`background_names`): groups have rows of one signature, as for
distributions that are learned from the data.
"""

from sqlanon.methods import grouping, macro_steps
from sqlanon.methods.macro_steps import QUASI, SENSITIVE, TABLE, Refusal, column_refusals
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message

NAME, KNOWN, MOST = "robust", "background_names", "max_suppressed := 0.01"
SIGNATURE = ("known_fields",)
TOO_SMALL = "r = {value} protects nobody: a posterior of at most 1/r is none; r is a number above 1"
NO_BACKGROUND = "say what the adversary knows: background_names names at least one column"
NO_SHARE = "max_suppressed := {value} is no share of the rows; give a number from 0 to below 1"
# as the columns of a signature would be spelled one after the other
SPELLED = Sql(
    f"array_to_string(list_transform({SIGNATURE[0]}, lambda field:"
    " coalesce(cast(length(field) as varchar) || ':' || field, 'N')), '')"
)


def _refusals() -> list[Refusal]:
    size = {"value": "coalesce(cast(r as varchar), 'NULL')"}
    share = {"value": "coalesce(cast(max_suppressed as varchar), 'NULL')"}
    no_share = "coalesce(cast(max_suppressed as double) < 0 or cast(max_suppressed as double) >= 1, true)"
    return [
        *column_refusals("id", "--id"),
        (Sql(f"len(cast({KNOWN} as varchar[])) = 0"), write_message(NO_BACKGROUND, {})),
        *column_refusals(KNOWN, "--background-from"),
        (Sql("coalesce(r <= 1, true)"), write_message(TOO_SMALL, size)),
        (Sql(no_share), write_message(NO_SHARE, share)),
        macro_steps.no_block(),
    ]


def _groups(refusals: list[Refusal]) -> tuple[Chapter, ...]:
    """Return the chapters from a table to `grouped`, class by class; refusals: the macro's own, of columns."""
    size = Sql("cast(ceil(r) as bigint)")
    surplus = {
        "signature": SIGNATURE,
        "size": size,
        "codes": (),
        "parameter": "r",
        "asked": Sql("r"),
        "who": "rows",
        "alike": "one signature",
        "differ": Sql(f"'have different values of ' || {macro_steps.column()}"),
        "most": Sql("format('{:.4g}', 100.0 * cast(max_suppressed as double))"),
        "most_millionths": Sql("cast(round(1000000 * cast(max_suppressed as double)) as bigint)"),
        "taught": False,
        "final": False,
    }
    purpose = macro_steps.purpose_of(NAME)
    return (
        *macro_steps.source("id", [*refusals, *_refusals()], KNOWN),
        macro_steps.key(draws=False),
        macro_steps.bind(),
        grouping.tally(SIGNATURE),
        Chapter("robust/classes", {"signature": SIGNATURE, "purpose": purpose, "spelled": SPELLED}),
        macro_steps.count_values(NAME, "r", SIGNATURE),
        Chapter("surplus", surplus),
        *macro_steps.own_values(draws=False),
        *macro_steps.group(NAME, SIGNATURE),
    )


_OPTIONS = (*macro_steps.OPTIONS, MOST)
MACROS = (
    Macro(
        "robust_groups",
        (TABLE, SENSITIVE, KNOWN, "r", *_OPTIONS),
        "every row with its group_id, in groups of one signature: microdata to take quasi columns from, not a release",
        "from robust_groups('patients', 'disease', ['sex'], 3)",
        (*_groups([]), Chapter("macros/groups", {"purpose": f"{NAME}/order/"})),
    ),
    Macro(
        "robust_qit",
        (TABLE, QUASI, SENSITIVE, KNOWN, "r", *_OPTIONS),
        "the quasi columns and group_id; under one key it belongs to robust_st",
        "from robust_qit('patients', ['age', 'sex'], 'disease', ['sex'], 3)",
        (
            *_groups(column_refusals(QUASI, "--quasi")),
            macro_steps.PUBLISHED_QIT,
        ),
    ),
    Macro(
        "robust_st",
        (TABLE, SENSITIVE, KNOWN, "r", *_OPTIONS),
        "group_id, the sensitive column and its count; under one key it belongs to robust_qit",
        "from robust_st('patients', 'disease', ['sex'], 3)",
        (*_groups([]), macro_steps.PUBLISHED_ST),
    ),
)
