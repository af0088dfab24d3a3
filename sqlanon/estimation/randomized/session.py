"""Answer aggregate queries from a release with randomized values, by the estimator that the caller names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.printed_script import MOMENTS, write_script
from sqlanon.estimation.randomized.iterated_run import USUAL, IteratedRun, Iteration
from sqlanon.estimation.randomized.published_run import PublishedRun
from sqlanon.estimation.randomized.recovered_run import RecoveredRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimators import OF_RANDOMIZED, choose_estimator
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, check
from sqlanon.plans.templates import Sql
from sqlanon.sql.query_reader import parse_query

if TYPE_CHECKING:
    import pandas as pd

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
