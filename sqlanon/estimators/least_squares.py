"""Least squares: solve S p = b for the share p_v of each value's rows that satisfy a query's quasi part.

Given the groups, E[n_g] = sum over v of s_g(v) p_v. With S = sum s_g s_g^T and b = sum n_g s_g the normal equations
are S p = b, and the answer is the sum of f_v p_v over the values that the query selects. It is unbiased where
the rows of a value reach their groups at random, whatever their quasi values.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.estimators.evidence import Array, BoolArray, Estimate, Evidence, answer_unbiased
from sqlanon.estimators.one_core import on_one_core

if TYPE_CHECKING:
    from scipy import sparse  # slow to load

TOLERANCE = 1e-9
WELL = 1e6  # times that S may be nearer to singular in one direction than in another, for an inverse by a factor


@dataclass(frozen=True)
class NormalEquations:
    """Hold S, which depends on the release alone, ready to be solved for any b.

    normal: S, V x V. inverse: a symmetric generalized inverse of S. rank: of S. totals: f, length V.
    determined: the single values that lie in the row space of S, length V.
    """

    normal: Array
    inverse: Array
    rank: int
    totals: Array
    determined: BoolArray


@on_one_core()
def prepare_equations(normal: Array, totals: Array) -> NormalEquations:
    """Return S ready for solving; it may be singular, as values that always go together make it.

    normal: S, V x V. totals: f, V.
    """
    # Scaled to a unit diagonal, so that rare values do not drown in the rounding of frequent ones.
    scale = 1 / np.sqrt(np.diag(normal))
    if (inverse := _invert(normal * np.outer(scale, scale))) is not None:
        inverse *= np.outer(scale, scale)
        return NormalEquations(normal, inverse, len(totals), totals, np.ones(len(totals), dtype=bool))
    roots, vectors = np.linalg.eigh(normal * np.outer(scale, scale))
    positive = roots > TOLERANCE * max(roots.max(initial=0), 1)
    inverse = (vectors[:, positive] / roots[positive]) @ vectors[:, positive].T * np.outer(scale, scale)
    every = np.ones(len(totals), dtype=bool)
    equations = NormalEquations(normal, inverse, int(positive.sum()), totals, every)
    if positive.all():
        return equations
    determined = tell_determined(equations, np.eye(len(totals)))
    return NormalEquations(normal, inverse, equations.rank, totals, determined)


def _invert(scaled: Array) -> Array | None:
    """Return the inverse of a matrix with a unit diagonal; None where it is near to singular, or is.

    A factor costs a tenth of all eigenvectors.
    """
    try:
        np.linalg.cholesky(scaled)
        inverse = np.linalg.inv(scaled)  # rounding may let a singular matrix have a factor
    except np.linalg.LinAlgError:
        return None
    inverse = (inverse + inverse.T) / 2
    # the largest sum of a line is no smaller than the largest root
    sizes = [float(np.abs(matrix).sum(axis=1).max()) for matrix in (scaled, inverse)]
    return inverse if sizes[0] * sizes[1] < WELL else None


def tell_determined(equations: NormalEquations, sums: Array) -> BoolArray:
    """Return which rows a of `sums` (k x V) lie in the row space of S, k: only of these a p has an unbiased estimate.

    equations: those of S.
    """
    if equations.rank == len(equations.totals):
        return np.ones(len(sums), dtype=bool)
    # S⁻S projects onto the row space: what it changes of a lies outside.
    outside = sums @ equations.inverse @ equations.normal - sums
    size = np.abs(sums).max(axis=1, initial=0)
    return np.asarray(np.abs(outside).max(axis=1, initial=0) <= 1e-6 * size)


def solve_shares(equations: NormalEquations, products: Array) -> Array:
    """Return p of the equations S p = b for every b in the last axis of `products` (… x V), not cut to [0, 1]."""
    return products @ equations.inverse


def solve_directions(equations: NormalEquations, sums: "Array | sparse.csr_array") -> Array:
    """Return x = S⁻¹ a by the equations for every row a of `sums` (k x V).

    h_g = s_g · x is what a hit in group g adds to a p.
    """
    return np.asarray(sums @ equations.inverse)


def estimate(evidence: Evidence) -> Estimate:
    """Return least squares and its 95 % interval; the plain estimate of the evidence where S determines no answer."""
    return answer_unbiased(evidence)
