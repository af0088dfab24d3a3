"""What a class-first grouping refuses: more rows left over than may be, with the largest r that works."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import INSTEAD, NO_ROWS
from sqlanon.plans.plan import Guard, Row
from sqlanon.wording import option

MILLION = 1_000_000
NOT_POSSIBLE = (
    "r = {r:g} is not possible: {surplus_rows:,} of {row_count:,} rows ({share}) find no group of {size} rows with"
    " different values of {column} and one signature, and " + option("max_suppressed") + " allows {most:.4g}%{worst}; "
)
POSSIBLE_UP_TO = "the largest {whole}r that works is {feasible_size}"
# every r up to 2 takes groups of two rows of one signature: none was left untried
NEVER_POSSIBLE = "no r above 1 works with these backgrounds"
NO_WHOLE = "no r of 2 or more works with these backgrounds"
MAYBE_SMALLER = "a smaller r may work, or a larger " + option("repair")
LEAVE_OUT = option("max_suppressed", "{enough:g}") + " leaves them out"
FEWER_COLUMNS = "fewer columns in " + option("background_from") + " leave fewer rows over"
FREQUENT = "the most frequent value stands in {largest_share} of the rows: any r above {ceiling:.4g} leaves rows over"
NO_GROUP = "r = {r:g} is not possible: no signature has {size} different values of {column}; "


@dataclass(frozen=True)
class Suppression:
    """How many rows may be left over, and of what.

    r: as it was asked. size: rows of a group, ceil(r). column: the sensitive column. most: share of the rows, 0 … 1.
    early: whether it is refused before rows are drawn for, which is where nothing can be repaired. merges: whether
    several signatures may share groups. taught: whether a background of several columns is learned from the data.
    """

    r: float
    size: int
    column: str
    most: float
    early: bool
    refuse_nulls: bool
    merges: bool
    taught: bool


def refuse_suppressed(asked: Suppression) -> Callable[[Row], None]:
    """Return what raises DataError where, in the end, no group holds more rows than may be suppressed."""

    def refuse(row: Row) -> None:
        _refuse(asked, {**row, "surplus_rows": row["dropped_rows"]})

    return refuse


def suppressed_guards() -> tuple[Guard, ...]:
    """Return what `refuse_suppressed` refuses of any data, for a script."""
    return (Guard("dropped_rows = row_count", NO_ROWS),)


def _refuse(suppression: Suppression, row: Row) -> None:
    """Refuse more rows left over than may be; the message names the signatures that leave most."""
    most = row["row_count"] * round(suppression.most * MILLION)
    # in whole numbers: a share in floating point could refuse exactly what was allowed
    if row["surplus_rows"] * MILLION <= most and row["surplus_rows"] < row["row_count"]:
        return
    nobody = row["surplus_rows"] == row["row_count"]
    text = (NO_GROUP if nobody else NOT_POSSIBLE) + "; ".join(_ways_out(suppression, row))
    raise DataError(
        text.format(
            **{**row, "share": f"{row['surplus_rows'] / row['row_count']:.2%}"},
            r=suppression.r,
            size=suppression.size,
            column=repr(suppression.column),
            most=100 * suppression.most,
            worst=name_worst(row),
            whole="whole " if suppression.merges else "",
            # in steps of a millionth, upwards: a share that is advised has to be enough
            enough=-(-row["surplus_rows"] * MILLION // row["row_count"]) / MILLION,
            largest_share=f"{row['largest_count'] / row['row_count']:.1%}",
            ceiling=row["row_count"] / max(1, row["largest_count"]),
        ),
        possible=row["feasible_size"] if suppression.early else 0,
    )


def _ways_out(suppression: Suppression, row: Row) -> list[str]:
    """Return what this data allows instead: nothing that was not computed, or does not hold of any data."""
    if row["feasible_size"] >= 2:
        ways = [POSSIBLE_UP_TO if suppression.early else f"without {option('repair')} {POSSIBLE_UP_TO}"]
    elif suppression.early:
        ways = [NO_WHOLE if suppression.merges else NEVER_POSSIBLE]
    else:
        ways = [MAYBE_SMALLER]
    if suppression.early and row["surplus_rows"] < row["row_count"]:
        ways.append(LEAVE_OUT)
    if row["largest_count"] * suppression.size > row["row_count"]:
        half = 2 * row["largest_count"] > row["row_count"]
        return [*ways, FREQUENT, *([INSTEAD] if half else [])]
    # with fewer columns classes hold whole classes of before: what these kept can be kept
    return [*ways, FEWER_COLUMNS] if suppression.taught else ways


def name_worst(row: Row) -> str:
    """Name the signatures that leave most rows over, as the end of a clause; nothing where none does."""
    # at most three signatures: a message is one line, and signatures are quasi values, which are published anyway
    signatures = [f"({row[f'worst_{n}']}) with {row[f'surplus_{n}']}" for n in (1, 2, 3) if row.get(f"surplus_{n}")]
    if not signatures:
        return ""
    return (
        f"; most of them have the signature {', '.join(signatures)} ({row['class_count']} signatures leave rows over)"
    )
