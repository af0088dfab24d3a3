"""What SPLU-Gen's randomization promises of published counts, in exact binomial arithmetic.

A value of true count f stands in f decoy groups of γ rows, each of which publishes it with probability 1/γ:
its published count f' is Binomial(γ f, 1/γ), of mean f and variance f (1 - 1/γ). From γ, N and the
publisher's thresholds alone follow all figures here; nothing is computed from the data.

Small sums are the paper's Lemma 2. Its Theorem 3 and Lemma 1 (large sums) bound the error by 1/(γ ε² f²), which
does not hold (γ = 10, f = 100, ε = 0.09: 0.0012 against 0.37); the exact tail stands here in its place.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from sqlanon.errors import UsageError
from sqlanon.wording import option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


EPSILON, ALPHA, TARGET_ERROR = 0.3, 3, 0.1
MOST_SMALL = 500  # beyond it no count is a small one
PAPER_BOUND = "1/(gamma epsilon^2 count^2), Theorem 3 of the paper: it does not hold, the exact figure is `off`"


def off(count: int, gamma: int, epsilon: float, at_least: bool = False, larger: int = 0, listed: bool = False) -> float:
    """Return Pr(|f' - f| > ε f) for f = count; with `at_least`, Pr(|f' - f| >= ε f).

    larger: how many of the value's f groups hold γ + 1 rows instead of γ. listed: whether it is told that the value is
    there, so that 1 is taken for f' = 0.
    """
    import numpy as np

    if not larger:
        return float(_outside([count], gamma, epsilon, at_least, listed)[0])
    low, high = _close(count, epsilon, at_least, listed)
    smaller = probabilities((count - larger) * gamma, gamma, high)
    chances = np.convolve(smaller, probabilities(larger * (gamma + 1), gamma + 1, high))
    return float(np.clip(1 - chances[low : high + 1].sum(), 0, 1))


def small_sums(alpha: int, gamma: int, epsilon: float, larger: int = 0, listed: bool = False) -> float:
    """Return T_P(ε, α, γ), Lemma 2: the least Pr(|f' - f| > ε f) over the counts f = 1 … α.

    larger: how many groups of the release hold γ + 1 rows; the least is over how many of them hold the value. listed:
    as `off` takes it.
    """
    _check(gamma, epsilon)
    if not 1 <= alpha <= MOST_SMALL:
        raise UsageError(f"{option('alpha', alpha)} names no small count; give a whole number from 1 to {MOST_SMALL:,}")
    alone = float(_outside(range(1, alpha + 1), gamma, epsilon, False, listed).min())
    return min(alone, _mixed(alpha, gamma, epsilon, min(alpha, larger), listed)) if larger else alone


def _mixed(alpha: int, gamma: int, epsilon: float, larger: int, listed: bool) -> float:
    """Return the least Pr(|f' - f| > ε f) over the counts up to α of which 1 … `larger` groups hold γ + 1 rows."""
    import numpy as np

    most = _near(alpha, epsilon, False)[1]
    usual = [probabilities(count * gamma, gamma, most) for count in range(alpha)]
    summed = [
        np.concatenate([[0.0], np.cumsum(probabilities(some * (gamma + 1), gamma + 1, most))])
        for some in range(larger + 1)
    ]
    least = 1.0
    for count in range(1, alpha + 1):
        low, high = _close(count, epsilon, False, listed)
        x = np.arange(high + 1)
        upper, lower = high - x + 1, np.maximum(low - x, 0)
        for some in range(1, min(count, larger) + 1):
            near = float(usual[count - some][: high + 1] @ (summed[some][upper] - summed[some][lower]))
            least = min(least, max(0.0, 1 - near))
    return least


def large_sums(gamma: int, epsilon: float, target_error: float) -> int:
    """Return T_f(ε, T_E, γ): the least count from which on Pr(|f' - f| >= ε f) stays <= T_E."""
    _check(gamma, epsilon)
    if not LEAST_TARGET_ERROR <= target_error < 1:
        raise UsageError(
            f"{option('target_error', target_error)} is no probability from {LEAST_TARGET_ERROR:g} to below 1;"
            " say for example 0.05"
        )
    return least_near_count(gamma, epsilon, target_error)


def paper_bound(count: int, gamma: int, epsilon: float) -> float:
    """Return the bound of the paper's Theorem 3, for comparison only: it does not hold."""
    return 1 / (gamma * epsilon**2 * count**2)


def grid(largest: int) -> list[int]:
    """Return the fixed counts 1, 2, 3, 5, 10, 20, 50 … up to `largest`."""
    counts = {3, *(step * 10**power for power in range(len(str(largest))) for step in (1, 2, 5))}
    return sorted(count for count in counts if count <= largest)


def guarantee(
    gamma: int,
    rows: int,
    epsilon: float = EPSILON,
    alpha: int = ALPHA,
    target_error: float = TARGET_ERROR,
    residue: str = "drop",
    listed: bool = False,
) -> dict[str, Any]:
    """Return what a release promises of one sensitive column, as numbers for its manifest.

    rows: N of the release. residue: `keep` leaves N mod γ groups of γ + 1 rows, which T_P takes into account.
    listed: whether the values are published as a list; of a value that nobody publishes it tells that it is there.
    A pure function of its arguments: no figure of it depends on a sensitive value.
    """
    larger = rows % gamma if residue == "keep" else 0
    useful, largest = large_sums(gamma, epsilon, target_error), rows // gamma
    return {
        "gamma": gamma,
        "retention": 1 / gamma,
        "epsilon": epsilon,
        "small_sums": {"alpha": alpha, "off_at_least": small_sums(alpha, gamma, epsilon, larger, listed)},
        "large_sums": {"target_error": target_error, "count": useful, "possible": useful <= largest},
        "counts": [
            {
                "count": count,
                "off": off(count, gamma, epsilon, listed=listed),
                "paper_bound": paper_bound(count, gamma, epsilon),
            }
            for count in grid(largest)
        ],
        "paper_bound": {"holds": False, "note": PAPER_BOUND},
    }


def table(column: str, promised: dict[str, Any]) -> tuple[str, list[str], list[list[str]], list[str]]:
    """Return a guarantee in words: a title, the heads of a table, its rows, and closing lines."""
    gamma, epsilon = promised["gamma"], promised["epsilon"]
    small, large = promised["small_sums"], promised["large_sums"]
    rows = [[f"{line['count']:,}", f"{line['off']:.4f}"] for line in promised["counts"]]
    lines = [
        f"counts up to {small['alpha']} are off by more than {epsilon:.0%} with probability"
        f" at least {small['off_at_least']:.4f}",
        f"counts from {large['count']:,} on are off by {epsilon:.0%} or more with probability"
        f" at most {large['target_error']:g}"
        + ("" if large["possible"] else "; no value of this release can be that frequent"),
    ]
    heads = ["count", f"off by more than {epsilon:.0%}"]
    return f"{column}, gamma = {gamma}", heads, rows, lines


def _check(gamma: int, epsilon: float) -> None:
    if gamma < 2:
        raise UsageError(f"gamma = {gamma} randomizes nothing; gamma is a whole number of at least 2")
    if not LEAST_EPSILON <= epsilon < 1:
        raise UsageError(
            f"{option('epsilon', epsilon)} is no relative error from {LEAST_EPSILON:g} to below 1; say for example 0.1"
        )


def _close(count: int, epsilon: float, at_least: bool, listed: bool) -> tuple[int, int]:
    """Return the least and the largest f' that are not off; ε is a decimal fraction, so that ends are exact."""
    least, most = _near(count, epsilon, at_least)
    return (0 if listed and least <= 1 else least), most


def _near(count: int, epsilon: float, at_least: bool) -> tuple[int, int]:
    share = Decimal(str(epsilon))
    low, high = (1 - share) * count, (1 + share) * count
    if at_least:
        return math.floor(low) + 1, math.ceil(high) - 1
    return math.ceil(low), math.floor(high)


def _outside(counts: Sequence[int], gamma: int, epsilon: float, at_least: bool, listed: bool) -> "NDArray[np.float64]":
    """Return the probability of both tails for each count."""
    import numpy as np
    from scipy.special import betainc, betaincc

    ends = np.array([_close(count, epsilon, at_least, listed) for count in counts], dtype=float).reshape(-1, 2)
    trials, p = np.asarray(counts, dtype=float) * gamma, 1 / gamma
    # Pr(f' < low) = 1 - I_p(low, n - low + 1) and Pr(f' > high) = I_p(high + 1, n - high)
    low, high = np.maximum(ends[:, 0], 1), np.minimum(ends[:, 1], trials - 1)
    below = np.where(ends[:, 0] > 0, betaincc(low, trials - low + 1, p), 0.0)
    above = np.where(ends[:, 1] < trials, betainc(high + 1, trials - high, p), 0.0)
    return cast("NDArray[np.float64]", below + above)


def probabilities(trials: int, gamma: int, most: int) -> "NDArray[np.float64]":
    """Return Pr(x) of Binomial(trials, 1/γ) for x = 0 … most."""
    import numpy as np
    from scipy.special import gammaln

    x = np.arange(most + 1, dtype=float)
    ways = gammaln(trials + 1) - gammaln(x + 1) - gammaln(np.maximum(trials - x, 0) + 1)
    chances = np.exp(ways - x * math.log(gamma) + (trials - x) * math.log1p(-1 / gamma))
    return np.where(x <= trials, chances, 0.0)


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
