"""Values of several sensitive columns as numbers, with the column by which rows are seated in first place.

That is the column of the most frequent value. The data decides which it is; it changes places with the first column.
"""

from collections.abc import Mapping
from dataclasses import replace

from sqlanon.methods import grouping
from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import sensitive_names
from sqlanon.methods.several_columns.design import SharedGroups
from sqlanon.plans.plan import Step


def count_values(design: SharedGroups) -> Steps:
    """Return the steps that count the values of every column, and find that of the most frequent one."""
    tallies = (
        Step("methods/grouping/tally", values={"sensitive_column": attribute.internal}, suffix=attribute.suffix)
        for attribute in design.attributes
    )
    return (*tallies, Step("methods/several_columns/foremost", values={"tallies": design.relations("tally")}))


def number_values(design: SharedGroups) -> Steps:
    """Return the steps that number the values of every column."""
    return tuple(
        step for attribute in design.attributes for step in grouping.order_values(replace(design, attribute=attribute))
    )


def code_values(design: SharedGroups, rows: str, payload: tuple[str, ...]) -> Step:
    """Return the step that gives the rows in the relation `rows` the numbers of their values, beside these columns."""
    numbers = tuple(f"number{attribute.suffix}" for attribute in design.attributes)
    values = {
        "payload": payload,
        "numbered": list(zip(sensitive_names(design.request), numbers, design.relations("frequency"), strict=True)),
        "chosen": [(code, _exchanged(numbers, place)) for place, code in enumerate(design.codes)],
    }
    return Step("methods/several_columns/coded", "view", suffix="_by_value", reads={"rows": rows}, values=values)


def lead_values(design: SharedGroups) -> Step:
    """Return the step of the numbered values by which rows are seated."""
    frequencies = list(enumerate(design.relations("frequency")))
    return Step(
        "methods/several_columns/frequency_led", yields="frequency", suffix="_led", values={"frequencies": frequencies}
    )


def show_values(design: SharedGroups) -> Steps:
    """Return a view for each sensitive column: every group with the column's codes, which its ST is made of.

    Which code column holds a sensitive column's values is decided by the data: `foremost` names the column whose values
    lead, and this column and the first one have changed places.
    """
    return tuple(
        Step(
            "methods/several_columns/shown",
            "view",
            suffix=attribute.suffix,
            values={"cases": _exchanged(design.codes, place)},
        )
        for place, attribute in enumerate(design.attributes)
    )


def link_values(design: SharedGroups, linked: Mapping[str, object]) -> Steps:
    """Return the views of the rows with their values of each column, as the run knows them to the end."""
    return tuple(
        Step(
            "methods/several_columns/linked",
            "view",
            suffix=f"_{place + 1}",
            values={**linked, "cases": _exchanged(design.codes, place)},
            reads={"frequency": f"frequency{attribute.suffix}"},
        )
        for place, attribute in enumerate(design.attributes)
    )


def _exchanged(names: tuple[str, ...], place: int) -> list[tuple[int, str]]:
    """Return, for each column that may be foremost, the name at `place` after it and the first have changed places."""
    return [(foremost, names[{0: foremost, foremost: 0}.get(place, place)]) for foremost in range(len(names))]
