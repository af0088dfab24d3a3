"""Answer aggregate queries from QIT and ST, by the estimator that the caller names.

Many plain counts are answered together: each is a cell, and each asks a set of values.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.coded_rows import CellSums
from sqlanon.estimation.exact import select_columns
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import (
    PlainCount,
    answer_in_chunks,
    choose_values,
    read_plain_counts,
)
from sqlanon.estimation.portions import cut
from sqlanon.estimation.qit_st.tables import LARGEST_SYSTEM, GroupTables
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.session import Session
from sqlanon.estimation.temporary_tables import inline, listed
from sqlanon.estimators import OF_GROUPS
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Moments, SelectedValues, lay_out
from sqlanon.plans.plan import Loop, Report
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers

METHOD = "anatomy"  # of a manifest that names none
FEW = 8  # queries that are answered sooner alone
TOGETHER = 4_000  # values of all classes: of more, queries are answered one by one
CHUNK = 64  # queries whose answers are laid out at once
LOOKED_FOR = 512  # queries whose constants are looked for at once
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
FACTS = (
    "people have several values each: somebody counts once for each of the values that are asked for together; how many"
    " people have any of them is published nowhere"
)


class GroupRun(QueryRun):
    """One query on its way through QIT and ST. by_class: whether classes are solved, else the paper's answer."""

    counts_values = True

    def __init__(self, loaded: GroupTables, query: Query, by_class: bool) -> None:
        """Place the query's relations; nothing runs yet."""
        self.by_class = by_class
        self.held = (6, 10, 3 if by_class else 1)
        super().__init__(loaded, query)
        self.loaded = loaded

    # -- the statements ------------------------------------------------------------------------

    def counting_steps(self) -> list[Statement | Report | Loop]:
        """Render what counts the hits; the last one is read: what an estimate needs of them."""
        hits = self.write_hits(["group_id"])
        measures = list(range(1, len(self.measures) + 1))
        moment = self.space.write(
            "evidence/moments", self.relations, measures=measures, by_class=self.by_class, flags=self.flags
        )
        return [*hits, *moment]

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order, behind those of the classes."""
        classes = self.loaded.class_steps(self.loaded.base()) if self.by_class else []
        return [*listed(classes), *super().statements()]

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], BoolArray]:
        """Estimate; say what an answer about several values of people counts."""
        found = super().estimate_aggregates(estimate)
        if self.loaded.people and self.selected.set_count < len(self.selected.code):
            self.messages.insert(0, FACTS)
        return found

    @property
    def value_count(self) -> int:
        """Return how many values the release has."""
        return len(self.loaded.load_totals())

    def infer(self, lines: "Mapping[str, Numbers]", cells: int, thresholds: int = 1) -> Inference:
        """Return what lines of moments say of so many cells, ready to be asked for evidence."""
        moments = self.arrange_moments(lines, cells)
        if not self.by_class:
            return Inference(moments, self.selected)
        from sqlanon.estimators.class_moments import HitSums  # scipy is slow to load

        left_out, classes, values = self.loaded.left_out, lines["class"].astype(np.int64), len(moments.totals)
        if self.loaded.people:
            from sqlanon.estimators.sets import SetInference

            placed = self.loaded.load_values()
            hit_sums = HitSums(lines, classes, len(placed.people), values)
            return SetInference(moments, self.selected, placed, hit_sums, left_out)
        from sqlanon.estimators.inference_by_class import ClassInference

        systems = self.loaded.load_systems()
        assert systems is not None  # else nothing is solved by class
        hit_sums = HitSums(lines, self.loaded.place_classes(classes), len(systems.rows), values)
        return ClassInference(moments, self.selected, systems, hit_sums, left_out, thresholds)

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

    def count_lines(self, values: int) -> int:
        """Return how many lines are read of a cell and case at most: the values of every class."""
        if not self.by_class:
            return values
        if self.loaded.people:
            return values + len(self.loaded.load_values().code)
        systems = self.loaded.load_systems()
        return values if systems is None else values + systems.cell_count

    def count_solved(self, cells: int, selected: SelectedValues) -> int:
        """Return how many numbers are kept of what is solved: posteriors, and the one that is being solved."""
        systems = self.loaded.load_systems() if self.by_class and not self.loaded.people else None
        if systems is None:
            return 0
        from sqlanon.estimators.inference_by_class import count_solved

        return count_solved(systems, cells, selected)

    def lines_of_hit(self) -> float:
        """Return the mean number of lines that a row has: the values of its group."""
        groups = self.loaded.read_once(f"select count(*) as row_count from {self.relations['place']}")["row_count"]
        return float(self.loaded.load_totals().sum() / max(float(groups[0]), 1.0))

    def arrange_moments(self, lines: "Mapping[str, Numbers]", cells: int) -> Moments:
        """Write lines of the moment query as arrays C x K x V, those of several classes summed.

        Raises AnswerError where arrays are too large.
        """
        totals, cases = self.loaded.load_totals(), self.selected.case_count
        if cells * cases * len(totals) > LARGEST_ANSWER:
            raise AnswerError(
                f"the query asks for {cells} groups x {cases} cases x {len(totals)} sensitive values at once;"
                " group by fewer columns, or narrow WHERE"
            )
        columns = lay_out(lines, lines["code"].astype(np.int64), (cells, cases, len(totals)))
        return Moments(columns, totals, self.loaded.people)


class GroupSession(Session):
    """A session of a release of groups."""

    loaded: GroupTables

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Mapping[str, Any],
        estimators: Sequence[str] = OF_GROUPS,
    ) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = GroupTables(engine, tables, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, estimators, manifest.get("method", METHOD))

    def start(self, query: Query, name: str) -> GroupRun:
        """Start the run of an estimator."""
        return GroupRun(self.loaded, query, by_class=name != "uniform")

    def load(self, run: QueryRun) -> None:
        """Number the groups and values, and keep the rows under our names; prepare classes where they are solved."""
        assert isinstance(run, GroupRun)
        self.loaded.load_totals()
        if run.by_class and self.loaded.people:
            self.loaded.load_values()
        elif run.by_class and self.loaded.load_systems() is None:
            run.by_class = False
            run.messages.append(TOO_MANY_VALUES)

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return QIT for quasi columns, ST with each line as often as it counts for the sensitive one.

        Of a release that follows others ST has the values of members who have departed, too: there it is not exact.
        """
        if not set(columns) & set(self.sensitive):
            return select_columns(columns, self.loaded.tables["qit"])
        whole = set(columns) <= set(self.sensitive) and not self.loaded.may_depart
        return self.loaded.sensitive_rows() if whole else None

    def _ask_exactly(self, sql: str) -> Answered | None:
        answer = super()._ask_exactly(sql)
        if answer is not None and self.loaded.people and self.loaded.sensitive.lower() in sql.lower():
            answer.messages = [*answer.messages, FACTS]
        return answer

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer plain counts (`read_plain_count`) of releases that do not have many classes.

        Each is answered as it would be alone; the hits of all that read the same columns are counted in one pass.
        """
        loaded, answers = self.loaded, dict[int, Answered]()
        if loaded.people or not loaded.engine.in_process or len(queries) < FEW:
            return answers
        values = len(loaded.load_totals())
        try:
            rows, by_class = loaded.load_rows(), name != "uniform" and loaded.load_systems() is not None
        except AnswerError:  # each is asked alone, and says what does not fit
            return answers
        classes = loaded.class_count if by_class else 1
        if classes * values > TOGETHER:
            return answers
        plain = list(read_plain_counts(queries, self._parse))
        domains = {**rows.domains, "sensitive": loaded.relations["value"]}
        for some in cut(plain, LOOKED_FOR):  # what is found is remembered for each
            constants = [one for _, count in some for one in count.query.comparisons]
            MissingValues(loaded, domains.__getitem__).tell(constants)

        def read(celled: Sql) -> CellSums:
            hit = inline(loaded.render("estimate/coded_rows/cell_count", {"celled": celled}, apart=["group_id"]))
            relations = {**loaded.relations, "hit": hit}
            lines = loaded.engine.arrays(
                loaded.render("evidence/moments", relations, measures=[], by_class=by_class, flags=[])
            )
            place, code = (lines[column].astype(np.int64) for column in ("class", "code"))
            if by_class:  # classes are numbered from -1
                code = (place + 1) * values + code
            sums = {column: lines[column].astype(float) for column in ("shared", "uniform")}
            return CellSums(lines["cell"].astype(np.int64), code, sums)

        def answer(counted: Sequence[tuple[PlainCount, dict[str, Array]]]) -> list[Answered]:
            chosen, found = choose_values(loaded, values, [count for count, _ in counted]), list[Answered]()
            for (count, sums), selection in zip(counted, chosen.T, strict=True):
                place = np.flatnonzero(sums["uniform"])
                number, code = np.divmod(place, values)
                once = np.zeros_like(place)
                lines = {"cell": once, "case_number": once, "class": number - by_class, "code": code}
                run = self.start(count.query, name)
                self.load(run)
                run.counted = np.flatnonzero(selection), lines | {column: sums[column][place] for column in sums}
                found.append(run.answer(estimate))
                tell_blank_cells(found[-1], name)
            return found

        for places, sums in rows.sum_each([count.quasi for _, count in plain], read, classes * values):
            counted = [
                (plain[place][0], (plain[place][1], {column: line[number] for column, line in sums.items()}))
                for number, place in enumerate(places)
            ]
            answers |= answer_in_chunks(counted, answer, CHUNK)
        return answers
