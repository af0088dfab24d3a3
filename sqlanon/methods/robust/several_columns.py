"""r-robust groups of several sensitive columns: rows of one signature that differ in every one of them.

In a group of n rows of one signature each value of each column, and each combination of values of all columns, has
posterior exactly 1/n, whatever the distributions are: exchanging two rows changes no world's weight. In groups of
several signatures this does not hold: conditions on every column by itself prove nothing against an adversary who knows
how columns depend on each other. So classes are not merged, and no row joins another class.

First rows are left out until no value of any column is too frequent for its class. Then groups are made by the column
of the most frequent value, and rows that clash in another column change places inside their class. The templates are
`sql_templates/methods/robust/several_columns/`, those of `methods/several_columns`, and of `class_grouping.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlanon.errors import DataError
from sqlanon.methods import grouping
from sqlanon.methods.base import Steps
from sqlanon.methods.feasibility import NO_ROWS, NO_VALUE
from sqlanon.methods.grouping import Attribute
from sqlanon.methods.internal_names import identity_names, sensitive_names, tie_names
from sqlanon.methods.packing import payload_quasi
from sqlanon.methods.robust import class_grouping
from sqlanon.methods.robust.class_grouping import ClassGrouping
from sqlanon.methods.robust.suppression import MILLION, name_worst
from sqlanon.methods.several_columns.coding import number_values
from sqlanon.methods.several_columns.design import SharedGroups
from sqlanon.methods.several_columns.places import change_places
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Guard, Repeat, Row, Step, count_left_over
from sqlanon.wording import option

# What class-first groups of several sensitive columns refuse, with the column that stands in the way.
NOT_POSSIBLE = (
    "r = {r:g} is not possible: {least}{left_over:,} of {row_count:,} rows ({share}) find no group of {size} rows of"
    " one signature that differ in every one of {columns}, and "
    + option("max_suppressed")
    + " allows {most:.4g}%{worst}; "
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


TURNS = 12  # of leaving rows over; what is still too frequent then leaves with its group


@dataclass(frozen=True, kw_only=True)
class SeveralClasses(ClassGrouping, SharedGroups):
    """A design whose groups hold rows of one class that differ in several columns."""

    @property
    def several_suppression(self) -> SeveralSuppression:
        """Return what too many rows left over are told."""
        columns = self.request.roles.sensitive
        return SeveralSuppression(self.r, self.attribute.size, columns, self.most_suppressed, self.refuse_nulls)


def check_missing(design: SeveralClasses) -> Steps:
    """Return the step that refuses rows without a value in any of the columns."""
    suppression = design.several_suppression
    values = {"sensitive_columns": sensitive_names(design.request), "nulls_are_values": not design.refuse_nulls}
    return (
        Step(
            "methods/several_columns/limits",
            "query",
            refuse=refuse_missing_values(suppression),
            guards=missing_value_guards(suppression),
            values=values,
        ),
    )


def number_classes(design: SeveralClasses) -> Steps:
    """Return the steps that count each signature's values in every column, and make every signature a class."""
    tallies = (
        Step(
            "methods/robust/class_grouping/signature_tally",
            suffix=attribute.suffix,
            values={**design.signed, "sensitive_column": attribute.internal},
        )
        for attribute in reversed(design.attributes)
    )
    values = {**design.signed, "class_purpose": f"{design.attribute.purpose}/class/"}
    return (*tallies, Step("methods/robust/class_grouping/class", values=values))


def count_classes(design: SeveralClasses) -> Steps:
    """Return the steps that count the values of every column in each class, and the groups that it gives."""
    column_steps = (step for attribute in reversed(design.attributes) for step in _count_column(design, attribute))
    least = Step("methods/robust/several_columns/kept_least", yields="kept", suffix="_least")
    return (*column_steps, replace(least, values={"further_kept": design.relations("kept")[1:]}))


def _count_column(design: SeveralClasses, attribute: Attribute) -> Steps:
    suffix, nulls = attribute.suffix, {"nulls_are_values": design.request.nulls == "value"}
    valued = {**design.signed, **nulls, "value_purpose": f"{attribute.purpose}/value/"}
    reads = {"signature_tally": f"signature_tally{suffix}"}
    return (
        Step("methods/robust/class_grouping/ranked", suffix=suffix, values=valued, reads=reads),
        Step("methods/robust/class_grouping/capacity", suffix=suffix, values=design.size),
        Step("methods/robust/class_grouping/kept", suffix=suffix),
    )


def check_surplus(design: SeveralClasses) -> Steps:
    """Return the step that refuses what leaves too many rows over, before any row is drawn for."""
    suppression = design.several_suppression
    return (
        Step(
            "methods/robust/several_columns/feasibility",
            "query",
            refuse=refuse_left_over(suppression),
            guards=surplus_guards(suppression, "surplus_rows"),
            values={**design.size, "kept_by_column": design.relations("kept")},
        ),
    )


def group_classes(design: SeveralClasses) -> Steps:
    """Return the steps that end in `grouped`: rows are left over until every column has room, the others are seated."""
    ties = tie_names(design.request)
    payload = (*payload_quasi(design.request, design.layout), *design.codes)
    columns: dict[str, object] = {"kept_columns": (*payload, "sensitive", "draw", *ties)}
    drawn = (*payload, "sensitive", *identity_names(design.request))
    signed = {**design.signed, "drawn_from": tuple(dict.fromkeys(drawn))}
    by_class = ("class",)
    return (
        number_values(design, design.signature),
        Step(
            "methods/robust/several_columns/classed",
            "view",
            yields="population",
            suffix="_classed",
            values=signed,
            reads={"rows": "population"},
        ),
        grouping.shuffle(design, by_class),
        Step("methods/grouping/everyone", yields="drawn", reads={"source": "population"}),
        *_leave_over(design, columns),
        Step("methods/robust/several_columns/rejoined", "view", yields="population", suffix="_kept", values=columns),
        *_make_room(design, "_last", "population"),
        Chapter("several/classes", design.size),
        grouping.tally(by_class),
        grouping.count_values(design, by_class),
        Chapter("several/room", design.size),
        grouping.group(design, by_class, places=True),
        *change_places(design),
    )


def _leave_over(design: SeveralClasses, columns: dict[str, object]) -> Steps:
    """Return the steps that leave rows over in the classes of a value that is too frequent for them."""
    thinned = {
        **design.size,
        **columns,
        "column_count": len(design.attributes),
        "sensitive_columns": design.codes,
        "ties": tie_names(design.request),
    }
    turn = (*_make_room(design, "_turn"), Step("methods/robust/several_columns/kept_rows", values=thinned))
    first = {"further_capacities": design.relations("capacity")[1:]}
    short = {**design.size, "ranked_by_column": design.relations("ranked")}
    return (
        Step("methods/robust/several_columns/room", suffix="_first", values=first, reads={"capacity": "capacity_1"}),
        Step("methods/robust/several_columns/short", values=short),
        Step("methods/robust/several_columns/opened", yields="thinned"),
        Repeat("thinning", "thinned", turn, count_left_over("thinned", "is_final = 0"), TURNS),
    )


def _make_room(design: SeveralClasses, moment: str, rows: str = "thinned") -> tuple[Step, ...]:
    """Return the steps that count how many groups the kept rows of each class give in every column."""
    steps: list[Step] = []
    for attribute, code in zip(design.attributes, design.codes, strict=True):
        suffix = f"{moment}{attribute.suffix}"
        values = {"sensitive_column": code, "value_purpose": f"{attribute.purpose}/kept/"}
        steps += [
            Step("methods/robust/several_columns/held", suffix=suffix, values=values, reads={"thinned": rows}),
            Step(
                "methods/robust/class_grouping/capacity",
                suffix=suffix,
                values=design.size,
                reads={"ranked": f"held{suffix}"},
            ),
        ]
    capacities = {"further_capacities": design.relations(f"capacity{moment}")[1:]}
    reads = {"capacity": f"capacity{moment}_1"}
    return (*steps, Step("methods/robust/several_columns/room", suffix=moment, values=capacities, reads=reads))


def check_suppressed(design: SeveralClasses) -> Steps:
    """Return the step that counts the rows that no group holds, and refuses too many of them."""
    (check,) = class_grouping.check_suppressed(design)
    suppression = design.several_suppression
    assert isinstance(check, Step), "a check is a step"
    return (
        replace(
            check,
            refuse=refuse_suppressed(suppression),
            guards=surplus_guards(suppression, "dropped_rows"),
            reads={"population": "population_classed"},
        ),
    )
