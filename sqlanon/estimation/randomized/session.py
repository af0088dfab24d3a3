"""Answer aggregate queries from a release with randomized values, by the estimator that the caller names.

A query's run reads the published moments; then the randomization is undone: in closed form, for all values at once, or
by iterating.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.exact import answer_exactly, select_columns
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimation.session import Session
from sqlanon.estimation.temporary_tables import inline, listed
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray, Evidence, IntArray
from sqlanon.estimators.iterative import MAX_ITERATIONS, TOLERANCE, iterate, states
from sqlanon.estimators.moments import Moments, lay_out
from sqlanon.estimators.randomized.recovery import Recovery
from sqlanon.estimators.randomized.sums import Sums
from sqlanon.plans.plan import Loop, Report
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.sql.exact_query import read_distinct, read_exact
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers


_NO_ITERATION = (
    "the iteration counts rows, so that SUM, AVG, FILTER and quantiles of quasi columns are not answered by"
    f" {option('estimator', 'iterative')}; use shrinkage"
)
UNLISTED = (
    "values of {} that no row publishes may belong to somebody all the same: the count is the least; a release with"
    " `--values list` lists all of them"
)
LARGEST_DERIVED = 200_000_000  # cells x asked sets x values for which published counts are held to be random, too
LARGEST_COMBINED = 50_000_000  # asked sets x combinations of values
Measured = tuple[LinearAggregate, BoolArray]  # an aggregate, and which of the selected values it counts


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
        whole = [("whole", self.whole_text())] if self._needs_whole() else []
        return [*super().statements(), *whole]

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

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many values each sensitive column has that the query reads."""
        return tuple(len(self.loaded.counts(place)) for place in self.query.touched)

    @property
    def value_count(self) -> int:
        """Return how many combinations of values there are; refuse too many of them by sets."""
        self.check_size("sets", self.selected.set_count, self.shape, LARGEST_COMBINED)
        return int(np.prod(self.shape))

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], BoolArray]:
        """Read the published moments, and estimate what they were before they were randomized."""
        # a query that reads no sensitive column has nothing to undo
        if self.estimator != "iterative" or not self.touched:
            return super().estimate_aggregates(estimate)
        if self.measures or self.limits:
            raise QueryError(_NO_ITERATION)
        selected, weights = self.read_selected()
        lines = self.read_lines()
        moments = self.arrange_moments(lines, self.count_answered(lines))
        counts = self._iterate(moments)
        estimates = []
        for linear, chosen in (self.vectorize(aggregate, weights) for aggregate in self.query.aggregates):
            asked = selected.narrow(chosen)
            value = linear.function.estimate([asked.sum_by_set(counts[:, chosen], each) for _, each in linear.parts()])
            unknown, bounds = np.full(value.shape, np.nan), linear.function.bound(moments, asked, linear)
            estimates.append(estimate(Evidence(value, unknown, unknown, *bounds, np.zeros(value.shape, dtype=bool))))
        return self.fill_empty_counts(estimates), self.tell_occurring(selected, moments.count("uniform"))

    def _iterate(self, moments: Moments) -> Array:
        """Return counts of rows, cells x asked values, by the paper's iteration."""
        selected, shape, cells = self.selected, self.shape, len(moments.columns["uniform"])
        self.check_size("counts", cells * len(selected.code) * 2 ** len(shape), (), LARGEST_ANSWER)
        counts = np.zeros((cells, len(selected.code)))
        whole, gammas = self.read_whole(), [self.loaded.effective_gamma(place) for place in self.query.touched]
        turns, last = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for case in range(selected.case_count):
            inside = selected.case == case
            published = states(moments.columns["uniform"][:, case], whole, shape, selected.code[inside])
            done = iterate(published, gammas)
            counts[:, inside] = done.asked.reshape(cells, int(inside.sum()))
            turns.append(done.turns)
            last.append(done.change)
        self._report(np.concatenate(turns), np.concatenate(last))
        return counts

    def _report(self, turns: IntArray, change: Array) -> None:
        """Say how many turns the iteration took; not converging is said with what is left to move."""
        if not len(turns):
            return
        late = change > TOLERANCE
        self.remarks.append(
            f"iteration: {len(turns)} estimates, {int(np.median(turns))} turns in the median, {turns.max()} at most"
        )
        if late.any():
            self.messages.append(
                f"{int(late.sum())} of {len(late)} estimates had not converged after {MAX_ITERATIONS:,} turns: what is"
                f" left to move is {change.max():.3g} of a count"
            )

    def check_size(self, what: str, number: int, shape: tuple[int, ...], limit: int) -> None:
        """Raise AnswerError where a query asks for more numbers at once than `limit`."""
        values = int(np.prod(shape, dtype=object))
        if number * values > limit:
            raise AnswerError(
                f"the query asks for {number} {what} x {values} combinations of sensitive values at once;"
                " read fewer sensitive columns, group by fewer columns, or narrow WHERE"
            )

    def arrange_moments(self, lines: "Mapping[str, Numbers]", cells: int) -> Moments:
        """Write lines of the moments as arrays C x K x V: `uniform` is as published, `shared` for any value."""
        shape, cases = self.shape, self.selected.case_count
        self.check_size("groups and cases", cells * cases, shape, LARGEST_ANSWER)
        values = int(np.prod(shape))
        columns = lay_out(lines, self._codes(lines, shape), (cells, cases, values))
        for name, column in list(columns.items()):
            ends = {"least": np.fmin.reduce, "largest": np.fmax.reduce}.get(name.partition("_")[0])
            wide = (ends or np.sum)(column, axis=2, keepdims=True)
            columns[name if ends else name.replace("uniform", "shared")] = np.broadcast_to(wide, column.shape)
        rows = self.loaded.counts(self.query.touched[0]).sum() if self.touched else columns["uniform"].sum()
        return Moments(columns, np.full(values, float(rows)))

    def _codes(self, lines: "Mapping[str, Numbers]", shape: tuple[int, ...]) -> IntArray:
        """Number the combinations of published values as `value` does."""
        if not shape:
            return np.zeros(len(lines["cell"]), dtype=np.int64)
        codes = tuple(lines[f"code_{number}"].astype(np.int64) for number in self.touched)
        return np.ravel_multi_index(codes, shape).astype(np.int64)

    def infer(self, lines: "Mapping[str, Numbers]", cells: int, thresholds: int = 1) -> Recovery:
        """Return what turns lines of moments into evidence."""
        if self.estimator == "iterative" and self.touched:
            raise QueryError(_NO_ITERATION)
        loaded, touched = self.loaded, self.query.touched
        sums = Sums(
            moments=self.arrange_moments(lines, cells),
            asked=self.selected,
            counts=[loaded.counts(place) for place in touched],
            closed=loaded.joint(touched),
            departed=max((loaded.departed_share(place) for place in touched), default=0.0),
            derived=len(touched) == 1 and cells * self.selected.set_count * self.value_count <= LARGEST_DERIVED,
        )
        return Recovery(
            sums=sums,
            unseen=max((_unseen(loaded.effective_gamma(place)) for place in touched), default=0.0),
            everybody=loaded.everybody(touched, self.read_whole) if self.estimator == "shrinkage" else None,
            missing=self.count_missing() if self.selected.set_count == 1 else 0,
        )

    def count_missing(self) -> int:
        """Return how many sensitive values the query names that the release does not show."""
        named = [one for one in self.comparisons() if one.column.startswith("sensitive_") and one.operator == "="]
        MissingValues(self.space, self.domain).tell(named)
        return sum(bool(self.space.missing_constants[one]) for one in named)

    def read_whole(self) -> Array:
        """Return the rows of the whole release by published values, V."""
        if not self._needs_whole():
            return self.loaded.counts(self.query.touched[0])
        lines = self.loaded.engine.arrays(self.whole_text())
        whole = np.zeros(int(np.prod(self.shape)))
        whole[self._codes(lines, self.shape)] = lines["row_count"]
        return whole


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))


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

    def start(self, query: Query, name: str) -> PublishedRun:
        """Start the run of an estimator."""
        return PublishedRun(self.loaded, query, name)

    def load(self, run: QueryRun) -> None:
        """Load the columns that a query reads."""
        self.loaded.load(run.query.touched)

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for quasi columns, which are not randomized."""
        return None if set(columns) & set(self.sensitive) else select_columns(columns, self.loaded.tables["data"])

    def _ask_exactly(self, sql: str) -> Answered | None:
        """Count the different values of a whole column, too: those that are listed, or the fewest there may be."""
        if (column := read_distinct(sql, self.sensitive)) is None:
            return super()._ask_exactly(sql)
        listed = self.loaded.tables.get(f"values_{self.sensitive.index(column) + 1}")
        exact = read_exact(
            sql, lambda columns: select_columns(columns, listed or self.loaded.tables["data"]), self.sensitive, None
        )
        assert exact is not None
        answer = answer_exactly(self, exact, None)
        if listed is None:
            frame = answer.df()
            for end in ("std_error", "high"):
                frame[f"{frame.columns[0]}_{end}"] = np.nan
            answer.messages = answer.warnings = [UNLISTED.format(repr(column))]
        return answer

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what a query of these columns reads."""
        return listed(self.loaded.loading_steps(query.touched))
