"""Answer queries of releases with a table for each sensitive column: each by the one column that it reads."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import QueryError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.session import Session
from sqlanon.plans.sensitive_tables import one_column
from sqlanon.plans.templates import Sql
from sqlanon.sql.query_reader import parse_query

TOGETHER = (
    "the query reads {columns} together, and the release does not say which values of them belong to one person: inside"
    " a group, or a box, they are published apart; ask of one of them at a time"
)

# of groups, measured on census data with occupation and industry: see the guide of anatomy
GO_TOGETHER = (
    "groups differ in {columns} at once: where these depend strongly on each other, intervals of {column} are somewhat"
    " too narrow, and hold less often than in 95 of 100 releases"
)


class SeveralSession(Session):
    """Answer queries about one release; for each sensitive column there is a session of its own.

    alone: opens the session of a release of one column. caveat: what is said of every answer, if anything.
    """

    def __init__(
        self,
        alone: Callable[[Engine, Mapping[str, Sql], dict[str, Any]], Session],
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        caveat: str = "",
    ) -> None:
        """Take the published tables and the manifest; nothing runs before the first query."""
        self._alone, self._caveat = alone, caveat
        self._engine, self._tables, self._manifest = engine, tables, manifest
        self._columns: list[str] = list(manifest["columns"]["sensitive"])
        self._opened: dict[str, Session] = {}
        self._column = lru_cache(maxsize=256)(self._read_column)

    def ask(self, sql: str, estimator: str | None = None) -> Answered:
        """Answer one query as `Session.ask` does; raise QueryError where it reads two sensitive columns."""
        return self._add_caveat(self._column(sql), self._session(sql).ask(sql, estimator))

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> dict[int, Answered]:
        """Answer those of many queries that can be answered together, by their place: column by column."""
        places: dict[str, list[int]] = {}
        for place, sql in enumerate(queries):
            try:
                places.setdefault(self._column(sql), []).append(place)
            except QueryError:
                continue  # asked alone, it says why
        answers_by_place: dict[int, Answered] = {}
        for column, column_places in places.items():
            answers = self._of(column).answer_many([queries[place] for place in column_places], estimator)
            answers_by_place |= {
                column_places[number]: self._add_caveat(column, answer) for number, answer in answers.items()
            }
        return answers_by_place

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements whose rows an estimate is made of, in order; run nothing."""
        return self._session(sql).statements(sql, estimator)

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        return self._session(sql).script(sql, estimator)

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        for session in self._opened.values():
            session.close()
        self._opened.clear()

    def _session(self, sql: str) -> Session:
        return self._of(self._column(sql))

    def _of(self, column: str) -> Session:
        if column not in self._opened:
            self._opened[column] = self._alone(self._engine, *one_column(self._tables, self._manifest, column))
        return self._opened[column]

    def _add_caveat(self, column: str, answer: Answered) -> Answered:
        """Add to an answer what its intervals do not know."""
        if not self._caveat:
            return answer
        columns = " and ".join(map(repr, self._columns))
        message = self._caveat.format(columns=columns, column=repr(column))
        answer.messages = [*answer.messages, message]
        return answer

    def _read_column(self, sql: str) -> str:
        """Return the sensitive column that a query reads, the first where it reads none."""
        touched = parse_query(sql, self._manifest["columns"]["quasi"], self._columns).touched
        if len(touched) > 1:
            raise QueryError(TOGETHER.format(columns=" and ".join(repr(self._columns[place]) for place in touched)))
        return self._columns[touched[0] if touched else 0]
