"""From moments to evidence class by class: the ridge's posterior for every aggregate. Arrays only, no engine.

Axes: C cells, K cases, V sensitive values, J asked sets, as in `inference`; L classes. What the rest (groups of
several classes) adds is answered uniformly; its variance is that of values dealt to the hits at random.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sqlanon.estimators import ridge
from sqlanon.estimators.class_moments import Tallies, Tally
from sqlanon.estimators.class_systems import Strata
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Array, LinearAggregate, Moments, SelectedValues, Whole
from sqlanon.estimators.ridge import Outcome, Posterior

CHUNK = 4_000_000  # numbers in the directions that are asked at once


@dataclass(frozen=True)
class _Solved:
    """One outcome of one cell and case."""

    posterior: Posterior
    tally: Tally


class ByClass(Inference):
    """Solve each class of a release for one query, aggregate by aggregate."""

    def __init__(
        self, moments: Moments, asked: SelectedValues, strata: Strata, tallies: Tallies, left_out: float = 0
    ) -> None:
        """Take moments over all classes, asked values, the release's classes and the moments by class.

        left_out: rows of the source that the release leaves out.
        """
        super().__init__(moments, asked)
        self.strata, self.tallies, self.left_out = strata, tallies, left_out
        self._known: dict[tuple[object, ...], _Solved] = {}

    def _solved(self, measured: LinearAggregate) -> tuple[Array, Array, Array, Array]:
        shape = (len(self.rows), self.asked.set_count)
        value, error, growth, curve = (np.zeros(shape) for _ in range(4))
        for cell in range(shape[0]):
            if measured.function != "avg":
                value[cell], error[cell] = self._sum(measured, cell)
            elif measured.number is None:
                value[cell], error[cell], growth[cell], curve[cell] = self._average_of_values(measured, cell)
            else:
                value[cell], error[cell], growth[cell], curve[cell] = self._average(measured, cell)
        return value, error, growth, curve

    # -- sums and averages, one cell ------------------------------------------------------------

    def _sum(self, measured: LinearAggregate, cell: int) -> tuple[Array, Array]:
        kind = ("count",) if measured.number is None else ("measured", measured.number, 0.0)
        value, error = self._weighed(cell, kind, measured.weights)
        return np.where(np.isclose(value, np.rint(value), rtol=1e-13, atol=1e-9), np.rint(value), value), error

    def _average(self, measured: LinearAggregate, cell: int) -> tuple[Array, Array, Array, Array]:
        """Return what the mean of e adds to that of all hits: sum(e - mean) and its count are two outcomes.

        Their errors are taken for independent: what e - mean says of a value says nothing of how many rows count.
        """
        number = measured.number
        assert number is not None
        counted = self.moments.columns[f"count_uniform_{number}"][cell].sum()
        centre = self.moments.columns[f"sum_uniform_{number}"][cell].sum() / counted if counted else 0.0
        above, above_error = self._weighed(cell, ("measured", number, centre), measured.weights)
        rows, rows_error = self._weighed(cell, ("known", number), measured.present)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(rows > 0, above / rows, np.nan)
            error = np.sqrt(above_error**2 + distance**2 * rows_error**2) / rows
            growth = 2 * distance * rows_error**2 / rows**2
        return _settled(centre + distance, error, growth, rows, rows_error)

    def _average_of_values(self, measured: LinearAggregate, cell: int) -> tuple[Array, Array, Array, Array]:
        """Return the ratio of two sums over the same shares, with its own variance."""
        kind = ("count",)
        top, _ = self._weighed(cell, kind, measured.weights)
        rows, rows_error = self._weighed(cell, kind, measured.present)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(rows > 0, top / rows, np.nan)
            away = measured.weights - np.nan_to_num(value)[self.asked.set] * measured.present
            _, own = self._weighed(cell, kind, away)
            _, both = self._weighed(cell, kind, away + measured.present)
            crossed = np.clip((both**2 - own**2 - rows_error**2) / 2, -own * rows_error, own * rows_error)
            return _settled(value, own / rows, -2 * crossed / rows**2, rows, rows_error)

    # -- rows that the release leaves out ---------------------------------------------------------

    def _left_out(self, measured: LinearAggregate, value: Array) -> tuple[Array, Array]:
        less, more = np.zeros_like(value), np.zeros_like(value)
        if not self.left_out or not len(self.strata.full[0]):
            return less, more
        size = self._uniform(measured, measured.parts()[-1]) if measured.function == "avg" else np.ones_like(value)
        for cell, case in itertools.product(range(len(value)), np.unique(self.asked.case)):
            each = self._each(measured, cell, int(case), value[cell])
            found = ridge.left_out(self.strata, each / np.maximum(size[cell], 1.0)[:, None], self.left_out)
            less[cell] += found[0]
            more[cell] += found[1]
        return less, more

    def _each(self, measured: LinearAggregate, cell: int, case: int, value: Array) -> Array:
        """Return what one more row of each value that stands in every group would count, J x n; of AVG: times rows."""
        one, code, _ = self.strata.full
        inside = self.asked.case == case
        weights, present = np.zeros((2, self.asked.set_count, len(self.moments.totals)))
        place = (self.asked.set[inside], self.asked.code[inside])
        weights[place], present[place] = measured.weights[inside], measured.present[inside]
        number, tallies = measured.number, self.tallies
        rows = tallies.counts(cell, case) if number is None else tallies.known(cell, case, number)
        counted = rows if number is None else tallies.measured(cell, case, number)
        top, bottom = (tally.total[:-1][one] / self.strata.rows[one] for tally in (counted, rows))
        found = weights[:, code] * top
        if measured.function == "avg":
            found -= np.nan_to_num(value)[:, None] * present[:, code] * bottom
        return np.asarray(found)

    # -- linear sums over p ---------------------------------------------------------------------

    def _weighed(self, cell: int, kind: tuple[object, ...], weights: Array) -> tuple[Array, Array]:
        """Return sum over the asked v of w_v times the outcome's sum over v's rows, and its standard error, each J.

        Of cases the covariances are not followed: the standard errors' sum is an upper bound.
        """
        value, error = np.zeros((2, self.asked.set_count))
        uncertain = np.zeros(self.asked.set_count, dtype=int)
        for case in np.unique(self.asked.case):
            inside = self.asked.case == case
            codes, sets, used = self.asked.code[inside], self.asked.set[inside], weights[inside]
            solved = self._outcome(cell, int(case), kind)
            for chosen, mean, variance in self._chunks(solved, codes, sets, used):
                value[chosen] += mean
                error[chosen] += np.sqrt(variance)
                uncertain[chosen] += variance > 0
        self.upper_bound |= bool((uncertain > 1).any())
        return value, error

    def _chunks(
        self, solved: _Solved, codes: Whole, sets: Whole, weights: Array
    ) -> Iterator[tuple[Whole, Array, Array]]:
        """Yield chosen sets with mean and variance, as many at once as memory allows."""
        totals = self.strata.totals
        wanted = np.unique(sets)
        step = max(1, CHUNK // max(1, totals.size))
        for start in range(0, len(wanted), step):
            chosen = wanted[start : start + step]
            inside = np.isin(sets, chosen)
            place, code, weight = np.searchsorted(chosen, sets[inside]), codes[inside], weights[inside]
            directions = np.zeros((len(chosen), *totals.shape))
            directions[place, :, code] = weight[:, None] * totals[:, code].T
            mean, variance = solved.posterior.figures(directions)
            rest, rest_variance = _dealt(solved.tally, len(chosen), place, code, weight)
            yield chosen, mean + rest, np.maximum(variance, 0.0) + rest_variance

    def _outcome(self, cell: int, case: int, kind: tuple[object, ...]) -> _Solved:
        """Solve one outcome once: a count, the hits with a value (known), a measured expression less a centre."""
        key = (cell, case, *kind)
        if any(known[0] != cell for known in self._known):
            self._known.clear()
        if key not in self._known:
            name, *arguments = kind
            tally: Tally = getattr(self.tallies, "counts" if name == "count" else str(name))(cell, case, *arguments)
            self._known[key] = _Solved(Posterior(self.strata, self._seen(tally)), tally)
        return self._known[key]

    def _seen(self, tally: Tally) -> Outcome:
        total, square, shared, sized, group_square = (
            array[:-1] for array in (tally.total, tally.square, tally.shared, tally.sized, tally.group_square)
        )
        return ridge.outcome(self.strata, total, square, shared, sized, group_square, tally.size)


def _dealt(tally: Tally, count: int, place: Whole, code: Whole, weight: Array) -> tuple[Array, Array]:
    """Return the rest's uniform sums and their variance at most, each of length `count`."""
    sums, squares = np.zeros((2, count))
    np.add.at(sums, place, weight * tally.uniform[-1, code])
    np.add.at(squares, place, weight**2 * tally.uniform_square[-1, code])
    rows = max(float(tally.rows[-1]), 1.0)
    return sums, np.maximum(squares - sums**2 / rows, 0.0)


def _settled(
    value: Array, error: Array, growth: Array, rows: Array, rows_error: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the figures of a ratio; where its denominator may be none, it may be any that the release allows."""
    known = ~np.isnan(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        curve = np.where(known, rows_error**2 / rows**2, np.inf)
    return value, np.where(known, error, np.nan), np.where(known & np.isfinite(growth), growth, 0.0), curve
