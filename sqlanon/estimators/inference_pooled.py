"""From moments to evidence by one system for all groups: least squares and its variance. Arrays only, no engine.

Given the microdata, and exact where no group repeats a value,
Var = Σ_v f_v/(f_v - 1) · p_v (1 - p_v) · (Σ_{g∋v} h_g² - a_v²/f_v), with a_v = w_v f_v on the selected values and 0
elsewhere, h_g = s_g · S^-1 a. Of SUM(e) the variance of e over v's rows takes the place of p_v (1 - p_v); of AVG = A/B
it is the variance of A - avg B over B². Axes: C cells, K cases, V sensitive values, n selected values, J value sets,
as in `inference`.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.estimators.inference import Inference, SolvedAggregate
from sqlanon.estimators.least_squares import NormalEquations, solve_shares, tell_determined
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.estimators.propagation import Pair, correlate

NOISE_WEIGHT = 3  # times the noise of a mean in its variance; by simulation, for 700 rows and groups of 3
SetCase = tuple[int, int]
VectorPair = tuple[Array, Array]
MOST_VECTORS = 4_000_000  # numbers of vectors over all values that are laid out at once
MANY = 256  # vectors: of more, what each is weighed with is summed over groups, not each vector's own squares


class Spreads(Protocol):
    """Measure vectors over the release: with h_g = s_g · S^-1 a, what values and weights have of h h'."""

    def measure_spreads(self, vectors: Sequence[VectorPair]) -> Array:
        """Return, for pairs of vectors a, a' (V), the sums of h h' over the places of each value: k x V."""

    def weigh_spreads(self, weights: Array) -> Callable[[Sequence[VectorPair]], Array]:
        """Return what weighs pairs of vectors: for T x V weights, the sum over values of theirs times h h', T x k."""


class PooledInference(Inference):
    """Solve the release's normal equations for one query, aggregate by aggregate."""

    def __init__(
        self,
        moments: Moments,
        selected: SelectedValues,
        equations: NormalEquations,
        spreads: Spreads,
        paired: Array | None,
    ) -> None:
        """Take moments, selected values, the release's equations, and what measures the spreads of vectors over it.

        paired: b of rows that are hits in two cases, C x K x K x V for case < other case; None: not known.
        """
        super().__init__(moments, selected)
        self.equations, self.spreads, self.paired = equations, spreads, paired

    def _solve_shares(self, aggregate: LinearAggregate, degree: int) -> Array:
        """Return the mean of x^degree over the rows of each value, C x K x V; 1 where every row is a hit."""
        shares = solve_shares(self.equations, self.moments.columns[aggregate.column(degree, "shared")])
        if aggregate.number is None:
            shares[self.hits_everyone] = 1.0
        return shares

    def _solve(self, aggregate: LinearAggregate) -> SolvedAggregate:
        """Return least squares and its variance; that of a ratio grows with the distance from the estimate."""
        shares = {degree: self._solve_shares(aggregate, degree) for degree in range(2 * aggregate.degree + 1)}
        totals = self.moments.totals[self.selected.code]
        parts = [
            self.selected.sum_by_set(self.selected.gather(shares[degree]) * totals, weights)
            for degree, weights in aggregate.parts()
        ]
        value = aggregate.function.estimate(parts)
        variance, crossed, bottom = self._variance(aggregate, shares, value)
        size = parts[1] if len(parts) > 1 else np.ones_like(value)
        unknown = np.broadcast_to(~self._tell_determined(aggregate), value.shape)
        if len(parts) == 1:
            crossed, bottom = np.zeros((2, *value.shape))
        # Fieller: were AVG x instead of its estimate r, Var(A - x B) = Var(A - r B) + 2 (x - r) (r Var B - Cov(A, B))
        # + (x - r)² Var B, all over B².
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(np.maximum(variance, 0.0)) / size
            growth = 2 * (value * bottom - crossed) / size**2
            # A ratio whose denominator is not known to be positive may be any that the release allows.
            curve = np.where(np.isnan(value), np.inf, bottom / size**2)
        value, error = (np.where(unknown | np.isnan(value), np.nan, array) for array in (value, error))
        growth, curve = np.where(np.isfinite(growth) & ~unknown, growth, 0.0), np.where(unknown, 0.0, curve)
        return SolvedAggregate(value, error, growth, curve)

    # -- the variance --------------------------------------------------------------------------

    def _variance(
        self, aggregate: LinearAggregate, shares: Mapping[int, Array], value: Array
    ) -> tuple[Array, Array, Array]:
        """Return the variance of the numerator A, for AVG that of A - avg B, then Cov(A, B) and Var B, C x J each."""
        covariances = self._covariances(aggregate, shares)
        average = np.nan_to_num(value) if aggregate.function.is_ratio else np.zeros_like(value)
        pairs = self.selected.pairs()
        weighed = self._weigh_vectors(aggregate, covariances, pairs)
        sums = np.zeros((3, *value.shape))
        deviations = np.zeros((2, *value.shape))
        for number, (value_set, _) in enumerate(pairs):
            mean = average[:, value_set]
            terms = [weighed[term][:, number] for term in covariances]
            top, crossed, bottom = terms if len(terms) > 1 else (terms[0], np.zeros_like(mean), np.zeros_like(mean))
            variance = np.maximum(top - 2 * mean * crossed + mean**2 * bottom, 0)
            sums[:, :, value_set] += np.stack([variance, crossed, bottom])
            deviations[:, :, value_set] += np.sqrt([variance, np.maximum(bottom, 0)])
        if len(pairs) > len({value_set for value_set, _ in pairs}):
            between = self._covariances_between_cases(aggregate, pairs, average)
            if between is None:
                # Without the pairs' moments the sum of the cases' standard errors is an upper bound.
                self.upper_bound = True
                return deviations[0] ** 2, average * deviations[1] ** 2, deviations[1] ** 2
            sums += between
        return sums[0], sums[1], sums[2]

    def _covariances(self, aggregate: LinearAggregate, shares: Mapping[int, Array]) -> dict[str, Array]:
        """Return f/(f-1) times the covariances of a value's rows (numerator, denominator), C x K x V."""
        scale = self._sample_scale()
        means = {degree: self._fill_means(aggregate, degree, mean) for degree, mean in shares.items()}
        share = np.clip(means[0], 0.0, 1.0)
        share_variance = np.maximum(self._remove_noise(aggregate, (0, 0), share * (1 - share)), 0.0) * scale
        if aggregate.degree == 0:
            return {"top": share_variance} | (
                {"crossed": share_variance, "bottom": share_variance} if aggregate.function.is_ratio else {}
            )
        top = np.maximum(self._remove_noise(aggregate, (1, 1), means[2] - means[1] ** 2), 0.0) * scale
        if not aggregate.function.is_ratio:
            return {"top": top}
        # By Cauchy and Schwarz no covariance is larger than the root of the two variances.
        crossed, most = (
            scale * self._remove_noise(aggregate, (1, 0), means[1] * (1 - share)),
            np.sqrt(top * share_variance),
        )
        return {"top": top, "crossed": np.clip(crossed, -most, most), "bottom": share_variance}

    def correlate(self, pair: Pair, other: Inference) -> Array | None:
        """Return the correlation of the errors of a pair of sums, the second over the values of `other`: C x J.

        It is the variance's formula for two vectors a; None between cases.
        """
        if len(set(self.selected.case) | set(other.selected.case)) > 1 or not isinstance(other, PooledInference):
            return None  # between cases it is not followed
        sides = (self, other)
        terms = []
        for turn, (first, second) in enumerate([(0, 1), (0, 0), (1, 1)]):
            covariance = self._covariance_of(pair.turned(turn))
            term = np.zeros((len(self.rows), self.selected.set_count))
            for value_set in range(self.selected.set_count):
                vector = sides[first]._weigh_totals((pair.one, pair.other)[first], (value_set, 0))[0]
                other_vector = sides[second]._weigh_totals((pair.one, pair.other)[second], (value_set, 0))[0]
                (spread,) = self.spreads.measure_spreads([(vector, other_vector)])
                spread = spread - vector * other_vector / self.moments.totals
                term[:, value_set] = covariance @ spread
            terms.append(term)
        return correlate(*terms)

    def _covariance_of(self, pair: Pair) -> Array:
        """Return f/(f-1) times the covariance over a value's rows of what the pair measures, C x V, in case 0."""
        first_mean, second_mean, product = (
            self._solve_column(column("shared"), column("uniform"))
            for column in (
                lambda weighting: pair.one.column(pair.one.degree, weighting),
                lambda weighting: pair.other.column(pair.other.degree, weighting),
                pair.product_column,
            )
        )
        columns = (pair.one.column(pair.one.degree, "uniform"), pair.other.column(pair.other.degree, "uniform"))
        equal = pair.one.number == pair.other.number
        plain = self._remove_plug_in(
            product - first_mean * second_mean, *columns, pair.product_column("uniform"), variance=equal
        )
        return np.asarray(plain * self._sample_scale())[:, 0]

    def _solve_column(self, shared: str, uniform: str) -> Array:
        """Return the mean over each value's rows of what a column sums, C x K x V."""
        means = solve_shares(self.equations, self.moments.columns[shared])
        if self.equations.determined.all():
            return means
        return np.where(self.equations.determined, means, self.moments.columns[uniform] / self.moments.totals)

    def _sample_scale(self) -> Array:
        """Return f/(f - 1), V; 0 for f = 1, as a value of one row has no spread."""
        totals = self.moments.totals
        return np.where(totals > 1, totals / np.maximum(totals - 1, 1), 0.0)

    def _remove_noise(self, aggregate: LinearAggregate, degrees: tuple[int, int], plain: Array) -> Array:
        """Take the noise of the means out of a plug-in covariance, C x K x V: E[p^2] of an estimate is p^2 + Var p.

        The noise of a value's mean is a multiple of the rows' mean covariance; where it is most of what is known of
        the value, that mean covariance stands for the value's own.
        """
        columns = (aggregate.column(degree, "uniform") for degree in (*degrees, sum(degrees)))
        return self._remove_plug_in(plain, *columns, variance=degrees[0] == degrees[1])

    def _remove_plug_in(self, plain: Array, *columns: str, variance: bool) -> Array:
        """Do so for what two columns of moments measure, the third being their product."""
        rows, equations, totals = self.moments.row_count, self.equations, self.moments.totals
        first_mean, second_mean, product = (self.moments.columns[column].sum(axis=2) / rows for column in columns)
        noise = np.maximum(np.diag(equations.inverse), 0.0) * equations.normal.sum() / rows
        trust = totals / (1 + noise) ** 2
        weight = (trust * (1 - noise)).sum()
        # Of all rows, values not told apart: of variances the most that is possible.
        mean = product - first_mean * second_mean
        if weight > trust.sum() / 2:
            within = plain @ trust / weight
            mean = np.clip(within, 0.0, np.maximum(mean, 0.0)) if variance else within
        pooled = mean[:, :, None]
        # (plain + pooled noise (2 + noise)) / (1 + noise)² undoes the plug-in. An estimate that is far off takes its
        # own variance for small, so that the noise counts NOISE_WEIGHT times more.
        return np.asarray((plain + pooled * noise * (2 + NOISE_WEIGHT + noise)) / (1 + noise) ** 2)

    def _fill_means(self, aggregate: LinearAggregate, degree: int, means: Array) -> Array:
        """Take the uniform estimate for values that S does not determine: only their spread is needed."""
        if self.equations.determined.all():
            return means
        uniform = self.moments.columns[aggregate.column(degree, "uniform")] / self.moments.totals
        return np.where(self.equations.determined, means, uniform)

    def _weigh_totals(self, aggregate: LinearAggregate, pair: SetCase) -> VectorPair:
        """Return a = w f over one set and case, for numerator and denominator, each of length V."""
        inside = (self.selected.set == pair[0]) & (self.selected.case == pair[1])
        codes = self.selected.code[inside]
        top, bottom = np.zeros((2, len(self.moments.totals)))
        for vector, weights in ((top, aggregate.weights), (bottom, aggregate.present)):
            vector[codes] = weights[inside] * self.moments.totals[codes]
        return top, bottom

    def _tell_determined(self, aggregate: LinearAggregate) -> BoolArray:
        """Tell which value sets S determines, J: of AVG both sums must be."""
        determined = np.ones(self.selected.set_count, dtype=bool)
        if self.equations.rank < len(self.equations.totals):
            sides = len(aggregate.parts())
            for pairs, vectors in self._lay_out(aggregate, self.selected.pairs()):
                sums = np.concatenate([np.stack(pair[:sides]) for pair in vectors])
                known = tell_determined(self.equations, sums).reshape(len(pairs), sides).all(axis=1)
                np.logical_and.at(determined, [value_set for value_set, _ in pairs], known)
        self.determined &= determined
        return determined

    def _lay_out(
        self, aggregate: LinearAggregate, pairs: Sequence[SetCase]
    ) -> Iterator[tuple[Sequence[SetCase], list[VectorPair]]]:
        """Yield some sets and cases at a time with their vectors: of all values and sets at once they may be many."""
        step = max(1, MOST_VECTORS // len(self.moments.totals))
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            yield some, [self._weigh_totals(aggregate, pair) for pair in some]

    def _weigh_vectors(
        self, aggregate: LinearAggregate, covariances: Mapping[str, Array], pairs: Sequence[SetCase]
    ) -> dict[str, Array]:
        """Return sum over v of covariance_v (Σ_{g∋v} h_g h'_g - a_v a'_v / f_v) by term, C x set and case."""
        # Of a measured AVG both sums have the same a, and differ only in what is counted.
        same = not aggregate.function.is_ratio or aggregate.degree == 1
        sides = {"top": (0, 0)} if same else {"top": (0, 0), "crossed": (0, 1), "bottom": (1, 1)}
        shape, cases = self.rows.shape, np.array([case for _, case in pairs], dtype=int)
        weights = np.concatenate([*(by_case.reshape(-1, by_case.shape[2]) for by_case in covariances.values())])
        total = len(pairs) * len(self.moments.totals)
        many = len(pairs) > MANY and (len(weights) <= len(pairs) or total > MOST_VECTORS)
        weigh = self.spreads.weigh_spreads(weights) if many else None
        weighed, first = {term: np.zeros((shape[0], len(pairs))) for term in covariances}, 0
        for some, vectors in self._lay_out(aggregate, pairs):
            places = np.arange(first, first := first + len(some))
            for side in dict.fromkeys(sides.values()):
                vector_pairs = [(vector[side[0]], vector[side[1]]) for vector in vectors]
                own = np.stack([vector * other for vector, other in vector_pairs]) / self.moments.totals
                if weigh is None:
                    products = weights @ self.spreads.measure_spreads(vector_pairs).T
                else:
                    products = weigh(vector_pairs)
                products = (products - weights @ own.T).reshape(len(covariances), *shape, len(some))
                for number, term in enumerate(covariances):
                    if sides.get(term, (0, 0)) == side:
                        weighed[term][:, places] = products[number][:, cases[places], np.arange(len(some))]
        return weighed

    def _covariances_between_cases(
        self, aggregate: LinearAggregate, pairs: Sequence[SetCase], average: Array
    ) -> Array | None:
        """Return what the covariances between cases add to the three variances, 3 x C x J; None where not known."""
        if self.paired is None or aggregate.degree > 0:
            return None
        share = np.clip(self._fill_means(aggregate, 0, self._solve_shares(aggregate, 0)), 0.0, 1.0)
        scale = self._sample_scale()
        sums = np.zeros((3, *average.shape))
        vectors = {pair: self._weigh_totals(aggregate, pair) for pair in pairs}
        for (value_set, case), (other_set, other) in itertools.product(vectors, repeat=2):
            if value_set != other_set or case >= other:
                continue
            # A row of v is a hit in both cases with probability p_kk', by a solve of its own, within Fréchet's bounds:
            # the covariance of the two is p_kk' - p_k p_k'.
            joint = solve_shares(self.equations, self.paired[:, case, other])
            low = np.maximum(share[:, case] + share[:, other] - 1, 0)
            joint = np.clip(joint, low, np.minimum(share[:, case], share[:, other]))
            covariance = scale * (joint - share[:, case] * share[:, other])
            vector_pairs = list(itertools.product(vectors[value_set, case], vectors[value_set, other]))
            terms = [covariance @ line for line in self.spreads.measure_spreads(vector_pairs)]
            mean = average[:, value_set]
            variance = terms[0] - mean * (terms[1] + terms[2]) + mean**2 * terms[3]
            sums[:, :, value_set] += np.stack([2 * variance, terms[1] + terms[2], 2 * terms[3]])
        return sums
