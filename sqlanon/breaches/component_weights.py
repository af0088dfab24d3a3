"""Weigh the components of one analysis: their different shapes leave the database, or all rows where they are few.

Weigh the different shapes of components, all that leaves the database: a row per shape, whatever the base's size.
"""

import numpy as np
import pandas as pd

from sqlanon.breaches import restricted_worlds, world_counts
from sqlanon.breaches.enumeration import LARGEST_JOIN, Enumeration, join_candidates, too_large
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import ALONE
from sqlanon.engines.base import Engine


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


def filled_relations(layout: StatementLayout) -> list[str]:
    """Return the names of the relations that Python fills between the graph and the answer."""
    if layout.graph.chained:
        return ["found"]
    return ["chance", *(["weight", "hidden"] if layout.is_weighted else [])]


def render_shapes(layout: StatementLayout) -> list[tuple[str, str]]:
    """Return the queries that fetch the shapes of components: all that leaves the database."""
    if layout.graph.chained:
        return []
    templates = ["shape", *(["simple_shape"] if layout.graph.is_simple else [])]
    templates += ["rival_shape", "held_shape"] if layout.is_weighted else []
    return [(name, layout.render(name, parts=layout.numbers)) for name in templates]


def weigh_components(layout: StatementLayout, engine: Engine) -> list[tuple[str, pd.DataFrame]]:
    """Weigh every different shape once; return the tables that the answer joins with."""
    shapes = {name: engine.frame(sql) for name, sql in render_shapes(layout)}
    # Settled associations lie in components like any other: equal shapes are weighed once.
    free = [shapes[name] for name in ("shape", "simple_shape") if name in shapes]
    parts = len(layout.numbers)
    frames = [("chance", measure_chances(pd.concat(free).drop_duplicates(ignore_index=True), parts))]
    if layout.is_weighted:
        frames.append(("weight", weigh_worlds(shapes["rival_shape"], parts)))
        frames.append(("hidden", measure_hidden(shapes["held_shape"], parts)))
    return frames


def enumerate_associations(layout: StatementLayout, engine: Engine) -> list[tuple[str, pd.DataFrame]]:
    """Write the worlds down one by one, where they are few: what they tell of every association, by its number."""
    names = layout.graph.column_names
    parts = [tuple(names[column] for column in part.columns) for part in layout.graph.parts]
    rows = engine.rows(f"select * from {layout.relations['line']}")
    if len(rows) > LARGEST_JOIN:
        raise too_large()
    enumeration = Enumeration(join_candidates(rows, parts), 0, 0 if layout.graph.together else 1)
    lines = []
    for row in engine.rows(f"select * from {layout.relations['numbered']}"):
        figures = enumeration.measure(row["identifier"], row["property"])
        restricted = figures.restricted if layout.is_restricted else None
        share = figures.unrestricted if restricted is None else restricted
        reason = ALONE if layout.is_restricted and restricted is None else None
        m, n = (", ".join(str(pair[side]) for pair in figures.sizes) for side in (0, 1))
        # A Fraction is exact: only its conversion to a double rounds, by half a unit in the last place.
        lines.append((row["number"], m, n, figures.cover, float(share), float(share) * 2.0**-53, reason))
    columns = ["number", "m", "n", "cover", "probability", "error_bound", "note"]
    frame = pd.DataFrame(lines, columns=columns).astype({"m": "str", "n": "str", "note": "object"})
    return [("found", frame)]
