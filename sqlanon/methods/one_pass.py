"""Groups in one pass over the rows, for an engine to which a table between statements is dear.

The groups are those of `grouping.py`, row for row, in one statement: without counting rows that are seated, and without
a table between positions and groups. An engine that takes rows one by one has no shards either, and no table of draws.
The templates are `sql_templates/methods/one_pass/`.
"""

from sqlanon.methods import grouping
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import Grouping
from sqlanon.methods.internal_names import tie_names
from sqlanon.plans.plan import Step

FOLDER = "methods/one_pass"


def order_values(design: Grouping) -> Steps:
    """Return the step that gives every value its place in the order of seats, and where `publish_st` sorts by it."""
    return grouping.order_values_of(design, "tally", () if design.request.row_by_row else ("place",))


def draw(design: Grouping) -> Steps:
    """Return the step that draws for every coded row: a view where one statement alone reads it, once."""
    return grouping.draw_from(design, "code", "coded", "view" if design.request.row_by_row else "table")


def seat(design: Grouping) -> Steps:
    """Return the step that orders the values of each block, by arithmetic over their counts."""
    return (Step(f"{FOLDER}/block", values={"block_purpose": f"{design.attribute.purpose}/block/"}),)


def form_groups(design: Grouping) -> Steps:
    """Return the steps that end in `grouped`, where no value's rows are left out: every row with its group."""
    values = {"carried": design.attribute.carried, "ties": tie_names(design.request)}
    if design.request.row_by_row:
        return (Step(f"{FOLDER}/grouped", values=values),)
    # a window over everything would have one worker: those of shards have many
    return (Step(f"{FOLDER}/shard"), Step(f"{FOLDER}/sharded", yields="grouped", values=values))


def publish_st(design: Grouping) -> Steps:
    """Return the step of the sensitive table."""
    return (Step("methods/qit_st/st" if design.request.row_by_row else f"{FOLDER}/st"),)
