"""The smallest count from which published counts are accurate: exact tails, computed once for each distance.

A published count f' is off if |f' - f| >= ε f, that is by at least d = ⌈ε f⌉. Of all counts f with the same d the
largest, ⌊d/ε⌋, has the largest tail, for its published count has the largest variance. So it suffices to search over d,
in 1/ε times fewer steps than over f.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_EPSILON, LEAST_TARGET_ERROR = 1e-4, 1e-9  # a search takes a second at both
SEARCHED_AT_ONCE = 4096


def least_near_count(gamma: int, epsilon: float, target_error: float) -> int:
    """Return the least count from which on Pr(|f' - f| >= ε f) stays <= T_E.

    Chebyshev settles all counts from (1 - 1/γ)/(ε² T_E) on, Chernoff those from 3 ln(2/T_E)/ε² on: the search goes
    downwards from the lesser.
    """
    import numpy as np

    chebyshev = (gamma - 1) / (gamma * epsilon**2 * target_error)
    enough = min(chebyshev, 3 * math.log(2 / target_error) / epsilon**2)
    last = math.ceil(epsilon * enough) + 1
    while last > 0:
        first = max(1, last - SEARCHED_AT_ONCE + 1)
        counts, tails = _tails(first, last, gamma, epsilon)
        above = np.flatnonzero(tails > target_error)
        if above.size:
            return int(counts[above[-1]]) + 1
        last = first - 1
    return 1


def _tails(first: int, last: int, gamma: int, epsilon: float) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Return for each distance the largest count that it is of, and Pr(|f' - f| >= distance)."""
    import numpy as np
    from scipy.special import betainc, betaincc

    share = Fraction(str(epsilon))  # ε is a decimal fraction, so that ends are exact
    ends = [distance * share.denominator // share.numerator for distance in range(first, last + 1)]
    counts = np.array(ends, dtype=float)
    distances, trials = np.arange(first, last + 1, dtype=float), counts * gamma
    low, high = counts - distances, counts + distances
    # Pr(f' <= low) = 1 - I_p(low + 1, n - low) and Pr(f' >= high) = I_p(high, n - high + 1) for p = 1/γ
    below = np.where(low < 0, 0.0, betaincc(np.maximum(low, 0) + 1, trials - np.maximum(low, 0), 1 / gamma))
    above = np.where(high > trials, 0.0, betainc(high, np.maximum(trials - high, 0) + 1, 1 / gamma))
    return counts, cast("NDArray[np.float64]", below + above)
