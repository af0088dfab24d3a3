"""Values of several sensitive columns as numbers, and the tables that are published of them."""

from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import identity_names, sensitive_names
from sqlanon.methods.packing import payload_quasi
from sqlanon.methods.several_columns.design import SharedGroups
from sqlanon.plans.chapters import Chapter


def number_values(design: SharedGroups, further: tuple[str, ...] = ()) -> Chapter:
    """Return the chapter that gives rows the numbers of their values; further: other columns that rows keep."""
    request = design.request
    names = zip(sensitive_names(request), design.attributes, strict=True)
    columns = [{"name": name, "purpose": attribute.purpose} for name, attribute in names]
    kept = (*payload_quasi(request, design.layout), *further, *identity_names(request))
    return Chapter("several/values", {"columns": columns, "kept": tuple(dict.fromkeys(kept))})


def publish_st(design: SharedGroups) -> Steps:
    """Return the chapter of the sensitive tables, one for each column."""
    columns = design.columns
    values = {
        "published": design.request.roles.sensitive,
        "group_column": columns["group"],
        "count_column": columns["count"],
    }
    return (Chapter("several/st", values),)


def link_rows(design: SharedGroups) -> Steps:
    """Return the chapter of the rows that the run knows to the end, for each sensitive column."""
    carried = payload_quasi(design.request, design.layout)
    return (Chapter("several/linked", {"published": design.request.roles.sensitive, "carried": carried}),)
