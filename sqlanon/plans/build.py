"""Chapters become statements: their sections rendered with values, and with the relations of earlier ones."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlanon.plans.chapters import Chapter, Repetition, Section, bind, read
from sqlanon.plans.plan import Loop, Report, Statement, relation_name
from sqlanon.plans.templates import Sql, remember


def render_query(chapter: str, values: Mapping[str, object], given: Mapping[str, Sql]) -> str:
    """Render a chapter of one query, which stands by itself; it takes `values` and the relations given."""
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
    chapters: Sequence[Chapter],
    prefix: str,
    given: Mapping[str, Sql],
    engine: str = "duckdb",
    made: Collection[str] = (),
) -> tuple[Statement | Report | Loop, ...]:
    """Render chapters, each of which reads what those before it made.

    `given` names relations that stand already (the key, the tables of a release). engine: whose macros chapters read.
    made: names that no relation is to get, for something else has them.
    """
    (built,) = build_phases((chapters,), prefix, given, engine, made)
    return built


def build_phases(
    phases: Sequence[Sequence[Chapter]],
    prefix: str,
    given: Mapping[str, Sql],
    engine: str = "duckdb",
    made: Collection[str] = (),
) -> list[tuple[Statement | Report | Loop, ...]]:
    """Render several sequences of chapters, each of which reads what those before it made."""
    builder = _Builder(prefix, dict(given), engine)
    builder.made |= set(map(Sql, made))
    return [tuple(step for chapter in phase for step in builder.chapter(chapter)) for phase in phases]


class _Builder:
    """Render chapters in order and remember which relations stand."""

    def __init__(self, prefix: str, relations: dict[str, Sql], engine: str) -> None:
        self.prefix, self.relations, self.engine = prefix, relations, engine
        self.made: set[Sql] = set(relations.values())

    def chapter(self, chapter: Chapter) -> Iterator[Statement | Report | Loop]:
        """Render a chapter; what its sections make stands from then on."""
        for part in read(chapter, self.relations, self.engine):
            if isinstance(part, Repetition):
                yield self.repetition(chapter, part)
                continue
            statement = self.section(chapter, part)
            if statement.kind == "query":
                yield Report(statement, chapter.notes.get(part.name), check=part.kind == "check")
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
        return Loop(part.name, tuple(body), Statement(part.name, left, "query", template=chapter.name), part.limit)
