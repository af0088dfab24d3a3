"""How many groups a class can give, by trying: the slow and obvious way."""

from collections.abc import Iterable


def fits(counts: Iterable[int], size: int, groups: int) -> bool:
    """Tell whether `groups` groups of at least `size` rows with different values can be made: fill the emptiest."""
    filled = [0] * groups
    for count in sorted(counts, reverse=True):
        for place in sorted(range(groups), key=filled.__getitem__)[: min(count, groups)]:
            filled[place] += 1
    return min(filled, default=size) >= size


def most_groups(counts: Iterable[int], size: int) -> int:
    """Return the largest number of groups of at least `size` rows, each with different values."""
    counted = list(counts)
    return max(groups for groups in range(sum(counted) // size + 1) if fits(counted, size, groups))
