"""Steps become statements: templates rendered with values, and with the relations of earlier steps."""

from collections.abc import Mapping, Sequence

from sqlanon.errors import TemplateError
from sqlanon.plans.plan import Check, Loop, Repeat, Report, Step, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, render, template_header


def render_query(template: str, values: Mapping[str, object], given: Mapping[str, Sql]) -> str:
    """Render one template as a query; it takes what its header declares from `values` and from the relations given."""
    (report,) = build((Step(template, "query"),), values, "", given)
    assert isinstance(report, Report)
    return report.statement.sql


def build(
    steps: Sequence[Step | Repeat],
    values: Mapping[str, object],
    prefix: str,
    given: Mapping[str, Sql],
) -> tuple[Statement | Report | Loop, ...]:
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

    def step(self, step: Step) -> Statement | Report:
        """Render one step; what it yields stands from now on."""
        head = template_header(step.template)
        inputs = {name: step.reads.get(name, name) for name in head.inputs}
        values = {**self.values, **step.values}
        missing = [name for name in inputs.values() if name not in self.relations]
        missing += [name for name in head.parameters if name not in values]
        if missing:
            raise TemplateError(f"step {step.name}: nothing yields {missing}")
        # by identity: two steps may take equal values, and each has to be read
        self.read |= {(id(step.values if name in step.values else self.values), name) for name in head.parameters}
        sql = render(
            step.template,
            **{name: self.relations[source] for name, source in inputs.items()},
            **{name: values[name] for name in head.parameters},
        )
        relation = Sql("") if step.kind == "query" else relation_name(self.prefix, step.name)
        if relation:
            self.relations[step.stem] = self.relations[step.name] = relation
        statement = Statement(step.name, sql, step.kind, str(relation), step.template, step.once)
        if step.refuse is not None:
            return Check(statement, step.dropped, step.note, step.guards, refuse=step.refuse)
        return Report(statement, step.dropped, step.note) if step.kind == "query" else statement

    def loop(self, repeat: Repeat) -> Loop:
        """Render one turn; after it only the state stands, under its own name."""
        kinds = [step.kind for step in repeat.body]
        if repeat.state not in self.relations or "query" in kinds or kinds[-1] != "table":
            raise TemplateError(f"loop {repeat.name}: its state stands before it, and its body ends in a table")
        rest, before = self.step(repeat.left), dict(self.relations)
        body = tuple(self.step(step) for step in repeat.body)
        # what a turn made is forgotten, as the runner drops it
        self.relations = before
        statements = tuple(step for step in body if isinstance(step, Statement))
        assert isinstance(rest, Report), "what is left is a query"
        return Loop(repeat.name, str(self.relations[repeat.state]), statements, rest, repeat.limit)

    def finish(self, steps: Sequence[Step | Repeat]) -> None:
        """Refuse values that no step has read."""
        singles = [
            single for step in steps for single in ((*step.body, step.left) if isinstance(step, Repeat) else (step,))
        ]
        entries = {
            (id(values), name) for values in (self.values, *(step.values for step in singles)) for name in values
        }
        if entries - self.read:
            raise TemplateError(f"no step reads {sorted(name for _, name in entries - self.read)}")
