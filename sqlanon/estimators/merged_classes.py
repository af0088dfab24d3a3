"""Value sets whose values are merged to a few kinds: the ridge of all sets and classes as one array.

Mathematics and names are those of `class_systems` and `ridge`. A class has few kinds, so that one decomposition serves
all places of t2: with C' = G G' and G' S G/κ = U diag(λ) U',

    K = t2 H diag(g) H',   H = G U,   g = 1/(1 + t2 λ),

and with E = C⁻¹ H what passes of θ into δ is H diag(g) E', what b says of θ is E diag(λ g) E'. θ is about the kinds;
what is said of it is decomposed as well, once for all places of t1.

Axes: Q value sets, L classes, V values, M kinds (of a set that has fewer, the others have no rows), T2 and T1 places.
"""

import numpy as np

from sqlanon.estimators.class_moments import CentredOutcome
from sqlanon.estimators.class_systems import CLASS_SHARE, MEAN_VARIANCE, OWN_GRID, ROUNDING, ClassSystems
from sqlanon.estimators.evidence import Array, IntArray
from sqlanon.estimators.one_core import on_one_core
from sqlanon.estimators.ridge import SHARED_GRID, average_places, weigh_places


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
