"""The ridge's posterior from its definition: one dense Gaussian model of all classes and values at once.

p_cv = x̄_c + a_c θ_v + ε_cv, θ_v ~ N(0, t1), ε_cv ~ N(0, t2 φ w_c d_cv); the sums of x by group are p's plus noise.
Groups are read row by row, S is not scaled, nothing is diagonal: only tiny releases are feasible.
"""

import itertools
import math

import numpy as np

OWN = [1, 2, 5, 15, 60, 300]
SHARED = [1e-3, 0.03, 0.2, 1, 5]


def posterior(rows, values, asked):
    """Return mean and variance of the asked sum, what the prior may hide included.

    rows: (class, group, value, x). asked: weight by value.
    """
    classes = sorted({row[0] for row in rows})
    mean, effect, spread, scale, direction, blocks, seen, noise = [], [], [], [], [], [], [], []
    hits, squares = sum(row[3] != 0 for row in rows), sum(row[3] ** 2 for row in rows)
    size = math.sqrt(squares / hits) if hits else 1.0
    for one in classes:
        own = [row for row in rows if row[0] == one]
        groups = sorted({row[1] for row in own})
        held = np.array([[sum(r[1] == g and r[2] == v for r in own) for v in values] for g in groups], dtype=float)
        sums = np.array([sum(r[3] for r in own if r[1] == g) for g in groups], dtype=float)
        average = sum(r[3] for r in own) / len(own)
        variance = sum(r[3] ** 2 for r in own) / len(own) - average**2
        if variance < 1e-9 * max(average**2, 1e-300):
            variance = 0.0
        centred = sums - held.sum(axis=1) * average
        count = held.sum(axis=0)
        present = sum(count > 0)
        mean.append(average)
        effect.append(variance / size)
        for place, v in enumerate(values):
            spread.append(variance)
            scale.append(1 / count[place] + 2 * present / len(own) if count[place] else 0.0)
            direction.append(asked.get(v, 0.0) * count[place])
        root, vector = np.linalg.eigh(held.T @ held)
        kept = root > 1e-9 * root.max()
        root, vector = root[kept], vector[:, kept]
        if variance > 0:
            blocks.append((one, np.sqrt(root)[:, None] * vector.T))
            seen.append(vector.T @ (held.T @ centred) / np.sqrt(root))
            expected = variance * len(own) / len(groups)
            noise += [expected] * len(root)
    direction = np.array(direction)
    plain = direction @ np.repeat(mean, len(values))
    if not blocks:
        return plain, 0.0
    design = np.zeros((len(noise), len(direction)))
    start = 0
    for one, block in blocks:
        place = classes.index(one) * len(values)
        design[start : start + len(block), place : place + len(values)] = block
        start += len(block)
    observed, noise = np.concatenate(seen), np.diag(noise)
    # deviations from x̄ sum to 0 over the rows of a class: condition both parts of the prior on it
    common, free = np.zeros((len(direction), len(values))), np.zeros((len(direction), len(direction)))
    for number, one in enumerate(classes):
        place = slice(number * len(values), (number + 1) * len(values))
        count = np.array([sum(row[0] == one and row[2] == v for row in rows) for v in values], dtype=float)
        own = np.diag(scale[place]) + 0.1 * np.outer(count > 0, count > 0)
        keeping = np.eye(len(values)) - own @ np.outer(count, count) / (count @ own @ count)
        common[place] = effect[number] * keeping
        free[place, place] = keeping @ own * spread[place][0]
    figures = []
    for own, shared in itertools.product(OWN, SHARED if len(blocks) > 1 else [0]):
        prior = own * free + shared * common @ common.T
        whole = design @ prior @ design.T + noise
        likelihood = -(np.linalg.slogdet(whole)[1] + observed @ np.linalg.solve(whole, observed)) / 2
        gain = prior @ design.T @ np.linalg.inv(whole)
        left = prior - gain @ design @ prior
        known, whole = direction @ gain @ observed, direction @ prior @ direction
        share = direction @ left @ direction / whole if whole else 1.0
        figures.append(
            (
                likelihood,
                known,
                share * whole,
                abs(known) * share / max(1 - share, math.sqrt(1 - share) / 2) if share < 1 else 0.0,
            )
        )
    likelihood, middle, variance, pull = map(np.array, zip(*figures, strict=True))
    weight = np.exp(likelihood - likelihood.max())
    weight /= weight.sum()
    answer = weight @ middle
    return plain + answer, weight @ (variance + (middle - answer) ** 2) + (weight @ pull) ** 2
