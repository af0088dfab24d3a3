"""Answer aggregate queries from a release with randomized values, by the estimator that the caller names.

A query's run reads the published moments; then the randomization is undone: by inverting the channels, once for all
values, or by iterating.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.exact import select_columns
from sqlanon.estimation.failures import require_finite_measures
from sqlanon.estimation.memory_need import NumbersHeld
from sqlanon.estimation.quantiles import cumulate
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.randomized.tables import LARGEST_MATRIX, Randomized
from sqlanon.estimation.session import Session
from sqlanon.estimation.temporary_tables import inline, text_of
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.estimators.aggregates import COUNT, LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence, IntArray
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, check, iterate, states
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.propagation import Pair
from sqlanon.estimators.randomized.recovery import Recovery
from sqlanon.plans.plan import Loop, Report, relation_name, statements_of
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Piece, Query
from sqlanon.wording import option, spoken

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers


_NO_ITERATION = (
    "the iteration counts rows, so that SUM, AVG, FILTER and quantiles of quasi columns are not answered by"
    f" {option('estimator', 'iterative')}; use shrinkage"
)
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

    moments: by the conditions of FILTER under which hits count. shape: how many values each sensitive column has that
    the query reads.
    """

    moments: Mapping[tuple[Piece, ...], Moments]
    asked: SelectedValues
    aggregates: Sequence[Measured]
    shape: tuple[int, ...]


class PublishedRun(QueryRun):
    """Read what the release publishes of one query, and undo how it was randomized.

    iteration: how counts are guessed, None where the closed form and the matrix are inverted. touched: the numbers of
    the sensitive columns that are read, from 1; columns: these with the relations of their values.
    """

    held = NumbersHeld(value=12, measure=12)
    takes_limits = True

    def __init__(self, loaded: Randomized, query: Query, estimator: str, iteration: Iteration | None = None) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.estimator, self.iteration = loaded, estimator, iteration
        self.touched = [place + 1 for place in query.touched]
        self.columns = [(place + 1, loaded.value(place)) for place in query.touched]
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand."""
        names = ("asked", "hit", "figure", *(["possible"] if self.query.parts else []))
        self.relations |= {name: relation_name(self.loaded.prefix, name) for name in names}
        self.relations["value"] = self._combine(self.columns)
        self.people = self.relations["possible" if self.query.parts else "person"]

    def _combine(self, columns: Sequence[tuple[int, Sql]]) -> Sql:
        return inline(self.space.render("evidence/combination", {}, columns=columns))

    def domain(self, column: str) -> Sql:
        """Return the published values of one column; of a sensitive one without those of others beside them."""
        for place, relation in self.columns:
            if column == f"sensitive_{place}":
                return self._combine([(place, relation)])
        return self.relations["person"]

    # -- the statements ------------------------------------------------------------------------

    @property
    def apart(self) -> list[str]:
        """Return the columns of published values that are read."""
        return [f"sensitive_{number}" for number in self.touched]

    def counting_steps(self) -> list[Statement | Report | Loop]:
        """Render what counts the hits; the last one is read: what an estimate needs of them."""
        measures = list(range(1, len(self.measures) + 1))
        return [*self.write_hits(self.apart), *self._write_moment(measures, self.flags)]

    def _write_moment(self, measures: Sequence[int], flags: Sequence[str]) -> list[Statement | Report | Loop]:
        return self.space.write(
            "evidence/published", self.relations, measures=measures, columns=self.columns, flags=flags
        )

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [("asked", self.render_asked())]
        listed += [(made.name, made.sql) for step in self.counting_steps() for made in statements_of(step)]
        if self._needs_whole():
            listed.append(("whole", self.whole_text()))
        return listed + self.closing_statements()

    def whole_text(self) -> str:
        """Write the query for the combinations of published values in the whole release."""
        values = ", ".join(f"{relation} as value_{number}" for number, relation in self.columns)
        codes = ", ".join(f"value_{number}.code as code_{number}" for number in self.touched)
        same = " and ".join(f"person.{name} is not distinct from value_{name[10:]}.sensitive" for name in self.apart)
        listed = ", ".join(f"code_{number}" for number in self.touched)
        counted = f"select {codes} from {self.relations['person']} as person, {values} where {same}"
        return f"select {listed}, count(*) as row_count from ({counted}) as coded group by {listed}"

    def _needs_whole(self) -> bool:
        return self.estimator in ("iterative", "shrinkage") and len(self.touched) > 1

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], BoolArray]:
        """Read the published moments, and estimate what they were before they were randomized."""
        asked_values, weights = self.read_selected()
        *made, moment = self.counting_steps()
        run_steps(made, self.loaded.engine, self.made)
        shape = tuple(len(self.loaded.counts(place)) for place in self.query.touched)
        self.check_size("sets", asked_values.set_count, shape, LARGEST_COMBINED)
        self.require_memory(asked_values, int(np.prod(shape)))
        lines = self.loaded.engine.arrays(text_of(moment))
        moments = {limits: self.arrange_moments(lines, asked_values, shape, limits) for limits in self._limit_sets()}
        aggregates = [self.vectorize(aggregate, weights) for aggregate in self.query.aggregates]
        published_moments = PublishedMoments(moments, asked_values, aggregates, shape)
        occurring = self.tell_occurring(asked_values, moments[()].count("uniform"))
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

    def estimate_shares(
        self, averages: Sequence[LinearAggregate], chosen: BoolArray, count: int | None, estimate: Estimator
    ) -> tuple[Estimate, Estimate]:
        """Return the rows that a quantile is of, and shares of them below values."""
        if self.iteration is not None:
            raise QueryError(_NO_ITERATION)
        self.forget_hits()
        lines, limits = self.read_lines(), self.limits_of(0)
        if count is not None:
            known = ~np.isnan(lines["bucket"].astype(float))
            lines = {name: line[known] for name, line in lines.items()}
        selected, shape = self.selected, tuple(len(self.loaded.counts(place)) for place in self.query.touched)
        moments = self.arrange_moments(lines, selected, shape, limits)
        recovery = self.prepare(moments, shape)
        present = averages[0].present
        counted = LinearAggregate(COUNT.of_values, None, present, present)
        rows = estimate(recovery.narrow(chosen).evidence(counted, self.estimator))
        rows = replace(rows, value=np.nan_to_num(rows.value))
        if count is None:
            shares = [estimate(recovery.narrow(chosen).evidence(average, self.estimator)) for average in averages]
            return rows, Estimate(*(np.stack(side) for side in zip(*(vars(s).values() for s in shares), strict=True)))
        cells, sets = rows.value.shape
        if not (count and len(lines["cell"])):
            return rows, Estimate(*np.zeros((5, count, cells, sets)))
        for limit in limits:
            lines = {name: line[lines[self.flag_of(limit)] == 1] for name, line in lines.items()}
        below = cumulate(lines, count, {"row_count": ("value_count_1", "value_sum_1")})
        ends = {"endless_count_1": np.zeros(len(below["cell"])), "least_1": np.zeros(len(below["cell"]))}
        below |= {"square_sum_1": below["value_sum_1"], "positive_sum_1": below["value_sum_1"], **ends}
        below |= {"largest_1": np.ones(len(below["cell"]))}
        moments = self.arrange_moments(below, selected, shape, (), measures=1, cells=cells * count)
        (average,) = averages
        share = estimate(recovery.under(moments).narrow(chosen).evidence(average, self.estimator))
        return rows, Estimate(*(side.reshape(cells, count, sets).transpose(1, 0, 2) for side in vars(share).values()))

    def _limit_sets(self) -> list[tuple[Piece, ...]]:
        """Return the conditions of FILTER that a figure is under: none, one, those of two that are read together."""
        pairs = ((self.limits_of(one), self.limits_of(other)) for one, other in self.pairs())
        both = (tuple(dict.fromkeys(one + other)) for one, other in pairs)
        return list(dict.fromkeys([(), *((limit,) for limit in self.limits), *both]))

    def limits_of(self, number: int) -> tuple[Piece, ...]:
        """Return the condition of FILTER of an aggregate, if it has one."""
        limit = self.query.aggregates[number].limit
        return () if limit is None else (limit,)

    def flag_of(self, limit: Piece) -> str:
        """Return the column that tells whether a condition of FILTER holds."""
        return self.flags[self.limits.index(limit)]

    def arrange_moments(
        self,
        lines: "Mapping[str, Numbers]",
        asked: SelectedValues,
        shape: tuple[int, ...],
        limits: Sequence[Piece],
        measures: int | None = None,
        cells: int | None = None,
    ) -> Moments:
        """Write lines of the moments, of hits under some conditions, as arrays under the moments' names.

        `uniform` is as published, `shared` for any value. measures, cells: how many there are, if not the query's own.
        """
        cases = int(asked.case.max(initial=0)) + 1
        if cells is None:
            cells = int(lines["cell"].max()) + 1 if len(lines["cell"]) else int(not self.quasi_keys)
        self.check_size("groups and cases", cells * cases, shape, LARGEST_ANSWER)
        inside = np.ones(len(lines["cell"]), dtype=bool)
        for limit in limits:
            inside &= lines[self.flag_of(limit)] == 1
        chosen = {name: line[inside] for name, line in lines.items()}
        place = (*(chosen[name].astype(np.int64) for name in ("cell", "case_number")), self._codes(chosen, shape))
        numbers = range(1, (len(self.measures) if measures is None else measures) + 1)
        require_finite_measures(chosen, "endless_count", len(numbers))
        values = int(np.prod(shape))
        names = {f"{source}_{n}": f"{name}_{n}" for n in numbers for source, name in _MEASURES.items()}
        columns: dict[str, Array] = {}
        for source, name in {"row_count": "uniform", **names}.items():
            extreme, line = (
                {"least": np.fmin, "largest": np.fmax}.get(name.partition("_")[0]),
                chosen[source].astype(float),
            )
            if extreme is None:
                columns[name] = np.zeros((cells, cases, values))
                np.add.at(columns[name], place, np.nan_to_num(line))
                sums = columns[name].sum(axis=2, keepdims=True)
                columns[name.replace("uniform", "shared")] = np.broadcast_to(sums, columns[name].shape)
            else:
                ends = np.full((cells, cases), np.nan)
                extreme.at(ends, place[:2], line)
                columns[name] = np.broadcast_to(ends[..., None], (cells, cases, values))
        rows = self.loaded.counts(self.query.touched[0]).sum() if self.touched else columns["uniform"].sum()
        return Moments(columns, np.full(values, float(rows)))

    def _codes(self, lines: "Mapping[str, Numbers]", shape: tuple[int, ...]) -> IntArray:
        """Number the combinations of published values as `value` does."""
        if not shape:
            return np.zeros(len(lines["row_count"]), dtype=np.int64)
        codes = tuple(lines[f"code_{number}"].astype(np.int64) for number in self.touched)
        return np.ravel_multi_index(codes, shape).astype(np.int64)

    def prepare(self, moments: Moments, shape: tuple[int, ...]) -> Recovery:
        """Return what turns moments into evidence."""
        loaded, touched = self.loaded, self.query.touched
        matrix = loaded.joint_matrix(touched)
        if matrix is None:
            self.messages.append(
                f"a sensitive column has more than {LARGEST_MATRIX} values: the closed form stands alone"
            )
        return Recovery(
            moments=moments,
            asked=self.selected,
            counts=[loaded.counts(place) for place in touched],
            closed=loaded.joint(touched),
            matrix=matrix,
            repeated=loaded.repeated(touched),
            unseen=max((_unseen(loaded.effective_gamma(place)) for place in touched), default=0.0),
            whole=loaded.whole(touched, lambda: self.read_whole(shape)) if self.estimator == "shrinkage" else None,
            departed=max((loaded.departed_share(place) for place in touched), default=0.0),
        )

    def read_whole(self, shape: tuple[int, ...]) -> Array:
        """Return the rows of the whole release by published values, V."""
        if not self._needs_whole():
            return self.loaded.counts(self.query.touched[0])
        lines = self.loaded.engine.arrays(self.whole_text())
        whole = np.zeros(int(np.prod(shape)))
        whole[self._codes(lines, shape)] = lines["row_count"]
        return whole


def _recover(run: PublishedRun, published_moments: PublishedMoments, estimate: Estimator) -> list[Estimate]:
    """Estimate by the closed form or the matrix, or by both weighed with what values' margins say.

    The correlations of aggregates that an expression reads are kept.
    """
    recovery = run.prepare(published_moments.moments[()], published_moments.shape)
    aggregates = published_moments.aggregates
    under = {limits: recovery.under(moments) for limits, moments in published_moments.moments.items()}
    narrowed = [under[run.limits_of(number)].narrow(values) for number, (_, values) in enumerate(aggregates)]
    estimates = []
    for narrow_recovery, (measured, _) in zip(narrowed, aggregates, strict=True):
        estimated = estimate(narrow_recovery.evidence(measured, run.estimator))
        highest = narrow_recovery.highest(measured)
        value = estimated.value if highest is None else np.minimum(estimated.value, highest)
        estimates.append(replace(estimated, value=value))
    for first, second in run.pairs():
        pair = Pair(aggregates[first][0], aggregates[second][0], run.number_measure(run.product(first, second)))
        both = tuple(dict.fromkeys(run.limits_of(first) + run.limits_of(second)))
        together = narrowed[first].correlate(pair, narrowed[second], published_moments.moments[both])
        if together is not None:
            run.correlations[first, second] = together
    return estimates


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))


def _iterate(
    run: PublishedRun, iteration: Iteration, published_moments: PublishedMoments, estimate: Estimator
) -> list[Estimate]:
    """Estimate by the paper's iteration, counts of rows only: they are guessed, randomized again, guessed better."""
    if run.measures or run.limits:
        raise QueryError(_NO_ITERATION)
    moments, asked_values, shape = published_moments.moments[()], published_moments.asked, published_moments.shape
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

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for quasi columns, which are not randomized."""
        return None if set(columns) & set(self.sensitive) else select_columns(columns, self.loaded.tables["data"])

    def published_domain(self, column: str) -> Sql:
        """Return the published rows under our names."""
        self.loaded.load([])
        return self.loaded.relations["person"]

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what a query of these columns reads."""
        steps = self.loaded.loading_steps(query.touched)
        return [(made.name, made.sql) for step in steps for made in statements_of(step)]
