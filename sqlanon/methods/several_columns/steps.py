"""The steps of Anatomy's groups for several sensitive columns."""

from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import sensitive_names
from sqlanon.methods.several_columns.design import SeveralColumns
from sqlanon.methods.several_columns.limits import (
    limit_guards,
    refuse_limits,
    refuse_suppressed,
    suppressed_guards,
)
from sqlanon.plans.plan import Step


def check_values(design: SeveralColumns) -> Steps:
    """Return the step that refuses what cannot be grouped, in every column."""
    values = {
        "sensitive_columns": sensitive_names(design.request),
        "nulls_are_values": design.request.nulls == "value",
    }
    limits = design.limits
    check = Step(
        "methods/several_columns/limits",
        "query",
        refuse=refuse_limits(limits),
        guards=limit_guards(limits),
        values=values,
    )
    return (check,)


def check_suppressed(design: SeveralColumns) -> Steps:
    """Return the step that refuses more rows left out than may be, where there are several columns."""
    limits = design.limits
    check = Step(
        "methods/several_columns/suppressed",
        "query",
        refuse=refuse_suppressed(limits),
        guards=suppressed_guards(limits),
        dropped="dropped_rows",
    )
    return (check,)
