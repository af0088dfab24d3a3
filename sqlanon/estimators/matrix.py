"""Matrix: undo SPLU-Gen with how often values meet in a group under the public grouping procedure.

T_ws = P(a row of w publishes s) follows from how often w and s meet in a group; Tᵀ x = y is solved for all values at
once. The closed form replaces every T_ws, w ≠ s, by one q_s, which is off by up to a tenth where a value stands in
nearly every group.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimators.channel import Array

LEAST_REPEATED, MOST_REPEATED = 8, 40
ENOUGH_ROWS = 1_000_000  # rows that the repetitions deal together; larger tables are dealt at a smaller scale


@dataclass(frozen=True)
class Company:
    """Hold T (V x V, rows summing to 1) averaged over repetitions, and each of them (R x V x V).

    noise: what the variance over repetitions is to be multiplied by, for a table of N rows.
    """

    mean: Array
    repeated: Array
    noise: float


def transition(counts: Array, gamma: int, groups_per_block: int) -> Company:
    """Return T: P(a row of value w publishes s) under random orders of the values in the blocks.

    counts: published counts f' of the values (V). gamma: different values in a group, at least.
    groups_per_block: of the grouping. Deterministic: equal figures give equal answers.
    """
    random = np.random.default_rng(0)
    rows = float(counts.sum())
    scale = min(1.0, ENOUGH_ROWS / LEAST_REPEATED / max(rows, 1))
    dealt = _feasible(np.maximum(np.rint(counts * scale).astype(np.int64), 1), gamma)
    repeats = int(np.clip(ENOUGH_ROWS // max(int(dealt.sum()), 1), LEAST_REPEATED, MOST_REPEATED))
    meetings = [_meetings(dealt, gamma, groups_per_block, random) for _ in range(repeats)]
    repeated = np.stack([_balanced(meeting / meeting.sum(axis=1, keepdims=True), counts) for meeting in meetings])
    return Company(np.asarray(repeated.mean(axis=0)), repeated, float(dealt.sum()) / max(rows, 1))


def _balanced(shares: Array, counts: Array) -> Array:
    """Bring rare values, rounded up in a smaller table, back to their share: rows of others that publish s are f_s less
    the rows of s that keep it.
    """
    kept_share = np.diag(shares).copy()
    others = shares - np.diag(kept_share)
    published = counts @ others
    needed_rows = counts * (1 - kept_share)
    others = others * np.divide(needed_rows, published, out=np.ones_like(needed_rows), where=published > 0)
    total = others.sum(axis=1)
    others = others * np.divide(1 - kept_share, total, out=np.ones_like(total), where=total > 0)[:, None]
    return np.asarray(others + np.diag(1 - others.sum(axis=1)))


def _feasible(counts: NDArray[np.int64], gamma: int) -> NDArray[np.int64]:
    """Cut counts to floor(N/γ), N being what is left of them."""
    for _ in range(100):
        most = max(int(counts.sum()) // gamma, 1)
        if counts.max(initial=0) <= most:
            break
        counts = np.minimum(counts, most)
    return counts


def _meetings(counts: NDArray[np.int64], gamma: int, groups_per_block: int, random: np.random.Generator) -> Array:
    """Deal one table into groups; return the sum over groups of 1/|g| for every pair of values in it, V x V."""
    rows, values = int(counts.sum()), len(counts)
    order = np.argsort(-counts, kind="stable")
    code = np.repeat(order, counts[order])
    groups = max(rows // gamma, 1)
    blocks = max(1, groups // groups_per_block)
    block = (np.arange(rows) % groups) % blocks
    # a value's rows in one block are numbered together, the values of a block in a random order
    runs, run_of = np.unique(block * values + code, return_inverse=True)
    length = np.bincount(run_of)
    shuffled = np.lexsort((random.random(len(runs)), runs // values))
    run_block = np.repeat(runs[shuffled] // values, length[shuffled])
    first = np.searchsorted(run_block, np.arange(blocks))
    own_groups = (groups + blocks - 1 - np.arange(blocks)) // blocks
    number = np.arange(rows) - first[run_block]
    group = (number % own_groups[run_block]) * blocks + run_block
    value = np.repeat(runs[shuffled] % values, length[shuffled])
    from scipy import sparse  # slow to load

    rows_by_group = sparse.csr_array((np.ones(rows), (group, value)), shape=(groups, values))
    size = np.maximum(rows_by_group @ np.ones(values), 1)
    return np.asarray((rows_by_group.T @ (sparse.diags_array(1 / size) @ rows_by_group)).toarray())


TOLERANCE = 1e-7


@dataclass(frozen=True)
class Matrix:
    """The `Channel` of any T (V x V, rows summing to 1), with its inverse; where values are alike, a pseudo-inverse."""

    transition: Array
    inverse: Array

    @classmethod
    def of(cls, transition: Array) -> "Matrix":
        """Return the channel of `transition` T, V x V, which is inverted once."""
        try:
            inverse = np.linalg.inv(transition)
        except np.linalg.LinAlgError:
            inverse = np.full_like(transition, np.inf)
        if not np.linalg.norm(transition) * np.linalg.norm(inverse) * TOLERANCE < 1:
            inverse = np.linalg.pinv(transition, rcond=TOLERANCE)
        return cls(transition, np.asarray(inverse, dtype=float))

    def expected(self, function: Array) -> Array:
        """Return T z."""
        return np.asarray(function @ self.transition.T)

    def sent(self, true: Array) -> Array:
        """Return Tᵀ x: what true figures x are published as in the mean."""
        return np.asarray(true @ self.transition)

    def solved(self, published: Array) -> Array:
        """Return T⁻ᵀ y."""
        return np.asarray(published @ self.inverse)

    def pulled(self, weights: Array) -> Array:
        """Return T⁻¹ w."""
        return np.asarray(weights @ self.inverse.T)
