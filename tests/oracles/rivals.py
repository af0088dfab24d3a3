"""Textbook mechanisms that SPLU-Gen is compared with.

Yardsticks for comparisons of accuracy, not a hardened differential-privacy library: their draws come from a
seeded generator, and floating-point noise of this kind is known to leak.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import UsageError

PAPER_EPSILONS = (float(np.log(3)), float(np.log(2)), 0.1, 0.01)


def distribution_based(values: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Return for every row a value drawn from the whole column's distribution, whatever its own (DBR).

    values: the sensitive column, length N. A count is estimated by the published count as it is.
    """
    return random.choice(values, len(values), replace=True)


def laplace(
    answers: NDArray[np.float64], epsilon: float, random: np.random.Generator, sensitivity: float = 1.0
) -> NDArray[np.float64]:
    """Return true answers plus independent Laplace noise of scale sensitivity/ε, one draw per answer.

    answers: counts or sums, any shape; a count changes by at most sensitivity = 1 with one row.
    Raises UsageError where ε is not positive.
    """
    if not epsilon > 0:
        raise UsageError(f"epsilon = {epsilon} gives no noise of finite scale; give a positive number")
    return answers + random.laplace(0.0, sensitivity / epsilon, np.shape(answers))
