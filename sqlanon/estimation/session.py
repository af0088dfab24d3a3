"""What answers queries about a release, whatever its form: loading this loads no numbers."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import QueryError
from sqlanon.estimators import choose_estimator
from sqlanon.plans.manifest import of_people, one_column
from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.query_run import Estimator, QueryRun
    from sqlanon.estimation.release_tables import ReleaseTables
    from sqlanon.sql.aggregate_query import Query

SEARCHED = (
    "{} is found by shares of rows below many values, so that there is no script of it; print the script of"
    " COUNT(*) FILTER (WHERE x <= value) / COUNT(*)"
)
TOGETHER = (
    "the query reads {} together, and the release does not say which values of them belong to one person: inside"
    " a group, or a box, they are published apart; ask of one of them at a time"
)
# of groups, measured on census data with occupation and industry: see the guide of anatomy
GO_TOGETHER = (
    "groups differ in {} at once: where these depend strongly on each other, intervals of {} are somewhat"
    " too narrow, and hold less often than in 95 of 100 releases"
)


class Session:
    """Answer queries about one release; what depends on the release only is made once.

    Where each sensitive column has a table of its own, a query is answered by the one column that it reads.
    """

    def __init__(
        self,
        open_tables: "Callable[[Engine, Mapping[str, Sql], dict[str, Any]], ReleaseTables]",
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str],
        *,
        apart: bool = False,
        caveat: str = "",
    ) -> None:
        """Take the published tables and the manifest; nothing runs before the first query.

        open_tables: the form's. estimators: the form's, the default one first. apart: whether each sensitive column
        has a table of its own. caveat: what is then said of every answer, if anything.
        """
        from sqlanon.sql.query_reader import parse_query  # sqlglot is slow to load

        self._estimators, self._method = estimators, manifest.get("method", "anatomy")
        self._quasi: tuple[str, ...] = tuple(manifest["columns"]["quasi"])
        self._columns: tuple[str, ...] = tuple(manifest["columns"]["sensitive"])
        self._apart, self._caveat = apart, caveat
        # of people's values errors go together in ways that a weight for each value does not follow
        self._products = not of_people(manifest)
        self._read = lru_cache(maxsize=512)(parse_query)
        self._opened: dict[str, ReleaseTables] = {}

        def open_column(column: str) -> "ReleaseTables":
            one = one_column(tables, manifest, column) if apart else (tables, dict(manifest))
            return open_tables(engine, *one)

        self._open = open_column
        if not apart:
            self.tables_of("")  # what is none of the form is refused before the first query

    def tables_of(self, column: str) -> "ReleaseTables":
        """Return the tables of one sensitive column, or of all where they are not apart."""
        if column not in self._opened:
            self._opened[column] = self._open(column)
        return self._opened[column]

    def _find_column(self, sql: str) -> str:
        """Return the sensitive column that a query reads, the first where it reads none; '' where none is apart.

        Raises QueryError where it reads two.
        """
        if not self._apart:
            return ""
        touched = self._read(sql, self._quasi, self._columns).touched
        if len(touched) > 1:
            raise QueryError(TOGETHER.format(" and ".join(repr(self._columns[place]) for place in touched)))
        return self._columns[touched[0] if touched else 0]

    def _parse(self, loaded: "ReleaseTables", sql: str) -> "Query":
        sensitive = loaded.sensitive if isinstance(loaded.sensitive, str) else tuple(loaded.sensitive)
        return self._read(sql, tuple(loaded.quasi), sensitive, self._products)

    def _find(self, sql: str, estimator: str | None) -> "tuple[str, Estimator, str, ReleaseTables, Query | None]":
        """Return estimator, column and tables of a query, and it in pieces; None outside of the grammar of estimates,
        where it may be exact.
        """
        name, estimate = choose_estimator(self._estimators, self._method, estimator)
        column = self._find_column(sql)
        loaded = self.tables_of(column)
        try:
            return name, estimate, column, loaded, self._parse(loaded, sql)
        except QueryError:
            return name, estimate, column, loaded, None

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
        name, estimate, column, loaded, query = self._find(sql, estimator)
        answer = loaded.ask_exactly(sql, query)
        if answer is None:
            answer = self._estimate(loaded, query or self._parse(loaded, sql), name, estimate)
        return self._add_caveat(column, answer)

    def _estimate(self, loaded: "ReleaseTables", query: "Query", name: str, estimate: "Estimator") -> "Answered":
        """Answer a query; quantiles are shares of rows below fixed values, inverted."""
        from sqlanon.estimation.quantiles import count_rows_of_quantiles, find_quantiles

        messages = list[str]()

        def start(query: "Query") -> "QueryRun":
            run = loaded.start(query, name)
            run.load()
            return run

        def start_share(query: "Query") -> "QueryRun":
            run = start(query)
            run.messages = messages  # what is said of shares is said of the quantile
            return run

        if not any(aggregate.function.inverts for aggregate in query.aggregates):
            answer = start(query).answer(estimate)
        else:
            if not loaded.has_errors:
                loaded.start(query, name)  # what has bounds alone counts rows: it says what it does not answer
            run = start(count_rows_of_quantiles(query))
            answer = run.answer(estimate, lambda: find_quantiles(query, start_share, estimate))
            more = [text for text in dict.fromkeys(messages) if text not in answer.warnings]
            answer.messages, answer.warnings = [*answer.messages, *more], [*answer.warnings, *more]
        if loaded.has_errors:
            answer.tell_blank_cells(name)
        return answer

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> "dict[int, Answered]":
        """Answer those of many queries that can be answered together, by their places; the others are asked alone."""
        from sqlanon.estimation.plain_counts import FEW, read_plain_counts

        chosen = choose_estimator(self._estimators, self._method, estimator)
        places: dict[str, list[int]] = {}
        for place, sql in enumerate(queries):
            try:
                places.setdefault(self._find_column(sql), []).append(place)
            except QueryError:
                continue  # asked alone, it says why
        found: dict[int, Answered] = {}
        for column, own in places.items():
            loaded = self.tables_of(column)
            if len(own) < FEW or not loaded.engine.in_process:
                continue
            plain = read_plain_counts([queries[place] for place in own], partial(self._parse, loaded))
            answers = loaded.answer_together(plain, *chosen)
            found |= {own[number]: self._add_caveat(column, answer) for number, answer in answers.items()}
        return found

    def _add_caveat(self, column: str, answer: "Answered") -> "Answered":
        """Add to an answer what its intervals do not know."""
        if self._caveat:
            message = self._caveat.format(" and ".join(map(repr, self._columns)), repr(column))
            answer.messages = [*answer.messages, message]
        return answer

    # -- scripts -------------------------------------------------------------------------------

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements whose rows an estimate is made of, in order; run nothing."""
        name, _, _, loaded, query = self._find(sql, estimator)
        query = query or self._parse(loaded, sql)
        for aggregate in query.aggregates:
            if aggregate.function.inverts:
                raise QueryError(SEARCHED.format(aggregate.function.name))
        return loaded.loading_statements(query) + loaded.start(query, name).statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        from sqlanon.estimation.exact import read_exactly
        from sqlanon.estimation.printed_script import write_exact_script, write_script

        name, _, _, loaded, query = self._find(sql, estimator)
        exact = read_exactly(loaded, sql, query)
        if exact is not None:
            return write_exact_script(loaded, exact.sql)
        return write_script(loaded, self.statements(sql, name), name)

    def close(self) -> None:
        """Drop the temporary tables of this release; they are made again where they are needed again."""
        for loaded in self._opened.values():
            loaded.close()
