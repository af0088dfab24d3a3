"""Breach analysis: how likely each secret association is to whoever holds the published views.

H. Wang, L. V. S. Lakshmanan: Probabilistic privacy analysis of published views. WPES 2006.
The graph of nodes and components is SQL (`sql_templates/views/`) and stays in the database; only the different
shapes of components come out, to be given their probabilities (`views.py`).
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from sqlanon.connectivity import Graph, connect
from sqlanon.disclosure import Breach
from sqlanon.driver import fresh_prefix
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.layout import Layout, columns_read, construct, is_weighted, locate, meet, rival, weigh
from sqlanon.projection import Base, View, read_secret, read_view
from sqlanon.restricted import absence as restricted_absence
from sqlanon.restricted import weight
from sqlanon.statement import Statement
from sqlanon.templates import Sql
from sqlanon.views import absence

log = logging.getLogger("sqlanon")
Model = Literal["unrestricted", "restricted"]
MODELS = ("unrestricted", "restricted")
RESULT = ("tangled_breach", "settled", "breach")


@dataclass(frozen=True)
class Question:
    """What is asked, before any database was looked at."""

    base: object
    views: tuple[str, ...]
    secret: str
    model: Model = "unrestricted"


@dataclass
class Analysis:
    """One analysis on its way: its definitions, its statements, whether settled ids are set apart."""

    question: Question
    engine: Engine
    views: tuple[View, ...]
    layout: Layout
    simple: bool
    weighted: bool


def analyse(question: Question, engine: Engine) -> Breach:
    """Analyse; the relation of associations stays in the database as long as the session, or until `close`.

    Raises UsageError (QueryError for a definition) for what cannot be right on any data.
    """
    analysis = _prepared(question, engine, fresh_prefix())
    layout = analysis.layout
    kept: list[str] = []
    try:
        _run(layout, engine)
        for name, frame in _frames(analysis):
            engine.keep_frame(layout.hold(name), frame)
        weigh(layout, question.model, analysis.simple)
        _run(layout, engine)
        notes = _notes(analysis)
        kept = [str(layout.relations[name]) for name in RESULT if name in layout.relations]
        return Breach(engine, layout.relations["breach"], kept, notes)
    finally:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in layout.relations.values() if str(relation) not in kept])


def printed(question: Question, engine: Engine) -> str:
    """Return what `analyse` would run, in order, as text; nothing runs but a look at the base's columns."""
    analysis = _prepared(question, engine, "sqlanon_")
    layout = analysis.layout
    before = list(layout.statements)
    shapes = [Statement(name, sql, "query") for name, sql in _shape_texts(analysis)]
    filled = ["chance", *(["weight", "hidden"] if analysis.weighted else [])]
    held = [layout.hold(name) for name in filled]
    weigh(layout, question.model, analysis.simple)
    after = layout.statements[len(before) :]
    texts = [f"-- {step.name}\n{engine.text(step)};" for step in (*before, *shapes)]
    texts += [f"-- {relation}: a row per shape, weighed by sqlanon/views.py and restricted.py" for relation in held]
    texts += [f"-- {step.name}\n{engine.text(step)};" for step in after]
    return "\n\n".join(texts) + "\n"


def _prepared(question: Question, engine: Engine, prefix: str) -> Analysis:
    """Read the definitions against the base and lay out the connectivity graph."""
    if question.model not in MODELS:
        raise UsageError(f"no model {question.model!r}; there are {', '.join(MODELS)}")
    if not question.views:
        raise UsageError('name the published views, each with --view "SELECT columns FROM base"')
    source, types = engine.source(question.base)
    base = Base.of(list(types), question.base)
    views = tuple(read_view(sql, base, number) for number, sql in enumerate(question.views, start=1))
    graph = connect(views, read_secret(question.secret, base))
    _refuse_nested(graph, types)
    if graph.chained:
        raise UsageError("chained")
    layout = Layout(graph, source, prefix)
    simple = locate(layout)
    construct(layout, simple)
    meet(layout, simple)
    weighted = is_weighted(graph, question.model)
    if weighted:
        rival(layout)
    return Analysis(question, engine, views, layout, simple, weighted)


def _refuse_nested(graph: Graph, types: Mapping[str, str]) -> None:
    for column in columns_read(graph):
        if types[column] == "NESTED":
            raise UsageError(f"column {column!r} holds nested values; views are analysed over columns of single values")


def _run(layout: Layout, engine: Engine) -> None:
    """Create what was laid out and does not stand yet."""
    for statement in layout.waiting():
        log.info("making %s", statement.name)
        engine.create(statement)


def _shape_texts(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the queries that fetch the shapes of components: all that leaves the database."""
    names = ["shape", *(["simple_shape"] if analysis.simple else [])]
    names += ["rival_shape", "held_shape"] if analysis.weighted else []
    return [(name, analysis.layout.render(name, parts=analysis.layout.numbers)) for name in names]


def _frames(analysis: Analysis) -> list[tuple[str, pd.DataFrame]]:
    """Weigh every different shape once; return the tables that the answer joins with."""
    found = {name: analysis.engine.frame(sql) for name, sql in _shape_texts(analysis)}
    free = [found[name] for name in ("shape", "simple_shape") if name in found]
    parts = len(analysis.layout.numbers)
    frames = [("chance", chances(pd.concat(free).drop_duplicates(ignore_index=True), parts))]
    if analysis.weighted:
        frames += [("weight", weights(found["rival_shape"], parts)), ("hidden", hidden(found["held_shape"], parts))]
    return frames


def _columns(kind: str, parts: int) -> list[str]:
    return [f"{kind}_{number}" for number in range(1, parts + 1)]


def weights(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, nodes of the id and of the property) its restricted worlds, 2^exponent * 2^fraction."""
    lines = shapes[[*_columns("size", parts), "held_1", "held_2"]].astype("int64").itertuples(index=False, name=None)
    found = [weight(line[:parts], *line[parts:]) for line in lines]
    possible = [int(fraction > -np.inf) for _, fraction in found]
    fractions = [fraction if is_possible else 0.0 for (_, fraction), is_possible in zip(found, possible, strict=True)]
    exponents = [exponent for exponent, _ in found]
    return shapes.assign(exponent=exponents, fraction=fractions, possible=possible)


def hidden(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape the share of its restricted worlds that hold no matching tuple; 1 where there is no world."""
    names = [*_columns("size", parts), "held_1", "held_2", *_columns("match", parts)]
    lines = shapes[names].astype("int64").itertuples(index=False, name=None)
    shares = [restricted_absence(line[:parts], line[parts], line[parts + 1], line[parts + 2 :]) for line in lines]
    return shapes.assign(absence=shares)


def chances(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, a_i of each part) the share of worlds without the association, and its error."""
    sizes, matches = (shapes[_columns(kind, parts)].to_numpy(dtype=np.int64) for kind in ("size", "match"))
    share, error = absence(sizes, matches)
    rounded = np.where(share > 0, error + 2.0**-53, error)  # one minus the share is rounded once more
    return shapes.assign(absence=share, error_bound=rounded)


def _notes(analysis: Analysis) -> list[str]:
    """Say what the data holds that the model does not see: repeated rows, ids with several properties."""
    layout, engine = analysis.layout, analysis.engine
    notes = []
    for number, view in enumerate(analysis.views, start=1):
        if view.distinct:
            continue
        (row,) = engine.rows(_repetition(layout, number, view))
        repeated = int(row["row_count"]) - int(row["different_count"])
        if repeated:
            notes.append(
                f"view {number} has {repeated:,} duplicate rows of {int(row['row_count']):,} as it is written;"
                " publishing them tells more than is counted here: publish SELECT DISTINCT"
            )
    template = "several_settled" if analysis.simple else "several"
    several = int(engine.rows(layout.render(template))[0]["several_ids"])
    if several:
        notes.append(f"{several:,} ids have several properties in the base; the model assumes one")
    return notes


def _repetition(layout: Layout, number: int, view: View) -> str:
    for place, part in enumerate(layout.graph.parts, start=1):
        if part.view == number and set(part.columns) == set(view.columns):
            return layout.render("node_repetition", size=layout.relations[f"size_{place}"])
    columns = [layout.source.expression(column) for column in view.columns]
    return layout.render("repetition", relation=Sql(layout.source.relation), columns=columns)
