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

Value sets whose values are merged to a few kinds are solved all at once, with all classes, as one array. A class has
few kinds, so that one decomposition serves all places of t2: with C' = G G' and G' S G/κ = U diag(λ) U',

    K = t2 H diag(g) H',   H = G U,   g = 1/(1 + t2 λ),

and with E = C⁻¹ H what passes of θ into δ is H diag(g) E', what b says of θ is E diag(λ g) E'. θ is about the kinds;
what is said of it is decomposed as well, once for all places of t1. Of these arrays Q is the axis of value sets, M that
of kinds (of a set that has fewer, the others have no rows).
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from sqlanon.estimators.class_systems import (
    CLASS_SHARE,
    MEAN_VARIANCE,
    OWN_GRID,
    ROUNDING,
    TOLERANCE,
    CentredOutcome,
    ClassSystems,
    Directions,
)
from sqlanon.estimators.evidence import Array, IntArray
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


class MergedClasses:
    """The classes of a release, for each of some value sets with one value in the place of all those of a kind."""

    @on_one_core()
    def __init__(self, systems: ClassSystems, kinds: IntArray) -> None:
        """Take the release's classes and the kind of each value, from 0 on, Q x V."""
        self.systems = systems
        self.member = (kinds[:, :, None] == np.arange(kinds.max() + 1)).astype(float)  # Q x V x M
        totals = systems.totals @ self.member
        present, diagonal = totals > 0, np.eye(totals.shape[2])
        few = present.sum(axis=2, keepdims=True)
        self.prior = np.where(
            present, 1 / np.where(present, totals, 1.0) + CLASS_SHARE * few / systems.rows[:, None], 0.0
        )
        both = present[..., :, None] & present[..., None, :]
        # what is absent has a variance of its own until the root is taken: it touches nothing
        root = np.linalg.cholesky(MEAN_VARIANCE * both + diagonal * (self.prior + ~present)[..., None])
        inverse, root = np.linalg.inv(root) * both, root * both
        unit = np.einsum("qlvm,qlv->qlm", root, totals)
        unit /= np.linalg.norm(unit, axis=2, keepdims=True)
        centred = diagonal - unit[..., :, None] * unit[..., None, :]
        turned = centred @ root.swapaxes(2, 3)  # G'
        size = systems.rows / np.maximum(systems.groups, 1.0)
        told, vectors = np.linalg.eigh(turned @ self._merge_products() @ turned.swapaxes(2, 3) / size[:, None, None])
        self.group_size, self.told = size, np.maximum(told, 0.0).reshape(len(kinds), -1)  # κ; λ, Q x L M
        self.lines = vectors.swapaxes(2, 3) @ turned  # H'
        pulled = vectors.swapaxes(2, 3) @ centred @ inverse  # E', Q x L M x M; nothing of one class, whose ε says all
        self.pulled = pulled.reshape(len(kinds), -1, len(diagonal))[..., : len(diagonal) * (len(systems.rows) > 1)]

    def _merge_products(self) -> Array:
        """Return S of each set and class by kinds, Q x L x M x M."""
        count, _, kinds = self.member.shape
        found = np.zeros((count, len(self.systems.classes), kinds, kinds))
        for number, one in enumerate(self.systems.classes):
            own = self.member[:, one.codes]
            by_kind = one.normal @ own.swapaxes(0, 1).reshape(len(one.codes), -1)
            found[:, number] = own.swapaxes(1, 2) @ by_kind.reshape(-1, count, kinds).swapaxes(0, 1)
        return found


class MergedPosterior:
    """The posterior of p given one outcome, for each value set averaged over the grid of t1 and t2."""

    @on_one_core()
    def __init__(self, classes: MergedClasses, outcome: CentredOutcome) -> None:
        """Solve; `estimate_sums` then answers any number of times."""
        self.classes, self.outcome = classes, outcome
        live = (outcome.variance > 0).astype(float)
        # θ is what classes have in common: of a single class that is hit in part, ε says as much
        effect = outcome.variance / outcome.size * (live.sum() > 1)
        self.effect, self.noise, live = (
            each.repeat(classes.member.shape[2]) for each in (effect, outcome.variance, live)
        )
        scores = (outcome.scores @ classes.member / classes.group_size[:, None])[..., None]
        self.found = (classes.lines @ scores).reshape(len(classes.told), -1) * live  # H' b/κ, Q x L M
        self.gain = 1 / (1 + OWN_GRID[:, None] * classes.told[:, None])  # Q x T2 x L M
        explained = OWN_GRID[:, None] * self.gain * (self.found**2 / np.where(live > 0, self.noise, 1.0))[:, None]
        own = ((explained + np.log(self.gain)) * live).sum(axis=2)
        pulled = classes.pulled[:, None]
        told = (self.effect / outcome.size) * classes.told[:, None] * self.gain
        shared, self.directions = np.linalg.eigh((pulled * told[..., None]).swapaxes(2, 3) @ pulled)
        shared = np.maximum(shared, 0.0)[:, :, None]
        self.left = 1 / (shared + 1 / SHARED_GRID[:, None])  # Var θ along its directions, Q x T2 x T1 x M
        self.right = self._pass(self.found[:, None] * (self.effect > 0) / outcome.size)
        likely = (self.right**2 * self.left - np.log1p(SHARED_GRID[:, None] * shared)).sum(axis=3)
        self.weights = weigh_places(own[..., None] + likely)

    def _pass(self, each: Array) -> Array:
        """Return what of `each` (Q x 1 x L M) groups leave to θ, along its directions, Q x T2 x 1 x M."""
        return np.asarray((self.gain * each @ self.classes.pulled)[:, :, None] @ self.directions)

    @on_one_core()
    def estimate_sums(self, weights: Array) -> tuple[Array, Array]:
        """Return mean and variance of the sum over c, v of weight · f_cv · p_cv for weights Q x V, each of length Q."""
        classes = self.classes
        amounts = classes.systems.totals @ (weights[:, :, None] * classes.member)
        asked = (classes.lines @ amounts[..., None])[..., 0]
        whole = (amounts**2 * classes.prior).sum(axis=2) + MEAN_VARIANCE * amounts.sum(axis=2) ** 2
        asked = np.where(((asked**2).sum(axis=2) > ROUNDING * whole)[..., None], asked, 0.0)
        asked = asked.reshape(len(asked), 1, -1)
        known, passed = OWN_GRID[:, None] * self.gain * asked, self._pass(self.effect * asked)
        means = (known * self.found[:, None]).sum(axis=2)[..., None] + (passed * self.left * self.right).sum(axis=3)
        variances = (self.noise * known * asked).sum(axis=2)[..., None] + (passed**2 * self.left).sum(axis=3)
        prior = (self.noise * asked**2).sum(axis=2) * OWN_GRID
        shared = ((self.effect * asked @ classes.pulled) ** 2).sum(axis=2) * SHARED_GRID
        mean, variance = average_places(means, variances, prior[..., None] + shared[:, None], self.weights)
        return np.einsum("l,qlm->q", self.outcome.mean, amounts) + mean, variance
