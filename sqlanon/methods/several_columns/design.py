"""What is decided of groups for several sensitive columns before any row is read."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.errors import UsageError
from sqlanon.methods import packing
from sqlanon.methods.grouping import ONE_BLOCK, Attribute
from sqlanon.methods.internal_names import sensitive_names
from sqlanon.methods.packing import Layout
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.several_columns.limits import Limits
from sqlanon.plans.plan import Request, Row, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

MOST_SUPPRESSED = 0.005  # of the rows
NOT_FOLLOWED = (
    option("ledger") + " keeps one sensitive column in step, {number} were given: {columns}; their groups would have to"
    " be kept in step in each of them"
)


@dataclass(frozen=True, kw_only=True)
class SharedGroups(Grouped):
    """A design of one set of groups for several columns; further: those after the first."""

    further: tuple[Attribute, ...]

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Return all sensitive columns, in the order in which they were named."""
        return (self.attribute, *self.further)

    @property
    def codes(self) -> tuple[str, ...]:
        """Return what the numbers of values are called in our relations."""
        return codes_of(self.request)

    @property
    def values(self) -> Mapping[str, object]:
        """Return the names under which QIT's columns are published."""
        return {name: value for name, value in self.group_values.items() if name != "count_column"}

    def relations(self, name: str) -> list[Sql]:
        """Return the relations of this name that each column has."""
        return [relation_name(self.prefix, f"{name}{attribute.suffix}") for attribute in self.attributes]


@dataclass(frozen=True, kw_only=True)
class SeveralColumns(SharedGroups):
    """A design whose groups are diverse in several columns.

    most_suppressed: share of the rows, 0 … 1, that may be left out.
    """

    most_suppressed: float

    @property
    def range_query(self) -> tuple[Statement, Row] | None:
        """Return the query of the quasi columns' ranges."""
        return packing.range_query(self.request)

    @property
    def limits(self) -> Limits:
        """Return what data that cannot be grouped is told."""
        request = self.request
        refuses = request.nulls == "refuse"
        return Limits(request.roles.sensitive, self.attribute.size, self.most_suppressed, refuses, request.show_values)


def design(request: Request, method: str, l: int, block: int | None, max_suppressed: float) -> SeveralColumns:
    """Decide on groups of at least l rows with l different values in each column; UsageError under a ledger."""
    layout = packing.layout_of(request)
    first, *further = attributes_of(request, method, "l", l, block, codes_of(request), layout=layout)
    return SeveralColumns(
        request=request,
        layout=layout,
        attribute=first,
        promise={"l": l, "confidence": 1 / l},
        further=tuple(further),
        most_suppressed=max_suppressed,
    )


def attributes_of(
    request: Request,
    method: str,
    parameter: str,
    size: int,
    block: int | None,
    codes: tuple[str, ...],
    *,
    layout: Layout | None,
) -> list[Attribute]:
    """Return the columns that are grouped together, in groups of at least `size` rows; UsageError under a ledger.

    codes: the numbers of values that rows carry while they are seated. layout: how their quasi values are packed.
    """
    if request.following is not None:
        columns = request.roles.sensitive
        raise UsageError(NOT_FOLLOWED.format(number=len(columns), columns=", ".join(map(repr, columns))))
    return [
        Attribute(
            column=column,
            size=size,
            parameter=parameter,
            purpose=f"{method}/{column}",
            groups_per_block=block or ONE_BLOCK,
            payload=(*packing.payload_quasi(request, layout), *codes),
            internal=name,
            suffix=f"_{number}",
        )
        for number, (column, name) in enumerate(
            zip(request.roles.sensitive, sensitive_names(request), strict=True), start=1
        )
    ]


def codes_of(request: Request) -> tuple[str, ...]:
    """Return what the numbers of values are called in our relations."""
    return tuple(f"code_{number}" for number, _ in enumerate(request.roles.sensitive, start=1))
