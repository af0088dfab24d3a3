"""Count over uncertain data the slow way: write down every world of every group, row by row.

A world of a group says which row owns which set of sensitive values, which of the set is true, and what each
uncertain cell holds. Nothing here knows of signatures, components or SQL.
"""

from fractions import Fraction
from itertools import permutations, product


def leaves_below(pairs, node):
    """Return the leaves at or below a node of a hierarchy of child and parent pairs."""
    children = [child for child, parent in pairs if parent == node]
    return [leaf for child in children for leaf in leaves_below(pairs, child)] or [node]


def candidates(release, column, value, count):
    """Return [(value, probability)] of a cell, and whether some alternative is published nowhere (it is open)."""
    if count == 1:
        return [(value, Fraction(1))], False
    if column in release["hierarchies"]:
        leaves = leaves_below(release["hierarchies"][column], value)
        return [(leaf, Fraction(1, len(leaves))) for leaf in leaves], False
    place = list(release["quasi"]).index(column)
    shown = {values[place] for _, _, values, _ in release["people"] if not hidden(values)}
    below = sorted(other for other in shown if other is not None and other < value)
    if not below:
        return [(value, Fraction(1))], True
    rest = (1 - Fraction(1, count)) / len(below)
    return [(value, Fraction(1, count)), *((other, rest) for other in below)], len(below) < count - 1


def hidden(values):
    return all(value == "*" for value in values)


def rows_of(release, counts, values):
    """Return [(row, probability)] for one person, and the columns whose cells are open."""
    columns = list(release["quasi"])
    cells = [
        candidates(release, column, value, counts.get(column, 1)) for column, value in zip(columns, values, strict=True)
    ]
    rows = []
    for combination in product(*(cell for cell, _ in cells)):
        probability = Fraction(1)
        for _, share in combination:
            probability *= share
        rows.append((dict(zip(columns, (value for value, _ in combination), strict=True)), probability))
    return rows, {column for column, (_, is_open) in zip(columns, cells, strict=True) if is_open}


def count(release, conditions, key=None):
    """Return {key: (certain, possible, expected)}; without `key`, under the key None.

    conditions: (function of row and sensitive value, columns read, whether it reads the sensitive value).
    key: such a triple whose function gives the key.
    """
    reads = set().union(*(columns for _, columns, _ in [*conditions, *([key] if key else [])]))
    shown = [person for person in release["people"] if not (hidden(person[2]) and reads)]
    others = len(shown)
    groups = sorted({group for *_, group in release["people"]})
    names = {None} if key is None else keys_of(release, shown, key)
    found = {}
    for name in names:
        certain, possible, expected = Fraction(0), Fraction(0), Fraction(0)

        def satisfied(row, value, opened=frozenset(), name=name):
            tests = (test(row, value) or columns & opened for test, columns, _ in conditions)
            return all(tests) and (key is None or key[0](row, value) == name)

        for group in groups:
            people = [person for person in shown if person[3] == group]
            sets = [values for of, values, times in release["lines"] if of == group for _ in range(times)]
            away = len(sets) - len(people)
            if people:
                assert not away, "a group is hidden as a whole"
                low, high, mean = worlds(release, people, sets, satisfied, reads, key)
                certain, possible, expected = certain + low, possible + high, expected + mean
            else:
                low, mean = hidden_group(release, shown, sets, satisfied, conditions, key, name)
                possible += low
                expected += Fraction(mean, others) if others else Fraction(0)
        found[name] = (float(certain), float(possible), float(expected))
    return found


def keys_of(release, shown, key):
    values = {value for _, values, _ in release["lines"] for value in values}
    rows = [row for _, counts, shown_values, _ in shown for row, _ in rows_of(release, counts, shown_values)[0]]
    return {key[0](row, value) for row in rows for value in values}


def worlds(release, people, sets, satisfied, reads, key):
    """Return the least, largest and mean count of a group, over what cells hold and who owns what."""
    orders = list(permutations(sets))
    told = [rows_of(release, counts, values) for _, counts, values, _ in people]
    lows, highs, mean = [], [], Fraction(0)
    for order in orders:
        low = high = 0
        for (rows, opened), values in zip(told, order, strict=True):
            pairs = [(satisfied(row, value), share) for row, share in rows for value in values]
            low += all(holds for holds, _ in pairs) and not opened & reads
            boundless = opened - (key[1] if key else set())
            high += any(satisfied(row, value, boundless) for row, _ in rows for value in values)
            mean += sum((share for holds, share in pairs if holds), Fraction(0)) / len(values)
        lows.append(low)
        highs.append(high)
    return min(lows), max(highs), mean / len(orders)


def hidden_group(release, shown, sets, satisfied, conditions, key, name):
    """Return, for a group of hidden rows, those possible and the number of other rows they are expected to be like."""
    possible, alike = 0, Fraction(0)
    own = [test for test, columns, _ in conditions if not columns]
    for values in sets:
        asked = [value for value in values if all(test({}, value) for test in own)]
        if key is not None and not key[1]:
            asked = [value for value in asked if key[0]({}, value) == name]
        possible += bool(asked)
        for value in asked:
            for _, counts, shown_values, _ in shown:
                rows = rows_of(release, counts, shown_values)[0]
                alike += sum((share for row, share in rows if satisfied(row, value)), Fraction(0)) / len(values)
    return possible, alike
