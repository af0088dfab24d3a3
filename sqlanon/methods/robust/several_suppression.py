"""What class-first groups of several sensitive columns refuse, with the column that stands in the way."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import NO_ROWS, NO_VALUE
from sqlanon.methods.robust.suppression import MILLION, name_worst
from sqlanon.plans.plan import Guard, Row
from sqlanon.wording import option

NOT_POSSIBLE = (
    "r = {r:g} is not possible: {least}{left_over} of {row_count} rows ({share}) find no group of {size} rows of one"
    " signature that differ in every one of {columns}, and " + option("max_suppressed") + " allows {most:.4g}%{worst}; "
)
IN_THE_WAY = "{column} by itself leaves {column_surplus} rows over; "
TOGETHER = "frequent values of these columns go together; "
POSSIBLE_UP_TO = "the largest whole r that no column stands in the way of is {feasible_size}"
# every r up to 2 takes groups of two rows of one signature: none was left untried
NEVER_POSSIBLE = "no r above 1 works with these columns and backgrounds"
AT_LEAST = ", and " + option("max_suppressed") + " would have to be {enough:g} or more"
MAYBE = "a smaller r may leave fewer"
LEAVE_OUT = ", and " + option("max_suppressed", "{enough:g}") + " leaves these rows out"


@dataclass(frozen=True)
class SeveralSuppression:
    """How many rows may be left over, and of what.

    r: as it was asked. size: rows of a group, ceil(r). columns: the sensitive ones. most: share of the rows, 0 … 1.
    """

    r: float
    size: int
    columns: tuple[str, ...]
    most: float
    refuse_nulls: bool

    @property
    def listed(self) -> str:
        """Return the columns in words."""
        return " and ".join(map(repr, self.columns))


def refuse_missing_values(asked: SeveralSuppression) -> Callable[[Row], None]:
    """Return what raises DataError for rows without a value, naming the first such column, and for no rows."""

    def refuse(row: Row) -> None:
        if asked.refuse_nulls and row["null_count"]:
            column = asked.columns[row["null_place"]]
            raise DataError(NO_VALUE.format(null_count=row["null_count"], column=repr(column)), about=[column])
        if not row["row_count"]:
            raise DataError(NO_ROWS)

    return refuse


def missing_value_guards(asked: SeveralSuppression) -> tuple[Guard, ...]:
    """Return what `refuse_missing_values` refuses, for a script."""
    missing = Guard("null_count > 0", "rows have no value in a sensitive column")
    return (*([missing] if asked.refuse_nulls else []), Guard("row_count = 0", NO_ROWS))


def refuse_left_over(asked: SeveralSuppression) -> Callable[[Row], None]:
    """Return what raises DataError where values by themselves leave too many rows over, before rows are drawn for."""

    def refuse(row: Row) -> None:
        surplus = [row[f"column_surplus_{number}"] for number, _ in enumerate(asked.columns, start=1)]
        most = max(surplus)
        way = IN_THE_WAY.format(column=repr(asked.columns[surplus.index(most)]), column_surplus=most)
        possible = POSSIBLE_UP_TO if row["feasible_size"] >= 2 else NEVER_POSSIBLE
        left_over = row["surplus_rows"]
        larger = AT_LEAST if left_over < row["row_count"] else ""
        _refuse(asked, row, left_over, way + possible + larger, "at least ")

    return refuse


def refuse_suppressed(asked: SeveralSuppression) -> Callable[[Row], None]:
    """Return what raises DataError where, in the end, no group holds more rows than may be left out."""

    def refuse(row: Row) -> None:
        dropped = row["dropped_rows"]
        _refuse(asked, row, dropped, TOGETHER + MAYBE + (LEAVE_OUT if dropped < row["row_count"] else ""), "")

    return refuse


def surplus_guards(asked: SeveralSuppression, figure: str) -> tuple[Guard, ...]:
    """Return what is refused of the rows left over, without figures, for a script; figure: the column that counts."""
    return (
        Guard(
            f"{figure} = row_count or {figure} * {MILLION} > row_count * {round(asked.most * MILLION)}",
            f"r = {asked.r:g} is not possible: more rows than allowed find no group of {asked.size} rows of one"
            f" signature that differ in every one of {asked.listed}",
        ),
    )


def _refuse(suppression: SeveralSuppression, row: Row, left_over: int, ways: str, least: str) -> None:
    """Refuse more rows left over than may be; in whole numbers, so that what was allowed is not refused."""
    if left_over * MILLION <= row["row_count"] * round(suppression.most * MILLION) and left_over < row["row_count"]:
        return
    message = (NOT_POSSIBLE + ways).format(
        **row,
        r=suppression.r,
        size=suppression.size,
        columns=suppression.listed,
        least=least,
        left_over=left_over,
        share=f"{left_over / row['row_count']:.2%}",
        most=100 * suppression.most,
        worst=name_worst(row),
        # in steps of a millionth, upwards: a share that is advised has to be enough
        enough=-(-left_over * MILLION // row["row_count"]) / MILLION,
    )
    raise DataError(message, about=["r"])
