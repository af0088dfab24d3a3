"""A plan: what a method does, as named SELECTs and checks. Pure data; nothing here meets a database."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sqlanon.errors import TemplateError
from sqlanon.plans.roles import Roles
from sqlanon.plans.statement import Kind, Statement
from sqlanon.plans.templates import Sql, ident, render, template_header

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
    without a database. `lists` names columns that hold lists of single values, with the type of these values.
    """

    relation: Sql
    casts: Mapping[str, str] = field(default_factory=dict)
    numbering: Sql = field(default_factory=Sql)
    texts: frozenset[str] = frozenset()
    lists: Mapping[str, str] = field(default_factory=dict)

    def expression(self, column: str) -> Sql:
        """Return the SQL that reads one column."""
        read = f"cast({ident(column)} as {self.casts[column]})" if column in self.casts else ident(column)
        return Sql(f'{read} collate "C"' if column in self.texts else read)


@dataclass(frozen=True)
class Request:
    """What every method is asked: a source, roles, and how to treat NULLs, draws and identities.

    types: the source's columns with their types, empty without a database. probed: what the method's own
    `probe` found in the source.
    """

    source: Source
    roles: Roles
    nulls: Nulls = "refuse"
    draws: Draws = "keyed"
    identity: Identity = "number"
    many_rows_per_person: bool = False
    show_values: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    probed: Row = field(default_factory=dict)


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
class Repeat:
    """Steps that are taken again until none is left over, at most `limit` turns.

    body: one turn; its last step is a table that takes the place of the relation `state`, which it reads.
    left: a query of one row with the column `left_over`; 0 ends the loop. left.refuse: raises where the limit
    is reached and some are left over, None where that does not matter; left.guards say it for scripts.
    """

    name: str
    state: str
    body: tuple[Step, ...]
    left: Step
    limit: int


@dataclass(frozen=True)
class Beside:
    """A second table that a method is given beside its source: a background, a hierarchy.

    named: how it was named, as SOURCE is. source, types: what the engine found there. rows: all of its
    rows, where `fetched` asks for them: what is a parameter rather than data; `as_text`: as they are written.
    """

    named: object
    fetched: bool = False
    as_text: bool = False
    source: Source | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Check:
    """A query of one row that decides whether the plan may go on."""

    statement: Statement
    refuse: Callable[[Row], None]
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True)
class Loop:
    """A turn's statements (all tables), run until the query `left` counts none or the limit is reached.

    After each turn the last statement's rows take the place of the relation `state`.
    """

    name: str
    state: str
    body: tuple[Statement, ...]
    left: Check
    limit: int


@dataclass(frozen=True)
class Plan:
    """Statements, checks and loops in order, then the published tables.

    asides: what the publisher may keep beside the release, and what never becomes part of it. known: distributions,
    as tables that were given or as queries, whose posteriors the finished release is looked at for. read: what
    the plan reads beside the source, as it was named. saves: files that the plan itself writes for the publisher.
    fitted: takes the rows of the checks by name and returns this plan as they make it, where a published table has
    as many columns as the data asks for, or the manifest says what was learned. notes: what to tell the publisher;
    learned: what the publisher may see and the manifest does not say.
    """

    method: str
    steps: tuple[Statement | Check | Loop, ...]
    outputs: tuple[Statement, ...]
    parameters: Mapping[str, object] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Mapping[str, object] = field(default_factory=dict)
    key: Sql = field(default_factory=Sql)
    asides: tuple[Statement, ...] = ()
    known: tuple[Beside | Statement, ...] = ()
    read: tuple[object, ...] = ()
    saves: tuple[Path, ...] = ()
    fitted: "Callable[[Mapping[str, Row]], Plan] | None" = None
    notes: tuple[str, ...] = ()
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return every statement in the order in which it runs, checks included, a loop's once."""
        return tuple(statement for step in self.steps for statement in statements_of(step)) + self.outputs


def statements_of(step: Statement | Check | Loop) -> tuple[Statement, ...]:
    """Return the statements of one step: a loop's query and one turn of it."""
    if isinstance(step, Loop):
        return (step.left.statement, *step.body)
    return (step.statement,) if isinstance(step, Check) else (step,)


def relation_name(prefix: str, name: str) -> Sql:
    """Return the name under which a step's relation stands in the database."""
    return ident(f"{prefix}{name}")


def build(
    steps: Sequence[Step | Repeat],
    values: Mapping[str, object],
    prefix: str,
    given: Mapping[str, Sql],
) -> tuple[Statement | Check | Loop, ...]:
    """Render `steps`; each template takes what its header declares from `values` and from relations.

    `given` names relations that stand already (the key, the tables of a release).
    A value that no step declares is an error, as a relation is that no step yields.
    """
    builder = _Builder(values, prefix, dict(given))
    built = tuple(builder.loop(step) if isinstance(step, Repeat) else builder.step(step) for step in steps)
    builder.finish(steps)
    return built


class _Builder:
    """Render steps in order and remember which relations stand and which values were read."""

    def __init__(self, values: Mapping[str, object], prefix: str, relations: dict[str, Sql]) -> None:
        self.values, self.prefix, self.relations = values, prefix, relations
        self.read: set[tuple[int, str]] = set()

    def step(self, step: Step) -> Statement | Check:
        """Render one step; what it yields stands from now on."""
        head = template_header(step.template)
        inputs = {name: step.reads.get(name, name) for name in head.inputs}
        known = {**self.values, **step.values}
        missing = [name for name in inputs.values() if name not in self.relations]
        missing += [name for name in head.parameters if name not in known]
        if missing:
            raise TemplateError(f"step {step.name}: nothing yields {missing}")
        self.read |= {(id(step.values if name in step.values else self.values), name) for name in head.parameters}
        sql = render(
            step.template,
            **{name: self.relations[source] for name, source in inputs.items()},
            **{name: known[name] for name in head.parameters},
        )
        relation = Sql("") if step.kind == "query" else relation_name(self.prefix, step.name)
        if relation:
            self.relations[step.stem] = self.relations[step.name] = relation
        statement = Statement(step.name, sql, step.kind, str(relation), step.template)
        return Check(statement, step.refuse, step.guards) if step.refuse else statement

    def loop(self, repeat: Repeat) -> Loop:
        """Render one turn; after it only the state stands, under its own name."""
        if repeat.state not in self.relations or any(step.kind != "table" for step in repeat.body):
            raise TemplateError(f"loop {repeat.name}: its state stands before it, and its body makes tables")
        left, before = self.step(repeat.left), dict(self.relations)
        body = tuple(self.step(step) for step in repeat.body)
        self.relations = before
        statements = tuple(step for step in body if isinstance(step, Statement))
        asked = left if isinstance(left, Check) else Check(left, lambda row: None)
        return Loop(repeat.name, str(self.relations[repeat.state]), statements, asked, repeat.limit)

    def finish(self, steps: Sequence[Step | Repeat]) -> None:
        """Refuse values that no step has read."""
        singles = [
            single for step in steps for single in ((*step.body, step.left) if isinstance(step, Repeat) else (step,))
        ]
        given = {(id(known), name) for known in (self.values, *(step.values for step in singles)) for name in known}
        if given - self.read:
            raise TemplateError(f"no step reads {sorted(name for _, name in given - self.read)}")
