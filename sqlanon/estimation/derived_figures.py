"""Expressions over aggregates, with their errors: the database evaluates them at the estimates and at points around."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError, QueryError, ResourceError, SqlanonError, TargetError
from sqlanon.estimation.failures import is_numeric
from sqlanon.estimators.evidence import Array
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
Figures = Mapping[str, "Numbers"]  # columns of one length: a line per answer, with cell and set_number


def evaluate_derived(run: "QueryRun", figure: Figures) -> dict[str, Array]:
    """Return the figures of every expression over aggregates, from those of the aggregates, answer by answer.

    Messages of the run say which intervals are bounds.
    """
    columns: dict[str, Array] = {}
    numbers = range(len(run.query.aggregates))
    for number, derived in enumerate(run.query.derived, start=len(numbers)):
        values = np.stack([figure[f"value_{n}"].astype(float) for n in numbers], axis=1)[:, None]
        name = next(item.name for item in run.query.items if item.aggregate == number)
        value = _evaluate(run, derived.sql, figure, values, numbers)[:, 0]
        fields = _spread(run, derived, figure, value, name)
        if derived.is_share:
            fields = _bound_share(derived, figure, fields)
        columns |= {f"{field}_{number}": array for field, array in fields.items()}
    return columns


def _bound_share(derived: Derived, figure: Figures, fields: Mapping[str, Array]) -> dict[str, Array]:
    """Keep a share between 0 and 1; where both counts are one figure it is 1, and nothing is uncertain about it."""
    one, other = (np.stack([figure[f"{field}_{n}"] for field in fields]) for n in derived.read)
    whole = (one == other).all(axis=0) & (fields["value"] == 1)
    bounded = {name: np.where(whole, 1.0, np.clip(array, 0.0, 1.0)) for name, array in fields.items()}
    return bounded | {"std_error": np.where(whole, 0.0, np.minimum(fields["std_error"], 0.5))}


def _spread(run: "QueryRun", derived: Derived, figure: Figures, value: Array, name: str) -> dict[str, Array]:
    """Return value, standard error and interval of one expression."""
    estimates = _gather(run, derived, figure)
    columns = {"value": value} | {field: np.full(len(value), np.nan) for field in ("std_error", "low", "high")}
    usable = estimates.tell_known() & np.isfinite(value)
    if not usable.any():
        return columns
    known, lines = estimates.choose(usable), {name: column[usable] for name, column in figure.items()}
    try:
        points = step_points(known)
        slopes = measure_slopes(known, points, _evaluate(run, derived.sql, lines, points, derived.read))
        region = region_points(known, slopes)
        values = _evaluate(run, derived.sql, lines, region, derived.read)
        named = [f'"value_{number}"' for number in derived.read]
        for divisor in derived.divisors:  # between two points the expression may have no end
            alone = divisor in named
            divided = (
                region[..., named.index(divisor)] if alone else _evaluate(run, divisor, lines, region, derived.read)
            )
            values[(divided.min(axis=1) < 0) & (divided.max(axis=1) > 0)] = np.nan
    except (AnswerError, ResourceError, TargetError):
        raise
    except SqlanonError:  # the expression fails at a point where it need not
        values, slopes = np.full((len(known.value), 1), np.nan), np.full(known.value.shape, np.nan)
    open_ends = ~np.isfinite(values).all(axis=1)
    columns["std_error"][usable] = propagate(known, slopes)
    columns["low"][usable] = np.where(open_ends, np.nan, np.fmin(values.min(axis=1), value[usable]))
    columns["high"][usable] = np.where(open_ends, np.nan, np.fmax(values.max(axis=1), value[usable]))
    if open_ends.any():
        run.messages.append(_ENDLESS.format(int(open_ends.sum()), len(value), repr(name)))
    if np.isnan(known.correlation).any():
        run.messages.append(_BOUND.format(len(derived.read), repr(name)))
    return columns


def _gather(run: "QueryRun", derived: Derived, figure: Figures) -> Estimates:
    """Return what the expression reads, answer by answer."""
    value, centre, error, low, high = (
        np.stack([figure[f"{field}_{n}"].astype(float) for n in derived.read], axis=1)
        for field in ("value", "centre", "std_error", "low", "high")
    )
    error = np.where(np.isnan(value), 0.0, error)
    known = run.correlations.get((derived.read[0], derived.read[-1])) if derived.is_pair else None
    correlation = np.nan if known is None else known[figure["cell"], figure["set_number"]]
    # an exact figure has no error that could go with another's
    several = (error != 0).sum(axis=1) > 1
    return Estimates(value, np.clip(centre, low, high), error, low, high, np.where(several, correlation, 0.0))


def _evaluate(run: "QueryRun", sql: Sql, lines: Figures, points: Array, numbers: Sequence[int]) -> Array:
    """Return an expression at points (answers x points x aggregates), answers x points; NaN for NULL."""
    if not len(points):
        return np.zeros(points.shape[:2])
    if points.size > LARGEST_POINTS:
        raise AnswerError(_NARROW.format(f"{len(points):,}"))
    count, each, size = points.shape
    flat = points.reshape(count * each, size)
    columns = {f"value_{n}": flat[:, place] for place, n in enumerate(numbers)}
    keys = {name: np.repeat(lines[name], each) for name in ("cell", "set_number")}
    relation = str(run.space.keep_columns("point", {"point_number": np.arange(len(flat))} | keys | columns))
    if relation not in run.made:
        run.made.append(relation)
    items = [(Sql("point_number"), "point_number"), (sql, "figure")]
    text = run.write_keyed("point", items=items, having=(), order=[Sql("point_number asc nulls last")], limit=[])
    (_, sql_type) = run.space.engine.columns(text).values()
    if not is_numeric(sql_type):
        raise QueryError(f"an expression over aggregates is answered where it is a number; one is {sql_type}")
    return run.space.engine.arrays(text)["figure"].astype(float).reshape(count, each)
