"""The working space of a release in its database, and what its form says to whoever answers queries about it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.plans.build import build, render_queries
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Loop, Report, Statement, relation_name, statements_of
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Comparison, Query

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.engines.base import Numbers
    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.plain_counts import PlainCount
    from sqlanon.estimation.query_run import Estimator, QueryRun

MOST_REMEMBERED_QUERIES = 256  # over the sensitive values
MOST_REMEMBERED_CONSTANTS = 20_000
T = TypeVar("T")
Steps = list[Statement | Report | Loop]


class Workspace:
    """Hold the relations of one release and the temporary tables that its queries make."""

    def __init__(
        self, engine: Engine, tables: Mapping[str, Sql] | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        """Take the published tables, and internal name → published name."""
        self.engine, self.tables, self.names = engine, dict(tables or {}), dict(names or {})
        self.prefix = fresh_prefix()
        self.relations: dict[str, Sql] = dict(self.tables)
        self._made: list[str] = []
        self._remembered: dict[str, dict[str, Numbers]] = {}
        self._types: dict[str, str] = {}
        # of constants in queries that no row equals; "" where one does
        self.missing_constants: dict[Comparison, str] = {}

    def loading_steps(self) -> Steps:
        """Render what every query reads; a form's own."""
        raise NotImplementedError

    def render(self, chapter: str, given: Mapping[str, Sql], **values: object) -> str:
        """Render a chapter of one query."""
        (sql,) = render_queries(Chapter(chapter, values), given, self.engine.dialect).values()
        return sql

    def write(self, chapter: str, given: Mapping[str, Sql], **values: object) -> Steps:
        """Render a chapter over the relations given; nothing runs. What it makes is named by the workspace's prefix."""
        return [*build((Chapter(chapter, values),), self.prefix, given, self.engine.dialect)]

    def keep(self, name: str, sql: str) -> Sql:
        """Keep a query's rows in a temporary table; return its relation."""
        relation = relation_name(self.prefix, name)
        self.engine.create(Statement(name, sql, "table", str(relation)))
        self._made.append(str(relation))
        return relation

    def keep_columns(self, name: str, columns: "Mapping[str, Numbers]") -> Sql:
        """Put a small table of Python's, given as arrays, into a temporary table, over an older one of this name."""
        import pandas as pd  # slow to load

        return self.keep_frame(name, pd.DataFrame(dict(columns)))

    def keep_frame(self, name: str, frame: "pd.DataFrame") -> Sql:
        """Put a small table of Python's into a temporary table, over an older one of this name."""
        relation = relation_name(self.prefix, name)
        self.engine.keep_frame(relation, frame)
        if str(relation) not in self._made:
            self._made.append(str(relation))
        return relation

    def forget(self, relations: Sequence[str]) -> None:
        """Drop the temporary tables of one query."""
        if not relations:
            return
        self.engine.drop(list(relations))
        self._made = [name for name in self._made if name not in relations]

    def close(self) -> None:
        """Drop every temporary table; they are made again where they are needed again."""
        self.forget(self._made)

    def read_once(self, sql: str) -> "dict[str, Numbers]":
        """Run a query over the sensitive values, or remember its rows: they depend on the release only."""
        if sql not in self._remembered:
            # Queries over the values are many only where somebody enumerates them: no order of forgetting pays.
            if len(self._remembered) >= MOST_REMEMBERED_QUERIES:
                self._remembered.clear()
            self._remembered[sql] = self.engine.arrays(sql)
        return self._remembered[sql]

    def read_type(self, expression: Sql, relation: Sql) -> str:
        """Return the type of an expression over one of the loaded relations."""
        key = f"{expression} from {relation}"
        if key not in self._types:
            (sql_type,) = self.engine.columns(f"select {expression} as argument from {relation}").values()
            self._types[key] = sql_type
        return self._types[key]


def inline(sql: str) -> Sql:
    """Put a query in brackets, to stand where a relation does."""
    return Sql(f"(\n{sql}\n)")


def relations_of(steps: Iterable[Statement | Report | Loop]) -> dict[str, Sql]:
    """Return the relations that steps make, by their names."""
    return {step.name: Sql(step.relation) for step in steps if isinstance(step, Statement)}


def listed(steps: Iterable[Statement | Report | Loop]) -> list[tuple[str, str]]:
    """Return the names and texts of steps, in order."""
    return [(made.name, made.sql) for step in steps for made in statements_of(step)]


def text_of(step: Statement | Report | Loop) -> str:
    """Return the SQL of a section that is read and not made."""
    assert isinstance(step, Statement)
    return step.sql


def cut(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield so many at a time, fewer at the end."""
    waiting = iter(things)
    while some := list(islice(waiting, size)):
        yield some


class ReleaseTables(Workspace):
    """Hold a release's tables, and what depends on them only; each is made when it is first needed.

    quasi, sensitive: the published names; several sensitive columns in one table are a list. has_errors: whether
    answers have error bars, of which empty ones are explained.
    """

    quasi: list[str]
    sensitive: str | list[str]
    has_errors = True

    def start(self, query: Query, name: str) -> "QueryRun":
        """Return the run of a query by an estimator; nothing runs yet."""
        raise NotImplementedError

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return the names and texts of what a run of the query loads."""
        return listed(self.loading_steps())

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the relation that holds these published columns as they are in the source; None where none does."""
        return None

    def published_domain(self, column: str) -> Sql:
        """Return the published rows of an exact column, by our name of it: nothing is loaded."""
        name = self.names[column]
        return Sql(f"(select {ident(name)} as {column} from {self.exact_rows(frozenset([name]))})")

    def ask_exactly(self, sql: str, query: Query | None) -> "Answered | None":
        """Answer a query that reads exact columns alone; None for any other.

        query: the same in pieces, where it is in the grammar of estimates.
        """
        from sqlanon.estimation.answered import answer_exactly, read_exactly

        exact = read_exactly(self, sql, query)
        return None if exact is None else answer_exactly(self, exact, query)

    def answer_together(
        self, plain: "Iterator[tuple[int, PlainCount]]", name: str, estimate: "Estimator"
    ) -> "dict[int, Answered]":
        """Answer those of many plain counts that can be answered together, by their places: none, but for some forms.

        What is not read of `plain` is not parsed.
        """
        return {}


def select_columns(columns: frozenset[str], relation: Sql) -> Sql:
    """Write a relation of some columns of another; of none, of its rows."""
    shown = ", ".join(map(ident, sorted(columns))) or "1 as nothing"
    return Sql(f"(select {shown} from {relation})")
