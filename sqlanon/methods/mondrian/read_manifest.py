"""What the manifest of generalized rows says of its columns: types, names, hierarchies; refused where it cannot be."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlanon.errors import ReleaseError, UsageError
from sqlanon.methods.mondrian.attributes import Attribute
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.methods.uncertain.read_manifest import HIERARCHIES, TYPE, read_pairs
from sqlanon.models import shapes
from sqlanon.plans.literal_table import constant_table
from sqlanon.plans.manifest import Manifest

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
