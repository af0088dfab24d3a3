"""Grouping class by class: rows whose signature is equal in every background share their groups.

Inside a class all priors agree, so that a group of n different values has posterior exactly 1/n, whatever the
priors are. The templates are `sql_templates/methods/robust/class_grouping/`, and those of
`grouping.py` for what a class shares with a whole table; plain Anatomy is the same with one class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sqlanon.errors import DataError
from sqlanon.methods import grouping
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.plans.plan import Guard, Request, Row, Step

STEPS = (
    *grouping.STEPS[:3],
    "signature_tally",
    "class",
    "ranked",
    "capacity",
    "kept",
    "worst",
    "outlook",
    "feasibility",
    "persons",
    "frequency",
    "coded",
    "drawn",
    "shard",
    "positioned",
    "block",
    "numbered",
    "renumbered",
    "grouped",
)
MILLION = 1_000_000
Guarantee = Literal["exact", "delta"]
GUARANTEES = get_args(Guarantee)
NOT_POSSIBLE = (
    "r = {r:g} is not possible: {surplus_rows} of {row_count} rows ({share}) find no group of {size} rows with"
    " different values of {column} and one signature, and --max-suppressed allows {most:.4g}%{worst}; "
)
POSSIBLE_UP_TO = "the largest r that works is {feasible_size}"
NEVER_POSSIBLE = "no r above 1 works with these backgrounds; name fewer attributes, or allow more"
MAYBE_SMALLER = "a smaller r may work, or a larger --repair"
NO_GROUP = "r = {r:g} is not possible: no signature has {size} different values of {column}; "


@dataclass(frozen=True)
class Classes:
    """What a class-first grouping is asked: the least posterior's inverse, the signature, how many may be left over.

    r: > 1; groups hold at least ceil(r) rows. signature: our names of the quasi columns that any background reads.
    most_suppressed: share of the rows, 0 … 1, that may be left over. early: refuse before rows are drawn for.
    """

    r: float
    signature: tuple[str, ...]
    most_suppressed: float
    attribute: grouping.Attribute
    early: bool = True


def promised(r: float, guarantee: str, repair: int) -> dict[str, object]:
    """Return what a release promises; the paper's condition promises no posterior where groups mix classes."""
    return {"r": r, "condition": "delta"} if guarantee == "delta" and repair else {"r": r, "posterior": 1 / r}


def signature(request: Request, backgrounds: Sequence[Background]) -> tuple[str, ...]:
    """Return our names of the quasi columns that any background reads, in the order of the quasi columns."""
    read = {column for one in backgrounds for column in one.columns}
    return tuple(name for name in grouping.quasi_names(request) if name in read)


def steps(request: Request, classes: Classes, backgrounds: Sequence[Background]) -> tuple[Step, ...]:
    """Return the steps that end in `grouped`: every kept row with its group, the value a `code`."""
    attribute = replace(classes.attribute, carried=grouping.quasi_names(request))
    ordered: dict[str, object] = {"signature": classes.signature}
    return (
        *grouping.opening(request),
        *_checked(request, backgrounds),
        *_counted(request, classes),
        *grouping.persons(request),
        *grouping.identified(request),
        Step(
            "methods/robust/class_grouping/frequency",
            values={**ordered, **_size(attribute), "groups_per_block": attribute.groups_per_block},
        ),
        _coded(request, classes),
        *grouping.drawn(request, attribute, value="code", population="coded"),
        *grouping.positioned(request, attribute, value="code"),
        Step("methods/robust/class_grouping/renumbered", values={"group_purpose": f"{attribute.purpose}/group/"}),
        Step("methods/robust/class_grouping/grouped", values={"carried": attribute.carried}),
    )


def _checked(request: Request, backgrounds: Sequence[Background]) -> tuple[Step, ...]:
    """Return the steps that check the backgrounds that are tables; what is learned from the data fits it."""
    numbered = [(number, one) for number, one in enumerate(backgrounds, start=1) if one.relation is not None]
    if not numbered:
        return ()
    checks = [background.steps(one, f"_{number}", request.show_values) for number, one in numbered]
    return (
        Step("methods/grouping/tally", values={"sensitive_column": "sensitive"}),
        *(step for one in checks for step in one),
    )


def _size(attribute: grouping.Attribute) -> dict[str, object]:
    return {"size": attribute.size}


def _counted(request: Request, classes: Classes) -> tuple[Step, ...]:
    """Return the steps that count the classes' values and refuse what leaves too many rows over."""
    attribute, signed = classes.attribute, {"signature": classes.signature}
    nulls = {"nulls_are_values": request.nulls == "value"}
    most = {"most_millionths": round(classes.most_suppressed * MILLION)}
    return (
        Step("methods/robust/class_grouping/signature_tally", values=signed),
        Step("methods/robust/class_grouping/class", values={**signed, "class_purpose": f"{attribute.purpose}/class/"}),
        Step(
            "methods/robust/class_grouping/ranked",
            values={**signed, **nulls, "value_purpose": f"{attribute.purpose}/value/"},
        ),
        Step("methods/robust/class_grouping/capacity", values=_size(attribute)),
        Step("methods/robust/class_grouping/kept"),
        Step("methods/robust/class_grouping/worst", values={**signed, **_size(attribute)}),
        Step("methods/robust/class_grouping/outlook", values={**_size(attribute), **nulls, **most}),
        Step(
            "methods/robust/class_grouping/feasibility",
            "query",
            "",
            _feasible(request, classes),
            _limits(request, classes),
        ),
    )


def suppressed(classes: Classes) -> Step:
    """Return the step that counts the rows that no group holds, and refuses too many of them."""

    def refuse(row: Row) -> None:
        _refuse_suppression(classes, {**row, "surplus_rows": row["dropped_rows"]})

    return Step(
        "methods/robust/class_grouping/suppressed",
        "query",
        "",
        refuse,
        (Guard("dropped_rows = row_count", grouping.NO_ROWS),),
    )


def _coded(request: Request, classes: Classes) -> Step:
    """Return the step that gives rows the code of their class and value."""
    identified = grouping.identity_names(request) == ("identity",)
    columns = (*grouping.quasi_names(request), *grouping.identity_names(request))
    values = {"drawn_from": columns, "signature": classes.signature}
    reads = {"population": "identified"} if identified else {}
    return Step("methods/robust/class_grouping/coded", "view", values=values, reads=reads)


def _feasible(request: Request, classes: Classes) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        column = repr(classes.attribute.column)
        if request.nulls == "refuse" and row["null_count"]:
            raise DataError(grouping.NO_VALUE.format(null_count=row["null_count"], column=column))
        if row["row_count"] == 0:
            raise DataError(grouping.NO_ROWS)
        if classes.early:
            _refuse_suppression(classes, row)

    return refuse


def _refuse_suppression(classes: Classes, row: Row) -> None:
    """Refuse more rows left over than may be; the message names the signatures that leave most."""
    most = row["row_count"] * round(classes.most_suppressed * MILLION)
    if row["surplus_rows"] * MILLION <= most and row["surplus_rows"] < row["row_count"]:
        return
    text = NO_GROUP if row["surplus_rows"] == row["row_count"] else NOT_POSSIBLE
    if classes.early:
        text += POSSIBLE_UP_TO if row["feasible_size"] >= 2 else NEVER_POSSIBLE
    else:
        text += "without --repair " + POSSIBLE_UP_TO if row["feasible_size"] >= 2 else MAYBE_SMALLER
    raise DataError(
        text.format(
            **{**row, "share": f"{row['surplus_rows'] / row['row_count']:.2%}"},
            r=classes.r,
            size=classes.attribute.size,
            column=repr(classes.attribute.column),
            most=100 * classes.most_suppressed,
            worst=_worst(row),
        )
    )


def _worst(row: Row) -> str:
    named = [f"({row[f'worst_{n}']}) with {row[f'surplus_{n}']}" for n in (1, 2, 3) if row.get(f"surplus_{n}")]
    if not named:
        return ""
    return f"; most of them have the signature {', '.join(named)} ({row['class_count']} signatures leave rows over)"


def _limits(request: Request, classes: Classes) -> tuple[Guard, ...]:
    """Say what `_feasible` says, without figures, for a script that runs without Python."""
    column, millionths = repr(classes.attribute.column), round(classes.most_suppressed * MILLION)
    missing = Guard("null_count > 0", f"rows have no value in the sensitive column {column}")
    return (
        *([missing] if request.nulls == "refuse" else []),
        Guard("row_count = 0", grouping.NO_ROWS),
        Guard(
            f"surplus_rows = row_count or surplus_rows * {MILLION} > row_count * {millionths}",
            f"r = {classes.r:g} is not possible: more rows than allowed find no group of {classes.attribute.size} rows"
            f" with different values of {column} and one signature",
        ),
    )
