"""r-robust releases that follow each other: arrivals are grouped class by class, and who changes class leaves.

A group of one signature has posterior 1/n for its members whatever the distributions are (Wong et al. 2010), and keeps
it while its lines in ST stay. Whose signature changed cannot stay: the group would mix classes.
"""

from dataclasses import replace

from sqlanon.methods import moves, republication
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
    release = republication.following(design)
    if not release.is_first:
        return ()
    (check,) = check_surplus(design)
    assert isinstance(check, Step) and check.refuse is not None, "a check refuses"
    return (*look_ahead(design), replace(check, refuse=moves.tell_reserve(check.refuse, release.reserve)))
