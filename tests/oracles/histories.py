"""What releases of the same people tell together, by writing down every world: slow, and independent of the package.

A release is a pair: the group of every person who is shown, and the values of every group. A world gives everybody who
was ever shown one value, so that in each release the members of a group have values of the group's own, each value as
often as the group lists it. All worlds are equally likely.
"""

from collections import Counter, defaultdict
from fractions import Fraction


def members(releases):
    """Return for each release and group the persons shown there, with the group's values."""
    listed = []
    for shown, values in releases:
        groups = defaultdict(set)
        for person, group in shown.items():
            groups[group].add(person)
        listed += [(frozenset(persons), Counter(values[group])) for group, persons in groups.items()]
    return list(dict.fromkeys((persons, tuple(sorted(values.items(), key=str))) for persons, values in listed))


def components(groups):
    """Return groups that share persons together, with these persons."""
    found = []
    for persons, values in groups:
        joined, kept = (set(persons), [(persons, values)]), []
        for component in found:
            if component[0] & joined[0]:
                joined = (joined[0] | component[0], [*joined[1], *component[1]])
            else:
                kept.append(component)
        found = [*kept, joined]
    return found


def posteriors(releases):
    """Return for everybody ever shown how likely each value is, over all worlds."""
    told = {}
    for persons, groups in components(members(releases)):
        told |= _count(sorted(persons, key=str), groups)
    return told


def _count(persons, groups):
    counts = {person: Counter() for person in persons}
    world = {}

    def extend(number):
        if number == len(persons):
            for person, value in world.items():
                counts[person][value] += 1
            return
        person = persons[number]
        mine = [(held, values) for held, values in groups if person in held]
        for value in set.intersection(*({value for value, _ in values} for _, values in mine)):
            world[person] = value
            if all(_fits(world, held, dict(values), value) for held, values in mine):
                extend(number + 1)
            del world[person]

    extend(0)
    total = {person: sum(counts[person].values()) for person in persons}
    return {p: {value: Fraction(count, total[p]) for value, count in counts[p].items()} for p in persons}


def _fits(world, held, values, value):
    return sum(person in world and world[person] == value for person in held) <= values[value]


def after_a_change(posterior, domain):
    """Return how likely each value is for somebody of whom it is known that it is no longer the published one."""
    others = len(domain) - 1
    return {value: (1 - posterior.get(value, Fraction(0))) / others for value in domain}


def most_groups(counts, l):
    """Return the largest number of groups of l different values that rows with these counts can form."""
    return max(m for m in range(sum(counts) // l + 1) if sum(min(count, m) for count in counts) >= l * m)
