"""Breach analysis: how likely each secret association is to an adversary who holds the published views.

H. Wang, L. V. S. Lakshmanan: Probabilistic Privacy Analysis of Published Views. WPES 2006.
Of two views all is SQL (`sql_templates/breach/`). Of more, worlds are counted here one by one where they are few, and
those of small pieces; other associations are bounded in SQL.

`explain_association` says of one association its components, their nodes and edges, and how many worlds show it.
"""

import logging
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from sqlanon.breaches import chapters
from sqlanon.breaches.associations import Breach
from sqlanon.breaches.chapters import Model
from sqlanon.breaches.connectivity import Graph, connect_views
from sqlanon.breaches.enumeration import (
    LARGEST_JOIN,
    Candidate,
    Node,
    TooManyWorldsError,
    count_covers,
    enumerate_associations,
)
from sqlanon.breaches.small_pieces import MOST_NODES, measure_cases
from sqlanon.engines.base import Engine
from sqlanon.engines.chapter_run import ChapterRun
from sqlanon.errors import DataError, UsageError
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source, statements_of
from sqlanon.plans.templates import columns, literal, order
from sqlanon.sql.source import choose_source
from sqlanon.sql.view_definitions import Base, View, read_secret, read_view
from sqlanon.wording import option

log = logging.getLogger("sqlanon")
NO_BASE = f"say what is read: {option('base', 'SOURCE')}, or {option('query', 'SELECT …')}"
NOTE = (
    "{why}, and their worlds are too many to be counted:{share} each{other} probability lies between certified bounds,"
    " and is given as their middle with error_bound half of their distance"
)
CHAINED, SEVERAL = "these views share different columns pairwise (a chain)", "these are more than two views"
TOO_MANY = (
    "{why}: no formula counts their worlds, and there are too many to count one by one; publish two views, or ask about"
    " fewer rows"
)


@dataclass(frozen=True)
class BreachQuestion:
    """What an analysis is about, before any database was looked at: a base, views on it, a secret, a model.

    base: a file, a glob, a table, a query, or an object that the engine reads. views, secret: the texts of SELECTs.
    """

    base: object
    views: tuple[str, ...]
    secret: str
    model: Model

    def __post_init__(self) -> None:
        """Refuse a question about no view."""
        if not self.views:
            raise UsageError('name the published views, each with --view "SELECT columns FROM base"')

    @classmethod
    def of(cls, dialect: str, *, base: object, query: str | None, **rest: Any) -> "BreachQuestion":
        """Return the question about a base, or about a query in its place; raise UsageError for both and for neither.

        dialect: of the engine that runs the query. rest: the other fields.
        """
        return cls(choose_source(base, query, dialect, NO_BASE, option("base")), **rest)


def analyse(question: BreachQuestion, engine: Engine) -> Breach:
    """Analyse; the relation of associations stays in the database as long as the connection, or until `close`.

    Raises UsageError (QueryError for a definition) for what cannot be right on any data.
    """
    (graph, source, views), run = prepare(question, engine), ChapterRun(engine)
    kept: list[str] = []
    try:
        run.take([chapters.base(graph, source)])
        if graph.has_closed_form:
            run.take(chapters.closed_form(graph, question.model))
            told = []
        else:
            told = _answer_many(graph, run, question.model == "restricted")
        reports = run.take([chapters.notes(graph, source, views)])
        told += [note for row in reports.values() if (note := row.get("note"))]
        # a view of the result needs what it reads
        kept = [str(run.relations[name]) for name in ("answer", "breach") if name in run.relations]
        return Breach(engine, run.relations["breach"], kept, told)
    finally:
        run.drop(kept)


def _answer_many(graph: Graph, run: ChapterRun, restricted: bool) -> list[str]:
    """Make the relation of associations of more than two views: enumerated, or exact in pieces, or bounded."""
    engine = run.engine
    # one row more than is followed tells that there are too many
    run.take([chapters.associations(graph, LARGEST_JOIN + 1)])
    lines, associations = (engine.rows(f"select * from {run.relations[name]}") for name in ("line", "association"))
    with suppress(TooManyWorldsError):
        if len(lines) > LARGEST_JOIN:
            raise TooManyWorldsError
        parts = chapters.part_columns(graph)
        run.keep("found", enumerate_associations(lines, associations, parts, graph.together, restricted))
        run.take([Chapter("breach/enumerated")])
        return []
    if restricted:
        raise DataError(TOO_MANY.format(why=CHAINED if graph.chained else SEVERAL))
    run.take([*chapters.join_views(graph), chapters.small_pieces(graph, MOST_NODES)])
    run.keep("solved", measure_cases(engine.frame(f"select * from {run.relations['different_piece']}")))
    run.take([Chapter("breach/exact"), chapters.bounds(graph, counted=True)])
    rows = engine.rows(f"select note, count(*) as found from {run.relations['breach']} group by note")
    exact, bounded = (
        sum(int(row["found"]) for row in rows if row["note"] == note) for note in (None, chapters.BOUNDED)
    )
    if not bounded:
        return []
    share = f" {exact:,} associations lie in small pieces, which were, and are exact;" if exact else ""
    return [
        NOTE.format(
            why="these views form a chain" if graph.chained else SEVERAL, share=share, other=" other" if exact else ""
        )
    ]


def render_analysis(question: BreachQuestion, engine: Engine) -> str:
    """Return what `analyse` would run, in order, as text; nothing runs but a look at the base's columns.

    Of more than two views: what it runs where their worlds are few.
    """
    (graph, source, _), run = prepare(question, engine), ChapterRun(engine, prefix="sqlanon_")
    written = [chapters.base(graph, source)]
    if graph.has_closed_form:
        written += chapters.closed_form(graph, question.model)
    else:
        written.append(chapters.associations(graph, LARGEST_JOIN + 1))
    steps = run.build(written)
    statements = [statement for step in steps for statement in statements_of(step)]
    return "\n\n".join(f"-- {step.name}: {step.sentence}\n{engine.text(step)};" for step in statements) + "\n"


def prepare(question: BreachQuestion, engine: Engine) -> tuple[Graph, Source, tuple[View, ...]]:
    """Read the definitions against the base and connect them; return the graph, where the base is, and the views."""
    source, types = engine.find_source(question.base)
    views, graph = connect_question(question, types)
    for column in (*graph.column_names, *graph.join):
        if types[column] == "NESTED":
            raise UsageError(f"column {column!r} holds nested values; views are analysed over columns of single values")
    source.refuse_collated((*graph.column_names, *graph.join))
    return graph, source, views


def connect_question(question: BreachQuestion, names: Collection[str]) -> tuple[tuple[View, ...], Graph]:
    """Read the definitions against the base's columns; return the views and their connectivity graph."""
    base = Base.of(names, question.base)
    views = tuple(read_view(sql, base, number) for number, sql in enumerate(question.views, start=1))
    return views, connect_views(views, read_secret(question.secret, base))


MOST_NODES_COUNTED = 16  # of a component whose worlds are counted here
MOST_EDGES = 12  # of a component whose worlds are written down
SHOWN_NODES = 200
SHOWN_COMPONENTS = 20

NodeRow = Mapping[str, Any]


def explain_association(question: BreachQuestion, engine: Engine, identifier: str, property_: str) -> dict[str, Any]:
    """Return what the graph says of one association, whether or not the secret names it.

    identifier, property_: the values as text. The counts of a component with more than 16 nodes are None; its worlds
    are listed where it has at most 12 edges. Raises UsageError for an id or a property that the base does not have.
    """
    (graph, source, _), run = prepare(question, engine), ChapterRun(engine)
    if graph.chained or graph.together:
        raise UsageError("--explain shows components of views that share the same columns and part id from property")
    try:
        run.take([chapters.base(graph, source), chapters.explained(graph, identifier)])
        _require_value(run, "identifier", graph.secret.identifier, identifier)
        _require_value(run, "property", graph.secret.property, property_)
        places = engine.rows(f"select * from {run.relations['whereabouts']} order by component asc nulls last")
        components = [
            _explain_component(graph, run, place, (identifier, property_)) for place in places[:SHOWN_COMPONENTS]
        ]
    finally:
        run.drop()
    cover = sorted({text for component in components for text in component.pop("properties")})
    return {
        "id": identifier,
        "property": property_,
        "cover": cover,
        "components": components,
        "all_components": len(places),
    }


def _require_value(run: ChapterRun, column: str, name: str, text: str) -> None:
    """Raise UsageError for a text that is no value of a column of the base."""
    values = f"select distinct cast({column} as varchar) as value from {run.relations['base']}"
    like = f"lower(trim(value)) = lower(trim({literal(text)}))"
    rows = run.engine.rows(f"select value from ({values}) as known where {like} order by value asc nulls last")
    alike = [str(row["value"]) for row in rows]
    if text not in alike:
        near = f"; did you mean {alike[0]!r}?" if alike else "; write it without the comma" * text.endswith(",")
        raise UsageError(f"the base has no {name} {text!r}{near}")


def _explain_component(graph: Graph, run: ChapterRun, place: NodeRow, association: tuple[str, str]) -> dict[str, Any]:
    parts = [_read_nodes(graph, run, number, place["component"]) for number in range(1, len(graph.parts) + 1)]
    join = {column: place[graph.column_names[column]] for column in graph.join}
    # Beyond, sets of covered nodes are too many to count; the numbers of nodes and edges still tell the component.
    few = sum(map(len, parts)) <= MOST_NODES_COUNTED
    tuples = [_make_candidate(nodes) for nodes in product(*map(enumerate, parts))] if few else []
    return {
        "join": join,
        "parts": [[_write_node(node) for node in part] for part in parts],
        "edges": prod(map(len, parts)) if all(len(part) < SHOWN_NODES for part in parts) else None,
        "properties": [str(node["property"]) for node in parts[1]],
        **_count_worlds(tuples, *association),
    }


def _read_nodes(graph: Graph, run: ChapterRun, number: int, component: object) -> list[NodeRow]:
    """Read the nodes of one view in a component, at most as many as are shown."""
    names = [graph.column_names[column] for column in graph.parts[number - 1].columns if column not in graph.join]
    ordered = f"order by {order(names, end=', ')}matches asc nulls last limit {SHOWN_NODES}"
    shown = f"select {columns(names, end=', ')}matches from {run.relations[f'shown_{number}']}"
    return [*run.engine.rows(f"{shown} where component = {component} {ordered}")]


def _make_candidate(nodes: Sequence[tuple[int, NodeRow]]) -> Candidate:
    """Make the tuple of one node of each part."""
    node_values = {name: value for _, node in nodes for name, value in node.items()}
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
