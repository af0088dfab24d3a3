"""What answers queries about a release, whatever its form: loading this loads no numbers.

The statements behind an answer are printed as a script that an engine's own shell runs as it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import QueryError
from sqlanon.estimation.release_tables import Workspace
from sqlanon.estimators import choose_estimator
from sqlanon.plans.manifest import of_people, one_column
from sqlanon.plans.plan import Statement, relation_name
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
HEAD = "-- as it is, for the shell of {}:"
SOUNDNESS = "soundness"
FILLED = "-- (not for the shell: it reads what Python fills)"
ANSWER = "the script ends in the answer"
MOMENTS = "the script ends in what {estimator} is computed from: its arithmetic is no SQL, and sqlanon estimate does it"
# a cast of words to a number fails, and the engine's message quotes them
_SOUND = """\
select case
    when line_count > 0 and unequal_groups = 0 and faulty_lines = 0 then 0
    else cast('the release is damaged: groups that differ: ' || cast(unequal_groups as varchar) as integer)
end as damaged_groups
from (
{query}
) as soundness"""


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
        from sqlanon.estimation.answered import read_exactly

        name, _, _, loaded, query = self._find(sql, estimator)
        exact = read_exactly(loaded, sql, query)
        if exact is not None:
            answer = loaded.engine.text(Statement("answer", exact.sql, "query"))
            return f"{HEAD.format(loaded.engine.dialect)} {ANSWER}\n\n{answer};\n"
        return write_script(loaded, self.statements(sql, name), name)

    def close(self) -> None:
        """Drop the temporary tables of this release; they are made again where they are needed again."""
        for loaded in self._opened.values():
            loaded.close()


def write_script(space: Workspace, statements: Sequence[tuple[str, str]], estimator: str) -> str:
    """Return a script: what later statements read is made a temporary table; what cannot run is a comment.

    statements: names and texts, in order; one reads another as the workspace's relation of that name.
    estimator: what is computed of its last lines.
    """
    tables: set[str] = set()
    parts = [f"{HEAD.format(space.engine.dialect)} {MOMENTS.format(estimator=estimator)}"]
    reads = re.compile(f'"{re.escape(space.prefix)}(?:[^"]|"")*"')
    for number, (name, sql) in enumerate(statements):
        relation = str(relation_name(space.prefix, name))
        if relation in tables:
            continue
        if set(reads.findall(sql)) - tables:
            parts.append("\n".join([f"-- {name}", FILLED, *(f"-- {line}" for line in sql.splitlines())]))
            continue
        is_read = any(relation in later for _, later in statements[number + 1 :])
        statement = Statement(name, _SOUND.format(query=sql) if name == SOUNDNESS else sql, "query")
        if is_read:
            statement = Statement(name, sql, "table", relation)
            tables.add(relation)
        parts.append(f"-- {name}\n{space.engine.text(statement)};")
    return "\n\n".join(parts) + "\n"
