"""What SPLU-Gen's randomization promises of published counts, in exact binomial arithmetic.

A value of true count f stands in f decoy groups of γ rows, each of which publishes it with probability 1/γ:
its published count f' is Binomial(γ f, 1/γ), of mean f and variance f (1 - 1/γ). From γ, N and the
publisher's thresholds alone follow all figures here; nothing is computed from the data.

Small sums are the paper's Lemma 2. Its Theorem 3 and Lemma 1 (large sums) bound the error by 1/(γ ε² f²), which
does not hold (γ = 10, f = 100, ε = 0.09: 0.0012 against 0.37); the exact tail stands here in its place.
"""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from sqlanon.errors import UsageError
from sqlanon.wording import option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EPSILON, ALPHA, TARGET_ERROR = 0.3, 3, 0.1
SEARCHED_AT_ONCE = 4096
NEGLIGIBLE = 1e-12  # a probability that no threshold tells from 0
PAPER_BOUND = "1/(gamma epsilon^2 count^2), Theorem 3 of the paper: it does not hold, the exact figure is `off`"


def off(count: int, gamma: int, epsilon: float, at_least: bool = False, larger: int = 0) -> float:
    """Return Pr(|f' - f| > ε f) for f = count; with `at_least`, Pr(|f' - f| >= ε f).

    larger: how many of the value's f groups hold γ + 1 rows instead of γ.
    """
    import numpy as np

    if not larger:
        return float(_outside([count], gamma, epsilon, at_least)[0])
    low, high = _close(count, epsilon, at_least)
    smaller = _probabilities((count - larger) * gamma, gamma, high)
    found = np.convolve(smaller, _probabilities(larger * (gamma + 1), gamma + 1, high))
    return float(np.clip(1 - found[low : high + 1].sum(), 0, 1))


def small_sums(alpha: int, gamma: int, epsilon: float, larger: int = 0) -> float:
    """Return T_P(ε, α, γ), Lemma 2: the least Pr(|f' - f| > ε f) over the counts f = 1 … α.

    larger: how many groups of the release hold γ + 1 rows; the least is over how many of them hold the value.
    """
    _check(gamma, epsilon)
    if alpha < 1:
        raise UsageError(f"{option('alpha', alpha)} names no count; give a whole number of at least 1")
    cases = ((count, some) for count in range(1, alpha + 1) for some in range(min(count, larger) + 1))
    return min(off(count, gamma, epsilon, larger=some) for count, some in cases)


def large_sums(gamma: int, epsilon: float, target_error: float) -> int:
    """Return T_f(ε, T_E, γ): the least count from which on Pr(|f' - f| >= ε f) stays <= T_E.

    Chebyshev settles all counts from (1 - 1/γ)/(ε² T_E) on; the search goes downwards from there.
    """
    import numpy as np

    _check(gamma, epsilon)
    if not 0 < target_error < 1:
        raise UsageError(f"{option('target_error', target_error)} is no probability between 0 and 1")
    exact = Decimal(str(epsilon)) ** 2 * Decimal(str(target_error)) * gamma
    last = math.ceil((gamma - 1) / exact)
    while last > 0:
        counts = np.arange(max(1, last - SEARCHED_AT_ONCE + 1), last + 1)
        above = np.flatnonzero(_outside(counts.tolist(), gamma, epsilon, True) > target_error)
        if above.size:
            return int(counts[above[-1]]) + 1
        last = int(counts[0]) - 1
    return 1


def error_at(share: float, gamma: int, rows: int, epsilon: float) -> float:
    """Return the largest Pr(|f' - f| >= ε f) over the counts f from `share` of the rows on, up to the possible N/γ.

    Chernoff's bound 2 exp(-ε² f / 3) of a binomial of mean f ends the search; 0 where no value can be that frequent.
    """
    import numpy as np

    _check(gamma, epsilon)
    count, largest, worst = max(1, math.ceil(Decimal(str(share)) * rows)), rows // gamma, 0.0
    while count <= largest and 2 * math.exp(-(epsilon**2) * count / 3) > max(worst, NEGLIGIBLE):
        last = min(largest, count + SEARCHED_AT_ONCE - 1)
        worst = max(worst, float(_outside(np.arange(count, last + 1).tolist(), gamma, epsilon, True).max()))
        count = last + 1
    return worst


def paper_bound(count: int, gamma: int, epsilon: float) -> float:
    """Return the bound of the paper's Theorem 3, for comparison only: it does not hold."""
    return 1 / (gamma * epsilon**2 * count**2)


def grid(largest: int) -> Iterator[int]:
    """Yield the fixed counts 1, 2, 3, 5, 10, 20, 50 … up to `largest`."""
    steps = (step * 10**power for power in range(len(str(largest))) for step in (1, 2, 3, 5))
    yield from (count for count in steps if count <= largest and (count < 10 or count not in _threes(largest)))


def _threes(largest: int) -> set[int]:
    return {3 * 10**power for power in range(1, len(str(largest)))}


def guarantee(
    gamma: int,
    rows: int,
    epsilon: float = EPSILON,
    alpha: int = ALPHA,
    target_error: float = TARGET_ERROR,
    residue: str = "drop",
) -> dict[str, Any]:
    """Return what a release promises of one sensitive column, as numbers for its manifest.

    rows: N of the release. residue: `keep` leaves N mod γ groups of γ + 1 rows, which T_P takes into account.
    A pure function of its arguments: no figure of it depends on a sensitive value.
    """
    larger = rows % gamma if residue == "keep" else 0
    useful, largest = large_sums(gamma, epsilon, target_error), rows // gamma
    return {
        "gamma": gamma,
        "retention": 1 / gamma,
        "epsilon": epsilon,
        "small_sums": {"alpha": alpha, "off_at_least": small_sums(alpha, gamma, epsilon, larger)},
        "large_sums": {"target_error": target_error, "count": useful, "possible": useful <= largest},
        "counts": [
            {"count": count, "off": off(count, gamma, epsilon), "paper_bound": paper_bound(count, gamma, epsilon)}
            for count in grid(largest)
        ],
        "paper_bound": {"holds": False, "note": PAPER_BOUND},
    }


def table(column: str, promised: dict[str, Any]) -> tuple[str, list[str], list[list[str]], list[str]]:
    """Return a guarantee in words: a title, the heads of a table, its rows, and closing lines."""
    gamma, epsilon = promised["gamma"], promised["epsilon"]
    small, large = promised["small_sums"], promised["large_sums"]
    rows = [[f"{line['count']:,}", f"{line['off']:.4f}", f"{line['paper_bound']:.2g}"] for line in promised["counts"]]
    lines = [
        f"counts up to {small['alpha']} are off by more than {epsilon:.0%} with probability"
        f" at least {small['off_at_least']:.4f}",
        f"counts from {large['count']:,} on are off by {epsilon:.0%} or more with probability"
        f" at most {large['target_error']:g}"
        + ("" if large["possible"] else "; no value of this release can be that frequent"),
        "paper_bound is Theorem 3 of the paper, shown for comparison: it does not hold",
    ]
    heads = ["count", f"off by more than {epsilon:.0%}", "paper_bound (not valid)"]
    return f"{column}, gamma = {gamma}", heads, rows, lines


def _check(gamma: int, epsilon: float) -> None:
    if gamma < 2:
        raise UsageError(f"gamma = {gamma} randomizes nothing; gamma is a whole number of at least 2")
    if not 0 < epsilon < 1:
        raise UsageError(f"{option('epsilon', epsilon)} is no relative error between 0 and 1")


def _close(count: int, epsilon: float, at_least: bool) -> tuple[int, int]:
    """Return the least and the largest f' that are not off; ε is a decimal fraction, so that ends are exact."""
    share = Decimal(str(epsilon))
    low, high = (1 - share) * count, (1 + share) * count
    if at_least:
        return math.floor(low) + 1, math.ceil(high) - 1
    return math.ceil(low), math.floor(high)


def _outside(counts: Sequence[int], gamma: int, epsilon: float, at_least: bool) -> "NDArray[np.float64]":
    """Return the probability of both tails for each count."""
    import numpy as np
    from scipy.special import bdtr, bdtrc

    ends = np.array([_close(count, epsilon, at_least) for count in counts]).reshape(-1, 2)
    trials = np.asarray(counts) * gamma
    below = np.where(ends[:, 0] > 0, bdtr(np.maximum(ends[:, 0] - 1, 0), trials, 1 / gamma), 0.0)
    return cast("NDArray[np.float64]", below + bdtrc(ends[:, 1], trials, 1 / gamma))


def _probabilities(trials: int, gamma: int, most: int) -> "NDArray[np.float64]":
    """Return Pr(x) of Binomial(trials, 1/γ) for x = 0 … most."""
    import numpy as np
    from scipy.special import gammaln

    x = np.arange(most + 1, dtype=float)
    ways = gammaln(trials + 1) - gammaln(x + 1) - gammaln(np.maximum(trials - x, 0) + 1)
    found = np.exp(ways - x * math.log(gamma) + (trials - x) * math.log1p(-1 / gamma))
    return np.where(x <= trials, found, 0.0)
