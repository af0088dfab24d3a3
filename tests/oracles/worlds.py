"""Count worlds by writing down every one of them: slow, short, and independent of the package."""

from fractions import Fraction
from itertools import product
from math import comb


def candidates(rows, shown):
    """Return the tuples that a world may hold: those whose projections all stand in the views (NULL is a value)."""
    columns = sorted({column for columns in shown for column in columns})
    nodes = [{tuple(row[c] for c in view) for row in rows} for view in shown]
    domains = [sorted({row[column] for row in rows}, key=str) for column in columns]
    lines = [dict(zip(columns, values, strict=True)) for values in product(*domains)]
    fitting = [
        line
        for line in lines
        if all(tuple(line[c] for c in view) in node for view, node in zip(shown, nodes, strict=True))
    ]
    return fitting, nodes


def worlds(rows, shown, limit=14):
    """Return every relation whose projections are the views, as a list of tuples; None where there are too many."""
    found, nodes = candidates(rows, shown)
    if len(found) > limit:
        return None
    everything = []
    for kept in product([False, True], repeat=len(found)):
        world = [line for line, keep in zip(found, kept, strict=True) if keep]
        if all(
            {tuple(line[c] for c in view) for line in world} == node for view, node in zip(shown, nodes, strict=True)
        ):
            everything.append(world)
    return everything


def probabilities(rows, views, identifier, property_, conditions=(), limit=14):
    """Return per association of the rows its probability in both models, None for the second where no world fits it.

    conditions: functions of a tuple of all published columns.
    """
    every = worlds(rows, views, limit)
    if every is None:
        return None
    asked = {(row[identifier], row[property_]) for row in rows if all(condition(row) for condition in conditions)}
    return {pair: _shares(every, pair, identifier, property_, conditions) for pair in asked}


def _shares(every, pair, identifier, property_, conditions):
    def holds(world):
        return any(
            (line[identifier], line[property_]) == pair and all(condition(line) for condition in conditions)
            for line in world
        )

    single = [world for world in every if len({l[property_] for l in world if l[identifier] == pair[0]}) == 1]
    free = Fraction(sum(map(holds, every)), len(every))
    return free, Fraction(sum(map(holds, single)), len(single)) if single else None


def count_worlds(m, n, own, held, a=0, b=0):
    """Count the worlds of K(m, n) in which `own` ids have edges to `held` properties alone, without any of a b edges.

    Whole numbers, by inclusion and exclusion over the ids; a of the own ids and b of the held properties match.
    """
    total = 0
    for i, j, k in product(range(a + 1), range(own - a + 1), range(m - own + 1)):
        sign = (-1) ** (a - i + own - a - j + m - own - k)
        ways = comb(a, i) * comb(own - a, j) * comb(m - own, k)
        total += sign * ways * (2 ** (j + k) - 1) ** b * (2 ** (i + j + k) - 1) ** (held - b) * (2**k - 1) ** (n - held)
    return total
