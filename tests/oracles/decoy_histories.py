"""What randomized releases of the same people tell together, by writing down every world: slow, and independent.

A drawing is a mapping of persons to the values that they publish, for the persons who drew decoys among themselves. A
world gives everybody a value, so that each drawing's true values are as often there as everybody knows, and parts each
drawing into groups of gamma persons with different values, in which each publishes any of the group's values. All
worlds are equally likely, and each publication in a world as likely as any other of it.
"""

from collections import Counter
from fractions import Fraction


def partitions(persons, gamma):
    """Yield every way to part persons into groups of gamma."""
    if not persons:
        yield ()
        return
    first, rest = persons[0], persons[1:]
    for others in _choices(rest, gamma - 1):
        left = [person for person in rest if person not in others]
        for found in partitions(left, gamma):
            yield ((first, *others), *found)


def _choices(persons, count):
    if not count:
        yield ()
        return
    for place, person in enumerate(persons):
        for others in _choices(persons[place + 1 :], count - 1):
            yield (person, *others)


def assignments(persons, held):
    """Yield every way to give persons the values of a counter that they hold together."""
    if not persons:
        yield {}
        return
    for value in held:
        if held[value]:
            for rest in assignments(persons[1:], held - Counter([value])):
                yield {persons[0]: value, **rest}


def posteriors(drawings, truth, gamma):
    """Return for everybody how likely each value is, given what each drawing publishes.

    drawings: they may have persons in common, who then have one value in all of them. truth: the persons' values.
    """
    persons = sorted({person for drawing in drawings for person in drawing})
    counts, total = {person: Counter() for person in persons}, 0
    known = [(drawing, Counter(truth[person] for person in drawing)) for drawing in drawings]
    parted = [(drawing, list(partitions(sorted(drawing), gamma))) for drawing in drawings]
    for world in assignments(persons, Counter(truth[person] for person in persons)):
        if any(Counter(world[person] for person in drawing) != held for drawing, held in known):
            continue
        weight = 1
        for drawing, all_of_them in parted:
            weight *= sum(_possible(groups, drawing, world) for groups in all_of_them)
        total += weight
        for person, value in world.items():
            counts[person][value] += weight
    return {p: {value: Fraction(count, total) for value, count in counts[p].items() if count} for p in persons}


def _possible(groups, published, world):
    for group in groups:
        values = {world[person] for person in group}
        if len(values) < len(group) or any(published[person] not in values for person in group):
            return False
    return True
