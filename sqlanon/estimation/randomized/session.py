"""Answer aggregate queries from a release with randomized values, by the estimator that the caller names.

A query's run reads the published moments; then the randomization is undone: by inverting the channels, once for all
values, or by iterating.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.failures import require_finite_measures
from sqlanon.estimation.memory_need import NumbersHeld
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.randomized.tables import LARGEST_MATRIX, Randomized
from sqlanon.estimation.session import Session
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence, IntArray
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, check, iterate, states
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.propagation import Pair
from sqlanon.estimators.randomized.recovery import Recovery
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.wording import option, spoken

if TYPE_CHECKING:
    import pandas as pd


LARGEST_COMBINED = 50_000_000  # asked sets x combinations of values
Iteration = tuple[str, float, int]  # the transition, the relative change to stop at, the most turns
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
    """Read what the release publishes of one query, and undo how it was randomized.

    iteration: how counts are guessed, None where the closed form and the matrix are inverted. touched: the numbers of
    the sensitive columns that are read, from 1; columns: these with the relations of their values.
    """

    held = NumbersHeld(value=12, measure=12)

    def __init__(self, loaded: Randomized, query: Query, estimator: str, iteration: Iteration | None = None) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.estimator, self.iteration = loaded, estimator, iteration
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
        return self.render_hits([f"sensitive_{number}" for number in self.touched])

    def moment_text(self) -> str:
        """Write the query that numbers the published values of the hits."""
        return self.space.render(
            "estimation/randomized/published_moment", self.relations, measures=self.measures, columns=self.columns
        )

    def whole_text(self) -> str:
        """Write the query for the combinations of published values in the whole release."""
        relations = {**self.relations, "person": self.relations["published"]}
        nothing: dict[str, object] = {"quasi_conditions": [], "quasi_keys": [], "measures": []}
        apart = [f"sensitive_{number}" for number in self.touched]
        hit = self.space.render("estimation/query_run/hit", relations, **nothing, apart=apart, case_column=Sql("0"))
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
        # a query that reads no sensitive column has nothing to undo
        if self.iteration is not None and self.touched:
            undone = _iterate(self, self.iteration, published_moments, estimate)
        else:
            undone = _recover(self, published_moments, estimate)
        return self.fill_empty_counts(undone), occurring

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


def _recover(run: PublishedRun, published_moments: PublishedMoments, estimate: Estimator) -> list[Estimate]:
    """Estimate by the closed form or the matrix, or by both weighed with what values' margins say.

    The correlations of aggregates that an expression reads are kept.
    """
    recovery, aggregates = _prepare_recovery(run, published_moments), published_moments.aggregates
    narrowed = [recovery.narrow(values) for _, values in aggregates]
    estimates = []
    for narrow_recovery, (measured, _) in zip(narrowed, aggregates, strict=True):
        estimated = estimate(narrow_recovery.evidence(measured, run.estimator))
        highest = narrow_recovery.highest(measured)
        value = estimated.value if highest is None else np.minimum(estimated.value, highest)
        estimates.append(replace(estimated, value=value))
    for first, second in run.pairs():
        pair = Pair(aggregates[first][0], aggregates[second][0], run.number_measure(run.product(first, second)))
        together = narrowed[first].correlate(pair, narrowed[second])
        if together is not None:
            run.correlations[first, second] = together
    return estimates


def _prepare_recovery(run: PublishedRun, published_moments: PublishedMoments) -> Recovery:
    moments, asked_values, touched = published_moments.moments, published_moments.asked, run.query.touched
    matrix = run.loaded.joint_matrix(touched)
    if matrix is None:
        run.messages.append(f"a sensitive column has more than {LARGEST_MATRIX} values: the closed form stands alone")
    counts = [run.loaded.counts(place) for place in touched]
    unseen = max((_unseen(run.loaded.effective_gamma(place)) for place in touched), default=0.0)
    repeated = run.loaded.repeated(touched)
    weighed = run.estimator == "shrinkage"
    whole = run.loaded.whole(touched, lambda: run.read_whole(published_moments.shape)) if weighed else None
    departed = max((run.loaded.departed_share(place) for place in touched), default=0.0)
    return Recovery(
        moments=moments, asked=asked_values, counts=counts, closed=run.loaded.joint(touched), matrix=matrix,
        repeated=repeated, unseen=unseen, whole=whole, departed=departed,
    )  # fmt: skip


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))


def _iterate(
    run: PublishedRun, iteration: Iteration, published_moments: PublishedMoments, estimate: Estimator
) -> list[Estimate]:
    """Estimate by the paper's iteration, counts of rows only: they are guessed, randomized again, guessed better."""
    if run.measures:
        raise QueryError(
            "the iteration counts rows, so that SUM, AVG and quantiles of quasi columns are not answered by"
            f" {option('estimator', 'iterative')}; use shrinkage, closed_form or matrix"
        )
    moments, asked_values, shape = published_moments.moments, published_moments.asked, published_moments.shape
    cells = len(moments.columns["uniform"])
    run.check_size("counts", cells * len(asked_values.code) * 2 ** len(shape), (), LARGEST_ANSWER)
    counts = np.zeros((cells, len(asked_values.code)))
    whole, gammas = run.read_whole(shape), [run.loaded.effective_gamma(place) for place in run.query.touched]
    turns, last = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for case in range(moments.columns["uniform"].shape[1]):
        inside = asked_values.case == case
        published = states(moments.columns["uniform"][:, case], whole, shape, asked_values.code[inside])
        done = iterate(published, gammas, *iteration)
        counts[:, inside] = done.asked.reshape(cells, int(inside.sum()))
        turns.append(done.turns)
        last.append(done.change)
    _report(run, iteration, np.concatenate(turns), np.concatenate(last))
    return [
        estimate(_gather_evidence(counts[:, selection], moments, asked_values.narrow(selection), measured))
        for measured, selection in published_moments.aggregates
    ]


def _gather_evidence(
    counts: Array, moments: Moments, asked_values: SelectedValues, measured: LinearAggregate
) -> Evidence:
    sums = [asked_values.sum_by_set(counts, weights) for _, weights in measured.parts()]
    least, most = measured.function.bound(moments, asked_values, measured)
    value = measured.function.estimate(sums)
    unknown = np.full(value.shape, np.nan)
    return Evidence(value, unknown, unknown, least, most, np.zeros(value.shape, dtype=bool))


def _report(run: PublishedRun, iteration: Iteration, turns: IntArray, change: Array) -> None:
    """Say how many turns the iteration took; not converging is said with what is left to move."""
    transition, tolerance, limit = iteration
    if not len(turns):
        return
    late = change > tolerance
    run.remarks.append(
        f"iteration with the {transition} transition: {len(turns)} estimates, {int(np.median(turns))}"
        f" turns in the median, {int(turns.max())} at most"
    )
    if late.any():
        run.messages.append(
            f"{int(late.sum())} of {len(late)} estimates had not converged after {limit} turns: what is left to move"
            f" is {change.max():.3g} of a count, and {tolerance:g} was asked; raise {spoken(option('max_iterations'))}"
        )


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
        iteration = (transition, tolerance, max_iterations) if name == "iterative" else None
        return PublishedRun(self.loaded, query, name, iteration)

    def load(self, run: QueryRun) -> None:
        """Load the columns that a query reads."""
        self.loaded.load(run.query.touched)

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what a query of these columns reads."""
        return self.loaded.loading(query.touched)
