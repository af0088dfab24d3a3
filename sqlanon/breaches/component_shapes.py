"""Weigh the different shapes of components, all that leaves the database: a row per shape, whatever the base's size."""

import numpy as np
import pandas as pd

from sqlanon.breaches import restricted_worlds, world_counts


def weigh_worlds(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, nodes of the id and of the property) its restricted worlds, 2^exponent * 2^fraction."""
    lines = shapes[[*_columns("size", parts), "held_1", "held_2"]].astype("int64").itertuples(index=False, name=None)
    weights = [restricted_worlds.weigh_worlds(line[:parts], *line[parts:]) for line in lines]
    possible = [int(fraction > -np.inf) for _, fraction in weights]
    # The fraction of no world at all is minus infinity: 0 stands for it in SQL, and `possible` says so.
    fractions = [fraction if is_possible else 0.0 for (_, fraction), is_possible in zip(weights, possible, strict=True)]
    return shapes.assign(exponent=[exponent for exponent, _ in weights], fraction=fractions, possible=possible)


def measure_hidden(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape the share of its restricted worlds that hold no matching tuple; 1 where there is no world."""
    names = [*_columns("size", parts), "held_1", "held_2", *_columns("match", parts)]
    lines = shapes[names].astype("int64").itertuples(index=False, name=None)
    shares = [
        restricted_worlds.measure_absence(line[:parts], line[parts], line[parts + 1], line[parts + 2 :])
        for line in lines
    ]
    return shapes.assign(absence=shares)


def measure_chances(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, a_i of each part) the share of worlds without the association, and its error."""
    sizes, matches = (shapes[_columns(kind, parts)].to_numpy(dtype=np.int64) for kind in ("size", "match"))
    share, error = world_counts.measure_absence(sizes, matches)
    rounded = np.where(share > 0, error + 2.0**-53, error)  # one minus the share is rounded once more
    return shapes.assign(absence=share, error_bound=rounded)


def _columns(kind: str, parts: int) -> list[str]:
    return [f"{kind}_{number}" for number in range(1, parts + 1)]
