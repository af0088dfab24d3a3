"""What releases tell together where people move between groups: exact counts of worlds, and independent of the package.

A stay is a person in a group. A world gives every stay one of its group's values, so that all stays of a group of any
time have different ones, and two stays in a row of one person differ. Worlds are counted by inclusion and exclusion
over the moves: of those that do not ask whether a move's two values differ, those are taken away in which they agree.
"""

from collections import defaultdict
from fractions import Fraction
from math import factorial


def stays_of(releases):
    """Return the stays of each group, the values of each group, and the moves: pairs of stays in a row."""
    stays, values, last, moves = defaultdict(list), {}, {}, []
    for shown, held in releases:
        values |= {group: frozenset(of_group) for group, of_group in held.items()}
        for person, group in shown.items():
            stay = (person, group)
            if last.get(person) == stay:
                continue
            if person in last:
                moves.append((last[person], stay))
            stays[group].append(stay)
            last[person] = stay
    return dict(stays), values, moves


def posteriors(releases):
    """Return for each stay how likely each value is, over all worlds."""
    stays, values, moves = stays_of(releases)
    assert all(len(stays[group]) == len(values[group]) for group in stays)
    told = {}
    for groups, between in connected(stays, moves):
        sizes = {group: len(stays[group]) for group in groups}
        total = count(sizes, values, between, {})
        for group in groups:
            for stay in stays[group]:
                told[stay] = {
                    value: Fraction(count(sizes, values, between, {stay: value}), total) for value in values[group]
                }
    return told


def connected(stays, moves):
    """Return the groups that moves connect, with these moves; a group that nobody moved from or to stands alone."""
    found = [({group}, []) for group in stays]
    for move in moves:
        ends = {group for _, group in move}
        joined = [one for one in found if one[0] & ends]
        found = [one for one in found if one not in joined]
        found.append((set().union(*(one[0] for one in joined)), [*(m for one in joined for m in one[1]), move]))
    return found


def count(sizes, values, moves, given):
    """Return how many worlds there are in which stays have the given values; sizes: of the groups."""
    held, taken = {}, {}

    def put(stay, value):
        """Give a stay a value: True if it is new, False if it had it, None where it cannot have it."""
        place = (stay[1], value)
        if held.get(stay) == value:
            return False
        if stay in held or place in taken or value not in values[stay[1]]:
            return None
        held[stay], taken[place] = value, stay
        return True

    def withdraw(stay, value):
        del held[stay], taken[stay[1], value]

    def number(place):
        if place == len(moves):
            worlds = 1
            for group, size in sizes.items():
                worlds *= factorial(size - sum(stay[1] == group for stay in held))
            return worlds
        before, after = moves[place]
        worlds = number(place + 1)
        for value in values[before[1]] & values[after[1]]:
            first = put(before, value)
            if first is None:
                continue
            second = put(after, value)
            if second is not None:
                worlds -= number(place + 1)
            for made, stay in ((second, after), (first, before)):
                if made:
                    withdraw(stay, value)
        return worlds

    if any(put(stay, value) is None for stay, value in given.items()):
        return 0
    return number(0)
