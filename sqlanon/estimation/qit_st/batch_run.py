"""Many plain counts on their way through QIT and ST together: each is a cell, and each asks a set of values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.coded_rows import CellSums, CodedRows, tell_holding
from sqlanon.estimation.made_ahead import cut
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import PlainCount, answer_in_chunks
from sqlanon.estimation.qit_st.pooled_run import tell_undetermined
from sqlanon.estimation.qit_st.tables import GroupTables
from sqlanon.estimation.qit_st.uniform_run import TOO_MANY_VALUES
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.aggregates import COUNT, LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate, Evidence
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_pooled import PooledInference
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL

TOGETHER = 64  # queries whose arrays, of the square of their number, are laid out at once
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
            answers |= answer_in_chunks(counted, partial(self.answer, columns), TOGETHER)
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
        hit = inline(self.loaded.render("estimation/qit_st/cell_hit", {"celled": celled}))
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
        return PooledInference(moments, selected, equations, self.loaded.measure_spreads, None)

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
