"""One query on its way through QIT and ST."""

from collections.abc import Sequence

import numpy as np

from sqlanon.errors import AnswerError
from sqlanon.estimation.qit_st.tables import FACTS, LARGEST_SYSTEM, GroupTables
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, Lines, QueryRun
from sqlanon.estimation.temporary_tables import Steps, listed
from sqlanon.estimators.evidence import BoolArray, Estimate
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Moments, lay_out
from sqlanon.sql.aggregate_query import Query

TOO_MANY_VALUES = f"the release has more than {LARGEST_SYSTEM} sensitive values: answered by uniform"
UPPER_BOUND = (
    "the condition joins quasi and sensitive columns in a way whose cases are not followed pair by pair: standard"
    " errors and intervals are upper bounds"
)
UNSOLVED = (
    "{:,.0f} of {:,.0f} rows are of classes too many to solve together with the largest ones: answered by uniform,"
    " their part of intervals as if values were dealt to rows at random"
)
LEFT_OUT = (
    "the release leaves out {:,} of {:,.0f} rows: answers count those published, intervals reach as far as rows like"
    " those of its smallest classes may take them, which is only a bound"
)


class GroupRun(QueryRun):
    """One query on its way through QIT and ST. by_class: whether classes are solved, else the paper's answer."""

    counts_values = True

    def __init__(self, loaded: GroupTables, query: Query, by_class: bool) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.by_class = loaded, by_class
        self.held = (6, 10, 3 if by_class else 1)

    def load(self) -> None:
        """Number the groups and values, and keep the rows under our names; prepare classes where they are solved."""
        self.count_values()
        if self.by_class and (self.loaded.placed if self.loaded.people else self.loaded.systems) is None:
            self.by_class = False
            self.messages.append(TOO_MANY_VALUES)

    def counting_steps(self) -> Steps:
        """Render what counts the hits; the last one is read: what an estimate needs of them."""
        measures = list(range(1, len(self.measures) + 1))
        moment = self.space.write(
            "evidence/moments", self.relations, measures=measures, by_class=self.by_class, flags=self.flags
        )
        return [*self.write_hits(["group_id"]), *moment]

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order, behind those of the classes."""
        classes = self.loaded.class_steps() if self.by_class else []
        return [*listed(classes), *super().statements()]

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Estimate], BoolArray]:
        """Estimate; say what an answer about several values of people counts."""
        found = super().estimate_aggregates(estimate)
        if self.loaded.people and self.selected.set_count < len(self.selected.code):
            self.messages.insert(0, FACTS)
        return found

    def count_values(self) -> int:
        """Return how many values the release has."""
        return len(self.loaded.totals)

    def infer(self, lines: Lines, cells: int, thresholds: int = 1) -> Inference:
        """Return what lines of moments say of so many cells, ready to be asked for evidence.

        Raises AnswerError where arrays would be too large.
        """
        loaded, cases, values = self.loaded, self.selected.case_count, self.count_values()
        if cells * cases * values > LARGEST_ANSWER:
            raise AnswerError(
                f"the query asks for {cells} groups x {cases} cases x {values} sensitive values at once;"
                " group by fewer columns, or narrow WHERE"
            )
        # those of several classes are summed
        columns = lay_out(lines, lines["code"].astype(np.int64), (cells, cases, values))
        moments = Moments(columns, loaded.totals, loaded.people)
        if not self.by_class:
            return Inference(moments, self.selected)
        from sqlanon.estimators.class_moments import HitSums  # scipy is slow to load

        classes = lines["class"].astype(np.int64)
        if loaded.people:
            from sqlanon.estimators.sets import SetInference

            hit_sums = HitSums(lines, classes, len(loaded.placed.people), values)
            return SetInference(moments, self.selected, loaded.placed, hit_sums, loaded.left_out)
        from sqlanon.estimators.inference_by_class import ClassInference

        systems = loaded.systems
        assert systems is not None  # else nothing is solved by class
        hit_sums = HitSums(lines, loaded.place_of_class[classes + 1], len(systems.rows), values)
        return ClassInference(moments, self.selected, systems, hit_sums, loaded.left_out, thresholds)

    def tell_limits(self, row_count: float, upper_bound: bool) -> None:
        """Say where an interval is only a bound, and what the release leaves out."""
        if self.by_class and self.loaded.unsolved_rows:
            self.messages.append(UNSOLVED.format(self.loaded.unsolved_rows, row_count))
        if left_out := self.loaded.left_out * self.by_class:
            # which of them meet a condition is not published: where they are many, the likely ones may be too few
            counts = any(aggregate.function.counts for aggregate in self.query.aggregates)
            most = f"; a count of the source may lie up to {left_out:,} above the upper end" if counts else ""
            self.messages.append(LEFT_OUT.format(left_out, row_count + left_out) + most)
        if upper_bound:
            self.messages.append(UPPER_BOUND)

    def count_lines(self, values: int) -> tuple[float, float]:
        """Return how many lines are read: of a cell and case at most all classes' values, of a row its group's."""
        if self.by_class and self.loaded.people:
            values += len(self.loaded.placed.code)
        elif self.by_class and self.loaded.systems is not None:
            values += self.loaded.systems.cell_count
        return values, float(self.loaded.totals.sum() / max(self.loaded.count_rows("place"), 1.0))

    def count_solved(self, cells: int) -> int:
        """Return how many numbers are kept of what is solved: posteriors, and the one that is being solved."""
        systems = self.loaded.systems if self.by_class and not self.loaded.people else None
        if systems is None:
            return 0
        from sqlanon.estimators.inference_by_class import count_solved

        return count_solved(systems, cells, self.selected)
