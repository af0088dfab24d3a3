"""Many plain counts on their way through randomized rows together: each is a cell, and each asks a set of values."""

from collections.abc import Mapping

import numpy as np

from sqlanon.estimation.coded_rows import CellSums
from sqlanon.estimation.count_batch import CountBatch
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimation.randomized.published_run import PublishedFigures
from sqlanon.estimation.randomized.recovered_run import RecoveredRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.aggregates import COUNT, LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query


class PublishedBatch(CountBatch):
    """Answer plain counts of one release that read the same sensitive columns; their figures are sums of cells'."""

    def __init__(self, loaded: Randomized, query: Query, name: str, estimate: Estimator) -> None:
        """Take the loaded release, one of the queries, and an estimator with its name."""
        self.loaded, self.query, self.estimate = loaded, query, estimate
        self.shape = tuple(len(loaded.counts(place)) for place in query.touched)
        self.run = RecoveredRun(loaded, query, name)
        super().__init__(loaded.code_rows(), self.run.relations["value"], int(np.prod(self.shape)), name)

    def read_sums(self, celled: Sql) -> CellSums:
        """Run the query for the published values of the hits."""
        touched = self.run.touched
        hit = self.space.render("estimation/randomized/cell_published_hit", {"celled": celled}, touched=touched)
        lines = self.space.engine.arrays(
            self.space.render(
                "estimation/randomized/published_moment",
                {"hit": inline(hit)},
                measures=[],
                columns=self.run.columns,
            )
        )
        codes = tuple(lines[f"code_{number}"].astype(np.int64) for number in touched)
        code = np.ravel_multi_index(codes, self.shape).astype(np.int64)
        return CellSums(lines["cell"].astype(np.int64), code, {"uniform": lines["row_count"].astype(float)})

    def estimate_own(self, sums: Mapping[str, Array], selected: SelectedValues) -> tuple[Estimate, list[list[str]]]:
        """Undo the randomization of each query's own values."""
        uniform = sums["uniform"][:, None]
        shared = np.broadcast_to(uniform.sum(axis=2, keepdims=True), uniform.shape)
        rows = float(self.loaded.counts(self.query.touched[0]).sum())
        moments = Moments({"uniform": uniform, "shared": shared}, np.full(uniform.shape[2], rows))
        ones = np.ones(len(selected.code))
        counted = (LinearAggregate(COUNT, None, ones, ones), np.ones(len(ones), dtype=bool))
        run = RecoveredRun(self.loaded, self.query, self.name)
        (estimate,) = run.undo(PublishedFigures(moments, selected, [counted], self.shape), self.estimate)
        own = Estimate(**{name: np.diagonal(array) for name, array in vars(estimate).items()})
        return own, [list(run.messages) for _ in range(len(uniform))]

    def domain(self, column: str) -> Sql:
        """Return the published values of one column."""
        return self.rows.domains[column] if column in self.rows.domains else self.run.domain(column)
