"""The statements of a query that all methods share: its pieces sorted, and the texts that are made of them.

The values that the sensitive part selects are numbered (relation `asked`); names, order and keys are put to the figures
(`figure`) in SQL. Expressions over aggregates are evaluated by the database at the estimates and, for their errors, at
points around.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import AnswerError, QueryError, ResourceError, SqlanonError, TargetError
from sqlanon.estimation.finite_numbers import is_numeric
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.temporary_tables import Workspace, inline
from sqlanon.estimators.evidence import Array, Estimate
from sqlanon.estimators.propagation import (
    Estimates,
    complete_correlation,
    measure_slopes,
    propagate,
    region_points,
    step_points,
)
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL, Comparison, Derived, Piece, Query, Role

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers


class QueryStatements:
    """Sort a query's pieces and write what is run of them; a method says where its relations stand.

    SELECTING: the roles of the conditions that select sensitive values. SPLITS_AVERAGES: whether the error of an
    expression over several aggregates follows from the sum and the count of each AVG in it, else from AVG's own.
    """

    SELECTING: tuple[Role, ...] = ("sensitive",)
    SPLITS_AVERAGES = True

    def __init__(self, space: Workspace, query: Query) -> None:
        """Sort the query's pieces; `relations` must name `value` before `render_asked` is called."""
        self.space, self.query = space, query
        self.quasi_keys = [key for key in query.keys if key.role != "sensitive"]
        self.sensitive_keys = [key for key in query.keys if key.role == "sensitive"]
        arguments = [agg.argument for agg in query.aggregates if agg.argument]
        weights = [piece for piece in arguments if piece.role in ("constant", "sensitive")]
        weights += [weigh_choice(agg.chosen) for agg in query.aggregates if agg.chosen]
        self.weights = list(dict.fromkeys(weights))
        measures = [piece for piece in arguments if piece.role in ("quasi", "mixed")]
        measures += [product for pair in self.pairs() if (product := self.product(*pair))]
        self.measures = list(dict.fromkeys(measures))
        self.relations = dict(space.relations) | {"point": relation_name(space.prefix, "point")}
        self.people = Sql("")  # the relation that conditions on quasi columns read
        # Other statements read `asked` for its cases and for the keys of its sets; else it is read once.
        self.keeps_asked = bool(query.parts or self.sensitive_keys)

    def spread_of(self, derived: Derived) -> tuple[Sql, tuple[int, ...]]:
        """Return the expression whose error is followed, and the numbers of the aggregates that it reads."""
        return (derived.spread, derived.linear) if self.SPLITS_AVERAGES else (derived.sql, derived.read)

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of aggregates that an expression reads both of."""
        both = (itertools.combinations(self.spread_of(derived)[1], 2) for derived in self.query.derived)
        return list(dict.fromkeys(itertools.chain.from_iterable(both)))

    def product(self, one: int, other: int) -> Piece | None:
        """Return the product of what two aggregates measure on rows; None where it is among the measures anyway."""
        first, second = (self.query.aggregates[number].argument for number in (one, other))
        if first is None or second is None or first == second or {first.role, second.role} != {"quasi"}:
            return None
        sql = Sql(f"(cast({first.sql} as double) * cast({second.sql} as double))")
        return Piece("quasi", sql, sql)

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate called `name` as (figure, name in the answer)."""
        return [("value", name), *((end, f"{name}_{end}") for end in INTERVAL)]

    def comparisons(self) -> Sequence[Comparison]:
        """Return the constants that a row equals or none does, as far as the release tells."""
        return self.query.comparisons

    def domain(self, column: str) -> Sql:
        """Return the relation of the published values of a column, by its internal name."""
        of_values = column == "sensitive"
        return self.relations["value" if of_values else "person" if "person" in self.relations else "published"]

    # -- the texts ----------------------------------------------------------------------------

    def render_asked(self) -> str:
        """Write the query over the sensitive values."""
        return self.space.render(
            "estimation/query_statements/asked",
            self.relations,
            sensitive_conditions=[piece.sql for piece in self.query.filters(*self.SELECTING)],
            parts=self.query.parts,
            sensitive_keys=[key.sql for key in self.sensitive_keys],
            weights=[piece.sql for piece in self.weights],
        )

    def render_answer(self) -> str:
        """Write the query that puts keys, order and names to the figures."""
        relations = self._keyed()
        items: list[tuple[Sql, str]] = []
        for item in self.query.items:
            if item.aggregate is None:
                items.append((item.sql, item.name))
            else:
                items += [(Sql(f"{x}_{item.aggregate}"), name) for x, name in self.name_columns(item.name)]
        order = [Sql(f"{term.sql or f'value_{term.aggregate}'} {term.direction}") for term in self.query.order]
        limit = [] if self.query.limit is None else [self.query.limit]
        keys = self._key_columns()
        parts: dict[str, Any] = {"items": items, "having": list(self.query.having), "order": order, "limit": limit}
        return self.space.render("estimation/query_statements/answer", relations, keys=keys, **parts)

    def render_points(self, expression: Sql) -> str:
        """Write the query for an expression over aggregates at points."""
        relations = self._keyed()
        keys = self._key_columns()
        return self.space.render("estimation/query_statements/point_value", relations, keys=keys, expression=expression)

    def closing_statements(self) -> list[tuple[str, str]]:
        """Return the statements behind the estimates: expressions over them, the answer, the search for constants.

        `point`, as `figure`, is filled from Python.
        """
        expressions = dict.fromkeys(
            sql for figure in self.query.derived for sql in (figure.sql, self.spread_of(figure)[0])
        )
        listed = [("point_value", self.render_points(sql)) for sql in expressions]
        listed += [("answer", self.render_answer())] if self.query.grouped else []
        return listed + list(MissingValues(self.space).statements(self.comparisons(), self.domain))

    def render_halves(self, of_sets: bool) -> str:
        """Write the query for the parts of a query whose last key tells rows below a threshold: sets, or cells."""
        relations, keys = self._keyed(), self.sensitive_keys if of_sets else self.quasi_keys
        names = [Sql(f"{'set_' if of_sets else ''}key_{number}") for number in range(1, len(keys) + 1)]
        return self.space.render(
            "estimation/quantile_search/half",
            {"part_key": relations["set_key" if of_sets else "cell_key"]},
            part_column=Sql("set_number" if of_sets else "cell"),
            keys=names[:-1],
            below=names[-1],
        )

    def _keyed(self) -> dict[str, Sql]:
        """Return the relations with those of the keys of cells and sets."""
        relations = dict(self.relations)
        relations["cell_key"], relations["set_key"] = Sql("(select 0 as cell)"), Sql("(select 0 as set_number)")
        if self.quasi_keys:
            relations["cell_key"] = inline(self.render_keys("hit", "cell", "key", len(self.quasi_keys)))
        if self.sensitive_keys:
            relations["set_key"] = inline(self.render_keys("asked", "set_number", "set_key", len(self.sensitive_keys)))
        return relations

    def give_cases(self, published: Sql, columns: Sequence[str]) -> Sql:
        """Write some columns of published rows with every case of the sensitive values that the parts are in."""
        relations = {"published": published, "asked": self.relations["asked"]}
        parts = self.query.parts
        return inline(
            self.space.render("estimation/query_statements/possible", relations, columns=columns, parts=parts)
        )

    def render_keys(self, relation: str, number: str, key: str, count: int) -> str:
        """Write which keys stand beside each number of a relation: `count` columns, key_1 …"""
        keys = [f"{key}_{place}" for place in range(1, count + 1)]
        relations = {"numbered": self.relations[relation]}
        return self.space.render("estimation/query_statements/keys", relations, number=number, keys=keys)

    def _key_columns(self) -> list[Sql]:
        columns = []
        for key in self.query.keys:
            if key.role == "sensitive":
                columns.append(Sql(f"set_key.set_key_{self.sensitive_keys.index(key) + 1}"))
            else:
                columns.append(Sql(f"cell_key.key_{self.quasi_keys.index(key) + 1}"))
        return columns


def weigh_choice(chosen: Piece) -> Piece:
    """Return a condition on sensitive values as a weight: 1 where it holds."""
    return Piece(chosen.role, Sql(f"(case when {chosen.sql} then 1 end)"), chosen.other)


LARGEST_POINTS = 5_000_000  # answers x points x aggregates
_NARROW = "{} answers are too many for expressions over aggregates; group by fewer columns, or narrow WHERE"
_ENDLESS = "{} of {} intervals of {} are left open: the expression has no value for all that its aggregates may be"
_BOUND = "the errors of {} aggregates that {} reads go together in a way that is not followed: its error is a bound"
Correlations = Mapping[tuple[int, int], Array]
Figures = Mapping[str, "Numbers"]  # columns of one length: a line per answer, with cell and set_number


class DerivedFigures:
    """Add the expressions over aggregates of one query to its figures; messages say which intervals are bounds."""

    def __init__(
        self,
        statements: QueryStatements,
        estimates: Sequence[Estimate],
        correlations: Correlations,
        made: list[str],
    ) -> None:
        """Take the estimates of the aggregates, cells x sets each, and the correlations of pairs of them.

        made: the query's temporary tables, to which ours are added.
        """
        self.statements, self.estimates, self.correlations, self.made = statements, estimates, correlations, made
        self.messages: list[str] = []

    def evaluate(self, figure: Figures) -> dict[str, Array]:
        """Return the figures of every expression, from those of the aggregates."""
        columns: dict[str, Array] = {}
        for number, derived in enumerate(self.statements.query.derived, start=len(self.estimates)):
            name = next(item.name for item in self.statements.query.items if item.aggregate == number)
            value = self._evaluate(derived.sql, figure, self._read_values(figure)[:, None])[:, 0]
            fields = self._spread(derived, figure, value, name)
            columns |= {f"{field}_{number}": array for field, array in fields.items()}
        return columns

    def _read_values(self, figure: Figures) -> Array:
        numbers = range(len(self.estimates))
        return np.stack([figure[f"value_{number}"].astype(float) for number in numbers], axis=1)

    def _spread(self, derived: Derived, figure: Figures, value: Array, name: str) -> dict[str, Array]:
        """Return value, standard error and interval of one expression."""
        sql, numbers = self.statements.spread_of(derived)
        estimates = self._gather(numbers, figure)
        columns = {"value": value} | {field: np.full(len(value), np.nan) for field in ("std_error", "low", "high")}
        usable = estimates.tell_known() & np.isfinite(value)
        usable_estimates, lines = estimates.choose(usable), {name: column[usable] for name, column in figure.items()}
        if not usable.any():
            return columns
        try:
            points = step_points(usable_estimates)
            slopes = measure_slopes(usable_estimates, points, self._evaluate(sql, lines, points, numbers))
            correlation = complete_correlation(usable_estimates, slopes)
            region = region_points(usable_estimates, slopes, correlation)
            values = self._evaluate(sql, lines, region, numbers)
        except (AnswerError, ResourceError, TargetError):
            raise
        except SqlanonError:  # the expression fails at a point where it need not
            values, slopes = (
                np.full((len(usable_estimates.value), 1), np.nan),
                np.full(usable_estimates.value.shape, np.nan),
            )
            correlation = usable_estimates.correlation
        open_ends = ~np.isfinite(values).all(axis=1)
        usable_value = value[usable]
        columns["std_error"][usable] = propagate(slopes, correlation)
        columns["low"][usable] = np.where(open_ends, np.nan, np.fmin(values.min(axis=1), usable_value))
        columns["high"][usable] = np.where(open_ends, np.nan, np.fmax(values.max(axis=1), usable_value))
        if open_ends.any():
            self.messages.append(_ENDLESS.format(int(open_ends.sum()), len(value), repr(name)))
        if np.isnan(usable_estimates.correlation).any():
            self.messages.append(_BOUND.format(len(numbers), repr(name)))
        return columns

    def _gather(self, numbers: Sequence[int], figure: Figures) -> Estimates:
        """Return what the expression reads, answer by answer."""
        fields = ("value", "centre", "std_error", "low", "high")
        arrays = {field: np.stack([figure[f"{field}_{n}"].astype(float) for n in numbers], axis=1) for field in fields}
        arrays["centre"] = np.clip(arrays["centre"], arrays["low"], arrays["high"])
        place = (figure["cell"], figure["set_number"])
        size = len(numbers)
        correlation = np.broadcast_to(np.eye(size), (len(place[0]), size, size)).copy()
        for row in range(size):
            for other in range(row):
                pair_correlation = self.correlations.get((numbers[other], numbers[row]))
                correlation[:, row, other] = np.nan if pair_correlation is None else pair_correlation[place]
                correlation[:, other, row] = correlation[:, row, other]
        # an exact figure has no error that could go with another's
        exact = arrays["std_error"] == 0
        either = exact[:, :, None] | exact[:, None, :]
        correlation[either & ~np.eye(size, dtype=bool)] = 0.0
        return Estimates(**arrays, correlation=correlation)

    def _evaluate(self, sql: Sql, lines: Figures, points: Array, numbers: Sequence[int] | None = None) -> Array:
        """Return an expression at points (answers x points x aggregates), answers x points; NaN for NULL."""
        if not len(points):
            return np.zeros(points.shape[:2])
        if points.size > LARGEST_POINTS:
            raise AnswerError(_NARROW.format(f"{len(points):,}"))
        count, each, size = points.shape
        flat = points.reshape(count * each, size)
        columns = {f"value_{n}": flat[:, place] for place, n in enumerate(numbers or range(size))}
        keys = {name: np.repeat(lines[name], each) for name in ("cell", "set_number")}
        space = self.statements.space
        relation = str(space.keep_columns("point", {"point_number": np.arange(len(flat))} | keys | columns))
        if relation not in self.made:
            self.made.append(relation)
        text = self.statements.render_points(sql)
        (_, sql_type) = space.engine.columns(text).values()
        if not is_numeric(sql_type):
            raise QueryError(f"an expression over aggregates is answered where it is a number; one is {sql_type}")
        return space.engine.arrays(text)["figure"].astype(float).reshape(count, each)
