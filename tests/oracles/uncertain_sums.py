"""Sum and average over uncertain data the slow way: the total and the number of rows of every world, put together.

A world says which row owns which set of sensitive values, which of the set is true, and what each uncertain cell holds.
Worlds that differ in nothing but names are one pair (sum, count). Nothing here knows of ranks, aims or SQL.
"""

from fractions import Fraction
from itertools import permutations

from tests.oracles.uncertain import hidden, keys_of, rows_of


def least_and_greatest_quantile(release, conditions, measure, values, level, key=None):
    """Return {key: (least, greatest)} over all worlds that count a row; values: what the measure may be, in order."""
    base = 1 + len(release["people"])  # a row adds one at the place of its value: a sum says which values a world has
    places = {value: base**place for place, value in enumerate(values)}

    def placed(row, value):
        return places.get(measure[0](row, value))

    shown = [person for person in release["people"] if not hidden(person[2])]
    names = {None} if key is None else keys_of(release, shown, key)
    ends = {}
    for name in names:
        worlds, *_ = _worlds(release, shown, Reading(conditions, (placed, *measure[1:]), key, name))
        found = {_quantile(summed, count, base, values, level) for summed, count in worlds if count}
        ends[name] = (min(found), max(found)) if found else None
    return ends


def _quantile(summed, count, base, values, level):
    """Return the value of the row whose place is the level of so many."""
    place = max(-(-level * count // 1), 1)
    for value in values:
        summed, copies = divmod(summed, base)
        place -= copies
        if place <= 0:
            return value
    raise AssertionError("a world has fewer rows than it counts")


def total(release, conditions, measure, key=None):
    """Return {key: (least, greatest, expected, least average, greatest average, average expected, a world is empty)}.

    conditions, measure, key: (function of row and sensitive value, columns read, whether it reads the sensitive value);
    without `key`, under the key None. A key whom no world gives a row has None in the place of the figures.
    """
    shown = [person for person in release["people"] if not hidden(person[2])]
    names = {None} if key is None else keys_of(release, shown, key)
    return {name: _total(release, shown, Reading(conditions, measure, key, name)) for name in names}


class Reading:
    """What a query makes of a row and a sensitive value."""

    def __init__(self, conditions, measure, key, name):
        self.tests = [(test, columns) for test, columns, _ in conditions]
        self.tests += [(lambda row, value: key[0](row, value) == name, key[1])] if key else []
        self.listed = key[1] if key else set()  # columns that GROUP BY reads
        self.asked = set().union(*(columns for _, columns in self.tests))
        self.measure, self.measured = measure[0], measure[1]

    def holds(self, row, value, opened=frozenset()):
        return all(test(row, value) or columns & opened for test, columns in self.tests)

    def outcomes(self, rows, opened, values):
        """Return {what a row adds (None: it is not counted): probability} and what it may add besides."""
        likely, besides = {}, set()
        for row, share in rows:
            for value in values:
                found = self.measure(row, value) if self.holds(row, value) else None
                likely[found] = likely.get(found, 0) + share / len(values)
                if opened & self.asked:  # what it holds may be published nowhere
                    besides.add(None)
                    if self.holds(row, value, opened - self.listed - self.measured):
                        besides.add(self.measure(row, value))
        return likely, besides


def _worlds(release, shown, reading):
    """Return the sums and counts of all worlds, and the expected ones."""
    worlds, mean, rows = {(0, 0)}, Fraction(0), Fraction(0)
    told = {person: rows_of(release, dict(person[1]), person[2]) for person in map(_frozen, shown)}
    for group in sorted({group for *_, group in release["people"]}):
        sets = [values for of, values, times in release["lines"] if of == group for _ in range(times)]
        people = [told[_frozen(person)] for person in shown if person[3] == group]
        if not people:
            people = [None] * len(sets)
        orders = set(permutations(sets))
        sums = set()
        for order in orders:
            options = [_options(reading, told, one, values) for one, values in zip(people, order, strict=True)]
            sums |= _add({(0, 0)}, [set(likely) | besides for likely, besides in options])
            for likely, _ in options:
                mean += sum(share * value for value, share in likely.items() if value is not None) / len(orders)
                rows += sum(share for value, share in likely.items() if value is not None) / len(orders)
        worlds = {(a + c, b + d) for a, b in worlds for c, d in sums}
    return worlds, mean, rows


def _total(release, shown, reading):
    worlds, mean, rows = _worlds(release, shown, reading)
    averages = [Fraction(summed) / count for summed, count in worlds if count]
    if not averages:
        return None
    ends = (min(summed for summed, _ in worlds), max(summed for summed, _ in worlds), mean)
    return *ends, min(averages), max(averages), mean / rows if rows else None, any(not count for _, count in worlds)


def _options(reading, told, person, values):
    if person is not None:
        return reading.outcomes(*person, values)
    likely, besides = {}, set()
    for rows, opened in told.values():  # a hidden row is like any other
        own, more = reading.outcomes(rows, opened, values)
        besides |= more
        for value, share in own.items():
            likely[value] = likely.get(value, 0) + share / len(told)
    if reading.asked:
        besides.add(None)
        if not reading.measured:  # what it adds stands in ST
            held = [value for value in values if all(test({}, value) for test, columns in reading.tests if not columns)]
            besides |= {reading.measure({}, value) for value in held}
    return likely, besides


def _add(worlds, choices):
    for choice in choices:
        worlds = {(s + (x or 0), c + (x is not None)) for s, c in worlds for x in choice}
    return worlds


def _frozen(person):
    label, counts, values, group = person
    return label, tuple(sorted(counts.items())), values, group
