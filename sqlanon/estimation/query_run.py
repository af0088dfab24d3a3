"""The run of one query over a release: what the answers of all forms share.

A form estimates for each cell (combination of quasi keys) and value set (combination of sensitive keys). The values
that the sensitive part of the query selects are numbered (relation `asked`). Names, order and keys are added to the
figures (relation `figure`) in SQL.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.runner import run_steps
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.derived_figures import evaluate_derived
from sqlanon.estimation.failures import (
    ANSWER,
    LINE,
    SET,
    MissingValues,
    explained,
    require_finite_measures,
    require_finite_weights,
    require_memory,
    require_numeric,
    require_readable,
)
from sqlanon.estimation.release_tables import ReleaseTables, Steps, inline, listed, text_of
from sqlanon.estimators.aggregates import LinearAggregate, Pair
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence, IntArray
from sqlanon.estimators.moments import SelectedValues
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL, Aggregate, Comparison, Piece, Query, Role

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.engines.base import Numbers

LARGEST_ANSWER = 20_000_000  # numbers per moment: cells x cases x values
Lines = Mapping[str, "Numbers"]  # of moments, as columns
Estimator = Callable[[Evidence], Estimate]
Inverted = Mapping[int, Mapping[str, Any]]  # by the number of an aggregate: the fields of its estimates


class QueryRun:
    """Run one query: its pieces sorted, the texts that are made of them, and what the answers of all forms share.

    A form says how hits are counted (`counting_steps`), what lines of moments say (`infer`), and how much is held.
    SELECTING: the roles of the conditions that select sensitive values. counts_values: whether values are published
    with their rows. asks_logs: whether the variance of a product does. held: numbers held at once, by measurement: of
    a value in a cell and case, of each measure beside every line and value, and copies of the lines that are read.
    """

    SELECTING: tuple[Role, ...] = ("sensitive",)
    counts_values = False
    asks_logs = False
    held: tuple[int, int, int]

    def __init__(self, loaded: ReleaseTables, query: Query) -> None:
        """Sort the query's pieces; nothing runs yet. `relations` must name `value` before `render_asked` is called."""
        self.space, self.query = loaded, query
        self.quasi_keys = [key for key in query.keys if key.role != "sensitive"]
        self.sensitive_keys = [key for key in query.keys if key.role == "sensitive"]
        arguments = [agg.argument for agg in query.aggregates if agg.argument]
        weights = [piece for piece in arguments if piece.role in ("constant", "sensitive")]
        weights += [weigh_choice(agg.chosen) for agg in query.aggregates if agg.chosen]
        weights += [agg.times for agg in query.aggregates if agg.times]
        self.weights = list(dict.fromkeys(weights))
        self.limits = list(dict.fromkeys(agg.limit for agg in query.aggregates if agg.limit))
        # by aggregate the marks of the hits that it counts: FILTER's condition
        self.under = [
            tuple(f"flag_{n}" for n, one in enumerate(self.limits, start=1) if one == agg.limit)
            for agg in query.aggregates
        ]
        pairs = sorted({derived.read for derived in query.derived if len(derived.read) == 2})
        self.pairs = {
            (one, other): self._multiply(one, other) for one, other in pairs
        }  # of aggregates that an expression reads
        measures = [piece for piece in arguments if piece.role in ("quasi", "mixed")]
        # of a product, which variance asks how far its factors go together
        logs = [log_size(agg.argument) for agg in query.aggregates if agg.argument and agg.times and self.asks_logs]
        self.measures = list(dict.fromkeys(filter(None, [*measures, *self.pairs.values(), *logs])))
        made = ("asked", "hit", "figure", "point", *(["possible"] if query.parts else []))
        self.relations = dict(loaded.relations) | {name: relation_name(loaded.prefix, name) for name in made}
        # Other statements read `asked` for its cases and for the keys of its sets; else it is read once.
        self.keeps_asked = bool(query.parts or self.sensitive_keys)
        self.part_names = [f"part_{number}" for number in range(1, len(query.parts) + 1)]
        self.bucket: Sql | None = None  # of a quantile: the number of the threshold below which a row lies
        self.correlations: dict[tuple[int, int], Array] = {}
        self.made: list[str] = []
        self.selected: SelectedValues
        self.counted: tuple[IntArray, Lines] | None = None  # together with others: the codes asked for, and moments
        self.messages: list[str] = []  # warnings
        self.remarks: list[str] = []  # how the answer was found
        self.explained_constants: set[Sql] = set()  # constants of which enough is said, should no row equal them

    def _multiply(self, one: int, other: int) -> Piece | None:
        """Return the product of what two aggregates measure on rows; None where it is among the measures anyway."""
        first, second = (self.query.aggregates[number].argument for number in (one, other))
        if first is None or second is None or first == second or {first.role, second.role} != {"quasi"}:
            return None
        return Piece("quasi", Sql(f"(cast({first.sql} as double) * cast({second.sql} as double))"))

    # -- what a form says ----------------------------------------------------------------------

    def load(self) -> None:
        """Make the tables that the run reads, where they are not yet made."""
        raise NotImplementedError

    def counting_steps(self) -> Steps:
        """Render what counts the hits; the last one is read: what an estimate needs of them."""
        raise NotImplementedError

    def infer(self, lines: Lines, cells: int, thresholds: int = 1) -> Any:
        """Return what lines of moments say of so many cells, ready to be asked for evidence.

        thresholds: how many cells in a row are of the same hits, of which something else is measured.
        """
        raise NotImplementedError

    def count_values(self) -> int:
        """Return how many values the release has, or combinations of values."""
        raise NotImplementedError

    def tell_limits(self, row_count: float, upper_bound: bool) -> None:
        """Say where an interval is only a bound, and what the release leaves out."""

    def count_lines(self, values: int) -> tuple[float, float]:
        """Return how many lines are read of a cell and case at most, and of a row that the condition selects."""
        return values, 1.0

    def count_solved(self, cells: int) -> int:
        """Return how many numbers are kept of what is solved for so many cells: none, where nothing is solved."""
        return 0

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate called `name` as (figure, name in the answer)."""
        return [("value", name), *((end, f"{name}_{end}") for end in INTERVAL)]

    def comparisons(self) -> Sequence[Comparison]:
        """Return the constants that a row equals or none does, as far as the release tells."""
        return self.query.comparisons

    def domain(self, column: str) -> Sql:
        """Return the relation of the published values of a column, by its internal name."""
        return self.relations["value" if column == "sensitive" else "person"]

    # -- the texts ----------------------------------------------------------------------------

    def render_asked(self) -> str:
        """Write the query over the sensitive values."""
        return self.space.render(
            "evidence/asked",
            {"value": self.relations["value"]},
            conditions=[piece.sql for piece in self.query.filters(*self.SELECTING)],
            parts=self.query.parts,
            part_names=self.part_names,
            keys=[key.sql for key in self.sensitive_keys],
            key_names=[f"set_key_{number}" for number in range(1, len(self.sensitive_keys) + 1)],
            weights=[piece.sql for piece in self.weights],
        )

    def write_hits(self, apart: Sequence[str]) -> Steps:
        """Render what counts the published rows, told apart by groups or published values."""
        keys = [(number, key.sql) for number, key in enumerate(self.quasi_keys, start=1)]
        marks = [Sql(f"case when {limit.sql} then 1 else 0 end") for limit in self.limits]
        marks += [] if self.bucket is None else [self.bucket]
        return self.space.write(
            "evidence/hits",
            {name: relation for name, relation in self.relations.items() if name in ("person", "asked")},
            conditions=[piece.sql for piece in self.query.filters("constant", "quasi", "mixed")],
            keys=keys,
            marks=list(zip(marks, self.flags, strict=True)),
            measures=[piece.sql for piece in self.measures],
            parts=self.part_names,
            apart=apart,
            grouped=[*(f"key_{number}" for number, _ in keys), *self.flags, *apart, "case_number"],
        )

    @property
    def flags(self) -> list[str]:
        """Return what hits are told apart by: which conditions of FILTER hold, and between which values a row lies."""
        flags = [f"flag_{number}" for number in range(1, len(self.limits) + 1)]
        return flags + ([] if self.bucket is None else ["bucket"])

    def _render_answer(self) -> str:
        """Write the query that puts keys, order and names to the figures."""
        items = list[tuple[Sql, str]]()
        for item in self.query.items:
            if item.aggregate is None:
                items.append((item.sql, item.name))
            else:
                items += [(Sql(f"{x}_{item.aggregate}"), name) for x, name in self.name_columns(item.name)]
        order = [Sql(f"{term.sql or f'value_{term.aggregate}'} {term.direction}") for term in self.query.order]
        limit = [] if self.query.limit is None else [self.query.limit]
        return self.write_keyed("figure", items=items, having=self.query.having, order=order, limit=limit)

    def write_keyed(self, figure: str, **values: object) -> str:
        """Write a query over figures, or points, and the keys of their cells and sets."""
        numbers = {"sensitive": count(1), "quasi": count(1)}
        keys = [
            Sql(f"set_key.set_key_{next(numbers['sensitive'])}")
            if key.role == "sensitive"
            else Sql(f"cell_key.key_{next(numbers['quasi'])}")
            for key in self.query.keys
        ]
        relations = {
            "figure": self.relations[figure],
            "cell_key": self._list_keys("hit", "cell", "key", len(self.quasi_keys)),
            "set_key": self._list_keys("asked", "set_number", "set_key", len(self.sensitive_keys)),
        }
        return self.space.render("evidence/answer", relations, keys=keys, **values)

    def _list_keys(self, relation: str, number: str, key: str, size: int) -> Sql:
        """Write which keys stand beside each number of a relation: key_1 …; without keys there is one number."""
        if not size:
            return Sql(f"(select 0 as {number})")
        keys = ", ".join(f"{key}_{place}" for place in range(1, size + 1))
        return inline(f"select distinct {number}, {keys} from {self.relations[relation]}")

    def statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what an estimate is made of, in order."""
        return [("asked", self.render_asked()), *listed(self.counting_steps())]

    # -- running -------------------------------------------------------------------------------

    def answer(self, estimate: Estimator, quantiles: Callable[[], Inverted] | None = None) -> Answered:
        """Run the statements and put the estimates together; messages tell what is special about them.

        quantiles: finds the fields of the estimates of those aggregates that are no sums, by number.
        """
        values = MissingValues(self.space, self.domain)
        try:
            with explained(values, self.comparisons()):
                inverted = quantiles() if quantiles else {}
                self._check_types()
                estimates, occurring = self.estimate_aggregates(estimate)
                # quantiles stand in the place of their counts, and their errors go with no others'
                self.correlations = {pair: one for pair, one in self.correlations.items() if not {*pair} & {*inverted}}
                estimates = [
                    Estimate(**{name: inverted[number][name] for name in vars(one)}) if number in inverted else one
                    for number, one in enumerate(estimates)
                ]
                columns = self._name_answer(estimates, occurring)
        finally:
            self.space.forget(self.made)
        self.messages += values.tell(self.comparisons(), self.explained_constants)
        keys = {item.name for item in self.query.items if item.aggregate is None}
        return Answered(columns, self.remarks + self.messages, self.messages, keys)

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Estimate], BoolArray]:
        """Return an estimate per aggregate, and which cells x sets are answered."""
        selected, weights = self.read_selected()
        lines = self.read_lines()
        cells = self.count_answered(lines)
        both = {pair: tuple(dict.fromkeys(self.under[pair[0]] + self.under[pair[1]])) for pair in self.pairs}
        marks = {(), *self.under, *both.values()}
        inferred = {under: self.infer(limit_lines(lines, under), cells) for under in marks}
        vectors = [self.vectorize(aggregate, weights) for aggregate in self.query.aggregates]
        inferences, estimates = [], []
        for under, (linear, chosen) in zip(self.under, vectors, strict=True):
            inferences.append(inferred[under].about(selected.narrow(chosen)))
            estimates.append(inferences[-1].answer(linear, estimate))
        # Nothing is to be said about answers that are not estimated.
        if not all(inference.exact for inference in inferences):
            self.tell_limits(inferred[()].moments.row_count, any(inference.upper_bound for inference in inferences))
        for (one, other), under in both.items():
            pair = Pair(vectors[one][0], vectors[other][0], self._number_measure(self.pairs[one, other]))
            together = None if self.under[one] == self.under[other] else inferred[under].moments
            correlation = inferences[one].correlate(pair, inferences[other], together)
            if correlation is not None:
                self.correlations[one, other] = correlation
        return self.fill_empty_counts(estimates), self.tell_occurring(inferred[()].rows)

    def count_answered(self, lines: Lines) -> int:
        """Return how many cells lines are of: without GROUP BY one, though there may be no line."""
        return int(lines["cell"].max()) + 1 if len(lines["cell"]) else int(not self.quasi_keys)

    def read_lines(self) -> Lines:
        """Count the hits, and read what an estimate needs of them."""
        if self.counted is not None:
            return self.counted[1]
        *made, moment = self.counting_steps()
        run_steps(made, self.space.engine, self.made)
        self._require_memory()
        lines = self.space.engine.arrays(text_of(moment))
        require_finite_measures(lines, "endless_uniform", len(self.measures))
        return lines

    def count_cells(self) -> tuple[int, int]:
        """Return how many groups the rows of `hit` make, and how many these rows are; one of each where none is."""
        if not self.quasi_keys:
            return 1, 1
        sql = f"select coalesce(max(cell) + 1, 0) as cells, count(*) as row_count from {self.relations['hit']}"
        (row,) = self.space.engine.rows(sql)
        return int(row["cells"]), int(row["row_count"])

    def _require_memory(self) -> None:
        """Refuse what would not fit, before more of it is read than its groups."""
        cells, hits = self.count_cells()
        value, measure, copies = self.held
        values, sets, cases = self.count_values(), self.selected.set_count, self.selected.case_count
        measured = measure * len(self.measures)
        most, of_hit = self.count_lines(values)
        lines = cases * most
        if self.quasi_keys:
            lines = min(lines, of_hit * hits / max(cells, 1))
        each = lines * copies * (LINE + measured) + cases * values * (value + measured)
        each += sets * ANSWER * len(self.query.aggregates)
        solved = self.count_solved(1)
        each += (self.count_solved(cells) - solved) / max(cells, 1)
        require_memory(self.space.engine, solved + (SET * sets * values if sets > 1 else 0), cells, each)

    def _check_types(self) -> None:
        """Refuse SUM and AVG of what is no number; the type of an expression over both sides is not known yet."""
        for piece in (*self.measures, *self.weights):
            if piece.role != "mixed":
                relation = self.relations["person" if piece.role == "quasi" else "value"]
                require_numeric(self.space.read_type(piece.sql, relation))

    def read_selected(self) -> tuple[SelectedValues, dict[str, Array]]:
        """Return the selected values, and by expression what each counts (NaN for NULL), length n."""
        if self.counted is not None:
            code = self.counted[0]
            self.selected = SelectedValues(code, np.zeros_like(code), np.zeros_like(code), 1)
            return self.selected, {}
        if self.keeps_asked:
            relation = self.space.keep("asked", self.render_asked())
            self.made.append(str(relation))
            columns = ["code", "case_number", "set_number"]
            columns += [f"{name}_{n}" for n in range(1, len(self.weights) + 1) for name in ("weight", "endless")]
            values = self.space.engine.arrays(
                f"select {', '.join(columns)} from {relation} order by code asc nulls last"
            )
        else:
            values = self.space.read_once(self.render_asked())
        code, case, value_set = (values[name].astype(np.int64) for name in ("code", "case_number", "set_number"))
        require_finite_weights(values, len(self.weights))
        # Without sensitive keys there is one set, though no value may belong to it.
        sets = int(value_set.max(initial=-1)) + 1 if self.sensitive_keys else 1
        self.selected = SelectedValues(code, case, value_set, sets)
        weights = enumerate(self.weights, start=1)
        return self.selected, {piece.sql: values[f"weight_{n}"].astype(float) for n, piece in weights}

    def vectorize(self, aggregate: Aggregate, weights: Mapping[str, Array]) -> tuple[LinearAggregate, BoolArray]:
        """Say one aggregate in arrays over the selected values that it counts, and tell which these are."""
        selection = np.ones(len(self.selected.code), dtype=bool)
        if aggregate.chosen is not None:
            selection = weights[weigh_choice(aggregate.chosen).sql] == 1
        piece, times = aggregate.argument, aggregate.times
        function = aggregate.function if piece is None else aggregate.function.of_values
        if piece is not None and piece.role in ("constant", "sensitive"):
            piece, times = None, piece
        # NaN is NULL: it adds nothing to a sum, and is none of the rows that AVG divides by.
        weight = np.ones(int(selection.sum())) if times is None else weights[times.sql][selection]
        present = (~np.isnan(weight)).astype(float)
        log = self._number_measure(log_size(piece) if piece and aggregate.times and self.asks_logs else None)
        return LinearAggregate(function, self._number_measure(piece), np.nan_to_num(weight), present, log), selection

    def _number_measure(self, piece: Piece | None) -> int | None:
        """Return the number of what is measured on rows, None for nothing."""
        return None if piece is None else self.measures.index(piece) + 1

    # -- the answer ----------------------------------------------------------------------------

    def fill_empty_counts(self, estimates: Sequence[Estimate]) -> list[Estimate]:
        """Return the estimates with 0 for a COUNT of no row: as a sum it is NULL."""
        filled = []
        for aggregate, estimate in zip(self.query.aggregates, estimates, strict=True):
            empty = np.isnan(estimate.value) & aggregate.function.counts
            filled.append(Estimate(*(np.where(empty, 0.0, array) for array in vars(estimate).values())))
        return filled

    def tell_occurring(self, rows: Array) -> BoolArray:
        """Tell which cells x sets are answered: every quasi group that occurs, with every set it can have."""
        # As in SQL: without GROUP BY an empty selection is answered by 0, with it an empty group is no row.
        if not self.quasi_keys:
            return np.ones((len(rows), self.selected.set_count), dtype=bool)
        occurring = np.zeros((len(rows), self.selected.set_count), dtype=bool)
        for value_set, case in self.selected.pairs():
            occurring[:, value_set] |= rows[:, case] > 0
        return occurring

    def _name_answer(self, estimates: Sequence[Estimate], occurring: BoolArray) -> "dict[str, Array] | pd.DataFrame":
        """Put keys, names and order to the figures: in SQL where there are groups, else it is one row."""
        cell, value_set = np.nonzero(occurring)
        figure: dict[str, Any] = {"cell": cell, "set_number": value_set}
        for number, estimate in enumerate(estimates):
            figure |= {f"{name}_{number}": array[occurring] for name, array in vars(estimate).items()}
        figure |= evaluate_derived(self, figure)
        if not self.query.grouped:
            pairs = [(f"{x}_{i.aggregate}", n) for i in self.query.items for x, n in self.name_columns(i.name)]
            return {name: figure[x][: self.query.limit] for x, name in pairs}
        self.made.append(str(self.relations["figure"]))
        self.space.keep_columns("figure", figure)
        text = self._render_answer()
        require_readable(self.space.engine, text)
        return self.space.engine.frame(text)


def choose_lines(lines: Lines, chosen: BoolArray) -> Lines:
    """Return those lines of columns for which `chosen` is true."""
    return {name: line[chosen] for name, line in lines.items()}


def limit_lines(lines: Lines, marks: Sequence[str]) -> Lines:
    """Return the lines of hits that have these marks."""
    for mark in marks:
        lines = choose_lines(lines, lines[mark] == 1)
    return lines


def log_size(argument: Piece) -> Piece:
    """Return ln |e| of an argument, NULL for 0."""
    size = f"abs(cast({argument.sql} as double))"
    return Piece(argument.role, Sql(f"(case when {size} > 0 then ln({size}) end)"))


def weigh_choice(chosen: Piece) -> Piece:
    """Return a condition on sensitive values as a weight: 1 where it holds."""
    return Piece(chosen.role, Sql(f"(case when {chosen.sql} then 1 end)"))
