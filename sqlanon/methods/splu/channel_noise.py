"""How much of a reconstructed count is noise, by γ and the share of a column's most frequent value.

Of n rows of a condition the x = p n rows of a value s, p its share of the table, publish it with probability 1/γ, the
others with q = p (γ-1) / (γ (1-p)). The closed form x̂ = (y - q n)/D, D = 1/γ - q, has

    Var x̂ = (x (1/γ)(1 - 1/γ) + (n - x) q (1 - q)) / D²,    E |x̂ - x| / x = √(2/π) √(Var x̂) / x,

about a normal distribution. At p = 1/γ, the largest γ, D is 0: every row publishes s alike.
"""

import math

import numpy as np

from sqlanon.estimators.closed_form import ClosedForm

SHARE = 0.01
MOSTLY_NOISE = 0.5  # of a count: the expected relative error from which on a publisher should know
NOTHING = 10.0  # from which on a figure says no more than that


def expected_error(gamma: float, rows: int, largest: int, share: float = SHARE) -> float:
    """Return E |x̂ - x| / x of a count x of `share` of the rows, all with the column's most frequent value.

    rows: N. largest: the count of the most frequent value, at most N/γ; x is at most that. The condition counted holds
    for n = x N / largest rows, as one that does not depend on the value does. inf where D is 0.
    """
    count = min(share * rows, float(largest))
    others = count * rows / largest - count
    channel = ClosedForm(np.array([float(largest)]), float(rows), gamma)
    if largest * gamma >= rows:
        return math.inf
    q, difference = float(channel.others[0]), float(channel.difference[0])
    variance = count / gamma * (1 - 1 / gamma) + others * q * (1 - q)
    return math.sqrt(2 / math.pi * variance) / (difference * count)


def warning(column: str, gamma: int, rows: int, largest: int) -> str | None:
    """Return what a publisher should know of a γ so near the column's largest that counts are mostly noise, or None."""
    error = expected_error(gamma, rows, largest)
    if error < MOSTLY_NOISE:
        return None
    off = "tell next to nothing" if error > NOTHING else f"alone are off by {error:.0%} on average"
    return (
        f"gamma = {gamma} is near the largest of {column!r} ({rows // largest}): for a count of {SHARE:.0%} of the rows"
        f" with its most frequent value, the published values {off} (closed form, normal approximation), so that"
        " estimates fall back on what the margins say; a smaller gamma tells more"
    )
