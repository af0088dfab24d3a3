"""The chapters of a breach analysis (`sql_templates/breach/`), with what they take of the views and of the secret.

A script for an engine's own shell holds the chapters of the verb, but for what the verb does in Python: of more than
two views it has bounds alone. Macros of DuckDB take a view of ids and one of properties.
"""

from collections.abc import Mapping, Sequence

from sqlanon.breaches.connectivity import BreachQuestion, Graph, JoinTree, Model, Part, connect_question, grow_tree
from sqlanon.errors import TemplateError, UsageError, raised_as
from sqlanon.methods import macro_steps
from sqlanon.methods.macro_steps import Refusal
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source, Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_statements
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.sql.view_definitions import Condition, Secret, View, name_columns
from sqlanon.wording import option

Values = dict[str, object]
WORDS = tuple(range(8))  # whole numbers in a row of bits
LEVELS = 24  # of a sum over nodes that stay uncovered: two views need eight
CERTAIN_EDGES = 60  # so many matching edges: all are absent in at most 2^-60 of the worlds
EPSILON = 2.0**-52
MOST_TUPLES = 200  # of a piece that is counted
MOST_SHAPES = 20_000  # different pieces, with different tuples of an association; the most frequent ones are counted
BOUNDED = "bounds"  # what is noted of an association that is not exact
_UNRESTRICTED = "; the unrestricted probability is given"
ALONE = f"alone with several properties under a join value, against the model{_UNRESTRICTED}"
NONE_SHARED = f"no property under every join value of the id, against the model{_UNRESTRICTED}"
SEVERAL_SHOWN = f"a view shows the id with several properties, against the model{_UNRESTRICTED}"
PREFIX = "sqlanon_"
PAPER = "Wang and Lakshmanan, Probabilistic Privacy Analysis of Published Views, WPES 2006"
_BOUNDED = (
    "It counts no worlds: each probability is the middle of certified bounds, error_bound half of their distance,"
    " where sqlanon breach counts the worlds of few rows one by one."
)
_EXACT = "Its probabilities are those of sqlanon breach, and error_bound holds every rounding."
_SILENT = "It does not look for duplicate rows of a view, nor for ids with several properties, of which breach tells."
PARAMETERS = (macro_steps.TABLE, "id_name", "join_names", "property_name")
TWICE = "id_name, join_names and property_name name a column twice; each names others"
SENTENCE = (
    "every id with its property: m, n, cover, probability, error_bound, note, where one view shows id_name and"
    " join_names, another join_names and property_name"
)
_IDENTITY, _JOINED, _HELD = "identity", "chosen_text", "sensitive"
_GRAPH = Graph(
    Secret(_IDENTITY, _HELD, ()),
    (
        Part(1, (_IDENTITY, _JOINED), ("identifier",), attributes=(), conditions=()),
        Part(2, (_JOINED, _HELD), ("property",), attributes=(), conditions=()),
    ),
    (_JOINED,),
    (),
    chained=False,
)


def beginning(graph: Graph, source: Source, model: Model, most: int = 0) -> list[Chapter]:
    """Return the chapters of one view or two to the end, and of more up to the associations; most: as for these."""
    return [base(graph, source), *(closed_form(graph, model) if graph.has_closed_form else [associations(graph, most)])]


def base(graph: Graph, source: Source) -> Chapter:
    """Return the chapter that ends in `base`: the rows that every view shows, under names of our own."""
    names = graph.column_names
    values: Values = {
        "selected": [(source.expression(column), name) for column, name in names.items()],
        "relation": source.relation,
        "shown": join_conditions(graph.shown, names),
    }
    return Chapter("breach/base", values)


def closed_form(graph: Graph, model: Model) -> list[Chapter]:
    """Return the chapters from `base` to `breach` for one view or two, whose worlds are counted in closed form."""
    names, simple = graph.column_names, graph.is_simple
    restricted = model == "restricted"
    weighed = restricted and not graph.together and not simple
    sides = [{"keys": part.keys, "attributes": [names[name] for name in part.attributes]} for part in graph.parts]
    matches = [join_conditions(part.conditions, names) for part in graph.parts]
    if len(sides) == 1:  # the other side is one node
        sides.append({"keys": [], "attributes": []})
        matches.append(Sql("true"))
    values: Values = {
        "join": [names[column] for column in graph.join],
        "attributes": [names[column] for column in graph.attributes],
        "matches": matches,
        "selecting": join_conditions(graph.selecting, names),
        "parts": sides,
        "simple": simple,
        "together": graph.together,
        "shared": restricted and simple,
        "words": WORDS,
    }
    contradicted = SEVERAL_SHOWN if restricted and graph.together else None
    reasons: Values = {"alone": ALONE, "none_shared": NONE_SHARED}
    return [
        Chapter("breach/graph", values),
        *([Chapter("breach/rivals")] if weighed else []),
        worlds(simple, weighed),
        Chapter("breach/answer", {"together": graph.together, "contradicted": contradicted}),
        *([Chapter("breach/weighed", {**reasons, "epsilon": EPSILON})] if weighed else []),
        *([Chapter("breach/alike", reasons)] if restricted and simple else []),
        Chapter("breach/breach", {"settled": model if simple else None, "alone": ALONE}),
    ]


def worlds(simple: bool, weighed: bool) -> Chapter:
    """Return the chapter that counts worlds; simple: of settled ids, too; weighed: also of ids with one property."""
    limits = {"levels": LEVELS, "certain_edges": CERTAIN_EDGES, "epsilon": EPSILON}
    return Chapter("breach/worlds", {"simple": simple, "weighed": weighed, **limits})


def associations(graph: Graph, most: int = 0) -> Chapter:
    """Return the chapter that numbers the associations; most: and takes so many rows, to write worlds down from."""
    names = graph.column_names
    values: Values = {
        "columns": list(dict.fromkeys(names[column] for part in graph.parts for column in part.columns)),
        "parts": _parts(graph),
        "most": most,
        "secret": join_conditions(graph.conditions, names),
    }
    return Chapter("breach/associations", values)


def join_views(graph: Graph) -> list[Chapter]:
    """Return the chapter that counts tuples along a tree of views; raise DataError for views in a ring."""
    tree = _tree(graph)
    parts = [
        {**part, "beyond": tree.neighbours(number), "joins": [*tree.walk(number)]}
        for number, part in enumerate(_parts(graph), start=1)
    ]
    # what a view hands to one neighbour needs what the others have handed to it: from the leaves on, and back
    reached = [(part, before) for part, before, _ in tree.walk(1)]
    steps = [
        {"part": part, "to": to, "shared": tree.shared(part, to), "beyond": tree.neighbours(part, but=to)}
        for part, to in [*reversed(reached), *((before, part) for part, before in reached)]
    ]
    path = [] if graph.together else tree.find_path(1, 2)
    behind = [*(shared for _, shared in path[1:]), ()]
    back = [
        (part, shared_behind, [name for name in shared if name != "property"])
        for (part, shared), shared_behind in zip(path, behind, strict=bool(path))
    ]
    values: Values = {
        "parts": parts,
        "steps": steps,
        "back": back[::-1],
        "steps_back": len(back),
        "first_shared": path[0][1] if path else (),
    }
    return [Chapter("breach/chain", values)]


def small_pieces(graph: Graph, most_nodes: int) -> Chapter:
    """Return the chapter that finds the pieces of at most so many nodes, and which tuples of theirs are asked about."""
    tree = _tree(graph)
    edges = [
        {"number": number, "part": edge.one, "shared": edge.shared} for number, edge in enumerate(tree.edges, start=1)
    ]
    links = {
        number: [
            (place, edge.shared) for place, edge in enumerate(tree.edges, start=1) if number in (edge.one, edge.other)
        ]
        for number in range(1, len(graph.parts) + 1)
    }
    values: Values = {
        "edges": edges,
        "edge_count": len(edges),
        "parts": [{"number": part, "joins": [*tree.walk(part)], "links": tied} for part, tied in links.items()],
        "places": [(part, place) for part, tied in links.items() for place in range(1, len(tied) + 1)],
        "property_part": 1 if graph.together else 2,
        "most_nodes": most_nodes,
        "most_tuples": MOST_TUPLES,
        "most_shapes": MOST_SHAPES,
    }
    return Chapter("breach/pieces", values)


def bounds(graph: Graph, counted: bool) -> Chapter:
    """Return the chapter that ends in `breach`, bounded where it is not exact; counted: whether small pieces were."""
    parts = range(1, len(graph.parts) + 1)
    return Chapter("breach/bounds", {"parts": parts, "reason": BOUNDED, "counted": counted})


def notes(graph: Graph, source: Source, views: Sequence[View]) -> Chapter:
    """Return the chapter that tells what the data holds that the model does not see."""
    names = graph.column_names
    # of a view whose rows are the nodes of one side these are counted already
    nodes = {part.view: side for part, side in zip(graph.parts, "mn", strict=False) if graph.has_closed_form}
    told = [
        {
            "number": number,
            "nodes": nodes.get(number),
            "columns": [source.expression(column) for column in view.columns],
            "selected": join_conditions(view.conditions, {name: name for c in view.conditions for name in c.columns}),
        }
        for number, view in enumerate(views, start=1)
        if not view.distinct
    ]
    values: Values = {
        "shown": join_conditions(graph.shown, names) if graph.shown else None,
        "secret": join_conditions(graph.conditions, names),
        "views": told,
        "relation": source.relation,
        "counted": graph.is_simple,
    }
    return Chapter("breach/notes", values)


def explained(graph: Graph, identifier: str) -> Chapter:
    """Return the chapter that finds the components of one id, given as text, and their nodes."""
    names = graph.column_names
    parts = [
        {**part, "columns": [names[column] for column in shown.columns if column not in graph.join]}
        for part, shown in zip(_parts(graph), graph.parts, strict=True)
    ]
    join = [names[column] for column in graph.join]
    return Chapter("breach/explained", {"join": join, "parts": parts, "identifier": identifier})


def join_conditions(conditions: Sequence[Condition], names: Mapping[str, str]) -> Sql:
    """Write conditions, all of which must hold, over our names of their columns."""
    return Sql(" and ".join(condition.over(names) for condition in conditions) or "true")


def part_columns(graph: Graph) -> list[tuple[str, ...]]:
    """Return the columns of each view, under our names."""
    return [tuple(graph.column_names[column] for column in part.columns) for part in graph.parts]


def _parts(graph: Graph) -> list[Values]:
    return [
        {
            "number": number,
            "columns": columns,
            "keys": part.keys,
            "match": join_conditions(part.conditions, graph.column_names),
        }
        for number, (part, columns) in enumerate(zip(graph.parts, part_columns(graph), strict=True), start=1)
    ]


def _tree(graph: Graph) -> JoinTree:
    return grow_tree(part_columns(graph))


def compile_analysis(question: BreachQuestion, source: Source, dialect: str) -> str:
    """Return the script that makes the table of associations, over columns taken as the definitions name them.

    source: the base, as the other engine reads it. Raises UsageError for what SQL alone cannot answer, QueryError for a
    definition.
    """
    _, graph = connect_question(question, name_columns((*question.views, question.secret)))
    if question.model == "restricted" and not graph.has_closed_form:
        raise UsageError(
            "the model restricted has no bounds, and its worlds are counted in Python: say"
            f" {option('model', 'unrestricted')} for a script, or run sqlanon breach"
        )
    head = [
        f"sqlanon breach for {dialect}: model = {question.model}",
        PAPER,
        'It makes "sqlanon_breach", a row for each association. It names ids and properties: keep it secret.',
        _EXACT if graph.has_closed_form else _BOUNDED,
        _SILENT,
    ]
    written = beginning(graph, source, question.model)
    if not graph.has_closed_form:
        written += [*join_views(graph), bounds(graph, counted=False)]
    with raised_as(UsageError, f"no script for {dialect}", TemplateError):
        return write_statements(
            [step for step in build(written, PREFIX, {}, dialect) if isinstance(step, Statement)], head, dialect
        )


def _refusals() -> list[Refusal]:
    """Refuse columns that the table does not have, and one that is named twice: known only when the macro runs."""
    names = "list_concat([id_name, property_name], cast(join_names as varchar[]))"
    lowered = f"list_transform({names}, lambda name: lower(name))"
    twice = Sql(f"len(list_distinct({lowered})) < len({lowered})")
    return [macro_steps.no_column(names), (twice, write_message(TWICE, {}))]


def _make_macro(name: str, model: Model, addition: str) -> Macro:
    _, identifier, joining, property_ = PARAMETERS
    parts = (
        macro_steps.table(joining, sensitive=property_, nulls="'value'", identity=identifier),
        Chapter("macros/asked", {"refusals": _refusals()}),
        base(_GRAPH, Source(Sql(f'"{PREFIX}named"'))),
        *closed_form(_GRAPH, model),
    )
    example = f"from {name}('patients', 'ssn', ['age', 'zipcode'], 'disease')"
    return Macro(name, PARAMETERS, f"{SENTENCE}{addition}", example, parts)


MACROS = (
    _make_macro("breach_unrestricted", "unrestricted", ""),
    _make_macro("breach_restricted", "restricted", "; an id is known to have one property"),
)
