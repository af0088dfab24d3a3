"""Explain one association: its components, their nodes and edges, and how many worlds show it, in words."""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from sqlanon.breach.analysis import Question, prepared, run
from sqlanon.breach.enumeration import Candidate, covers
from sqlanon.breach.statements import Layout, names
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, UsageError

MOST_NODES = 16  # of a component whose worlds are counted here
MOST_EDGES = 12  # of a component whose worlds are written down
SHOWN_NODES = 200
SHOWN_COMPONENTS = 20

Node = Mapping[str, Any]


def explain(question: Question, engine: Engine, identifier: str, property_: str) -> dict[str, Any]:
    """Return what the graph says of one association, whether or not the secret names it.

    identifier, property_: the values as text. The counts of a component with more than 16 nodes are None; its worlds
    are listed where it has at most 12 edges. Raises UsageError for an id or a property that the base does not have.
    """
    analysis = prepared(question, engine)
    layout = analysis.layout
    if layout.graph.chained or layout.graph.together:
        raise UsageError("--explain shows components of views that share the same columns and part id from property")
    try:
        run(layout, engine)
        wanted = {"join": list(layout.graph.join), "identifier": identifier}
        places = engine.rows(layout.render("whereabouts", **wanted))
        if not places:
            raise UsageError(f"the base has no {layout.graph.secret.identifier} {identifier!r}")
        found = [_component(layout, engine, place, identifier, property_) for place in places[:SHOWN_COMPONENTS]]
    finally:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in layout.relations.values()])
    cover = sorted({text for component in found for text in component.pop("properties")})
    return {"id": identifier, "property": property_, "cover": cover, "components": found, "all_components": len(places)}


def _component(layout: Layout, engine: Engine, place: Node, identifier: str, property_: str) -> dict[str, Any]:
    graph, ours = layout.graph, names(layout.graph)
    parts: list[list[Node]] = []
    for number, part in enumerate(graph.parts, start=1):
        columns = [ours[column] for column in part.columns if column not in graph.join]
        asked: dict[str, object] = {"columns": columns, "match": f"match_{number}", "component": place["component"]}
        parts.append([*engine.rows(layout.render("part_node", most=SHOWN_NODES, **asked))])
    tuples = [_candidate(nodes) for nodes in product(*(list(enumerate(part)) for part in parts))] if _few(parts) else []
    shows = {str(column): place[f"value_{number}"] for number, column in enumerate(graph.join, start=1)}
    found: dict[str, Any] = {
        "join": shows,
        "parts": [[_shown(node) for node in part] for part in parts],
        "edges": _edges(parts),
        "properties": [str(node["property"]) for node in parts[1]],
    }
    return found | _counts(tuples, identifier, property_)


def _few(parts: Sequence[Sequence[Node]]) -> bool:
    return sum(len(part) for part in parts) <= MOST_NODES


def _edges(parts: Sequence[Sequence[Node]]) -> int | None:
    count = 1
    for part in parts:
        count *= len(part)
    return count if all(len(part) < SHOWN_NODES for part in parts) else None


def _candidate(nodes: Sequence[tuple[int, Node]]) -> Candidate:
    """Make the tuple of one node of each part."""
    carried: dict[str, Any] = {}
    for _, node in nodes:
        carried |= node
    keys: tuple[Hashable, ...] = tuple((part, number) for part, (number, _) in enumerate(nodes))
    matches = all(node["matches"] for _, node in nodes)
    return Candidate(str(carried["identifier"]), str(carried["property"]), matches, keys)


def _counts(tuples: Sequence[Candidate], identifier: str, property_: str) -> dict[str, Any]:
    """Count worlds and interesting worlds in both models; None where the component is too large."""
    if not tuples:
        return dict.fromkeys(("worlds", "interesting", "restricted_worlds", "restricted_interesting", "listed"))
    nodes = list(dict.fromkeys(node for candidate in tuples for node in candidate.nodes))

    def interesting(candidate: Candidate) -> bool:
        return candidate.matches and candidate.identifier == identifier and candidate.property == property_

    def single(wanted: Hashable) -> list[Candidate]:
        return [c for c in tuples if c.identifier != identifier or c.property == wanted]

    worlds = covers(tuples, nodes)
    own = single(property_)
    properties = {c.property for c in tuples}
    return {
        "worlds": worlds,
        "interesting": worlds - covers([c for c in tuples if not interesting(c)], nodes),
        "restricted_worlds": sum(covers(single(wanted), nodes) for wanted in properties),
        "restricted_interesting": covers(own, nodes) - covers([c for c in own if not interesting(c)], nodes),
        "listed": _listed(tuples, nodes) if len(tuples) <= MOST_EDGES else None,
    }


def _listed(tuples: Sequence[Candidate], nodes: Sequence[Hashable]) -> list[list[str]]:
    """Write down every world of a small component as its edges."""
    everything = []
    for kept in product((True, False), repeat=len(tuples)):
        world = [candidate for candidate, keep in zip(tuples, kept, strict=True) if keep]
        if {node for candidate in world for node in candidate.nodes} == set(nodes):
            everything.append([f"{c.identifier}–{c.property}" for c in world])
    return sorted(everything, key=lambda world: (len(world), world))


def _shown(node: Node) -> str:
    carried = [str(value) for name, value in node.items() if name != "matches"]
    return ", ".join(carried) if len(carried) == 1 else f"({', '.join(carried)})"
