"""What a class-first grouping refuses: more rows left over than may be, with the largest r that works."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import NO_ROWS, missing_guards, refuse_missing
from sqlanon.plans.plan import Guard, Row
from sqlanon.wording import option

MILLION = 1_000_000
NOT_POSSIBLE = (
    "r = {r:g} is not possible: {surplus_rows} of {row_count} rows ({share}) find no group of {size} rows with"
    " different values of {column} and one signature, and " + option("max_suppressed") + " allows {most:.4g}%{worst}; "
)
POSSIBLE_UP_TO = "the largest r that works is {feasible_size}"
NEVER_POSSIBLE = "no r above 1 works with these backgrounds; name fewer attributes, or allow more"
MAYBE_SMALLER = "a smaller r may work, or a larger " + option("repair")
NO_GROUP = "r = {r:g} is not possible: no signature has {size} different values of {column}; "


@dataclass(frozen=True)
class Suppression:
    """How many rows may be left over, and of what.

    r: as it was asked. size: rows of a group, ceil(r). column: the sensitive column. most: share of the rows, 0 … 1.
    early: whether it is refused before rows are drawn for, which is where nothing can be repaired.
    """

    r: float
    size: int
    column: str
    most: float
    early: bool
    refuse_nulls: bool


def refuse_left_over(asked: Suppression) -> Callable[[Row], None]:
    """Return what raises DataError for rows without a value, no rows, and too many rows left over."""

    def refuse(row: Row) -> None:
        refuse_missing(row, asked.column, asked.refuse_nulls)
        if asked.early:
            _refuse(asked, row)

    return refuse


def refuse_suppressed(asked: Suppression) -> Callable[[Row], None]:
    """Return what raises DataError where, in the end, no group holds more rows than may be suppressed."""

    def refuse(row: Row) -> None:
        _refuse(asked, {**row, "surplus_rows": row["dropped_rows"]})

    return refuse


def suppressed_guards() -> tuple[Guard, ...]:
    """Return what `refuse_suppressed` refuses of any data, for a script."""
    return (Guard("dropped_rows = row_count", NO_ROWS),)


def surplus_guards(asked: Suppression) -> tuple[Guard, ...]:
    """Return what `refuse_left_over` refuses, without figures, for a script."""
    millionths = round(asked.most * MILLION)
    return (
        *missing_guards(asked.column, asked.refuse_nulls),
        Guard(
            f"surplus_rows = row_count or surplus_rows * {MILLION} > row_count * {millionths}",
            f"r = {asked.r:g} is not possible: more rows than allowed find no group of {asked.size} rows"
            f" with different values of {asked.column!r} and one signature",
        ),
    )


def _refuse(asked: Suppression, row: Row) -> None:
    """Refuse more rows left over than may be; the message names the signatures that leave most."""
    most = row["row_count"] * round(asked.most * MILLION)
    # in whole numbers: a share in floating point could refuse exactly what was allowed
    if row["surplus_rows"] * MILLION <= most and row["surplus_rows"] < row["row_count"]:
        return
    text = NO_GROUP if row["surplus_rows"] == row["row_count"] else NOT_POSSIBLE
    if asked.early:
        text += POSSIBLE_UP_TO if row["feasible_size"] >= 2 else NEVER_POSSIBLE
    else:
        without = f"without {option('repair')} "
        text += without + POSSIBLE_UP_TO if row["feasible_size"] >= 2 else MAYBE_SMALLER
    raise DataError(
        text.format(
            **{**row, "share": f"{row['surplus_rows'] / row['row_count']:.2%}"},
            r=asked.r,
            size=asked.size,
            column=repr(asked.column),
            most=100 * asked.most,
            worst=_worst(row),
        )
    )


def _worst(row: Row) -> str:
    # at most three signatures: a message is one line, and signatures are quasi values, which are published anyway
    named = [f"({row[f'worst_{n}']}) with {row[f'surplus_{n}']}" for n in (1, 2, 3) if row.get(f"surplus_{n}")]
    if not named:
        return ""
    return f"; most of them have the signature {', '.join(named)} ({row['class_count']} signatures leave rows over)"
