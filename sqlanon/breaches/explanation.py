"""Explain one association: its components, their nodes and edges, and how many worlds show it, in words."""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import prod
from typing import Any

from sqlanon.breaches.analysis import BreachQuestion, create_new, prepare
from sqlanon.breaches.enumeration import Candidate, Node, count_covers
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, UsageError

MOST_NODES = 16  # of a component whose worlds are counted here
MOST_EDGES = 12  # of a component whose worlds are written down
SHOWN_NODES = 200
SHOWN_COMPONENTS = 20

NodeRow = Mapping[str, Any]


def explain_association(question: BreachQuestion, engine: Engine, identifier: str, property_: str) -> dict[str, Any]:
    """Return what the graph says of one association, whether or not the secret names it.

    identifier, property_: the values as text. The counts of a component with more than 16 nodes are None; its worlds
    are listed where it has at most 12 edges. Raises UsageError for an id or a property that the base does not have.
    """
    _, layout = prepare(question, engine)
    if layout.graph.chained or layout.graph.together:
        raise UsageError("--explain shows components of views that share the same columns and part id from property")
    try:
        create_new(layout, engine)
        places = engine.rows(layout.render("breaches/whereabouts", join=list(layout.graph.join), identifier=identifier))
        if not places:
            raise UsageError(f"the base has no {layout.graph.secret.identifier} {identifier!r}")
        components = [
            _explain_component(layout, engine, place, (identifier, property_)) for place in places[:SHOWN_COMPONENTS]
        ]
    finally:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in layout.relations.values()])
    cover = sorted({text for component in components for text in component.pop("properties")})
    return {
        "id": identifier,
        "property": property_,
        "cover": cover,
        "components": components,
        "all_components": len(places),
    }


def _explain_component(
    layout: StatementLayout, engine: Engine, place: NodeRow, association: tuple[str, str]
) -> dict[str, Any]:
    parts = [_read_nodes(layout, engine, number, place["component"]) for number in layout.numbers]
    join = {str(column): place[f"value_{number}"] for number, column in enumerate(layout.graph.join, start=1)}
    # Beyond, sets of covered nodes are too many to count; the numbers of nodes and edges still tell the component.
    few = sum(map(len, parts)) <= MOST_NODES
    tuples = [_make_candidate(nodes) for nodes in product(*map(enumerate, parts))] if few else []
    return {
        "join": join,
        "parts": [[_write_node(node) for node in part] for part in parts],
        "edges": prod(map(len, parts)) if all(len(part) < SHOWN_NODES for part in parts) else None,
        "properties": [str(node["property"]) for node in parts[1]],
        **_count_worlds(tuples, *association),
    }


def _read_nodes(layout: StatementLayout, engine: Engine, number: int, component: object) -> list[NodeRow]:
    """Read the nodes of one part in a component, at most as many as are shown."""
    graph, names = layout.graph, layout.graph.column_names
    columns = [names[column] for column in graph.parts[number - 1].columns if column not in graph.join]
    sql = layout.render(
        "breaches/part_node", columns=columns, match=f"match_{number}", component=component, most=SHOWN_NODES
    )
    return [*engine.rows(sql)]


def _make_candidate(nodes: Sequence[tuple[int, NodeRow]]) -> Candidate:
    """Make the tuple of one node of each part."""
    node_values: dict[str, Any] = {}
    for _, node in nodes:
        node_values |= node
    keys: tuple[Node, ...] = tuple((part, number) for part, (number, _) in enumerate(nodes))
    matches = all(node["matches"] for _, node in nodes)
    return Candidate(str(node_values["identifier"]), str(node_values["property"]), matches, keys)


def _count_worlds(tuples: Sequence[Candidate], identifier: str, property_: str) -> dict[str, Any]:
    """Count worlds and interesting worlds in both models (Definitions 3.2 to 3.5); None where there is no tuple."""
    if not tuples:
        return dict.fromkeys(("worlds", "interesting", "restricted_worlds", "restricted_interesting", "listed"))
    nodes = list(dict.fromkeys(node for candidate in tuples for node in candidate.nodes))

    def count_hidden(kept: Sequence[Candidate]) -> int:
        return count_covers([c for c in kept if not c.shows(identifier, property_)], nodes)

    def keep_single(wanted: Hashable) -> list[Candidate]:
        return [c for c in tuples if c.allows(identifier, wanted)]

    worlds = count_covers(tuples, nodes)
    single_tuples = keep_single(property_)
    properties = {c.property for c in tuples}
    return {
        "worlds": worlds,
        "interesting": worlds - count_hidden(tuples),
        "restricted_worlds": sum(count_covers(keep_single(other), nodes) for other in properties),
        "restricted_interesting": count_covers(single_tuples, nodes) - count_hidden(single_tuples),
        "listed": _list_worlds(tuples, nodes) if len(tuples) <= MOST_EDGES else None,
    }


def _list_worlds(tuples: Sequence[Candidate], nodes: Sequence[Node]) -> list[list[str]]:
    """Write down every world of a small component as its edges."""
    listed = []
    for choices in product((True, False), repeat=len(tuples)):
        world = [candidate for candidate, keep in zip(tuples, choices, strict=True) if keep]
        if {node for candidate in world for node in candidate.nodes} == set(nodes):
            listed.append([f"{c.identifier}–{c.property}" for c in world])
    return sorted(listed, key=lambda world: (len(world), world))


def _write_node(node: NodeRow) -> str:
    node_values = [str(value) for name, value in node.items() if name != "matches"]
    return ", ".join(node_values) if len(node_values) == 1 else f"({', '.join(node_values)})"
