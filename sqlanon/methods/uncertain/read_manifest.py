"""What the manifest of uncertain data says of its columns: hierarchies, orders, weights; refused where it cannot be."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sqlanon.errors import ReleaseError, UsageError
from sqlanon.methods.uncertain.hierarchy import Hierarchy, read_hierarchy
from sqlanon.models import shapes
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql

# what a manifest's text may name as a type: it will stand in a cast
_ORDERED = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL(\(\d{1,2}, ?\d{1,2}\))?|DATE"
    r"|TIMESTAMP(_S|_MS|_NS)?( WITH TIME ZONE)?"
)
_PLAIN = re.compile(r"VARCHAR|BOOLEAN|UUID|BLOB|TIME(_NS)?|INTERVAL|JSON")
TYPE = shapes.text(f"{_ORDERED.pattern}|{_PLAIN.pattern}")
_TEXT = shapes.text(r"[^\x00]*")  # it will stand in SQL
HIERARCHIES = shapes.by_column("quasi", shapes.several(shapes.several(_TEXT, 2, 2)))
# what `parameters` say beside the method's own numbers
RECORDED = {
    "hierarchies": HIERARCHIES,
    "types": shapes.by_column("quasi", TYPE),
    "weights": shapes.several(
        shapes.record(
            {
                "value": _TEXT | None,
                "weight": shapes.number(0, 1),
            }
        ),
        1,
    ),
    "label": None,
    "refine": shapes.whole(),  # of releases of 0.2.0, which could be cut anew
}
SUPPRESS, MERGE, GENERALIZE = "suppress", "merge", "generalize"


@dataclass(frozen=True)
class Described:
    """The quasi columns of a release of uncertain data by how a recipient reads them.

    quasi: published names. types: the type of each column's values in the source. hierarchies: of columns that
    have one. weights: sensitive value, as text, and its weight b. hidden: the columns whose values may all be '*'.
    """

    quasi: tuple[str, ...]
    types: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy]
    weights: tuple[tuple[str | None, float], ...]
    hidden: tuple[str, ...]

    @property
    def fields(self) -> list[tuple[str, str, str]]:
        """Return where each quasi column's alternatives are counted, its field number in QIID, and its name."""
        return [(f"alternatives_{place}", str(place + 1), name) for place, name in enumerate(self.quasi, start=1)]

    @cached_property
    def trees(self) -> dict[int, Hierarchy]:
        """Return the hierarchies by the places of their columns, from 1."""
        places = enumerate(self.quasi, start=1)
        return {place: self.hierarchies[name] for place, name in places if name in self.hierarchies}

    @cached_property
    def ordered(self) -> list[tuple[int, Sql]]:
        """Return the places and types of the columns whose uncertain cells show the largest alternative."""
        listed = ((place, self.types[name]) for place, name in enumerate(self.quasi, start=1))
        return [(n, Sql(sql_type)) for n, sql_type in listed if n not in self.trees and _ORDERED.fullmatch(sql_type)]

    @property
    def plain(self) -> list[int]:
        """Return the places of the columns that neither have an order nor a hierarchy: they are certain."""
        other_places = {*self.trees, *(place for place, _ in self.ordered)}
        return [place for place in range(1, len(self.quasi) + 1) if place not in other_places]


def described(manifest: Manifest, where: str = "the release") -> Described:
    """Read what a manifest says of its columns, by RECORDED; raise ReleaseError where these contradict each other."""
    try:
        return _read(manifest)
    except (KeyError, TypeError, ValueError, AttributeError, UsageError) as error:
        reason = str(error) if isinstance(error, UsageError | ValueError) else f"{type(error).__name__} {error}"
        raise ReleaseError(f"the manifest of {where} does not describe a release of uncertain data: {reason}") from None


def _read(manifest: Manifest) -> Described:
    columns, parameters = manifest["columns"], manifest["parameters"]
    missing = [name for name in ("qiid", "alternatives", "group", "count", "values") if name not in columns]
    if missing or len(columns["sensitive"]) != 1:
        raise ValueError(f"it names {len(columns['sensitive'])} sensitive columns, and no {', '.join(missing)}")
    unsaid = [name for name in ("k", "l", "threshold", "undiverse") if name not in parameters]
    if unsaid:
        raise ValueError(f"it does not say {', '.join(unsaid)}")
    (sensitive,) = columns["sensitive"]
    if columns["values"] != [sensitive] and not all(name.startswith(sensitive) for name in columns["values"]):
        raise ValueError("its columns of values are not named by the sensitive one")
    quasi = tuple(columns["quasi"])
    types = {name: parameters["types"][name] for name in quasi}
    hierarchies = {name: read_pairs(name, pairs) for name, pairs in parameters["hierarchies"].items()}
    hidden = quasi if parameters["undiverse"] == SUPPRESS else ()
    weights = tuple((line["value"], line["weight"]) for line in parameters["weights"])
    if len({value for value, _ in weights}) < len(weights) or len({weight for _, weight in weights}) < len(weights):
        raise ValueError("two weights or two of their values are equal")
    return Described(quasi, types, hierarchies, weights, hidden)


def read_pairs(name: str, pairs: list[list[str]]) -> Hierarchy:
    """Read child and parent of each edge; a pair of one node twice says that a cell may hold this inner node."""
    doubled = frozenset(child for child, parent in pairs if child == parent)
    lines = [{"child": child, "parent": parent} for child, parent in pairs if child != parent]
    hierarchy = read_hierarchy(name, lines)
    if not doubled <= set(hierarchy.paths):
        raise ValueError(f"the hierarchy of {name!r} has a node that leads nowhere")
    return replace(hierarchy, doubled=doubled)
