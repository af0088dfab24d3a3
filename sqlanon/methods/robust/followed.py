"""r-robust releases that follow each other: arrivals are grouped class by class, and who changes class leaves.

A group of one signature has posterior 1/n for its members whatever the distributions are (Wong et al. 2010), and keeps
it while its lines in ST stay. Whose signature changed cannot stay: the group would mix classes.
"""

from collections.abc import Callable
from dataclasses import replace

from sqlanon.errors import DataError
from sqlanon.methods import moves, republication
from sqlanon.methods.base import Steps
from sqlanon.methods.robust.class_grouping import ClassGrouping, check_surplus, look_ahead
from sqlanon.plans.plan import Row, Step
from sqlanon.wording import option

WAITING_CLASSES = (
    "{waiting:,} of {rows:,} rows ({share:.1%}) would wait for the next release, more than "
    + option("max_suppressed")
    + " {most:.1%}: under a ledger people alike wait together where not all of them find a group; allow more, choose a"
    " smaller r, or say " + option("waiting", "alone") + ", which lets fewer wait, and tells of these"
)


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


def gather_classes(design: ClassGrouping) -> Steps:
    """Return the steps that let those of a class who come new find groups all together, or wait together."""
    release = republication.following(design)
    if release.waiting == "alone":
        return ()
    values = {"class_names": design.signature}
    gated = Step("methods/republication/capacity", yields="capacity", suffix="_of_wave", values=values)
    refuse = _refuse_waiting(design) if release.is_first else None
    return (*republication.gather(design, design.signature, refuse), gated)


def _refuse_waiting(design: ClassGrouping) -> Callable[[Row], None]:
    """Return what raises DataError where a first release lets more rows wait than it may leave over."""

    def refuse(row: Row) -> None:
        waiting, rows = row["waiting_rows"], row["gathered_rows"]
        if waiting > design.most_suppressed * rows:
            raise DataError(
                WAITING_CLASSES.format(waiting=waiting, rows=rows, share=waiting / rows, most=design.most_suppressed),
                about=["max_suppressed"],
            )

    return refuse


def check_first_surplus(design: ClassGrouping) -> Steps:
    """Return the steps that refuse a first release that leaves too many rows over; later ones let rows wait."""
    release = republication.following(design)
    if not release.is_first:
        return ()
    (check,) = check_surplus(design)
    assert isinstance(check, Step) and check.refuse is not None, "a check refuses"
    return (*look_ahead(design), replace(check, refuse=moves.tell_reserve(check.refuse, release.reserve)))
