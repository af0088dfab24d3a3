"""Lay out a breach analysis as statements: from the base to the shapes of components, and on to probabilities.

The statements follow section 5 of the paper: locate the relevant tuples, construct the connectivity graph (nodes of
every part in every component), find where each association may hold. No statement holds a number read from the data.
"""

from collections.abc import Mapping

from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.plans.templates import Sql
from sqlanon.sql.view_definitions import Condition

COLUMNS = ("id", "property", "m", "n", "cover", "probability", "error_bound", "note")
_UNRESTRICTED = "; the unrestricted probability is given"
ALONE = f"alone with several properties under a join value, against the model{_UNRESTRICTED}"
NONE_SHARED = f"no property under every join value of the id, against the model{_UNRESTRICTED}"
SEVERAL_SHOWN = f"a view shows the id with several properties, against the model{_UNRESTRICTED}"


def lay_out_base(layout: StatementLayout) -> None:
    """Write the base under our names."""
    graph, source, names = layout.graph, layout.source, layout.graph.column_names
    others = [column for column, name in names.items() if name.startswith("other_")]
    layout.add(
        "breaches/base",
        yields="unselected" if graph.shown else "base",
        relation=source.relation,
        identifier_source=source.expression(graph.secret.identifier),
        property_source=source.expression(graph.secret.property),
        join_source=[source.expression(column) for column in graph.join],
        attribute_source=[source.expression(column) for column in graph.attributes],
        other_source=[source.expression(column) for column in others],
    )
    if graph.shown:
        layout.add("breaches/selected", yields="base", conditions=[condition.over(names) for condition in graph.shown])


def lay_out_enumeration(layout: StatementLayout, limit: int) -> None:
    """Write what worlds are enumerated from: at most `limit` of the base's different rows, associations by number."""
    graph, names = layout.graph, layout.graph.column_names
    lay_out_base(layout)
    columns = list(dict.fromkeys(names[column] for part in graph.parts for column in part.columns))
    matches = [join_conditions(part.conditions, names) for part in graph.parts]
    layout.add("breaches/line", columns=columns, matches=matches, most=limit)
    lay_out_numbers(layout)


def lay_out_numbers(layout: StatementLayout) -> None:
    """Write the associations by number."""
    names = layout.graph.column_names
    layout.add(
        "breaches/secret_association", conditions=[condition.over(names) for condition in layout.graph.conditions]
    )


def lay_out_rows(layout: StatementLayout) -> None:
    """Write the base, its components, and every row with its component and matches (step 1: locate).

    Where nodes are ids and properties alone, ids with one component and one property are settled and set apart: their
    association, its component and its cover follow from one row.
    """
    graph, names = layout.graph, layout.graph.column_names
    lay_out_base(layout)
    layout.add("breaches/component", join=list(graph.join))
    repeated = [Sql(layout.add("breaches/repeated").relation)] if graph.is_simple else []
    layout.add(
        "breaches/located",
        join=list(graph.join),
        attributes=graph.attributes,
        matches=[join_conditions(part.conditions, names) for part in graph.parts],
        selecting=join_conditions(graph.selecting, names),
        repeated=repeated,
    )
    for template in ("breaches/repeated_person", "breaches/person", "breaches/tangled") if graph.is_simple else ():
        layout.add(template)


def lay_out_nodes(layout: StatementLayout) -> None:
    """Write the nodes of every part and their number in every component (step 2: construct the graph)."""
    names, relations = layout.graph.column_names, layout.relations
    for number, part in zip(layout.numbers, layout.graph.parts, strict=True):
        # Of the part with the ids only those that are not settled need nodes; all are counted.
        of_others = layout.graph.is_simple and number == 1
        values: dict[str, object] = {"keys": part.keys, "match": f"match_{number}"}
        values["located"] = relations["tangled" if of_others else "located"]
        if part.attributes:
            attributes = [names[column] for column in part.attributes]
            layout.add("breaches/node", yields=f"node_{number}", attributes=attributes, **values)
        else:
            layout.add("breaches/single_node", yields=f"node_{number}", **values)
        layout.add(
            "breaches/size_of_persons" if of_others else "breaches/size",
            yields=f"size_{number}",
            node=layout.node(number),
        )
    layout.add("breaches/sized", sizes=[relations[f"size_{number}"] for number in layout.numbers])


def lay_out_associations(layout: StatementLayout) -> None:
    """Write the associations and the components in which they may hold."""
    graph = layout.graph
    layout.add("breaches/association", located=layout.relations["tangled" if graph.is_simple else "located"])
    numbered = zip(layout.numbers, graph.parts, strict=True)
    layout.add(
        "breaches/meeting", parts=[(number, layout.node(number), [*map(Sql, part.keys)]) for number, part in numbered]
    )


def lay_out_covers(layout: StatementLayout) -> None:
    """Write the covers of the associations (Definition 3.1), over each id with each property that is joined to it."""
    others = [] if layout.graph.together else [layout.node(2)]
    layout.add("breaches/joined", identifier_node=layout.node(1), property_nodes=others)
    layout.add("breaches/cover", properties=Sql("count(*)"))
    if layout.is_restricted and layout.graph.is_simple:
        layout.add("breaches/span", identifier_node=layout.node(1), property_node=layout.node(2))
        layout.add("breaches/shared")


def list_shapes(layout: StatementLayout) -> dict[str, dict[str, object]]:
    """Return what different shapes are read off, by name: where associations meet, settled ones, and with rivals."""
    sizes, matches = ([(Sql(f"{kind}_{n}"), f"{kind}_{n}") for n in layout.numbers] for kind in ("size", "match"))
    held_counts = [(Sql(f"held_{number}"), f"held_{number}") for number in (1, 2)]
    read = {"shape": ("meeting", [*sizes, *matches])}
    if layout.graph.is_simple:  # one node of each part matches
        settled = [(Sql("cast(1 as bigint)"), name) for _, name in matches]
        read["simple_shape"] = "sized", [*sizes, *settled]
    if layout.is_weighted:
        read["rival_shape"] = "rival", [*sizes, *held_counts]
        read["held_shape"] = "meeting", [*sizes, *matches, *held_counts]
    return {name: {"relation": layout.relations[of], "columns": columns} for name, (of, columns) in read.items()}


def lay_out_rivals(layout: StatementLayout) -> None:
    """Write which properties an id may have in the restricted model, where some have several nodes."""
    nodes = {"identifier_node": layout.node(1), "property_node": layout.node(2)}
    layout.add("breaches/rival", parts=layout.numbers, **nodes)
    layout.add("breaches/span", **nodes)


def lay_out_answer(layout: StatementLayout) -> None:
    """Write the answer, a row per association, over `chance` (and `weight`, `hidden`) that Python fills."""
    graph = layout.graph
    if graph.chained:
        layout.add("breaches/enumerated", yields="breach")
        return
    sizes = {"identifier_size": "size_1", "property_size": "size_1" if graph.together else "size_2"}
    answer = "tangled_breach" if graph.is_simple else "breach"
    # Where the data contradicts the restricted model, the unrestricted probability is what is reported.
    layout.add("breaches/component_shape", parts=layout.numbers, **sizes)
    layout.add("breaches/combined", parts=layout.numbers)
    layout.add("breaches/long_list", **sizes)
    layout.add("breaches/unrestricted", yields="unrestricted" if layout.is_restricted else answer)
    if layout.is_restricted:
        _lay_out_restricted(layout, answer)
    if graph.is_simple:
        reasons = {"alone": ALONE} if layout.is_restricted else {}
        settled = "breaches/settled_restricted" if layout.is_restricted else "breaches/settled_unrestricted"
        layout.add(settled, yields="settled", **reasons)
        layout.add("breaches/every", yields="breach", columns=COLUMNS)


def _lay_out_restricted(layout: StatementLayout, answer: str) -> None:
    if layout.graph.together:
        layout.add("breaches/shown_restricted", yields=answer, several=SEVERAL_SHOWN)
        return
    reasons = {"alone": ALONE, "none_shared": NONE_SHARED}
    if layout.is_weighted:
        layout.add("breaches/odds", parts=layout.numbers)
        layout.add("breaches/weighted", yields=answer, parts=layout.numbers, **reasons)
        return
    # Each property has one node in a component, so that each that is shared is as likely (Lemma 5.4): 1/|I|.
    layout.add("breaches/restricted", yields=answer, **reasons)


def join_conditions(conditions: tuple[Condition, ...], names: Mapping[str, str]) -> Sql:
    """Write conditions, all of which must hold, over our names of their columns."""
    return Sql(" and ".join(condition.over(names) for condition in conditions) or "true")
