"""A query on its way through a release: what every method's answers share.

A method estimates per cell (combination of quasi keys) and value set (combination of sensitive keys); what is run for
that, the query's statements say.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError, DataError, QueryError, ResourceError, SqlanonError, TargetError, UsageError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.finite_numbers import require_finite_weights, require_numeric
from sqlanon.estimation.memory_need import ANSWER, LINE, SET, NumbersHeld, require_memory
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.query_statements import DerivedFigures, QueryStatements, weigh_choice
from sqlanon.estimation.temporary_tables import Workspace, inline
from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence
from sqlanon.estimators.moments import SelectedValues
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Aggregate, Piece, Query

if TYPE_CHECKING:
    import pandas as pd


LARGEST_ANSWER = 20_000_000  # numbers per moment: cells x cases x values

Estimator = Callable[[Evidence], Estimate]
Inverted = Mapping[int, Mapping[str, Any]]  # by the number of an aggregate: the fields of its estimates


class QueryRun(QueryStatements):
    """Run one query; a method adds how its release is read and what follows from it (`estimate_aggregates`).

    AVERAGES: whether AVG is answered. HELD: what `require_memory` counts with.
    """

    AVERAGES = True
    HELD: NumbersHeld

    def __init__(self, space: Workspace, query: Query) -> None:
        """Sort the query's pieces; nothing runs yet."""
        super().__init__(space, query)
        self.correlations: dict[tuple[int, int], Array] = {}
        self.wanted_cells: Mapping[int, BoolArray] = {}  # by aggregate, where it is not asked for in all cells
        self.made: list[str] = []
        self.selected_count = 0
        self.messages: list[str] = []  # warnings
        self.remarks: list[str] = []  # how the answer was found
        self.explained_constants: set[Sql] = set()  # constants of which enough is said, should no row equal them

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], BoolArray]:
        """Return a dataclass of arrays per aggregate, and which cells x sets are answered; a method's own.

        ORDER BY goes by the field `value`.
        """
        raise NotImplementedError

    def statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what the query runs, in order; a method's own."""
        raise NotImplementedError

    def count_cells(self) -> tuple[int, int]:
        """Return how many groups the rows of `hit` make, and how many these rows are; one of each where none is."""
        if not self.quasi_keys:
            return 1, 1
        sql = f"select coalesce(max(cell) + 1, 0) as cells, count(*) as row_count from {self.relations['hit']}"
        (row,) = self.space.engine.rows(sql)
        return int(row["cells"]), int(row["row_count"])

    def require_memory(self, selected: SelectedValues, values: int) -> None:
        """Refuse what would not fit, before more of it is read than its groups. values: that the release has."""
        cells, hits = self.count_cells()
        cases, measured = int(selected.case.max(initial=0)) + 1, self.HELD.measure * len(self.measures)
        lines: float = cases * self.count_lines(values)
        if self.quasi_keys:
            lines = min(lines, self.lines_of_hit() * hits / max(cells, 1))
        each = lines * self.HELD.copies * (LINE + measured) + cases * values * (self.HELD.value + measured)
        each += selected.set_count * ANSWER * len(self.query.aggregates)
        sets = SET * selected.set_count * values if selected.set_count > 1 else 0
        require_memory(self.space.engine, sets + self.count_solved(cells), cells, each)

    def count_lines(self, values: int) -> int:
        """Return how many lines are read of a cell and case at most, where the release has so many values."""
        return values

    def lines_of_hit(self) -> float:
        """Return how many lines are read for a row that the condition on quasi columns selects."""
        return 1.0

    def count_solved(self, cells: int) -> int:
        """Return how many numbers are kept of what is solved for so many cells: none, where nothing is solved."""
        return 0

    def keep(self, name: str, sql: str) -> Sql:
        """Make a temporary table that goes with this query."""
        relation = self.space.keep(name, sql)
        self.made.append(str(relation))
        return relation

    def answer(self, estimate: Estimator, quantiles: Callable[[], Inverted] | None = None) -> Answered:
        """Run the statements and put the estimates together; messages tell what is special about them.

        quantiles: finds the fields of the estimates of those aggregates that are no sums, by number.
        """
        try:
            inverted = quantiles() if quantiles else {}
            self._check_types()
            estimates, occurring = self.estimate_aggregates(estimate)
            columns = self._name_answer(self._put_quantiles(estimates, inverted), occurring)
        except (QueryError, TargetError, AnswerError, ResourceError):
            raise
        except SqlanonError as error:
            # What an engine says is in our names and may quote a value: only errors worded for users pass as they are.
            if not isinstance(error, UsageError | DataError) and type(error) is not SqlanonError:
                raise  # a fault of ours
            raise explain_failure(error, self.space.engine, self._pieces(), self.space.names) from None
        finally:
            self.space.forget(self.made)
        self.messages += MissingValues(self.space).tell(self.comparisons(), self.domain, self.explained_constants)
        return Answered(columns, self.remarks + self.messages, self.messages)

    def _put_quantiles(self, estimates: Sequence[Any], inverted: Inverted) -> Sequence[Any]:
        """Return the estimates with quantiles in the place of their counts, whose errors go with no others'."""
        self.correlations = {pair: array for pair, array in self.correlations.items() if not set(pair) & set(inverted)}
        return [
            type(estimate)(**{name: inverted[number][name] for name in vars(estimate)})
            if number in inverted
            else estimate
            for number, estimate in enumerate(estimates)
        ]

    def _check_types(self) -> None:
        """Refuse SUM and AVG of what is no number; the type of an expression over both sides is not known yet."""
        for piece in (*self.measures, *self.weights):
            if piece.role == "quasi":
                relation = self.relations["person" if "person" in self.relations else "published"]
                require_numeric(self.space.read_type(piece.sql, relation))
            elif piece.role != "mixed":
                require_numeric(self.space.read_type(piece.sql, self.relations["value"]))

    def read_selected(self) -> tuple[SelectedValues, dict[str, Array]]:
        """Return the selected values, and by expression what each counts (NaN for NULL), length n."""
        numbers = range(1, len(self.weights) + 1)
        if self.keeps_asked:
            relation = self.keep("asked", self.render_asked())
            columns = ["code", "case_number", "set_number"]
            columns += [f"{name}_{number}" for number in numbers for name in ("weight", "endless")]
            values = self.space.engine.arrays(
                f"select {', '.join(columns)} from {relation} order by code asc nulls last"
            )
        else:
            values = self.space.read_once(self.render_asked())
        code, case, value_set = (values[name].astype(np.int64) for name in ("code", "case_number", "set_number"))
        # Without sensitive keys there is one set, though no value may belong to it.
        sets = int(value_set.max(initial=-1)) + 1 if self.sensitive_keys else 1
        self.selected_count = len(code)
        require_finite_weights(values, len(self.weights))
        weights: dict[str, Array] = {
            piece.sql: values[f"weight_{n}"].astype(float) for n, piece in enumerate(self.weights, start=1)
        }
        return SelectedValues(code, case, value_set, sets), weights

    def vectorize(self, aggregate: Aggregate, weights: Mapping[str, Array]) -> tuple[LinearAggregate, BoolArray]:
        """Say one aggregate in arrays over the selected values that it counts, and tell which these are."""
        selection = np.ones(self.selected_count, dtype=bool)
        if aggregate.chosen is not None:
            selection = weights[weigh_choice(aggregate.chosen).sql] == 1
        piece = aggregate.argument
        function = aggregate.function if piece is None else aggregate.function.of_values
        if piece is not None and piece.sql in weights:
            # NaN is NULL: it adds nothing to a sum, and is none of the rows that AVG divides by.
            weight = weights[piece.sql][selection]
            return LinearAggregate(function, None, np.nan_to_num(weight), (~np.isnan(weight)).astype(float)), selection
        ones = np.ones(int(selection.sum()))
        return LinearAggregate(function, self.number_measure(piece), ones, ones), selection

    def number_measure(self, piece: Piece | None) -> int | None:
        """Return the number of what is measured on rows, None for nothing."""
        return None if piece is None else self.measures.index(piece) + 1

    def fill_empty_counts(self, estimates: Sequence[Estimate]) -> list[Estimate]:
        """Return the estimates with 0 for a COUNT of no row: as a sum it is NULL."""
        filled = []
        for aggregate, estimate in zip(self.query.aggregates, estimates, strict=True):
            empty = np.isnan(estimate.value) & aggregate.function.counts
            filled.append(Estimate(**{name: np.where(empty, 0.0, array) for name, array in vars(estimate).items()}))
        return filled

    # -- the answer ----------------------------------------------------------------------------

    def tell_occurring(self, selected: SelectedValues, rows: Array) -> BoolArray:
        """Tell which cells x sets are answered: every quasi group that occurs, with every set it can have."""
        # As in SQL: without GROUP BY an empty selection is answered by 0, with it an empty group is no row.
        if not self.quasi_keys:
            return np.ones((len(rows), selected.set_count), dtype=bool)
        occurring = np.zeros((len(rows), selected.set_count), dtype=bool)
        for value_set, case in selected.pairs():
            occurring[:, value_set] |= rows[:, case] > 0
        return occurring

    def _name_answer(self, estimates: Sequence[Any], occurring: BoolArray) -> "dict[str, Array] | pd.DataFrame":
        """Put keys, names and order to the figures: in SQL where there are groups, else it is one row."""
        cell, value_set = np.nonzero(occurring)
        figure: dict[str, Any] = {"cell": cell, "set_number": value_set}
        for number, estimate in enumerate(estimates):
            figure |= {f"{name}_{number}": array[occurring] for name, array in vars(estimate).items()}
        if self.query.derived:
            derived = DerivedFigures(self, estimates, self.correlations, self.made)
            figure |= derived.evaluate(figure)
            self.messages += derived.messages
        if not self.query.grouped:
            pairs = [(f"{x}_{i.aggregate}", n) for i in self.query.items for x, n in self.name_columns(i.name)]
            return {name: figure[x][: self.query.limit] for x, name in pairs}
        self.made.append(str(self.relations["figure"]))
        self.space.keep_columns("figure", figure)
        text = self.render_answer()
        self._require_calendar(text)
        return self.space.engine.frame(text)

    def _require_calendar(self, answer: str) -> None:
        """Refuse dates that a program would read as others: infinite ones, and those beyond the years 1 to 9999."""
        sql_types = self.space.engine.columns(answer)
        dates = [
            (name, Sql(sql_type)) for name, sql_type in sql_types.items() if sql_type.startswith(("DATE", "TIMESTAMP"))
        ]
        if not dates:
            return
        rendered = self.space.render("estimation/query_run/beyond_calendar", {"answered": inline(answer)}, dates=dates)
        (row,) = self.space.engine.rows(rendered)
        if row["beyond"]:
            raise AnswerError(
                f"the answer holds dates that are infinite or beyond the years 1 to 9999 (in {row['beyond']} rows);"
                " cast them to text, or leave them out with WHERE"
            )

    def _pieces(self) -> Iterator[tuple[Sql, Sql]]:
        """Yield each piece of the query with the relation that it reads; parts before what reads them."""
        over_values = [*self.query.parts, *(piece.sql for piece in self.query.filters("sensitive"))]
        over_values += [piece.sql for piece in (*self.sensitive_keys, *self.weights)]
        over_rows = [piece.sql for piece in self.query.filters("constant", "quasi", "mixed")]
        over_rows += [piece.sql for piece in (*self.quasi_keys, *self.measures)]
        yield from ((sql, self.relations["value"]) for sql in over_values)
        yield from ((sql, self.people) for sql in over_rows)


_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In)
_NO_FUNCTION = re.compile(
    r"No function matches the given name and argument types '(?P<name>[^'(]+)\((?P<types>[^']*)\)'"
)
_NO_ARGUMENTS = re.compile(r"(?:Macro|Function) (?P<name>\w+)\(\) does not support the supplied arguments")
_KIND_OF_ERROR = re.compile(r"^\w+ Error: ")
_CAUSES = {  # what an engine of ours says of a value, in its words
    "cannot be read as what its column holds": "a value cannot be converted",
    "larger than what its column": "a value is out of range",
    "cannot read a value": "a value is none that a function takes",
}


def fails_on_any_data(engine: Engine, piece: Sql, relation: Sql) -> bool:
    """Tell whether an expression over a relation fails whatever its rows are: a constant of it cannot be read."""
    try:
        types = engine.columns(f"select * from {relation}")
    except SqlanonError:
        return False
    tree = sqlglot.parse_one(str(piece), read="duckdb")
    if any(_fails(engine, f"select {constant} as tried") for constant in _constants(tree)):
        return True
    # A row of NULLs satisfies every type: what fails on it does not fail because of a value.
    nulls = ", ".join(f"cast(null as {sql_type}) as {ident(name)}" for name, sql_type in types.items())
    if _fails(engine, f"select {piece} as tried from (select {nulls}) as row_of_nulls"):
        return True
    # A comparison with NULL may be settled before the literal beside it is read as the column's type.
    return any(_compares_misfit(engine, node, nulls) for node in tree.find_all(*_COMPARISONS))


def _constants(tree: exp.Expr) -> Iterator[str]:
    """Yield the largest pieces that read no column; a literal by itself can always be read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        whole = isinstance(node, exp.Condition) and not isinstance(node, exp.Literal | exp.Var | exp.Column | exp.If)
        if whole and node.find(exp.Column) is None:
            yield node.sql("duckdb")
        else:
            waiting.extend(node.iter_expressions())


def _compares_misfit(engine: Engine, node: exp.Expr, nulls: str) -> bool:
    """Tell whether a literal cannot be read as the type of what it is compared with."""
    sides = [side for side in node.iter_expressions() if isinstance(side, exp.Condition)]
    literals = [side for side in sides if isinstance(side, exp.Literal)]
    others = [side for side in sides if side.find(exp.Column) is not None]
    if not literals or not others:
        return False
    tried = f"select {others[0].sql('duckdb')} as tried from (select {nulls}) as row_of_nulls"
    try:
        (sql_type,) = engine.columns(tried).values()
    except SqlanonError:
        return False
    if sql_type == "VARCHAR":
        return any(not literal.is_string for literal in literals)
    return any(
        _fails(engine, f"select cast({literal.sql('duckdb')} as {sql_type}) as tried")
        for literal in literals
        if literal.is_string
    )


def _fails(engine: Engine, sql: str) -> bool:
    try:
        engine.rows(sql)
    except SqlanonError:
        return True
    return False


def explain_failure(
    error: SqlanonError, engine: Engine, pieces: Iterable[tuple[Sql, Sql]], names: Mapping[str, str]
) -> SqlanonError:
    """Return the error to raise instead of an engine's.

    pieces: the query's expressions, each with the relation that it reads. names: internal name → published name.
    """
    text = _publish_names(str(error), names)
    if isinstance(error, UsageError):
        return QueryError(f"the query cannot be evaluated: {_say_plainly(text)}")
    wrong = next((piece for piece, relation in pieces if fails_on_any_data(engine, piece, relation)), None)
    if wrong is not None:
        return QueryError(
            f"{_publish_names(wrong, names)} cannot be evaluated on any data: a constant does not fit;"
            " write numbers as 7, texts as 'flu', dates as '2024-01-31'"
        )
    # an engine's own text may quote a value
    cause = next(
        (f" ({words})" for message, words in _CAUSES.items() if isinstance(error, DataError) and message in text), ""
    )
    return DataError(f"the query cannot be evaluated on every row{cause}; cast to a wider type, or filter")


def _say_plainly(text: str) -> str:
    """Return an engine's complaint without the names of its own parts; of types that do not fit in words of ours."""
    match = _NO_FUNCTION.search(text)
    if match is not None:
        types = match["types"].replace("INTEGER_LITERAL", "INTEGER").replace("STRING_LITERAL", "VARCHAR")
        return f"{match['name']} does not take ({types}); cast what it is given"
    match = _NO_ARGUMENTS.search(text)
    if match is not None:
        return f"{match['name']} does not take what it is given"
    return _KIND_OF_ERROR.sub("", text)


def _publish_names(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b(quasi_\d+|sensitive(_\d+)?)\b", lambda match: names.get(match[0], match[0]), text)
