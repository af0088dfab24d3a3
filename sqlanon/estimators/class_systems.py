"""The classes of a release, prepared once for the ridge: eigenvectors of S, class by class.

A class holds the rows whose values reach its groups at random: all of an Anatomy release, the rows of one signature
of an r-robust one. Axes: L classes, V values, R eigenvectors with a positive root (of all classes), k values that
the direction which classes share is about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sqlanon.estimators.moments import Array, Whole

TOLERANCE = 1e-9
CLASS_SHARE = 2.0  # of V/N in the prior variance d_v; by measurement, see tests/benchmarks/README.md
MOST_SHARED = 256  # values that the shared direction is about, the most frequent ones
MOST_KEPT = 50_000_000  # numbers that the classes' eigenvectors may hold


@dataclass(frozen=True)
class Class:
    """One class of a release: the values in it (codes, n), S over them (n x n), their totals f (n), its groups."""

    codes: Whole
    normal: Array
    totals: Array
    groups: int


@dataclass(frozen=True)
class Strata:
    """Hold the classes prepared for solving.

    totals: f, L x V. tilt: sum |g| s_g(v), L x V. rows, groups, squares: N, groups, sum |g|², L. prior: d, L x V.
    turned: U' D, R x LV with D = sqrt(d). root: eigenvalues of P D S D P, R, P the projection onto what leaves the sum
    of f (p - x̄) at 0. owner: their class, R.
    leading: the values that θ is about, k. shared: D^-1 U on them, R x k (k = 0 for one class).
    """

    totals: Array
    tilt: Array
    rows: Array
    groups: Array
    squares: Array
    prior: Array
    turned: sparse.csr_array
    root: Array
    owner: Whole
    leading: Whole
    shared: Array

    def centred(self, directions: Array) -> Array:
        """Take from directions (D x L x V) as much of f as makes no difference, for f (p - x̄) sums to 0 in a class."""
        weight = self.totals * self.prior
        share = np.einsum("dlv,lv->dl", directions, weight) / (self.totals * weight).sum(axis=1)
        return np.asarray(directions - share[:, :, None] * self.totals)

    @cached_property
    def full(self) -> tuple[Whole, Whole, Array]:
        """Return the classes' values that stand in every group, and how likely a row left out is one of them.

        Class-first grouping leaves out rows of such values only; how many of each is not published, so that the
        larger class is taken to leave out more.
        """
        one, code = np.nonzero((self.totals >= self.groups[:, None]) & (self.totals > 0))
        return one, code, self.groups[one] / max(float(self.groups[one].sum()), 1.0)


def strata(classes: Sequence[Class], value_count: int) -> Strata:
    """Prepare classes: one eigendecomposition each, of S scaled by what the prior expects of its values."""
    shape = (len(classes), value_count)
    totals, tilt, prior = (np.zeros(shape) for _ in range(3))
    leading = _leading(classes, value_count)
    roots, entries, vectors = [np.zeros(0)], [np.zeros(0)], [np.zeros((0, len(leading)))]
    owners, columns, starts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [0]
    for number, one in enumerate(classes):
        totals[number, one.codes] = one.totals
        tilt[number, one.codes] = one.normal.sum(axis=1)
        own = 1 / one.totals + CLASS_SHARE * len(one.codes) / one.totals.sum()
        prior[number, one.codes] = own
        scale = np.sqrt(own)
        # Deviations from a class's mean sum to 0 over its rows: the prior knows, and no evidence is made of it.
        known = scale * one.totals / np.linalg.norm(scale * one.totals)
        within = np.eye(len(scale)) - np.outer(known, known)
        scaled = one.normal * np.outer(scale, scale)
        root, vector = np.linalg.eigh(within @ scaled @ within)
        kept = root > TOLERANCE * max(np.trace(scaled), TOLERANCE)
        root, vector = root[kept], vector[:, kept]
        roots.append(root)
        owners.append(np.full(len(root), number))
        entries.append((vector * scale[:, None]).T.ravel())
        columns.append(np.tile(number * value_count + one.codes, len(root)))
        starts += (starts[-1] + len(one.codes) * np.arange(1, len(root) + 1)).tolist()
        undone = np.zeros((value_count, len(root)))
        undone[one.codes] = vector / scale[:, None]
        vectors.append(undone[leading].T)
    found = np.concatenate(roots)
    turned = sparse.csr_array(
        (np.concatenate(entries), np.concatenate(columns), np.array(starts)), shape=(len(found), shape[0] * shape[1])
    )
    groups = np.array([one.groups for one in classes], dtype=float)
    squares = np.array([one.normal.sum() for one in classes])
    return Strata(
        *(totals, tilt, totals.sum(axis=1), groups, squares, prior, turned, found),
        *(np.concatenate(owners), leading, np.concatenate(vectors)),
    )


def _leading(classes: Sequence[Class], value_count: int) -> Whole:
    """Choose the values that θ is about; none where there is one class, whose ε says it all."""
    if len(classes) < 2:
        return np.zeros(0, dtype=np.int64)
    totals = np.zeros(value_count)
    for one in classes:
        totals[one.codes] += one.totals
    return np.sort(np.argsort(-totals, kind="stable")[:MOST_SHARED]).astype(np.int64)
