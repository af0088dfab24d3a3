"""Answer aggregate queries from a release with randomized values, by the estimator that the caller names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.printed_script import MOMENTS, write_script
from sqlanon.estimation.randomized.published_run import PublishedRun
from sqlanon.estimation.randomized.recovered_run import RecoveredRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimators import OF_RANDOMIZED, choose_estimator
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, check
from sqlanon.plans.templates import Sql
from sqlanon.sql.query_reader import parse_query

if TYPE_CHECKING:
    import pandas as pd
import numpy as np

from sqlanon.errors import QueryError
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator
from sqlanon.estimation.randomized.published_run import PublishedFigures
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate, Evidence, IntArray
from sqlanon.estimators.iterative import iterate
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.randomized.states import states
from sqlanon.sql.aggregate_query import Query
from sqlanon.wording import option, spoken

# Randomized values undone by the paper's iteration: counts are guessed, randomized again, and guessed better.


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


METHOD = "splu"


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str] = OF_RANDOMIZED,
    ) -> None:
        """Take the published table (`data`) and the manifest; nothing runs before the first query."""
        self.estimators = estimators
        self.loaded = Randomized(engine, tables, manifest)
        self._parsed = lru_cache(maxsize=256)(lambda sql: parse_query(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None, **options: Any) -> "pd.DataFrame":
        """Answer one query as `ask` does, in a frame."""
        return self.ask(sql, estimator, **options).df()

    def ask(
        self,
        sql: str,
        estimator: str | None = None,
        *,
        transition: str = "paper",
        tolerance: float = TOLERANCE,
        max_iterations: int = MAX_ITERATIONS,
    ) -> Answered:
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `parse_query` reads it. estimator: one of the form's own, the first if None. transition
        (paper or exact), tolerance (relative change) and max_iterations are the iteration's. Messages tell how many
        turns it took, and what did not converge.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        name, estimate = choose_estimator(self.estimators, METHOD, estimator)
        check(transition, tolerance, max_iterations)
        self.loaded.load(self._parsed(sql).touched)
        answer = self._start(sql, name, (transition, tolerance, max_iterations)).answer(estimate)
        tell_blank_cells(answer, name)
        return answer

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> dict[int, Answered]:
        """Answer none of many queries together: each is asked alone."""
        return {}

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing."""
        name, _ = choose_estimator(self.estimators, METHOD, estimator)
        return self.loaded.loading(self._parsed(sql).touched) + self._start(sql, name).statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        name, _ = choose_estimator(self.estimators, METHOD, estimator)
        return write_script(self.loaded, self.statements(sql, estimator), MOMENTS.format(estimator=name))

    def _start(self, sql: str, name: str, iteration: Iteration = USUAL) -> PublishedRun:
        query = self._parsed(sql)
        if name == "iterative":
            return IteratedRun(self.loaded, query, name, iteration)
        return RecoveredRun(self.loaded, query, name)

    def close(self) -> None:
        """Forget the temporary tables of this session."""
        self.loaded.close()
