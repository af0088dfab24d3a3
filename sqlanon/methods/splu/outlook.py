"""What several γ would promise of a column, before anything is published: from N and the largest count alone."""

import math
from typing import Any

from sqlanon.methods.splu import binomial
from sqlanon.methods.splu.channel_noise import SHARE, expected_error

GAMMAS = (2, 3, 4, 5, 6, 8, 10)


def promises(
    column: str, rows: int, largest: int, asked: int | None, epsilon: float, alpha: int, target_error: float
) -> list[dict[str, Any]]:
    """Return a line for each γ: what it promises of small and large counts, and what it leaves of estimates.

    largest: the count of the most frequent value, which no γ above N / largest can hide. asked: a γ to show beside the
    usual ones. off_at_least: Lemma 2 for counts up to alpha. useful_from: the least count that is off by epsilon or
    more with a probability of at most target_error. expected_error: of a reconstructed count of 1 % of the rows.
    """
    gammas = sorted({*GAMMAS, *([asked] if asked is not None else [])})
    return [_line(column, gamma, rows, largest, epsilon, alpha, target_error) for gamma in gammas]


def _line(
    column: str, gamma: int, rows: int, largest: int, epsilon: float, alpha: int, target_error: float
) -> dict[str, Any]:
    useful = binomial.large_sums(gamma, epsilon, target_error)
    error = expected_error(gamma, rows, largest) if gamma * largest <= rows else math.inf
    return {
        "column": column,
        "gamma": gamma,
        "possible": "yes" if gamma * largest <= rows else "no",
        "keeps_value": round(1 / gamma, 4),
        "off_at_least": round(binomial.small_sums(alpha, gamma, epsilon), 4),
        "useful_from": useful,
        "useful_share": round(useful / rows, 4),
        f"error_at_{SHARE:.0%}": round(binomial.error_at(SHARE, gamma, rows, epsilon), 4),
        f"expected_error_{SHARE:.0%}": round(error, 4) if math.isfinite(error) else None,
    }
