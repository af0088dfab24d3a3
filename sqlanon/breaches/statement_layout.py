"""The statements of one analysis, with the names of their relations; nothing runs here."""

from dataclasses import dataclass, field
from typing import Literal

from sqlanon.breaches.connectivity import Graph
from sqlanon.plans.plan import Source, relation_name
from sqlanon.plans.statement import Kind, Statement
from sqlanon.plans.templates import Sql, render, template_header

Model = Literal["unrestricted", "restricted"]
# templates whose relation is a named text, not a table
VIEWS = ("breaches/base", "breaches/selected", "breaches/person", "breaches/every")


def name_of(template: str) -> str:
    """Return the last word of a template's path, which its relation is called by."""
    return template.rpartition("/")[2]


@dataclass
class StatementLayout:
    """Write the statements of one analysis in order; `relations` and `statements` fill as they are written."""

    graph: Graph
    source: Source
    prefix: str
    model: Model
    relations: dict[str, Sql] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    _taken: int = 0

    @property
    def is_restricted(self) -> bool:
        """Whether the adversary knows that an id has one property."""
        return self.model == "restricted"

    @property
    def is_weighted(self) -> bool:
        """Whether properties may have unequal numbers of worlds: in the restricted model, with several nodes each."""
        graph = self.graph
        return self.is_restricted and not graph.chained and not graph.together and not graph.is_simple

    def add(self, template: str, yields: str = "", **values: object) -> Statement:
        """Write a statement over the relations that stand, and name what it yields."""
        kind: Kind = "view" if template in VIEWS else "table"
        name = yields or name_of(template)
        statement = Statement(name, self.render(template, **values), kind, str(self.name_relation(name)), template)
        self.statements.append(statement)
        return statement

    def render(self, template: str, **values: object) -> str:
        """Render a template; inputs that are not given are the relations of their names."""
        inputs = {name: self.relations[name] for name in template_header(template).inputs if name not in values}
        return render(template, **inputs, **values)

    def take_new_statements(self) -> list[Statement]:
        """Return the statements written since the last call."""
        new, self._taken = self.statements[self._taken :], len(self.statements)
        return new

    def name_relation(self, name: str) -> Sql:
        """Name a relation that a statement yields, or that is filled from Python."""
        self.relations[name] = relation_name(self.prefix, name)
        return self.relations[name]

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the parts: 1 has the id, 2 (or 1 as well) the property."""
        return list(range(1, len(self.graph.parts) + 1))

    def node(self, number: int) -> Sql:
        """Return the relation of one part's nodes."""
        return self.relations[f"node_{number}"]
