"""A query on its way through randomized rows: its statements, and the published moments that they read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError
from sqlanon.estimation.finite_numbers import require_finite_measures
from sqlanon.estimation.memory_need import NumbersHeld
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, IntArray
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query

if TYPE_CHECKING:
    import pandas as pd

LARGEST_COMBINED = 50_000_000  # asked sets x combinations of values
Measured = tuple[LinearAggregate, BoolArray]  # an aggregate, and which of the selected values it counts
_MEASURES = {  # the moments' names for the columns of the moment query
    "value_count": "count_uniform",
    "value_sum": "sum_uniform",
    "square_sum": "square_uniform",
    "positive_sum": "positive_uniform",
    "least": "least",
    "largest": "largest",
}


@dataclass(frozen=True)
class PublishedMoments:
    """What a query reads of the published rows: moments of the values `asked`, and what its aggregates count of these.

    shape: how many values each sensitive column has that the query reads.
    """

    moments: Moments
    asked: SelectedValues
    aggregates: Sequence[Measured]
    shape: tuple[int, ...]


class PublishedRun(QueryRun):
    """Read what the release publishes of one query; how it was randomized is undone by others.

    touched: the numbers of the sensitive columns that are read, from 1; columns: these with the relations of their
    values.
    """

    HELD = NumbersHeld(value=12, measure=12)

    def __init__(self, loaded: Randomized, query: Query, estimator: str) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.estimator = loaded, estimator
        self.touched = [place + 1 for place in query.touched]
        self.columns = [(place + 1, loaded.value(place)) for place in query.touched]
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand: kept where they are read twice, else written in place."""
        tables = {name: relation_name(self.loaded.prefix, name) for name in ("asked", "hit", "figure")}
        self.relations["value"] = inline(
            self.space.render("estimation/randomized/combination", {}, columns=self.columns)
        )
        self.relations["asked"] = tables["asked"] if self.keeps_asked else inline(self.render_asked())
        self.relations["figure"] = tables["figure"]
        self.people = self.relations["published"]
        if self.query.parts:
            columns = [f"quasi_{number}" for number in range(1, len(self.loaded.quasi) + 1)]
            columns += [f"sensitive_{number}" for number in self.touched]
            self.people = self.give_cases(self.people, columns)
        self.relations["hit"] = tables["hit"] if self.quasi_keys else inline(self.hit_text())

    def domain(self, column: str) -> Sql:
        """Return the published values of one column; of a sensitive one without those of others beside them."""
        for place, relation in self.columns:
            if column == f"sensitive_{place}":
                return inline(self.space.render("estimation/randomized/combination", {}, columns=[(place, relation)]))
        return self.relations["published"]

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [("asked", self.render_asked())]
        if self.quasi_keys:
            listed.append(("hit", self.hit_text()))
        listed.append(("moment", self.moment_text()))
        if self._needs_whole():
            listed.append(("whole", self.whole_text()))
        return listed + self.closing_statements()

    def hit_text(self) -> str:
        """Write the query over the published rows."""
        return self.space.render(
            "estimation/randomized/published_hit",
            {**self.relations, "person": self.people},
            quasi_conditions=[piece.sql for piece in self.query.filters("constant", "quasi", "mixed")],
            quasi_keys=[key.sql for key in self.quasi_keys],
            measures=[piece.sql for piece in self.measures],
            case_column=Sql("case_number" if self.query.parts else "0"),
            touched=self.touched,
        )

    def moment_text(self) -> str:
        """Write the query that numbers the published values of the hits."""
        return self.space.render(
            "estimation/randomized/published_moment", self.relations, measures=self.measures, columns=self.columns
        )

    def whole_text(self) -> str:
        """Write the query for the combinations of published values in the whole release."""
        relations = {**self.relations, "person": self.relations["published"]}
        nothing: dict[str, object] = {"quasi_conditions": [], "quasi_keys": [], "measures": []}
        hit = self.space.render(
            "estimation/randomized/published_hit", relations, **nothing, case_column=Sql("0"), touched=self.touched
        )
        return self.space.render(
            "estimation/randomized/published_moment", {"hit": inline(hit)}, measures=[], columns=self.columns
        )

    def _needs_whole(self) -> bool:
        return self.estimator in ("iterative", "shrinkage") and len(self.touched) > 1

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], BoolArray]:
        """Read the published moments, and estimate what they were before they were randomized."""
        asked_values, weights = self.read_selected()
        if self.quasi_keys:
            self.keep("hit", self.hit_text())
        shape = tuple(len(self.loaded.counts(place)) for place in self.query.touched)
        self.check_size("sets", asked_values.set_count, shape, LARGEST_COMBINED)
        self.require_memory(asked_values, int(np.prod(shape)))
        moments = self.read_moments(asked_values, shape)
        aggregates = [self.vectorize(aggregate, weights) for aggregate in self.query.aggregates]
        published_moments = PublishedMoments(moments, asked_values, aggregates, shape)
        occurring = self.tell_occurring(asked_values, moments.count("uniform"))
        return self.fill_empty_counts(self.undo(published_moments, estimate)), occurring

    def undo(self, published_moments: PublishedMoments, estimate: Estimator) -> list[Estimate]:
        """Return an estimate of each aggregate from the published moments; a way of undoing has its own."""
        raise NotImplementedError

    def check_size(self, what: str, number: int, shape: tuple[int, ...], limit: int) -> None:
        """Raise AnswerError where a query asks for more numbers at once than `limit`."""
        values = int(np.prod(shape, dtype=object))
        if number * values > limit:
            raise AnswerError(
                f"the query asks for {number} {what} x {values} combinations of sensitive values at once;"
                " read fewer sensitive columns, group by fewer columns, or narrow WHERE"
            )

    def read_moments(self, asked: SelectedValues, shape: tuple[int, ...]) -> Moments:
        """Read the published moments under the moments' names: `uniform` as published, `shared` for any value."""
        frame = self.loaded.engine.frame(self.moment_text())
        cases = int(asked.case.max(initial=0)) + 1
        cells = int(frame["cell"].max()) + 1 if len(frame) else int(not self.quasi_keys)
        self.check_size("groups and cases", cells * cases, shape, LARGEST_ANSWER)
        place = (*(frame[name].to_numpy(dtype=np.int64) for name in ("cell", "case_number")), self._codes(frame, shape))
        numbers = {str(name): column.to_numpy() for name, column in frame.select_dtypes("number").items()}
        require_finite_measures(numbers, "endless_count", len(self.measures))
        values = int(np.prod(shape))
        columns: dict[str, Array] = {}
        for source, name in {"row_count": "uniform", **self._measure_columns()}.items():
            empty = np.nan if name.startswith(("least_", "largest_")) else 0.0
            columns[name] = np.full((cells, cases, values), empty)
            columns[name][place] = frame[source].fillna(empty).to_numpy(dtype=float)
        for name in list(columns):
            if name.startswith(("least_", "largest_")):
                reduce = np.fmin.reduce if name.startswith("least_") else np.fmax.reduce
                columns[name] = np.broadcast_to(reduce(columns[name], axis=2)[..., None], columns[name].shape)
            else:
                sums = columns[name].sum(axis=2, keepdims=True)
                columns[name.replace("uniform", "shared")] = np.broadcast_to(sums, columns[name].shape)
        rows = self.loaded.counts(self.query.touched[0]).sum() if self.touched else columns["uniform"].sum()
        return Moments(columns, np.full(values, float(rows)))

    def _measure_columns(self) -> dict[str, str]:
        numbers = range(1, len(self.measures) + 1)
        return {f"{source}_{n}": f"{name}_{n}" for n in numbers for source, name in _MEASURES.items()}

    def _codes(self, frame: "pd.DataFrame", shape: tuple[int, ...]) -> IntArray:
        """Number the combinations of published values as `combination` does."""
        if not shape:
            return np.zeros(len(frame), dtype=np.int64)
        codes = tuple(frame[f"code_{number}"].to_numpy(dtype=np.int64) for number in self.touched)
        return np.ravel_multi_index(codes, shape).astype(np.int64)

    def read_whole(self, shape: tuple[int, ...]) -> Array:
        """Return the rows of the whole release by published values, V."""
        if not self._needs_whole():
            return self.loaded.counts(self.query.touched[0])
        frame = self.loaded.engine.frame(self.whole_text())
        whole = np.zeros(int(np.prod(shape)))
        whole[self._codes(frame, shape)] = frame["row_count"].to_numpy(dtype=float)
        return whole
