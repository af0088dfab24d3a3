"""Answer aggregate queries from QIT and ST, by the estimator that was asked for."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.estimation.qit_st.class_run import ClassAsking
from sqlanon.estimation.qit_st.class_tables import Classes
from sqlanon.estimation.qit_st.pooled_run import PooledAsking
from sqlanon.estimation.qit_st.tables import Loaded
from sqlanon.estimation.qit_st.uniform_run import UniformAsking
from sqlanon.estimators import estimator_of
from sqlanon.plans.templates import Sql
from sqlanon.sql.query_reader import parse_query

METHOD = "anatomy"  # of a manifest that names none


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = Loaded(engine, tables, manifest)
        self.classes = Classes(self.loaded, manifest)
        self.method: str = manifest.get("method", METHOD)
        self._parsed = lru_cache(maxsize=256)(lambda sql: parse_query(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None) -> pd.DataFrame:
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `query.parse` reads it. estimator: one of the method's own (ESTIMATORS), the first if None.
        `attrs["messages"]` of the frame tells where the estimator had to give way to `uniform`.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        name, estimate = estimator_of(self.method, estimator)
        asking = self._asking(sql, name)
        self.loaded.totals()
        return asking.answer(estimate)

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing.

        `spread` (large releases only) stands once for as many runs as the asked sets need; it reads the relation
        `direction`, which is filled from Python, as `answer` reads `figure`.
        """
        name, _ = estimator_of(self.method, estimator)
        asking = self._asking(sql, name)
        return self.loaded.loading() + asking.statements()

    def _asking(self, sql: str, name: str) -> UniformAsking:
        asking = {"ridge": ClassAsking, "uniform": UniformAsking}.get(name, PooledAsking)
        return asking(self.loaded, self._parsed(sql), self.classes)

    def close(self) -> None:
        """Forget the temporary tables of this session."""
        self.classes.close()
        self.loaded.close()
