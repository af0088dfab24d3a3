"""Groups in one pass over the rows, for an engine that takes them one by one.

The groups are those of `grouping.py`, row for row, in one statement: without shards, without counting rows that are
seated, without a table between draws and groups. The templates are `sql_templates/methods/one_pass/`.
"""

from sqlanon.methods import grouping
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import Grouping
from sqlanon.methods.internal_names import tie_names
from sqlanon.plans.plan import Step

FOLDER = "methods/one_pass"


def draw(design: Grouping) -> Steps:
    """Return the step that draws for every coded row: a view, which `form_groups` alone reads, once."""
    return grouping.draw_from(design, "code", "coded", "view")


def seat(design: Grouping) -> Steps:
    """Return the step that orders the values of each block, by arithmetic over their counts."""
    return (Step(f"{FOLDER}/block", values={"block_purpose": f"{design.attribute.purpose}/block/"}),)


def form_groups(design: Grouping) -> Steps:
    """Return the step that ends in `grouped`, where no value's rows are left out: every row with its group."""
    values = {"carried": design.attribute.carried, "ties": tie_names(design.request)}
    return (Step(f"{FOLDER}/grouped", values=values),)
