"""Mondrian as its paper writes it, slowly: a recursion over lists of rows, for tiny tables only.

LeFevre, DeWitt and Ramakrishnan, ICDE 2006, figure 3: choose the dimension of the largest normalized width that allows
a cut at the median, into rows up to it and rows beyond it (strict), or any halves of the sorted rows (relaxed).
"""

from collections.abc import Callable, Sequence
from typing import Any

Row = Sequence[Any]


def partitions(rows: Sequence[Row], quasi: int, allowed: Callable[[Sequence[Row]], bool], relaxed: bool = False):
    """Return the partitions of `rows`, whose first `quasi` values are numbers; allowed: whether a part may stand."""
    whole = [_width(rows, place) or 1 for place in range(quasi)]

    def cut(part: Sequence[Row]) -> list[Sequence[Row]]:
        for place in sorted(range(quasi), key=lambda one: (-_width(part, one) / whole[one], one)):
            ordered = sorted(part, key=lambda row: row[place])
            middle = ordered[(len(part) - 1) // 2][place]
            left = ordered[: len(part) // 2] if relaxed else [row for row in ordered if row[place] <= middle]
            right = ordered[len(left) :]
            if _width(part, place) and allowed(left) and allowed(right):
                return cut(left) + cut(right)
        return [part]

    return cut(list(rows))


def penalty(parts: Sequence[Sequence[Row]], quasi: int) -> float:
    """Return the normalized certainty penalty: the mean over rows and attributes of a box's width over the whole's."""
    rows = [row for part in parts for row in part]
    total = 0.0
    for place in range(quasi):
        whole = _width(rows, place)
        total += sum(len(part) * _width(part, place) / whole for part in parts) if whole else 0
    return total / len(rows) / quasi


def _width(part: Sequence[Row], place: int) -> float:
    values = [row[place] for row in part]
    return max(values) - min(values)
