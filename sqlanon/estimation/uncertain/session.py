"""Answer from a release of uncertain data: what is certain, what is possible, what is to be expected.

A cell tells a node and how many alternatives, or a largest value and how many: the recipient knows what it may hold,
its candidates.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.printed_script import MOMENTS, write_script
from sqlanon.estimation.uncertain.sum_run import SumRun
from sqlanon.estimation.uncertain.tables import UncertainTables
from sqlanon.estimators import choose_estimator
from sqlanon.plans.templates import Sql
from sqlanon.sql.query_reader import parse_query

if TYPE_CHECKING:
    import pandas as pd

FORM = "uncertain"


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = UncertainTables(engine, tables, manifest)
        self._parse = lru_cache(maxsize=256)(lambda sql: parse_query(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None) -> "pd.DataFrame":
        """Answer one query as `ask` does, in a frame."""
        return self.ask(sql, estimator).df()

    def ask(self, sql: str, estimator: str | None = None) -> Answered:
        """Answer one query: a row per answer with the columns certain, possible and expected.

        sql: as `parse_query` reads it, with COUNT(*), SUM and AVG; COUNT(*) AS n gives n_certain, ….
        Messages tell of hidden rows and of nodes that are no values.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        _, estimate = choose_estimator(FORM, FORM, estimator)
        run = SumRun(self.loaded, self._parse(sql))
        self.loaded.load()
        return run.answer(estimate)

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> dict[int, Answered]:
        """Answer none of many queries together: each is asked alone."""
        return {}

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing."""
        choose_estimator(FORM, FORM, estimator)
        return self.loaded.loading_statements() + SumRun(self.loaded, self._parse(sql)).statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        name, _ = choose_estimator(FORM, FORM, estimator)
        return write_script(self.loaded, self.statements(sql, estimator), MOMENTS.format(estimator=name))

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        self.loaded.close()
