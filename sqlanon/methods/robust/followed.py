"""r-robust releases that follow each other: arrivals are grouped class by class, and who changes class leaves.

A group of one signature has posterior 1/n for its members whatever the distributions are (Wong et al. 2010), and keeps
it while its lines in ST stay. Whose signature changed cannot stay: the group would mix classes.
"""

from sqlanon.methods import republication
from sqlanon.methods.base import Steps
from sqlanon.methods.robust.class_grouping import ClassGrouping, check_surplus, look_ahead
from sqlanon.plans.plan import Step


def match_class_members(design: ClassGrouping) -> Steps:
    """Return the steps that match persons, and let the steps of classes read those who come new."""
    return (
        *republication.match_members(design, design.signature),
        *(
            Step("methods/grouping/everyone", "view", yields=name, suffix="_arrived", reads={"source": "arrived"})
            for name in ("population", "identified")
        ),
    )


def make_room(design: ClassGrouping) -> Steps:
    """Return the step that lets a class have as many groups as there are new persons for, where others move to them."""
    if not republication.following(design).mover_columns:
        return ()
    values = {**design.signed, **design.size}
    return (Step("methods/robust/followed/capacity", suffix="_of_new", values=values),)


def check_first_surplus(design: ClassGrouping) -> Steps:
    """Return the steps that refuse a first release that leaves too many rows over; later ones let rows wait."""
    if not republication.following(design).is_first:
        return ()
    return (*look_ahead(design), *check_surplus(design))
