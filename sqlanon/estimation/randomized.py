"""Answers from a release with randomized values: its values with their published counts, and their channels.

The published moments are read; then the randomization is undone: in closed form, for all values at once, or by
iterating.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, QueryError, ReleaseError, UsageError
from sqlanon.estimation.failures import MissingValues
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, Lines, QueryRun
from sqlanon.estimation.release_tables import ReleaseTables, Steps, inline, listed, select_columns
from sqlanon.estimators.channels import MAX_ITERATIONS, TOLERANCE, ClosedForm, Joint, iterate, states
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence, IntArray
from sqlanon.estimators.moments import Moments, lay_out
from sqlanon.estimators.pooling import Everybody
from sqlanon.estimators.randomized_sums import Sums
from sqlanon.estimators.recovery import Recovery
from sqlanon.methods.grouping import GROUPS_PER_BLOCK, ONE_BLOCK
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.estimation.answered import Answered


_NO_ITERATION = (
    "the iteration counts rows, so that SUM, AVG, FILTER and quantiles of quasi columns are not answered by"
    f" {option('estimator', 'iterative')}; use shrinkage"
)
LARGEST_DERIVED = 200_000_000  # cells x asked sets x values for which published counts are held to be random, too
LARGEST_COMBINED = 50_000_000  # asked sets x combinations of values

UNLISTED = (
    "values of {} that no row publishes may belong to somebody all the same: the count is the least; a release with"
    " `--values list` lists all of them"
)


class Randomized(ReleaseTables):
    """Hold a release's table and what depends on it only. counts: the published counts f' of columns, by place."""

    sensitive: list[str]

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table `data`; nothing runs before the first query.

        Raises UsageError for another method's release, ReleaseError where the manifest does not say γ.
        """
        if "data" not in tables:
            raise UsageError(f"a {manifest.get('method')} release has no table of randomized rows")
        columns, parameters = manifest["columns"], manifest.get("parameters", {})
        self.quasi, self.sensitive = list(columns["quasi"]), list(columns["sensitive"])
        self.gamma = [_gamma(parameters.get("gamma"), name) for name in self.sensitive]
        block, self._departed = parameters.get("block", GROUPS_PER_BLOCK), parameters.get("departed", 0)
        if not isinstance(self._departed, int) or isinstance(self._departed, bool) or self._departed < 0:
            raise ReleaseError("the manifest does not say how many persons of its ledger have departed")
        self._block = block if isinstance(block, int) and block > 0 else ONE_BLOCK
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)}
        names |= {f"sensitive_{n}": name for n, name in enumerate(self.sensitive, start=1)}
        super().__init__(engine, tables, names)
        made = ("person", *(f"value_{number}" for number in range(1, len(self.sensitive) + 1)))
        self.relations |= {name: relation_name(self.prefix, name) for name in made}
        self.counts: dict[int, Array] = {}
        self._is_loaded = False
        self._everybody: dict[tuple[int, ...], Everybody] = {}

    def value(self, place: int) -> Sql:
        """Return the relation of one sensitive column's values (by its place, from 0)."""
        return self.relations[f"value_{place + 1}"]

    def loading_steps(self, touched: Sequence[int] = ()) -> Steps:
        """Render the rows, and the values of the columns that a query reads."""
        numbers = [place + 1 for place in touched]
        shown = [number for number in numbers if f"values_{number}" in self.tables]
        columns = {"quasi": self.quasi, "sensitive": self.sensitive}
        return self.write("evidence/randomized", self.tables, **columns, touched=numbers, listed=shown)

    def load(self, touched: Sequence[int]) -> None:
        """Make the rows and the tables of values that are not there yet, and read their counts."""
        missing = [place for place in touched if place not in self.counts]
        if not missing and self._is_loaded:
            return
        rows, *values = self.loading_steps(missing)
        run_steps(values if self._is_loaded else [rows, *values], self.engine, self._made)
        self._is_loaded = True
        for place in missing:
            counted = self.engine.arrays(f"select row_count from {self.value(place)} order by code asc nulls last")
            self.counts[place] = counted["row_count"].astype(float)

    def departed_share(self, place: int) -> float:
        """Return the share of the persons whom releases of the ledger have shown that this one does not show."""
        return float(self._departed / max(self.counts[place].sum() + self._departed, 1.0))

    def closed_form(self, place: int) -> ClosedForm:
        """Return one column's channel as the closed form has it.

        Its γ is N/m, m = floor(N/γ): γ itself where every group holds γ rows, or held them before some left.
        """
        counts, gamma = self.counts[place], self.gamma[place]
        rows = float(counts.sum())
        groups = rows // gamma
        per_block = groups / max(groups // self._block, 1)
        effective = float(gamma) if self._departed else rows / max(groups, 1)
        return ClosedForm(np.minimum(counts, groups), rows, effective, per_block)

    def everybody(self, touched: Sequence[int], table: Callable[[], Array]) -> Everybody | None:
        """Return the whole release's figures of the columns that are read; None where there are none.

        table: reads the release's rows by published values, V; it runs once.
        """
        key = tuple(touched)
        if key and key not in self._everybody:
            shares = [self.counts[place] / self.counts[place].sum() for place in touched]
            self._everybody[key] = Everybody([self.closed_form(place) for place in touched], shares, table())
        return self._everybody.get(key)

    def close(self) -> None:
        """Forget the temporary tables; they are made again where they are needed again."""
        super().close()
        self._is_loaded = False
        self.counts.clear()
        self._everybody.clear()

    # -- queries ---------------------------------------------------------------------------------

    def start(self, query: Query, name: str) -> "QueryRun":
        """Start the run of an estimator."""
        return PublishedRun(self, query, name)

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what a query of these columns reads."""
        return listed(self.loading_steps(query.touched))

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for quasi columns, which are not randomized."""
        return None if columns & set(self.sensitive) else select_columns(columns, self.tables["data"])

    def ask_exactly(self, sql: str, query: Query | None) -> "Answered | None":
        """Count the different values of a whole column, too: those that are listed, or the fewest there may be."""
        from sqlanon.estimation.answered import answer_exactly
        from sqlanon.sql.exact_query import read_distinct, read_exact

        if (column := read_distinct(sql, self.sensitive)) is None:
            return super().ask_exactly(sql, query)
        shown = self.tables.get(f"values_{self.sensitive.index(column) + 1}")
        rows = shown or self.tables["data"]
        exact = read_exact(sql, lambda columns: select_columns(columns, rows), self.sensitive, None)
        assert exact is not None
        answer = answer_exactly(self, exact, None)
        if shown is None:
            frame = answer.df()
            frame[[f"{frame.columns[0]}_{end}" for end in ("std_error", "high")]] = np.nan
            answer.messages = answer.warnings = [UNLISTED.format(repr(column))]
        return answer


def _gamma(value: object, column: str) -> int:
    gamma = value.get(column) if isinstance(value, Mapping) else value
    if not isinstance(gamma, int) or isinstance(gamma, bool) or gamma < 2:
        raise ReleaseError(f"the manifest does not say the gamma of {column!r}")
    return gamma


class PublishedRun(QueryRun):
    """Read what the release publishes of one query, and undo how it was randomized.

    touched: the numbers of the sensitive columns that are read, from 1; columns: these with the relations of their
    values.
    """

    held, asks_logs = (12, 12, 1), True

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
