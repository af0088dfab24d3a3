"""Measures of equivalence classes from their definitions: loops over rows, for tiny tables only."""

import math
from collections import Counter, defaultdict


def measure(rows, quasi, value, ordered, l=2):
    """Return every measure at its worst; rows are dicts, quasi names, value a name; ordered: distances by order."""
    table = Counter(row[value] for row in rows)
    classes = defaultdict(Counter)
    for row in rows:
        classes[tuple(row[name] for name in quasi)][row[value]] += 1
    worst = {"k": math.inf, "l": math.inf, "entropy_l": math.inf, "alpha": 0, "t": 0, "beta": 0, "delta": 0}
    worst["recursive"] = 0
    places = sorted(table, key=lambda one: (one is None, one))
    for counts in classes.values():
        n = sum(counts.values())
        p = {one: counts[one] / n for one in places}
        q = {one: table[one] / len(rows) for one in places}
        if ordered:
            sums = [sum(p[one] - q[one] for one in places[: i + 1]) for i in range(len(places))]
            distance = sum(map(abs, sums)) / max(len(places) - 1, 1)
        else:
            distance = sum(abs(p[one] - q[one]) for one in places) / 2
        held = [one for one in places if p[one]]
        ranks = sorted(counts.values(), reverse=True)
        entropy = -sum(p[one] * math.log(p[one]) for one in held)
        found = {
            "k": n,
            "l": len(held),
            "entropy_l": math.exp(entropy),
            "alpha": max(p.values()),
            "t": distance,
            "beta": max((p[one] - q[one]) / q[one] for one in places),
            "delta": max(abs(math.log(p[one] / q[one])) for one in held) if len(held) == len(places) else math.inf,
            "recursive": ranks[0] / sum(ranks[l - 1 :]) if len(ranks) >= l else math.inf,
        }
        for name, one in found.items():
            worst[name] = (min if name in ("k", "l", "entropy_l") else max)(worst[name], one)
    return worst
