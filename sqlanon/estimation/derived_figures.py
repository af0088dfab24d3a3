"""Expressions over aggregates, with their errors: the database evaluates them at the estimates and at points around."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError, QueryError, ResourceError, SqlanonError, TargetError
from sqlanon.estimation.failures import is_numeric
from sqlanon.estimators.evidence import Array, Estimate
from sqlanon.estimators.propagation import (
    Estimates,
    measure_slopes,
    propagate,
    region_points,
    step_points,
)
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Derived

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers
    from sqlanon.estimation.query_run import QueryRun

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
        run: "QueryRun",
        estimates: Sequence[Estimate],
        correlations: Correlations,
        made: list[str],
    ) -> None:
        """Take the estimates of the aggregates, cells x sets each, and the correlations of pairs of them.

        made: the query's temporary tables, to which ours are added.
        """
        self.run, self.estimates, self.correlations, self.made = run, estimates, correlations, made
        self.messages: list[str] = []

    def evaluate(self, figure: Figures) -> dict[str, Array]:
        """Return the figures of every expression, from those of the aggregates."""
        columns: dict[str, Array] = {}
        numbers = range(len(self.estimates))
        values = np.stack([figure[f"value_{number}"].astype(float) for number in numbers], axis=1)[:, None]
        for number, derived in enumerate(self.run.query.derived, start=len(self.estimates)):
            name = next(item.name for item in self.run.query.items if item.aggregate == number)
            value = self._evaluate(derived.sql, figure, values)[:, 0]
            fields = self._spread(derived, figure, value, name)
            if derived.is_share:
                fields = self._bound_share(derived, figure, fields)
            columns |= {f"{field}_{number}": array for field, array in fields.items()}
        return columns

    @staticmethod
    def _bound_share(derived: Derived, figure: Figures, fields: Mapping[str, Array]) -> dict[str, Array]:
        """Keep a share between 0 and 1; where both counts are one figure it is 1, and nothing is uncertain about it."""
        one, other = (np.stack([figure[f"{field}_{n}"] for field in fields]) for n in derived.read)
        whole = (one == other).all(axis=0) & (fields["value"] == 1)
        bounded = {name: np.clip(array, 0.0, 1.0) for name, array in fields.items() if name != "std_error"}
        bounded["std_error"] = np.where(whole, 0.0, np.minimum(fields["std_error"], 0.5))
        return {**bounded, **{end: np.where(whole, 1.0, bounded[end]) for end in ("low", "high")}}

    def _spread(self, derived: Derived, figure: Figures, value: Array, name: str) -> dict[str, Array]:
        """Return value, standard error and interval of one expression."""
        estimates = self._gather(derived, figure)
        columns = {"value": value} | {field: np.full(len(value), np.nan) for field in ("std_error", "low", "high")}
        usable = estimates.tell_known() & np.isfinite(value)
        usable_estimates, lines = estimates.choose(usable), {name: column[usable] for name, column in figure.items()}
        if not usable.any():
            return columns
        try:
            points = step_points(usable_estimates)
            slopes = measure_slopes(usable_estimates, points, self._evaluate(derived.sql, lines, points, derived.read))
            region = region_points(usable_estimates, slopes)
            values = self._evaluate(derived.sql, lines, region, derived.read)
        except (AnswerError, ResourceError, TargetError):
            raise
        except SqlanonError:  # the expression fails at a point where it need not
            values, slopes = (
                np.full((len(usable_estimates.value), 1), np.nan),
                np.full(usable_estimates.value.shape, np.nan),
            )
        open_ends = ~np.isfinite(values).all(axis=1)
        usable_value = value[usable]
        columns["std_error"][usable] = propagate(usable_estimates, slopes)
        columns["low"][usable] = np.where(open_ends, np.nan, np.fmin(values.min(axis=1), usable_value))
        columns["high"][usable] = np.where(open_ends, np.nan, np.fmax(values.max(axis=1), usable_value))
        if open_ends.any():
            self.messages.append(_ENDLESS.format(int(open_ends.sum()), len(value), repr(name)))
        if np.isnan(usable_estimates.correlation).any():
            self.messages.append(_BOUND.format(len(derived.read), repr(name)))
        return columns

    def _gather(self, derived: Derived, figure: Figures) -> Estimates:
        """Return what the expression reads, answer by answer."""
        fields = ("value", "centre", "std_error", "low", "high")
        arrays = {
            field: np.stack([figure[f"{field}_{n}"].astype(float) for n in derived.read], axis=1) for field in fields
        }
        arrays["centre"] = np.clip(arrays["centre"], arrays["low"], arrays["high"])
        arrays["std_error"] = np.where(np.isnan(arrays["value"]), 0.0, arrays["std_error"])
        known = self.correlations.get((derived.read[0], derived.read[-1])) if derived.is_pair else None
        correlation = np.nan if known is None else known[figure["cell"], figure["set_number"]]
        # an exact figure has no error that could go with another's
        several = (arrays["std_error"] != 0).sum(axis=1) > 1
        return Estimates(**arrays, correlation=np.where(several, correlation, 0.0))

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
        space = self.run.space
        relation = str(space.keep_columns("point", {"point_number": np.arange(len(flat))} | keys | columns))
        if relation not in self.made:
            self.made.append(relation)
        text = self.run.render_points(sql)
        (_, sql_type) = space.engine.columns(text).values()
        if not is_numeric(sql_type):
            raise QueryError(f"an expression over aggregates is answered where it is a number; one is {sql_type}")
        return space.engine.arrays(text)["figure"].astype(float).reshape(count, each)
