"""Publish the same people again: everybody published before stays in their group, and the group keeps its values.

A group's lines in ST do not change while anybody in it is shown, so that all releases together tell of a person what
one of them tells: a value among the group's n, each equally likely (m-invariance, Xiao and Tao, SIGMOD 2007, without
counterfeit persons). New persons are grouped among themselves by the steps of a first release; those for whom no group
of l different values can be formed wait. The steps read `known_person` and `known_value`, the publisher's ledger.

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

from sqlanon.errors import DataError
from sqlanon.methods.base import Design, Steps
from sqlanon.methods.feasibility import Size, refuse_infeasible, refuse_missing
from sqlanon.methods.grouping import (
    Attribute,
    Grouping,
    bind_draws,
    check_persons,
    draw_from,
    form_groups,
    identify_rows,
    seat_rows,
)
from sqlanon.methods.grouping import select_rows as select_known
from sqlanon.methods.internal_names import identifier_names, quasi_names
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.plans.following import Following
from sqlanon.plans.plan import Row, Step
from sqlanon.wording import option

MOST_LOST = 0.9  # of the people shown before: a source without them is hardly the same source
PERSON = "ledger/person/"
LOST = (
    "{left_source} of the {published_before} persons of the last release are not in the source ({share:.1%}): if this"
    " is the right source, say " + option("expect_departures", True)
)
NAMELESS = "{nameless_rows} rows have no " + option("id") + ": whose they are cannot be known again the next time"
MOST_FAILING = 0.05  # the chance that not all who have come find a group, from which on they are taken
COINS = 10  # as often as that, a coin puts them off as well
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
NOBODY = "nobody of the source can be shown: {waiting:,} of {row_count:,} rows wait for others to form a group with"


def following(design: Design) -> Following:
    """Return what the plan takes from the ledger."""
    release = design.request.following
    assert release is not None, "these steps belong to a release under a ledger"
    return release


def add_ledger_columns(attribute: Attribute, release: Following) -> Attribute:
    """Return the attribute with what the ledger needs of each row, and draws of this release alone."""
    purpose = attribute.purpose if release.is_first else f"{attribute.purpose}/release {release.number}"
    payload = (*attribute.payload, "person", "mark", "class_mark")
    return replace(attribute, payload=payload, purpose=purpose)


def select_rows(design: Design) -> Steps:
    """Return the steps that end in `population`: all rows, for one whose value is missing today has not left."""
    everyone = replace(design, request=replace(design.request, nulls="value"))
    return select_known(everyone)


def know_ledger(design: Design) -> Steps:
    """Return the relations that stand for the ledger before the first release."""
    if not following(design).is_first:
        return ()
    return (
        Step("methods/republication/no_person", "view", yields="known_person"),
        Step("methods/republication/no_value", "view", yields="known_value"),
    )


def check_names(design: Design) -> Steps:
    """Return the step that refuses rows without an identifier."""
    columns = {"identifier_columns": identifier_names(design.request)}
    return (Step("methods/republication/nameless", "query", refuse=_refuse_nameless, values=columns),)


def _refuse_nameless(row: Row) -> None:
    if row["nameless_rows"]:
        raise DataError(NAMELESS.format(**row), about=["id"])


# what every method does first, whoever comes
BEGINNING = (select_rows, know_ledger, check_names, check_persons, check_quasi, check_sensitive)


def match_persons(design: Grouping) -> Steps:
    """Return the steps from `identified` to `matched`, with a check of who left, and `arrived`: who comes new."""
    return match_members(design, ())


def match_members(design: Grouping, signature: tuple[str, ...]) -> Steps:
    """Return `match_persons` for groups whose members have the values of these quasi columns in common."""
    names: dict[str, object] = {"quasi_names": quasi_names(design.request)}
    release, takes = following(design), {"takes_nulls": design.request.nulls != "drop"}
    arrived = Step("methods/republication/arrived", "view", values={**names, **takes})
    return (
        *bind_draws(design),
        *identify_rows(design),
        # whom the ledger knows it knows again by the key alone, whatever rows there are tonight
        Step(
            "methods/republication/pseudonym",
            "view",
            reads={"key": "given_key"},
            values={**names, "class_names": signature, "person_purpose": PERSON},
        ),
        Step("methods/republication/matched", values=names),
        Step(
            "methods/republication/turnover",
            "query",
            refuse=_refuse_turnover(design),
            note=None if release.is_first else _describe_turnover(design),
        ),
        arrived,
    )


def _refuse_turnover(design: Grouping) -> Callable[[Row], None]:
    """Return what raises DataError for rows without a value, and for a source that nearly everybody left."""
    column, refuses, losses = design.attribute.column, design.request.nulls == "refuse", following(design).losses

    def refuse(row: Row) -> None:
        refuse_missing(row, column, refuses)
        before, departures = row["published_before"], row["left_source"]
        if not losses and departures and departures >= MOST_LOST * before:
            raise DataError(LOST.format(**row, share=departures / before), about=["expect_departures"])

    return refuse


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


def group_arrivals(design: Grouping) -> Steps:
    """Return the steps from `arrived` to `grouped`, those of a first release over the new rows only."""
    request, attribute = design.request, design.attribute
    refuses, only = request.nulls == "refuse", len(request.roles.sensitive) == 1
    size = Size(attribute.column, attribute.parameter, attribute.size, refuses, request.show_values, only)
    takes = request.nulls != "drop"
    release = following(design)
    gathered, rows = call_arrivals(design)
    tally = Step("methods/grouping/tally", values={"sensitive_column": attribute.internal}, reads={"population": rows})
    feasible = Step(
        "shared/feasibility",
        "query",
        refuse=refuse_infeasible(size),
        values={"nulls_are_values": takes, "group_size": attribute.size},
    )
    frequency = Step(
        "methods/republication/frequency",
        values={
            "takes_nulls": takes,
            "value_purpose": f"{attribute.purpose}/value/",
            "group_size": attribute.size,
            "groups_per_block": attribute.groups_per_block,
        },
    )
    # the first release finds a group for everybody, or says what would; later ones let rows wait
    counts = (tally, feasible) if release.is_first else (tally,)
    drawn = draw_from(design, "sensitive", rows)
    return (*gathered, *counts, *drawn, frequency, *seat_rows(design), *form_groups(design))


def call_arrivals(design: Grouping) -> tuple[Steps, str]:
    """Return the steps that decide whether all who came new are taken now, and the relation of those who are taken.

    A first release takes them: it finds a group for everybody, or refuses, or leaves over what it draws evenly.
    """
    release = following(design)
    if release.is_first:
        return (), "arrived"
    columns = (*quasi_names(design.request), "sensitive", "identity", "person", "mark", "class_mark")
    called = Step("methods/republication/called", values={"arrived_columns": columns})
    return (*gather(design, ()), called), "called"


def gather(
    design: Grouping, signature: tuple[str, ...], refuse: Callable[[Row], None] | None = None
) -> tuple[Step, Step]:
    """Return the steps from `arrived` to `wave`: for those who have these quasi values in common, whether to take them.

    They end in a report of how many are put off. refuse: what raises DataError for what it counts.
    """
    attribute, release = design.attribute, following(design)
    values: dict[str, object] = {
        "class_names": signature,
        "group_size": attribute.size,
        "follows": not release.is_first,
        "just_put_off": release.put_off,
        "most_failing": MOST_FAILING,
        "coins": COINS,
        "wave_purpose": f"{attribute.purpose}/wave/",
    }
    return (
        Step("methods/republication/wave", values=values),
        Step("methods/republication/gathering", "query", refuse=refuse, note=_describe_gathering),
    )


def _describe_gathering(row: Row) -> str:
    parts = [GATHERING.format(**row)] if row["failing"] else []
    return "; ".join([*parts, PUT_OFF.format(**row)] if row["put_off"] else parts)


def show_persons(design: Grouping) -> Steps:
    """Return the steps that end in `shown_person`, who is shown in which group, and `next_person`, the new ledger."""
    names: dict[str, object] = {"quasi_names": quasi_names(design.request)}
    release = following(design)
    keeps = {"keeps_changed": release.changed == "keep"}
    return (
        Step("methods/republication/next_value"),
        Step("methods/republication/entered", values=names),
        Step("methods/republication/shown_person", values={**names, **keeps}),
        *close_ledger(design),
        Step("methods/republication/line"),
    )


def close_ledger(design: Design, waiting: str = WAITING) -> Steps:
    """Return the steps from `shown_person` and `entered` to `next_person`, and report how many are shown and wait.

    waiting: what to tell of rows that wait, {count} of them.
    """
    release = following(design)
    values: dict[str, object] = {
        "keeps_changed": release.changed == "keep",
        "release_number": release.number,
    }
    return (
        Step("methods/republication/standing", yields="next_person", values=values),
        Step(
            "methods/republication/outcome",
            "query",
            refuse=_refuse_empty,
            dropped="withheld",
            note=_describe_waiting(waiting),
        ),
    )


def _refuse_empty(row: Row) -> None:
    if not row["shown"]:
        raise DataError(NOBODY.format(**row))


def _describe_waiting(words: str) -> Callable[[Row], str]:
    return lambda row: words.format(count=f"{row['waiting']:,}") if row["waiting"] else ""


def publish_qit(design: Design) -> Steps:
    """Return the step of QIT: today's quasi values of everybody who is shown, and the group."""
    return (Step("methods/qit_st/qit", reads={"grouped": "shown_person"}),)


def publish_st(design: Design) -> Steps:
    """Return the step of ST: for every group that shows somebody, the values of all who were ever in it."""
    reads = {"grouped": "line", "frequency": "next_value"}
    return (Step("methods/qit_st/st", values={"stays_sorted": False}, reads=reads),)


def link_rows(design: Grouping) -> Steps:
    """Return the steps of the rows that the run knows to the end, and of what only the source or only ST has.

    Of a first release nobody has departed, and mostly nothing is withheld. Those who keep a value of before are shown
    with one that the source does not have: there nothing is compared row by row.
    """
    release, names = following(design), {"quasi_names": quasi_names(design.request)}
    if release.changed == "keep":
        return ()
    linked = Step("methods/republication/linked", "view", values={**names})
    if release.is_first:
        return (linked,)
    withheld = Step("methods/republication/withheld", "view", values={**names})
    return (linked, withheld, Step("methods/republication/departed", "view"))
