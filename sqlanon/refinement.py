"""Swaps between neighbouring clusters that make them narrower, in declared turns of SQL.

The templates are `sql_templates/refinement/`; they begin with `clustering` and end in `refining`.
"""

from collections.abc import Sequence

from sqlanon import dimensions as attributes
from sqlanon.dimensions import Dimension
from sqlanon.plan import Repeat, Step

STEPS = ("refining", "unsettled", "spread", "hold", "offer", "candidate", "gain", "swap", "refined")
REACH = 3  # clusters on either side
LEAST_GAIN = 1e-9  # of |e| * diameter: below it rounding could swap two rows for ever


def steps(dimensions: Sequence[Dimension], carried: Sequence[str], turns: int) -> tuple[Step | Repeat, ...]:
    """Return a loop of at most `turns` turns; in each, every cluster takes part in at most one swap.

    A swap exchanges an end of a cluster's widest pairs for a row of a cluster at most REACH places away where
    the sum of |e| * diameter falls, and is made where neither cluster has a better one.
    """
    coordinates = attributes.coordinates(dimensions)
    distance = attributes.distance(dimensions)
    gain = {"least_gain": LEAST_GAIN}
    shifts = [shift for shift in range(-REACH, REACH + 1) if shift]
    body = (
        Step("refinement/spread", values=distance),
        Step("refinement/hold"),
        Step("refinement/offer", values={**distance, "shifts": shifts}),
        Step("refinement/candidate", values=gain),
        Step("refinement/gain", values={**distance, **gain}),
        Step("refinement/swap"),
        Step("refinement/refined", values={"carried": [*carried, *coordinates]}),
    )
    return (
        Step("refinement/refining", values={"coordinates": coordinates}),
        Repeat("refinement", "refining", body, Step("refinement/unsettled", "query"), turns),
    )
