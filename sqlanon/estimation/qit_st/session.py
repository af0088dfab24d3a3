"""Answer aggregate queries from QIT and ST, by the estimator that the caller names.

Many plain counts are answered together: each is a cell, and each asks a set of values.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.coded_rows import CellSums, CodedRows
from sqlanon.estimation.exact import select_columns
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import (
    PlainCount,
    answer_in_chunks,
    choose_values,
    read_plain_counts,
    write_answer,
)
from sqlanon.estimation.portions import cut
from sqlanon.estimation.printed_script import ANSWER, MOMENTS, write_script
from sqlanon.estimation.qit_st.tables import LARGEST_SYSTEM, GroupTables
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun, weigh_choice
from sqlanon.estimation.session import Session
from sqlanon.estimation.temporary_tables import inline, listed
from sqlanon.estimators import OF_GROUPS, choose_estimator
from sqlanon.estimators.aggregates import COUNT, LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Moments, SelectedValues, lay_out
from sqlanon.plans.plan import Loop, Report, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate, Query

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
_NONE = Sql("cast(null as double)")


class GroupRun(QueryRun):
    """One query on its way through QIT and ST. by_class: whether classes are solved, else the paper's answer."""

    counts_values = True

    def __init__(self, loaded: GroupTables, query: Query, by_class: bool) -> None:
        """Place the query's relations; nothing runs yet."""
        # the posteriors of a sum and of a count are not of one model: their ratio is no average
        self.by_class, self.splits_averages = by_class, not by_class
        self.held = (6, 10, 3 if by_class else 1)
        super().__init__(loaded, query)
        self.loaded, self.people = loaded, self.relations["person"]
        for name in ("asked", "hit", "figure", *(["possible"] if query.parts else [])):
            self.relations[name] = relation_name(loaded.prefix, name)
        if query.parts:
            self.people = self.relations["possible"]

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
        """Return the statements of this query, in order."""
        classes = self.loaded.class_steps(self.loaded.base()) if self.by_class else []
        made = listed([*classes, *self.counting_steps()])
        return [("asked", self.render_asked()), *made, *self.closing_statements()]

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
        if self.loaded.people and self.by_class:
            from sqlanon.estimators.sets import SetInference

            return SetInference(moments, self.selected, self.loaded.load_values(), lines, self.loaded.left_out)
        systems = self.loaded.load_systems() if self.by_class else None
        if systems is None:
            return Inference(moments, self.selected)
        from sqlanon.estimators.class_moments import HitSums  # scipy is slow to load
        from sqlanon.estimators.inference_by_class import ClassInference

        placed = {**lines, "place": self.loaded.place_classes(lines["class"].astype(np.int64))}
        hit_sums = HitSums(placed, len(systems.rows), len(moments.totals))
        return ClassInference(moments, self.selected, systems, hit_sums, self.loaded.left_out, thresholds)

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
        if self.loaded.people and self.by_class:
            return values + len(self.loaded.load_values().code)
        systems = self.loaded.load_systems() if self.by_class else None
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

    # -- scripts -------------------------------------------------------------------------------

    @property
    def is_settled(self) -> bool:
        """Tell whether the release settles the query: it asks for rows whatever their value, or values of all rows."""
        query = self.query
        of_rows = bool(query.filters("quasi", "mixed", "constant") or self.quasi_keys or self.measures or self.limits)
        of_values = bool(query.filters("sensitive", "mixed") or self.sensitive_keys or self.weights)
        return not (of_rows and of_values)

    def render_figure(self) -> str:
        """Write the paper's estimates of the aggregates, without errors but where the release settles them."""
        estimates = [
            (self._write_uniform(aggregate), f"value_{number}")
            for number, aggregate in enumerate(self.query.aggregates)
        ]
        columns: list[tuple[Sql, str]] = []
        for number in range(len(estimates)):
            value, settled = Sql(f"value_{number}"), self.is_settled
            error = Sql(f"case when {value} is not null then cast(0 as double) end") if settled else _NONE
            columns += [(value, str(value)), (error, f"std_error_{number}")]
            columns += [(value if settled else _NONE, f"{end}_{number}") for end in ("low", "high")]
        return self.space.render(
            "evidence/uniform",
            self.relations | {"moment": relation_name(self.loaded.prefix, "moment")},
            keyed=bool(self.quasi_keys),
            grouped=bool(self.quasi_keys or self.sensitive_keys),
            estimates=estimates,
            columns=columns,
        )

    def _write_uniform(self, aggregate: Aggregate) -> Sql:
        """Return one aggregate over asked values beside their moments; it is NULL over no row, but for COUNT."""
        piece, present = aggregate.argument, "1"
        added, row_share, shared = "moment.uniform", "moment.uniform", "moment.shared"
        if piece in self.weights:
            weight = f"asked.weight_{self.weights.index(piece) + 1}"
            added, present = f"{weight} * moment.uniform", f"case when {weight} is null then 0 else 1 end"
        elif piece is not None:
            number = self.measures.index(piece) + 1
            added, row_share, shared = (
                f"moment.{name}_{number}" for name in ("sum_uniform", "count_uniform", "count_shared")
            )
        conditions = [f"moment.{self.flags[self.limits.index(aggregate.limit)]} = 1"] if aggregate.limit else []
        if aggregate.chosen is not None:
            conditions.append(f"asked.weight_{self.weights.index(weigh_choice(aggregate.chosen)) + 1} = 1")
        if conditions:
            condition = " and ".join(conditions)
            added, present = (f"case when {condition} then {term} end" for term in (added, present))
        rows, has_rows = f"sum(({present}) * {row_share})", f"sum(({present}) * {shared}) > 0"
        return Sql(aggregate.function.write(f"sum({added})", rows, has_rows))

    def script(self, estimator: str, loading: Sequence[tuple[str, str]]) -> str:
        """Return a script that ends in the answer, or in the moments where the estimator solves for shares.

        What the release settles by itself, any estimator answers as the uniform one does, without error.
        """
        in_sql = not self.query.derived and (self.is_settled or not self.by_class)
        if not in_sql:
            return write_script(self.loaded, [*loading, *self.statements()], MOMENTS.format(estimator=estimator))
        self.by_class = False
        statements = [step for step in self.statements() if step[0] in ("asked", "possible", "hit", "moment")]
        self.relations["figure"] = inline(self.render_figure())
        return write_script(self.loaded, [*loading, *statements, ("answer", self.render_answer())], ANSWER)


class BatchRun:
    """Answer plain counts of one release as each would be answered alone: their moments are sums of cells' moments."""

    def __init__(self, loaded: GroupTables, rows: CodedRows, name: str, estimate: Estimator) -> None:
        """Take the loaded release, its rows of QIT coded with their groups, and an estimator with its name."""
        self.loaded, self.rows, self.name, self.estimate = loaded, rows, name, estimate
        self.systems = None if name == "uniform" else loaded.load_systems()
        self.values = len(loaded.load_totals())
        self.classes = 1 + (0 if self.systems is None else len(self.systems.rows))

    def answer_all(self, queries: Iterable[tuple[int, PlainCount]]) -> dict[int, Answered]:
        """Return the answers by the queries' places; where something fails on this data, those queries' are missing."""
        listed, answers = list(queries), dict[int, Answered]()
        for some in cut(listed, LOOKED_FOR):  # what is found is remembered for each
            MissingValues(self.loaded).tell([one for _, query in some for one in query.comparisons], self._domain)
        conditions = [query.quasi for _, query in listed]
        for places, columns in self.rows.sum_each(conditions, self._read_moments, self.classes * self.values):
            counted = [(listed[place][0], (listed[place][1], line)) for line, place in enumerate(places)]
            answers |= answer_in_chunks(counted, partial(self.answer, columns), CHUNK)
        return answers

    def answer(self, columns: Mapping[str, Array], counted: Sequence[tuple[PlainCount, int]]) -> list[Answered]:
        """Return an answer for each of some queries with their lines of the moments, queries x classes and values."""
        chosen = choose_values(self.loaded, self.values, [query for query, _ in counted])
        answers = []
        for (query, line), code in zip(counted, map(np.flatnonzero, chosen.T), strict=True):
            inference = self._infer({name: sums[line] for name, sums in columns.items()}, code)
            ones = np.ones(len(code))
            evidence = inference.gather_evidence(LinearAggregate(COUNT, None, ones, ones))
            answers.append(self._frame(query, self.estimate(evidence), evidence))
        return answers

    def _read_moments(self, celled: Sql) -> CellSums:
        """Run the moment query over the cells of several queries, as it runs over those of one with GROUP BY."""
        hit = inline(self.loaded.render("estimate/coded_rows/cell_count", {"celled": celled}, apart=["group_id"]))
        by_class = self.systems is not None
        relations = {**self.loaded.relations, "hit": hit}
        lines = self.loaded.engine.arrays(
            self.loaded.render("evidence/moments", relations, measures=[], by_class=by_class, flags=[])
        )
        cell, code = (lines[name].astype(np.int64) for name in ("cell", "code"))
        if by_class:
            code = self.loaded.place_classes(lines["class"].astype(np.int64)) * self.values + code
        return CellSums(cell, code, {name: lines[name].astype(float) for name in ("shared", "uniform")})

    def _infer(self, sums: Mapping[str, Array], code: Any) -> Inference:
        """Return what one query's hits say, whose sums are classes and the rest x values."""
        by_class = {name: line.reshape(self.classes, self.values) for name, line in sums.items()}
        moments = Moments(
            {name: line.sum(axis=0)[None, None] for name, line in by_class.items()}, self.loaded.load_totals()
        )
        selected = SelectedValues(code, np.zeros_like(code), np.zeros_like(code), 1)
        if self.systems is None:
            return Inference(moments, selected)
        from sqlanon.estimators.class_moments import HitSums
        from sqlanon.estimators.inference_by_class import ClassInference

        once = np.zeros(self.classes * self.values, dtype=np.int64)
        place, value = np.divmod(np.arange(len(once)), self.values)
        lines = {"cell": once, "case_number": once, "place": place, "code": value, **sums}
        hit_sums = HitSums(lines, self.classes - 1, self.values)
        return ClassInference(moments, selected, self.systems, hit_sums, self.loaded.left_out)

    def _frame(self, query: PlainCount, estimate: Estimate, evidence: Evidence) -> Answered:
        figures = {name: array[0] for name, array in vars(estimate).items()}
        figures["value"] = np.nan_to_num(figures["value"])
        messages = self._tell(bool(evidence.exact.all()))
        answer = write_answer(
            query, figures, messages + MissingValues(self.loaded).tell(query.comparisons, self._domain)
        )
        tell_blank_cells(answer, self.name)
        return answer

    def _tell(self, exact: bool) -> list[str]:
        """Return what is special about one answer."""
        if self.name == "uniform":
            return []
        if self.systems is None:
            return [TOO_MANY_VALUES]
        run = GroupRun(self.loaded, self._any_count, by_class=True)
        if not exact:
            run.tell_limits(float(self.loaded.load_totals().sum()), upper_bound=False)
        return run.messages

    _any_count = Query((), (), (), (Aggregate(COUNT),), (), (), None, grouped=False)

    def _domain(self, column: str) -> Sql:
        return self.loaded.relations["value"] if column == "sensitive" else self.rows.domains[column]


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

    def start(self, query: Query, name: str, **options: Any) -> GroupRun:
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

    def _ask_exactly(self, sql: str, name: str, **options: Any) -> Answered | None:
        answer = super()._ask_exactly(sql, name, **options)
        if answer is not None and self.loaded.people and self.loaded.sensitive.lower() in sql.lower():
            answer.messages = [*answer.messages, FACTS]
        return answer

    def published_domain(self, column: str) -> Sql:
        """Return QIT under our names, or the values."""
        self.loaded.load_totals()
        return self.loaded.relations["value" if column == "sensitive" else "person"]

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what every query reads."""
        return listed(self.loaded.loading_steps())

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer plain counts (`read_plain_count`) of releases that do not have many classes."""
        if not (self.loaded.engine.in_process and not self.loaded.people) or len(queries) < FEW:
            return {}
        try:
            batch = BatchRun(self.loaded, self.loaded.load_rows(), name, estimate)
        except AnswerError:  # each is asked alone, and says what does not fit
            return {}
        if batch.classes * batch.values > TOGETHER:
            return {}
        return batch.answer_all(read_plain_counts(queries, self._parse))

    def script(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements behind an answer as a script, which ends in the answer where SQL can give it."""
        name, _ = choose_estimator(self.estimators, self.method, estimator)
        query = self._parse_printed(sql)
        return self.start(query, name).script(name, self.loading_statements(query))
