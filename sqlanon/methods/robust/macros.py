"""The macros of r-robust publishing: the steps of `plan.py` as one SELECT, for a signature that is one text.

The adversary's knowledge is given as columns (`background_names`): groups have rows of one signature, as for
distributions that are learned from the data. One SELECT cannot loop, so it neither merges classes nor repairs groups.
"""

from dataclasses import replace

from sqlanon.methods import macro_steps
from sqlanon.methods.robust import suppression
from sqlanon.plans.plan import Step
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.wording import spoken

NAME, KNOWN, MOST = "robust", "background_names", "max_suppressed := 0.01"
SIZE = "cast(ceil(r) as bigint)"
TOO_SMALL = "r = {value} protects nobody: a posterior of at most 1/r is none; r is a number above 1"
NO_BACKGROUND = "say what the adversary knows: background_names names at least one column"
NO_SHARE = "max_suppressed := {value} is no share of the rows; give a number from 0 to below 1"

_CLASSES = (
    *(step for step in macro_steps.SOURCE if step.template != "methods/grouping/tally"),
    Step("methods/macro_steps/given_key", yields="key", suffix="_given"),
    replace(macro_steps.BIND_DRAWS, suffix="_of_classes"),
    Step("methods/robust/class_grouping/signature_tally"),
    Step("methods/macro_steps/class"),
    Step("methods/robust/class_grouping/ranked"),
    Step("methods/robust/class_grouping/capacity"),
    Step("methods/robust/class_grouping/kept"),
    Step("methods/robust/class_grouping/worst"),
    Step("methods/robust/class_grouping/surplus_summary"),
    Step("shared/persons"),
    Step("methods/macro_steps/figures", reads={"feasibility": "surplus_summary"}),
    Step("methods/macro_steps/refusal"),
    Step("methods/macro_steps/key"),
    macro_steps.BIND_DRAWS,
    Step("methods/macro_steps/identified", "view"),
    Step("methods/robust/class_grouping/frequency"),
    Step("methods/robust/class_grouping/coded", "view", reads={"population": "identified"}),
    Step("methods/grouping/drawn", reads={"rows": "coded"}),
    Step("methods/grouping/sharded"),
    Step("methods/grouping/run"),
    Step("methods/grouping/positioned_by_run", "view", "positioned"),
    Step("methods/grouping/block"),
    Step("methods/grouping/numbered", "view"),
    Step("methods/robust/class_grouping/renumbered"),
    Step("methods/robust/class_grouping/grouped"),
)


def _values(refusals: list[macro_steps.Refusal]) -> dict[str, object]:
    """Return the parameters of the steps; refusals: the macro's own, of columns."""
    grouping = macro_steps.grouping_values(NAME, "r", False, [])
    purpose = macro_steps.purpose_of(NAME)
    values = {name: grouping[name] for name in grouping if name not in ("coded_columns", "group_size")}
    values["selected"] = [*_listed(grouping["selected"]), (Sql("signature_text"), "quasi_2")]
    return values | {
        "further_texts": [("signature_text", Sql(f"cast({KNOWN} as varchar[])"))],
        "payload_texts": ["quasi_2"],
        "signature": ("quasi_2",),
        "size": Sql(SIZE),
        # no group is refused, and must not be divided by before
        "groups_per_block": Sql("greatest(1, cast(groups_per_block as bigint))"),
        "most_millionths": Sql("cast(round(1000000 * cast(max_suppressed as double)) as bigint)"),
        "class_purpose": Sql(f"({purpose}'/class/')"),
        "group_purpose": Sql(f"({purpose}'/group/')"),
        "drawn_from": ("quasi_1", "identity"),
        "refusals": [*refusals, *_refusals()],
    }


def _listed(value: object) -> list[object]:
    assert isinstance(value, list), "columns are listed"
    return value


def _refusals() -> list[macro_steps.Refusal]:
    size = {"value": "coalesce(cast(r as varchar), 'NULL')"}
    share = {"value": "coalesce(cast(max_suppressed as varchar), 'NULL')"}
    fields = macro_steps.column_fields()
    return [
        *macro_steps.column_refusals("id", "--id"),
        (Sql(f"len(cast({KNOWN} as varchar[])) = 0"), write_message(NO_BACKGROUND, {})),
        *macro_steps.column_refusals(KNOWN, "--background-from"),
        (Sql("coalesce(r <= 1, true)"), write_message(TOO_SMALL, size)),
        (
            Sql("coalesce(cast(max_suppressed as double) < 0 or cast(max_suppressed as double) >= 1, true)"),
            write_message(NO_SHARE, share),
        ),
        macro_steps.no_block(),
        *macro_steps.null_refusals(fields),
        *_left_over(fields),
        macro_steps.several_rows(fields),
        *macro_steps.key_refusal(False),
    ]


def _left_over(fields: dict[str, str]) -> list[macro_steps.Refusal]:
    """Refuse what `suppression` refuses, in its words; the signatures that leave rows over are not named."""
    fields = fields | {
        "r": "r",
        "size": SIZE,
        "surplus_rows": "surplus_rows",
        "share": "format('{:.2f}%', 100.0 * surplus_rows / row_count)",
        "most": "format('{:.4g}', 100.0 * cast(max_suppressed as double))",
        "worst": "''",
        "whole": "''",
        "feasible_size": "feasible_size",
        "enough": "format('{:g}', ceil(1000000.0 * surplus_rows / row_count) / 1000000.0)",
    }
    too_many = "surplus_rows * 1000000 > row_count * round(1000000 * cast(max_suppressed as double))"
    none, some = "surplus_rows = row_count", f"({too_many})"
    ends = ((" and feasible_size >= 2", suppression.POSSIBLE_UP_TO), ("", suppression.NEVER_POSSIBLE))
    refusals = []
    for condition, end in ends:
        refusals.append((Sql(none + condition), write_message(suppression.NO_GROUP + end, fields)))
        text = spoken(f"{suppression.NOT_POSSIBLE}{end}; {suppression.LEAVE_OUT}", "macro")
        refusals.append((Sql(f"{some} and not {none}{condition}"), write_message(text, fields)))
    return refusals


_OPTIONS = (macro_steps.IDENTIFIER, macro_steps.NULLS, macro_steps.BLOCK, MOST)
MACROS = (
    Macro(
        "robust_groups",
        (macro_steps.TABLE, macro_steps.SENSITIVE, KNOWN, "r", *_OPTIONS),
        "every row with its group_id, in groups of one signature: microdata to take quasi columns from, not a release",
        "from robust_groups('patients', 'disease', ['sex'], 3)",
        (*_CLASSES, Step("methods/macro_steps/groups")),
        _values([]) | {"order_purpose": f"{NAME}/order/"},
    ),
    Macro(
        "robust_qit",
        (macro_steps.TABLE, macro_steps.QUASI, macro_steps.SENSITIVE, KNOWN, "r", *_OPTIONS),
        "the quasi columns and group_id; under one key it belongs to robust_st",
        "from robust_qit('patients', ['age', 'sex'], 'disease', ['sex'], 3)",
        (*_CLASSES, Step("methods/macro_steps/qit")),
        _values(macro_steps.column_refusals(macro_steps.QUASI, "--quasi"))
        | {"quasi_names": Sql(f"cast({macro_steps.QUASI} as varchar[])")},
    ),
    Macro(
        "robust_st",
        (macro_steps.TABLE, macro_steps.SENSITIVE, KNOWN, "r", *_OPTIONS),
        "group_id, the sensitive column and its count; under one key it belongs to robust_qit",
        "from robust_st('patients', 'disease', ['sex'], 3)",
        (*_CLASSES, Step("methods/macro_steps/st")),
        _values([]),
    ),
)
