"""Many plain counts on their way through a release together: the figures of each are sums of cells' figures."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.coded_rows import CellSums, CodedRows, tell_holding
from sqlanon.estimation.made_ahead import cut
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import PlainCount, answer_in_chunks
from sqlanon.estimators.evidence import Array, Estimate
from sqlanon.estimators.moments import SelectedValues
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL

TOGETHER = 64  # queries whose arrays, of the square of their number, are laid out at once
LOOKED_FOR = 512  # queries whose constants are looked for at once


class CountBatch:
    """Answer plain counts of one release as each would be answered alone; a form says how figures are read and weighed.

    rows: those that conditions on quasi columns are about. value: the relation of the V sensitive values, or
    combinations of such. name: the estimator's.
    """

    def __init__(self, rows: CodedRows, value: Sql, value_count: int, name: str) -> None:
        """Take the rows, the values, and the estimator's name."""
        self.rows, self.space, self.value, self.value_count, self.name = rows, rows.space, value, value_count, name

    def read_sums(self, celled: Sql) -> CellSums:
        """Run the query for one query's figures over rows with their cells, as it runs over those of GROUP BY."""
        raise NotImplementedError

    def estimate_own(self, sums: Mapping[str, Array], selected: SelectedValues) -> tuple[Estimate, list[list[str]]]:
        """Return each query's own estimate, Q each, and what is special about it.

        sums: Q x V by name. selected: the values that each query asks for, a set for each.
        """
        raise NotImplementedError

    def answer_all(self, queries: Iterable[tuple[int, PlainCount]]) -> dict[int, Answered]:
        """Return the answers by the queries' places; where something fails on this data, those queries' are missing."""
        listed, answers = list(queries), dict[int, Answered]()
        self.rows.load()
        for some in cut(listed, LOOKED_FOR):  # what is found is remembered for each
            comparisons = [comparison for _, query in some for comparison in query.comparisons]
            MissingValues(self.space).tell(comparisons, self.domain)
        conditions = [query.quasi for _, query in listed]
        for places, sums in self.rows.sum_each(conditions, self.read_sums, self.value_count):
            counted = [(listed[place][0], (listed[place][1], line)) for line, place in enumerate(places)]
            answers |= answer_in_chunks(counted, partial(self._answer, sums), TOGETHER)
        return answers

    def _answer(self, sums: Mapping[str, Array], counted: Sequence[tuple[PlainCount, int]]) -> list[Answered]:
        """Return an answer for each of some queries with their lines of the sums."""
        queries, lines = [query for query, _ in counted], [line for _, line in counted]
        own = {name: array[lines] for name, array in sums.items()}
        estimate, messages = self.estimate_own(own, self._select(queries))
        return [self._frame(query, estimate, n, messages[n]) for n, query in enumerate(queries)]

    def _select(self, queries: Sequence[PlainCount]) -> SelectedValues:
        """Number the values that each query asks for."""
        conditions = list(dict.fromkeys(condition for query in queries for condition in query.sensitive))
        holds = tell_holding(self.space, self.value, self.value_count, conditions)
        selection = np.ones((len(queries), len(holds)), dtype=bool)
        for number, query in enumerate(queries):
            for condition in query.sensitive:
                selection[number] &= holds[:, conditions.index(condition)]
        value_set, code = np.nonzero(selection)
        return SelectedValues(code, np.zeros_like(code), value_set, len(queries))

    def _frame(self, query: PlainCount, estimate: Estimate, number: int, messages: list[str]) -> Answered:
        """Write one answer as it would be alone."""
        figures = {name: array[number : number + 1] for name, array in vars(estimate).items()}
        figures["value"] = np.nan_to_num(figures["value"])
        columns: dict[str, Array] = {}
        for name in query.names:
            columns |= {name: figures["value"]} | {f"{name}_{end}": figures[end] for end in INTERVAL}
        sentences = messages + MissingValues(self.space).tell(query.comparisons, self.domain)
        answer = Answered(columns, sentences, sentences)
        tell_blank_cells(answer, self.name)
        return answer

    def domain(self, column: str) -> Sql:
        """Return the relation of the published values of a column, by its internal name."""
        return self.rows.domains.get(column, self.value)
