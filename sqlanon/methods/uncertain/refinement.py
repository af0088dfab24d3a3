"""Cuts of neighbouring clusters that make them narrower, in declared turns of SQL.

The templates are `sql_templates/methods/uncertain/refinement/`; they begin with `clustering` and end in `settled`.
"""

from collections.abc import Sequence

from sqlanon.methods.uncertain import dimensions as attributes
from sqlanon.methods.uncertain.dimensions import Dimension
from sqlanon.plans.plan import Repeat, Step

SHIFTS = (0, 1)  # every cluster with the one after it, then with the one before it
GAINLESS_PARTS = 3  # a pair that costs no more than a third of the mean is not worth a cut
PLACES_PER_K = 4  # a pair of clusters has less than 3 K rows


def _halved(cut: dict[str, int], columns: dict[str, object], state: str, sorts_rows: bool) -> tuple[Step, ...]:
    """Return the steps that cut every pair of clusters anew; cut: the shift, and K."""
    suffix, reads = f"_{cut['shift']}", {"refining": state}
    if not sorts_rows:
        return (Step("methods/uncertain/refinement/halved", values={**cut, **columns}, suffix=suffix, reads=reads),)
    lined, numbered = {**columns, "shift": cut["shift"]}, {**cut, "coordinates": columns["coordinates"]}
    by_number = "methods/uncertain/refinement/halved_by_number"
    return (
        Step("methods/uncertain/refinement/lined", values=lined, suffix=suffix, reads=reads),
        Step(by_number, "view", "halved", values=numbered, suffix=suffix),
    )


def steps(
    dimensions: Sequence[Dimension], carried: Sequence[str], turns: int, k: int, sorts_rows: bool = False
) -> tuple[Step | Repeat, ...]:
    """Return a loop of at most `turns` turns; in each, every cluster meets the one after it and the one before it.

    The rows of two clusters are cut anew between two rows that are as far apart as any in the wider one, and stay so
    where the sum of |e| * diameter falls. So no turn makes clusters wider, and turns come to an end. sorts_rows:
    whether a table numbers its rows in the order of a sort.
    """
    apart = attributes.distance(dimensions)
    coordinates = attributes.coordinates(dimensions)
    moved = {"coordinates": coordinates}
    wide = {**apart, "places": PLACES_PER_K * k}
    body: list[Step] = []
    state = "refining"
    for shift in SHIFTS:
        suffix = f"_{shift}"
        cut = {"shift": shift, "k": k}
        body += [
            Step(
                "methods/uncertain/refinement/tip",
                suffix=suffix,
                values={**cut, **moved, "parts": GAINLESS_PARTS},
                reads={"refining": state},
            ),
            *_halved(cut, {**apart, **moved}, state, sorts_rows),
            Step("methods/uncertain/refinement/width", suffix=suffix, values=wide, reads={"placed": "halved"}),
            Step(
                "methods/uncertain/refinement/refined",
                suffix=suffix,
                values={**cut, **moved},
                reads={"refining": state},
            ),
        ]
        state = f"refined{suffix}"
    return (
        Step("methods/uncertain/refinement/placed", "view", values={**moved, "k": k}),
        Step("methods/uncertain/refinement/width", values=wide),
        Step("methods/uncertain/refinement/refining", values=moved),
        Repeat("refinement", "refining", tuple(body), Step("methods/uncertain/refinement/unsettled", "query"), turns),
        Step("methods/uncertain/refinement/settled", values={"carried": carried}),
    )
