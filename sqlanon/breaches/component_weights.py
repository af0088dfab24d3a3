"""Compute the weights of components: one row per shape leaves the database, or all rows where they are few."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, inf, ldexp, log2, prod

import numpy as np
import pandas as pd

from sqlanon.breaches import world_counts
from sqlanon.breaches.enumeration import LARGEST_JOIN, Enumeration, join_candidates, too_large
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import ALONE, list_shapes
from sqlanon.breaches.world_counts import split_removals
from sqlanon.engines.base import Engine

# Weigh the worlds of one component in which an id has one property only: numbers too large for floats, in
# fixed point. Where every property has one node in a component, each property is as likely as another and
# nothing needs to be weighed. Where columns of WHERE tell nodes of one property apart, a property with more
# nodes has more worlds.
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


def weigh_restricted(sizes: Sequence[int], own: int, held: int) -> tuple[int, float]:
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
            return 0, 0  # no tuple covers some node, so there is no world; else all tuples cover every node
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


def weigh_worlds(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, nodes of the id and of the property) its restricted worlds, 2^exponent * 2^fraction."""
    lines = shapes[[*_columns("size", parts), "held_1", "held_2"]].astype("int64").itertuples(index=False, name=None)
    weights = [weigh_restricted(line[:parts], *line[parts:]) for line in lines]
    possible = [int(fraction > -np.inf) for _, fraction in weights]
    # The fraction of no world at all is minus infinity: 0 stands for it in SQL, and `possible` says so.
    fractions = [fraction if is_possible else 0.0 for (_, fraction), is_possible in zip(weights, possible, strict=True)]
    return shapes.assign(exponent=[exponent for exponent, _ in weights], fraction=fractions, possible=possible)


def measure_hidden(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape the share of its restricted worlds that hold no matching tuple; 1 where there is no world."""
    names = [*_columns("size", parts), "held_1", "held_2", *_columns("match", parts)]
    lines = shapes[names].astype("int64").itertuples(index=False, name=None)
    shares = [measure_absence(line[:parts], line[parts], line[parts + 1], line[parts + 2 :]) for line in lines]
    return shapes.assign(absence=shares)


def measure_chances(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, a_i of each part) the share of worlds without the association, and its error."""
    sizes, matches = (shapes[_columns(column, parts)].to_numpy(dtype=np.int64) for column in ("size", "match"))
    share, error = world_counts.measure_absence(sizes, matches)
    rounded = np.where(share > 0, error + 2.0**-53, error)  # one minus the share is rounded once more
    return shapes.assign(absence=share, error_bound=rounded)


def _columns(name: str, parts: int) -> list[str]:
    return [f"{name}_{number}" for number in range(1, parts + 1)]


def filled_relations(layout: StatementLayout) -> list[str]:
    """Return the names of the relations that Python fills between the graph and the answer."""
    if layout.graph.chained:
        return ["found"]
    return ["chance", *(["weight", "hidden"] if layout.is_weighted else [])]


def render_shapes(layout: StatementLayout) -> list[tuple[str, str]]:
    """Return the queries that fetch the shapes of components: all that leaves the database."""
    if layout.graph.chained:
        return []
    return [(name, layout.render("breaches/shape", **values)) for name, values in list_shapes(layout).items()]


def weigh_components(layout: StatementLayout, engine: Engine) -> list[tuple[str, pd.DataFrame]]:
    """Weigh every different shape once; return the tables that the answer joins with."""
    shapes = {name: engine.frame(sql) for name, sql in render_shapes(layout)}
    # Settled associations lie in components like any other: equal shapes are weighed once.
    free = [shapes[name] for name in ("shape", "simple_shape") if name in shapes]
    parts = len(layout.numbers)
    frames = [("chance", measure_chances(pd.concat(free).drop_duplicates(ignore_index=True), parts))]
    if layout.is_weighted:
        frames.append(("weight", weigh_worlds(shapes["rival_shape"], parts)))
        frames.append(("hidden", measure_hidden(shapes["held_shape"], parts)))
    return frames


def enumerate_associations(layout: StatementLayout, engine: Engine) -> list[tuple[str, pd.DataFrame]]:
    """Write the worlds down one by one, where they are few: what they tell of every association, by its number."""
    names = layout.graph.column_names
    parts = [tuple(names[column] for column in part.columns) for part in layout.graph.parts]
    rows = engine.rows(f"select * from {layout.relations['line']}")
    if len(rows) > LARGEST_JOIN:
        raise too_large()
    enumeration = Enumeration(join_candidates(rows, parts), 0, 0 if layout.graph.together else 1)
    lines = []
    for row in engine.rows(f"select * from {layout.relations['secret_association']}"):
        figures = enumeration.measure(row["identifier"], row["property"])
        restricted = figures.restricted if layout.is_restricted else None
        share = figures.unrestricted if restricted is None else restricted
        reason = ALONE if layout.is_restricted and restricted is None else None
        m, n = (", ".join(str(pair[side]) for pair in figures.sizes) for side in (0, 1))
        # A Fraction is exact: only its conversion to a double rounds, by half a unit in the last place.
        lines.append((row["number"], m, n, figures.cover, float(share), float(share) * 2.0**-53, reason))
    columns = ["number", "m", "n", "cover", "probability", "error_bound", "note"]
    frame = pd.DataFrame(lines, columns=columns).astype({"m": "str", "n": "str", "note": "object"})
    return [("found", frame)]
