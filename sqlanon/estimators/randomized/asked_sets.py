"""Answers about sets of randomized values: the set that is asked for is a column of 0 and 1.

For the sum X of weights w over the n rows of a condition, two answers are known: the unbiased one, with its error, and
m, which takes values for unrelated, all of them together (`pooling`). X may stand out as a whole (`standing_out`): were
values unrelated, its distance from what is expected of everybody would have the variance se² + K, K = n² t Var w, and
S = n² (E |w - E w|)².

An average is e + R x / (x² + Var x), x the count and R what its numbers less e sum to, both found in this way: where
the count is known that is R / x more than e, where it is not R is mostly noise. A sum is the average times the count,
so that counts, sums and averages of one question agree. e: of numbers of the rows, their mean over the condition; of
values, theirs over the asked values in the whole release.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.evidence import Array
from sqlanon.estimators.randomized.standing_out import NOT_APART, gained


@dataclass(frozen=True)
class Linear:
    """Hold of a sum, C x J: the unbiased answer and its error; m, what is expected of everybody, K, and S."""

    unbiased: Array
    std_error: Array
    pooled: Array
    expected: Array
    prior: Array
    size: Array

    def drawn(self) -> tuple[Array, Array]:
        """Return the answer, C x J, and its variance: as much of that of the unbiased one as is kept of it."""
        noise = self.std_error**2
        gain = gained(self.unbiased - self.expected, noise + self.prior, self.size, NOT_APART)
        kept = np.divide(self.prior + gain * noise, self.prior + noise, out=np.ones_like(noise), where=noise > 0)
        return self.pooled + gain * (self.unbiased - self.pooled), kept * noise
