"""How much of a reconstructed count is noise, by γ and the share of a column's most frequent value.

Of n rows of a condition the x = p n rows of a value s, p its share of the table, publish it with probability 1/γ, the
others with q = p (γ-1) / (γ (1-p)). The closed form x̂ = (y - q n)/D, D = 1/γ - q, has

    Var x̂ = (x (1/γ)(1 - 1/γ) + (n - x) q (1 - q)) / D²,    E |x̂ - x| / x = √(2/π) √(Var x̂) / x,

about a normal distribution. At p = 1/γ, the largest γ, D is 0: every row publishes s alike.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sqlanon.estimators.channels import ClosedForm

NORMAL_QUANTILE = 1.959963984540054  # 97.5 % of the normal distribution
SHARE = 0.01
MOSTLY_NOISE = 0.5  # of a count: the expected relative error from which on a publisher should know
NOTHING = 10.0  # from which on a figure says no more than that


def expected_error(gamma: float, rows: int, largest: int, share: float = SHARE) -> float:
    """Return E |x̂ - x| / x of a count x of `share` of the rows, all with the column's most frequent value.

    rows: N. largest: the count of the most frequent value, at most N/γ; x is at most that. The condition counted holds
    for n = x N / largest rows, as one that does not depend on the value does. inf where D is 0.
    """
    if largest * gamma >= rows:
        return math.inf
    count = min(share * rows, float(largest))
    others = count * rows / largest - count
    channel = ClosedForm(np.array([float(largest)]), float(rows), gamma)
    q, difference = float(channel.others[0]), float(channel.difference[0])
    variance = count / gamma * (1 - 1 / gamma) + others * q * (1 - q)
    return math.sqrt(2 / math.pi * variance) / (difference * count)


def pair_half_width(rows: int, columns: Sequence[tuple[int, int]]) -> float:
    """Return the 95 % half width of a count of the most frequent values of some columns together, over that count.

    rows: N. columns: the largest count and γ of each; the columns are taken as independent. Every row's own estimate is
    a product of (y - q)/D over the columns, and of such products variances multiply. inf where a D is 0.
    """
    squares, share = 1.0, 1.0
    for largest, gamma in columns:
        p = largest / rows
        if largest * gamma >= rows:
            return math.inf
        q = p * (gamma - 1) / (gamma * (1 - p))
        noise = p / gamma * (1 - 1 / gamma) + (1 - p) * q * (1 - q)
        squares, share = squares * (p + noise / (1 / gamma - q) ** 2), share * p
    return NORMAL_QUANTILE * math.sqrt((squares - share) / rows) / share


def note_pairs(rows: int, columns: Mapping[str, tuple[int, int]]) -> str:
    """Say from which γ on answers on several columns together tell nothing beyond each column's own.

    columns: the largest count and γ of each, by name.
    """
    largest = [count for count, _ in columns.values()]
    most = rows // max(largest)
    least = next((g for g in range(2, most + 1) if pair_half_width(rows, [(n, g) for n in largest]) >= 1), most + 1)
    width = pair_half_width(rows, [*columns.values()])
    names = " and ".join(map(repr, columns))
    wide = f"{width:.2g} times the count" if math.isfinite(width) else "without bound"
    return (
        f"answers on {names} together tell nothing from gamma = {least} on: the intervals even of their most frequent"
        f" values are wider than the counts; here their half width is {wide}"
    )


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
