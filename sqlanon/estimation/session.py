"""What answers queries about a release, whatever its form: loading this loads no numbers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlanon.errors import QueryError
from sqlanon.estimators import choose_estimator

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.query_run import Estimator, QueryRun
    from sqlanon.estimation.temporary_tables import Workspace
    from sqlanon.plans.templates import Sql
    from sqlanon.sql.aggregate_query import Query
    from sqlanon.sql.exact_query import ExactQuery

SEARCHED = (
    "{} is found by shares of rows below many values, so that there is no script of it; print the script of"
    " COUNT(*) FILTER (WHERE x <= value) / COUNT(*)"
)


class Session:
    """Answer queries about one release; what depends on the release only is made once.

    A form says how its tables are loaded and how the run of a query starts. loaded: its tables in the engine;
    `sensitive` names its one sensitive column, or several. estimators: those of the form, the default one first.
    method: what made the release, as refusals call it. has_errors: whether answers have error bars, of which empty ones
    are explained.
    """

    has_errors = True
    loaded: "Workspace"

    def __init__(
        self, quasi: Sequence[str], sensitive: str | Sequence[str], estimators: Sequence[str], method: str
    ) -> None:
        """Take the published names; nothing runs before the first query."""
        from sqlanon.sql.query_reader import parse_query  # sqlglot is slow to load

        self.estimators, self.method = estimators, method
        self.quasi, self.sensitive = list(quasi), [sensitive] if isinstance(sensitive, str) else list(sensitive)
        self._parse = lru_cache(maxsize=256)(lambda sql: parse_query(sql, quasi, sensitive))

    # -- what a form says ----------------------------------------------------------------------

    def start(self, query: "Query", name: str) -> "QueryRun":
        """Return the run of a query by an estimator; nothing runs yet."""
        raise NotImplementedError

    def load(self, run: "QueryRun") -> None:
        """Make the tables that a run reads, where they are not yet made."""
        raise NotImplementedError

    def loading_statements(self, query: "Query") -> list[tuple[str, str]]:
        """Return the names and texts of what `load` runs."""
        from sqlanon.estimation.temporary_tables import listed

        return listed(self.loaded.loading_steps())

    def answer_together(self, queries: Sequence[str], name: str, estimate: "Estimator") -> "dict[int, Answered]":
        """Answer those of many queries that can be answered together, by their places: none, but for some forms."""
        return {}

    # -- answers -------------------------------------------------------------------------------

    def answer(self, sql: str, estimator: str | None = None) -> "pd.DataFrame":
        """Answer one query as `ask` does, in a frame."""
        return self.ask(sql, estimator).df()

    def ask(self, sql: str, estimator: str | None = None) -> "Answered":
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `parse_query` reads it. estimator: one of the form's own, the first if None. Boxes are certain to hold
        what lies between low and high, without an error; of uncertain rows the columns are certain, possible and
        expected.
        Messages tell where an estimator had to give way, and what is special about an answer.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        name, estimate = choose_estimator(self.estimators, self.method, estimator)
        if (exact := self._ask_exactly(sql)) is not None:
            return exact
        query = self._parse(sql)
        if any(aggregate.function.inverts for aggregate in query.aggregates):
            answer = self._ask_quantiles(query, name, estimate)
        else:
            answer = self._start_loaded(query, name).answer(estimate)
        if self.has_errors:
            from sqlanon.estimation.blank_cells import tell_blank_cells

            tell_blank_cells(answer, name)
        return answer

    def _ask_exactly(self, sql: str) -> "Answered | None":
        """Answer a query that reads exact columns alone; None for any other."""
        from sqlanon.estimation.exact import answer_exactly

        exact, query = self._read_exact(sql)
        return None if exact is None else answer_exactly(self, exact, query)

    def _read_exact(self, sql: str) -> "tuple[ExactQuery | None, Query | None]":
        """Return a query as one that the database runs as it is, and in pieces; None where it is not such."""
        from sqlanon.sql.exact_query import read_exact

        try:
            query: Query | None = self._parse(sql)
        except QueryError:
            query = None  # what is outside of the grammar of estimates may be exact
        names = None if query is None else [item.name for item in query.items]
        exact = read_exact(sql, self.exact_rows, [*self.quasi, *self.sensitive], names)
        return exact if query is None or self.loaded.engine.in_process else None, query

    def exact_rows(self, columns: frozenset[str]) -> "Sql | None":
        """Return the relation that holds these published columns as they are in the source; None where none does."""
        return None

    def published_domain(self, column: str) -> "Sql":
        """Return the published rows of an exact column, by our name of it: nothing is loaded."""
        from sqlanon.plans.templates import Sql, ident

        name = self.loaded.names[column]
        return Sql(f"(select {ident(name)} as {column} from {self.exact_rows(frozenset([name]))})")

    def _start_loaded(self, query: "Query", name: str) -> "QueryRun":
        run = self.start(query, name)
        self.load(run)
        return run

    def _ask_quantiles(self, query: "Query", name: str, estimate: "Estimator") -> "Answered":
        """Answer a query whose quantiles are shares of rows below fixed values, inverted."""
        from sqlanon.estimation.quantiles import count_rows_of_quantiles, find_quantiles

        if not self.has_errors:
            self.start(query, name)  # what has bounds alone counts rows: it says what it does not answer
        messages = list[str]()

        def start(other: "Query") -> "QueryRun":
            started = self._start_loaded(other, name)
            started.messages = messages  # what is said of shares is said of the quantile
            return started

        run = self._start_loaded(count_rows_of_quantiles(query), name)
        answer = run.answer(estimate, lambda: find_quantiles(query, start, estimate))
        more = [text for text in dict.fromkeys(messages) if text not in answer.warnings]
        answer.messages, answer.warnings = [*answer.messages, *more], [*answer.warnings, *more]
        return answer

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> "dict[int, Answered]":
        """Answer those of many queries that can be answered together, by their places; the others are asked alone."""
        return self.answer_together(queries, *choose_estimator(self.estimators, self.method, estimator))

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements whose rows an estimate is made of, in order; run nothing."""
        name, _ = choose_estimator(self.estimators, self.method, estimator)
        query = self._parse(sql)
        for aggregate in query.aggregates:
            if aggregate.function.inverts:
                raise QueryError(SEARCHED.format(aggregate.function.name))
        return self.loading_statements(query) + self.start(query, name).statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        from sqlanon.estimation.printed_script import write_exact_script, write_script

        name, _ = choose_estimator(self.estimators, self.method, estimator)
        exact, _ = self._read_exact(sql)
        if exact is not None:
            return write_exact_script(self.loaded, exact.sql)
        return write_script(self.loaded, self.statements(sql, name), name)

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        self.loaded.close()
