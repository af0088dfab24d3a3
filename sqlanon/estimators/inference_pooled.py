"""From moments to evidence by one system for all groups: least squares and its variance. Arrays only, no engine.

Axes: C cells, K cases, V sensitive values, n asked values, J asked sets, as in `inference`.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators import least_squares
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.least_squares import System
from sqlanon.estimators.moments import Array, LinearAggregate, Moments, SelectedValues

TOGETHER = 3  # times the noise of a mean in its variance; by simulation, for 700 rows and groups of 3
Combo = tuple[int, int]
Spreads = Callable[[Sequence[tuple[Array, Array]]], Array]


class Pooled(Inference):
    """Solve the release's system for one query, aggregate by aggregate."""

    def __init__(
        self, moments: Moments, asked: SelectedValues, system: System, spreads: Spreads, pairs: Array | None
    ) -> None:
        """Take moments, asked values, the release's system and its spread query.

        pairs: b of rows that are hits in two cases, C x K x K x V for case < other case; None: not known.
        """
        super().__init__(moments, asked)
        self.system, self.spreads, self.pairs = system, spreads, pairs

    def _shares(self, measured: LinearAggregate, degree: int) -> Array:
        """Return the mean of x^degree over the rows of each value, C x K x V; 1 where every row is a hit."""
        found = least_squares.shares(self.system, self.moments.columns[measured.column(degree, "shared")])
        if measured.number is None:
            found[self.everyone] = 1.0
        return found

    def _solved(self, measured: LinearAggregate) -> tuple[Array, Array, Array, Array]:
        """Return value, standard error, and the growth and curve of the variance of a ratio, C x J."""
        shares = {degree: self._shares(measured, degree) for degree in range(2 * measured.degree + 1)}
        totals = self.moments.totals[self.asked.code]
        parts = [
            self.asked.sum_by_set(self.asked.gathered(shares[degree]) * totals, weights)
            for degree, weights in measured.parts()
        ]
        value = self._ratio(parts)
        asked = {combo: self._vectors(measured, combo) for combo in self.asked.combos()}
        variance, both, bottom = self._variance(measured, shares, value, asked)
        size = parts[1] if len(parts) > 1 else np.ones_like(value)
        unknown = np.broadcast_to(~self._reachable(measured, asked), value.shape)
        if len(parts) == 1:
            both, bottom = np.zeros((2, *value.shape))
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(np.maximum(variance, 0.0)) / size
            growth = 2 * (value * bottom - both) / size**2
            # A ratio whose denominator is not known to be positive may be any that the release allows.
            curve = np.where(np.isnan(value), np.inf, bottom / size**2)
        value, error = (np.where(unknown | np.isnan(value), np.nan, array) for array in (value, error))
        growth, curve = np.where(np.isfinite(growth) & ~unknown, growth, 0.0), np.where(unknown, 0.0, curve)
        return value, error, growth, curve

    # -- the variance --------------------------------------------------------------------------

    def _variance(
        self,
        measured: LinearAggregate,
        shares: Mapping[int, Array],
        value: Array,
        asked: Mapping[Combo, tuple[Array, Array]],
    ) -> tuple[Array, Array, Array]:
        """Return the variance of the numerator, for AVG that of A - avg B for A / B, its covariance and B's, C x J."""
        covariances = self._covariances(measured, shares)
        average = np.nan_to_num(value) if measured.function == "avg" else np.zeros_like(value)
        combos = list(asked)
        spread = self._spread(measured, combos, asked)
        found = np.zeros((3, *value.shape))
        deviations = np.zeros((2, *value.shape))
        for number, (chosen, case) in enumerate(combos):
            mean = average[:, chosen]
            terms = [covariances[kind][:, case] @ spread[kind, number] for kind in covariances]
            top, both, bottom = terms if len(terms) > 1 else (terms[0], np.zeros_like(mean), np.zeros_like(mean))
            own = np.maximum(top - 2 * mean * both + mean**2 * bottom, 0)
            found[:, :, chosen] += np.stack([own, both, bottom])
            deviations[:, :, chosen] += np.sqrt([own, np.maximum(bottom, 0)])
        if len(combos) > len({chosen for chosen, _ in combos}):
            crossed = self._crossed(measured, asked, average)
            if crossed is None:
                # Without the pairs' moments the sum of the cases' standard errors is an upper bound.
                self.upper_bound = True
                return deviations[0] ** 2, average * deviations[1] ** 2, deviations[1] ** 2
            found += crossed
        return found[0], found[1], found[2]

    def _covariances(self, measured: LinearAggregate, shares: Mapping[int, Array]) -> dict[str, Array]:
        """Return f/(f-1) times the covariances of a value's rows (numerator, denominator), C x K x V."""
        totals = self.moments.totals
        scale = np.where(totals > 1, totals / np.maximum(totals - 1, 1), 0.0)
        means = {degree: self._means(measured, degree, found) for degree, found in shares.items()}
        share = np.clip(means[0], 0.0, 1.0)
        own = np.maximum(self._settled(measured, (0, 0), share * (1 - share)), 0.0) * scale
        if measured.degree == 0:
            return {"top": own} | ({"both": own, "bottom": own} if measured.function == "avg" else {})
        top = np.maximum(self._settled(measured, (1, 1), means[2] - means[1] ** 2), 0.0) * scale
        if measured.function != "avg":
            return {"top": top}
        both, most = scale * self._settled(measured, (1, 0), means[1] * (1 - share)), np.sqrt(top * own)
        return {"top": top, "both": np.clip(both, -most, most), "bottom": own}

    def _settled(self, measured: LinearAggregate, degrees: tuple[int, int], plain: Array) -> Array:
        """Take the noise of the means out of a plug-in covariance, C x K x V: E[p^2] of an estimate is p^2 + Var p.

        The noise of a value's mean is a multiple of the rows' mean covariance; where it is most of what is known of
        the value, that mean covariance stands for the value's own. An estimate that is far off takes its own variance
        for small, so that the noise counts several times.
        """
        rows, system, totals = self.moments.row_count, self.system, self.moments.totals
        one, two, product = (
            self.moments.columns[measured.column(degree, "uniform")].sum(axis=2) / rows
            for degree in (*degrees, sum(degrees))
        )
        noise = np.maximum(np.diag(system.inverse), 0.0) * system.normal.sum() / rows
        trust = totals / (1 + noise) ** 2
        known = (trust * (1 - noise)).sum()
        mean = product - one * two  # of all rows, values not told apart: of variances the most that is possible
        if known > trust.sum() / 2:
            apart = plain @ trust / known
            mean = np.clip(apart, 0.0, np.maximum(mean, 0.0)) if degrees[0] == degrees[1] else apart
        pooled = mean[:, :, None]
        return np.asarray((plain + pooled * noise * (2 + TOGETHER + noise)) / (1 + noise) ** 2)

    def _means(self, measured: LinearAggregate, degree: int, found: Array) -> Array:
        """Take the uniform estimate for values that S does not determine: only their spread is needed."""
        if self.system.known.all():
            return found
        uniform = self.moments.columns[measured.column(degree, "uniform")] / self.moments.totals
        return np.where(self.system.known, found, uniform)

    def _vectors(self, measured: LinearAggregate, combo: Combo) -> tuple[Array, Array]:
        """Return a = w f over one set and case, for numerator and denominator, each of length V."""
        inside = (self.asked.set == combo[0]) & (self.asked.case == combo[1])
        codes = self.asked.code[inside]
        found = []
        for weights in (measured.weights, measured.present):
            vector = np.zeros_like(self.moments.totals)
            vector[codes] = (weights[inside]) * self.moments.totals[codes]
            found.append(vector)
        return found[0], found[1]

    def _reachable(self, measured: LinearAggregate, asked: Mapping[Combo, tuple[Array, Array]]) -> NDArray[np.bool_]:
        """Tell which asked sets S determines, J: of AVG both sums must be."""
        found = np.ones(self.asked.set_count, dtype=bool)
        for (chosen, _), vectors in asked.items():
            found[chosen] &= least_squares.reachable(self.system, np.stack(vectors[: len(measured.parts())])).all()
        self.reachable &= found
        return found

    def _spread(
        self, measured: LinearAggregate, combos: Sequence[Combo], asked: Mapping[Combo, tuple[Array, Array]]
    ) -> dict[tuple[str, int], Array]:
        """Return sum over v's places of h h' - a_v a'_v / f_v, by kind and combo, each of length V."""
        same = measured.function != "avg" or measured.degree == 1
        kinds = {"top": (0, 0)} if same else {"top": (0, 0), "both": (0, 1), "bottom": (1, 1)}
        wanted = [(asked[combo][one], asked[combo][two]) for combo in combos for one, two in kinds.values()]
        if not wanted:
            return {}
        products = iter(self.spreads(wanted) - np.stack([a * b for a, b in wanted]) / self.moments.totals)
        found = {(kind, number): next(products) for number in range(len(combos)) for kind in kinds}
        if same and measured.function == "avg":
            found |= {
                (kind, number): found["top", number] for number in range(len(combos)) for kind in ("both", "bottom")
            }
        return found

    def _crossed(
        self, measured: LinearAggregate, asked: Mapping[Combo, tuple[Array, Array]], average: Array
    ) -> Array | None:
        """Return what the covariances between cases add to the three variances, 3 x C x J; None where not known."""
        if self.pairs is None or measured.degree > 0:
            return None
        share = np.clip(self._means(measured, 0, self._shares(measured, 0)), 0.0, 1.0)
        totals = self.moments.totals
        scale = np.where(totals > 1, totals / np.maximum(totals - 1, 1), 0.0)
        found = np.zeros((3, *average.shape))
        for (chosen, case), (other_set, other) in itertools.product(asked, repeat=2):
            if chosen != other_set or case >= other:
                continue
            joint = least_squares.shares(self.system, self.pairs[:, case, other])
            low = np.maximum(share[:, case] + share[:, other] - 1, 0)
            joint = np.clip(joint, low, np.minimum(share[:, case], share[:, other]))
            covariance = scale * (joint - share[:, case] * share[:, other])
            (top, bottom), (other_top, other_bottom) = asked[chosen, case], asked[chosen, other]
            spread = self.spreads([(top, other_top), (top, other_bottom), (bottom, other_top), (bottom, other_bottom)])
            terms = [covariance @ line for line in spread]
            mean = average[:, chosen]
            own = terms[0] - mean * (terms[1] + terms[2]) + mean**2 * terms[3]
            found[:, :, chosen] += np.stack([2 * own, terms[1] + terms[2], 2 * terms[3]])
        return found
