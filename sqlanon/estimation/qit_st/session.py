"""Answer aggregate queries from QIT and ST, by the estimator that the caller names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.plain_counts import read_plain_counts
from sqlanon.estimation.qit_st.class_tables import ClassTables
from sqlanon.estimation.qit_st.pooled_run import PooledRun
from sqlanon.estimation.qit_st.tables import GroupTables
from sqlanon.estimation.qit_st.uniform_run import UniformRun
from sqlanon.estimation.qit_st.uniform_script import print_script
from sqlanon.estimators import OF_GROUPS, choose_estimator
from sqlanon.plans.templates import Sql
from sqlanon.sql.query_reader import parse_query

if TYPE_CHECKING:
    import pandas as pd

METHOD = "anatomy"  # of a manifest that names none
FEW = 8  # queries that are answered sooner alone
TOGETHER = ("uniform", "least_squares", "shrinkage")  # estimators that answer many queries at once


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str] = OF_GROUPS,
    ) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.estimators = estimators
        self.loaded = GroupTables(engine, tables, manifest)
        self.classes = ClassTables(self.loaded, manifest)
        self.method: str = manifest.get("method", METHOD)
        self._asked = False  # a release that is asked once is not worth a copy of its rows
        self._parse = lru_cache(maxsize=256)(lambda sql: parse_query(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None) -> "pd.DataFrame":
        """Answer one query as `ask` does, in a frame."""
        return self.ask(sql, estimator).df()

    def ask(self, sql: str, estimator: str | None = None) -> Answered:
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `parse_query` reads it. estimator: one of the form's own, the first if None.
        Messages tell where the estimator had to give way to `uniform`.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        name, estimate = choose_estimator(self.estimators, self.method, estimator)
        run = self._start(sql, name)
        self.loaded.load_totals()
        if run.counts_in_memory and not (self._asked or self.loaded.rows_kept or self.classes.signature):
            run.read_in_place()
        else:
            self.loaded.keep_rows()
        self._asked = True
        answer = run.answer(estimate)
        tell_blank_cells(answer, name)
        return answer

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> dict[int, Answered]:
        """Answer those of many queries that can be answered together, by their place; the others are asked alone.

        Together go plain counts (`read_plain_count`) of a release that is counted in memory, unless by ridge.
        """
        name, estimate = choose_estimator(self.estimators, self.method, estimator)
        if not self.loaded.in_memory or name not in TOGETHER or len(queries) < FEW:
            return {}
        rows = self.loaded.load_rows()
        if rows is None:
            return {}
        from sqlanon.estimation.qit_st.batch_run import BatchRun  # few ask so much at once

        return BatchRun(self.loaded, rows, name, estimate).answer_all(read_plain_counts(queries, self._parse))

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing.

        (The first plain count of an open session reads `line` and `person` in place, and does not keep them.)
        `spread` (large releases only) stands once for as many runs as the value sets need; it reads the relation
        `direction`, which is filled from Python, as `answer` reads `figure`.
        """
        name, _ = choose_estimator(self.estimators, self.method, estimator)
        run = self._start(sql, name)
        return self.loaded.loading_statements() + run.statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        name, _ = choose_estimator(self.estimators, self.method, estimator)
        return print_script(self._start(sql, name), name)

    def _start(self, sql: str, name: str) -> UniformRun:
        if name == "ridge":
            from sqlanon.estimation.qit_st.class_run import ClassRun  # what solves class by class is slow to load

            return ClassRun(self.loaded, self._parse(sql), self.classes)
        # all other estimators solve one system for all groups
        run = UniformRun if name == "uniform" else PooledRun
        return run(self.loaded, self._parse(sql), self.classes)

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        self._asked = False
        self.classes.close()
        self.loaded.close()
