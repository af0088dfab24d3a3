"""Persons whose value changed move to another group, and what that costs in values.

That somebody moved tells that the old and the new group differ in this person's value, and no more than that. A group
that d moves touch (from it or to it), among all its n members of any time, gives nobody's value away with confidence
above 1/(n - d), whatever else was published, and however long chains of moves are: Write R for the ways to fill all
other groups that agree with the moves between these. A way to fill this group and one of R agree unless one of the d
moves has the same value at both ends. Of the n! ways to fill this group, (n - 1)! have a given value for the person
whom a move is of, so that of all |R| n! pairs at least |R| (n! - d (n - 1)!) agree. Those in which a given person has a
given value are |R| (n - 1)! at most, and the quotient is 1/(n - d). By enumeration two moves reach .71 where n = 3, .42
of the 1/2 that are proved where n = 4, .30 of 1/3 where n = 5; what more moves reach (.49 where n = 4) nothing bounds.

So a group needs n - d >= l at any time. Groups are made of l + RESERVE different values, and as many may leave for
another; of whoever else changes there, the row leaves as it does without moves. Who moves into a group brings a value
and a move, which makes no difference to n - d: a group is formed where l members at least did not move to it, and how
many more there are is its reserve. Who moves is chosen by name, never by value: what a group shows is as likely whoever
of its members has which of its values.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlanon.errors import DataError
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import Grouping
from sqlanon.plans.following import Following
from sqlanon.plans.plan import Row, Step
from sqlanon.wording import option

RESERVED = (
    f"with {option('changed', 'move')} groups hold {{reserve}} values more than are promised, and what follows counts"
    " these: {error}"
)
MOVED = "of those who have another value {moved:,} moved to another group"
LOOKING = "{waiting:,} look for one again next time"
SPENT = "{spent:,} are not shown any more, for of their group as many have moved as its values allow"


def tell_reserve(refuse: Callable[[Row], None], reserve: int) -> Callable[[Row], None]:
    """Return a check of what groups need whose message tells of their reserve, if there is one."""

    def refuse_reserved(row: Row) -> None:
        try:
            refuse(row)
        except DataError as error:
            raise DataError(RESERVED.format(reserve=reserve, error=error), about=["changed"]) from None

    return refuse_reserved if reserve else refuse


def meet_movers(
    design: Grouping, named: Mapping[str, object], takes: Mapping[str, object], signature: tuple[str, ...]
) -> Steps:
    """Return the steps from `matched` to `arrived`, where those who move are among those who look for a group.

    signature: the quasi columns whose values those of a group have in common.
    """
    mover = Step("methods/moves/mover", values={**takes, "least_apart": _promised(design)})
    arrived = Step("methods/moves/arrived", "view", values={**named, **takes})
    if _release(design).waiting == "alone":
        return (mover, arrived)
    values = {**takes, "class_names": signature, "group_size": design.attribute.size}
    called = Step("methods/moves/called_mover", values=values)
    return (mover, called, replace(arrived, reads={"mover": "called_mover"}))


def tally_movers(rows: str) -> Step:
    """Return the step that counts values, of who moves and of who is new, of the rows that look for a group."""
    return Step("methods/moves/tally", reads={"arrived": rows})


def keep_apart(design: Grouping) -> Steps:
    """Return the step that lets only those groups stand that have enough members who did not move to them."""
    values = {"payload": design.attribute.payload, "least_apart": _promised(design)}
    return (Step("methods/moves/formed", yields="grouped", suffix="_apart", values=values),)


def account(design: Grouping) -> Steps:
    """Return the report of who moved."""
    takes = {"takes_nulls": design.request.nulls != "drop"}
    return (Step("methods/moves/account", "query", note=_describe, values=takes),)


def _promised(design: Grouping) -> int:
    """Return how many values everybody hides among, whoever moves."""
    return design.attribute.size - _release(design).reserve


def _release(design: Grouping) -> Following:
    release = design.request.following
    assert release is not None, "persons move under a ledger"
    return release


def _describe(row: Row) -> str:
    if not (row["moved"] or row["waiting"] or row["spent"]):
        return ""
    rest = [words.format(**row) for name, words in (("waiting", LOOKING), ("spent", SPENT)) if row[name]]
    return "; ".join([MOVED.format(**row), *rest])
