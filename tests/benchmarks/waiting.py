"""What waiting under a ledger tells, and how long people wait, by simulation.

    python -m tests.benchmarks.waiting [--l 3 4] [--nights 60] [--arrivals 15 50] [--histories 20]

People come every night, 20 of 100 with one value and the others with eight more, after a first release of twenty
nights' people. The adversary knows who came when, who is shown when, and the values of groups; other histories, whose
values are known, teach how often a value is that of somebody who waited as long and was put off as often. In a group
the posterior is over all assignments of its values. Printed are how often the adversary is right of those who waited
(`shown` in a group, and still `waiting`), and how long people waited. The policies are those of
`sqlanon/methods/republication.py`, whose steps tests compare with them; groups are drawn as there, in one block.
"""

import argparse
from collections import Counter, defaultdict
from itertools import permutations
from math import exp, log, pi, sqrt

import numpy as np

from sqlanon.methods.republication import COINS, MOST_FAILING
from tests.oracles.histories import most_groups

VALUES = np.array([0.2, *[0.1] * 8])


def failing(rows, groups, share):
    """Return a bound of how likely a value of this share is too frequent among the rows."""
    most = groups + 1
    if rows - most < 1 or most <= rows * share:
        return 1.0
    ratio = (rows - most) * share / ((most + 1) * (1 - share))
    distance = most * log(most / (rows * share)) + (rows - most) * log((rows - most) / (rows * (1 - share)))
    return exp(-distance) / ((1 - ratio) * sqrt(2 * pi * most * (rows - most) / rows))


def form(rng, pool, groups):
    """Return groups of different values: rows by value, in random order, dealt in turn."""
    valued, made, place = defaultdict(list), defaultdict(list), 0
    for person, value in pool:
        valued[value].append(person)
    for value, persons in sorted(valued.items(), key=lambda item: -len(item[1])):
        for person in rng.permutation(persons)[:groups]:
            made[place % groups].append((int(person), value))
            place += 1
    return [*made.values()]


def history(rng, l, nights, arrivals):
    """Return values, who came after the first night, groups, nights waited, times put off, and who waits."""
    pool, value, later, groups, lines = [], {}, {}, [], Counter()
    waited, put_off, just_put_off = Counter(), Counter(), False
    for night in range(nights):
        for drawn in rng.choice(len(VALUES), size=arrivals * (1 if night else 20), p=VALUES):
            person = len(value)
            value[person], later[person] = int(drawn), night > 0
            pool.append((person, int(drawn)))
        counts = Counter(drawn for _, drawn in pool)
        room = most_groups([*counts.values()], l)
        if night:
            room, chance = len(pool) // l, 1.0
            if room:
                chance = sum(failing(len(pool), room, count / sum(lines.values())) for count in lines.values())
            enough = room > 0 and chance <= MOST_FAILING
            coin = rng.random() < (0.5 if just_put_off else min(0.5, COINS * chance))
            called = enough and not coin and max(counts.values()) <= room
            just_put_off = enough and not called
            put_off.update(person for person, _ in pool if just_put_off)
            room = room if called else 0
        made = form(rng, pool, room) if room else []
        groups += made
        lines.update(drawn for group in made for _, drawn in group)
        shown = {person for group in made for person, _ in group}
        pool = [row for row in pool if row[0] not in shown]
        waited.update(person for person, _ in pool)
    return value, later, groups, waited, put_off, pool


def posterior(weights):
    """Return every member's probability of each value, from how likely each is for each alone."""
    size = len(weights)
    if size > 6:
        return weights / weights.sum(1, keepdims=True)
    told = np.zeros((size, size))
    for order in permutations(range(size)):
        told[range(size), order] += np.prod(weights[range(size), order])
    return told / told.sum(1, keepdims=True)


def measure(l, nights, arrivals, histories, seed=1):
    """Print what is guessed right, and how long people wait."""
    rng = np.random.default_rng(seed)
    everything = [history(rng, l, nights, arrivals) for _ in range(histories)]

    def known(past, person):
        return min(past[3][person], 30), min(past[4][person], 5)

    tables = [defaultdict(VALUES.copy) for _ in range(2)]
    for number, past in enumerate(everything):
        for person, value in past[0].items():
            if past[1][person]:
                tables[number % 2][known(past, person)][value] += 1
    shown, still, times = [], [], []
    for number, past in enumerate(everything):
        table = tables[1 - number % 2]
        for group in past[2]:
            told = None
            for place, (person, value) in enumerate(group):
                if past[3][person]:
                    if told is None:
                        each = [table[known(past, member)] for member, _ in group]
                        told = posterior(np.array([[row[v] / row.sum() for _, v in group] for row in each]))
                    shown.append(group[told[place].argmax()][1] == value)
                if past[1][person]:
                    times.append(past[3][person])
        still += [table[known(past, person)].argmax() == value for person, value in past[5]]
    rate, error = np.mean(shown or [0]), sqrt((l - 1) / l**2 / max(1, len(shown)))
    print(
        f"l={l} {arrivals} a night: 1/l {1 / l:.3f}, shown {rate:.3f} of {len(shown):,}"
        f" (standard error {error:.3f}), waiting {np.mean(still or [0]):.3f} of {len(still):,};"
        f" nights waited: {np.mean(times):.2f} on average, {max(times)} at most",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--l", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--arrivals", type=int, nargs="+", default=[15, 50])
    parser.add_argument("--histories", type=int, default=20)
    asked = parser.parse_args()
    for l in asked.l:
        for arrivals in asked.arrivals:
            measure(l, asked.nights, arrivals, asked.histories)
