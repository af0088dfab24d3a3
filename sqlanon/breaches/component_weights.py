"""Weigh the components of one analysis: their different shapes leave the database, or all rows where they are few."""

import pandas as pd

from sqlanon.breaches.component_shapes import measure_chances, measure_hidden, weigh_worlds
from sqlanon.breaches.enumeration import LARGEST_JOIN, Enumeration, join_candidates, too_large
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import ALONE
from sqlanon.engines.base import Engine


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
