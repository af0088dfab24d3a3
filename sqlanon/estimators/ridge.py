"""Ridge: least squares inside classes, pulled towards the uniform answer as far as a class cannot tell.

A class holds the rows whose values reach its groups at random: all of an Anatomy release, the rows of one signature
of an r-robust one. In class c the mean of x over the rows of value v is p_v = x̄ + a θ_v + ε_v: x̄ the class's own
mean, a = w/κ, w the variance of x over its rows, κ the size of x. θ, what the value says in every class alike, has
prior variance t1; ε prior variance t2 w d_v, d_v = 1/f_v + 2 V/N. (A value's f_v rows are a draw: t2 = 1, and the
first term alone, is what chance does. The second is what the class adds for values of any frequency.) Both are
given that the deviations of a class's rows from x̄ sum to 0.

With y_g = n_g - |g| x̄ and b = sum s_g y_g, E[b] = S (p - x̄), Var b = κ w S. Everything is Gaussian given t1 and t2;
over t1 and t2 the posterior is averaged on a grid, weighed by the marginal likelihood. Taking the best pair instead
made intervals hold the truth 66 times of 100 where the average makes it 95.

Axes: L classes, V values, n of one class, k values that θ is about, D directions, T1 and T2 places of the grid. Places
are solved from the smallest t2 (and t1) on, until the likelihood has fallen below what has any weight.
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from sqlanon.estimators.class_moments import CentredOutcome
from sqlanon.estimators.class_systems import OWN_GRID, TOLERANCE, ClassSystems, Directions
from sqlanon.estimators.evidence import Array
from sqlanon.estimators.one_core import on_one_core

SHARED_GRID = np.array([1e-3, 0.03, 0.2, 1.0, 5.0])  # t1
NO_WEIGHT = 1e-9  # of a place of the grid that is left out
MOST_HIDDEN = 2.0  # √K that the direction may hide, for every standard deviation that it stands out


class Posterior:
    """The posterior of p given one outcome, averaged over the grid of t1 and t2."""

    @on_one_core()
    def __init__(self, systems: ClassSystems, outcome: CentredOutcome) -> None:
        """Solve; `estimate_sums` then answers any number of directions."""
        self.systems, self.outcome = systems, outcome
        self.noise = outcome.variance  # w, L
        self.effect = outcome.variance / outcome.size  # a
        self.live = np.flatnonzero(outcome.variance > 0).tolist()
        # θ is what classes have in common: of a single class that is hit in part, ε says as much.
        self.several = len(systems.shared_codes) > 0 and len(self.live) > 1
        self.means: dict[int, dict[int, Array]] = {}  # by places of t2 and classes: K b/κ, n each
        self.factors: dict[tuple[int, int], Array] = {}
        count = len(systems.shared_codes)
        self.shared_mean: Array = np.zeros((len(OWN_GRID), len(SHARED_GRID), count))
        # twice the log of the marginal likelihood of t2 (and t1), up to a constant
        likelihood = np.full((len(OWN_GRID), len(SHARED_GRID) if self.several else 1), -np.inf)
        for place in range(len(OWN_GRID)):
            likelihood[place] = self._weigh_place(place, likelihood.max())
            if is_past(likelihood.max(axis=1), place):
                break
        self.weights = weigh_places(likelihood)  # T2 x T1, or T2 x 1
        self.own_places = np.flatnonzero(self.weights.any(axis=1))

    @property
    def size(self) -> int:
        """Return how many numbers are held, but for those of the release."""
        means = sum(mean.size for by_class in self.means.values() for mean in by_class.values())
        return int(means + self.shared_mean.size + sum(factor.size for factor in self.factors.values()))

    def _weigh_place(self, place: int, best: float) -> Array:
        """Return twice the log likelihood of a place of t2 with every t1, T1 or 1. best: of the places before.

        Given ε's part, θ has the precision H + I/t1, H = sum over c of a²/w times what b says of it, and the mean
        (H + I/t1)⁻¹ r, r = sum of C⁻¹ K b/(κ t2) a/w; its likelihood is r' mean - log det (H t1 + I).
        """
        count, t2, own = len(self.systems.shared_codes), OWN_GRID[place], 0.0
        precision, right = np.zeros((count, count)), np.zeros(count)
        self.means[place] = {}
        for number in self.live:
            one = self.systems.classes[number]
            told, scores = one.tell(place), self.outcome.scores[number, one.codes]
            mean = self.means[place][number] = told.find_mean(scores)
            own += float(scores @ mean) / (one.group_size * self.noise[number]) - told.spread
            if self.several:
                right[one.shared_places] += one.unspread(mean)[one.shared] / (t2 * self.outcome.size)
                weight = self.effect[number] / self.outcome.size
                at = one.reach if isinstance(one.reach, slice) else np.ix_(one.reach, one.reach)
                precision[at] += weight * told.block
        if not self.several:
            return np.array([own])
        found = np.full(len(SHARED_GRID), -np.inf)
        for shared_place, prior in enumerate(SHARED_GRID):
            precise = precision.copy()
            precise.flat[:: count + 1] += 1 / prior
            factor, failed = dpotrf(precise.T, lower=False, clean=False, overwrite_a=True)
            if failed:
                raise np.linalg.LinAlgError("what classes have in common has no positive precision")
            mean, _ = dpotrs(factor, right, lower=False)
            spread = 2 * np.log(factor.diagonal()).sum() + count * np.log(prior)
            found[shared_place] = own + right @ mean - spread
            if found[shared_place] > max(best, found.max()) + 2 * np.log(NO_WEIGHT):
                self.factors[place, shared_place] = factor
            self.shared_mean[place, shared_place] = mean
            if is_past(found, shared_place):
                break
        return found

    @on_one_core()
    def estimate_sums(self, weights: Array) -> tuple[Array, Array]:
        """Return mean and variance of the sum over c, v of weight · f_cv · p_cv for D directions, each of length D.

        weights: D x V.
        """
        systems, own, amounts = self.systems, self.own_places, self.systems.totals
        plain = weights @ (self.outcome.mean @ amounts)
        if not self.live:
            return plain, np.zeros_like(plain)
        shape, shared = (len(weights), len(own)), len(systems.shared_codes) * self.several
        by_value = np.ascontiguousarray(weights.T)
        mean, variance, prior = np.zeros(shape), np.zeros(shape), np.zeros(len(weights))
        shift = np.zeros((len(own), len(weights), shared))
        # the shared direction through all classes: what each value weighs, less the shares of their sizes
        reach, profile = np.zeros(systems.totals.shape[1]), np.zeros_like(systems.totals)
        along = np.zeros((len(weights), len(systems.classes)))
        for number in self.live:
            one, noise = systems.classes[number], self.noise[number]
            directions = by_value[one.codes]
            lines = np.flatnonzero(directions.any(axis=0))
            directions = directions[:, lines].T * amounts[number, one.codes]
            expected = one.measure_prior(directions)
            prior[lines] += noise * expected
            reach[one.codes] += self.effect[number] * amounts[number, one.codes]
            profile[number, one.codes] = one.totals
            along[lines, number] = self.effect[number] * (directions @ one.line) / one.size
            asked = Directions(directions)
            for place, own_place in enumerate(own.tolist()):
                told = one.tell(own_place)
                mean[lines, place] += directions @ self.means[own_place][number]
                known = told.base * expected + asked.vary(told)
                variance[lines, place] += noise * np.where(expected > 0, np.maximum(known, 0.0), 0.0)
                if self.several:
                    passed = asked.times(told.passing) * self.effect[number]
                    at = lines if isinstance(one.reach, slice) else (lines[:, None], one.reach)
                    shift[place][at] += passed
        means, variances, priors = mean[:, :, None], variance[:, :, None], (prior[:, None] * OWN_GRID[own])[:, :, None]
        if self.several:
            means = means + np.einsum("tdk,tsk->dts", shift, self.shared_mean[own])
            whole = weights * reach - along @ profile
            # What values beyond `MOST_SHARED` say in every class alike is not told.
            others = (np.delete(whole, systems.shared_codes, axis=1) ** 2).sum(axis=1)
            variances = variances + self._shared_variance(shift) + others[:, None, None] * SHARED_GRID
            priors = priors + (whole**2).sum(axis=1)[:, None, None] * SHARED_GRID
        middle, scatter = average_places(means, variances, priors, self.weights[own])
        return plain + middle, scatter

    def _shared_variance(self, shift: Array) -> Array:
        """Return shift' Var θ shift at every place of the grid that has some weight, D x places of t2 x T1."""
        weights = self.weights[self.own_places]
        variance = np.zeros((shift.shape[1], *weights.shape))
        for number, shared_place in zip(*np.nonzero(weights), strict=True):
            factor = self.factors[int(self.own_places[number]), int(shared_place)]
            half = solve_triangular(factor, shift[number].T, trans="T", check_finite=False)
            variance[:, number, shared_place] = (half**2).sum(axis=0)
        return variance


def weigh_places(likelihood: Array) -> Array:
    """Return weights from twice the log likelihood of the places of t2 and t1, … x T2 x T1."""
    axes = (-2, -1)
    weights = np.exp((likelihood - likelihood.max(axis=axes, keepdims=True)) / 2)
    weights[weights < NO_WEIGHT * weights.sum(axis=axes, keepdims=True)] = 0.0
    return np.asarray(weights / weights.sum(axis=axes, keepdims=True))


def average_places(means: Array, variances: Array, priors: Array, weights: Array) -> tuple[Array, Array]:
    """Return mean and variance over the places of the grid, D, of D directions' at each of them, D x T2 x T1.

    priors: their prior variances. weights: of the places, of each direction or of all. By the law of total variance:
    that at each place, and the spread of the means over the grid; and what the prior hides. Where groups tell nothing
    (each has as many of every value that is asked for) the variance is infinite: the prior's would fall as rows are
    more, and what values have to do with quasi columns does not.
    """
    middle = (means * weights).sum(axis=(1, 2))
    scatter = ((variances + (means - middle[:, None, None]) ** 2) * weights).sum(axis=(1, 2))
    hidden = (hide_deviation(means, variances, priors) * weights).sum(axis=(1, 2))
    told = ((variances < (1 - TOLERANCE) * priors) | (priors == 0)).any(axis=(1, 2))
    return middle, np.where(told, scatter + hidden**2, np.inf)


def hide_deviation(mean: Array, variance: Array, prior: Array) -> Array:
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


def is_past(likelihood: Array, place: int) -> bool:
    """Tell whether twice the log likelihood of places one after another falls, and has left no weight at `place`."""
    fallen = likelihood[place] < likelihood[: place + 1].max() + 2 * np.log(NO_WEIGHT)
    return bool(fallen and likelihood[place] < likelihood[place - 1])
