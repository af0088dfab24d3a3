"""Ridge: least squares inside classes, pulled towards the uniform answer as far as a class cannot tell.

A class holds the rows whose values reach its groups at random: all of an Anatomy release, the rows of one signature
of an r-robust one. In class c the mean of x over the rows of value v is p_v = x̄ + a θ_v + ε_v: x̄ the class's own
mean, a = w/κ, w the variance of x over its rows, κ the size of x. θ, what the value says in every class alike, has
prior variance t1; ε prior variance t2 w d_v, d_v = 1/f_v + 2 V/N. (A value's f_v rows are a draw: t2 = 1, and the
first term alone, is what chance does. The second is what the class adds for values of any frequency.) Both are
given that the deviations of a class's rows from x̄ sum to 0.

With y_g = n_g - |g| x̄ and b = sum s_g y_g, E[b] = S (p - x̄), Var b = σ² S. Everything is Gaussian given t1, t2, σ²;
over t1 and t2 the posterior is averaged on a grid, weighed by the marginal likelihood. Taking the best pair instead
made intervals hold the truth 66 times of 100 where the average makes it 95.

Axes: L classes, V values, R eigenvectors with a positive root (of all classes), k values that θ is about, D asked
directions (one f per class and value), T1 and T2 places of the grid.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv

from sqlanon.estimators.class_systems import TOLERANCE, Strata
from sqlanon.estimators.evidence import Estimate, Evidence, answer_unbiased
from sqlanon.estimators.moments import Array

OWN_GRID = np.array([1.0, 2.0, 5.0, 15.0, 60.0, 300.0])  # t2
SHARED_GRID = np.array([1e-3, 0.03, 0.2, 1.0, 5.0])  # t1
ASSUMED_GROUPS = 2.0  # groups' worth of what independence would make of σ²: a class may have one group
ONE_CORE = 200_000  # multiplications of one matrix product that BLAS does without a pool of threads
ONE_LINE = 9_000  # the same of a vector and a matrix
FEW_FULL = 10  # values that stand in every group: of so few, one may have all rows that a release leaves out
FULL_WEIGHT = 0.5  # of each such value in the Dirichlet distribution of these rows
TAILS = (0.025, 0.975)
MOST_HIDDEN = 2.0  # √K that the asked direction may hide, for every standard deviation that it stands out


@dataclass(frozen=True)
class Outcome:
    """What the sums of one x over the hits of each group say, class by class.

    mean: x̄, L. variance: w, L. noise: σ², L, positive where w is. scores: b, L x V. size: κ.
    """

    mean: Array
    variance: Array
    noise: Array
    scores: Array
    size: float


def outcome(
    found: Strata, total: Array, square: Array, shared: Array, sized: Array, group_square: Array, size: float = 1.0
) -> Outcome:
    """Centre what a query's hits sum to: x over the rows of a class (total, square: L), x by group.

    shared: sum over groups of x_g s_g(v), L x V. sized: sum |g| x_g, L. group_square: sum x_g², L. size: κ.
    """
    mean = total / found.rows
    variance = square / found.rows - mean**2
    variance[variance <= TOLERANCE * square / found.rows] = 0.0
    scatter = group_square - 2 * mean * sized + mean**2 * found.squares
    expected = variance * found.rows / found.groups
    noise = (np.maximum(scatter, 0.0) + ASSUMED_GROUPS * expected) / (found.groups - 1 + ASSUMED_GROUPS)
    scores = np.where(variance[:, None] > 0, shared - mean[:, None] * found.tilt, 0.0)
    return Outcome(mean, variance, noise, scores, size)


def left_out(found: Strata, each: Array, rows: float) -> tuple[Array, Array]:
    """Return what `rows` rows that a release leaves out may take off and add, for D asked sets.

    each: what a row of each value that is `full` would count, D x n. Few such values may each have all of the rows:
    there the range is from the least to the largest of `each`. Among more the rows are shared out by a Dirichlet
    distribution with a weight of a half for each (few values of a class have most of what it leaves out); the range is
    the middle 95 % of the beta distribution on that same range with the share's mean and variance. 0 belongs to both.
    """
    share = found.full[2]
    least, most = each.min(axis=1), each.max(axis=1)
    low, high = least, most
    if len(share) > FEW_FULL:
        reach = np.where(most > least, most - least, 1.0)
        middle = each @ share
        place = np.clip((middle - least) / reach, TOLERANCE, 1 - TOLERANCE)
        spread = np.maximum(each**2 @ share - middle**2, 0.0) / (len(share) * FULL_WEIGHT + 1) / reach**2
        size = np.maximum(place * (1 - place) / np.maximum(spread, TOLERANCE**2) - 1, TOLERANCE)
        low, high = (least + (most - least) * betaincinv(place * size, (1 - place) * size, tail) for tail in TAILS)
    return rows * np.minimum(low, 0.0), rows * np.maximum(high, 0.0)


class Posterior:
    """What one outcome says of p, averaged over the grid."""

    def __init__(self, found: Strata, seen: Outcome) -> None:
        """Solve; `figures` then answers any number of asked directions."""
        self.strata, self.seen = found, seen
        owner, live = found.owner, seen.variance > 0
        noise = np.where(live, seen.noise, 1.0)[owner]
        own = OWN_GRID[:, None] * seen.variance[owner]  # T, T2 x R
        self.total = noise + found.root * own
        self.left, self.gained = noise / self.total, own / self.total
        self.score = found.turned @ seen.scores.ravel()
        self.effect = seen.variance / seen.size
        # θ is what classes have in common: of a single class that is hit in part, ε says as much.
        self.several = len(found.leading) > 0 and int(live.sum()) > 1
        terms = np.log(self.total) + self.score**2 / (found.root * self.total)
        likelihood = -terms.sum(axis=1)[:, None]
        if self.several:
            likelihood = likelihood + self._shared_likelihood()
        weights = np.exp((likelihood - likelihood.max()) / 2)
        self.weights: Array = weights / weights.sum()  # T2 x T1, or T2 x 1

    def _shared_likelihood(self) -> Array:
        """Solve for θ at every t2; return what θ adds to twice the log likelihood, T2 x T1."""
        found, effect = self.strata, self.effect[self.strata.owner]
        weight = found.root / self.total * effect**2
        normal = _products(weight, found.shared)
        right = _times(self.score / self.total * effect, found.shared)
        count = len(found.leading)
        precise = normal[:, None] + (1 / SHARED_GRID)[:, None, None] * np.eye(count)
        # No eigenvectors: for these BLAS wakes a pool of threads, which costs fifty times more on a busy machine.
        self.spread: Array = np.asarray(np.linalg.inv(precise), dtype=float)  # T2 x T1 x k x k
        self.shared_mean: Array = np.einsum("tskj,tj->tsk", self.spread, right)
        gain = np.einsum("tsk,tk->ts", self.shared_mean, right)
        size = np.log(np.linalg.cholesky(precise).diagonal(axis1=2, axis2=3)).sum(axis=2)
        return np.asarray(gain - 2 * size - count * np.log(SHARED_GRID))

    def figures(self, directions: Array) -> tuple[Array, Array]:
        """Return mean and variance of sum over c, v of direction p_v for directions D x L x V, each of length D.

        The prior takes values for unrelated. The truth may lie along the direction that is asked (a trend, a set of
        like values): there the mean is pulled to x̄ by more than the posterior knows. Of a prior variance K of which k
        is left, it is 1 - k/K of what it should be, and |mean| k/(K - k) is missing, were it so; its square is added to
        k. Where the groups tell next to nothing (k/K near 1) that is noise without limit: by the prior the mean's own
        variance is K - k, so that a mean of z² times as much speaks of a truth of size z √K, of which k/K is missing.
        No more is added than `MOST_HIDDEN` times that, squared; by measurement 2 costs trends no coverage, 1 does.
        """
        found, seen = self.strata, self.seen
        plain = directions.sum(axis=2) @ seen.mean
        directions = found.centred(directions)
        turned = np.asarray((found.turned @ directions.reshape(len(directions), found.turned.shape[1]).T).T)
        mean = _times(turned, (self.gained * self.score).T)[:, :, None]
        known = _times(turned**2, (self.gained * self.total * self.left).T)
        variance = (known + self._unseen(directions, turned))[:, :, None]
        if self.several:
            shift = self._passed(directions, turned)
            mean = mean + np.einsum("dtk,tsk->dts", shift, self.shared_mean)
            variance = variance + (
                np.matmul(self.spread, shift.transpose(1, 2, 0)[:, None]).transpose(3, 0, 1, 2) * shift[:, :, None]
            ).sum(axis=3)
        middle = np.einsum("dts,ts->d", mean, self.weights)
        scatter = variance + (mean - middle[:, None, None]) ** 2
        prior = self._prior(directions)
        left = np.divide(variance, prior, out=np.ones_like(prior), where=prior > 0)
        pull = np.abs(mean) * left / np.maximum(1 - left, np.sqrt(np.maximum(1 - left, TOLERANCE)) / MOST_HIDDEN)
        scatter, pull = (
            np.einsum("dts,ts->d", each, self.weights) for each in (scatter, np.where(left < 1, pull, 0.0))
        )
        return plain + middle, scatter + pull**2

    def _prior(self, directions: Array) -> Array:
        """Return the prior variance of centred directions, D x T2 x T1."""
        found = self.strata
        own = (directions**2 * found.prior).sum(axis=2) @ self.seen.variance
        whole = np.einsum("dlk,l->dk", directions[:, :, found.leading], self.effect)
        shared = (whole**2).sum(axis=1)[:, None] * (SHARED_GRID if self.several else np.zeros(1))
        return np.asarray((own[:, None] * OWN_GRID)[:, :, None] + shared[:, None, :])

    def _unseen(self, directions: Array, turned: Array) -> Array:
        """Return the prior variance of what S does not tell, D x T2."""
        found = self.strata
        whole = (directions**2 * found.prior).sum(axis=2)
        seen = np.zeros_like(whole)
        np.add.at(seen.T, found.owner, (turned**2).T)
        rest = np.maximum(whole - seen, 0.0) * (whole - seen > TOLERANCE * whole)
        return np.asarray((rest @ self.seen.variance)[:, None] * OWN_GRID)

    def _passed(self, directions: Array, turned: Array) -> Array:
        """Return what of θ passes into the answer, D x T2 x k: nothing where a class can tell."""
        found, effect = self.strata, self.effect
        whole = np.einsum("dlk,l->dk", directions[:, :, found.leading], effect)
        lines = turned[:, None, :] * ((1 - self.left) * effect[found.owner])
        count = len(lines) * lines.shape[1]
        kept = _times(lines.reshape(count, lines.shape[2]), found.shared)
        return np.asarray(whole[:, None, :] - kept.reshape(*lines.shape[:2], found.shared.shape[1]))


def _products(weight: Array, shared: Array) -> Array:
    """Return sum over r of weight_r shared_r shared_r^T for each line of weights (T2 x R): T2 x k x k.

    In pieces that one core multiplies: a pool of threads costs more than it saves, ten times so on a busy machine.
    """
    rows, count = shared.shape
    step = max(1, ONE_CORE // max(count, 1) ** 2)
    found = np.zeros((len(weight), count, count))
    for start in range(0, rows, step):
        piece = shared[start : start + step]
        found += np.matmul(piece.T * weight[:, None, start : start + step], piece)
    return found


def _times(lines: Array, columns: Array) -> Array:
    """Return lines (m x R) times columns (R x n), in such pieces as well; a single line is too few for `ONE_CORE`."""
    step = max(1, min(ONE_CORE // max(len(lines), 1), ONE_LINE) // max(columns.shape[1], 1))
    found = np.zeros((len(lines), columns.shape[1]))
    for start in range(0, len(columns), step):
        found += lines[:, start : start + step] @ columns[start : start + step]
    return found


def estimate(evidence: Evidence) -> Estimate:
    """Answer with the posterior mean and its 95 % interval; `uniform` where a release has no such answer.

    No standard error is above half of what lies between the bounds, as that of no distribution between them is; the
    interval is the posterior's own, cut to the bounds.
    """
    found = answer_unbiased(evidence)
    possible = np.maximum(evidence.most - evidence.least, 0.0) / 2  # NaN, which fmin passes over, where none is known
    return replace(found, std_error=np.where(np.isnan(found.std_error), np.nan, np.fmin(found.std_error, possible)))
