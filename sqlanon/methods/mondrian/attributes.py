"""Quasi attributes as Mondrian sees them: values numbered in an order, boxes over the numbers, what is published.

Numbers, dates and times have an order of their own and are published as bounds; with a hierarchy an attribute is
published as the lowest node above a box's values, in any other case as the set of these values.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlanon.errors import ReleaseError, UsageError
from sqlanon.methods.uncertain.columns import Column, find_hierarchies
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.methods.uncertain.read_manifest import HIERARCHIES, TYPE, read_pairs
from sqlanon.models import shapes
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Beside, Request
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, constant_table

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


# what `parameters` say of the quasi columns; the names are compared with those of the tables
RECORDED = {
    "published": shapes.by_column(
        "quasi",
        shapes.record(
            {"type": TYPE, "nulls": bool},
            {part: shapes.text(r"[^\x00]+") for part in ("low", "high", "unknown", "node", "set")},
        ),
    ),
    "hierarchies": HIERARCHIES,
}


def described(manifest: Manifest, where: str = "the release") -> tuple[Attribute, ...]:
    """Read what a manifest says of the attributes; raise ReleaseError where it is no release of generalized rows."""
    try:
        return _read(manifest)
    except (KeyError, TypeError, ValueError, AttributeError, UsageError) as error:
        reason = str(error) if isinstance(error, UsageError | ValueError) else f"{type(error).__name__} {error}"
        raise ReleaseError(f"the manifest of {where} does not describe generalized rows: {reason}") from None


def _read(manifest: Manifest) -> tuple[Attribute, ...]:
    columns, parameters = manifest["columns"], manifest["parameters"]
    if not columns["sensitive"] or not {"k", "l"} <= set(parameters):
        raise ValueError("it names no sensitive column, or no k or l")
    published, trees = parameters["published"], parameters["hierarchies"]
    if set(published) != set(columns["quasi"]):
        raise ValueError("it does not say how each quasi column is published")
    attributes = tuple(
        _attribute(name, number, published[name], trees) for number, name in enumerate(columns["quasi"], start=1)
    )
    names = [*(name for attribute in attributes for name in attribute.names.values()), *columns["sensitive"]]
    if len({name.lower() for name in names}) < len(names):
        raise ValueError("two published columns have one name")
    return attributes


def _attribute(name: str, number: int, entry: Mapping[str, Any], trees: Mapping[str, Any]) -> Attribute:
    names = {part: column for part, column in entry.items() if part not in ("type", "nulls")}
    attribute = Attribute(name, number, entry["type"], names, has_unknown=entry["nulls"])
    if name in trees:
        attribute = replace(attribute, hierarchy=read_pairs(name, trees[name]))
    bounds = ["low", "high", *(["unknown"] if attribute.has_unknown else [])]
    if list(names) != (bounds if attribute.shape == "bounds" else [attribute.shape]):
        raise ValueError(f"{name!r} is not published as its type is")
    return attribute


def held_table(hierarchy: Hierarchy) -> dict[str, object]:
    """Return the table of each node of a hierarchy with the values at or below it."""
    names, nodes = zip(*sorted(hierarchy.held_below), strict=True)
    return constant_table({"node": ("varchar", nodes), "name": ("varchar", names)}, {})
