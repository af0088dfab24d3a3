"""Form groups in one pass over the rows, for engines on which storing a table between statements is expensive.

The groups are those of `grouping.py`, row for row, but no rows are counted after seating, nothing is sharded, and
neither draws nor positions are stored. An engine that reads rows one by one forms groups in a single statement, an
engine that numbers the rows of a table sorts them once, and an engine with several workers numbers the rows of each
worker separately. The templates are `sql_templates/methods/one_pass/`.
"""

from itertools import takewhile

from sqlanon.methods import draws, grouping, packing, qit_st
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import Grouping
from sqlanon.methods.internal_names import quasi_names, tie_names
from sqlanon.plans.plan import Request, Step
from sqlanon.plans.templates import Sql


def order_values(design: Grouping) -> Steps:
    """Return the step that gives every value its place in the order of seats, and where `publish_st` sorts by it."""
    return grouping.order_values_of(design, "tally", ("place",) if _by_runs(design.request) else ())


def draw(design: Grouping) -> Steps:
    """Return the step that draws for every coded row: a view, for one statement alone reads it, once."""
    return grouping.draw_from(design, "code", "coded", "view", "tally")


def seat(design: Grouping) -> Steps:
    """Return the step that orders the values of each block, by arithmetic over their counts."""
    return order_blocks(design, Sql("code * block_count"))


def order_blocks(design: Grouping, first_cell: Sql, frequency: str = "frequency") -> Steps:
    """Return the step that orders the values of each block; first_cell: what a value's cells count from.

    frequency: the relation that says where a value's rows go.
    """
    values = {
        "first_cell": first_cell,
        "own_draws": draws.are_of_one_engine(design.request),
        "block_purpose": f"{design.attribute.purpose}/block/",
        # what `publish_st` reads; other engines join every row with the block, which they keep small
        "told_columns": ("row_count", "first_number") if _by_runs(design.request) else (),
    }
    return (Step("methods/one_pass/block", values=values, reads={"frequency": frequency}),)


def form_groups(design: Grouping) -> Steps:
    """Return the steps that end in `grouped`, where no value's rows are left out: every row with its group."""
    payload = {"payload": design.attribute.payload}
    ordered = {**payload, "ties": tie_names(design.request)}
    if _by_runs(design.request):
        return _form_by_runs(design)
    if design.sorts_rows:
        return (
            Step("methods/grouping/ordered", values=ordered),
            Step("methods/one_pass/numbered", yields="grouped", values=payload),
        )
    return (Step("methods/one_pass/grouped", values=ordered),)


def _form_by_runs(design: Grouping) -> Steps:
    """Return the steps of an engine with several workers, each of which numbers the rows that it has after a sort."""
    # a window over everything would have one worker
    payload = {"payload": design.attribute.payload}
    whole = _whole_columns(design.request) if design.layout is None else ()
    numbers = [list(range(1, number + 1)) for number in range(len(whole) + 1)]
    spans = {
        "whole_columns": list(zip(whole, numbers[1:], strict=True)),
        "all_numbers": numbers[-1],
        "all_whole": len(whole) == len(design.request.roles.quasi),
    }
    return (
        Step("methods/one_pass/ranked", values={**payload, "ties": tie_names(design.request)}),
        Step("methods/one_pass/run", values=spans),
        Step("methods/one_pass/by_runs", "view", "grouped", values={**payload, "whole_columns": whole}),
    )


def publish_qit(design: Grouping) -> Steps:
    """Return the step of the quasi-identifier table."""
    by_line = _by_runs(design.request) and design.layout is None
    return (Step("methods/one_pass/qit"),) if by_line else qit_st.publish_qit(design)


def publish_st(design: Grouping) -> Steps:
    """Return the step of the sensitive table."""
    return (Step("methods/one_pass/st" if _by_runs(design.request) else "methods/qit_st/st"),)


def _by_runs(request: Request) -> bool:
    """Tell whether rows are numbered worker by worker."""
    return not (request.traits.row_by_row or request.traits.numbers_rows)


def _whole_columns(request: Request) -> tuple[str, ...]:
    """Return our names of the first quasi columns, up to one that holds something else than whole numbers."""
    names = zip(request.roles.quasi, quasi_names(request), strict=True)
    whole = takewhile(lambda column: request.types.get(column[0]) in packing.WHOLE, names)
    return tuple(name for _, name in whole)
