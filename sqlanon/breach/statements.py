"""Lay out a breach analysis as statements: from the base to the shapes of components, and on to probabilities.

The statements follow the paper: locate the rows, construct the connectivity graph (nodes of every part in every
component), find where each association may hold. No statement holds a number read from the data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlanon.breach.connectivity import Graph, Part
from sqlanon.plans.plan import Source, relation_name
from sqlanon.plans.statement import Kind, Statement
from sqlanon.plans.templates import Sql, render, template_header
from sqlanon.sql.view_definitions import Condition

COLUMNS = ("id", "property", "m", "n", "cover", "probability", "error_bound", "note")
VIEWS = ("base", "person", "every")
_UNRESTRICTED = "; the unrestricted probability is given"
ALONE = f"alone with several properties under a join value, against the model{_UNRESTRICTED}"
NONE_SHARED = f"no property under every join value of the id, against the model{_UNRESTRICTED}"
SEVERAL_SHOWN = f"a view shows the id with several properties, against the model{_UNRESTRICTED}"


@dataclass
class Layout:
    """Write the statements of one analysis in order; `relations` and `statements` fill as they are written."""

    graph: Graph
    source: Source
    prefix: str
    relations: dict[str, Sql] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    _run: int = 0

    def add(self, template: str, yields: str = "", **values: object) -> Statement:
        """Write a statement over the relations that stand, and name what it yields."""
        name = yields or template
        kind: Kind = "view" if template in VIEWS else "table"
        sql = self.render(template, **values)
        self.relations[name] = relation_name(self.prefix, name)
        statement = Statement(name, sql, kind, str(self.relations[name]), f"breach/{template}")
        self.statements.append(statement)
        return statement

    def render(self, template: str, **values: object) -> str:
        """Render a template of `breach/`; inputs that are not given are the relations of their names."""
        inputs = template_header(f"breach/{template}").inputs
        given = {name: self.relations[name] for name in inputs if name not in values}
        return render(f"breach/{template}", **given, **values)

    def waiting(self) -> list[Statement]:
        """Return the statements written since this was last asked."""
        new, self._run = self.statements[self._run :], len(self.statements)
        return new

    def hold(self, name: str) -> Sql:
        """Name a relation that the driver fills."""
        self.relations[name] = relation_name(self.prefix, name)
        return self.relations[name]

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the parts: 1 has the id, 2 (or 1 as well) the property."""
        return list(range(1, len(self.graph.parts) + 1))

    def node(self, number: int) -> Sql:
        """Return the relation of one part's nodes."""
        return self.relations[f"node_{number}"]


def attributes(graph: Graph) -> list[str]:
    """Return the columns that tell nodes apart beside id, property and the join attributes."""
    return list(dict.fromkeys(column for part in graph.parts for column in part.attributes))


def conditions(graph: Graph) -> list[Condition]:
    """Return every part of WHERE."""
    return [condition for part in graph.parts for condition in part.conditions] + list(graph.selecting)


def names(graph: Graph) -> dict[str, str]:
    """Return our names for the columns of the base that count."""
    found = {column: f"join_{number}" for number, column in enumerate(graph.join, 1)}
    found |= {column: f"attribute_{number}" for number, column in enumerate(attributes(graph), 1)}
    found |= {graph.secret.identifier: "identifier", graph.secret.property: "property"}
    read = sorted(set().union(*(condition.columns for condition in conditions(graph))) - set(found))
    return found | {column: f"other_{number}" for number, column in enumerate(read, 1)}


def is_simple(graph: Graph) -> bool:
    """Whether the nodes of two parts are told apart by id and property alone."""
    return len(graph.parts) == 2 and not graph.together and not attributes(graph)


def is_weighted(graph: Graph, model: str) -> bool:
    """Whether properties may have unequal numbers of worlds: in the restricted model, where they have several nodes."""
    return model == "restricted" and not graph.together and not is_simple(graph)


def columns_read(graph: Graph) -> list[str]:
    """Return the columns of the base that count."""
    return list(names(graph)) + list(graph.join)


def name_columns(layout: Layout) -> None:
    """Write the base under our names."""
    graph, source = layout.graph, layout.source
    ours = names(graph)
    others = [column for column, name in ours.items() if name.startswith("other_")]
    layout.add(
        "base",
        relation=source.relation,
        identifier_source=source.expression(graph.secret.identifier),
        property_source=source.expression(graph.secret.property),
        join_source=[source.expression(column) for column in graph.join],
        attribute_source=[source.expression(column) for column in attributes(graph)],
        other_source=[source.expression(column) for column in others],
    )


def enumerate_lines(layout: Layout, limit: int) -> None:
    """Write what is needed to write worlds down one by one: the base's different rows, associations by number."""
    graph = layout.graph
    name_columns(layout)
    ours = names(graph)
    columns = list(dict.fromkeys(ours[column] for part in graph.parts for column in part.columns))
    matches = [written(part.conditions, ours) for part in graph.parts]
    layout.add("line", columns=columns, matches=matches, most=limit)
    layout.add("numbered", conditions=[condition.over(ours) for condition in conditions(graph)])


def locate(layout: Layout) -> bool:
    """Write the base under our names, its components, and every row with its component and matches.

    Where nodes are ids and properties alone, ids with one component and one property are set apart: their
    association, its component and its cover follow from one row. Returns whether this was done.
    """
    graph = layout.graph
    name_columns(layout)
    ours = names(graph)
    layout.add("component", join=list(graph.join))
    simple = is_simple(graph)
    repeated = [Sql(layout.add("repeated").relation)] if simple else []
    layout.add(
        "located",
        join=list(graph.join),
        attributes=attributes(graph),
        matches=[written(part.conditions, ours) for part in graph.parts],
        selecting=written(graph.selecting, ours),
        repeated=repeated,
    )
    for template in ("repeated_person", "person", "tangled") if simple else ():
        layout.add(template)
    return simple


def written(parts: tuple[Condition, ...], ours: Mapping[str, str]) -> Sql:
    """Write conditions, all of which must hold, over our names of their columns."""
    return Sql(" and ".join(condition.over(ours) for condition in parts) or "true")


def construct(layout: Layout, simple: bool) -> None:
    """Write the nodes of every part and their number in every component."""
    ours, relations = names(layout.graph), layout.relations
    for number, part in zip(layout.numbers, layout.graph.parts, strict=True):
        of_others = simple and number == 1
        values: dict[str, object] = {"keys": keys(part), "match": f"match_{number}"}
        values["located"] = relations["tangled" if of_others else "located"]
        if part.attributes:
            layout.add("node", yields=f"node_{number}", attributes=[ours[c] for c in part.attributes], **values)
        else:
            layout.add("single_node", yields=f"node_{number}", **values)
        layout.add("size_of_persons" if of_others else "size", yields=f"size_{number}", node=layout.node(number))
    layout.add("sized", sizes=[relations[f"size_{number}"] for number in layout.numbers])


def keys(part: Part) -> list[str]:
    """Return which of id and property the nodes of a part carry."""
    carried = {"identifier": part.has_identifier, "property": part.has_property}
    return [key for key, is_carried in carried.items() if is_carried]


def meet(layout: Layout, simple: bool) -> None:
    """Write the associations, the components in which they may hold, and their covers."""
    graph = layout.graph
    layout.add("association", located=layout.relations["tangled" if simple else "located"])
    carried = [(["identifier"] * part.has_identifier, ["property"] * part.has_property) for part in graph.parts]
    layout.add("meeting", parts=[(layout.node(n), *pair) for n, pair in zip(layout.numbers, carried, strict=True)])
    if graph.together:
        layout.add("shown", yields="joined", identifier_node=layout.node(1))
    else:
        layout.add("joined", identifier_node=layout.node(1), property_node=layout.node(2))
    layout.add("cover")


def rival(layout: Layout) -> None:
    """Write which properties an id may have in the restricted model, where some have several nodes."""
    nodes = {"identifier_node": layout.node(1), "property_node": layout.node(2)}
    layout.add("rival", parts=layout.numbers, **nodes)
    layout.add("span", **nodes)


def weigh(layout: Layout, model: str, simple: bool) -> None:
    """Write the answer, a row per association, over `chance` (and `weight`, `hidden`) that the driver fills."""
    sizes = {"identifier_size": "size_1", "property_size": "size_1" if layout.graph.together else "size_2"}
    answer = "tangled_breach" if simple else "breach"
    free = answer if model == "unrestricted" else "unrestricted"
    layout.add("unrestricted", yields=free, parts=layout.numbers, **sizes)
    if model == "restricted":
        _restrict(layout, answer)
    if simple:
        reasons = {"alone": ALONE} if model == "restricted" else {}
        layout.add(f"settled_{model}", yields="settled", **reasons)
        layout.add("every", yields="breach", columns=COLUMNS)


def _restrict(layout: Layout, answer: str) -> None:
    if layout.graph.together:
        layout.add("shown_restricted", yields=answer, several=SEVERAL_SHOWN)
        return
    reasons = {"alone": ALONE, "none_shared": NONE_SHARED}
    if is_weighted(layout.graph, "restricted"):
        layout.add("odds", parts=layout.numbers)
        layout.add("weighted", yields=answer, parts=layout.numbers, **reasons)
        return
    layout.add("span", identifier_node=layout.node(1), property_node=layout.node(2))
    layout.add("shared")
    layout.add("restricted", yields=answer, **reasons)
