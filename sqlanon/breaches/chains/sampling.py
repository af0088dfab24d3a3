"""Draw worlds of a chain that has too many to count, for the associations whose bounds lie furthest apart.

A world takes each joined tuple or leaves it out, so that every node is covered. Redrawing one tuple (it is taken where
it alone covers a node, else by a fair coin) keeps the uniform distribution over worlds; and the more tuples are taken,
the fewer are needed. So two sets of tuples are kept: one is contained in every world that some number of sweeps can
lead to, the other contains every such world (M. Huber: Perfect sampling using bounding chains. Annals of Applied
Probability 14, 2004). Where they differ, both sides of the interval count it: the interval is valid even if the chains
have not met, and for tuples that are not known at all.

With A an association's k tuples and q the share of worlds whose other tuples leave a node of A's uncovered,

    P = 1 - 2^-k (1 - q).
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.breaches.chains.chain_bounds import join_from
from sqlanon.breaches.chains.join_tree import JoinTree
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

WORD = 64  # worlds side by side in one whole number
SWEEPS = 12
SURE = 48  # of so many unknown tuples, all are left out in at most 2^-48 of the worlds

CONFIDENCE = 0.99

Bits = NDArray[np.uint64]
Others = tuple[NDArray[np.int64], bool]
_ALL = np.uint64(2**64 - 1)
REASON = "sampled"
WIDE = 0.02  # bounds that lie closer are left as they are
MOST_ASSOCIATIONS = 500
MOST_TUPLES = 20_000  # around all of them
TURNS = 3  # from tuple to tuple by a common node; what lies further away may be anything
LEAST_SAMPLES, MOST_SAMPLES = 100, 20_000
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Patch:
    """Tuples of a chain as the nodes that they join, a row each, and how many tuples go through each node in all."""

    tuples: NDArray[np.int64]
    degrees: Mapping[int, int]

    @cached_property
    def known(self) -> dict[int, list[int]]:
        """Return the tuples through each node, by their rows, without nodes that others are sure to cover."""
        through: dict[int, list[int]] = {}
        for number, nodes in enumerate(self.tuples.tolist()):
            for node in nodes:
                through.setdefault(node, []).append(number)
        return {node: numbers for node, numbers in through.items() if self.degrees[node] - len(numbers) < SURE}

    def find_others(self, own: Collection[int]) -> list[Others]:
        """Return for each node of the tuples `own` the other ones that are known, and whether there are no more."""
        touched = sorted({node for number in own for node in self.tuples[number].tolist()} & self.known.keys())
        return [
            (
                np.array([number for number in self.known[node] if number not in own], dtype=np.int64),
                len(self.known[node]) == self.degrees[node],
            )
            for node in touched
        ]


class SampledWorlds:
    """Worlds of one patch, a bit for each: `least` says which are sure to take a tuple, `most` which may."""

    def __init__(self, patch: Patch, words: int, random: np.random.BitGenerator) -> None:
        """Draw 64 * words worlds; the work grows with the tuples, those beside each, and the words."""
        self.patch, self.count = patch, WORD * words
        shape = (len(patch.tuples), words)
        self.least, self.most = np.zeros(shape, dtype=np.uint64), np.full(shape, _ALL)
        self._all = np.full(words, _ALL)
        others = [patch.find_others({number}) for number in range(len(patch.tuples))]
        for _ in range(SWEEPS):
            coins = random.random_raw(shape)  # whose numbers no version of numpy changes
            for number, beside in enumerate(others):
                covered, perhaps = self._find_covered(beside)
                # needed in every world where it is needed in the largest, and in none where not in the smallest
                self.least[number] = coins[number] | ~perhaps
                self.most[number] = coins[number] | ~covered

    def count_uncovered(self, own: Collection[int]) -> tuple[int, int]:
        """Count the worlds whose tuples without `own` leave a node of these uncovered: those that do, and may."""
        covered, perhaps = self._find_covered(self.patch.find_others(own))
        return self.count - _count_bits(perhaps), self.count - _count_bits(covered)

    def bound_probability(self, own: Collection[int]) -> tuple[float, float]:
        """Return an interval that holds the probability of the association of the tuples `own`, with CONFIDENCE."""
        low, high = bound_share(*self.count_uncovered(own), self.count)
        none = 2.0 ** -len(own)
        return 1 - none * (1 - low), 1 - none * (1 - high)

    def _find_covered(self, beside: Sequence[Others]) -> tuple[Bits, Bits]:
        """Return the worlds in which other tuples are sure to cover every node, and those in which they may."""
        covered, perhaps = self._all.copy(), self._all.copy()
        for others, are_all in beside:
            covered &= np.bitwise_or.reduce(self.least[others], axis=0)
            if are_all:
                perhaps &= np.bitwise_or.reduce(self.most[others], axis=0)
        return covered, perhaps


def bound_share(least: int, most: int, count: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share of which `least` to `most` of `count` draws were seen."""
    from scipy.special import betaincinv  # slow to load, and few analyses draw

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(least, count - least + 1, tail)) if least else 0.0
    high = float(betaincinv(most + 1, count - most, 1 - tail)) if most < count else 1.0
    return low, high


def _count_bits(worlds: Bits) -> int:
    return int(np.unpackbits(worlds.view(np.uint8)).sum())


@dataclass(frozen=True)
class Sampling:
    """How many worlds are drawn, a multiple of 64, and the seed that draws the same ones again."""

    samples: int
    seed: int


def read_sampling(samples: int | None, seed: int | None, model: str) -> Sampling | None:
    """Return what is to be drawn, None for nothing; raise UsageError for what cannot be."""
    if samples is None:
        if seed is not None:
            raise UsageError(f"{option('seed')} says which worlds are drawn; say {option('samples', 'N')} as well")
        return None
    if isinstance(samples, bool) or not isinstance(samples, int) or not LEAST_SAMPLES <= samples <= MOST_SAMPLES:
        raise UsageError(f"{option('samples')} is a number from {LEAST_SAMPLES} to {MOST_SAMPLES:,}, not {samples!r}")
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    elif isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise UsageError(f"{option('seed')} is a number from 0 to 2**63 - 1, not {seed!r}")
    if model == "restricted":
        raise UsageError("the model restricted has no worlds that can be drawn; say the model unrestricted")
    return Sampling(-(-samples // WORD) * WORD, seed)


def lay_out_patch(layout: StatementLayout, tree: JoinTree) -> None:
    """Write which associations' worlds are drawn, and the tuples around theirs, over bounds and exact counts."""
    parts = layout.numbers
    layout.add("breaches/chains/sampling/wide", yields="wide", width=WIDE, most=MOST_ASSOCIATIONS)
    layout.add("breaches/chains/sampling/own", yields="own", parts=parts)
    patch = layout.add("breaches/chains/sampling/patch", yields="patch_0", parts=parts)
    starts = [(part, layout.relations[f"degree_{part}"], join_from(layout, tree, part)) for part in parts]
    limits = {"most_degree": SURE, "most": MOST_TUPLES}
    for turn in range(1, TURNS + 1):
        values = {"patch": Sql(patch.relation), "parts": parts, "starts": starts, "turn": turn}
        patch = layout.add("breaches/chains/sampling/reach", yields=f"patch_{turn}", **values, **limits)


def sample_worlds(layout: StatementLayout, engine: Engine, sampling: Sampling) -> None:
    """Draw worlds of the tuples at hand; write the intervals that bounds and draws leave (`narrowed`)."""
    keys = ["turn", "reached", *(f"node_{part}" for part in layout.numbers)]
    order = ", ".join(f"{key} asc nulls last" for key in keys)
    patch = engine.frame(f"select * from {layout.relations[f'patch_{TURNS}']} order by {order}")
    association_tuples = engine.frame(f"select * from {layout.relations['own']} order by number asc nulls last")
    engine.keep_frame(layout.name_relation("drawn"), bound_associations(patch, association_tuples, sampling))
    layout.add("breaches/chains/sampling/narrowed", yields="narrowed", reason=REASON)


def bound_associations(patch: pd.DataFrame, own: pd.DataFrame, sampling: Sampling) -> pd.DataFrame:
    """Return number, low and high of the associations whose tuples are all at hand.

    patch: node_1 … and degree_1 … of each tuple; own: the same and number of the associations' tuples.
    """
    tuples, degrees = _number_nodes(patch)
    place = {nodes: row for row, nodes in enumerate(map(tuple, tuples.tolist()))}
    worlds = SampledWorlds(Patch(tuples, degrees), sampling.samples // WORD, np.random.Philox(sampling.seed))
    drawn: list[tuple[int, float, float]] = []
    if len(own):
        own = own.assign(place=[place.get(nodes, -1) for nodes in map(tuple, _number_nodes(own)[0].tolist())])
        for number, places in own.groupby("number")["place"]:
            if places.min() >= 0:
                drawn.append((int(str(number)), *worlds.bound_probability({*places.tolist()})))
    return pd.DataFrame(drawn, columns=["number", "low", "high"]).astype(
        {"number": "int64", "low": "float64", "high": "float64"}
    )


def note_samples(count: int, sampling: Sampling) -> list[str]:
    """Say how many probabilities are estimates, and what that means; that there are none, where there are none."""
    if not count:
        return ["nothing was drawn: no probability has bounds that samples would narrow"]
    return [
        f"of these, {count:,} probabilities (note {REASON!r}) are estimates and not certificates: by"
        f" {sampling.samples:,} drawn worlds (seed {sampling.seed}), each truth lies within error_bound with a"
        f" confidence of {100 * CONFIDENCE:g} %"
    ]


def _number_nodes(frame: pd.DataFrame) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Return the nodes of tuples, numbered over all parts, and the degree of each."""
    parts = [name.removeprefix("node_") for name in frame.columns if name.startswith("node_")]
    nodes = [frame[f"node_{part}"].to_numpy(dtype=np.int64) * len(parts) + place for place, part in enumerate(parts)]
    degrees: dict[int, int] = {}
    for part, column in zip(parts, nodes, strict=True):
        degrees |= zip(column.tolist(), map(int, frame[f"degree_{part}"]), strict=True)
    return np.stack(nodes, axis=1), degrees
