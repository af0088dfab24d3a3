"""What a form of release says to whoever answers queries about it: its tables in the engine, and the run of a query."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlanon.estimation.temporary_tables import Workspace, listed
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Query

if TYPE_CHECKING:
    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.plain_counts import PlainCount
    from sqlanon.estimation.query_run import Estimator, QueryRun


class ReleaseTables(Workspace):
    """Hold a release's tables, and what depends on them only; each is made when it is first needed.

    quasi, sensitive: the published names; several sensitive columns in one table are a list. has_errors: whether
    answers have error bars, of which empty ones are explained.
    """

    quasi: list[str]
    sensitive: str | list[str]
    has_errors = True

    @property
    def sensitive_columns(self) -> list[str]:
        """Return the published names of the sensitive columns."""
        return [self.sensitive] if isinstance(self.sensitive, str) else self.sensitive

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
        from sqlanon.estimation.exact import answer_exactly, read_exactly

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
