"""How often two sensitive values meet in a decoy group, from public figures only.

The grouping is public: values by falling count lie one after another, position mod m is the bucket, bucket mod B
the block; inside a block the values stand in a random order, and number mod m_b is the group (see
`sql_templates/grouping/`). Running these steps on a table made of published counts needs no secret.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
ENOUGH_ROWS = 1_000_000  # rows that the repetitions deal together
MOST_REPEATED = 100


def transition(counts: Array, gamma: int, groups_per_block: int) -> Array:
    """Return T (V x V): P(a row of value w publishes s), averaged over random orders; rows sum to 1.

    counts: published counts f' of the values (V). gamma: different values in a group, at least.
    groups_per_block: of the grouping. Deterministic: equal figures give equal answers.
    """
    random = np.random.default_rng(0)
    whole = _feasible(np.maximum(np.rint(counts).astype(np.int64), 1), gamma)
    repeats = int(np.clip(ENOUGH_ROWS // max(int(whole.sum()), 1), 1, MOST_REPEATED))
    met = np.zeros((len(counts), len(counts)))
    for _ in range(repeats):
        met += _meetings(whole, gamma, groups_per_block, random)
    return np.asarray(met / met.sum(axis=1, keepdims=True))


def _feasible(counts: NDArray[np.int64], gamma: int) -> NDArray[np.int64]:
    """Cut counts to floor(N/γ), N being what is left of them."""
    for _ in range(100):
        most = max(int(counts.sum()) // gamma, 1)
        if counts.max(initial=0) <= most:
            break
        counts = np.minimum(counts, most)
    return counts


def _meetings(counts: NDArray[np.int64], gamma: int, groups_per_block: int, random: np.random.Generator) -> Array:
    """Deal one table into groups; return the sum over groups of 1/|g| for every pair of values in it, V x V."""
    rows, values = int(counts.sum()), len(counts)
    order = np.argsort(-counts, kind="stable")
    code = np.repeat(order, counts[order])
    groups = max(rows // gamma, 1)
    blocks = max(1, groups // groups_per_block)
    block = (np.arange(rows) % groups) % blocks
    # a value's rows in one block are numbered together, the values of a block in a random order
    runs, run_of = np.unique(block * values + code, return_inverse=True)
    length = np.bincount(run_of)
    shuffled = np.lexsort((random.random(len(runs)), runs // values))
    run_block = np.repeat(runs[shuffled] // values, length[shuffled])
    first = np.searchsorted(run_block, np.arange(blocks))
    own_groups = (groups + blocks - 1 - np.arange(blocks)) // blocks
    number = np.arange(rows) - first[run_block]
    group = (number % own_groups[run_block]) * blocks + run_block
    value = np.repeat(runs[shuffled] % values, length[shuffled])
    held = sparse.csr_array((np.ones(rows), (group, value)), shape=(groups, values))
    size = np.maximum(held @ np.ones(values), 1)
    return np.asarray((held.T @ (sparse.diags_array(1 / size) @ held)).toarray())
