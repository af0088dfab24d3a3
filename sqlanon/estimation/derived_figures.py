"""Expressions over aggregates, with their errors: the database evaluates them at the estimates and at points around.

The errors of an expression f over several estimates are the delta method's, and its interval is over all that the
estimates may be at once. Axes: n answers, k estimates that f reads, P points at which f is evaluated.

std_error² = g_1² + g_2² + 2 ρ g_1 g_2 of two estimates with g_i = se_i ∂f/∂x_i and ρ their correlation, the slope taken
across one standard error to each side, so that steps (round) count by what they come to; where ρ is not known, and of
more estimates, it is at most Σ |g_i|. The 95 % interval is the range of f over all that the estimates may be at once:
points of an ellipse about their centres of which D, the distances to the ends of their own intervals, are the axes if
ρ = 0; where it is not known, and of more estimates, a line along which all of them raise f. For a single estimate that
is f over its interval, for a sum the delta method's, for a ratio Fieller's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError, QueryError, ResourceError, SqlanonError, TargetError
from sqlanon.estimation.failures import is_numeric
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Derived

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers
    from sqlanon.estimation.query_run import QueryRun

DIRECTIONS = 48  # points on the rim, beside those where f is steepest
SIDES = np.array([[1.0, 1.0], [1.0, -1.0]])  # the ellipse's axes: two estimates rise together, or one against the other
ALONG = 25  # points along one interval
LARGEST_POINTS = 5_000_000  # answers x points x aggregates
_NARROW = "{} answers are too many for expressions over aggregates; group by fewer columns, or narrow WHERE"
_ENDLESS = "{} of {} intervals of {} are left open: the expression has no value for all that its aggregates may be"
_BOUND = "the errors of {} aggregates that {} reads go together in a way that is not followed: its error is a bound"


@dataclass(frozen=True)
class Estimates:
    """Hold k estimates of n answers, each n x k, and the correlation of two (n): NaN where it is not followed."""

    value: Array
    centre: Array
    std_error: Array
    low: Array
    high: Array
    correlation: Array

    def tell_known(self) -> BoolArray:
        """Return which answers have errors and intervals of all that they read and that is not NULL, n."""
        known = np.isfinite(self.value + self.centre + self.std_error + self.low + self.high)
        return np.asarray((known | np.isnan(self.value)).all(axis=1))

    def choose(self, answers: BoolArray) -> "Estimates":
        """Return the estimates of some answers."""
        return Estimates(*(array[answers] for array in vars(self).values()))


def step_points(estimates: Estimates) -> Array:
    """Return points one standard error below and above in each of `estimates`, others at their values: n x 2k x k."""
    count = estimates.value.shape[1]
    points = np.repeat(estimates.value[:, None, :], 2 * count, axis=1)
    for place in range(count):
        for turn, sign in enumerate((-1, 1)):
            moved = estimates.value[:, place] + sign * estimates.std_error[:, place]
            # beyond its interval an estimate may be what f has no value for
            points[:, 2 * place + turn, place] = np.clip(moved, estimates.low[:, place], estimates.high[:, place])
    return points


def measure_slopes(estimates: Estimates, points: Array, values: Array) -> Array:
    """Return g, n x k, from `values`: f (n x 2k) at `points`, the `step_points` of the `estimates`."""
    count = estimates.value.shape[1]
    slopes = np.zeros(estimates.value.shape)
    for place in range(count):
        width = points[:, 2 * place + 1, place] - points[:, 2 * place, place]
        rise = values[:, 2 * place + 1] - values[:, 2 * place]
        np.divide(estimates.std_error[:, place] * rise, width, out=slopes[:, place], where=width > 0)
    return slopes


def propagate(estimates: Estimates, slopes: Array) -> Array:
    """Return the standard error of f, n, of `slopes` g (n x k)."""
    if slopes.shape[1] != 2:
        return np.asarray(np.abs(slopes).sum(axis=1))
    with np.errstate(invalid="ignore"):  # slopes are endless where a divisor may be 0
        together = 2 * _complete(estimates, slopes) * slopes.prod(axis=1)
        return np.asarray(np.sqrt(np.maximum((slopes**2).sum(axis=1) + together, 0.0)))


def region_points(estimates: Estimates, slopes: Array) -> Array:
    """Return points that `estimates` may be at once, n x P x k; slopes: g (n x k).

    Of two the ellipse's centre, its rim, where f is steepest as well, and half way between.
    """
    if slopes.shape[1] == 2:
        rho, angle = _complete(estimates, slopes), np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
        axes = np.sqrt(np.maximum(np.stack([1 + rho, 1 - rho], axis=1), 0.0) / 2)
        steepest = axes * (slopes @ SIDES)
        length = np.linalg.norm(steepest, axis=1, keepdims=True)
        steepest = np.divide(steepest, length, out=np.zeros_like(steepest), where=(length > 0) & np.isfinite(length))
        steepest = steepest[:, None]
        rim = np.broadcast_to(np.stack([np.cos(angle), np.sin(angle)], axis=1), (len(slopes), DIRECTIONS, 2))
        rim = np.concatenate([steepest, -steepest, rim], axis=1)
        along = np.concatenate([np.zeros((len(slopes), 1, 2)), rim, rim / 2], axis=1) * axes[:, None]
        share = along @ SIDES
    else:
        share = np.linspace(-1.0, 1.0, ALONG)[None, :, None] * np.where(slopes < 0, -1.0, 1.0)[:, None]
    below, above = estimates.centre - estimates.low, estimates.high - estimates.centre
    moved = np.where(share > 0, share * above[:, None, :], share * below[:, None, :])
    return np.asarray(estimates.centre[:, None, :] + moved)


def _complete(estimates: Estimates, slopes: Array) -> Array:
    """Return the correlation of two estimates, n; where it is not known, what makes the error of `slopes` largest."""
    return np.where(
        np.isnan(estimates.correlation), np.where(slopes.prod(axis=1) < 0, -1.0, 1.0), estimates.correlation
    )


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
    known = run.correlations.get((derived.read[0], derived.read[-1])) if len(derived.read) == 2 else None
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
