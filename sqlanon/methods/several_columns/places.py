"""Rows that clash in a group change places with rows of other groups.

First, rows that have the same value in the seating column take each other's seats, turn by turn; each turn looks only
at groups that had a clash before it. A row that still clashes then tries some rows anywhere in its class, and changes
places with one if neither brings a value that the other's group has.
"""

from sqlanon.methods.base import Steps
from sqlanon.methods.packing import payload_quasi
from sqlanon.methods.several_columns.design import SharedGroups
from sqlanon.plans.plan import Repeat, Step, count_left_over
from sqlanon.plans.statement import Kind

ROTATIONS = 3  # turns in which rows that stand take each other's seats: later ones find few that fit
TURNS = 12  # of exchanges with any rows
OFFERS = 8  # rows that one asks in the first of these turns, and as many more in each


def change_places(design: SharedGroups) -> Steps:
    """Return the steps from `grouped` to `grouped`: clashing rows change places, and who still clashes leaves."""
    codes, further = {"codes": ("code", *design.codes)}, {"further_codes": design.codes}
    quasi = payload_quasi(design.request, design.layout)
    seated = {"seated": "grouped"}
    rest = count_left_over("clashing", "place > 1", "waiting")
    # each column reads the rows twice, and QIT once; a table between would cost workers more than it saves
    kind: Kind = "view" if design.numbers_by_shard else "table"
    rotated = Step("methods/several_columns/rotated", values={**codes, **further, "first_code": "code"})
    return (
        Step("methods/several_columns/blocks"),
        Step("methods/several_columns/clashing", values={**codes, **further}, reads=seated),
        Repeat("rotation", "clashing", (rotated,), rest, ROTATIONS),
        Repeat("exchange_places", "clashing", _exchange(design), rest, TURNS),
        Step("methods/several_columns/resettled", values={"group_size": design.attribute.size}),
        Step("methods/several_columns/renamed", reads=seated),
        Step(
            "methods/several_columns/grouped",
            kind,
            suffix="_settled",
            values={"codes": design.codes, "payload": quasi},
            reads=seated,
        ),
    )


def _exchange(design: SharedGroups) -> tuple[Step, ...]:
    """Return a turn in which rows that stand change places with any others."""
    codes = {"codes": ("code", *design.codes)}
    pairs = [(code, f"partner_{code}") for code in ("code", *design.codes)]
    most = tuple(range(OFFERS * TURNS))
    return (
        Step(
            "methods/several_columns/offered", values={"first_turn": ROTATIONS, "offers": most, "more_offers": OFFERS}
        ),
        Step("methods/several_columns/near", values=codes, reads={"seated": "grouped"}),
        Step("methods/several_columns/proposed", values={"codes": pairs}),
        Step("methods/several_columns/exchange"),
        Step("methods/several_columns/reseated", values=codes),
    )
