"""Answer aggregate queries from a release with randomized values, by the estimator that the caller names.

The channels by which values were published are inverted, once for all values, or undone by iterating.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import QueryError
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.randomized.published_run import PublishedMoments, PublishedRun
from sqlanon.estimation.randomized.tables import LARGEST_MATRIX, Randomized
from sqlanon.estimation.session import Session
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate, Evidence, IntArray
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, check, iterate, states
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.propagation import Pair
from sqlanon.estimators.randomized.recovery import Recovery
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.wording import option, spoken


class RecoveredRun(PublishedRun):
    """Estimate by the closed form or the matrix, or by both weighed with what values' margins say."""

    def undo(self, published_moments: PublishedMoments, estimate: Estimator) -> list[Estimate]:
        """Return an estimate of each aggregate, and keep the correlations of those that an expression reads."""
        recovery, aggregates = self._recovery(published_moments), published_moments.aggregates
        narrowed = [recovery.narrow(values) for _, values in aggregates]
        estimates = []
        for narrow_recovery, (measured, _) in zip(narrowed, aggregates, strict=True):
            estimated = estimate(narrow_recovery.evidence(measured, self.estimator))
            highest = narrow_recovery.highest(measured)
            value = estimated.value if highest is None else np.minimum(estimated.value, highest)
            estimates.append(replace(estimated, value=value))
        for first, second in self.pairs():
            pair = Pair(aggregates[first][0], aggregates[second][0], self.number_measure(self.product(first, second)))
            together = narrowed[first].correlate(pair, narrowed[second])
            if together is not None:
                self.correlations[first, second] = together
        return estimates

    def _recovery(self, published_moments: PublishedMoments) -> Recovery:
        moments, asked_values, touched = published_moments.moments, published_moments.asked, self.query.touched
        matrix = self.loaded.joint_matrix(touched)
        if matrix is None:
            self.messages.append(
                f"a sensitive column has more than {LARGEST_MATRIX} values: the closed form stands alone"
            )
        counts = [self.loaded.counts(place) for place in touched]
        unseen = max((_unseen(self.loaded.effective_gamma(place)) for place in touched), default=0.0)
        repeated = self.loaded.repeated(touched)
        weighed = self.estimator == "shrinkage"
        whole = self.loaded.whole(touched, lambda: self.read_whole(published_moments.shape)) if weighed else None
        departed = max((self.loaded.departed_share(place) for place in touched), default=0.0)
        return Recovery(
            moments=moments, asked=asked_values, counts=counts, closed=self.loaded.joint(touched), matrix=matrix,
            repeated=repeated, unseen=unseen, whole=whole, departed=departed,
        )  # fmt: skip


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))


# Randomized values undone by the paper's iteration: counts are guessed, randomized again, and guessed better.
Iteration = tuple[str, float, int]  # the transition, the relative change to stop at, the most turns


class IteratedRun(RecoveredRun):
    """Estimate by iterating; counts of rows only."""

    def __init__(self, loaded: Randomized, query: Query, estimator: str, iteration: Iteration) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query, estimator)
        self.iteration = iteration

    def undo(self, published_moments: PublishedMoments, estimate: Estimator) -> list[Estimate]:
        """Return an estimate of each aggregate; a query that reads no sensitive column has nothing to undo."""
        if not self.touched:
            return super().undo(published_moments, estimate)
        if self.measures:
            raise QueryError(
                "the iteration counts rows, so that SUM, AVG and quantiles of quasi columns are not answered by"
                f" {option('estimator', 'iterative')}; use shrinkage, closed_form or matrix"
            )
        moments, asked_values, shape = published_moments.moments, published_moments.asked, published_moments.shape
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
            for measured, selection in published_moments.aggregates
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


METHOD = "splu"


class RandomizedSession(Session):
    """A session of a release of randomized values."""

    loaded: Randomized

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str] = OF_RANDOMIZED,
    ) -> None:
        """Take the published table (`data`) and the manifest; nothing runs before the first query."""
        self.loaded = Randomized(engine, tables, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, estimators, "splu")

    def start(
        self,
        query: Query,
        name: str,
        *,
        transition: str = "paper",
        tolerance: float = TOLERANCE,
        max_iterations: int = MAX_ITERATIONS,
        **options: Any,
    ) -> PublishedRun:
        """Start the run of an estimator; the options are those of the iteration."""
        if options:
            raise TypeError(f"no option {', '.join(options)}")
        check(transition, tolerance, max_iterations)
        if name == "iterative":
            return IteratedRun(self.loaded, query, name, (transition, tolerance, max_iterations))
        return RecoveredRun(self.loaded, query, name)

    def load(self, run: QueryRun) -> None:
        """Load the columns that a query reads."""
        self.loaded.load(run.query.touched)

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what a query of these columns reads."""
        return self.loaded.loading(query.touched)
