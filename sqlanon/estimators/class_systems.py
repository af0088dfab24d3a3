"""The classes of a release, prepared for the ridge: what S says of each of them, where a place of t2 asks for it.

A class holds the rows whose values reach its groups at random: all of an Anatomy release, the rows of one signature
of an r-robust one. Axes: L classes, V values, n values of one class, r lines of what its groups tell, D directions
(what a sum weighs each of the n values with), k values that θ, which classes share, is about.

The mean of x over the rows of a value is x̄ + δ, δ of prior covariance t2 w C with C = diag(d) + M 11'. A value that
stands in every group may have most rows, so that the others lie around a mean of their own: M. The groups' scores b
have the mean S δ and the variance κ w S, κ rows a group. Given them δ has the covariance w K and the mean K b/κ,

    K = (C⁻¹/t2 + S/κ)⁻¹ = t2 C - t2 C F' (κ I + t2 F C F')⁻¹ F C t2,   S = F'F,

less K f f' K/(f' K f): the deviations of a class's rows sum to 0, Σ f δ = 0, which the prior knows, and no evidence is
made of it. The second form takes the work of few groups, the first that of few values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import get_lapack_funcs, solve_triangular
from scipy.linalg.lapack import dpstrf

from sqlanon.estimators.evidence import Array, BoolArray, IntArray
from sqlanon.estimators.moments import ClassSums

TOLERANCE = 1e-9
CLASS_SHARE = 2.0  # of V/N in the prior variance d_v; by measurement, see tests/benchmarks/decisions
MEAN_VARIANCE = 0.1  # M: of what the values of a class may all differ from its rows' mean; by measurement, see there
MOST_SHARED = 640  # values that the shared direction is about, the most frequent ones
OWN_GRID = np.array([1.0, 2.0, 5.0, 15.0, 60.0, 300.0])  # t2: how much more than chance a class's values differ
FEW_GROUPS = 1.0  # of a class's values: then F takes the place of S
MOST_KEPT = 60_000_000  # numbers that classes may hold for a place of t2, two of 5,000 values: answers tell of the rest
ROUNDING = 1e-13  # of a difference's terms
SINGLE = 2_000  # values from which on digits beyond the seventh, far below any standard error, are not followed
LAPACK = {kind: get_lapack_funcs(("potrf", "potrs", "trtri"), dtype=kind) for kind in "fd"}


@dataclass(frozen=True)
class Told:
    """What the groups of a class say of δ at one place of t2: K = base C' + lines diag(signs) lines'.

    C' is C given Σ f δ = 0.
    """

    release_class: "ReleaseClass"
    t2: float

    @cached_property
    def _factor(self) -> Array:
        """Return R, R'R = C⁻¹/t2 + S/κ scaled by √d on both sides, or κ I + t2 F C F' where groups are few."""
        own = self.release_class
        if own.has_few_groups:
            weighed = own.met * self.t2
            weighed.flat[:: len(weighed) + 1] += own.group_size
        else:
            kind: Any = np.float32 if len(own.codes) > SINGLE else np.float64
            ends = 1 / own.scale
            weighed = own.normal.toarray().astype(kind)
            weighed *= (own.scale / own.group_size).astype(kind)[:, None]
            weighed *= own.scale.astype(kind)
            weighed -= np.outer((ends * own.pull / self.t2).astype(kind), ends.astype(kind))
            weighed.flat[:: len(weighed) + 1] += 1 / self.t2
        factorize, _, _ = LAPACK[weighed.dtype.char]
        factor, failed = factorize(weighed.T, lower=False, overwrite_a=True)  # symmetric: nothing is copied
        if failed:
            raise np.linalg.LinAlgError("what is known of a class has no positive precision")
        return np.asarray(factor)

    def _solve(self, right: Array) -> Array:
        kind = self._factor.dtype
        return np.asarray(LAPACK[kind.char][1](self._factor, right.astype(kind), lower=False)[0])

    @cached_property
    def _kept_out(self) -> Array:
        """Return K f/√(f' K f) before it is taken out; nothing where F is already without it."""
        own = self.release_class
        if own.has_few_groups:
            return np.zeros((0, len(own.codes)))
        line = own.scale * self._solve(own.scale * own.totals)
        return np.asarray(line / np.sqrt(own.totals @ line))[None]

    @cached_property
    def spread(self) -> float:
        """Return the log of the determinant of the scores' variance, but for what all places of t2 have."""
        own, whole = self.release_class, 2 * float(np.log(self._factor.diagonal().astype(float)).sum())
        if own.has_few_groups:
            return whole
        left = float((own.totals @ self._kept_out[0]) ** 2)
        return whole + (len(own.codes) - 1) * float(np.log(self.t2)) + float(np.log(left))

    def find_mean(self, scores: Array) -> Array:
        """Return K b/κ of scores b (n)."""
        own = self.release_class
        if own.has_few_groups:
            right = own.weighed_occurrences * self.t2
            removed = right.T @ self._solve(right @ scores)
            found = self.t2 * own.keep_centred(own.spread(scores)) - removed
        else:
            found = own.scale * self._solve(own.scale * scores)
            found = found - (self._kept_out @ scores) @ self._kept_out
        return np.asarray(found / own.group_size)

    @property
    def base(self) -> float:
        """Return t2 where the lines say what groups take off the prior's C', else 0."""
        return self.t2 if self.release_class.has_few_groups else 0.0

    @cached_property
    def lines(self) -> Array:
        """Return the lines, n x r."""
        own = self.release_class
        if own.has_few_groups:
            right = own.weighed_occurrences * self.t2
            return np.asarray(solve_triangular(self._factor, right, trans="T", check_finite=False)).T.copy()
        _, _, invert = LAPACK[self._factor.dtype.char]
        inverse = invert(self._factor)[0] * own.scale.astype(self._factor.dtype)[:, None]
        return np.concatenate([inverse, self._kept_out.T.astype(inverse.dtype)], axis=1)

    @cached_property
    def signs(self) -> Array:
        """Return 1 or -1 for each line, r."""
        signs = np.full(self.lines.shape[1], -1.0 if self.base else 1.0, dtype=self.lines.dtype)
        signs[len(signs) - len(self._kept_out) :] = -1.0
        return signs

    @cached_property
    def variances(self) -> Array:
        """Return what the lines come to for each value by itself, n."""
        return np.asarray(self.lines**2 @ self.signs)

    @cached_property
    def passing(self) -> Array:
        """Return K C⁻¹/t2, what passes of θ into δ where b is known, n x reach: nothing where a class can tell."""
        own = self.release_class
        found = self.lines @ (own.unspread(self.lines.T)[:, own.shared] * self.signs[:, None])
        if self.base:
            found += self.base * own.centre(np.eye(len(own.codes)))[:, own.shared]
        return own.place(found / self.t2)

    @cached_property
    def block(self) -> Array:
        """Return what b says of θ, times w: C'⁻¹/t2 - C⁻¹ K C⁻¹/t2², reach x reach."""
        own, places = self.release_class, np.flatnonzero(self.release_class.shared)
        whole = own.unspread(np.eye(len(own.codes))[places])[:, places]
        whole = whole - np.outer(own.totals[places], own.totals[places]) / own.size
        passing = self.passing[:, own.shared_places] if own.reaches_all else self.passing
        return own.place(own.place((whole - own.unspread(passing.T)[:, places]) / self.t2).T)


@dataclass(frozen=True)
class ReleaseClass:
    """One class of a release: the values in it (codes, n), S over them (n x n), their totals f (n), its groups.

    shared: which of its values θ is about (n); shared_places: their places among all of these, k.
    """

    codes: IntArray
    normal: sparse.csr_array
    totals: Array
    groups: int
    shared: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    shared_places: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    shared_count: int = 0
    _told: dict[int, Told] = field(default_factory=dict)

    def tell(self, own_place: int) -> Told:
        """Return what its groups say at a place of t2, which is made once."""
        return self._told.setdefault(own_place, Told(self, float(OWN_GRID[own_place])))

    @property
    def reaches_all(self) -> bool:
        """Tell whether it has so many of the shared values that the others are held as zeros."""
        return 2 * len(self.shared_places) >= self.shared_count

    @property
    def reach(self) -> IntArray | slice:
        """Return which of the shared values its matrices have columns for."""
        return slice(None) if self.reaches_all else self.shared_places

    def place(self, columns: Array) -> Array:
        """Return a matrix with a column for each of its shared values as one with a column for each of `reach`."""
        if not self.reaches_all:
            return columns
        found = np.zeros((len(columns), self.shared_count))
        found[:, self.shared_places] = columns
        return found

    @cached_property
    def prior(self) -> Array:
        """Return d_v = 1/f_v + CLASS_SHARE V/N over the class's own values."""
        return np.asarray(1 / self.totals + CLASS_SHARE * len(self.codes) / self.totals.sum())

    @cached_property
    def scale(self) -> Array:
        """Return √d."""
        return np.asarray(np.sqrt(self.prior))

    @cached_property
    def pull(self) -> float:
        """Return M/(1 + M 1'D⁻¹1), of C⁻¹ = D⁻¹ - pull D⁻¹ 11' D⁻¹ with D = diag(d)."""
        return float(MEAN_VARIANCE / (1 + MEAN_VARIANCE * (1 / self.prior).sum()))

    @property
    def group_size(self) -> float:
        """Return κ, the rows of a group on average."""
        return float(self.totals.sum()) / max(float(self.groups), 1.0)

    @property
    def has_few_groups(self) -> bool:
        """Tell whether there are fewer groups than values."""
        return self.groups < FEW_GROUPS * len(self.codes)

    @cached_property
    def occurrences(self) -> Array:
        """Return F with F'F = S, rank x n: a Cholesky factor with pivots, which costs n² for each of few groups."""
        normal = self.normal.toarray()
        factor, pivots, rank, _ = dpstrf(normal, tol=ROUNDING * float(np.diag(normal).max()) * len(normal))
        held = np.zeros((rank, len(normal)))
        held[:, pivots - 1] = np.triu(factor)[:rank]
        return held

    @cached_property
    def weighed_occurrences(self) -> Array:
        """Return F C' (rank x n)."""
        return self.keep_centred(self.spread(self.occurrences))

    @cached_property
    def met(self) -> Array:
        """Return F C' F' (rank x rank)."""
        return np.asarray(self.weighed_occurrences @ self.occurrences.T)

    def spread(self, lines: Array) -> Array:
        """Return C times each of some lines, … x n."""
        return np.asarray(lines * self.prior + MEAN_VARIANCE * lines.sum(axis=-1, keepdims=True))

    def unspread(self, lines: Array) -> Array:
        """Return C⁻¹ times each of some lines, … x n."""
        scaled = lines / self.prior
        return np.asarray(scaled - self.pull * scaled.sum(axis=-1, keepdims=True) / self.prior)

    @cached_property
    def line(self) -> Array:
        """Return C f (n)."""
        return self.spread(self.totals)

    @cached_property
    def size(self) -> float:
        """Return f' C f."""
        return float(self.totals @ self.line)

    def keep_centred(self, lines: Array) -> Array:
        """Return lines C x (… x n) as C' x: less C f f' C x/(f' C f)."""
        return np.asarray(lines - (lines @ self.totals)[..., None] * self.line / self.size)

    def centre(self, directions: Array) -> Array:
        """Return directions x (D x n) less their share of f, x' C f/f' C f: it makes no difference where Σ f δ = 0."""
        return np.asarray(directions - (directions @ self.line)[:, None] * self.totals / self.size)

    def measure_prior(self, directions: Array) -> Array:
        """Return x' C' x of directions (D x n), D."""
        whole = directions**2 @ self.prior + MEAN_VARIANCE * directions.sum(axis=1) ** 2
        rest = whole - (directions @ self.line) ** 2 / self.size
        return np.asarray(np.where(rest > ROUNDING * whole, rest, 0.0))


class Directions:
    """Directions (D x n, none 0 everywhere); where each is of one value, they read its row of a matrix."""

    def __init__(self, directions: Array) -> None:
        """Take the directions."""
        self.whole = directions
        self.single = np.count_nonzero(directions) == len(directions)
        if self.single:
            lines, self.places = np.nonzero(directions)
            self.amounts = directions[lines, self.places]

    def times(self, matrix: Array) -> Array:
        """Return the directions times a matrix (n x any), D x any."""
        if self.single:
            return np.asarray(self.amounts[:, None] * matrix[self.places])
        return np.asarray(self.whole.astype(matrix.dtype, copy=False) @ matrix)

    def vary(self, told: Told) -> Array:
        """Return what the lines of `told` come to along each direction, D."""
        if self.single:
            return np.asarray(self.amounts**2 * told.variances[self.places])
        return np.asarray(self.times(told.lines) ** 2 @ told.signs)


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
    """Hold the classes that are solved. totals: f, L x V. shared_codes: the values that θ is about, k."""

    classes: Sequence[ReleaseClass]
    totals: Array
    shared_codes: IntArray

    @cached_property
    def rows(self) -> Array:
        """Return N of each class, L."""
        return np.asarray(self.totals.sum(axis=1))

    @cached_property
    def groups(self) -> Array:
        """Return the number of groups of each class, L."""
        return np.array([float(one.groups) for one in self.classes])

    @cached_property
    def size_products(self) -> Array:
        """Return Σ_g s_g(v) |g| = Σ_w S_vw, L x V."""
        found = np.zeros_like(self.totals)
        for line, one in zip(found, self.classes, strict=True):
            line[one.codes] = one.normal.sum(axis=1)
        return found

    @property
    def cell_count(self) -> int:
        """Return how many values all classes have, each by itself."""
        return sum(len(one.codes) for one in self.classes)

    @cached_property
    def everywhere(self) -> EverywhereValues:
        """Return the values that stand in every group of their class: f_v is at least the number of its groups."""
        owner, code = np.nonzero((self.totals >= self.groups[:, None]) & (self.totals > 0))
        share = self.groups[owner] / max(float(self.groups[owner].sum()), 1.0)
        return EverywhereValues(owner, code, share)


def prepare_classes(classes: Iterable[ReleaseClass], value_count: int) -> ClassSystems:
    """Return classes with what they share; value_count: V, of which a class has some."""
    listed = list(classes)
    totals = np.zeros((len(listed), value_count))
    for line, one in zip(totals, listed, strict=True):
        line[one.codes] = one.totals
    # θ is about the most frequent values; about none where there is one class, whose ε says it all
    often = np.argsort(-totals.sum(axis=0), kind="stable")[: MOST_SHARED if len(listed) > 1 else 0]
    shared_codes, places = np.sort(often).astype(np.int64), np.full(value_count, -1)
    places[shared_codes] = np.arange(len(shared_codes))
    found = []
    for one in listed:
        shared = places[one.codes] >= 0
        own_places = places[one.codes][shared]
        found.append(replace(one, shared=shared, shared_places=own_places, shared_count=len(shared_codes), _told={}))
    return ClassSystems(found, totals, shared_codes)


@dataclass(frozen=True)
class CentredOutcome:
    """Hold what the sums of one x over the hits of each group say, class by class.

    mean: x̄, L. variance: w, L. scores: b = sum s_g y_g with y_g = x_g - |g| x̄, L x V. size: κ.
    """

    mean: Array
    variance: Array
    scores: Array
    size: float


def centre_outcome(systems: ClassSystems, sums: ClassSums) -> CentredOutcome:
    """Return what a query's hits sum to (`sums`), centred by the mean of each of `systems`; the rest's stays out."""
    mean, square = sums.uniform[:-1].sum(axis=1) / systems.rows, sums.square[:-1].sum(axis=1) / systems.rows
    variance = square - mean**2
    variance[variance <= TOLERANCE * square] = 0.0
    scores = np.where(variance[:, None] > 0, sums.shared[:-1] - mean[:, None] * systems.size_products, 0.0)
    return CentredOutcome(mean, variance, scores, sums.size)
