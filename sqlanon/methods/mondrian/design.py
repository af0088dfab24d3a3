"""What a Mondrian release decides before any row is read, and what the data decides about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from sqlanon.errors import DataError
from sqlanon.methods.base import Reports, Steps
from sqlanon.methods.feasibility import NO_ROWS, POSSIBLE_UP_TO, TOO_FEW_ROWS, refuse_missing
from sqlanon.methods.grouping import ONE_BLOCK, Grouping
from sqlanon.methods.grouping import Attribute as Drawing
from sqlanon.methods.internal_names import quasi_names, sensitive_names, tie_names
from sqlanon.methods.mondrian.attributes import Attribute, described_attributes, name_columns, read_attributes
from sqlanon.methods.mondrian.sensitive_columns import SensitiveColumn, sensitive_columns
from sqlanon.plans.plan import Beside, Guard, Request, Row, Step
from sqlanon.wording import option

NAME = "mondrian"
Diversity = Literal["frequent", "distinct"]
Partitioning = Literal["strict", "relaxed"]
ONE_ROW = "the source has one row, and no k of at least 2 works with it"
MISSING = "rows have no value in the sensitive column {column}"
ALIKE = "l = {l} asks for more different values of {column} than there are"
CROWDED = "l = {l} asks for each value of {column} in at most 1/{l} of a box"
TOO_FEW_VALUES = "l = {l} asks for {l} different values of {column}; the source has {value_count}; "


@dataclass(frozen=True, kw_only=True)
class Mondrian(Grouping):
    """The design of a release of boxes.

    attributes: the quasi columns as they are published. sensitive: the sensitive columns. k: least rows of a box; l:
    least different values of each sensitive column there, diversity: and none of them in more than 1/l of the rows
    (frequent). partition: whether equal values stay together (strict).
    tables: the hierarchies.
    """

    attributes: tuple[Attribute, ...]
    sensitive: tuple[SensitiveColumn, ...]
    k: int
    l: int
    diversity: Diversity
    partition: Partitioning
    tables: tuple[Beside, ...]

    @property
    def columns(self) -> Mapping[str, Any]:
        """Return the columns by their roles, as a recipient's queries name them."""
        roles = self.request.roles
        return {"quasi": list(roles.quasi), "sensitive": list(roles.sensitive)}

    @property
    def frequent(self) -> bool:
        """Return whether no value may stand in more than 1/l of a box."""
        return self.diversity == "frequent" and self.l > 1

    @property
    def rows(self) -> str:
        """Return the relation of the rows that are put into boxes."""
        return "drawn" if self.partition == "relaxed" else "population"

    @property
    def partitioned(self) -> str:
        """Return the relation of the rows in their last partitions."""
        return "reopened" if self.partition == "relaxed" else "splitting"

    @property
    def payload(self) -> tuple[str, ...]:
        """Return the columns by which rows with equal values are told apart at a cut, none where they stay together."""
        return ("draw", *tie_names(self.request)) if self.partition == "relaxed" else ()

    @property
    def guarantee(self) -> Mapping[str, object]:
        """Return k and l."""
        return {"k": self.k, "l": self.l, "diversity": self.diversity}

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return what the manifest says of the published columns and of the hierarchies."""
        trees = {
            attribute.name: attribute.hierarchy.pairs
            for attribute in self.attributes
            if attribute.hierarchy is not None
        }
        return {"hierarchy": {"published": described_attributes(self.attributes), "hierarchies": trees}}

    @property
    def tables_read(self) -> tuple[Beside, ...]:
        """Return the hierarchies."""
        return self.tables

    def fitted(self, reports: Reports) -> Self:
        """Return the design with a column for unknown values only where there are some."""
        facts = reports["facts"]
        unknown = frozenset(attribute.name for attribute in self.attributes if facts[f"unknown_{attribute.number}"])
        return replace(self, attributes=name_columns(self.request, self.attributes, unknown))


def design(
    request: Request,
    k: int,
    l: int,
    diversity: Diversity,
    partition: Partitioning,
    hierarchy: Mapping[str, Beside],
) -> Mondrian:
    """Decide how each quasi column is published.

    Raises UsageError where a hierarchy cannot be right on any data.
    """
    sensitive = sensitive_columns(request)
    drawn = Drawing(
        column=sensitive[0].name,
        size=k,
        parameter="k",
        purpose=f"{NAME}/{sensitive[0].name}",
        groups_per_block=ONE_BLOCK,
        payload=(*quasi_names(request), *sensitive_names(request)[1:]),
    )
    return Mondrian(
        request=request,
        attribute=drawn,
        attributes=read_attributes(request, hierarchy),
        sensitive=sensitive,
        k=k,
        l=l,
        diversity=diversity,
        partition=partition,
        tables=tuple(hierarchy.values()),
    )


def check_size(design: Mondrian) -> Steps:
    """Return the query that refuses what no boxes could meet, and tells which columns hold NULLs."""
    request, columns = design.request, design.request.roles.sensitive
    refuse_nulls = request.nulls == "refuse"
    values = {
        "columns": quasi_names(request),
        "sensitive_columns": sensitive_names(request),
        "nulls_are_values": request.nulls == "value",
        "frequent": design.frequent,
    }
    quoted = [(number, repr(column)) for number, column in enumerate(columns, start=1)]
    missing = [Guard(f"null_count_{number} > 0", MISSING.format(column=column)) for number, column in quoted]
    alike = [Guard(f"value_count_{n} < {design.l}", ALIKE.format(l=design.l, column=column)) for n, column in quoted]
    if design.frequent:
        alike += [
            Guard(f"largest_count_{n} * {design.l} > row_count", CROWDED.format(l=design.l, column=column))
            for n, column in quoted
        ]
    guards = (
        *(missing if refuse_nulls else []),
        Guard("row_count = 0", NO_ROWS),
        Guard(f"row_count < {design.k}", f"k = {design.k} needs at least {design.k} rows"),
        *alike,
    )
    refuse = _refuse(design, columns, refuse_nulls)
    return (Step("methods/mondrian/design/facts", "query", refuse=refuse, guards=guards, values=values),)


def _refuse(design: Mondrian, columns: Sequence[str], refuse_nulls: bool) -> Callable[[Row], None]:
    k, l = design.k, design.l

    def refuse(row: Row) -> None:
        count = row["row_count"]
        for number, name in enumerate(columns, start=1):
            refuse_missing({"null_count": row[f"null_count_{number}"], "row_count": count}, name, refuse_nulls)
        # the column with the fewest values is the one that stands in the way
        values, column = min((row[f"value_count_{number}"], name) for number, name in enumerate(columns, start=1))
        if not count:
            raise DataError(NO_ROWS)
        if count == 1:
            raise DataError(ONE_ROW)
        if count < k:
            few = TOO_FEW_ROWS.format(parameter="k", size=k, row_count=count)
            raise DataError(f"{few}; {POSSIBLE_UP_TO.format(parameter='k', feasible=count)}")
        if values < l:
            alike = TOO_FEW_VALUES.format(l=l, column=repr(column), value_count=values)
            raise DataError(alike + POSSIBLE_UP_TO.format(parameter="l", feasible=values), ["l"], possible=values)
        if not design.frequent:
            return
        largest, name = max((row[f"largest_count_{number}"], name) for number, name in enumerate(columns, start=1))
        if largest * l > count:
            crowded = CROWDED.format(l=l, column=repr(name))
            feasible = count // largest
            raise DataError(
                f"{crowded}: its most frequent value stands in {largest:,} of {count:,} rows;"
                f" {POSSIBLE_UP_TO.format(parameter='l', feasible=feasible)};"
                f" {option('diversity', 'distinct')} asks for different values alone",
                ["l"],
                possible=feasible,
            )

    return refuse
