"""What SPLU-Gen promises of counts after people have left, when the decoy groups of a value need not be whole.

Of the rows present, some number n is in groups that hold a value, and each of them publishes it with probability 1/γ:
its published count is Binomial(n, 1/γ). Without departures n = γ f for a true count f; with them n may be any number.
"""

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def small_sums(alpha: int, gamma: int, epsilon: float) -> float:
    """Return the least Pr(|f' - f| > ε f) over the counts f = 1 … α, whoever has left: for the worst n."""
    from scipy.special import betainc

    share = Decimal(str(epsilon))  # ε is a decimal fraction, so that ends are exact
    ends = [(math.ceil((1 - share) * f), math.floor((1 + share) * f)) for f in range(1, alpha + 1)]
    low, high = np.array(ends, dtype=float).T
    trials = _likeliest_trials(low, high, gamma)
    # Pr(f' >= low) = I_p(low, n - low + 1) for n >= low >= 1
    near = betainc(low, trials - low + 1, 1 / gamma)
    above = np.where(trials > high, betainc(high + 1, np.maximum(trials - high, 1), 1 / gamma), 0.0)
    return float(np.clip(1 - (near - above), 0, 1).min())


def _likeliest_trials(low: Array, high: Array, gamma: int) -> Array:
    """Return the n under which f' lies in low … high most likely.

    One trial more changes this probability by p (Pr(low - 1) - Pr(high)), so that it grows while Pr(high) is the less,
    and Pr(high) / Pr(low - 1) = C(n, high) / C(n, low - 1) · (γ - 1)^(low - 1 - high) grows with n.
    """
    from scipy.special import gammaln

    odds = (high - low + 1) * math.log(gamma - 1)
    least, most = high.copy(), 2 * gamma * (high + 1)
    while (most - least > 1).any():
        middle = np.floor((least + most) / 2)
        ways = gammaln(low) + gammaln(middle - low + 2) - gammaln(high + 1) - gammaln(middle - high + 1)
        falls = ways >= odds
        least, most = np.where(falls, least, middle), np.where(falls, middle, most)
    return most
