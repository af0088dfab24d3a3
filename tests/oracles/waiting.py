"""What waiting tells, by writing down every world: who came when, who is shown when, and each group's values are known.

Every value of everybody who comes is as likely as any other. What a night does with those who look for a group is a
policy: it returns its outcomes with their probabilities, each the groups that are made; who is in none waits.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product

from tests.oracles.histories import most_groups


def splits(persons, values, count):
    """Return every way to make that many groups of different values, all persons in one."""
    if not persons:
        return [((),) * count] if count == 0 else [tuple(() for _ in range(count))]
    first, *rest = persons
    return [
        (*split[:number], (first, *split[number]), *split[number + 1 :])
        for split in splits(rest, values, count)
        for number in range(count)
        if values[first] not in {values[other] for other in split[number]}
    ]


def grouped(persons, values, l, count):
    """Return the different partitions into groups of at least l different values, each as likely."""
    made = {
        frozenset(frozenset(group) for group in split)
        for split in splits(sorted(persons), values, count)
        if all(len(group) >= l for group in split)
    }
    return [(Fraction(1, len(made)), one) for one in made]


def alone(persons, values, l):
    """Show as many as can be: of a value that is too frequent those wait who are drawn."""
    counts = Counter(values[p] for p in persons)
    count = most_groups([*counts.values()], l) if counts else 0
    kept = [
        set().union(*choice)
        for choice in product(
            *(combinations([p for p in persons if values[p] == v], min(n, count)) for v, n in counts.items())
        )
    ]
    return [
        (share / len(kept), one)
        for some in kept
        for share, one in (grouped(some, values, l, count) if count else [(1, frozenset())])
    ]


def together(least):
    """Return the policy that shows all or none, and nobody before `least` have come."""

    def policy(persons, values, l):
        count = len(persons) // l if len(persons) >= least else 0
        fits = count and max(Counter(values[p] for p in persons).values()) <= count
        return grouped(persons, values, l, count) if fits else [(Fraction(1), frozenset())]

    return policy


def posteriors(nights, domain, l, policy):
    """Return for everything that may be seen its probability, and everybody's values with theirs.

    nights: how many come on each.
    """
    told = defaultdict(lambda: [Fraction(0), defaultdict(Counter)])
    everybody = range(sum(nights))
    for values in product(domain, repeat=len(everybody)):
        for share, seen in _histories(nights, values, l, policy):
            entry = told[seen]
            entry[0] += share
            for person in everybody:
                entry[1][person][values[person]] += share
    total = sum(weight for weight, _ in told.values())
    return [
        (weight / total, seen, {p: {v: n / weight for v, n in counts.items()} for p, counts in persons.items()})
        for seen, (weight, persons) in told.items()
    ]


def _histories(nights, values, l, policy):
    histories, came = [(Fraction(1), (), frozenset())], 0
    for number in nights:
        came += number
        histories = [
            (share * chance, (*seen, frozenset((group, frozenset(values[p] for p in group)) for group in groups)),
             shown.union(*groups))
            for share, seen, shown in histories
            for chance, groups in policy(sorted(set(range(came)) - shown), values, l)
        ]  # fmt: skip
    return [(share, seen) for share, seen, _ in histories]
