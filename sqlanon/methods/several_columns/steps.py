"""The steps of Anatomy's groups for several sensitive columns."""

from sqlanon.methods import qit_st
from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import identity_names, sensitive_names
from sqlanon.methods.packing import payload_quasi
from sqlanon.methods.several_columns.coding import code_values, count_values, lead_values, link_values, number_values
from sqlanon.methods.several_columns.design import SeveralColumns, SharedGroups
from sqlanon.methods.several_columns.limits import (
    limit_guards,
    refuse_limits,
    refuse_suppressed,
    suppressed_guards,
)
from sqlanon.methods.several_columns.places import change_places, seats
from sqlanon.plans.plan import Step


def check_values(design: SeveralColumns) -> Steps:
    """Return the steps that count values and refuse what cannot be grouped, in every column."""
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
    return (check, *count_values(design))


def order_values(design: SeveralColumns) -> Steps:
    """Return the steps that number the values; last those of the seats, which are dealt out next."""
    return (*number_values(design), lead_values(design))


def code_rows(design: SeveralColumns) -> Steps:
    """Return the step that gives rows the codes of their values, before they are drawn for."""
    request = design.request
    columns = (*payload_quasi(request, design.layout), *identity_names(request))
    return (code_values(design, "population", columns),)


def form_groups(design: SeveralColumns) -> Steps:
    """Return the steps that end in `grouped`: every row that is published with its group."""
    seated = Step("methods/grouping/grouped", yields="seated", values=seats(design))
    return (seated, *change_places(design))


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


def publish_st(design: SharedGroups) -> Steps:
    """Return the steps of the sensitive tables, one for each column."""
    return tuple(
        Step(
            "methods/qit_st/st",
            suffix=attribute.suffix if number else "",
            values={"sensitive": attribute.column, **qit_st.stays_sorted(design)},
            reads={"grouped": f"shown{attribute.suffix}", "frequency": f"frequency{attribute.suffix}"},
        )
        for number, attribute in enumerate(design.attributes)
    )


def link_rows(design: SharedGroups) -> Steps:
    """Return the steps of the rows that the run knows to the end, one for each sensitive column."""
    linked = {"linked_columns": payload_quasi(design.request, design.layout)}
    return link_values(design, linked)
