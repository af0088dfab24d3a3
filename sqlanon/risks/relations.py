"""The relations behind all measures, in SQL: equivalence classes, the values in them, their distances."""

from collections.abc import Mapping

from sqlanon.engines.base import Engine
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.risks.question import CheckQuestion

ALL, COUNTED = Sql("count(*)"), Sql("cast(sum(row_count) as bigint)")  # rows, one by one or counted already


def internal_names(question: CheckQuestion) -> dict[str, str]:
    """Return published name → the name of ours under which it is read: no column of the user's meets one of ours."""
    roles = {"quasi": question.quasi, "value": question.sensitive, "identifier": question.identifier}
    return {name: f"{role}_{n}" for role, names in roles.items() for n, name in enumerate(names, start=1)}


def select_columns(source: Source, names: Mapping[str, str]) -> Sql:
    """Return a subquery over a source with some of its columns under names of ours."""
    selected = [(source.expression(name), ours) for name, ours in names.items()]
    return Sql(f"(\n{render_query('shared/source', {'relation': source.relation, 'selected': selected}, {})}\n)")


class Classes:
    """Make the relations of one question as they are asked for; `close` drops them."""

    def __init__(self, engine: Engine, question: CheckQuestion, source: Source, types: Mapping[str, str]) -> None:
        """Take a resolved question, its source, and the types of the source's columns."""
        self.engine, self.question, self.types = engine, question, types
        self.names = internal_names(question)
        self.quasi = [self.names[name] for name in question.quasi]
        self.workspace = Workspace(engine, {"microdata": select_columns(source, self.names)}, {}, {})
        self.kept: dict[str, Sql] = {}

    def close(self) -> None:
        """Drop what was made."""
        self.workspace.close()

    def keep(self, name: str, template: str, given: Mapping[str, Sql], **values: object) -> Sql:
        """Make a relation once; return it."""
        if name not in self.kept:
            self.kept[name] = self.workspace.keep(name, self.workspace.render(template, given, **values))
        return self.kept[name]

    @property
    def microdata(self) -> Sql:
        """Return the rows, as a subquery."""
        return self.workspace.relations["microdata"]

    def of(self) -> Sql:
        """Return the equivalence classes: number, quasi values, size."""
        if self.question.sensitive:
            people, row_count = self.values_of(self.question.sensitive[0]), COUNTED
        else:
            people, row_count = self.microdata, ALL
        return self.keep("class", "risks/class", {"people": people}, quasi=self.quasi, row_count=row_count)

    def values_of(self, column: str) -> Sql:
        """Return how often each value of a sensitive column stands in each class."""
        value = self.names[column]
        return self.keep(
            f"class_{value}", "risks/class_value", {"microdata": self.microdata}, quasi=self.quasi, value=value
        )

    def shares_of(self, column: str) -> tuple[Sql, Sql]:
        """Return the shares of a sensitive column's values in the classes, and in the table."""
        value, values = self.names[column], {"class_value": self.values_of(column)}
        table = self.keep(f"share_of_{value}", "risks/value_share", values)
        relations = values | {"class": self.of(), "value_share": table}
        return self.keep(f"class_share_of_{value}", "risks/class_share", relations, quasi=self.quasi), table

    def distances_of(self, column: str) -> Sql:
        """Return every measure of the classes that takes values as equally distant."""
        shares, table = self.shares_of(column)
        relations = {"class_share": shares, "value_share": table}
        return self.keep(f"distance_of_{self.names[column]}", "risks/class_distance", relations)

    def ordered_distances_of(self, column: str) -> Sql:
        """Return the classes' earth mover's distances over the order of the values."""
        value = self.names[column]
        shares, table = self.shares_of(column)
        relations = {"value_share": table}
        steps = self.keep(f"step_of_{value}", "risks/class_step", relations | {"class_share": shares})
        crossings = self.keep(f"crossing_of_{value}", "risks/class_crossing", relations | {"class_step": steps})
        return self.keep(f"ordered_{value}", "risks/class_ordered_distance", relations | {"class_crossing": crossings})

    def recursions_of(self, column: str, l: int) -> Sql:
        """Return r_1 / (r_l + … + r_m) of the classes."""
        shares, _ = self.shares_of(column)
        return self.keep(f"recursion_of_{self.names[column]}", "risks/class_recursion", {"class_share": shares}, l=l)

    def row(self, template: str, given: Mapping[str, Sql], **values: object) -> dict[str, object]:
        """Return the one row of figures of a query."""
        (row,) = self.engine.rows(self.workspace.render(template, given, **values))
        return row
