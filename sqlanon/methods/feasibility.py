"""Refusals before anything is drawn: messages for the driver, and conditions for scripts that run without it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.errors import DataError
from sqlanon.plans.plan import Guard, Row
from sqlanon.wording import option

MOST_ADVISED = 0.5  # share of the rows that may be left over where that is advised
# said by the command line, by Python, and by macros in a database
NO_VALUE = (
    "{null_count} rows have no value in the sensitive column {column}; say "
    + option("nulls", "value")
    + " (NULL is a value like any other) or "
    + option("nulls", "drop")
    + " (leave them out, which tells who had none to somebody who knows who was in the table)"
)
NO_ROWS = "the source has no rows to publish"
TOO_FEW_ROWS = "{parameter} = {size} needs at least {size} rows; the source has {row_count:,}"
NOT_POSSIBLE = (
    "{parameter} = {size} is not possible: the most frequent value of {column}{value}"
    " stands in {largest_count:,} of {row_count:,} rows ({share}), and {parameter} = {size} allows {allowed:,}; "
)
WITHOUT = "without the rows of that value {parameter} = {without} works"
WITHOUT_MISSING = "with " + option("nulls", "drop") + " {parameter} = {without} works"
LEAVES_OVER = (
    "robust leaves rows over instead: with r = {size} at least {left_over} of them (" + option("max_suppressed") + ")"
)
INSTEAD = (
    "as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised),"
    " a sensitive column made of this one and another that splits that value, or leaving the column out"
)
NO_HELP = "merging values makes none rarer, and splu has the same limit"
POSSIBLE_UP_TO = "the largest {parameter} that works is {feasible}"
NEVER_POSSIBLE = "no {parameter} of at least 2 works on this column"
LEAVE_OUT_ID = ", or say " + option("rows_per_person", "many")
SEVERAL_ROWS = (
    "{repeating_persons:,} persons have more than one row ({row_count:,} rows of"
    " {person_count:,} persons): the guarantee is per row, and the groups of one person's"
    " rows intersect; publish one row per person" + LEAVE_OUT_ID
)


@dataclass(frozen=True)
class Size:
    """The size of a group of one sensitive column, and how it is called.

    column: the published name. parameter: what `size` is called in messages (l, gamma). refuse_nulls: whether NULL is
    refused. show_values: whether messages may name values. only: whether it is the one sensitive column.
    """

    column: str
    parameter: str
    size: int
    refuse_nulls: bool
    show_values: bool
    only: bool = True


def refuse_several_rows(row: Row) -> None:
    """Raise DataError where a person has more than one row."""
    if row["repeating_persons"]:
        raise DataError(SEVERAL_ROWS.format(**row), about=["id"])


def refuse_missing(row: Row, column: str, refuse_nulls: bool) -> None:
    """Raise DataError where rows have no sensitive value, or there are none."""
    if refuse_nulls and row["null_count"]:
        raise DataError(NO_VALUE.format(null_count=row["null_count"], column=repr(column)), about=[column])
    if not row["row_count"]:
        raise DataError(NO_ROWS)


def missing_guards(column: str, refuse_nulls: bool) -> tuple[Guard, ...]:
    """Return what `refuse_missing` refuses, for a script."""
    missing = Guard("null_count > 0", f"rows have no value in the sensitive column {column!r}")
    return (*([missing] if refuse_nulls else []), Guard("row_count = 0", NO_ROWS))


def refuse_infeasible(asked: Size) -> Callable[[Row], None]:
    """Return what raises DataError where rows with `size` different values cannot be found for all: c_v > N / size."""

    def refuse(row: Row) -> None:
        refuse_missing(row, asked.column, asked.refuse_nulls)
        count, largest = row["row_count"], row["largest_count"]
        if asked.size > count:
            message = TOO_FEW_ROWS.format(parameter=asked.parameter, size=asked.size, row_count=count)
            raise DataError(message, about=[asked.parameter])
        # Anatomy, section 5: an l-diverse partition exists exactly where no value fills more than 1/l of the rows
        if largest > count // asked.size:
            raise DataError(_infeasible(asked, row), about=[asked.parameter], possible=count // largest)

    return refuse


def infeasible_guards(asked: Size) -> tuple[Guard, ...]:
    """Return what `refuse_infeasible` refuses, without figures, for a script."""
    size, parameter, column = asked.size, asked.parameter, repr(asked.column)
    return (
        *missing_guards(asked.column, asked.refuse_nulls),
        Guard(f"row_count < {size}", f"{parameter} = {size} needs at least {size} rows"),
        Guard(
            f"largest_count > row_count // {size}",
            f"{parameter} = {size} is not possible: a value of {column} stands in more than 1/{size} of the rows",
        ),
    )


def _infeasible(size: Size, row: Row) -> str:
    count, largest = row["row_count"], row["largest_count"]
    # the largest size that the most frequent value leaves room for
    feasible = count // largest
    reason = NOT_POSSIBLE + (POSSIBLE_UP_TO if feasible >= 2 else NEVER_POSSIBLE)
    return "; ".join([reason, *_ways_out(size, row, feasible)]).format(
        parameter=size.parameter,
        size=size.size,
        column=repr(size.column),
        # a value of the data is named only where the publisher said so: messages end in logs
        value=f" ({row['largest_value']!r})" if size.show_values else "",
        largest_count=largest,
        row_count=count,
        share=f"{largest / count:.1%}",
        allowed=count // size.size,
        feasible=feasible,
        without=_without_largest(row),
        left_over=f"{_least_left_over(row):.1%}",
    )


def _ways_out(size: Size, row: Row, feasible: int) -> list[str]:
    """Return what this data allows instead, each computed from its counts: nothing that does not help is advised."""
    ways = []
    if _without_largest(row) > max(1, feasible):
        ways.append(WITHOUT_MISSING if row["largest_missing"] else WITHOUT)
    # a group needs that many different values, however many rows are left over
    if size.only and row["value_count"] >= size.size and _least_left_over(row) <= MOST_ADVISED:
        ways.append(LEAVES_OVER)
    if feasible < 2 and row["value_count"] > 1:
        ways.append(INSTEAD)
    return [*ways, NO_HELP if size.parameter == "l" else "merging values makes none rarer"]


def _without_largest(row: Row) -> int:
    """Return the largest size for the rows without the most frequent value: (N - c_1) // c_2."""
    rest = row["row_count"] - row["largest_count"]
    return int(rest // row["next_count"]) if row["next_count"] else 0


def _least_left_over(row: Row) -> float:
    """Return the share of the rows that no groups of `size` different values can hold, whatever the classes."""
    # in steps of 0.1 %, upwards: a share that is allowed has to be enough
    rows, groupable = int(row["row_count"]), int(row["groupable_rows"])
    return math.ceil(1000 * (rows - groupable) / rows) / 1000
