"""What the manifest of generalized rows says of its columns: types, names, hierarchies; refused where it cannot be."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlanon.errors import ReleaseError, UsageError
from sqlanon.methods.mondrian.attributes import Attribute
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.methods.uncertain.read_manifest import HIERARCHIES, TYPE, held_below, is_published_type, read_pairs
from sqlanon.plans import json_schema
from sqlanon.plans.literal_table import constant_table
from sqlanon.plans.manifest import Manifest

# what `parameters` say of the quasi columns; the names are compared with those of the tables
RECORDED = {
    "published": json_schema.by_column(
        "quasi",
        json_schema.record(
            {"type": TYPE, "nulls": {"type": "boolean"}},
            {part: {"type": "string"} for part in ("low", "high", "unknown", "node", "set")},
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
    if not columns["sensitive"]:
        raise ValueError("it names no sensitive column")
    for name, least in (("k", 2), ("l", 1)):
        if type(parameters[name]) is not int or not least <= parameters[name] < 2**62:
            raise ValueError(f"{name} is no whole number of at least {least}")
    published, trees = parameters["published"], parameters["hierarchies"]
    if set(published) != set(columns["quasi"]) or not set(trees) <= set(published):
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
    if not all(isinstance(column, str) and column and "\0" not in column for column in names.values()):
        raise ValueError(f"the columns of {name!r} have no names")
    if not is_published_type(entry["type"]):
        raise ValueError(f"the type of {name!r} is none that is published")
    if entry["nulls"] not in (True, False):
        raise ValueError(f"it does not say whether {name!r} has NULLs")
    attribute = Attribute(name, number, entry["type"], names, has_unknown=entry["nulls"])
    if name in trees:
        attribute = replace(attribute, hierarchy=read_pairs(name, trees[name]))
    bounds = ["low", "high", *(["unknown"] if attribute.has_unknown else [])]
    if list(names) != (bounds if attribute.shape == "bounds" else [attribute.shape]):
        raise ValueError(f"{name!r} is not published as its type is")
    return attribute


def held_table(hierarchy: Hierarchy) -> dict[str, object]:
    """Return the table of each node of a hierarchy with the values at or below it."""
    names, nodes = zip(*sorted(held_below(hierarchy)), strict=True)
    return constant_table({"node": ("varchar", nodes), "name": ("varchar", names)}, {})
