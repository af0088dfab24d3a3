"""The deterministic table, slowly and obviously: one row at a time, ancestors as sets."""

from collections.abc import Mapping, Sequence
from typing import Any


def ancestors(node: str, parents: Mapping[str, str]) -> list[str]:
    """Return a node and its ancestors, the root last."""
    way = [node]
    while way[-1] in parents:
        way.append(parents[way[-1]])
    return way


def common_ancestor(values: Sequence[str], parents: Mapping[str, str]) -> str:
    """Return the lowest node that is an ancestor (or the value itself) of every value."""
    shared = set.intersection(*(set(ancestors(value, parents)) for value in values))
    return next(node for node in ancestors(values[0], parents) if node in shared)


def different(values: Sequence[Any]) -> list[Any]:
    """Return each value once, in the order of its first place."""
    return list(dict.fromkeys(values))


def determined(row: Sequence[Any], trees: Mapping[int, Mapping[str, str]]) -> tuple[str, tuple[Any, ...]]:
    """Return a row's QIID and its deterministic quasi values; a list is a cell of alternatives.

    trees: child -> parent by the place of the attribute, from 0; other lists hold numbers.
    """
    qiid, values = "", []
    for place, cell in enumerate(row):
        alternatives = different(cell) if isinstance(cell, list) else [cell]
        if len(alternatives) > 1:
            qiid += f"{place + 2}{len(alternatives)}"
        if alternatives == [None]:
            values.append(None)
        elif place in trees:
            values.append(common_ancestor([str(value) for value in alternatives], trees[place]))
        else:
            values.append(max(alternatives))
    return qiid or "0", tuple(values)
