"""The effects β of a model: kept for a query, counted against what is wanted, moved."""

import hashlib

import numpy as np
import pandas as pd

from sqlanon.completion.model_rows import ModelRows
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

WORTH = 1.0  # rows that are added to a count before its logarithm is taken


def salt_of(seed: int, *purpose: object) -> int:
    """Return what tells the draws of one purpose from all others: 62 bits, added to a row's number and hashed."""
    digest = hashlib.sha256(repr((seed, *purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 2


def keep_effects(space: ModelRows, effects: Array) -> Sql:
    """Keep effects, T x K, as a relation: a list for each level."""
    level, number = np.divmod(np.arange(effects.size), effects.shape[1])
    frame = pd.DataFrame({"level": level, "number": number, "effect": effects.ravel()})
    return space.make("effects", "completion/rows/effects", {"effect": space.keep_frame("effect", frame)})


def count_dealt(space: ModelRows, dealt: Sql, value: Sql, shape: tuple[int, ...]) -> Array:
    """Return how many rows were dealt by level and kind of value, T x K."""
    inputs = {"dealt": dealt, "value": value}
    frame = space.engine.frame(space.render_own("completion/rows/level_count", inputs, levels=space.levels))
    counts = np.zeros(shape)
    counts[frame["level"].to_numpy(dtype=int), frame["code"].to_numpy(dtype=int) - 1] = frame["row_count"]
    return counts


def find_step(target: Array, dealt: Array, update: int) -> Array:
    """Return how far effects move: the logarithm of what is wanted over what was dealt, less and less."""
    return np.asarray(np.log((target + WORTH) / (dealt + WORTH)) / (1 + update / 10))
