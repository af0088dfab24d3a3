"""Randomized values undone by the paper's iteration: counts are guessed, randomized again, and guessed better."""

import numpy as np

from sqlanon.errors import QueryError
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator
from sqlanon.estimation.randomized.published_run import PublishedFigures
from sqlanon.estimation.randomized.recovered_run import RecoveredRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate, Evidence, IntArray
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, iterate
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.randomized.states import states
from sqlanon.sql.aggregate_query import Query
from sqlanon.wording import option, spoken

Iteration = tuple[str, float, int]  # the transition, the relative change to stop at, the most turns
USUAL: Iteration = ("paper", TOLERANCE, MAX_ITERATIONS)


class IteratedRun(RecoveredRun):
    """Estimate by iterating; counts of rows only."""

    def __init__(self, loaded: Randomized, query: Query, estimator: str, iteration: Iteration) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query, estimator)
        self.iteration = iteration

    def undo(self, figures: PublishedFigures, estimate: Estimator) -> list[Estimate]:
        """Return an estimate of each aggregate; a query that reads no sensitive column has nothing to undo."""
        if not self.touched:
            return super().undo(figures, estimate)
        if self.measures:
            raise QueryError(
                "the iteration counts rows, so that SUM and AVG of quasi columns are not answered by"
                f" {option('estimator', 'iterative')}; use shrinkage, closed_form or matrix"
            )
        moments, asked_values, shape = figures.moments, figures.asked, figures.shape
        cells = len(moments.columns["uniform"])
        self.check_size("counts", cells * len(asked_values.code) * 2 ** len(shape), (), LARGEST_ANSWER)
        counts = np.zeros((cells, len(asked_values.code)))
        whole, gammas = self.read_whole(shape), [self.loaded.effective_gamma(place) for place in self.query.touched]
        turns, last = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for case in range(moments.columns["uniform"].shape[1]):
            inside = asked_values.case == case
            published = states(moments.columns["uniform"][:, case], whole, shape, asked_values.code[inside])
            done = iterate(published, gammas, *self.iteration)
            counts[:, inside] = done.asked.reshape(cells, int(inside.sum()))
            turns.append(done.turns)
            last.append(done.change)
        self._report(np.concatenate(turns), np.concatenate(last))
        return [
            estimate(self._evidence(counts[:, selection], moments, asked_values.narrow(selection), measured))
            for measured, selection in figures.aggregates
        ]

    def _evidence(
        self, counts: Array, moments: Moments, asked_values: SelectedValues, measured: LinearAggregate
    ) -> Evidence:
        sums = [asked_values.sum_by_set(counts, weights) for _, weights in measured.parts()]
        least, most = measured.function.bound(moments, asked_values, measured)
        value = measured.function.estimate(sums)
        unknown = np.full(value.shape, np.nan)
        return Evidence(value, unknown, unknown, least, most, np.zeros(value.shape, dtype=bool))

    def _report(self, turns: IntArray, change: Array) -> None:
        """Say how many turns the iteration took; not converging is said with the last change."""
        transition, tolerance, limit = self.iteration
        if not len(turns):
            return
        late = change > tolerance
        self.remarks.append(
            f"iteration with the {transition} transition: {len(turns)} estimates, {int(np.median(turns))}"
            f" turns in the median, {int(turns.max())} at most"
        )
        if late.any():
            self.messages.append(
                f"{int(late.sum())} of {len(late)} estimates had not converged after {limit} turns: the last change was"
                f" {change.max():.3g}, and {tolerance:g} was asked; raise {spoken(option('max_iterations'))}"
            )
