"""A plan: what a method does, as named SELECTs and checks. Pure data; nothing here meets a database."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlanon.errors import TemplateError
from sqlanon.roles import Roles
from sqlanon.statement import Kind, Statement
from sqlanon.templates import Sql, header, ident, render

Row = Mapping[str, Any]
Nulls = Literal["refuse", "value", "drop"]
Draws = Literal["keyed", "random"]
Identity = Literal["number", "identifier", "row"]


@dataclass(frozen=True)
class Source:
    """What is published from: SQL that stands behind `from`, and how its rows can be numbered.

    `casts` names columns that are published as another type: enumerations as text (their type lists every
    value there could be), and what Parquet would round. `texts` names columns whose order is to be binary where
    the database sorts as a language does. `numbering` is any expression that is unique for a row, empty
    without a database.
    """

    relation: Sql
    casts: Mapping[str, str] = field(default_factory=dict)
    numbering: Sql = field(default_factory=Sql)
    texts: frozenset[str] = frozenset()

    def expression(self, column: str) -> Sql:
        """Return the SQL that reads one column."""
        read = f"cast({ident(column)} as {self.casts[column]})" if column in self.casts else ident(column)
        return Sql(f'{read} collate "C"' if column in self.texts else read)


@dataclass(frozen=True)
class Request:
    """What every method is asked: a source, roles, and how to treat NULLs, draws and identities."""

    source: Source
    roles: Roles
    nulls: Nulls = "refuse"
    draws: Draws = "keyed"
    identity: Identity = "number"
    many_rows_per_person: bool = False
    show_values: bool = False


@dataclass(frozen=True)
class Guard:
    """What a script refuses without a driver: a portable SQL condition on a query's one row, and why."""

    condition: str
    message: str


@dataclass(frozen=True)
class Step:
    """One template and the relation it yields; `refuse` reads the one row of a query and may raise.

    `guards` say the same as `refuse`, in order, for scripts that run without Python.
    `values` are parameters of this step (and its like) alone. Where a method takes the same steps for several
    attributes, `suffix` tells their relations apart, and `reads` names the relation behind an input where it
    is not the latest of the input's own name.
    """

    template: str
    kind: Kind = "table"
    yields: str = ""
    refuse: Callable[[Row], None] | None = None
    guards: tuple[Guard, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    suffix: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """Return the name under which later steps read the relation: the template's own unless another was given."""
        return self.yields or self.template.rpartition("/")[2]

    @property
    def name(self) -> str:
        """Return the name of the relation."""
        return f"{self.stem}{self.suffix}"


@dataclass(frozen=True)
class Check:
    """A query of one row that decides whether the plan may go on."""

    statement: Statement
    refuse: Callable[[Row], None]
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Statements and checks in order, then the published tables."""

    method: str
    steps: tuple[Statement | Check, ...]
    outputs: tuple[Statement, ...]
    parameters: Mapping[str, object] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Mapping[str, object] = field(default_factory=dict)
    key: Sql = field(default_factory=Sql)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return every statement in the order in which it runs, checks included."""
        steps = tuple(step.statement if isinstance(step, Check) else step for step in self.steps)
        return steps + self.outputs


def relation_name(prefix: str, name: str) -> Sql:
    """Return the name under which a step's relation stands in the database."""
    return ident(f"{prefix}{name}")


def build(
    steps: Sequence[Step],
    values: Mapping[str, object],
    prefix: str,
    given: Mapping[str, Sql],
) -> tuple[Statement | Check, ...]:
    """Render `steps`; each template takes what its header declares from `values` and from relations.

    `given` names relations that stand already (the key, the tables of a release).
    A value that no step declares is an error, as a relation is that no step yields.
    """
    relations: dict[str, Sql] = dict(given)
    unused = {(id(known), name) for known in (values, *(step.values for step in steps)) for name in known}
    built: list[Statement | Check] = []
    for step in steps:
        head = header(step.template)
        inputs = {name: step.reads.get(name, name) for name in head.inputs}
        known = {**values, **step.values}
        missing = [name for name in inputs.values() if name not in relations]
        missing += [name for name in head.parameters if name not in known]
        if missing:
            raise TemplateError(f"step {step.name}: nothing yields {missing}")
        for name in head.parameters:
            unused.discard((id(step.values if name in step.values else values), name))
        sql = render(
            step.template,
            **{name: relations[source] for name, source in inputs.items()},
            **{name: known[name] for name in head.parameters},
        )
        relation = Sql("") if step.kind == "query" else relation_name(prefix, step.name)
        if relation:
            relations[step.stem] = relations[step.name] = relation
        statement = Statement(step.name, sql, step.kind, str(relation), step.template)
        built.append(Check(statement, step.refuse, step.guards) if step.refuse else statement)
    if unused:
        raise TemplateError(f"no step reads {sorted(name for _, name in unused)}")
    return tuple(built)
