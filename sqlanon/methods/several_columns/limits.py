"""What groups for several sensitive columns refuse: values that are too frequent, and too many rows left out."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import NO_HELP, NO_ROWS, NO_VALUE, TOO_FEW_ROWS
from sqlanon.plans.plan import Guard, Row
from sqlanon.wording import option

MILLION = 1_000_000
NOT_POSSIBLE = (
    "l = {size} is not possible: the most frequent value of {column}{value} stands in {largest_count:,} of"
    " {row_count:,} rows ({share}), and l = {size} allows {allowed:,} in every column; {possible}; " + NO_HELP
)
POSSIBLE_UP_TO = "the largest l that no column stands in the way of is {feasible}"
NEVER_POSSIBLE = "no l of at least 2 works on this column"
TOO_MANY = (
    "l = {size} is not possible: {dropped_rows:,} of {row_count:,} rows ({share}) find no group in which they differ"
    " from all others in every one of {columns}, and "
    + option("max_suppressed")
    + " allows {most:.4g}%; frequent values"
    " of these columns go together; "
    + option("max_suppressed", "{enough:g}")
    + " leaves these rows out, and a smaller l"
    " may leave fewer"
)
NO_GROUP = "l = {size} is not possible: there are no groups whose rows differ in every one of {columns}"


@dataclass(frozen=True)
class Limits:
    """What was asked of the groups.

    columns: the sensitive ones. size: l, rows of a group. most: share of the rows, 0 … 1, that may be left out.
    refuse_nulls: whether NULL is refused. show_values: whether messages may name values.
    """

    columns: tuple[str, ...]
    size: int
    most: float
    refuse_nulls: bool
    show_values: bool


def refuse_limits(asked: Limits) -> Callable[[Row], None]:
    """Return what raises DataError for NULLs, no rows, and a value that is too frequent, with the nearest l."""
    columns, size = asked.columns, asked.size

    def refuse(row: Row) -> None:
        if asked.refuse_nulls and row["null_count"]:
            column = columns[row["null_place"]]
            raise DataError(NO_VALUE.format(null_count=row["null_count"], column=repr(column)), about=[column])
        if not row["row_count"]:
            raise DataError(NO_ROWS)
        if size > row["row_count"]:
            raise DataError(TOO_FEW_ROWS.format(parameter="l", size=size, row_count=row["row_count"]), about=["l"])
        if row["largest_count"] > row["row_count"] // size:
            possible = row["row_count"] // row["largest_count"]
            raise DataError(_infeasible(asked, row), about=["l"], possible=possible)

    return refuse


def _infeasible(limits: Limits, row: Row) -> str:
    feasible = row["row_count"] // row["largest_count"]
    return NOT_POSSIBLE.format(
        **row,
        size=limits.size,
        column=repr(limits.columns[row["place"]]),
        # a value of the data is named only where the publisher said so: messages end in logs
        value=f" ({row['largest_value']!r})" if limits.show_values else "",
        share=f"{row['largest_count'] / row['row_count']:.1%}",
        allowed=row["row_count"] // limits.size,
        possible=POSSIBLE_UP_TO.format(feasible=feasible) if feasible >= 2 else NEVER_POSSIBLE,
    )


def limit_guards(asked: Limits) -> tuple[Guard, ...]:
    """Return what `refuse_limits` refuses, without figures, for a script."""
    size = asked.size
    missing = Guard("null_count > 0", "rows have no value in a sensitive column")
    return (
        *([missing] if asked.refuse_nulls else []),
        Guard("row_count = 0", NO_ROWS),
        Guard(f"row_count < {size}", f"l = {size} needs at least {size} rows"),
        Guard(
            f"largest_count > row_count // {size}",
            f"l = {size} is not possible: a value of a sensitive column stands in more than 1/{size} of the rows",
        ),
    )


def refuse_suppressed(asked: Limits) -> Callable[[Row], None]:
    """Return what raises DataError where groups hold too few of the rows, or none; it says what would be enough."""

    def refuse(row: Row) -> None:
        dropped, rows = row["dropped_rows"], row["row_count"]
        # in whole numbers: a share in floating point could refuse exactly what was allowed
        if dropped * MILLION <= rows * round(asked.most * MILLION) and dropped < rows:
            return
        text = NO_GROUP if dropped == rows else TOO_MANY
        message = text.format(
            **row,
            size=asked.size,
            columns=" and ".join(map(repr, asked.columns)),
            share=f"{dropped / rows:.2%}",
            most=100 * asked.most,
            # in steps of a millionth, upwards: a share that is advised has to be enough
            enough=-(-dropped * MILLION // rows) / MILLION,
        )
        raise DataError(message, about=["l"])

    return refuse


def suppressed_guards(asked: Limits) -> tuple[Guard, ...]:
    """Return what `refuse_suppressed` refuses, without figures, for a script."""
    most = round(asked.most * MILLION)
    return (
        Guard("dropped_rows = row_count", NO_ROWS),
        Guard(
            f"dropped_rows * {MILLION} > row_count * {most}",
            f"l = {asked.size} is not possible: more rows than allowed find no group in which they differ from all"
            " others in every sensitive column",
        ),
    )
