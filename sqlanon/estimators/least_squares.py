"""Least squares: solve S p = b for the share p_v of each value's rows that a query's quasi part selects.

Given the groups, E[n_g] = sum over v of s_g(v) p_v, so with S = sum s_g s_g^T and b = sum n_g s_g the
normal equations are S p = b, and the answer is the sum over the asked v of f_v p_v. It is unbiased where
the rows of a value reach their groups at random, whatever their quasi values.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.evidence import Estimate, Evidence, answer_unbiased

Array = NDArray[np.float64]
TOLERANCE = 1e-9


@dataclass(frozen=True)
class System:
    """Hold what depends on a release only.

    normal: S, V x V. inverse: a symmetric generalized inverse of S. rank: of S. totals: f, length V.
    known: which single values lie in the row space of S, length V.
    """

    normal: Array
    inverse: Array
    rank: int
    totals: Array
    known: NDArray[np.bool_]


def system(normal: Array, totals: Array) -> System:
    """Prepare S (V x V) for solving; values that always go together make it singular, which is allowed.

    S is scaled to a unit diagonal first, so that rare values do not drown in the rounding of frequent ones.
    """
    scale = 1 / np.sqrt(np.diag(normal))
    values, vectors = np.linalg.eigh(normal * np.outer(scale, scale))
    kept = values > TOLERANCE * max(values.max(initial=0), 1)
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T * np.outer(scale, scale)
    found = System(normal, inverse, int(kept.sum()), totals, np.ones(len(totals), dtype=bool))
    return found if kept.all() else System(normal, inverse, found.rank, totals, reachable(found, np.eye(len(totals))))


def reachable(found: System, asked: Array) -> NDArray[np.bool_]:
    """Tell which rows of `asked` (k x V) lie in the row space of S: only they have an unbiased answer."""
    if found.rank == len(found.totals):
        return np.ones(len(asked), dtype=bool)
    left_over = asked @ found.inverse @ found.normal - asked
    size = np.abs(asked).max(axis=1, initial=0)
    return np.asarray(np.abs(left_over).max(axis=1, initial=0) <= 1e-6 * size)


def shares(found: System, shared: Array) -> Array:
    """Solve S p = b for every b in the last axis of `shared` (… x V); p is not cut to [0, 1]."""
    return shared @ found.inverse


def directions(found: System, asked: Array) -> Array:
    """Return x = S^-1 a for every a in `asked` (k x V); h_g = s_g . x is what a hit in group g adds."""
    return asked @ found.inverse


def estimate(evidence: Evidence) -> Estimate:
    """Answer with least squares and its 95 % interval; `uniform` where the asked set has no such answer."""
    return answer_unbiased(evidence)
