"""Steps become statements: templates rendered with values, and with the relations of earlier steps."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlanon.errors import DataError, TemplateError, UsageError
from sqlanon.plans.chapters import Chapter, Repetition, Section, bind, read
from sqlanon.plans.plan import Check, Loop, Repeat, Report, Row, Step, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, first_sentence, is_chapter, remember, render, template_header


def render_query(chapter: str, values: Mapping[str, object], given: Mapping[str, Sql]) -> str:
    """Render a chapter of one query, which stands by itself; it takes `values` and the relations given."""
    if not is_chapter(chapter):
        (report,) = build((Step(chapter, "query"),), values, "", given)
        assert isinstance(report, Report)
        return report.statement.sql
    (sql,) = render_queries(Chapter(chapter, values), given).values()
    return sql


def render_queries(chapter: Chapter, given: Mapping[str, Sql], engine: str = "duckdb") -> dict[str, str]:
    """Render a chapter of queries; return their texts by name, in order.

    Each stands by itself: what another one reads of it is put in brackets there, unless `given` has its name.
    """
    relations, texts = dict(given), dict[str, str]()
    for section in read(chapter, given, engine):
        assert isinstance(section, Section), "a query is not repeated"
        texts[section.name] = bind(section.text, relations)
        remember(texts[section.name], chapter.name)
        relations.setdefault(section.name, Sql(f"(\n{texts[section.name]}\n)"))
    return texts


def build(
    steps: Sequence[Step | Repeat | Chapter],
    values: Mapping[str, object],
    prefix: str,
    given: Mapping[str, Sql],
    engine: str = "duckdb",
    made: Collection[str] = (),
) -> tuple[Statement | Report | Loop, ...]:
    """Render `steps`; each template takes what its header declares from `values` and from relations.

    `given` names relations that stand already (the key, the tables of a release). engine: whose macros chapters read.
    made: names that no relation is to get, for something else has them.
    A value that no step declares is an error, as a relation is that no step yields.
    """
    (built,) = build_phases((steps,), values, prefix, given, engine, made)
    return built


def build_phases(
    phases: Sequence[Sequence[Step | Repeat | Chapter]],
    values: Mapping[str, object],
    prefix: str,
    given: Mapping[str, Sql],
    engine: str = "duckdb",
    made: Collection[str] = (),
) -> list[tuple[Statement | Report | Loop, ...]]:
    """Render several sequences of steps, each of which reads what those before it made."""
    builder = _Builder(values, prefix, dict(given), engine)
    builder.made |= set(map(Sql, made))
    built = [tuple(statement for step in steps for statement in builder.any(step)) for steps in phases]
    builder.finish([step for steps in phases for step in steps if not isinstance(step, Chapter)])
    return built


def refuse_as_said(row: Row) -> None:
    """Raise DataError with the `refusal` that a check's row says, UsageError where it is right on no data (`is_usage`).

    `about`: the parameters that it is about, with commas between them. `possible`: the largest value that may work.
    """
    if row.get("refusal"):
        about = [name for name in (row.get("about") or "").split(",") if name]
        if row.get("is_usage"):
            raise UsageError(row["refusal"], about=about)
        raise DataError(row["refusal"], about=about, possible=int(row.get("possible") or 0))


def _note(row: Row) -> str:
    return row.get("note") or ""


class _Builder:
    """Render steps in order and remember which relations stand and which values were read."""

    def __init__(self, values: Mapping[str, object], prefix: str, relations: dict[str, Sql], engine: str) -> None:
        self.values, self.prefix, self.relations, self.engine = values, prefix, relations, engine
        self.read: set[tuple[int, str]] = set()
        self.made: set[Sql] = set(relations.values())

    def any(self, step: Step | Repeat | Chapter) -> Iterator[Statement | Report | Loop]:
        """Render whatever a method's steps are made of."""
        if isinstance(step, Chapter):
            yield from self.chapter(step)
        else:
            yield self.loop(step) if isinstance(step, Repeat) else self.step(step)

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
            self.made.add(relation)
            self.relations[step.stem] = self.relations[step.name] = relation
        sentence = first_sentence(step.template)
        statement = Statement(step.name, sql, step.kind, str(relation), step.template, step.once, sentence)
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
        *statements, last = (step for step in body if isinstance(step, Statement))
        assert isinstance(rest, Report), "what is left is a query"
        turned = replace(last, replaces=str(self.relations[repeat.state]))
        return Loop(repeat.name, (*statements, turned), rest, repeat.limit)

    def chapter(self, chapter: Chapter) -> Iterator[Statement | Report | Loop]:
        """Render a chapter; what its sections make stands from then on."""
        for part in read(chapter, self.relations, self.engine):
            if isinstance(part, Repetition):
                yield self.repetition(chapter, part)
                continue
            statement = self.section(chapter, part)
            if part.kind == "check":
                note = chapter.notes.get(part.name, _note)
                yield Check(statement, "dropped_rows", note, refuse=refuse_as_said, speaks=True)
            elif part.kind == "report":
                yield Report(statement, "dropped_rows", chapter.notes.get(part.name, _note))
            else:
                yield replace(statement, relation=str(self.make(part.name)))

    def make(self, name: str) -> Sql:
        """Return the relation of a section, which those below read under its name: not one that stands already."""
        number, relation = 1, relation_name(self.prefix, name)
        while relation in self.made:
            number += 1
            relation = relation_name(self.prefix, f"{name}_{number}")
        self.made.add(relation)
        self.relations[name] = relation
        return relation

    def section(self, chapter: Chapter, part: Section) -> Statement:
        """Return a section's statement, which has no relation yet."""
        sql = bind(part.text, self.relations)
        remember(sql, chapter.name)
        kind = part.kind if part.kind in ("table", "view") else "query"
        return Statement(part.name, sql, kind, template=chapter.name, once=True, sentence=part.sentence)

    def repetition(self, chapter: Chapter, part: Repetition) -> Loop:
        """Render one turn; after it what stood before stands, and what was made again is new."""
        left = f"select case when {bind(part.until, self.relations)} then 0 else 1 end as left_over"
        before, body = dict(self.relations), []
        for section in part.body:
            statement = self.section(chapter, section)
            if section.name in before:
                new = relation_name(self.prefix, f"{section.name}_next")
                statement = replace(statement, relation=str(new), replaces=str(before[section.name]))
            else:
                statement = replace(statement, relation=str(self.make(section.name)))
            body.append(statement)
        self.relations = before
        counted = Report(Statement(part.name, left, "query", template=chapter.name))
        return Loop(part.name, tuple(body), counted, part.limit)

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
