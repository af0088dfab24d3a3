"""Breach analysis: how likely each secret association is to an adversary who holds the published views.

H. Wang, L. V. S. Lakshmanan: Probabilistic Privacy Analysis of Published Views. WPES 2006.
The graph of nodes and components is SQL (`sql_templates/breaches/`) and stays in the database; only the different
shapes of components come out, to be given their probabilities (`world_counts.py`).

What the data holds that the model does not see (repeated rows of a view, ids with several properties) becomes notes;
`explain_association` says of one association its components, their nodes and edges, and how many worlds show it.
"""

import logging
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from sqlanon.breaches.associations import Breach
from sqlanon.breaches.chains.chain_bounds import REASON, lay_out_bounds, lay_out_tuples, note_bounds
from sqlanon.breaches.chains.small_pieces import lay_out_pieced_answer, lay_out_pieces, solve_pieces
from sqlanon.breaches.component_weights import (
    enumerate_associations,
    filled_relations,
    render_shapes,
    weigh_components,
)
from sqlanon.breaches.connectivity import Graph, connect_views
from sqlanon.breaches.enumeration import LARGEST_JOIN, Candidate, Node, TooManyWorldsError, count_covers
from sqlanon.breaches.packed_covers import lay_out_packed_covers
from sqlanon.breaches.statement_layout import Model, StatementLayout
from sqlanon.breaches.statements import (
    join_conditions,
    lay_out_answer,
    lay_out_associations,
    lay_out_enumeration,
    lay_out_nodes,
    lay_out_rivals,
    lay_out_rows,
)
from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.sources.source_choice import choose_source
from sqlanon.sql.view_definitions import Base, View, read_secret, read_view
from sqlanon.wording import option

log = logging.getLogger("sqlanon")
NO_BASE = f"say what is read: {option('base', 'SOURCE')}, or {option('query', 'SELECT …')}"
RESULT = ("tangled_breach", "settled", "breach")  # relations that the associations are read from


def note_deviations(layout: StatementLayout, views: Sequence[View], engine: Engine) -> list[str]:
    """Return a sentence for each deviation of the data from the model; views are sets, an id has one property."""
    notes = _note_unseen(layout, engine)
    for number, view in enumerate(views, start=1):
        if view.distinct:
            continue
        (row,) = engine.rows(_render_repetition(layout, number, view))
        repeated = int(row["row_count"]) - int(row["different_count"])
        if repeated:
            notes.append(
                f"view {number} has {repeated:,} duplicate rows of {int(row['row_count']):,} as it is written;"
                " publishing them tells more than is counted here: publish SELECT DISTINCT"
            )
    (row,) = engine.rows(_render_several(layout))
    several = int(row["several_ids"])
    if several:
        notes.append(f"{several:,} ids have several properties in the base; the model assumes one")
    return notes


def _note_unseen(layout: StatementLayout, engine: Engine) -> list[str]:
    """Tell what stands in rows that a view's own WHERE leaves out: of these nothing is counted."""
    graph, names = layout.graph, layout.graph.column_names
    if not graph.shown:
        return []
    conditions, shown_conditions = (
        [condition.over(names) for condition in many] for many in (graph.conditions, graph.shown)
    )
    (row,) = engine.rows(layout.render("breaches/unseen", conditions=conditions, shown=shown_conditions))
    partly, wholly = int(row["partly"]), int(row["wholly"])
    if not partly:
        return []
    return [
        f"{partly:,} associations stand in rows that not every view shows (WHERE), {wholly:,} of them nowhere else:"
        " nothing is counted for such rows"
    ]


def _render_several(layout: StatementLayout) -> str:
    if layout.graph.is_simple:
        return layout.render("breaches/several_settled")
    return layout.render("breaches/several", located=layout.relations["base" if layout.graph.chained else "located"])


def _render_repetition(layout: StatementLayout, number: int, view: View) -> str:
    """Write the count of a view's rows and of its different ones; nodes tell both where they are the view's rows."""
    for place, part in enumerate(layout.graph.parts, start=1):
        if f"size_{place}" in layout.relations and part.view == number and set(part.columns) == set(view.columns):
            return layout.render("breaches/node_repetition", size=layout.relations[f"size_{place}"])
    columns = [layout.source.expression(column) for column in view.columns]
    relation = Sql(layout.source.relation)
    if view.conditions:
        selection = join_conditions(view.conditions, {name: name for part in view.conditions for name in part.columns})
        relation = Sql(f"(select * from {relation} where {selection}) as selected")
    return layout.render("breaches/repetition", relation=relation, columns=columns)


@dataclass(frozen=True)
class BreachQuestion:
    """What an analysis is about, before any database was looked at: a base, views on it, a secret, a model.

    base: a file, a glob, a table, a query, or an object that the engine reads. views, secret: the texts of SELECTs.
    """

    base: object
    views: tuple[str, ...]
    secret: str
    model: Model

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
    views, layout = prepare(question, engine)
    kept_relations: list[str] = []
    try:
        create_new(layout, engine)
        notes = _answer(layout, engine)
        notes += note_deviations(layout, views, engine)
        kept_relations = [str(layout.relations[name]) for name in RESULT if name in layout.relations]
        return Breach(engine, layout.relations["breach"], kept_relations, notes)
    finally:
        # All but the result goes, after a failure too; an engine that failed may refuse that as well.
        with suppress(SqlanonError):
            engine.drop(
                [str(relation) for relation in layout.relations.values() if str(relation) not in kept_relations]
            )


def _answer(layout: StatementLayout, engine: Engine) -> list[str]:
    """Make the relation of associations: weighed, enumerated, or where neither can be, bounded; return what to note."""
    try:
        frames = (enumerate_associations if layout.graph.chained else weigh_components)(layout, engine)
    except TooManyWorldsError:
        if layout.is_restricted:
            raise
        return _answer_pieces(layout, engine)
    for name, frame in frames:
        engine.keep_frame(layout.name_relation(name), frame)
    lay_out_answer(layout)
    create_new(layout, engine)
    return []


def _answer_pieces(layout: StatementLayout, engine: Engine) -> list[str]:
    """Answer exactly where a chain's pieces are small, elsewhere by bounds."""
    tree = lay_out_tuples(layout)
    lay_out_pieces(layout, tree)
    create_new(layout, engine)
    solve_pieces(layout, engine)
    lay_out_bounds(layout, tree, [layout.relations["exact"]])
    lay_out_pieced_answer(layout)
    create_new(layout, engine)
    rows = engine.rows(f"select note, count(*) as found from {layout.relations['breach']} group by note")
    exact, bounded = (sum(int(row["found"]) for row in rows if row["note"] == note) for note in (None, REASON))
    return note_bounds(exact, bounded)


def render_analysis(question: BreachQuestion, engine: Engine) -> str:
    """Return what `analyse` would run, in order, as text; nothing runs but a look at the base's columns."""
    _, layout = prepare(question, engine, "sqlanon_")
    before = list(layout.statements)
    shapes = [Statement(name, sql, "query") for name, sql in render_shapes(layout)]
    filled = [layout.name_relation(name) for name in filled_relations(layout)]
    lay_out_answer(layout)
    after = layout.statements[len(before) :]
    texts = [f"-- {step.name}\n{engine.text(step)};" for step in (*before, *shapes)]
    texts += [
        f"-- {relation}: a row per shape, weighed by world_counts.py, restricted_worlds.py or enumeration.py"
        for relation in filled
    ]
    texts += [f"-- {step.name}\n{engine.text(step)};" for step in after]
    return "\n\n".join(texts) + "\n"


def prepare(question: BreachQuestion, engine: Engine, prefix: str = "") -> tuple[tuple[View, ...], StatementLayout]:
    """Read the definitions against the base and lay out the connectivity graph."""
    check_question(question)
    source, types = engine.find_source(question.base)
    views, graph = connect_question(question, list(types))
    _refuse_nested(graph, types)
    source.refuse_collated((*graph.column_names, *graph.join))
    layout = StatementLayout(graph, source, prefix or fresh_prefix(), question.model)
    if graph.chained:
        # One row more than can be enumerated tells that there are too many.
        lay_out_enumeration(layout, LARGEST_JOIN + 1)
        return views, layout
    lay_out_rows(layout)
    lay_out_nodes(layout)
    lay_out_associations(layout)
    lay_out_packed_covers(layout)
    if layout.is_weighted:
        lay_out_rivals(layout)
    return views, layout


def check_question(question: BreachQuestion) -> None:
    """Raise UsageError where no view is named."""
    if not question.views:
        raise UsageError('name the published views, each with --view "SELECT columns FROM base"')


def connect_question(question: BreachQuestion, columns: Sequence[str]) -> tuple[tuple[View, ...], Graph]:
    """Read the definitions against the base's columns; return the views and their connectivity graph."""
    base = Base.of(columns, question.base)
    views = tuple(read_view(sql, base, number) for number, sql in enumerate(question.views, start=1))
    return views, connect_views(views, read_secret(question.secret, base))


def create_new(layout: StatementLayout, engine: Engine) -> None:
    """Create what was laid out and does not stand yet."""
    for statement in layout.take_new_statements():
        log.info("making %s", statement.name)
        engine.create(statement)


def _refuse_nested(graph: Graph, types: Mapping[str, str]) -> None:
    for column in (*graph.column_names, *graph.join):
        if types[column] == "NESTED":
            raise UsageError(f"column {column!r} holds nested values; views are analysed over columns of single values")


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
