"""The classes of a release, prepared once for the ridge: eigenvectors of S, class by class, and what they make of it.

A class holds the rows whose values reach its groups at random: all of an Anatomy release, the rows of one signature
of an r-robust one. Axes: L classes, V values, R eigenvectors with a positive root (of all classes), k values that
the direction which classes share is about.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sqlanon.estimators.evidence import Array, IntArray
from sqlanon.estimators.one_core import on_one_core

TOLERANCE = 1e-9
CLASS_SHARE = 2.0  # of V/N in the prior variance d_v; by measurement, see tests/benchmarks/decisions
MEAN_VARIANCE = 0.1  # of what the values of a class may all differ from its rows' mean; by measurement, see there
MOST_SHARED = 640  # values that the shared direction is about, the most frequent ones
OWN_GRID = np.array([1.0, 2.0, 5.0, 15.0, 60.0, 300.0])  # t2: how much more than chance a class's values differ
FEW_GROUPS = 1.0  # of a class's values: S is factored before its eigenvectors are looked for
MOST_KEPT = 60_000_000  # numbers that the classes' eigenvectors may hold, two of 5,000 values: answers tell of the rest
ROUNDING = 1e-13  # of a difference's terms
LARGE = 10_000  # numbers of a block on average: multiplied one by one, as BLAS does it several times faster
SQUARED = 4_000_000  # numbers of eigenvectors that are squared at once


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

    totals: f, L x V. size_products: sum |g| s_g(v), L x V. rows, groups: N and the number of groups, L.
    prior: d, L x V. The prior's covariance is C = diag(d) + M 11' = B B' over a class's values: a value that stands in
    every group may have most rows, so that the others lie around a mean of their own. turned: B U, LV x R.
    roots: eigenvalues of P B' S B P, R, with P the projection onto what leaves the sum of f (p - x̄) at 0. owner: their
    class, R. shared_codes: the values that θ is about, k. shared_lines: U' B^-1 on these, R x k (one class: k = 0).
    Of a query's w they are free, so that they are made once: totals_by_root: κ + λ t2 with κ = N/groups, T2 x R, what
    the score's variance is for w = 1 over λ; blocks: what a class says of θ and what of θ passes into its values.
    products: S of every class over its own values, n x n.
    """

    totals: Array
    size_products: Array
    rows: Array
    groups: Array
    prior: Array
    turned: "StackedBlocks"
    roots: Array
    owner: IntArray
    shared_codes: IntArray
    shared_lines: "StackedBlocks"
    totals_by_root: Array
    blocks: "SharedBlocks"
    products: Sequence[sparse.csr_array]
    _variances: dict[int, Array] = field(default_factory=dict)

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray]:
        """Return class and code of the values that a class has, E each."""
        owner, code = np.nonzero(self.totals > 0)
        return owner, code

    def lay_cells(self, numbers: Array, columns: IntArray, width: int) -> sparse.csr_array:
        """Return LV x `width`: the `numbers` of the `cells` (E), each in its row and in the one of `columns` (E)."""
        owner, code = self.cells
        shape = (self.totals.size, width)
        return sparse.csr_array((numbers, (owner * self.totals.shape[1] + code, columns)), shape=shape)

    @cached_property
    def _class_sums(self) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array, Array]:
        """Return what sums directions by class, LV x L: plainly, by d, by C f/f' C f; and f' C f, L."""
        owner, code = self.cells
        lines, width = self.totals * self.prior + MEAN_VARIANCE * self.rows[:, None], len(self.totals)
        size = (self.totals * lines).sum(axis=1)
        plain, own, share = (
            self.lay_cells(numbers, owner, width)
            for numbers in (np.ones(len(owner)), self.prior[owner, code], (lines / size[:, None])[owner, code])
        )
        return plain, own, share, np.asarray(size)

    def sum_classes(self, directions: sparse.csr_array) -> Array:
        """Return the sum of directions (D x LV) over each class's values, D x L."""
        return np.asarray((directions @ self._class_sums[0]).toarray())

    def find_share(self, directions: sparse.csr_array) -> sparse.csr_array:
        """Return how much of f to take from directions, D x L: it makes no difference, for f (p - x̄) sums to 0."""
        return directions @ self._class_sums[2]

    def measure_prior(self, directions: sparse.csr_array) -> Array:
        """Return x' C x class by class, D x L, of directions x (D x LV) less their share s of f: s = x' C f/f' C f."""
        own = (directions.power(2) @ self._class_sums[1]).toarray()
        whole = own + MEAN_VARIANCE * self.sum_classes(directions) ** 2
        share = self.find_share(directions).power(2).toarray() * self._class_sums[3]
        return leave_rest(whole, share, ROUNDING)

    def find_variance(self, own_place: int) -> Array:
        """Return the posterior variance of a class's single values at a place of t2, for w = 1: LV.

        A value alone needs no product: B U is squared, and what S does not tell of the value stays as the prior has it.
        own_place: in the grid; its variances are made when they are needed.
        """
        if own_place not in self._variances:
            _, _, share, size = self._class_sums
            whole = np.where(self.totals > 0, self.prior + MEAN_VARIANCE, 0.0).ravel()
            whole = leave_rest(whole, share.power(2) @ size, ROUNDING)
            # of the squares their sum, and what the groups leave of it
            left = 1 - self.roots * OWN_GRID[own_place] / self.totals_by_root[own_place]
            weights, sums = np.stack([np.ones_like(left), left], axis=1), np.zeros((len(whole), 2))
            for vectors, cells, roots in zip(self.turned.blocks, self.turned.rows, self.turned.columns, strict=True):
                step = max(1, SQUARED // max(len(roots), 1))
                for start in range(0, len(cells), step):
                    sums[cells[start : start + step]] = vectors[start : start + step] ** 2 @ weights[roots]
            unseen = leave_rest(whole, sums[:, 0], TOLERANCE)
            self._variances[own_place] = (sums[:, 1] + unseen) * OWN_GRID[own_place]
        return self._variances[own_place]

    def merge(self, kind: IntArray) -> "ClassSystems":
        """Return the classes prepared anew with one value in the place of all those of a `kind` (V, from 0 on)."""
        count = int(kind.max()) + 1
        members = np.eye(count)[kind]  # V x kinds
        merged = []
        for totals, normal, groups in zip(self.totals, self.products, self.groups, strict=True):
            codes = np.unique(kind[totals > 0])
            own = members[totals > 0][:, codes]
            merged.append(ReleaseClass(codes, own.T @ (normal @ own), totals[totals > 0] @ own, int(groups)))
        return prepare_classes(merged, count)

    @cached_property
    def everywhere(self) -> EverywhereValues:
        """Return the values that stand in every group of their class: f_v is at least the number of its groups."""
        owner, code = np.nonzero((self.totals >= self.groups[:, None]) & (self.totals > 0))
        share = self.groups[owner] / max(float(self.groups[owner].sum()), 1.0)
        return EverywhereValues(owner, code, share)


@dataclass(frozen=True)
class StackedBlocks:
    """Dense blocks in one sparse matrix: each stands in rows of its own, ascending, and in columns that it names.

    blocks: views of the matrix's numbers.
    """

    matrix: sparse.csr_array
    blocks: Sequence[Array]
    rows: Sequence[IntArray]
    columns: Sequence[IntArray]

    @classmethod
    def stack(
        cls, blocks: Sequence[Array], rows: Sequence[IntArray], columns: Sequence[IntArray], shape: tuple[int, int]
    ) -> "StackedBlocks":
        """Return blocks, each with its rows and columns, written into a matrix of this shape."""
        lengths = np.zeros(shape[0], dtype=np.int64)
        for block_rows, block_columns in zip(rows, columns, strict=True):
            lengths[block_rows] = len(block_columns)
        starts, first = np.concatenate([[0], np.cumsum(lengths)]), 0
        kind = np.int32 if max(*shape, starts[-1]) < np.iinfo(np.int32).max else np.int64
        entries, places = np.empty(starts[-1]), np.empty(starts[-1], dtype=kind)
        views = []
        for block, block_columns in zip(blocks, columns, strict=True):
            inside = slice(first, first + block.size)
            views.append(entries[inside].reshape(block.shape))
            views[-1][:] = block
            places[inside].reshape(block.shape)[:] = block_columns
            first += block.size
        matrix = sparse.csr_array((entries, places, starts.astype(kind)), shape=shape)
        return cls(matrix, views, rows, columns)

    def multiply(self, lines: Array) -> Array:
        """Return lines (D x rows) times the matrix, D x columns."""
        if self.matrix.nnz < LARGE * len(self.blocks):
            return np.asarray(lines @ self.matrix)
        product = np.zeros((len(lines), self.matrix.shape[1]))
        for block, rows, columns in zip(self.blocks, self.rows, self.columns, strict=True):
            product[:, columns] += lines[:, rows] @ block
        return product


@dataclass(frozen=True)
class SharedBlocks:
    """Make what classes say of θ, and what of θ passes into their values, where a place of t2 needs it.

    turned, lines: `ClassSystems` has them, a block of each class. weights: λ/(κ + λ t2), T2 x R.
    """

    turned: StackedBlocks
    lines: StackedBlocks
    weights: Array
    _by_class: dict[int, sparse.csc_array] = field(default_factory=dict)
    _passed: dict[int, sparse.csr_array] = field(default_factory=dict)

    @property
    def place_size(self) -> float:
        """Return how many numbers one place of t2 adds to those that are held."""
        sizes = zip(self.turned.rows, self.lines.columns, strict=True)
        return float(sum(count_place(len(cells), len(places)) for cells, places in sizes))

    @property
    def size(self) -> int:
        """Return k."""
        return int(self.lines.matrix.shape[1])

    def add(self, own_place: int, weight: Array) -> Array:
        """Return sum over c of weight_c times the class's block, k x k, lower triangle only.

        The block is sum over r of λ_r/(κ + λ_r t2) u_r u_r', u_r of U' B^-1. own_place: a place of t2 in the grid; its
        blocks are made when one is needed. weight: of each class, C.
        """
        if own_place not in self._by_class:
            self._by_class[own_place] = self._make(own_place)
        return np.asarray(self._by_class[own_place] @ weight).reshape(self.size, self.size)

    def find_passed(self, own_place: int) -> sparse.csr_array:
        """Return sum over r of λ_r/(κ + λ_r t2) times the r-th of B U and of U' B^-1, LV x k.

        A value of a class is read in k steps, not in R k. own_place: a place of t2 in the grid.
        """
        if own_place not in self._passed:
            weights, stacked = self.weights[own_place], self.turned
            products = [
                (vectors * weights[roots]) @ lines
                for vectors, roots, lines in zip(stacked.blocks, self.lines.rows, self.lines.blocks, strict=True)
            ]
            shape = stacked.matrix.shape[0], self.size
            passed = StackedBlocks.stack(products, stacked.rows, self.lines.columns, shape)
            self._passed[own_place] = passed.matrix
        return self._passed[own_place]

    def _make(self, own_place: int) -> sparse.csc_array:
        entries, rows, starts = list[Array](), list[IntArray](), [0]
        for lines, roots, places in zip(self.lines.blocks, self.lines.rows, self.lines.columns, strict=True):
            weight = self.weights[own_place, roots]
            # places ascend: the lower triangle of a block lies in the lower triangle of k x k
            low, high = np.tril_indices(len(places))
            entries.append(((lines.T * weight) @ lines)[low, high])
            rows.append((places[low] * self.size + places[high]).astype(np.int32))
            starts.append(starts[-1] + len(low))
        shape = self.size**2, len(self.lines.blocks)
        return sparse.csc_array((np.concatenate(entries), np.concatenate(rows), np.array(starts)), shape)


@dataclass(frozen=True)
class _Eigensystem:
    """The positive roots of P B' S B P of one class (r), their vectors as U' B' and as U' B^-1 (r x n each)."""

    roots: Array
    turned: Array
    returned: Array


def leave_rest(whole: Array, part: Array, tolerance: float) -> Array:
    """Return what a part leaves of a whole: nothing where that is no more than rounding, `tolerance` times the whole.

    whole, part: of one shape, D x L or LV, as is what is returned.
    """
    rest = whole - part
    return np.asarray(np.where(rest > tolerance * whole, rest, 0.0))


def count_place(size: Any, shared: Any) -> Any:
    """Return about how many numbers one place of t2 holds of a class with so many values, and values that are shared.

    size, shared: numbers or arrays. Of its block the lower half, and a line for each value, with their indices.
    """
    return 0.75 * shared**2 + 1.5 * size * shared


@on_one_core()
def prepare_classes(classes: Iterable[ReleaseClass], value_count: int) -> ClassSystems:
    """Return classes prepared: one eigendecomposition each, of S scaled by what the prior expects of its values.

    classes: read one after another; S of one class is held at a time. value_count: V, of which a class has some.
    """
    systems, codes, groups = list[_Eigensystem](), list[IntArray](), list[float]()
    lines, products = list[Array](), list[sparse.csr_array]()
    for release_class in classes:
        sized = release_class.normal.sum(axis=1)  # Σ_w S_vw = Σ_g s_g(v) |g|
        lines.append(np.zeros((3, value_count)))
        lines[-1][:, release_class.codes] = release_class.totals, sized, _prior_variance(release_class)
        products.append(sparse.csr_array(release_class.normal))  # most values never meet
        systems.append(_decompose(release_class))
        codes.append(release_class.codes)
        groups.append(float(release_class.groups))
    totals, size_products, prior = np.array(lines).reshape(-1, 3, value_count).transpose(1, 0, 2).copy()
    shared_codes, rows = _choose_shared(totals), totals.sum(axis=1)
    owner = np.repeat(np.arange(len(systems)), np.array([len(system.roots) for system in systems], dtype=np.int64))
    roots = np.concatenate([np.zeros(0), *(system.roots for system in systems)])
    totals_by_root = (rows / np.maximum(np.array(groups), 1.0))[owner] + roots * OWN_GRID[:, None]
    turned, shared_lines = _stack_vectors(codes, systems, value_count, shared_codes)
    return ClassSystems(
        totals=totals,
        size_products=size_products,
        rows=rows,
        groups=np.array(groups),
        prior=prior,
        turned=turned,
        roots=roots,
        owner=owner,
        shared_codes=shared_codes,
        shared_lines=shared_lines,
        totals_by_root=totals_by_root,
        blocks=SharedBlocks(turned, shared_lines, roots / totals_by_root),
        products=products,
    )


def _prior_variance(release_class: ReleaseClass) -> Array:
    """Return d_v = 1/f_v + CLASS_SHARE V/N over the class's own values."""
    return np.asarray(1 / release_class.totals + CLASS_SHARE * len(release_class.codes) / release_class.totals.sum())


def _decompose(release_class: ReleaseClass) -> _Eigensystem:
    scale = np.sqrt(_prior_variance(release_class))
    # C = D (I + M e e') D with e = D^-1 1, so that B = D (I + β e e') = D + β 1 e' and
    # B^-1 = (I - β/(1 + β e'e) e e') D^-1. A product with either costs what D costs: nothing but eigenvectors takes V³.
    ends, count = 1 / scale, float((1 / scale**2).sum())
    pull = (np.sqrt(1 + MEAN_VARIANCE * count) - 1) / count
    # Deviations from a class's mean sum to 0 over its rows, Σ f_v (p_v - x̄) = 0. The prior knows that, and no evidence
    # is made of it: P takes the direction B' f out.
    mean_direction = scale * release_class.totals + pull * ends * release_class.totals.sum()
    mean_direction /= np.linalg.norm(mean_direction)
    roots, lines = _find_eigenvectors(release_class, scale, pull, mean_direction)
    lines -= np.outer(lines @ mean_direction, mean_direction)  # what rounding has left of it counts for small roots
    along = (lines @ ends)[:, None]
    returned = (lines - pull / (1 + pull * count) * along * ends) / scale
    lines *= scale
    lines += pull * along
    return _Eigensystem(roots, lines, returned)


def _find_eigenvectors(
    release_class: ReleaseClass, scale: Array, pull: float, mean_direction: Array
) -> tuple[Array, Array]:
    """Return the positive roots of P B' S B P and their vectors (r, r x n): where groups are few, from S's factor."""
    ends = 1 / scale
    if few_groups := release_class.groups < FEW_GROUPS * len(scale):
        occurrences = _factor(release_class.normal)
        held = occurrences * scale + pull * np.outer(occurrences.sum(axis=1), ends)
        trace = float((held**2).sum())
        held -= np.outer(held @ mean_direction, mean_direction)
        scaled = held @ held.T
    else:
        scaled = release_class.normal * scale + pull * np.outer(release_class.normal.sum(axis=1), ends)
        scaled = scaled * scale[:, None] + pull * np.outer(ends, scaled.sum(axis=0))
        trace = float(np.trace(scaled))
        removed = scaled @ mean_direction
        removed -= mean_direction * (mean_direction @ removed) / 2
        scaled -= np.outer(removed, mean_direction)
        scaled -= np.outer(mean_direction, removed)
    roots, vectors = np.linalg.eigh(scaled)
    positive = roots > TOLERANCE * max(trace, TOLERANCE)
    roots, lines = roots[positive], vectors.T[positive]
    return roots, lines @ held / np.sqrt(roots)[:, None] if few_groups else lines


def _factor(normal: Array) -> Array:
    """Return F with F'F = S, rank x n: a Cholesky factor with pivots, which costs n² for each of few groups."""
    from scipy.linalg.lapack import dpstrf

    factor, pivots, rank, _ = dpstrf(normal, tol=ROUNDING * float(np.diag(normal).max()) * len(normal))
    held = np.zeros((rank, len(normal)))
    held[:, pivots - 1] = np.triu(factor)[:rank]
    return held


def _stack_vectors(
    codes: Sequence[IntArray], systems: Sequence[_Eigensystem], value_count: int, shared_codes: IntArray
) -> tuple[StackedBlocks, StackedBlocks]:
    """Write B U of all classes as one matrix LV x R, and U' B^-1 on the values that classes share as R x k."""
    ends = np.cumsum([len(system.roots) for system in systems], dtype=np.int64)
    roots = [np.arange(end - len(system.roots), end) for system, end in zip(systems, ends, strict=True)]
    width, count = len(codes) * value_count, int(ends[-1]) if len(ends) else 0
    cells = [number * value_count + own_codes for number, own_codes in enumerate(codes)]
    turned = StackedBlocks.stack([system.turned.T for system in systems], cells, roots, (width, count))
    places = _find_places(shared_codes, value_count)
    shared = [places[own_codes] >= 0 for own_codes in codes]
    lines = [system.returned[:, inside] for system, inside in zip(systems, shared, strict=True)]
    columns = [places[own_codes[inside]] for own_codes, inside in zip(codes, shared, strict=True)]
    return turned, StackedBlocks.stack(lines, roots, columns, (count, len(shared_codes)))


def _find_places(codes: IntArray, value_count: int) -> IntArray:
    """Return by value its place among `codes`, -1 for others."""
    places = np.full(value_count, -1)
    places[codes] = np.arange(len(codes))
    return places


def _choose_shared(totals: Array) -> IntArray:
    """Choose the values that θ is about; none where there is one class, whose ε says it all."""
    if len(totals) < 2:
        return np.zeros(0, dtype=np.int64)
    return np.sort(np.argsort(-totals.sum(axis=0), kind="stable")[:MOST_SHARED]).astype(np.int64)
