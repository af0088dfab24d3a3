"""A query on its way through QIT and ST: its statements, its moments, and how it reads what groups say."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError
from sqlanon.estimation.failures import require_finite_measures
from sqlanon.estimation.memory_need import NumbersHeld
from sqlanon.estimation.printed_script import ANSWER, MOMENTS, write_script
from sqlanon.estimation.qit_st.class_tables import ClassTables
from sqlanon.estimation.qit_st.tables import LARGEST_SYSTEM, GroupTables
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun, weigh_choice
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.evidence import BoolArray, Estimate
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.propagation import Pair
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate, Query

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers

_NONE = Sql("cast(null as double)")
TOO_MANY_VALUES = f"the release has more than {LARGEST_SYSTEM} sensitive values: answered by uniform"


class Uniform:
    """How one run reads what its groups say: here for the uniform estimate alone.

    held: what is held at once. splits_averages: as `QueryRun` has it. reads_hits_twice: so that they are kept.
    """

    held = NumbersHeld(value=6, measure=10)
    splits_averages = True
    reads_hits_twice = False

    def __init__(self, run: "GroupRun") -> None:
        """Take the run, whose relations are placed."""
        self.run = run

    def preparing_statements(self) -> list[tuple[str, str]]:
        """Return the tables that this way of answering needs beside the release's own."""
        return []

    def moment_statements(self) -> list[tuple[str, str]]:
        """Return the queries that join hits with groups."""
        return [("moment", self.run.render_moment())]

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the queries behind what is solved once for a release."""
        return []

    def count_lines(self, values: int) -> int:
        """Return how many lines the moment query has of a cell and case at most."""
        return values

    def count_solved(self, cells: int, selected: SelectedValues) -> int:
        """Return how many numbers are kept of what is solved for so many cells."""
        return 0

    def infer(self, selected: SelectedValues) -> Inference:
        """Read what the hits say, ready to be weighed as evidence."""
        return Inference(self.run.read_moments(selected), selected)

    def tell_limits(self, inference: Inference, undetermined: int, exact: bool) -> None:
        """Say where an interval is only a bound.

        undetermined: how many value sets have no answer but the uniform one. exact: whether all answers are.
        """
        if inference.upper_bound and not exact:
            self.run.messages.append(
                "the condition joins quasi and sensitive columns in a way whose cases are not followed pair by pair:"
                " standard errors and intervals are upper bounds"
            )

    def tell_too_many_values(self) -> None:
        """Say that there is nothing but the uniform estimate."""
        self.run.messages.append(TOO_MANY_VALUES)


class GroupRun(QueryRun):
    """One query on its way through QIT and ST, read in one of the ways."""

    def __init__(self, loaded: GroupTables, query: Query, classes: ClassTables, way: type[Uniform] = Uniform) -> None:
        """Place the query's relations; nothing runs yet."""
        self.held, self.splits_averages = way.held, way.splits_averages
        super().__init__(loaded, query)
        self.loaded, self.classes, self.way = loaded, classes, way(self)
        self._place_relations()

    def _place_relations(self) -> None:
        """Say where the steps' relations stand: kept where they are read twice, else written in place."""
        tables = {name: relation_name(self.loaded.prefix, name) for name in ("asked", "hit", "figure")}
        self.relations |= self.classes.relations
        self.relations["asked"] = tables["asked"] if self.keeps_asked else inline(self.render_asked())
        self.relations["figure"] = tables["figure"]
        self.people = self.relations["person"]
        if self.query.parts:
            columns = [*(f"quasi_{number}" for number in range(1, len(self.loaded.quasi) + 1)), "group_id"]
            self.people = self.give_cases(self.relations["person"], columns)
        self.keeps_hits = bool(self.quasi_keys) or self.way.reads_hits_twice
        self.relations["hit"] = tables["hit"] if self.keeps_hits else inline(self.render_hit())

    def keep_everything(self) -> None:
        """Let each relation stand under its name, as a script reads it."""
        self.keeps_asked = True
        self._place_relations()

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [*self.way.preparing_statements(), ("asked", self.render_asked())]
        if self.keeps_hits:
            listed.append(("hit", self.render_hit()))
        listed += [*self.way.moment_statements(), *self.way.solving_statements()]
        return listed + self.closing_statements()

    def render_hit(self) -> str:
        """Write the query over QIT."""
        return self.render_hits(["group_id"])

    def render_moment(self) -> str:
        """Write the query that joins hits with ST."""
        return self.loaded.render("estimation/qit_st/moment", self.relations, measures=self.measures, by_class=[])

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], BoolArray]:
        """Read the moments, weigh the evidence, and estimate."""
        selected, weights = self.read_selected()
        if self.keeps_hits:
            self.keep("hit", self.render_hit())
        self.require_memory(selected, len(self.loaded.load_totals()))
        inference = self.way.infer(selected)
        aggregates, selections = zip(
            *(self.vectorize(aggregate, weights) for aggregate in self.query.aggregates), strict=True
        )
        aggregates = tuple(
            replace(aggregate, cells=self.wanted_cells.get(number)) for number, aggregate in enumerate(aggregates)
        )
        narrowed = [inference.narrow(values) for values in selections]
        evidence = [
            narrow_inference.gather_evidence(aggregate)
            for narrow_inference, aggregate in zip(narrowed, aggregates, strict=True)
        ]
        # Nothing is to be said about answers that are not estimated.
        exact = np.all([item.exact for item in evidence], axis=(0, 1))
        inference.determined = np.all([narrow_inference.determined for narrow_inference in narrowed], axis=0)
        inference.upper_bound = any(narrow_inference.upper_bound for narrow_inference in narrowed)
        self.way.tell_limits(inference, int((~inference.determined & ~exact).sum()), bool(exact.all()))
        for number, other in self.pairs():
            product = self.number_measure(self.product(number, other))
            correlation = narrowed[number].correlate(
                Pair(aggregates[number], aggregates[other], product), narrowed[other]
            )
            if correlation is not None:
                self.correlations[number, other] = correlation
        estimates = self.fill_empty_counts([estimate(item) for item in evidence])
        return estimates, self.tell_occurring(selected, inference.rows)

    def count_lines(self, values: int) -> int:
        """Return how many lines are read of a cell and case at most."""
        return self.way.count_lines(values)

    def count_solved(self, cells: int, selected: SelectedValues) -> int:
        """Return how many numbers are kept of what is solved."""
        return self.way.count_solved(cells, selected)

    def lines_of_hit(self) -> float:
        """Return the mean number of lines that a row has: the values of its group."""
        return self.loaded.mean_group()

    def read_moments(self, selected: SelectedValues) -> Moments:
        """Run the moment query; return its columns as arrays."""
        return self.arrange_moments(self.loaded.engine.arrays(self.render_moment()), selected)

    def arrange_moments(self, columns: "Mapping[str, Numbers]", selected: SelectedValues) -> Moments:
        """Write the rows of the moment query as arrays C x K x V, those of several classes summed.

        Raises AnswerError where these are too large, or SUM and AVG have no finite answer.
        """
        totals = self.loaded.load_totals()
        cases = int(selected.case.max(initial=0)) + 1
        # Without hits there is no row; without GROUP BY there is one answer all the same.
        cells = int(columns["cell"].max()) + 1 if len(columns["cell"]) else int(not self.quasi_keys)
        if cells * cases * len(totals) > LARGEST_ANSWER:
            raise AnswerError(
                f"the query asks for {cells} groups x {cases} cases x {len(totals)} sensitive values at once;"
                " group by fewer columns, or narrow WHERE"
            )
        require_finite_measures(columns, "endless_uniform", len(self.measures))
        place = tuple(columns[name].astype(np.int64) for name in ("cell", "case_number", "code"))
        shape, moments = (cells, cases, len(totals)), {}
        for name, line in columns.items():
            if name in ("cell", "case_number", "code", "class", "place") or name.startswith("endless_"):
                continue
            # NULL adds nothing to a sum, and is no value that could be the least or the largest.
            extreme = {"least": np.fmin, "largest": np.fmax}.get(name.partition("_")[0])
            moments[name] = np.zeros(shape) if extreme is None else np.full(shape, np.nan)
            if extreme is None:
                np.add.at(moments[name], place, np.nan_to_num(line.astype(float)))
            else:
                extreme.at(moments[name], place, line.astype(float))
        return Moments(moments, totals)


def print_script(run: GroupRun, estimator: str) -> str:
    """Return the script of a query: it ends in the answer, or in the moments where the estimator solves for shares.

    What the release settles by itself, any estimator answers as the uniform one does, without error.
    """
    run.keep_everything()
    statements = [*run.loaded.loading_statements(), *run.way.preparing_statements(), ("asked", run.render_asked())]
    statements += [("hit", run.render_hit())] if run.keeps_hits else []
    is_exact = _is_exact(run)
    if run.query.derived or not (is_exact or estimator == "uniform"):
        statements += [*run.way.solving_statements(), *run.way.moment_statements()]
        return write_script(run.loaded, statements, MOMENTS.format(estimator=estimator))
    statements.append(("moment", run.render_moment()))
    run.relations["figure"] = inline(_render_figure(run, is_exact))
    return write_script(run.loaded, [*statements, ("answer", run.render_answer())], ANSWER)


def _is_exact(run: GroupRun) -> bool:
    """Tell whether the release settles the query: it asks for rows whatever their value, or values of all rows."""
    query = run.query
    of_rows = bool(query.filters("quasi", "mixed", "constant") or run.quasi_keys or run.measures)
    of_values = bool(query.filters("sensitive", "mixed") or run.sensitive_keys or run.weights)
    return not (of_rows and of_values)


def _render_figure(run: GroupRun, is_exact: bool) -> str:
    estimates = [
        (_estimate(run, aggregate), f"value_{number}") for number, aggregate in enumerate(run.query.aggregates)
    ]
    columns: list[tuple[Sql, str]] = []
    for number in range(len(estimates)):
        value = Sql(f"value_{number}")
        error = Sql(f"case when {value} is not null then cast(0 as double) end") if is_exact else _NONE
        columns += [(value, str(value)), (error, f"std_error_{number}")]
        columns += [(value if is_exact else _NONE, f"{end}_{number}") for end in ("low", "high")]
    return run.loaded.render(
        "estimation/qit_st/uniform_figure",
        run.relations | {"moment": relation_name(run.loaded.prefix, "moment")},
        quasi_keys=run.quasi_keys,
        keys=[*run.quasi_keys, *run.sensitive_keys],
        estimates=estimates,
        columns=columns,
    )


def _estimate(run: GroupRun, aggregate: Aggregate) -> Sql:
    """Return one aggregate over asked values beside their moments; it is NULL over no row, but for COUNT."""
    piece, present = aggregate.argument, "1"
    added, row_share, shared = "moment.uniform", "moment.uniform", "moment.shared"
    if piece in run.weights:
        weight = f"asked.weight_{run.weights.index(piece) + 1}"
        added, present = f"{weight} * moment.uniform", f"case when {weight} is null then 0 else 1 end"
    elif piece is not None:
        number = run.measures.index(piece) + 1
        added, row_share, shared = (
            f"moment.{name}_{number}" for name in ("sum_uniform", "count_uniform", "count_shared")
        )
    if aggregate.chosen is not None:
        condition = f"asked.weight_{run.weights.index(weigh_choice(aggregate.chosen)) + 1} = 1"
        added, present = (f"case when {condition} then {term} end" for term in (added, present))
    rows, has_rows = f"sum(({present}) * {row_share})", f"sum(({present}) * {shared}) > 0"
    return Sql(aggregate.function.write(f"sum({added})", rows, has_rows))
