"""Answer counts from generalized rows: as if rows lay evenly in their boxes, with bounds that hold for sure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.generalized.tables import BoxTables
from sqlanon.estimation.plain_counts import answer_in_chunks, read_plain_counts
from sqlanon.estimation.printed_script import MOMENTS, write_script
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimation.uncertain.count_run import CountRun
from sqlanon.estimation.uncertain.query_parts import QUASI
from sqlanon.estimators import UNIFORM_ALONE, choose_estimator
from sqlanon.estimators.evidence import BoolArray, Estimate
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Comparison, Query
from sqlanon.sql.query_reader import parse_query

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.generalized.batch_run import BoxBatch

FEW, CHUNK = 8, 32  # queries that are answered sooner alone; and together at once
MOST_BOXES = 500_000  # of which shares by query are held in memory
METHOD = "mondrian"
_SUMS = "{} over generalized rows is not answered: a box holds a range of values; count rows with COUNT(*)"


class Session:
    """Answer COUNT queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) and the manifest; nothing runs before the first query."""
        self.loaded = BoxTables(engine, tables, manifest)
        self._parse = lru_cache(maxsize=256)(lambda sql: parse_query(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None) -> "pd.DataFrame":
        """Answer one query as `ask` does, in a frame."""
        return self.ask(sql, estimator).df()

    def ask(self, sql: str, estimator: str | None = None) -> Answered:
        """Answer one query: a row per answer, for each COUNT(*) its value, `_std_error` (none), `_low`, `_high`.

        sql: as `parse_query` reads it, COUNT(*) being the one aggregate. The value is what is to be expected of rows
        that lie evenly in their boxes; low and high hold for every table that has these boxes.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        _, estimate = choose_estimator(UNIFORM_ALONE, METHOD, estimator)
        run = BoxRun(self.loaded, self._parse(sql))
        self.loaded.load()
        return run.answer(estimate)

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> dict[int, Answered]:
        """Answer those of many queries that can be answered together, by their place; the others are asked alone.

        Together go plain counts (`read_plain_count`) that ask no column with a hierarchy, of a release in memory.
        """
        choose_estimator(UNIFORM_ALONE, METHOD, estimator)
        if len(queries) < FEW or not self.loaded.engine.in_process:
            return {}
        from sqlanon.estimation.generalized.batch_run import reads_no_node  # scipy is slow to load

        self.loaded.load()
        batch = self._open_batch()
        plain = read_plain_counts(queries, self._parse)
        together = ((place, query) for place, query in plain if reads_no_node(self.loaded, query.quasi))
        return {} if batch is None else answer_in_chunks(together, batch.answer, CHUNK)

    def _open_batch(self) -> "BoxBatch | None":
        from sqlanon.estimation.generalized.batch_run import MOST_HELD, BoxBatch

        (size,) = self.loaded.engine.rows(
            f"select (select count(*) from {self.loaded.relations['box']}) as boxes,"
            f" (select count(*) from {self.loaded.relations['value']}) as sensitive_values"
        )
        if size["boxes"] > MOST_BOXES or size["boxes"] * size["sensitive_values"] > MOST_HELD:
            return None
        return BoxBatch(self.loaded)

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing."""
        choose_estimator(UNIFORM_ALONE, METHOD, estimator)
        return self.loaded.loading_statements() + BoxRun(self.loaded, self._parse(sql)).statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        name, _ = choose_estimator(UNIFORM_ALONE, METHOD, estimator)
        return write_script(self.loaded, self.statements(sql, estimator), MOMENTS.format(estimator=name))

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        self.loaded.close()


class BoxRun(CountRun):
    """One COUNT query on its way through boxes: a cell is a side of a box, and may hold what the side covers."""

    SUMS = _SUMS

    def __init__(self, loaded: BoxTables, query: Query) -> None:
        """Split the query and place its relations, as for other cells."""
        super().__init__(loaded, query)
        self.boxes = loaded

    def comparisons(self) -> Sequence[Comparison]:
        """Leave out columns that are published as ranges: a value between two bounds may be somebody's."""
        ranges = {f"{QUASI}{attribute.number}" for attribute in self.boxes.attributes if attribute.shape == "bounds"}
        return [comparison for comparison in self.query.comparisons if comparison.column not in ranges]

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate as every method names them."""
        return QueryRun.name_columns(self, name)

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], BoolArray]:
        """Return the expected counts; the interval is from the certain count to the possible one, without an error."""
        counts, occurring = super().estimate_aggregates(estimate)
        estimates = []
        for count in counts:
            exact = count.certain == count.possible
            estimates.append(
                Estimate(count.value, np.where(exact, 0.0, np.nan), count.certain, count.possible, count.value)
            )
        return estimates, occurring
