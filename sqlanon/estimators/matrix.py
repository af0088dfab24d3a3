"""Matrix: SPLU-Gen undone with the company that values keep under the public grouping procedure.

T_ws = P(a row of w publishes s) follows from how often w and s meet in a group; Tᵀ x = y is solved for all values
at once. The closed form is this with every T_ws, w ≠ s, replaced by one q_s, which is off by up to a tenth where
a value stands in nearly every group.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.channel import Array
from sqlanon.estimators.evidence import Estimate, Evidence, answer_unbiased

TOLERANCE = 1e-7


@dataclass(frozen=True)
class Matrix:
    """Hold T (V x V, its rows summing to 1) and its inverse; a pseudo-inverse where values cannot be told apart."""

    transition: Array
    inverse: Array

    @classmethod
    def of(cls, transition: Array) -> "Matrix":
        """Invert T once."""
        return cls(transition, np.asarray(np.linalg.pinv(transition, rcond=TOLERANCE), dtype=float))

    def expected(self, function: Array) -> Array:
        """Return T z."""
        return np.asarray(function @ self.transition.T)

    def solved(self, published: Array) -> Array:
        """Return T⁻ᵀ y."""
        return np.asarray(published @ self.inverse)

    def pulled(self, weights: Array) -> Array:
        """Return T⁻¹ w."""
        return np.asarray(weights @ self.inverse.T)


def estimate(evidence: Evidence) -> Estimate:
    """Answer with the solution, cut to its bounds, and its 95 % interval."""
    return answer_unbiased(evidence)
