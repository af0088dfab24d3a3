"""Refusals before anything is drawn: messages for the driver, and conditions for scripts that run without it."""

from sqlanon.errors import DataError
from sqlanon.plans.plan import Row
from sqlanon.wording import option

NO_ROWS = "the source has no rows to publish"
TOO_FEW_ROWS = "{parameter} = {size} needs at least {size} rows; the source has {row_count:,}"
INSTEAD = (
    "as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised),"
    " a sensitive column made of this one and another that splits that value, or leaving the column out"
)
LEAVE_OUT_ID = ", or say " + option("rows_per_person", "many")
SEVERAL_ROWS = (
    "{repeating_persons:,} persons have more than one row ({row_count:,} rows of"
    " {person_count:,} persons): the guarantee is per row, and the groups of one person's"
    " rows intersect; publish one row per person" + LEAVE_OUT_ID
)


def refuse_several_rows(row: Row) -> None:
    """Raise DataError where a person has more than one row."""
    if row["repeating_persons"]:
        raise DataError(SEVERAL_ROWS.format(**row), about=["id"])
