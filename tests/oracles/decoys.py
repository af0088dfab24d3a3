"""SPLU-Gen in plain Python: decoy groups as the paper and the shared grouping have them, one draw a row."""

import numpy as np


def grouped(values, gamma, random, groups_per_block=64):
    """Return each row's group: values by falling count, dealt to buckets, blocks, and shuffled runs in blocks."""
    names, counts = np.unique(values, return_counts=True)
    rows, groups = len(values), len(values) // gamma
    assert counts.max() <= groups, "not feasible"
    blocks = max(1, groups // groups_per_block)
    places = []
    for name in names[np.argsort(-counts, kind="stable")]:
        places += list(random.permutation(np.flatnonzero(values == name)))
    held = [{} for _ in range(blocks)]
    for position, row in enumerate(places):
        held[position % groups % blocks].setdefault(values[row], []).append(row)
    found = np.zeros(rows, dtype=int)
    for number, block in enumerate(held):
        own = len(range(number, groups, blocks))
        runs = list(block.values())
        random.shuffle(runs)
        for place, row in enumerate(row for run in runs for row in run):
            found[row] = place % own * blocks + number
    return found


def randomized(values, group, random):
    """Return what each row publishes: a value drawn uniformly from those of its group, its own included."""
    values = np.asarray(values)
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    start = np.cumsum(size) - size
    drawn = start[group] + (random.random(len(values)) * size[group]).astype(int)
    return values[order][drawn]


def published(values, gamma, random, residue="drop", groups_per_block=64):
    """Return (rows kept, published values): N mod γ rows are dropped evenly, or kept in groups of γ + 1."""
    values = np.asarray(values)
    kept = np.arange(len(values))
    if residue == "drop":
        kept = np.sort(random.permutation(len(values))[: len(values) - len(values) % gamma])
    return kept, randomized(values[kept], grouped(values[kept], gamma, random, groups_per_block), random)
