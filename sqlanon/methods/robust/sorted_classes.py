"""Class-first groups of rows that are sorted once, where a table numbers its rows.

They are the groups of `class_grouping.py`, row for row. How many rows of a value lie in a block follows from counts,
and no row is read for the groups' numbers.
"""

from sqlanon.methods import draws, one_pass
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import Grouping
from sqlanon.methods.internal_names import tie_names
from sqlanon.plans.plan import Step
from sqlanon.plans.templates import Sql

FOLDER = "methods/robust/class_grouping"


def seat(design: Grouping) -> Steps:
    """Return the steps that sort the rows, and order the values of each block."""
    ordered = {"carried": design.attribute.carried, "ties": tie_names(design.request)}
    return (
        Step("methods/grouping/ordered", values=ordered),
        Step(f"{FOLDER}/seating"),
        *one_pass.order_blocks(design, Sql("first_cell"), "seating"),
    )


def form_groups(design: Grouping) -> Steps:
    """Return the steps that end in `grouped`: every kept row with its group; group numbers tell of no class."""
    numbers = {
        "group_purpose": f"{design.attribute.purpose}/group/",
        "own_draws": draws.are_of_one_engine(design.request),
    }
    return (
        Step(f"{FOLDER}/renumbered_by_number", yields="renumbered", values=numbers),
        Step(f"{FOLDER}/numbered", yields="grouped", values={"carried": design.attribute.carried}),
    )
