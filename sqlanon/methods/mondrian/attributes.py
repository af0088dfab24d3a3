"""Quasi attributes as Mondrian sees them: values numbered in an order, boxes over the numbers, what is published.

Numbers, dates and times have an order of their own and are published as bounds; with a hierarchy an attribute is
published as the lowest node above a box's values, in any other case as the set of these values.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlanon.methods.uncertain.columns import Column, find_hierarchies
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.plans.plan import Beside, Request
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql

Shape = Literal["bounds", "node", "set"]


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
    def column(self) -> Column:
        """Return the attribute as kinds of types are told."""
        return Column(self.name, f"quasi_{self.number}", self.number, self.type, False, self.hierarchy)

    @property
    def sql_type(self) -> Sql:
        """Return the type of its values as SQL has it."""
        return Sql(self.type)

    @property
    def shape(self) -> Shape:
        """Return how a box's values are published."""
        if self.hierarchy is not None:
            return "node"
        return "set" if self.column.scale == "category" else "bounds"

    @property
    def reading(self) -> Sql:
        """Return what reads a value as a number."""
        return Sql("epoch(value)" if self.column.scale == "moment" else "value")

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the levels of its hierarchy from below the root down; none where there is no hierarchy."""
        return self.hierarchy.level_names if self.hierarchy is not None else ()

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Return the columns of a box that are published, with their names."""
        return [(f"{part}_{self.number}", name) for part, name in self.names.items()]


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


def described_attributes(attributes: Iterable[Attribute]) -> dict[str, Any]:
    """Return what a manifest says of the attributes: types, published columns by their parts, whether some are NULL."""
    return {
        attribute.name: {"type": attribute.type, "nulls": attribute.has_unknown, **attribute.names}
        for attribute in attributes
    }
