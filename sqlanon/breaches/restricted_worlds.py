"""Weigh the worlds of one component in which an id has one property only: numbers too large for floats, in fixed point.

Where every property has one node in a component, each property is as likely as another and nothing needs to be
weighed. Where columns of WHERE tell nodes of one property apart, a property with more nodes has more worlds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, inf, ldexp, log2, prod

from sqlanon.breaches.world_counts import split_removals

BITS = 256  # of the fixed point; doubled until half of them are left after cancellation
MOST_BITS = 1 << 16


@dataclass(frozen=True)
class RestrictedComponent:
    """Sizes m_i of the parts; the id has `own` nodes of part 1, the property `held` of part 2; `matches` are a_i."""

    sizes: tuple[int, ...]
    own: int
    held: int
    matches: tuple[int, ...]

    def split_classes(self) -> tuple[tuple[int, ...], ...]:
        """Return, for every part, how many nodes match, are the id's or the property's but do not, and others."""
        (first, second, *rest), (id_match, property_match, *others) = self.sizes, self.matches
        pairs = ((match, size - match) for size, match in zip(rest, others, strict=True))
        return (
            (id_match, self.own - id_match, first - self.own),
            (property_match, self.held - property_match, second - self.held),
            *pairs,
        )


def weigh_worlds(sizes: Sequence[int], own: int, held: int) -> tuple[int, float]:
    """Return the worlds in which the id shows this property only, as 2^exponent * 2^fraction; (0, -inf) for none."""
    exponent, mantissa = _count_worlds(RestrictedComponent(tuple(sizes), own, held, (0,) * len(sizes)))
    if not mantissa:
        return 0, -inf
    length = mantissa.bit_length()
    return exponent + length, log2(mantissa / (1 << length))  # the fraction lies in -1 to 0: nothing is lost


def measure_absence(sizes: Sequence[int], own: int, held: int, matches: Sequence[int]) -> float:
    """Return the share of those worlds that hold no tuple of matching nodes; 1 where there is no world."""
    exponent, mantissa = _count_worlds(RestrictedComponent(tuple(sizes), own, held, (0,) * len(sizes)))
    if not mantissa:
        return 1.0
    hidden_exponent, hidden = _count_worlds(RestrictedComponent(tuple(sizes), own, held, tuple(matches)))
    if not hidden:
        return 0.0
    return ldexp(hidden / mantissa, max(hidden_exponent - exponent, -1000))


@lru_cache(maxsize=1 << 16)
def _count_worlds(component: RestrictedComponent) -> tuple[int, int]:
    """Return exponent and mantissa of the number of worlds, mantissa * 2^exponent; 0 for none."""
    classes = component.split_classes()
    largest = max(range(len(classes)), key=lambda part: sum(classes[part]))
    last = classes[largest]
    free = [
        [_count_tuples(classes, part, place, component) for place in range(len(row))]
        for part, row in enumerate(classes)
    ]
    for row, tuples in zip(classes, free, strict=True):
        if any(count and not tuple_count for count, tuple_count in zip(row, tuples, strict=True)):
            return 0, 0  # a node that no tuple can cover; else all tuples together cover every node
    leading = free[largest]
    # Worlds = (leading term) · total, total = 1 - … in fixed point: where it cancels to less than half of its bits,
    # it is computed again with twice as many.
    bits = BITS
    while bits <= MOST_BITS:
        total = _sum_series(component, largest, leading, bits)
        if total > 1 << (bits // 2):
            exponent, scale = _scale(leading, last, bits)
            return exponent - bits, total * scale
        bits *= 2
    raise ArithmeticError("the count of restricted worlds cancels beyond its precision")


def _sum_series(component: RestrictedComponent, largest: int, leading: Sequence[int], bits: int) -> int:
    """Sum the inclusion–exclusion over all parts but the largest, divided by its leading term, in fixed point."""
    classes = component.split_classes()
    small = [part for place, part in enumerate(classes) if place != largest]
    groups = [count for part in small for count in part]
    total = 1 << bits
    for level in range(1, sum(groups) + 1):
        level_sum = 0
        for removed in split_removals(level, groups):
            counts = iter([count - removal for count, removal in zip(groups, removed, strict=True)])
            parts = [tuple(next(counts) for _ in part) for part in small]
            parts.insert(largest, classes[largest])
            tuple_counts = [_count_tuples(parts, largest, place, component) for place in range(len(leading))]
            ways = prod(comb(count, removal) for count, removal in zip(groups, removed, strict=True))
            level_sum += ways * _raise_ratios(tuple_counts, leading, classes[largest], bits)
        total += (-1) ** level * level_sum
        # Levels fall fast: what is left out lies far below the half of the bits that has to be right.
        if level_sum < 1 << 16:
            break
    return total


def _count_tuples(parts: Sequence[Sequence[int]], largest: int, place: int, component: RestrictedComponent) -> int:
    """Count the tuples that may hold one node of class `place` of the largest part."""
    counts = [list(part) for part in parts]
    counts[largest] = [int(number == place) for number in range(len(counts[largest]))]
    first, second, *rest = counts
    others = prod(sum(part) for part in rest)
    everything = sum(first) * sum(second) * others
    # The id's nodes (matching or not) may not stand with another property's.
    foreign = (first[0] + first[1]) * second[2] * others
    matching = prod(part[0] for part in counts) if all(component.matches) else 0
    return everything - foreign - matching


def _raise_ratios(tuple_counts: Sequence[int], leading: Sequence[int], counts: Sequence[int], bits: int) -> int:
    """Return the product of ((2^tuples - 1)/(2^full - 1))^count in fixed point."""
    result = 1 << bits
    for tuples, full, count in zip(tuple_counts, leading, counts, strict=True):
        if not count:
            continue
        if not tuples or full - tuples > bits:
            return 0
        # (2^x - 1)/(2^y - 1) = 2^(x-y) (1 - 2^-x)/(1 - 2^-y): the powers themselves would not fit in any memory.
        ratio = _below_one(tuples, bits) << bits
        ratio = (ratio >> (full - tuples)) // _below_one(full, bits)
        result = result * _raise(ratio, count, bits) >> bits
    return result


def _scale(leading: Sequence[int], counts: Sequence[int], bits: int) -> tuple[int, int]:
    """Return exponent and mantissa of the product of (2^leading - 1)^count."""
    exponent, mantissa = 0, 1
    for full, count in zip(leading, counts, strict=True):
        base_exponent, base = full - bits, _below_one(full, bits)
        power = count
        while power:
            if power & 1:
                exponent, mantissa = _shorten(exponent + base_exponent, mantissa * base, bits)
            base_exponent, base = _shorten(2 * base_exponent, base * base, bits)
            power >>= 1
    return exponent, mantissa


def _shorten(exponent: int, mantissa: int, bits: int) -> tuple[int, int]:
    """Drop the digits of a mantissa beyond `bits`."""
    surplus = max(mantissa.bit_length() - bits, 0)
    return exponent + surplus, mantissa >> surplus


def _below_one(exponent: int, bits: int) -> int:
    """Return 1 - 2^-exponent in fixed point."""
    return (1 << bits) - ((1 << bits) >> exponent)


def _raise(base: int, power: int, bits: int) -> int:
    result = 1 << bits
    while power:
        if power & 1:
            result = result * base >> bits
        base, power = base * base >> bits, power >> 1
    return result
