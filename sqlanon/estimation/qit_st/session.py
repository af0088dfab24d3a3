"""Answer aggregate queries from QIT and ST, by the estimator that the caller names.

Many plain counts are answered together: each is a cell, and each asks a set of values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.coded_rows import CellSums, CodedRows, tell_holding
from sqlanon.estimation.made_ahead import cut
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import PlainCount, answer_in_chunks, read_plain_counts
from sqlanon.estimation.qit_st.class_tables import ClassTables
from sqlanon.estimation.qit_st.group_run import TOO_MANY_VALUES, GroupRun, Uniform, print_script
from sqlanon.estimation.qit_st.tables import GroupTables
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimation.session import Session
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators import OF_GROUPS, choose_estimator
from sqlanon.estimators.aggregates import COUNT, LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate, Evidence
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_pooled import PooledInference
from sqlanon.estimators.least_squares import NormalEquations
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL, Query
from sqlanon.wording import option, spoken

MOST_PAIRED_CASES = 16  # cases whose covariances are measured pair by pair


class Pooled(Uniform):
    """Solve one system for all groups: add the release's normal equations, and the pairs of cases."""

    @property
    def counts_pairs(self) -> bool:
        """Tell whether the rows that are hits in two cases are counted."""
        return bool(self.run.query.parts) and not self.run.quasi_keys and len(self.run.measures) == 0

    def moment_statements(self) -> list[tuple[str, str]]:
        """Add the query for pairs of cases."""
        return super().moment_statements() + ([("pair_moment", self._render_pairs())] if self.counts_pairs else [])

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the queries for S and the spreads."""
        return self.run.loaded.solving_statements()

    def _render_pairs(self) -> str:
        """Write the query for the rows that are hits in two cases: both read the condition with their own parts."""
        both = [piece.sql for piece in self.run.query.filters("constant", "quasi", "mixed")]
        both += [piece.other for piece in self.run.query.filters("mixed")]
        pairs = self.run.loaded.render(
            "estimation/qit_st/possible_pair", self.run.relations, parts=self.run.query.parts
        )
        hit = self.run.loaded.render(
            "estimation/query_run/hit",
            {**self.run.relations, "person": inline(pairs)},
            quasi_conditions=both,
            quasi_keys=[],
            measures=[],
            apart=["group_id"],
            case_column=Sql("case_number"),
        )
        return self.run.loaded.render(
            "estimation/qit_st/moment", {**self.run.relations, "hit": inline(hit)}, measures=[], by_class=[]
        )

    def infer(self, selected: SelectedValues) -> Inference:
        """Read what the hits say, and solve the release's equations where there are any."""
        moments, equations = self.run.read_moments(selected), self.run.loaded.load_equations()
        if equations is None:
            self.tell_too_many_values()
            return Inference(moments, selected)
        return PooledInference(moments, selected, equations, self.run.loaded, self._read_pairs(selected))

    def tell_limits(self, inference: Inference, undetermined: int, exact: bool) -> None:
        """Say also where least squares has no answer."""
        if undetermined and isinstance(inference, PooledInference):
            message = tell_undetermined(undetermined, inference.selected.set_count, inference.equations)
            self.run.messages.append(message)
        super().tell_limits(inference, undetermined, exact)

    def _read_pairs(self, selected: SelectedValues) -> Array | None:
        """Read b of the rows that are hits in two cases, C x K x K x V; None where there are too many."""
        cases = int(selected.case.max(initial=0)) + 1
        if not self.counts_pairs or not 1 < cases <= MOST_PAIRED_CASES:
            return None
        frame = self.run.loaded.engine.frame(self._render_pairs())
        paired = np.zeros((1, cases, cases, len(self.run.loaded.load_totals())))
        # The template numbers a pair of cases as one: case x cases + other.
        case, other = np.divmod(frame["case_number"].to_numpy(dtype=np.int64), cases)
        paired[0, case, other, frame["code"].to_numpy(dtype=np.int64)] = frame["shared"].to_numpy(dtype=float)
        return paired


def tell_undetermined(undetermined: int, asked: int, equations: NormalEquations) -> str:
    """Say that least squares has no answer for some of the asked value sets, and why."""
    return (
        f"{undetermined} of {asked} asked sets of values always stand in groups together"
        " with others, so that least squares cannot tell them apart: answered by uniform, without error bars"
        f" (the groups tell {equations.rank} of {len(equations.totals)} values apart; a release published with"
        f" a smaller {spoken(option('block'))} has more different groups)"
    )


METHOD = "anatomy"  # of a manifest that names none
FEW = 8  # queries that are answered sooner alone
TOGETHER = ("uniform", "least_squares", "shrinkage")  # estimators that answer many queries at once
CHUNK = 64  # queries whose arrays, of the square of their number, are laid out at once
LOOKED_FOR = 512  # queries whose constants are looked for at once


class BatchRun:
    """Answer plain counts of one release as each would be answered alone: their moments are sums of cells' moments."""

    def __init__(self, loaded: GroupTables, rows: CodedRows, name: str, estimate: Estimator) -> None:
        """Take the loaded release, its rows of QIT coded with their groups, and an estimator with its name."""
        self.loaded, self.rows, self.name, self.estimate = loaded, rows, name, estimate

    def answer_all(self, queries: Iterable[tuple[int, PlainCount]]) -> dict[int, Answered]:
        """Return the answers by the queries' places; where something fails on this data, those queries' are missing."""
        listed, answers = list(queries), dict[int, Answered]()
        for some in cut(listed, LOOKED_FOR):
            self.tell_constants([query for _, query in some])
        conditions = [query.quasi for _, query in listed]
        for places, columns in self.rows.sum_each(conditions, self._read_moments, len(self.loaded.load_totals())):
            counted = [(listed[place][0], (listed[place][1], line)) for line, place in enumerate(places)]
            answers |= answer_in_chunks(counted, partial(self.answer, columns), CHUNK)
        return answers

    def answer(self, columns: Mapping[str, Array], counted: Sequence[tuple[PlainCount, int]]) -> list[Answered]:
        """Return an answer for each of some queries with their lines of the moments, queries x V."""
        queries = [query for query, _ in counted]
        lines = [line for _, line in counted]
        moments = Moments({name: sums[lines][:, None] for name, sums in columns.items()}, self.loaded.load_totals())
        selected = self._select(queries)
        inference = self._infer(moments, selected)
        ones = np.ones(len(selected.code))
        evidence = _take_own(inference.gather_evidence(LinearAggregate(COUNT, None, ones, ones)))
        figures = self.estimate(evidence)
        return [
            self._frame(query, figures, number, self._tell(inference, number, bool(evidence.exact[number])))
            for number, query in enumerate(queries)
        ]

    def _read_moments(self, celled: Sql) -> CellSums:
        """Run the moment query over the cells of several queries, as it runs over those of one with GROUP BY."""
        hit = inline(self.loaded.render("estimation/coded_rows/cell_count", {"celled": celled}, apart=["group_id"]))
        relations = {**self.loaded.relations, "hit": hit, "group_class": Sql("")}
        lines = self.loaded.engine.arrays(
            self.loaded.render("estimation/qit_st/moment", relations, measures=[], by_class=[])
        )
        cell, code = (lines[name].astype(np.int64) for name in ("cell", "code"))
        return CellSums(cell, code, {name: lines[name].astype(float) for name in ("shared", "uniform")})

    def _select(self, queries: Sequence[PlainCount]) -> SelectedValues:
        """Number the values that each query asks for: a set for each."""
        conditions = list(dict.fromkeys(condition for query in queries for condition in query.sensitive))
        value = self.loaded.relations["value"]
        holds = tell_holding(self.loaded, value, len(self.loaded.load_totals()), conditions)
        selection = np.ones((len(queries), len(holds)), dtype=bool)
        for number, query in enumerate(queries):
            for condition in query.sensitive:
                selection[number] &= holds[:, conditions.index(condition)]
        value_set, code = np.nonzero(selection)
        return SelectedValues(code, np.zeros_like(code), value_set, len(queries))

    def _infer(self, moments: Moments, selected: SelectedValues) -> Inference:
        equations = None if self.name == "uniform" else self.loaded.load_equations()
        if equations is None:
            return Inference(moments, selected)
        return PooledInference(moments, selected, equations, self.loaded, None)

    def _tell(self, inference: Inference, number: int, exact: bool) -> list[str]:
        """Return what is special about one answer."""
        if isinstance(inference, PooledInference):
            return [] if inference.determined[number] or exact else [tell_undetermined(1, 1, inference.equations)]
        return [] if self.name == "uniform" else [TOO_MANY_VALUES]

    def _frame(self, query: PlainCount, estimate: Estimate, number: int, messages: list[str]) -> Answered:
        """Write one answer as it would be alone."""
        figures = {name: array[number : number + 1] for name, array in vars(estimate).items()}
        figures["value"] = np.nan_to_num(figures["value"])
        columns: dict[str, Array] = {}
        for name in query.names:
            columns |= {name: figures["value"]} | {f"{name}_{end}": figures[end] for end in INTERVAL}
        sentences = messages + MissingValues(self.loaded).tell(query.comparisons, self._domain)
        answer = Answered(columns, sentences, sentences)
        tell_blank_cells(answer, self.name)
        return answer

    def tell_constants(self, queries: Sequence[PlainCount]) -> None:
        """Look for the constants of all queries at once; what is found is remembered for each."""
        MissingValues(self.loaded).tell(
            [comparison for query in queries for comparison in query.comparisons], self._domain
        )

    def _domain(self, column: str) -> Sql:
        return self.loaded.relations["value"] if column == "sensitive" else self.rows.domains[column]


def _take_own(evidence: Evidence) -> Evidence:
    """Return each query's own line of the evidence on queries x value sets: query q asks set q."""
    arrays = {name: value for name, value in vars(evidence).items() if isinstance(value, np.ndarray)}
    return replace(evidence, **{name: np.diagonal(array) for name, array in arrays.items()})


class GroupSession(Session):
    """A session of a release of groups.

    runs: what runs a query, in one of the ways. together: the estimators that answer many queries at once.
    """

    loaded: GroupTables
    runs: type[GroupRun] = GroupRun
    together: Sequence[str] = TOGETHER

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str] = OF_GROUPS,
    ) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = GroupTables(engine, tables, manifest)
        self.classes = ClassTables(self.loaded, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, estimators, manifest.get("method", METHOD))

    def start(self, query: Query, name: str, **options: Any) -> GroupRun:
        """Start the run of an estimator."""
        if name == "ridge":
            from sqlanon.estimation.qit_st.by_class import ByClass  # what solves class by class is slow to load

            return self.runs(self.loaded, query, self.classes, ByClass)
        # all other estimators solve one system for all groups
        return self.runs(self.loaded, query, self.classes, Uniform if name == "uniform" else Pooled)

    def load(self, run: QueryRun) -> None:
        """Number the values, and keep rows that are read more than once."""
        assert isinstance(run, GroupRun)
        self.loaded.load_totals()
        self.loaded.keep_rows()

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what every query reads."""
        return self.loaded.loading_statements()

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer plain counts (`read_plain_count`), unless by ridge."""
        if not self.loaded.engine.in_process or name not in self.together or len(queries) < FEW:
            return {}
        return BatchRun(self.loaded, self.loaded.load_rows(), name, estimate).answer_all(
            read_plain_counts(queries, self._parse)
        )

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script, which ends in the answer where SQL can give it."""
        name, _ = choose_estimator(self.estimators, self.method, estimator)
        return print_script(self.start(self._parse_printed(sql), name), name)

    def close(self) -> None:
        """Drop the temporary tables of this release."""
        self.classes.close()
        super().close()
