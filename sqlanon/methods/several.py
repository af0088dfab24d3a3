"""Groups of people who have several values each: of several sensitive columns, or of several rows.

A person's values are a set of (column, value): nobody shares one with anybody of the group. People are dealt by the
most frequent value of their sets, and groups in which a value then stands twice exchange people with others until none
does: `sql_templates/several/`. All of this reads seats, which were drawn, and sensitive values, never a quasi value:
inside a group every assignment of the sets to its people stays equally likely.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, packing
from sqlanon.methods.base import Reports, Steps
from sqlanon.methods.grouping import ONE_BLOCK, Attribute
from sqlanon.methods.packing import (
    Layout,
    identifier_names,
    identity_names,
    payload_quasi,
    quasi_names,
    sensitive_names,
    tie_names,
)
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request
from sqlanon.plans.templates import Sql, relation_mark
from sqlanon.wording import option

MOST_SUPPRESSED = 0.005  # of the rows
TURNS = 40  # of exchanges; what clashes after them hardly ever finds a place
OFFERS = 2  # groups that one asks in a turn, and more where few ask
LEAST_OFFERS = 4096  # groups that are asked in a turn, if there are so many
BAND = "size_band"  # of the number of somebody's values: 1, 2, 3 to 4, 5 to 8 …
FEW = 8  # groups that clash, for which every exchange with those that they ask is weighed
TOGETHER = "frequent values of these columns go together"
MANY_VALUES = "whoever has many values finds few who share none of them"
NOT_FOLLOWED = (
    option("ledger") + " keeps one sensitive column in step, {number} were given: {columns}; their groups would have to"
    " be kept in step in each of them"
)


@dataclass(frozen=True, kw_only=True)
class SeveralColumns(Grouped):
    """A design whose groups are diverse in several columns.

    further: the columns after the first. most_suppressed: share of the rows, 0 … 1, that may be left out. known_size:
    whether people of a group have about as many values. owner_values: by column, how many of its values their owners
    have in the mean, to four digits; of people with several rows, once they are grouped.
    """

    further: tuple[Attribute, ...]
    most_suppressed: float
    known_size: bool = False
    owner_values: Mapping[str, float] = field(default_factory=dict)

    @property
    def banded(self) -> bool:
        """Return whether sizes of sets, which may differ, tell people of one class from others."""
        return self.known_size and self.request.sets

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return that sizes are alike only where they might not be, and how many values owners have."""
        sizes = {"unit": "person", "owner_values": self.owner_values} if self.request.sets else {}
        return {**super().recorded, "known_size": {"known_size": True} if self.banded else {}, "unit": sizes}

    def fitted(self, reports: Reports) -> Self:
        """Return the design with how many values owners have, which answers need where it goes with what is asked."""
        counted = [reports[f"owners_{number}"] for number, _ in enumerate(self.sized, start=1)]
        means = (float(f"{row['square_sum'] / row['value_count']:.4g}") for row in counted)
        return replace(self, owner_values=dict(zip(self.sized, means, strict=True)))

    @property
    def who(self) -> str:
        """Return what is grouped, in words."""
        return "persons" if self.request.sets else "rows"

    @property
    def sized(self) -> tuple[str, ...]:
        """Return the columns of which somebody may have several values."""
        return self.request.roles.sensitive if self.request.sets else ()

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Return all sensitive columns, in the order in which they were named."""
        return (self.attribute, *self.further)

    @property
    def sets(self) -> dict[str, object]:
        """Return how chapters read the values of somebody: in columns, or in a list of all."""
        return {"codes": self.codes, "listed": self.request.sets}

    @property
    def codes(self) -> tuple[str, ...]:
        """Return what the numbers of values are called in our relations."""
        return codes_of(self.request)

    @property
    def valued(self) -> list[dict[str, str]]:
        """Return of each sensitive column what `Grouped` says of the one."""
        columns = self.request.roles.sensitive
        codes = self.codes * len(columns) if self.request.sets else self.codes
        return [
            {
                "sensitive": column,
                "suffix": f"_{number}" if number > 1 else "",
                "valued": f"value_{number}",
                "code": code,
            }
            for number, (column, code) in enumerate(zip(columns, codes, strict=True), start=1)
        ]

    @property
    def differ(self) -> str:
        """Return what rows of a group do, in words."""
        if self.request.sets:
            return "share no value of " + " or ".join(map(repr, self.request.roles.sensitive))
        return "differ in every one of " + " and ".join(map(repr, self.request.roles.sensitive))


def design(
    request: Request, method: str, l: int, block: int | None, max_suppressed: float, known_size: bool
) -> SeveralColumns:
    """Decide on groups of at least l rows with l different values in each column; UsageError under a ledger."""
    layout = packing.layout_of(request)
    first, *further = attributes_of(request, method, "l", l, block, layout=layout)
    promise: Mapping[str, object] = {"l": l, "confidence": 1 / l}
    return SeveralColumns(
        request=request, layout=layout, attribute=first, promise=promise, further=tuple(further),
        most_suppressed=max_suppressed, known_size=known_size,
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
    return (
        ("codes",)
        if request.sets
        else tuple(f"code_{number}" for number, _ in enumerate(request.roles.sensitive, start=1))
    )


def count_values(design: SeveralColumns) -> Steps:
    """Return the chapters that count each column's values, and refuse those that are missing and those that tell."""
    request = design.request
    names, sets = sensitive_names(request), request.sets
    columns = [
        {
            "rows": relation_mark(f"fact_{number}" if sets else "population"),
            "name": "sensitive" if sets else name,
            "column": column,
            "shown": repr(column),
        }
        for number, (name, column) in enumerate(zip(names, request.roles.sensitive, strict=True), start=1)
    ]
    everybody = relation_mark("person" if sets else "population")
    values = {"sensitive": columns, "refuse_nulls": request.nulls == "refuse", "everybody": everybody}
    counted = Chapter("several/counted", values)
    if not sets:
        return (counted, *check_quasi(design), *check_sensitive(design))
    known = {
        "sensitive": names,
        "identifiers": identifier_names(request),
        "quasi": quasi_names(request),
        "shown_quasi": [*map(repr, request.roles.quasi)],
        "required": sensitive_names(request) if request.nulls == "drop" else (),
        "numbered": identity_names(request) == ("row_number",),
        "told_apart": identity_names(request) == ("identity",),
    }
    return (
        *grouping.bind(design),
        Chapter("several/people", known),
        counted,
        *check_quasi(design, "person"),
        *check_sensitive(design, "fact"),
    )


def number_values(design: SeveralColumns, further: tuple[str, ...] = ()) -> Steps:
    """Return the chapters that give rows the numbers of their values; further: other columns that rows keep."""
    request = design.request
    names = zip(sensitive_names(request), design.attributes, strict=True)
    columns = [{"name": name, "purpose": attribute.purpose} for name, attribute in names]
    kept = tuple(dict.fromkeys((*payload_quasi(request, design.layout), *further, *identity_names(request))))
    equals = Sql("is not distinct from" if request.nulls == "value" else "=")
    values = {"columns": columns, "kept": kept, "equals": equals, "listed": request.sets, "banded": design.banded}
    numbered = Chapter("several/values", values)
    if request.sets:
        return (numbered,)
    return (*grouping.bind(design), *grouping.identify(design, further), numbered)


def group_rows(design: SeveralColumns) -> Steps:
    """Return the chapters that end in `grouped`: rows of one class, in groups that differ in every column."""
    if design.banded:
        return group_classes(design, (), "l", f"{design.attribute.size}")
    counted = [f"counted_{number}" for number, _ in enumerate(design.attributes, start=1)]
    return (
        grouping.population(design.request),
        *count_values(design),
        grouping.refuse_frequent(design, together=counted, who=design.who),
        *number_values(design),
        grouping.tally(),
        grouping.count_values(design),
        grouping.shuffle(design),
        *exchange(design),
        suppressed(design, "l", f"{design.attribute.size}", "in which they"),
    )


def group_classes(design: SeveralColumns, known: tuple[str, ...], parameter: str, asked: str) -> Steps:
    """Return the chapters that end in `grouped`, class by class.

    known: the signature. parameter, asked: what decides the size of groups, as it is called and as it was given.
    """
    request, size = design.request, design.attribute.size
    signature = (*known, *((BAND,) if design.banded else ()))
    alike = ["one signature"] * bool(known) + ["people with about as many values"] * design.banded
    # of sets no more is known before they are dealt than of the values by which they are
    codes = ("sensitive",) if request.sets else design.codes
    signed = {"signature": signature, "codes": codes, "size": size}
    limits = {
        **signed,
        "final": False,
        "parameter": parameter,
        "asked": asked,
        "alike": " and ".join(alike),
        "shown": [*map(repr, request.roles.sensitive)],
        "differ": design.differ,
        "who": design.who,
        **allow(design.most_suppressed),
    }
    ties = tie_names(request)
    kept = (*design.attribute.payload, *signature, "sensitive", "draw", *ties)
    return (
        grouping.population(request),
        *count_values(design),
        *number_values(design, known),
        Chapter("surplus", limits),
        grouping.shuffle(design, signature),
        Chapter("several/thinned", {**signed, "drawn": ("draw", *ties), "kept": tuple(dict.fromkeys(kept))}),
        grouping.tally(signature),
        grouping.classify(design, signature),
        grouping.count_values(design, signature),
        *exchange(design, signature),
        suppressed(design, parameter, asked, f"of {size} {design.who} of {' and '.join(alike)} that"),
    )


def exchange(design: SeveralColumns, signature: tuple[str, ...] = ()) -> Steps:
    """Return the chapters that deal rows to groups, and make these disjoint."""
    values = {
        "carried": design.attribute.payload,
        **design.sets,
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
        "sized": design.sized,
        "who": design.who,
        "why": MANY_VALUES if design.request.sets else TOGETHER,
        "differ": design.differ,
        **allow(design.most_suppressed),
    }
    return Chapter("several/suppressed", values)
