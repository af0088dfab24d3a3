"""One query on its way through a release with randomized values.

The published moments are read; then the randomization is undone: in closed form, for all values at once, or by
iterating.
"""

from collections.abc import Sequence

import numpy as np

from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, Lines, QueryRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimation.temporary_tables import Steps, inline
from sqlanon.estimators.closed_form import Joint
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence, IntArray
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, iterate, states
from sqlanon.estimators.moments import Moments, lay_out
from sqlanon.estimators.randomized.recovery import Recovery
from sqlanon.estimators.randomized.sums import Sums
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.wording import option

_NO_ITERATION = (
    "the iteration counts rows, so that SUM, AVG, FILTER and quantiles of quasi columns are not answered by"
    f" {option('estimator', 'iterative')}; use shrinkage"
)
LARGEST_DERIVED = 200_000_000  # cells x asked sets x values for which published counts are held to be random, too
LARGEST_COMBINED = 50_000_000  # asked sets x combinations of values


class PublishedRun(QueryRun):
    """Read what the release publishes of one query, and undo how it was randomized.

    touched: the numbers of the sensitive columns that are read, from 1; columns: these with the relations of their
    values.
    """

    held = (12, 12, 1)

    def __init__(self, loaded: Randomized, query: Query, estimator: str) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.estimator = loaded, estimator
        self.touched = [place + 1 for place in query.touched]
        self.columns = [(place + 1, loaded.value(place)) for place in query.touched]
        self.relations["value"] = self._combine(self.columns)
        # how often combinations stand in the whole release: of one column that is counted anyway
        self._reads_whole = estimator in ("iterative", "shrinkage") and len(self.touched) > 1

    def _combine(self, columns: Sequence[tuple[int, Sql]]) -> Sql:
        return inline(self.space.render("evidence/combination", {}, columns=columns))

    def load(self) -> None:
        """Load the columns that the query reads."""
        self.loaded.load(self.query.touched)

    def domain(self, column: str) -> Sql:
        """Return the published values of one column; of a sensitive one without those of others beside them."""
        for number, relation in self.columns:
            if column == f"sensitive_{number}":
                return self._combine([(number, relation)])
        return self.relations["person"]

    # -- the statements ------------------------------------------------------------------------

    def counting_steps(self) -> Steps:
        """Render what counts the hits; the last one is read: what an estimate needs of them."""
        measures = list(range(1, len(self.measures) + 1))
        moment = self.space.write(
            "evidence/published", self.relations, measures=measures, columns=self.columns, flags=self.flags
        )
        return [*self.write_hits([f"sensitive_{number}" for number in self.touched]), *moment]

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        return [*super().statements(), *([("whole", self._whole_text())] if self._reads_whole else [])]

    def _whole_text(self) -> str:
        """Write the query for the combinations of published values in the whole release."""
        values = ", ".join(f"{relation} as value_{number}" for number, relation in self.columns)
        codes = ", ".join(f"value_{number}.code as code_{number}" for number in self.touched)
        same = " and ".join(
            f"person.sensitive_{number} is not distinct from value_{number}.sensitive" for number in self.touched
        )
        keys = ", ".join(f"code_{number}" for number in self.touched)
        counted = f"select {codes} from {self.relations['person']} as person, {values} where {same}"
        return f"select {keys}, count(*) as row_count from ({counted}) as coded group by {keys}"

    # -- running -------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many values each sensitive column has that the query reads."""
        return tuple(len(self.loaded.counts[place]) for place in self.query.touched)

    def count_values(self) -> int:
        """Return how many combinations of values there are; refuse too many of them by sets."""
        self._check_size("sets", self.selected.set_count, self.shape, LARGEST_COMBINED)
        return int(np.prod(self.shape))

    def _check_size(self, what: str, number: int, shape: tuple[int, ...], limit: int) -> None:
        """Raise AnswerError where a query asks for more numbers at once than `limit`."""
        values = int(np.prod(shape, dtype=object))
        if number * values > limit:
            raise AnswerError(
                f"the query asks for {number} {what} x {values} combinations of sensitive values at once;"
                " read fewer sensitive columns, group by fewer columns, or narrow WHERE"
            )

    def _arrange(self, lines: Lines, cells: int) -> Moments:
        """Write lines of the moments as arrays C x K x V: `uniform` is as published, `shared` for any value."""
        shape, cases = self.shape, self.selected.case_count
        self._check_size("groups and cases", cells * cases, shape, LARGEST_ANSWER)
        values = int(np.prod(shape))
        columns = lay_out(lines, self._number(lines), (cells, cases, values))
        for name, column in list(columns.items()):
            ends = {"least": np.fmin.reduce, "largest": np.fmax.reduce}.get(name.partition("_")[0])
            wide = (ends or np.sum)(column, axis=2, keepdims=True)
            columns[name if ends else name.replace("uniform", "shared")] = np.broadcast_to(wide, column.shape)
        rows = self.loaded.counts[self.query.touched[0]].sum() if self.touched else columns["uniform"].sum()
        return Moments(columns, np.full(values, float(rows)))

    def _number(self, lines: Lines) -> IntArray:
        """Number the combinations of published values as `value` does."""
        if not self.touched:
            return np.zeros(len(lines["cell"]), dtype=np.int64)
        codes = tuple(lines[f"code_{number}"].astype(np.int64) for number in self.touched)
        return np.ravel_multi_index(codes, self.shape).astype(np.int64)

    def infer(self, lines: Lines, cells: int, thresholds: int = 1) -> Recovery:
        """Return what turns lines of moments into evidence."""
        if self.estimator == "iterative" and self.touched:
            raise QueryError(_NO_ITERATION)
        loaded, touched = self.loaded, self.query.touched
        closed = Joint([loaded.closed_form(place) for place in touched])
        sums = Sums(
            moments=self._arrange(lines, cells),
            asked=self.selected,
            counts=[loaded.counts[place] for place in touched],
            closed=closed,
            departed=max((loaded.departed_share(place) for place in touched), default=0.0),
            derived=len(touched) == 1 and cells * self.selected.set_count * self.count_values() <= LARGEST_DERIVED,
        )
        return Recovery(
            sums=sums,
            unseen=max((_unseen(channel.gamma) for channel in closed.channels), default=0.0),
            everybody=loaded.everybody(touched, self._read_whole) if self.estimator == "shrinkage" else None,
            missing=self._count_missing() if self.selected.set_count == 1 else 0,
        )

    def _count_missing(self) -> int:
        """Return how many sensitive values the query names that the release does not show."""
        named = [one for one in self.comparisons() if one.column.startswith("sensitive_") and one.operator == "="]
        MissingValues(self.space, self.domain).tell(named)
        return sum(bool(self.space.missing_constants[one]) for one in named)

    def _read_whole(self) -> Array:
        """Return the rows of the whole release by published values, V."""
        if not self._reads_whole:
            return self.loaded.counts[self.query.touched[0]]
        lines = self.loaded.engine.arrays(self._whole_text())
        whole = np.zeros(int(np.prod(self.shape)))
        whole[self._number(lines)] = lines["row_count"]
        return whole

    # -- the iteration ---------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Estimate], BoolArray]:
        """Read the published moments, and estimate what they were before they were randomized."""
        # a query that reads no sensitive column has nothing to undo
        if self.estimator != "iterative" or not self.touched:
            return super().estimate_aggregates(estimate)
        if self.measures or self.limits:
            raise QueryError(_NO_ITERATION)
        selected, weights = self.read_selected()
        lines = self.read_lines()
        moments = self._arrange(lines, self.count_answered(lines))
        counts = self._iterate(moments)
        estimates = []
        for linear, chosen in (self.vectorize(aggregate, weights) for aggregate in self.query.aggregates):
            asked = selected.narrow(chosen)
            value = linear.function.estimate([asked.sum_by_set(counts[:, chosen], each) for _, each in linear.parts()])
            unknown, bounds = np.full(value.shape, np.nan), linear.function.bound(moments, asked, linear)
            estimates.append(estimate(Evidence(value, unknown, unknown, *bounds, np.zeros(value.shape, dtype=bool))))
        return self.fill_empty_counts(estimates), self.tell_occurring(moments.count("uniform"))

    def _iterate(self, moments: Moments) -> Array:
        """Return counts of rows, cells x asked values, by the paper's iteration; say how many turns it took."""
        selected, shape, cells = self.selected, self.shape, len(moments.columns["uniform"])
        self._check_size("counts", cells * len(selected.code) * 2 ** len(shape), (), LARGEST_ANSWER)
        counts = np.zeros((cells, len(selected.code)))
        whole, gammas = self._read_whole(), [self.loaded.closed_form(place).gamma for place in self.query.touched]
        turns, change = np.zeros(0, dtype=np.int64), np.zeros(0)
        for case in range(selected.case_count):
            inside = selected.case == case
            published = states(moments.columns["uniform"][:, case], whole, shape, selected.code[inside])
            done = iterate(published, gammas)
            counts[:, inside] = done.asked.reshape(cells, int(inside.sum()))
            turns, change = np.append(turns, done.turns), np.append(change, done.change)
        if len(turns):
            self.remarks.append(
                f"iteration: {len(turns)} estimates, {int(np.median(turns))} turns in the median, {turns.max()} at most"
            )
        if late := int((change > TOLERANCE).sum()):
            self.messages.append(
                f"{late} of {len(change)} estimates had not converged after {MAX_ITERATIONS:,} turns: what is"
                f" left to move is {change.max():.3g} of a count"
            )
        return counts


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))
