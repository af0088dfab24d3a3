"""Estimate counts from generalized rows as if rows were spread evenly in their boxes, with bounds that always hold."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import QueryError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.exact import select_columns
from sqlanon.estimation.generalized.tables import BoxTables
from sqlanon.estimation.plain_counts import read_plain_counts
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimation.session import Session
from sqlanon.estimation.uncertain.cell_run import CellRun, CellWay
from sqlanon.estimation.uncertain.counts import Counts
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.estimators.evidence import BoolArray, Estimate
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query

FEW = 8  # queries that are answered sooner alone
_SUMS = "{} over generalized rows is not answered: a box holds a range of values; count rows with COUNT(*)"


class BoxSession(Session):
    """A session of a release of boxes, for COUNT(*).

    A count is what is to be expected of rows that lie evenly in their boxes; low and high hold for every table that has
    these boxes.
    """

    has_errors = False
    loaded: BoxTables

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) and the manifest; nothing runs before the first query."""
        self.loaded = BoxTables(engine, tables, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, UNIFORM_ALONE, "mondrian")

    def start(self, query: Query, name: str, **options: Any) -> CellRun:
        """Start the run of a query."""
        return CellRun(self.loaded, query, BoxCounts)

    def load(self, run: QueryRun) -> None:
        """Make the tables of boxes."""
        self.loaded.load()

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for the sensitive column, which is not generalized."""
        return select_columns(columns, self.loaded.tables["data"]) if set(columns) <= set(self.sensitive) else None

    def published_domain(self, column: str) -> Sql:
        """Return the sensitive values."""
        self.loaded.load()
        return self.loaded.relations["value"]

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what every query reads."""
        return self.loaded.loading_statements()

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer plain counts that compare columns without a hierarchy."""
        if len(queries) < FEW or not self.loaded.engine.in_process:
            return {}
        from sqlanon.estimation.generalized.batch_run import BoxBatch, compares_values  # scipy is slow to load

        self.loaded.load()
        plain = read_plain_counts(queries, self._parse)
        together = ((place, query) for place, query in plain if compares_values(self.loaded, query.quasi))
        return BoxBatch(self.loaded).answer_all(together)


class BoxCounts(CellWay):
    """Answer COUNT(*) alone: a cell is a side of a box, and may hold what the side covers."""

    def refuse_aggregates(self) -> None:
        """Raise QueryError where the query asks for more than COUNT(*)."""
        for aggregate in self.run.query.aggregates:
            if not aggregate.function.counts:
                raise QueryError(_SUMS.format(aggregate.function.name.upper()))
            if aggregate.argument or aggregate.chosen or aggregate.limit:
                raise QueryError(_SUMS.format("COUNT of a column, or with FILTER,"))
        if self.run.query.derived:
            raise QueryError(_SUMS.format("an expression over aggregates"))

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate as every method names them."""
        return QueryRun.name_columns(self.run, name)

    def make_estimates(self, counts: Counts, occurring: BoolArray) -> list[Estimate]:
        """Return the expected counts; the interval is from the certain count to the possible one, without an error."""
        error = np.where(counts.certain == counts.possible, 0.0, np.nan)
        estimate = Estimate(counts.value, error, counts.certain, counts.possible, counts.value)
        return [estimate] * len(self.run.query.aggregates)
