"""Many plain counts answered together: COUNT(*) with conditions joined by AND, each over one column.

A condition depends on its column's value alone, so it is evaluated once for every different value. Values for which all
conditions of some questions agree have one signature, and rows of the same signatures make a cell. The engine sums by
cell, as for a GROUP BY, and the answer of a question is the sum over the cells where its conditions hold. The number of
cells depends on the questions, not on the rows: a single question has one cell.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.failures import MissingValues, overlooked
from sqlanon.estimation.release_tables import Workspace, cut, inline
from sqlanon.estimators.aggregates import COUNT
from sqlanon.estimators.evidence import Array, BoolArray, IntArray
from sqlanon.estimators.one_core import on_one_core
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate, Query

if TYPE_CHECKING:
    from sqlanon.estimation.qit_st import GroupTables
    from sqlanon.estimation.query_run import Estimator

MOST_TOGETHER = 496  # questions that read the same columns and are counted in one pass over the rows
MOST_SUMS = 4_000_000  # cells x numbers of a cell that leave the engine at once
MOST_MARKS = 4_000_000  # questions x cells that are laid out at once
LARGEST_CELL = 2**62
BITS = 62  # conditions of one word

Condition = tuple[str, Sql]  # a column and a condition over it
Question = Sequence[Condition]
# as the engine gives them, a line for each cell and number of it that has any: both, and sums by name
CellSums = tuple[IntArray, IntArray, Mapping[str, Array]]
T = TypeVar("T")
FEW = 8  # queries that are answered sooner alone
_COLUMN = re.compile(r"quasi_\d+")
MOST_VALUES = 4_000  # values of all classes: of more, queries are answered one by one
CHUNK = 64  # queries whose answers are laid out at once
TOLD_OF = 512  # queries whose constants are looked for at once


@dataclass(frozen=True)
class Cells:
    """What questions tell apart that read the same columns.

    relation: the rows that any of them counts, with their `cell`. holds: of each column questions x signatures; a
    cell's number has the column's signature as its digit, the last column's as the smallest.
    """

    relation: Sql
    count: int
    holds: Sequence[BoolArray]

    @property
    def size(self) -> int:
        """Return how many cells there may be."""
        return math.prod(each.shape[1] for each in self.holds)

    def add_up(self, lines: CellSums, width: int) -> dict[str, Array]:
        """Return the sums over the cells that each question counts, questions x width."""
        cell, code, sums = lines
        cells, place = np.unique(cell, return_inverse=True)
        by_cell = {name: np.zeros((len(cells), width)) for name in sums}
        for name, line in sums.items():
            by_cell[name][place, code] = line
        totals = {name: np.zeros((self.count, width)) for name in sums}
        step = max(1, MOST_MARKS // max(len(cells), 1))
        with on_one_core():
            for start in range(0, self.count, step):
                some = slice(start, start + step)
                marks = self._mark(cells, some)
                for name, total in totals.items():
                    total[some] = marks @ by_cell[name]
        return totals

    def count_up(self, cell: IntArray, rows: Array) -> Array:
        """Return the rows that each question counts, by those of each cell: the last column's digit is multiplied."""
        last = self.holds[-1] if self.holds else np.ones((self.count, 1), dtype=bool)
        begin, digit = np.divmod(cell, last.shape[1])
        if len(np.unique(begin)) * last.shape[1] > 2 * MOST_SUMS:
            return self.add_up((cell, np.zeros_like(cell), {"rows": rows}), 1)["rows"][:, 0]
        first = replace(self, holds=self.holds[:-1])
        by_digit = first.add_up((begin, digit, {"rows": rows}), last.shape[1])["rows"]
        return np.asarray((by_digit * last).sum(axis=1))

    def _mark(self, cells: IntArray, some: slice) -> Array:
        """Return 1.0 where a question counts a cell, else 0.0: some of the questions x cells."""
        marks, factor = np.ones((len(range(self.count)[some]), len(cells)), dtype=bool), self.size
        for holds in self.holds if len(cells) else ():  # a column may have no value that any condition holds for
            factor //= holds.shape[1]
            marks &= holds[some][:, cells // factor % holds.shape[1]]
        return marks.astype(float)


class CodedRows:
    """Number the values of one relation's columns, and sum its rows for many questions; all rows stay in the engine."""

    def __init__(
        self, space: Workspace, name: str, rows: Sql, columns: Sequence[str], kept: Sequence[str] = ()
    ) -> None:
        """Take a relation, the columns that conditions read, and those that sums read.

        name: what the tables begin with.
        """
        self.space, self.name, self.rows, self.columns, self.kept = space, name, rows, tuple(columns), tuple(kept)
        self.domains: dict[str, Sql] = {}
        self._coded: Sql | None = None

    def load(self) -> None:
        """Number the values of every column; nothing is done again."""
        if self._coded is not None:
            return
        for number, column in enumerate(self.columns, start=1):
            text = self.space.render("estimate/coded_rows/domain", {"rows": self.rows}, column=column)
            self.domains[column] = self.space.keep(f"{self.name}_{number}", text)
        domains = [(column, self.domains[column]) for column in self.columns]
        if not domains:
            self._coded = self.rows
            return
        text = self.space.render(
            "estimate/coded_rows/coded_row", {"rows": self.rows}, domains=domains, kept=list(self.kept)
        )
        self._coded = self.space.keep(self.name, text)

    def sum_each(
        self, questions: Sequence[Question], read: Callable[[Sql], CellSums], width: int
    ) -> Iterator[tuple[list[int], dict[str, Array]]]:
        """Yield places of questions with their sums by name, questions x width.

        read: runs a query over rows with their `cell`. Where something fails on this data, the questions that it fails
        for are left out.
        """
        yield from self._each(questions, lambda cells: cells.add_up(read(cells.relation), width), width)

    def count_each(self, questions: Sequence[Question]) -> Iterator[tuple[list[int], Array]]:
        """Yield places of questions with the rows that each counts."""

        def count(cells: Cells) -> Array:
            lines = self.space.engine.arrays(
                self.space.render("estimate/coded_rows/cell_count", {"celled": cells.relation}, apart=[])
            )
            return cells.count_up(lines["cell"].astype(np.int64), lines["row_count"].astype(float))

        yield from self._each(questions, count, 1)

    def _each(
        self, questions: Sequence[Question], run: Callable[[Cells], T], width: int
    ) -> Iterator[tuple[list[int], T]]:
        """Yield places of questions that read the same columns with what is run of their cells."""
        by_columns: dict[tuple[str, ...], list[int]] = {}
        for place, question in enumerate(questions):
            read = {column for column, _ in question}
            by_columns.setdefault(tuple(column for column in self.columns if column in read), []).append(place)
        for columns, places in by_columns.items():
            waiting = list(cut(places, MOST_TOGETHER))
            while waiting:
                some = waiting.pop()
                result = None
                with (
                    overlooked(),  # of one question it is said why when that is asked alone
                    self._tell_apart(columns, [questions[place] for place in some]) as cells,
                ):
                    result = None if self._is_too_large(cells, width) else run(cells)
                if result is not None:
                    yield some, result
                elif len(some) > 1:
                    waiting += [some[: len(some) // 2], some[len(some) // 2 :]]

    @contextmanager
    def _tell_apart(self, columns: Sequence[str], questions: Sequence[Question]) -> Iterator[Cells]:
        """Give the values of each column their signatures, in tables of their own that go with the block."""
        tables: list[tuple[int, Sql, BoolArray]] = []
        try:
            for column in columns:
                conditions = list(dict.fromkeys(text for each in questions for name, text in each if name == column))
                number = {text: place for place, text in enumerate(conditions)}
                relation = self._keep_signatures(column, conditions)
                tables.append((self.columns.index(column) + 1, relation, np.zeros((0, 0), dtype=bool)))
                holds_by_signature = self._read_signatures(relation, len(conditions))
                asked = [[number[text] for name, text in each if name == column] for each in questions]
                holds = np.stack([holds_by_signature[:, places].all(axis=1) for places in asked])
                tables[-1] = (*tables[-1][:2], holds)
            tables.sort(key=lambda table: table[2].shape[1])
            signatures, factor = [], 1
            for number_of_column, relation, holds in reversed(tables):
                signatures.append((number_of_column, relation, factor))
                factor *= holds.shape[1]
            assert self._coded is not None
            celled = self.space.render(
                "estimate/coded_rows/celled", {"coded": self._coded}, signatures=signatures, kept=list(self.kept)
            )
            yield Cells(inline(celled), len(questions), [holds for _, _, holds in tables])
        finally:
            self.space.forget([str(relation) for _, relation, _ in tables])

    def _keep_signatures(self, column: str, conditions: Sequence[Sql]) -> Sql:
        holds = inline(
            self.space.render(
                "estimate/coded_rows/holds", {"domain": self.domains[column]}, conditions=list(conditions)
            )
        )
        words = [(first, first + BITS - 1) for first in range(1, len(conditions) + 1, BITS)]
        text = self.space.render("estimate/coded_rows/signature", {"holds": holds}, words=words)
        return self.space.keep(f"{self.name}_signature_{self.columns.index(column) + 1}", text)

    def _read_signatures(self, relation: Sql, count: int) -> BoolArray:
        """Return which conditions hold for the values of each signature, signatures x conditions."""
        words = [f"word_{number}" for number in range(1, -(-count // BITS) + 1)]
        listed = ", ".join(words)
        read = self.space.engine.arrays(
            f"select distinct signature, {listed} from {relation} order by signature asc nulls last"
        )
        bits = np.arange(BITS)
        bits_by_word = [(read[word].astype(np.int64)[:, None] >> bits & 1).astype(bool) for word in words]
        return np.concatenate(bits_by_word, axis=1)[:, :count]

    def _is_too_large(self, cells: Cells, width: int) -> bool:
        """Tell whether more sums would leave the engine at once than are held; those of one question never are."""
        if cells.count == 1 or cells.size * width <= MOST_SUMS:
            return False
        if cells.size > LARGEST_CELL:
            return True
        (row,) = self.space.engine.rows(f"select count(distinct cell) as cells from {cells.relation}")
        return bool(row["cells"] * width > MOST_SUMS)

    def close(self) -> None:
        """Drop the tables."""
        kept = [] if self._coded is None or not self.columns else [self._coded]
        self.space.forget([str(relation) for relation in (*self.domains.values(), *kept)])
        self.domains, self._coded = {}, None


def tell_holding(space: Workspace, domain: Sql, size: int, conditions: Sequence[Sql]) -> BoolArray:
    """Tell for every value of a column which conditions hold: values x conditions.

    domain: the relation of the values, with `code` from 0 to below `size`.
    """
    holds = np.zeros((size, len(conditions)), dtype=bool)
    if conditions:
        text = space.render("estimate/coded_rows/holds", {"domain": domain}, conditions=list(conditions))
        code, number = (line.astype(np.int64) for line in space.engine.arrays(text).values())
        holds[code, number - 1] = True
    return holds


@dataclass(frozen=True)
class PlainCount:
    """One such query, what it asks of quasi columns, and of the sensitive one."""

    query: Query
    quasi: tuple[Condition, ...]
    sensitive: tuple[Sql, ...]


def read_plain_counts(queries: Sequence[str], parse: Callable[[str], Query]) -> Iterator[tuple[int, PlainCount]]:
    """Yield the place of each text that is such a query, with what it asks; what cannot be read is left to others."""
    for place, text in enumerate(queries):
        try:
            query = parse(text)
        except QueryError:
            continue
        whole = not (query.grouped or query.keys or query.parts or query.derived or query.having)
        if not whole or query.limit is not None or query.aggregates != (Aggregate(COUNT),):
            continue
        pieces = query.filters("constant", "quasi", "mixed")
        # a text that names another column makes two: answered alone
        read = [set(_COLUMN.findall(piece.sql)) for piece in pieces]
        if all(piece.role == "quasi" and len(columns) == 1 for piece, columns in zip(pieces, read, strict=True)):
            conditions = tuple((columns.pop(), piece.sql) for piece, columns in zip(pieces, read, strict=True))
            yield place, PlainCount(query, conditions, tuple(piece.sql for piece in query.filters("sensitive")))


def choose_values(space: Workspace, value_count: int, queries: Sequence[PlainCount]) -> BoolArray:
    """Tell which sensitive values each query asks for, V x Q."""
    conditions = list(dict.fromkeys(condition for query in queries for condition in query.sensitive))
    number = {condition: place for place, condition in enumerate(conditions)}
    holds = tell_holding(space, space.relations["value"], value_count, conditions)
    chosen = [holds[:, [number[one] for one in query.sensitive]].all(axis=1) for query in queries]
    return np.stack(chosen, axis=1)


def answer_in_chunks(
    queries: Iterable[tuple[int, T]], answer: Callable[[Sequence[T]], list[Answered]], size: int
) -> dict[int, Answered]:
    """Return the answers by the queries' places, so many queries at once.

    Where something fails on this data, those queries' answers are missing.
    """
    answers_by_place = dict[int, Answered]()
    for chunk in cut(queries, size):
        with overlooked():  # each is asked alone, and says what is wrong with it
            answers = answer([query for _, query in chunk])
            answers_by_place |= zip([place for place, _ in chunk], answers, strict=True)
    return answers_by_place


def answer_of_groups(
    loaded: "GroupTables", counts: Iterable[tuple[int, PlainCount]], name: str, estimate: "Estimator"
) -> "dict[int, Answered]":
    """Answer plain counts of a release that does not have many classes, by their places.

    Each is answered as it would be alone; the hits of all that read the same columns are counted in one pass.
    """
    if loaded.people:
        return {}
    values = len(loaded.totals)
    try:
        rows, by_class = loaded.rows, name != "uniform" and loaded.systems is not None
    except AnswerError:  # each is asked alone, and says what does not fit
        return {}
    width = values * (len(loaded.place_of_class) if by_class else 1)
    if width > MOST_VALUES:
        return {}
    plain = list(counts)
    domains = {**rows.domains, "sensitive": loaded.relations["value"]}
    for some in cut(plain, TOLD_OF):  # what is found is remembered for each
        MissingValues(loaded, domains.__getitem__).tell([one for _, plain in some for one in plain.query.comparisons])

    def read(celled: Sql) -> CellSums:
        hit = inline(loaded.render("estimate/coded_rows/cell_count", {"celled": celled}, apart=["group_id"]))
        moments = loaded.render(
            "evidence/moments", {**loaded.relations, "hit": hit}, measures=[], by_class=by_class, flags=[]
        )
        lines = loaded.engine.arrays(moments)
        code = lines["code"].astype(np.int64)
        if by_class:  # classes are numbered from -1
            code += (lines["class"].astype(np.int64) + 1) * values
        sums = {each: lines[each].astype(float) for each in ("shared", "uniform")}
        return lines["cell"].astype(np.int64), code, sums

    def answer(counted: "Sequence[tuple[PlainCount, dict[str, Array]]]") -> "list[Answered]":
        answers = list["Answered"]()
        chosen = choose_values(loaded, values, [one for one, _ in counted])
        for (one, sums), selection in zip(counted, chosen.T, strict=True):
            place = np.flatnonzero(sums["uniform"])
            number, code = np.divmod(place, values)
            once = np.zeros_like(place)
            lines = {"cell": once, "case_number": once, "class": number - by_class, "code": code}
            run = loaded.start(one.query, name)
            run.load()
            run.counted = np.flatnonzero(selection), lines | {each: line[place] for each, line in sums.items()}
            answers.append(run.answer(estimate))
            answers[-1].tell_blank_cells(name)
        return answers

    found: dict[int, Answered] = {}
    for places, sums in rows.sum_each([one.quasi for _, one in plain], read, width):
        counted = [
            (plain[place][0], (plain[place][1], {each: line[number] for each, line in sums.items()}))
            for number, place in enumerate(places)
        ]
        found |= answer_in_chunks(counted, answer, CHUNK)
    return found
