"""From moments to evidence: what the groups that a query hits say of one aggregate. Arrays only, no engine.

Axes: C cells (combinations of quasi keys), K cases (values that a mixed condition does not tell apart),
V sensitive values, n asked values, J asked sets (combinations of sensitive keys).
A row of value v counts x in its case; over the rows of v its mean is p_v. Every aggregate is a sum over the
asked v of w_v f_v p_v, or the ratio of two such sums.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators import least_squares
from sqlanon.estimators.evidence import Evidence
from sqlanon.estimators.least_squares import System
from sqlanon.moments import Array, Asked, Measured, Moments, bounds, none_possible

Combo = tuple[int, int]
Spreads = Callable[[Sequence[tuple[Array, Array]]], Array]


class Inference:
    """Turn the moments of one query into evidence, aggregate by aggregate."""

    def __init__(
        self, moments: Moments, asked: Asked, system: System | None, spreads: Spreads, pairs: Array | None
    ) -> None:
        """Take moments, asked values, the release's system (None: uniform only) and its spread query.

        pairs: b of rows that are hits in two cases, C x K x K x V for case < other case; None: not known.
        """
        self.moments, self.asked, self.system, self.spreads, self.pairs = (
            moments,
            asked,
            system,
            spreads,
            pairs,
        )
        self.rows = moments.count("uniform")
        self.everyone = self.rows == moments.row_count
        self.case_count = self.rows.shape[1]
        self.reachable = np.ones(asked.set_count, dtype=bool)

    def evidence(self, measured: Measured) -> Evidence:
        """Return what is known of one aggregate, C x J."""
        least, most = bounds(self.moments, self.asked, measured)
        uniform = self._ratio([self._uniform(measured, part) for part in measured.parts()])
        uniform = np.clip(uniform, np.fmax(least, -np.inf), np.fmin(most, np.inf))
        if self.system is None:
            solved, error = np.full(uniform.shape, np.nan), np.full(uniform.shape, np.nan)
        else:
            solved, error = self._least_squares(measured)
        exact = self._exact(measured) | (least == most)
        solved, error = np.where(exact, uniform, solved), np.where(exact, 0.0, error)
        gone = none_possible(self.moments, self.asked, measured) & (measured.function != "count")
        uniform, solved, error, least, most = (
            np.where(gone, np.nan, array) for array in (uniform, solved, error, least, most)
        )
        return Evidence(uniform, solved, error, least, most, exact & ~gone)

    def _exact(self, measured: Measured) -> NDArray[np.bool_]:
        """Tell where the release settles the answer: every value asked alike, or every row hit (or none)."""
        alike = np.array([self._whole(measured, chosen) for chosen in range(self.asked.set_count)], dtype=bool)
        shape = (len(self.rows), self.asked.set_count)
        exact = np.broadcast_to(alike, shape)
        if measured.number is not None:
            return exact
        settled = np.ones(shape, dtype=bool)
        for chosen, case in self.asked.combos():
            settled[:, chosen] &= self.everyone[:, case] | (self.rows[:, case] == 0)
        return exact | settled

    def _whole(self, measured: Measured, chosen: int) -> bool:
        inside = self.asked.set == chosen
        return bool(
            inside.sum() == len(self.moments.totals)
            and np.ptp(self.asked.case[inside]) == 0
            and np.ptp(measured.weights[inside]) == 0
            and np.ptp(measured.present[inside]) == 0
        )

    # -- the two estimates ---------------------------------------------------------------------

    def _uniform(self, measured: Measured, part: tuple[int, Array]) -> Array:
        degree, weights = part
        column = self.moments.columns[measured.column(degree, "uniform")]
        found = self.asked.summed(self.asked.gathered(column), weights)
        return np.where(np.isclose(found, np.rint(found), rtol=1e-13, atol=1e-9), np.rint(found), found)

    @staticmethod
    def _ratio(parts: Sequence[Array]) -> Array:
        if len(parts) == 1:
            return parts[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(parts[1] > 0, parts[0] / parts[1], np.nan)

    def _shares(self, measured: Measured, degree: int) -> Array:
        """Return the mean of x^degree over the rows of each value, C x K x V; 1 where every row is a hit."""
        assert self.system is not None
        found = least_squares.shares(self.system, self.moments.columns[measured.column(degree, "shared")])
        if measured.number is None:
            found[self.everyone] = 1.0
        return found

    def _least_squares(self, measured: Measured) -> tuple[Array, Array]:
        shares = {degree: self._shares(measured, degree) for degree in range(2 * measured.degree + 1)}
        totals = self.moments.totals[self.asked.code]
        parts = [
            self.asked.summed(self.asked.gathered(shares[degree]) * totals, weights)
            for degree, weights in measured.parts()
        ]
        value = self._ratio(parts)
        variance = self._variance(measured, shares, value)
        bottom = parts[1] if len(parts) > 1 else 1.0
        unknown = ~self.reachable[None, :] | np.isnan(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(np.maximum(variance, 0.0)) / bottom
        return np.where(unknown, np.nan, value), np.where(unknown, np.nan, error)

    # -- the variance --------------------------------------------------------------------------

    def _variance(self, measured: Measured, shares: Mapping[int, Array], value: Array) -> Array:
        """Return the variance of the numerator, for AVG that of SUM(e - avg), C x J."""
        covariances = self._covariances(measured, shares)
        average = np.nan_to_num(value) if measured.function == "avg" else np.zeros_like(value)
        combos = self.asked.combos()
        asked = {combo: self._vectors(measured, combo) for combo in combos}
        self._note_reachable(asked)
        spread = self._spread(measured, combos, asked)
        total = np.zeros_like(value)
        deviations = np.zeros_like(value)
        for number, (chosen, case) in enumerate(combos):
            mean = average[:, chosen]
            terms = [covariances[kind][:, case] @ spread[kind, number] for kind in covariances]
            own = np.maximum(terms[0] if len(terms) == 1 else terms[0] - 2 * mean * terms[1] + mean**2 * terms[2], 0)
            total[:, chosen] += own
            deviations[:, chosen] += np.sqrt(own)
        if self.case_count == 1:
            return total
        crossed = self._crossed(measured, asked, average)
        # Without the pairs' moments the sum of the cases' standard errors is an upper bound.
        return deviations**2 if crossed is None else total + crossed

    def _covariances(self, measured: Measured, shares: Mapping[int, Array]) -> dict[str, Array]:
        """Return f/(f-1) times the covariances of a value's rows (numerator, denominator), C x K x V."""
        totals = self.moments.totals
        scale = np.where(totals > 1, totals / np.maximum(totals - 1, 1), 0.0)
        means = {degree: self._means(measured, degree, found) for degree, found in shares.items()}
        share = np.clip(means[0], 0.0, 1.0)
        own = scale * share * (1 - share)
        if measured.degree == 0:
            return {"top": own} | ({"both": own, "bottom": own} if measured.function == "avg" else {})
        top = scale * np.maximum(means[2] - means[1] ** 2, 0.0)
        if measured.function != "avg":
            return {"top": top}
        return {"top": top, "both": scale * means[1] * (1 - share), "bottom": own}

    def _means(self, measured: Measured, degree: int, found: Array) -> Array:
        """Take the uniform estimate for values that S does not determine: only their spread is needed."""
        assert self.system is not None
        if self.system.known.all():
            return found
        uniform = self.moments.columns[measured.column(degree, "uniform")] / self.moments.totals
        return np.where(self.system.known, found, uniform)

    def _vectors(self, measured: Measured, combo: Combo) -> tuple[Array, Array]:
        """Return a = w f over one set and case, for numerator and denominator, each of length V."""
        inside = (self.asked.set == combo[0]) & (self.asked.case == combo[1])
        codes = self.asked.code[inside]
        found = []
        for weights in (measured.weights, measured.present):
            vector = np.zeros_like(self.moments.totals)
            vector[codes] = (weights[inside]) * self.moments.totals[codes]
            found.append(vector)
        return found[0], found[1]

    def _note_reachable(self, asked: Mapping[Combo, tuple[Array, Array]]) -> None:
        assert self.system is not None
        for (chosen, _), vectors in asked.items():
            if not least_squares.reachable(self.system, np.stack(vectors)).all():
                self.reachable[chosen] = False

    def _spread(
        self, measured: Measured, combos: Sequence[Combo], asked: Mapping[Combo, tuple[Array, Array]]
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

    def _crossed(self, measured: Measured, asked: Mapping[Combo, tuple[Array, Array]], average: Array) -> Array | None:
        """Return twice the covariances between the cases of each set, C x J; None where not known."""
        if self.pairs is None or measured.degree > 0:
            return None
        assert self.system is not None
        share = np.clip(self._means(measured, 0, self._shares(measured, 0)), 0.0, 1.0)
        totals = self.moments.totals
        scale = np.where(totals > 1, totals / np.maximum(totals - 1, 1), 0.0)
        found = np.zeros_like(average)
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
            found[:, chosen] += 2 * (terms[0] - mean * (terms[1] + terms[2]) + mean**2 * terms[3])
        return found
