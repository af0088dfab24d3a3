"""Quasi attributes as Mondrian sees them: values numbered in an order, boxes over the numbers, what is published.

Numbers, dates and times have an order of their own and are published as bounds; with a hierarchy an attribute is
published as the lowest node above a box's values, in any other case as the set of these values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import quasi_names
from sqlanon.methods.mondrian.sensitive_columns import SensitiveColumn
from sqlanon.methods.uncertain.cell_faults import refuse_outside
from sqlanon.methods.uncertain.columns import Column, find_hierarchies
from sqlanon.methods.uncertain.hierarchy import SHOWN, Hierarchy
from sqlanon.plans.plan import Beside, Guard, Request, Row, Step, relation_name
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql

Shape = Literal["bounds", "node", "set"]
UNKNOWN_CODE = 2**31 - 1  # of NULL among numbers
SHOWN_PLACES = range(1, SHOWN + 1)


@dataclass(frozen=True)
class Attribute:
    """One quasi attribute.

    name: the source's. number: its place, from 1. type: of its values. names: part of the published columns → name, in
    their order: low, high and unknown (of bounds; the last where some value is NULL), node, or set. has_unknown:
    whether some value is NULL.
    """

    name: str
    number: int
    type: str
    names: Mapping[str, str]
    hierarchy: Hierarchy | None = None
    has_unknown: bool = True

    @property
    def shape(self) -> Shape:
        """Return how a box's values are published."""
        if self.hierarchy is not None:
            return "node"
        return "set" if self.column.scale == "category" else "bounds"

    @property
    def column(self) -> Column:
        """Return the attribute as the faults of a hierarchy name it, and as kinds of types are told."""
        return Column(self.name, f"quasi_{self.number}", self.number, self.type, False, self.hierarchy)

    @property
    def code(self) -> str:
        """Return the column of its codes."""
        return f"code_{self.number}"

    @property
    def suffix(self) -> str:
        """Return what tells its relations from the others'."""
        return f"_{self.number}"

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the levels of its hierarchy from below the root down; none where there is no hierarchy."""
        return self.hierarchy.level_names if self.hierarchy is not None else ()

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Return the columns of a box that are published, with their names."""
        return [(f"{part}{self.suffix}", name) for part, name in self.names.items()]

    def dictionary(self, prefix: str) -> Sql:
        """Return the relation of its numbered values."""
        return relation_name(prefix, f"dictionary{self.suffix}")


def read_attributes(request: Request, hierarchies: Mapping[str, Beside]) -> tuple[Attribute, ...]:
    """Decide from the source's types how each quasi column is published.

    Raises UsageError for a hierarchy that is none, or for no quasi column.
    """
    trees = find_hierarchies(request, hierarchies)
    attributes = [
        Attribute(name, number, request.types.get(name, "VARCHAR"), {}, trees.get(name))
        for number, name in enumerate(request.roles.quasi, start=1)
    ]
    # until the rows are looked at, any value may be NULL
    return name_columns(request, attributes, frozenset(request.roles.quasi))


def name_columns(request: Request, attributes: Iterable[Attribute], unknown: frozenset[str]) -> tuple[Attribute, ...]:
    """Return the attributes with the names of their published columns, no two alike; unknown: which hold NULLs."""
    used_names = [*request.roles.quasi, *request.roles.sensitive]
    answer = []
    for attribute in attributes:
        names: dict[str, str] = {attribute.shape: attribute.name}
        if attribute.shape == "bounds":
            names = {}
            for part in ("low", "high", *(["unknown"] if attribute.name in unknown else [])):
                names[part] = free_name(f"{attribute.name}_{part}", used_names)
                used_names.append(names[part])
        answer.append(replace(attribute, names=names, has_unknown=attribute.name in unknown))
    return tuple(answer)


def number_values(attributes: Iterable[Attribute]) -> Steps:
    """Return the steps that number the values of every attribute."""
    return tuple(step for attribute in attributes for step in _dictionary(attribute))


def _dictionary(attribute: Attribute) -> Steps:
    column: dict[str, object] = {"column": f"quasi_{attribute.number}"}
    suffix = attribute.suffix
    if attribute.hierarchy is None:
        if attribute.shape == "set":
            return (_named("methods/mondrian/attributes/category", suffix, column),)
        reading = Sql("epoch(value)" if attribute.column.scale == "moment" else "value")
        return (
            _named(
                "methods/mondrian/attributes/number",
                suffix,
                {**column, "reading": reading, "unknown_code": UNKNOWN_CODE},
            ),
        )
    levels = attribute.levels
    shares = [(level, f"share_{depth}", levels[:depth]) for depth, level in enumerate(levels, start=1)]
    guard = Guard(
        "outside_count > 0 or inner_count > 0", f"{attribute.name!r} has values that are not leaves of its hierarchy"
    )
    return (
        attribute.hierarchy.step(suffix),
        Step(
            "methods/mondrian/attributes/outside",
            "query",
            refuse=_refuse_listed(attribute.column),
            guards=(guard,),
            values={**column, "places": list(SHOWN_PLACES)},
            suffix=suffix,
        ),
        _named("methods/mondrian/attributes/branch", suffix, {**column, "level_shares": shares}),
    )


def _refuse_listed(column: Column) -> Callable[[Row], None]:
    """Return what refuses values that are no leaves of their hierarchy: the first ones stand in columns."""
    refuse = refuse_outside(column)

    def listed(row: Row, name: str) -> list[str]:
        return [row[f"{name}_{place}"] for place in SHOWN_PLACES if row[f"{name}_{place}"] is not None]

    return lambda row: refuse({**row, "outside": listed(row, "outside"), "inner_nodes": listed(row, "inner")})


def _named(template: str, suffix: str, values: Mapping[str, object]) -> Step:
    return Step(template, yields="dictionary", suffix=suffix, values=values)


def start_partition(
    request: Request,
    attributes: Sequence[Attribute],
    sensitive: Sequence[SensitiveColumn],
    prefix: str,
    rows: str,
    payload: Sequence[str],
) -> Steps:
    """Return the steps that put every row's codes in the place of its values: one partition of all rows.

    rows: the relation of the rows. payload: what else of them is kept.
    """
    pairs = zip(attributes, quasi_names(request), strict=True)
    values = {
        "dictionaries": [(attribute.number, column, attribute.dictionary(prefix)) for attribute, column in pairs],
        "sensitive_values": [
            (sensitive_column.internal, sensitive_column.code, sensitive_column.dictionary(prefix))
            for sensitive_column in sensitive
        ],
        "payload": list(payload),
    }
    return (
        *(_sensitive_value(sensitive_column) for sensitive_column in reversed(sensitive)),
        Step(
            "methods/mondrian/attributes/whole_partition", yields="splitting", values=values, reads={"population": rows}
        ),
    )


def _sensitive_value(sensitive_column: SensitiveColumn) -> Step:
    return Step(
        "methods/mondrian/attributes/sensitive_value",
        suffix=sensitive_column.suffix,
        values={"sensitive_column": sensitive_column.internal},
    )


def described_attributes(attributes: Iterable[Attribute]) -> dict[str, Any]:
    """Return what a manifest says of the attributes: types, published columns by their parts, whether some are NULL."""
    return {
        attribute.name: {"type": attribute.type, "nulls": attribute.has_unknown, **attribute.names}
        for attribute in attributes
    }
