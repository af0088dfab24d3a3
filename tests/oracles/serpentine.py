"""The order in which rows are clustered, slowly and obviously: one row at a time, levels as lists."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import floor
from typing import Any

from tests.oracles.k_member import Attribute

COARSE, FINE, EXACT = 6, 4, 1000  # bins of a number, each divided into the next
MOST_BITS = 62  # of the levels that rows are sorted by


def order(rows: Sequence[Sequence[Any]], attributes: Sequence[Attribute], draws: Sequence[int]) -> list[int]:
    """Return the places of the rows in their order: levels by falling cost, each up or down by the parity before it.

    A number's exact bins come after all other levels. Levels behind those that fill 62 bits count for nothing.
    """
    categories, numbers, exact = [], [], []
    for place, attribute in enumerate(attributes):
        values = [row[place] for row in rows]
        if attribute.span is not None:
            *bins, last = _number(values, attribute)
            numbers += bins
            exact.append(last)
        elif attribute.parents is not None:
            categories += _tree(values, attribute)
        else:
            known = sorted({value for value in values if value is not None})
            codes = {value: number for number, value in enumerate(known, start=1)}
            categories.append((attribute.importance, [codes.get(value, 0) for value in values], len(known) + 1))
    levels = sorted([*categories, *numbers], key=lambda level: -level[0])
    exact.sort(key=lambda level: -level[0])
    bits = list(accumulate((n - 1).bit_length() for _, _, n in (*levels, *exact)))
    fitting = [(codes, n) for (_, codes, n), reach in zip((*levels, *exact), bits, strict=True) if reach <= MOST_BITS]

    def key(row: int) -> tuple[list[int], int]:
        return _turned([(codes[row], n) for codes, n in fitting]), draws[row]

    return sorted(range(len(rows)), key=key)


def _turned(codes: Sequence[tuple[int, int]]) -> list[int]:
    """Return each code, or its mirror image where the codes before it have an odd sum."""
    turned, parity = [], 0
    for code, breadth in codes:
        turned.append(code if parity == 0 else breadth - 1 - code)
        parity = (parity + code) % 2
    return turned


def _number(values: Sequence[Any], attribute: Attribute) -> list[tuple[float, list[int], int]]:
    """Return coarse, fine and exact bins of equal width with a fourth, a twelfth, a 24,000th of the importance."""
    known = [value for value in values if value is not None]
    bins = []
    for value in values:
        if value is None or not attribute.span:
            bins.append(0)
        else:
            share = (float(value) - float(min(known))) / attribute.span
            bins.append(min(COARSE * FINE * EXACT - 1, floor(share * COARSE * FINE * EXACT)))
    present = [0 if value is None else 1 for value in values]
    coarse = [there * (1 + one // (FINE * EXACT)) for one, there in zip(bins, present, strict=True)]
    weight = attribute.importance
    return [
        (weight / 4, coarse, COARSE + 1),
        (weight / 12, [one // EXACT % FINE for one in bins], FINE),
        (weight / (COARSE * FINE * EXACT), [one % EXACT for one in bins], EXACT),
    ]


def _tree(values: Sequence[Any], attribute: Attribute) -> list[tuple[float, list[int], int]]:
    """Return a level for each height below the root, leaves last: a node's number among those it has as siblings."""
    height = max(attribute.heights.values())
    ways = {node: _way(node, attribute, height) for node in attribute.heights}
    found = []
    for level in reversed(range(height)):
        siblings: dict[str, set[str]] = {}
        for way in ways.values():
            siblings.setdefault(way[level + 1] if level + 1 < height else "", set()).add(way[level])
        numbers = {
            above: {node: n for n, node in enumerate(sorted(nodes), start=1)} for above, nodes in siblings.items()
        }
        codes = []
        for value in values:
            way = ways.get(value)
            codes.append(0 if way is None else numbers[way[level + 1] if level + 1 < height else ""][way[level]])
        cost = attribute.importance * float(Fraction(level + 1, height))
        found.append((cost, codes, max(map(len, siblings.values())) + 1))
    return found


def _way(node: str, attribute: Attribute, height: int) -> list[str]:
    """Return the node's highest ancestor or self not above each height, itself where it stands above."""
    line = attribute.ancestors(node)
    heights: Mapping[str, int] = attribute.heights
    return [
        max((one for one in line if heights[one] <= max(level, heights[node])), key=heights.__getitem__)
        for level in range(height)
    ]
