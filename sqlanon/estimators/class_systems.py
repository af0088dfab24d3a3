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

from sqlanon.estimators.evidence import Array, IntArray

TOLERANCE = 1e-9
CLASS_SHARE = 2.0  # of V/N in the prior variance d_v; by measurement, see tests/benchmarks/README.md
MOST_SHARED = 256  # values that the shared direction is about, the most frequent ones
MOST_KEPT = 50_000_000  # numbers that the classes' eigenvectors may hold


@dataclass(frozen=True)
class ReleaseClass:
    """One class of a release: the values in it (codes, n), S over them (n x n), their totals f (n), its groups."""

    codes: IntArray
    normal: Array
    totals: Array
    groups: int


@dataclass(frozen=True)
class EverywhereValues:
    """The values that stand in every group of their class, n of them: class (owner), code, and share of rows left out.

    Class-first grouping leaves out rows of such values only. How many of each is not published, so that the larger
    class is taken to leave out more.
    """

    owner: IntArray
    code: IntArray
    share: Array


@dataclass(frozen=True)
class ClassSystems:
    """Hold the classes prepared for solving.

    totals: f, L x V. size_products: sum |g| s_g(v), L x V. rows, groups, size_squares: N, groups, sum |g|², L.
    prior: d, L x V. rotation: U' D, R x LV, with D = sqrt(d). roots: eigenvalues of P D S D P, R, with P the projection
    onto what leaves the sum of f (p - x̄) at 0. owner: their class, R.
    shared_codes: the values that θ is about, k. shared_rotation: U' D^-1 on these, R x k (k = 0 for one class).
    """

    totals: Array
    size_products: Array
    rows: Array
    groups: Array
    size_squares: Array
    prior: Array
    rotation: sparse.csr_array
    roots: Array
    owner: IntArray
    shared_codes: IntArray
    shared_rotation: Array

    def centre(self, directions: Array) -> Array:
        """Take from directions (D x L x V) as much of f as makes no difference, for f (p - x̄) sums to 0 in a class."""
        weight = self.totals * self.prior
        share = np.einsum("dlv,lv->dl", directions, weight) / (self.totals * weight).sum(axis=1)
        return np.asarray(directions - share[:, :, None] * self.totals)

    @cached_property
    def everywhere(self) -> EverywhereValues:
        """Return the values that stand in every group of their class: f_v is at least the number of its groups."""
        owner, code = np.nonzero((self.totals >= self.groups[:, None]) & (self.totals > 0))
        share = self.groups[owner] / max(float(self.groups[owner].sum()), 1.0)
        return EverywhereValues(owner, code, share)


@dataclass(frozen=True)
class _Eigensystem:
    """The positive roots of P D S D P of one class (r), their vectors (n x r), and D (n)."""

    roots: Array
    vectors: Array
    scale: Array


def prepare_classes(classes: Sequence[ReleaseClass], value_count: int) -> ClassSystems:
    """Prepare classes: one eigendecomposition each, of S scaled by what the prior expects of its values."""
    totals, size_products, prior = np.zeros((3, len(classes), value_count))
    for number, one in enumerate(classes):
        totals[number, one.codes] = one.totals
        size_products[number, one.codes] = one.normal.sum(axis=1)  # Σ_w S_vw = Σ_g s_g(v) |g|
        prior[number, one.codes] = _prior_variance(one)
    shared_codes = _choose_shared(totals)
    systems = [_decompose(one) for one in classes]
    lines = [np.zeros((0, len(shared_codes)))]
    for one, system in zip(classes, systems, strict=True):
        vectors = np.zeros((value_count, len(system.roots)))
        vectors[one.codes] = system.vectors / system.scale[:, None]
        lines.append(vectors[shared_codes].T)
    return ClassSystems(
        totals=totals,
        size_products=size_products,
        rows=totals.sum(axis=1),
        groups=np.array([one.groups for one in classes], dtype=float),
        size_squares=np.array([one.normal.sum() for one in classes]),
        prior=prior,
        rotation=_stack_rotations(classes, systems, value_count),
        roots=np.concatenate([np.zeros(0), *(system.roots for system in systems)]),
        owner=np.repeat(np.arange(len(classes)), np.array([len(one.roots) for one in systems], dtype=np.int64)),
        shared_codes=shared_codes,
        shared_rotation=np.concatenate(lines),
    )


def _prior_variance(one: ReleaseClass) -> Array:
    """Return d_v = 1/f_v + CLASS_SHARE V/N over the class's own values."""
    return np.asarray(1 / one.totals + CLASS_SHARE * len(one.codes) / one.totals.sum())


def _decompose(one: ReleaseClass) -> _Eigensystem:
    scale = np.sqrt(_prior_variance(one))
    # Deviations from a class's mean sum to 0 over its rows, Σ f_v (p_v - x̄) = 0. The prior knows that, and no evidence
    # is made of it: P takes the direction D f out of D S D.
    known = scale * one.totals / np.linalg.norm(scale * one.totals)
    projection = np.eye(len(scale)) - np.outer(known, known)
    scaled = one.normal * np.outer(scale, scale)
    roots, vectors = np.linalg.eigh(projection @ scaled @ projection)
    kept = roots > TOLERANCE * max(np.trace(scaled), TOLERANCE)
    return _Eigensystem(roots[kept], vectors[:, kept], scale)


def _stack_rotations(
    classes: Sequence[ReleaseClass], systems: Sequence[_Eigensystem], value_count: int
) -> sparse.csr_array:
    """Write U' D of all classes as one sparse matrix R x LV: a class's lines reach its own values only."""
    entries, columns, starts = [np.zeros(0)], [np.zeros(0, dtype=np.int64)], [0]
    for number, (one, system) in enumerate(zip(classes, systems, strict=True)):
        count = len(system.roots)
        entries.append((system.vectors * system.scale[:, None]).T.ravel())
        columns.append(np.tile(number * value_count + one.codes, count))
        starts += (starts[-1] + len(one.codes) * np.arange(1, count + 1)).tolist()
    shape = (len(starts) - 1, len(classes) * value_count)
    return sparse.csr_array((np.concatenate(entries), np.concatenate(columns), np.array(starts)), shape=shape)


def _choose_shared(totals: Array) -> IntArray:
    """Choose the values that θ is about; none where there is one class, whose ε says it all."""
    if len(totals) < 2:
        return np.zeros(0, dtype=np.int64)
    return np.sort(np.argsort(-totals.sum(axis=0), kind="stable")[:MOST_SHARED]).astype(np.int64)
