"""Swaps between neighbouring clusters that make them narrower, in declared turns of SQL.

The templates are `sql_templates/methods/uncertain/refinement/`; they begin with `clustering` and end in `refining`.
"""

from collections.abc import Sequence

from sqlanon.methods.uncertain import dimensions as attributes
from sqlanon.methods.uncertain.dimensions import Dimension
from sqlanon.plans.plan import Repeat, Step

REACH = 1  # clusters on either side: a turn among three costs as much as three turns, and gains less
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
        Step("methods/uncertain/refinement/spread", values=distance),
        Step("methods/uncertain/refinement/hold"),
        Step("methods/uncertain/refinement/offer", values={**distance, "shifts": shifts}),
        Step("methods/uncertain/refinement/candidate", values=gain),
        Step("methods/uncertain/refinement/gain", values={**distance, **gain}),
        Step("methods/uncertain/refinement/swap"),
        Step("methods/uncertain/refinement/refined", values={"carried": [*carried, *coordinates]}),
    )
    return (
        Step("methods/uncertain/refinement/refining", values={"coordinates": coordinates}),
        Repeat("refinement", "refining", body, Step("methods/uncertain/refinement/unsettled", "query"), turns),
    )
