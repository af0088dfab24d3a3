"""Groups for several sensitive columns: people of one group differ in every one of them.

A row's values are a set of (column, value). Rows are dealt by the most frequent value of their sets, and groups in
which a value then stands twice exchange rows with others until none does: `sql_templates/several/`. All of this reads
seats, which were drawn, and sensitive values, never a quasi value: inside a group every assignment of the sets to its
rows stays equally likely.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, packing, qit_st
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import ONE_BLOCK, Attribute
from sqlanon.methods.internal_names import identity_names, sensitive_names, tie_names
from sqlanon.methods.packing import Layout, payload_quasi
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request, Row
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

MOST_SUPPRESSED = 0.005  # of the rows
TURNS = 40  # of exchanges; what clashes after them hardly ever finds a place
OFFERS = 2  # groups that one asks in a turn, and more where few ask
LEAST_OFFERS = 4096  # groups that are asked in a turn, if there are so many
FEW = 8  # groups that clash, for which every exchange with those that they ask is weighed
NOT_FOLLOWED = (
    option("ledger") + " keeps one sensitive column in step, {number} were given: {columns}; their groups would have to"
    " be kept in step in each of them"
)


@dataclass(frozen=True, kw_only=True)
class SeveralColumns(Grouped):
    """A design whose groups are diverse in several columns.

    further: the columns after the first. most_suppressed: share of the rows, 0 … 1, that may be left out.
    """

    further: tuple[Attribute, ...]
    most_suppressed: float

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Return all sensitive columns, in the order in which they were named."""
        return (self.attribute, *self.further)

    @property
    def codes(self) -> tuple[str, ...]:
        """Return what the numbers of values are called in our relations."""
        return codes_of(self.request)

    @property
    def differ(self) -> str:
        """Return what rows of a group do, in words."""
        return "differ in every one of " + " and ".join(map(repr, self.request.roles.sensitive))

    @property
    def range_query(self) -> tuple[Statement, Row] | None:
        """Return the query of the quasi columns' ranges."""
        return packing.range_query(self.request)


def design(request: Request, method: str, l: int, block: int | None, max_suppressed: float) -> SeveralColumns:
    """Decide on groups of at least l rows with l different values in each column; UsageError under a ledger."""
    layout = packing.layout_of(request)
    first, *further = attributes_of(request, method, "l", l, block, layout=layout)
    promise: Mapping[str, object] = {"l": l, "confidence": 1 / l}
    return SeveralColumns(
        request=request, layout=layout, attribute=first, promise=promise, further=tuple(further),
        most_suppressed=max_suppressed,
    )  # fmt: skip


def attributes_of(
    request: Request, method: str, parameter: str, size: int, block: int | None, *, layout: Layout | None
) -> list[Attribute]:
    """Return the columns that are grouped together, in groups of at least `size` rows; UsageError under a ledger."""
    columns = request.roles.sensitive
    if request.following is not None:
        raise UsageError(NOT_FOLLOWED.format(number=len(columns), columns=", ".join(map(repr, columns))))
    return [
        Attribute(
            column=column,
            size=size,
            parameter=parameter,
            purpose=f"{method}/{column}",
            groups_per_block=block or ONE_BLOCK,
            payload=(*payload_quasi(request, layout), *codes_of(request)),
            internal=name,
        )
        for column, name in zip(columns, sensitive_names(request), strict=True)
    ]


def codes_of(request: Request) -> tuple[str, ...]:
    """Return what the numbers of values are called in our relations."""
    return tuple(f"code_{number}" for number, _ in enumerate(request.roles.sensitive, start=1))


def count_values(design: SeveralColumns) -> Chapter:
    """Return the chapter that counts each column's values, and refuses those that are missing."""
    request = design.request
    names = zip(sensitive_names(request), request.roles.sensitive, strict=True)
    columns = [{"name": name, "column": column, "shown": repr(column)} for name, column in names]
    return Chapter("several/counted", {"sensitive": columns, "refuse_nulls": request.nulls == "refuse"})


def number_values(design: SeveralColumns, further: tuple[str, ...] = ()) -> Steps:
    """Return the chapters that give rows the numbers of their values; further: other columns that rows keep."""
    request = design.request
    names = zip(sensitive_names(request), design.attributes, strict=True)
    columns = [{"name": name, "purpose": attribute.purpose} for name, attribute in names]
    kept = (*payload_quasi(request, design.layout), *further, *identity_names(request))
    equals = Sql("is not distinct from" if request.nulls == "value" else "=")
    return (
        *grouping.identify(design, further),
        Chapter("several/values", {"columns": columns, "kept": tuple(dict.fromkeys(kept)), "equals": equals}),
    )


def group_rows(design: SeveralColumns) -> Steps:
    """Return the chapters that end in `grouped`: rows of one class, in groups that differ in every column."""
    request = design.request
    limits = {
        "size": design.attribute.size,
        "shown": [*map(repr, request.roles.sensitive)],
        "show_values": request.show_values,
    }
    return (
        grouping.population(request),
        count_values(design),
        Chapter("several/feasible", limits),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.bind(design),
        *number_values(design),
        grouping.tally(),
        grouping.count_values(design),
        grouping.shuffle(design),
        *exchange(design),
        suppressed(design, "l", f"{design.attribute.size}", "in which they"),
    )


def group_classes(design: SeveralColumns, signature: tuple[str, ...], r: str, classes: Chapter) -> Steps:
    """Return the chapters that end in `grouped`, class by class: no class is merged, and no row joins another."""
    request, size = design.request, design.attribute.size
    signed = {"signature": signature, "codes": design.codes, "size": size}
    limits = {
        **signed,
        "r": r,
        "shown": [*map(repr, request.roles.sensitive)],
        "differ": design.differ,
        **allow(design.most_suppressed),
    }
    ties = tie_names(request)
    kept = (*design.attribute.payload, *signature, "sensitive", "draw", *ties)
    return (
        grouping.population(request),
        count_values(design),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.bind(design),
        *number_values(design, signature),
        Chapter("several/surplus", limits),
        grouping.shuffle(design, signature),
        Chapter("several/thinned", {**signed, "drawn": ("draw", *ties), "kept": tuple(dict.fromkeys(kept))}),
        grouping.tally(signature),
        classes,
        grouping.count_values(design, signature),
        *exchange(design, signature),
        suppressed(design, "r", r, f"of {size} rows of one signature that"),
    )


def exchange(design: SeveralColumns, signature: tuple[str, ...] = ()) -> Steps:
    """Return the chapters that deal rows to groups, and make these disjoint."""
    values = {
        "carried": design.attribute.payload,
        "codes": design.codes,
        "signature": signature,
        "size": design.attribute.size,
        "turns": TURNS,
        "offers": OFFERS,
        "least_offers": LEAST_OFFERS,
        "few": FEW,
    }
    return (grouping.group(design, signature, places=True), Chapter("several/exchange", values))


def allow(share: float) -> dict[str, object]:
    """Return what a share of the rows that may be left out is in chapters: in percent, and what it is compared by."""
    # whole millionths, so that every engine compares the same integers
    return {"most": f"{100 * share:.4g}", "most_millionths": round(share * 1_000_000)}


def suppressed(design: SeveralColumns, parameter: str, asked: str, where: str) -> Chapter:
    """Return the chapter that refuses more rows left out than may be."""
    values = {
        "parameter": parameter,
        "asked": asked,
        "where": where,
        "differ": design.differ,
        **allow(design.most_suppressed),
    }
    return Chapter("several/suppressed", values)


def publish(design: SeveralColumns) -> Steps:
    """Return the chapters of the published tables: QIT, and an ST for each column."""
    columns = design.columns
    values = {
        "published": design.request.roles.sensitive,
        "group_column": columns["group"],
        "count_column": columns["count"],
    }
    return (qit_st.publish_qit(design), Chapter("several/st", values))


def link(design: SeveralColumns) -> Steps:
    """Return the chapter of the rows that the run knows to the end, for each sensitive column."""
    carried = payload_quasi(design.request, design.layout)
    return (Chapter("several/linked", {"published": design.request.roles.sensitive, "carried": carried}),)
