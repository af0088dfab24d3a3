"""Draw worlds around the associations of a chain whose bounds lie furthest apart, where the user asks for it."""

import secrets
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.breaches.chains.chain_bounds import join_from
from sqlanon.breaches.chains.join_tree import JoinTree
from sqlanon.breaches.chains.sampled_worlds import CONFIDENCE, SURE, WORD, Patch, SampledWorlds
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

FOLDER = "chains/sampling"
REASON = "sampled"
WIDE = 0.02  # bounds that lie closer are left as they are
MOST_ASSOCIATIONS = 500
MOST_TUPLES = 20_000  # around all of them
TURNS = 3  # from tuple to tuple by a common node; what lies further away may be anything
LEAST_SAMPLES, MOST_SAMPLES = 100, 20_000
LARGEST_SEED = 2**63 - 1


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
    layout.add(f"{FOLDER}/wide", yields="wide", width=WIDE, most=MOST_ASSOCIATIONS)
    layout.add(f"{FOLDER}/own", yields="own", parts=parts)
    patch = layout.add(f"{FOLDER}/patch", yields="patch_0", parts=parts)
    starts = [(part, layout.relations[f"degree_{part}"], join_from(layout, tree, part)) for part in parts]
    limits = {"most_degree": SURE, "most": MOST_TUPLES}
    for turn in range(1, TURNS + 1):
        values = {"patch": Sql(patch.relation), "parts": parts, "starts": starts, "turn": turn}
        patch = layout.add(f"{FOLDER}/reach", yields=f"patch_{turn}", **values, **limits)


def sample_worlds(layout: StatementLayout, engine: Engine, sampling: Sampling) -> None:
    """Draw worlds of the tuples at hand; write the intervals that bounds and draws leave (`narrowed`)."""
    keys = ["turn", "reached", *(f"node_{part}" for part in layout.numbers)]
    order = ", ".join(f"{key} asc nulls last" for key in keys)
    patch = engine.frame(f"select * from {layout.relations[f'patch_{TURNS}']} order by {order}")
    own = engine.frame(f"select * from {layout.relations['own']} order by number asc nulls last")
    engine.keep_frame(layout.name_relation("drawn"), bound_associations(patch, own, sampling))
    layout.add(f"{FOLDER}/narrowed", yields="narrowed", reason=REASON)


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
        for number, held in own.groupby("number")["place"]:
            if held.min() >= 0:
                drawn.append((int(str(number)), *worlds.bound_probability({*held.tolist()})))
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
