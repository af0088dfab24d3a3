"""Answer aggregate queries from QIT and ST, by the estimator that the caller names."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.plain_counts import read_plain_counts
from sqlanon.estimation.qit_st.class_tables import ClassTables
from sqlanon.estimation.qit_st.pooled_run import PooledRun
from sqlanon.estimation.qit_st.tables import GroupTables
from sqlanon.estimation.qit_st.uniform_run import UniformRun
from sqlanon.estimation.qit_st.uniform_script import print_script
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimation.session import Session
from sqlanon.estimators import OF_GROUPS, choose_estimator
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query

METHOD = "anatomy"  # of a manifest that names none
FEW = 8  # queries that are answered sooner alone
TOGETHER = ("uniform", "least_squares", "shrinkage")  # estimators that answer many queries at once


class GroupSession(Session):
    """A session of a release of groups."""

    loaded: GroupTables

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str] = OF_GROUPS,
    ) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = GroupTables(engine, tables, manifest)
        self.classes = ClassTables(self.loaded, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, estimators, manifest.get("method", METHOD))

    def start(self, query: Query, name: str, **options: Any) -> UniformRun:
        """Start the run of an estimator."""
        if name == "ridge":
            from sqlanon.estimation.qit_st.class_run import ClassRun  # what solves class by class is slow to load

            return ClassRun(self.loaded, query, self.classes)
        # all other estimators solve one system for all groups
        run = UniformRun if name == "uniform" else PooledRun
        return run(self.loaded, query, self.classes)

    def load(self, run: QueryRun) -> None:
        """Number the values, and keep rows that are read more than once."""
        assert isinstance(run, UniformRun)
        self.loaded.load_totals()
        self.loaded.keep_rows()

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what every query reads."""
        return self.loaded.loading_statements()

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer plain counts (`read_plain_count`), unless by ridge."""
        if not self.loaded.engine.in_process or name not in TOGETHER or len(queries) < FEW:
            return {}
        from sqlanon.estimation.qit_st.batch_run import BatchRun  # few ask so much at once

        return BatchRun(self.loaded, self.loaded.load_rows(), name, estimate).answer_all(
            read_plain_counts(queries, self._parse)
        )

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script, which ends in the answer where SQL can give it."""
        name, _ = choose_estimator(self.estimators, self.method, estimator)
        return print_script(self.start(self._parse_printed(sql), name), name)

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        self.classes.close()
        super().close()
