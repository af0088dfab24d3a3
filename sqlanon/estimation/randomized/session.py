"""Answer aggregate queries from a release with randomized values: a query's statements, figures, answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.finite_numbers import require_finite_measures
from sqlanon.estimation.printed_script import MOMENTS, write_script
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.randomized.tables import LARGEST_MATRIX, Randomized
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators import choose_estimator
from sqlanon.estimators.evidence import Array, Estimate, Evidence
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, check, iterate
from sqlanon.estimators.moments import LinearAggregate, Moments, SelectedValues, bound_answer
from sqlanon.estimators.propagation import Pair
from sqlanon.estimators.randomized.recovery import Recovery
from sqlanon.estimators.randomized.states import states
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.sql.query_reader import parse_query
from sqlanon.wording import option, spoken

FORM, METHOD = "randomized", "splu"
LARGEST_COMBINED = 50_000_000  # asked sets x combinations of values
_MEASURES = {  # the moments' names for the columns of the moment query
    "value_count": "count_uniform",
    "value_sum": "sum_uniform",
    "square_sum": "square_uniform",
    "positive_sum": "positive_uniform",
    "least": "least",
    "largest": "largest",
}


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) and the manifest; nothing runs before the first query."""
        self.loaded = Randomized(engine, tables, manifest)
        self._parsed = lru_cache(maxsize=256)(lambda sql: parse_query(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(
        self,
        sql: str,
        estimator: str | None = None,
        *,
        transition: str = "paper",
        tolerance: float = TOLERANCE,
        max_iterations: int = MAX_ITERATIONS,
    ) -> pd.DataFrame:
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `parse_query` reads it. estimator: one of ESTIMATORS["randomized"], the first if None. transition
        (paper or exact), tolerance (relative change) and max_iterations are the iteration's. `attrs["messages"]` of
        the frame tells how many turns it took, and what did not converge.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        name, estimate = choose_estimator(FORM, METHOD, estimator)
        check(transition, tolerance, max_iterations)
        query = self._parsed(sql)
        self.loaded.load(query.touched)
        asking = _Asking(self.loaded, query, name)
        asking.iteration = (transition, tolerance, max_iterations)
        answer = asking.answer(estimate)
        tell_blank_cells(answer, name)
        return answer

    def answer_many(self, queries: Sequence[str], estimator: str | None = None) -> "dict[int, pd.DataFrame]":
        """Answer none of many queries together: each is asked alone."""
        return {}

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing."""
        name, _ = choose_estimator(FORM, METHOD, estimator)
        query = self._parsed(sql)
        return self.loaded.loading(query.touched) + _Asking(self.loaded, query, name).statements()

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell."""
        name, _ = choose_estimator(FORM, METHOD, estimator)
        return write_script(self.loaded, self.statements(sql, estimator), MOMENTS.format(estimator=name))

    def close(self) -> None:
        """Forget the temporary tables of this session."""
        self.loaded.close()


class _Asking(QueryRun):
    """One query on its way through the randomized rows."""

    def __init__(self, loaded: Randomized, query: Query, estimator: str) -> None:
        super().__init__(loaded, query)
        self.loaded, self.estimator = loaded, estimator
        self.iteration: tuple[str, float, int] = ("paper", TOLERANCE, MAX_ITERATIONS)
        self.touched = [place + 1 for place in query.touched]
        self.columns = [(place + 1, loaded.value(place)) for place in query.touched]
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand: kept where they are read twice, else written in place."""
        named = {name: relation_name(self.loaded.prefix, name) for name in ("asked", "hit", "figure")}
        self.relations["value"] = inline(
            self.space.render("estimation/randomized/combination", {}, columns=self.columns)
        )
        self.relations["asked"] = named["asked"] if self.keeps_asked else inline(self.render_asked())
        self.relations["figure"] = named["figure"]
        self.people = self.relations["published"]
        if self.query.parts:
            possible = {"touched": self.touched, "parts": self.query.parts}
            self.people = inline(
                self.space.render("estimation/randomized/possible_published", self.relations, **possible)
            )
        self.relations["hit"] = named["hit"] if self.quasi_keys else inline(self.hit_text())

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
        given = {**self.relations, "person": self.relations["published"]}
        nothing: dict[str, object] = {"quasi_conditions": [], "quasi_keys": [], "measures": []}
        hit = self.space.render(
            "estimation/randomized/published_hit", given, **nothing, case_column=Sql("0"), touched=self.touched
        )
        return self.space.render(
            "estimation/randomized/published_moment", {"hit": inline(hit)}, measures=[], columns=self.columns
        )

    def _needs_whole(self) -> bool:
        return self.estimator in ("iterative", "shrinkage") and len(self.touched) > 1

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], NDArray[np.bool_]]:
        """Read the published figures, weigh the evidence, and estimate."""
        asked, weights = self.read_selected()
        if self.quasi_keys:
            self.keep("hit", self.hit_text())
        shape = tuple(len(self.loaded.counts(place)) for place in self.query.touched)
        self._check_size("sets", asked.set_count, shape, LARGEST_COMBINED)
        moments = self._read_moments(asked, shape)
        aggregates, chosen = zip(*(self.vectorize(one, weights) for one in self.query.aggregates), strict=True)
        occurring = self.tell_occurring(asked, moments.count("uniform"))
        if self.estimator == "iterative" and self.touched:
            found = self._iterated(moments, asked, list(zip(aggregates, chosen, strict=True)), shape, estimate)
            return self.settle_counts(found), occurring
        recovery = self._recovery(moments, asked, shape)
        narrowed = [recovery.narrow(values) for values in chosen]
        found = []
        for one, measured in zip(narrowed, aggregates, strict=True):
            estimated = estimate(one.evidence(measured, self.estimator))
            highest = one.highest(measured)
            value = estimated.value if highest is None else np.minimum(estimated.value, highest)
            found.append(replace(estimated, value=value))
        for first, second in self.pairs():
            product = self.number_measure(self.product(first, second))
            together = narrowed[first].correlate(Pair(aggregates[first], aggregates[second], product), narrowed[second])
            if together is not None:
                self.correlations[first, second] = together
        return self.settle_counts(found), occurring

    def _recovery(self, moments: Moments, asked: SelectedValues, shape: tuple[int, ...]) -> Recovery:
        touched = self.query.touched
        matrix = self.loaded.joint_matrix(touched)
        if matrix is None:
            self.messages.append(
                f"a sensitive column has more than {LARGEST_MATRIX} values: the closed form stands alone"
            )
        counts = [self.loaded.counts(place) for place in touched]
        unseen = max((_unseen(self.loaded.effective_gamma(place)) for place in touched), default=0.0)
        repeated = self.loaded.repeated(touched)
        weighed = self.estimator == "shrinkage"
        whole = self.loaded.whole(touched, lambda: self._whole(shape)) if weighed else None
        departed = max((self.loaded.departed_share(place) for place in touched), default=0.0)
        return Recovery(moments, asked, counts, self.loaded.joint(touched), matrix, repeated, unseen, whole, departed)

    def _check_size(self, what: str, number: int, shape: tuple[int, ...], limit: int) -> None:
        values = int(np.prod(shape, dtype=object))
        if number * values > limit:
            raise AnswerError(
                f"the query asks for {number} {what} x {values} combinations of sensitive values at once;"
                " read fewer sensitive columns, group by fewer columns, or narrow WHERE"
            )

    def _read_moments(self, asked: SelectedValues, shape: tuple[int, ...]) -> Moments:
        """Read the published figures under the moments' names: `uniform` as published, `shared` for any value."""
        frame = self.loaded.engine.frame(self.moment_text())
        cases = int(asked.case.max(initial=0)) + 1
        cells = int(frame["cell"].max()) + 1 if len(frame) else int(not self.quasi_keys)
        self._check_size("groups and cases", cells * cases, shape, LARGEST_ANSWER)
        place = (*(frame[name].to_numpy(dtype=np.int64) for name in ("cell", "case_number")), self._codes(frame, shape))
        require_finite_measures(frame, "endless_count", len(self.measures))
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

    def _codes(self, frame: pd.DataFrame, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Number the combinations of published values as `combination` does."""
        if not shape:
            return np.zeros(len(frame), dtype=np.int64)
        codes = tuple(frame[f"code_{number}"].to_numpy(dtype=np.int64) for number in self.touched)
        return np.ravel_multi_index(codes, shape).astype(np.int64)

    # -- the paper's iteration -------------------------------------------------------------------

    def _iterated(
        self,
        moments: Moments,
        asked: SelectedValues,
        aggregates: list[tuple[LinearAggregate, NDArray[np.bool_]]],
        shape: tuple[int, ...],
        estimate: Estimator,
    ) -> list[Estimate]:
        if self.measures:
            raise QueryError(
                "the iteration counts rows, so that SUM and AVG of quasi columns are not answered by"
                f" {option('estimator', 'iterative')}; use shrinkage, closed_form or matrix"
            )
        cells = len(moments.columns["uniform"])
        self._check_size("counts", cells * len(asked.code) * 2 ** len(shape), (), LARGEST_ANSWER)
        counts = np.zeros((cells, len(asked.code)))
        whole, gammas = self._whole(shape), [self.loaded.effective_gamma(place) for place in self.query.touched]
        turns, last = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for case in range(moments.columns["uniform"].shape[1]):
            inside = asked.case == case
            published = states(moments.columns["uniform"][:, case], whole, shape, asked.code[inside])
            done = iterate(published, gammas, *self.iteration)
            counts[:, inside] = done.asked.reshape(cells, int(inside.sum()))
            turns.append(done.turns)
            last.append(done.change)
        self._report(np.concatenate(turns), np.concatenate(last))
        return [
            estimate(self._evidence(counts[:, chosen], moments, asked.narrow(chosen), measured))
            for measured, chosen in aggregates
        ]

    def _whole(self, shape: tuple[int, ...]) -> Array:
        if not self._needs_whole():
            return self.loaded.counts(self.query.touched[0])
        frame = self.loaded.engine.frame(self.whole_text())
        whole = np.zeros(int(np.prod(shape)))
        whole[self._codes(frame, shape)] = frame["row_count"].to_numpy(dtype=float)
        return whole

    def _evidence(self, counts: Array, moments: Moments, asked: SelectedValues, measured: LinearAggregate) -> Evidence:
        found = [asked.sum_by_set(counts, weights) for _, weights in measured.parts()]
        least, most = bound_answer(moments, asked, measured)
        value = found[0]
        if measured.function == "avg":
            with np.errstate(divide="ignore", invalid="ignore"):
                value = np.where(found[1] > 0, found[0] / found[1], np.nan)
        unknown = np.full(value.shape, np.nan)
        return Evidence(value, unknown, unknown, least, most, np.zeros(value.shape, dtype=bool))

    def _report(self, turns: NDArray[np.int64], change: Array) -> None:
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


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))
