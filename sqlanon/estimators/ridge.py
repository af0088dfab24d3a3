"""Ridge: least squares inside classes, pulled towards the uniform answer as far as a class cannot tell.

A class holds the rows whose values reach its groups at random: all of an Anatomy release, the rows of one signature
of an r-robust one. In class c the mean of x over the rows of value v is p_v = x̄ + a θ_v + ε_v: x̄ the class's own
mean, a = w/κ, w the variance of x over its rows, κ the size of x. θ, what the value says in every class alike, has
prior variance t1; ε prior variance t2 w d_v, d_v = 1/f_v + 2 V/N. (A value's f_v rows are a draw: t2 = 1, and the
first term alone, is what chance does. The second is what the class adds for values of any frequency.) Both are
given that the deviations of a class's rows from x̄ sum to 0.

With y_g = n_g - |g| x̄ and b = sum s_g y_g, E[b] = S (p - x̄), Var b = w S. Everything is Gaussian given t1 and t2;
over t1 and t2 the posterior is averaged on a grid, weighed by the marginal likelihood. Taking the best pair instead
made intervals hold the truth 66 times of 100 where the average makes it 95.

Axes: L classes, V values, R eigenvectors with a positive root (of all classes), k values that θ is about, D directions
(one f per class and value), T1 and T2 places of the grid.
"""

from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from sqlanon.estimators.class_moments import CentredOutcome
from sqlanon.estimators.class_systems import OWN_GRID, TOLERANCE, ClassSystems, leave_rest
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.estimators.one_core import on_one_core

SHARED_GRID = np.array([1e-3, 0.03, 0.2, 1.0, 5.0])  # t1
SOLVING_ORDER = (4, 0, 2, 1, 3)  # of SHARED_GRID: its ends bound what lies between them
UNSOLVED = 1e-12  # of the largest weight: a place of the grid that has less is not solved for
NO_WEIGHT = 1e-9  # of a place of the grid that is left out
MOST_HIDDEN = 2.0  # √K that the direction may hide, for every standard deviation that it stands out


class Posterior:
    """The posterior of p given one outcome, averaged over the grid of t1 and t2."""

    @on_one_core()
    def __init__(self, systems: ClassSystems, outcome: CentredOutcome) -> None:
        """Solve; `estimate_sums` then answers any number of directions."""
        self.systems, self.outcome = systems, outcome
        owner, live = systems.owner, outcome.variance > 0
        # Along an eigenvector with root λ the score has variance λ w (κ + λ t2): `total` is the bracket, `left` the
        # share of the prior variance that the groups do not remove, `gained` what a unit of the score adds to the mean.
        total = systems.totals_by_root
        self.left = 1 - systems.roots * OWN_GRID[:, None] / total
        self.gained = OWN_GRID[:, None] / total
        self.score = np.where(live[owner], systems.turned.multiply(outcome.scores.reshape(1, -1))[0], 0.0)
        self.noise = outcome.variance  # w, L
        self.effect = outcome.variance / outcome.size  # a
        # θ is what classes have in common: of a single class that is hit in part, ε says as much.
        self.several = len(systems.shared_codes) > 0 and int(live.sum()) > 1
        # Twice the log of the marginal likelihood of t2 (and t1), up to a constant.
        terms = np.log(total) + self.score**2 / (systems.roots * total * np.where(live, self.noise, 1.0)[owner])
        likelihood = -(terms @ live[owner].astype(float))[:, None]
        if self.several:
            likelihood = self._shared_likelihood(likelihood)
        weights = np.exp((likelihood - likelihood.max()) / 2)
        weights[weights < NO_WEIGHT * weights.sum()] = 0.0
        self.weights: Array = weights / weights.sum()  # T2 x T1, or T2 x 1
        self.own_places = np.flatnonzero(self.weights.any(axis=1))

    @property
    def size(self) -> int:
        """Return how many numbers are held, but for those of the release."""
        kept = [self.left, self.gained, self.score]
        if self.several:
            kept += [self.shared_mean, *self.factors.values()]
        return sum(array.size for array in kept)

    def _shared_likelihood(self, likelihood: Array) -> Array:
        """Solve for θ at every t2 and t1; return twice the log likelihood of both from that of t2 alone, T2 x T1.

        Given ε's part, θ has the precision H + I/t1, H = sum over c of a²/w times the class's block, and the mean
        (H + I/t1)^-1 r, r = sum of score_r a/(w total_r) u_r; its likelihood is r' mean - log det (H t1 + I). Where
        what is known of other places leaves no weight to a place, it is not solved and has none.
        """
        systems, count = self.systems, len(self.systems.shared_codes)
        precision, normal = self.effect / self.outcome.size, dict[int, Array]()
        right = systems.shared_lines.multiply(self.score / systems.totals_by_root) / self.outcome.size
        self.factors: dict[tuple[int, int], Array] = {}
        self.shared_mean: Array = np.zeros((len(OWN_GRID), len(SHARED_GRID), count))
        shape = (len(OWN_GRID), len(SHARED_GRID))
        # r' mean is at most `explained`, log det at least `spread`; both grow with t1.
        explained, spread, whole = np.full(shape, np.inf), np.zeros(shape), np.full(shape, -np.inf)
        for shared_place in SOLVING_ORDER:
            prior = SHARED_GRID[shared_place]
            for own_place in map(int, np.argsort(-likelihood[:, 0])):
                place = own_place, shared_place
                if shared_place == SOLVING_ORDER[0]:
                    explained[place] = self._bound_explained(own_place, right[own_place])
                above = explained[own_place, shared_place:].min()
                # of each root h of H, log(1 + t1 h) is concave in t1
                ratio = np.minimum(prior / SHARED_GRID, 1.0)
                below = (ratio * spread[own_place]).max()
                if likelihood[own_place, 0] + above - below <= whole.max() + 2 * np.log(UNSOLVED):
                    continue
                if own_place not in normal:
                    normal[own_place] = systems.blocks.add(own_place, precision)
                precise = normal[own_place].copy()
                precise.flat[:: count + 1] += 1 / prior
                # What is stored row by row as lower triangle is an upper one column by column: nothing is copied.
                factor, failed = dpotrf(precise.T, lower=False, clean=False, overwrite_a=True)
                if failed:
                    raise np.linalg.LinAlgError("what classes have in common has no positive precision")
                mean, _ = dpotrs(factor, right[own_place], lower=False)
                self.factors[place] = factor
                self.shared_mean[place] = mean
                explained[place] = right[own_place] @ mean
                spread[place] = 2 * np.log(factor.diagonal()).sum() + count * np.log(prior)
                whole[place] = likelihood[own_place, 0] + explained[place] - spread[place]
        return whole

    def _bound_explained(self, own_place: int, right: Array) -> float:
        """Return what r' mean is at most at the largest t1, by what is solved there; infinity where nothing is.

        A root weighs λ/(κ + λ t2) in H, which falls as t2 grows, and t2 times that grows: H is at least H at a larger
        t2, and at least t2'/t2 times H at a smaller t2'.
        """
        most = float("inf")
        for (solved, shared_place), factor in self.factors.items():
            if shared_place == SOLVING_ORDER[0]:
                mean, _ = dpotrs(factor, right, lower=False)
                most = min(most, float(right @ mean) * max(OWN_GRID[own_place] / OWN_GRID[solved], 1.0))
        return most

    @on_one_core()
    def estimate_sums(self, directions: sparse.csr_array) -> tuple[Array, Array]:
        """Return mean and variance of the sum over c, v of direction · p_v for directions D x LV, each of length D.

        By the law of total variance: that at each place of the grid, and the spread of the means over the grid. U' B'
        takes f out, so that directions need not be centred for it.
        """
        systems, own = self.systems, self.own_places
        plain = systems.sum_classes(directions) @ self.outcome.mean
        if not self.noise.any():
            return plain, np.zeros_like(plain)
        grid, weights = OWN_GRID[own], self.weights[own]
        directions = _keep(directions, self.noise[directions.indices // systems.totals.shape[1]] > 0)
        mean = (directions @ self._means)[:, :, None]
        by_class = systems.measure_prior(directions)
        variance = self._measure_variance(directions, by_class)[:, :, None]
        prior = (by_class @ self.noise)[:, None, None] * grid[:, None]
        if self.several:
            whole = self._add_classes(directions)
            shift = self._pass_shared(whole[:, systems.shared_codes], directions)
            mean = mean + np.matmul(shift.transpose(1, 0, 2), self.shared_mean[own].transpose(0, 2, 1)).transpose(
                1, 0, 2
            )
            # What values beyond `MOST_SHARED` say in every class alike is not told.
            others = (np.delete(whole, systems.shared_codes, axis=1) ** 2).sum(axis=1)
            variance = variance + self._shared_variance(shift) + others[:, None, None] * SHARED_GRID
            prior = prior + (whole**2).sum(axis=1)[:, None, None] * SHARED_GRID
        middle = np.einsum("dts,ts->d", mean, weights)
        scatter = variance + (mean - middle[:, None, None]) ** 2
        hidden = self._hidden_deviation(mean, variance, prior)
        scatter, hidden = (np.einsum("dts,ts->d", each, weights) for each in (scatter, hidden))
        return plain + middle, scatter + hidden**2

    @cached_property
    def _means(self) -> Array:
        """Return what a class's values add to the mean without θ, LV x places of t2."""
        along = self.gained[self.own_places] * self.score
        return np.asarray(self.systems.turned.matrix @ along.T)

    def _measure_variance(self, directions: sparse.csr_array, prior: Array) -> Array:
        """Return the variance of directions without θ, D x places of t2: values that are alone in a class are read.

        prior: of each direction and class, D x L (`measure_prior`).
        """
        line = np.repeat(np.arange(directions.shape[0]), np.diff(directions.indptr))
        pair = line * len(self.noise) + directions.indices // self.systems.totals.shape[1]
        alone = np.bincount(pair, minlength=prior.size) == 1
        variance = np.zeros((len(prior), len(self.own_places)))
        if not alone[pair].all():
            together = np.where(alone.reshape(prior.shape), 0.0, prior)
            variance += self._turn(_keep(directions, ~alone[pair]), together)
        if alone.any():
            single = _keep(directions, alone[pair]).power(2)
            single.data *= self.noise[single.indices // self.systems.totals.shape[1]]
            variance += np.stack([single @ self.systems.find_variance(int(place)) for place in self.own_places], axis=1)
        return variance

    def _turn(self, directions: sparse.csr_array, prior: Array) -> Array:
        """Return the same of directions that have several values of a class: along its eigenvectors, and beside."""
        systems, own = self.systems, self.own_places
        squares = (directions @ systems.turned.matrix).power(2)
        count = len(systems.owner)
        by_class = sparse.csr_array((np.ones(count), (np.arange(count), systems.owner)), (count, len(systems.rows)))
        unseen = leave_rest(prior, (squares @ by_class).toarray(), TOLERANCE)
        along = squares @ (self.left[own] * self.noise[systems.owner]).T
        return np.asarray((along + (unseen @ self.noise)[:, None]) * OWN_GRID[own])

    def _shared_variance(self, shift: Array) -> Array:
        """Return shift' Var θ shift at every place of the grid that has some weight, D x places of t2 x T1."""
        weights = self.weights[self.own_places]
        variance = np.zeros((len(shift), *weights.shape))
        for number, shared_place in zip(*np.nonzero(weights), strict=True):
            factor = self.factors[int(self.own_places[number]), int(shared_place)]
            half = solve_triangular(factor, shift[:, number].T, trans="T", check_finite=False)
            variance[:, number, shared_place] = (half**2).sum(axis=0)
        return variance

    @staticmethod
    def _hidden_deviation(mean: Array, variance: Array, prior: Array) -> Array:
        """Return by how much the mean may be pulled to x̄ beyond what the posterior knows, D x places of t2 x T1.

        The prior takes values for unrelated; the truth may lie along the direction (a trend, a set of like values).
        Of a prior variance K of which k is left, the mean is then 1 - k/K of what it should be, and |mean| k/(K - k)
        is missing. Where the groups tell next to nothing (k/K near 1) that is noise without limit: by the prior the
        mean's own variance is K - k, so that a mean of z² times as much speaks of a truth of size z √K, of which k/K
        is missing. No more is added than `MOST_HIDDEN` times that; by measurement 2 costs trends no coverage, 1 does.
        """
        rest = np.divide(variance, prior, out=np.ones_like(prior), where=prior > 0)
        hidden = np.abs(mean) * rest / np.maximum(1 - rest, np.sqrt(np.maximum(1 - rest, TOLERANCE)) / MOST_HIDDEN)
        return np.where(rest < 1, hidden, 0.0)

    @cached_property
    def _effects(self) -> sparse.csr_array:
        """Return what sums directions over classes by value, each class times a, LV x V."""
        owner, code = self.systems.cells
        return self.systems.lay_cells(self.effect[owner], code, self.systems.totals.shape[1])

    def _add_classes(self, directions: sparse.csr_array) -> Array:
        """Return Σ_c a_c x_c of centred directions, D x V: times θ it is what classes have in common."""
        systems = self.systems
        added = directions @ self._effects
        return np.asarray(added.toarray() - (systems.find_share(directions) * self.effect) @ systems.totals)

    def _pass_shared(self, whole: Array, directions: sparse.csr_array) -> Array:
        """Return what of θ passes into the answer, D x places of t2 x k: nothing where a class can tell."""
        systems = self.systems
        shift = np.repeat(whole[:, None], len(self.own_places), axis=1)
        effect = self.effect[directions.indices // systems.totals.shape[1]]
        weighed = sparse.csr_array((directions.data * effect, directions.indices, directions.indptr), directions.shape)
        for number, own_place in enumerate(self.own_places):
            shift[:, number] -= OWN_GRID[own_place] * (weighed @ systems.blocks.find_passed(int(own_place))).toarray()
        return shift


def _keep(directions: sparse.csr_array, kept: BoolArray) -> sparse.csr_array:
    """Return directions with those of their entries for which `kept` is true."""
    if kept.all():
        return directions
    starts = np.concatenate([[0], np.cumsum(kept)])[directions.indptr].astype(directions.indptr.dtype)
    return sparse.csr_array((directions.data[kept], directions.indices[kept], starts), directions.shape)
