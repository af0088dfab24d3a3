"""Publish the same people again: everybody published before stays in their group, and the group keeps its values.

A group's lines in ST do not change while anybody in it is shown, so that all releases together tell of a person what
one of them tells: a value among the group's n, each equally likely (m-invariance, Xiao and Tao, SIGMOD 2007, without
counterfeit persons). New persons are grouped among themselves as in a first release; those for whom no group
of l different values can be formed wait. The chapters are `sql_templates/followed/`;
they read `known_person` and `known_value`, the publisher's ledger.

Waiting must not reveal a value. If only those waited for whom no group is left, they would be people with a frequent
value, and once a later release shows them in a group, that value would be known: in simulations, for 65 to 99 of 100
who waited. Choosing other people to wait does not help where a value has more than 1/l of the rows: groups take at most
1/l of it, so it has more than 1/l of the remaining rows, whoever they are. So new persons wait together, all of them or
none, until so many have come that in nearly every case all of them find a group; that number is estimated from earlier
releases. People who came, waited and were shown together cannot be told apart within a group, so each has each of its
values with probability 1/n. If enough came and still not all find a group, which MOST_FAILING bounds, they are put off
together; and a keyed coin puts off, COINS times as often, people who would all find one. So being put off tells hardly
more than having come (tests/benchmarks/waiting.py).
"""

from collections.abc import Callable
from dataclasses import replace

from sqlanon.methods import grouping
from sqlanon.methods.base import Design, Steps
from sqlanon.methods.grouping import Attribute, Grouping
from sqlanon.methods.packing import quasi_names
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import PERSON, Following, Row
from sqlanon.plans.templates import Sql

MOST_FAILING = 0.05  # the chance that not all who have come find a group, from which on they are taken
COINS = 10  # as often as that, a coin puts them off as well
ALL = 10**6  # millionths of the rows
WAITING = "{count} rows wait for others to form a group with, and try again next time"
GATHERING = (
    "those who came new wait together until so many have come that all find a group in"
    f" {100 * (1 - MOST_FAILING):.0f} of 100 cases, so that waiting does not tell who has a frequent value; today not"
    " all would in up to {failing:.0%}"
)
PUT_OFF = (
    "{put_off:,} rows are put off though enough have come, most often because a coin said so, else because not all of"
    " them find a group"
)
STAY = {"leave": "are not shown", "keep": "stay with the old one"}


def following(design: Design) -> Following:
    """Return what the plan takes from the ledger."""
    release = design.request.following
    assert release is not None, "these chapters belong to a release under a ledger"
    return release


def add_ledger_columns(attribute: Attribute, release: Following) -> Attribute:
    """Return the attribute with what the ledger needs of each row, and draws of this release alone."""
    purpose = attribute.purpose if release.is_first else f"{attribute.purpose}/release {release.number}"
    payload = (*attribute.payload, "person", "mark", "class_mark")
    return replace(attribute, payload=payload, purpose=purpose)


def match_persons(design: Grouping, signature: tuple[str, ...] = ()) -> Steps:
    """Return the chapters that end in `matched`, and `population`: who comes new.

    signature: the quasi columns whose values the members of a group have in common.
    """
    request, release = design.request, following(design)
    values = {
        "follows": bool(release.relations),
        "person": [(name, Sql(sql_type)) for name, sql_type in PERSON.items()],
        "quasi": quasi_names(request),
        "signature": signature,
        "takes_nulls": request.nulls != "drop",
        "losses": release.losses,
    }
    notes = {} if release.is_first else {"turnover": _describe_turnover(design)}
    return (
        grouping.population(request),
        grouping.tally(),
        grouping.refuse_missing(design),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.bind(design),
        *grouping.identify(design),
        Chapter("followed/persons", values, notes),
    )


def _describe_turnover(design: Design) -> Callable[[Row], str]:
    release = following(design)
    # marks are of all quasi values together: of other columns they always differ
    comparable = release.quasi == design.request.roles.quasi

    def describe(row: Row) -> str:
        parts = [f"{row['stayed']:,} stayed", f"{row['left_source']:,} left", f"{row['arrived']:,} came new"]
        parts += [f"{row['returned']:,} returned with the value they had"] if row["returned"] else []
        changed = f"{row['changed']:,} have another value than the published one, and "
        stay = STAY[release.changed]
        parts += [changed + stay] if row["changed"] else []
        moved = f"{row['reclassed']:,} have another signature than their group, and are not shown"
        parts += [moved] if row["reclassed"] else []
        parts += [f"of {row['requalified']:,} today's quasi values differ"] if row["requalified"] and comparable else []
        return f"release {release.number} of this ledger: {'; '.join(parts)}"

    return describe


def call_arrivals(design: Grouping, signature: tuple[str, ...] = (), most_waiting: float = 1) -> Steps:
    """Return the chapter that decides whether those who came new are taken now, all who are alike in the signature.

    A first release takes them, where there is no signature: it finds a group for everybody, or refuses. most_waiting:
    the share of a first release's rows that may wait.
    """
    release = following(design)
    if release.is_first and not signature:
        return ()
    values: dict[str, object] = {
        "signature": signature,
        "size": design.attribute.size,
        "follows": not release.is_first,
        "just_put_off": release.put_off,
        "most_failing": MOST_FAILING,
        "coins": COINS,
        "purpose": design.attribute.purpose,
        # whole millionths, so that every engine compares the same integers
        "most_millionths": round(most_waiting * ALL) if release.is_first else ALL,
        "most": f"{most_waiting:.1%}",
    }
    return (Chapter("followed/wave", values, {"gathering": _describe_gathering}),)


def _describe_gathering(row: Row) -> str:
    parts = [GATHERING.format(**row)] if row["failing"] else []
    return "; ".join([*parts, PUT_OFF.format(**row)] if row["put_off"] else parts)


def group_arrivals(design: Grouping) -> Steps:
    """Return the chapters that end in `grouped`: those of a first release, over the rows that are taken."""
    return (
        *call_arrivals(design),
        grouping.tally(),
        # the first release finds a group for everybody, or says what would; later ones let rows wait
        *((grouping.refuse_frequent(design),) if following(design).is_first else ()),
        grouping.count_values(design),
        grouping.shuffle(design),
        grouping.group(design),
    )


def show_persons(design: Grouping, waiting: str = WAITING, randomized: bool = False) -> Steps:
    """Return the chapter that ends in `shown_person`, who is shown, and `next_person`, `next_value`: the new ledger.

    waiting: what to tell of rows that wait, {count} of them. randomized: whether persons publish a value that is drawn.
    """
    release = following(design)
    values = {
        "quasi": quasi_names(design.request),
        "keeps_changed": release.changed == "keep",
        "number": release.number,
        "randomized": randomized,
    }

    def describe(row: Row) -> str:
        return waiting.format(count=f"{row['waiting']:,}") if row["waiting"] else ""

    return (Chapter("followed/ledger", values, {"outcome": describe}),)


def link_rows(design: Grouping) -> Steps:
    """Return the chapter of the rows that the run knows to the end, and of what only the source or only ST has.

    Those who keep a value of before are shown with one that the source does not have: there nothing is compared row by
    row.
    """
    release = following(design)
    if release.changed == "keep":
        return ()
    return (Chapter("followed/linked", {"quasi": quasi_names(design.request), "follows": not release.is_first}),)
