"""Breach analysis: how likely each secret association is to whoever holds the published views.

H. Wang, L. V. S. Lakshmanan: Probabilistic privacy analysis of published views. WPES 2006.
The graph of nodes and components is SQL (`sql_templates/breach/`) and stays in the database; only the different
shapes of components come out, to be given their probabilities (`views.py`).
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from sqlanon.breach.associations import Breach
from sqlanon.breach.component_shapes import chances, hidden, weights
from sqlanon.breach.connectivity import Graph, connect
from sqlanon.breach.enumeration import LARGEST_JOIN, Enumeration, candidates, too_large
from sqlanon.breach.statements import (
    ALONE,
    Layout,
    columns_read,
    construct,
    enumerate_lines,
    is_weighted,
    locate,
    meet,
    names,
    rival,
    weigh,
)
from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.view_definitions import Base, View, read_secret, read_view

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
    analysis = prepared(question, engine)
    layout = analysis.layout
    kept: list[str] = []
    try:
        run(layout, engine)
        for name, frame in _enumerated(analysis) if layout.graph.chained else _frames(analysis):
            engine.keep_frame(layout.hold(name), frame)
        _answer(analysis)
        run(layout, engine)
        notes = _notes(analysis)
        kept = [str(layout.relations[name]) for name in RESULT if name in layout.relations]
        return Breach(engine, layout.relations["breach"], kept, notes)
    finally:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in layout.relations.values() if str(relation) not in kept])


def printed(question: Question, engine: Engine) -> str:
    """Return what `analyse` would run, in order, as text; nothing runs but a look at the base's columns."""
    analysis = prepared(question, engine, "sqlanon_")
    layout = analysis.layout
    before = list(layout.statements)
    shapes = [Statement(name, sql, "query") for name, sql in _shape_texts(analysis)]
    filled = ["chance", *(["weight", "hidden"] if analysis.weighted else [])]
    filled = ["found"] if layout.graph.chained else filled
    held = [layout.hold(name) for name in filled]
    _answer(analysis)
    after = layout.statements[len(before) :]
    texts = [f"-- {step.name}\n{engine.text(step)};" for step in (*before, *shapes)]
    texts += [
        f"-- {relation}: a row per shape, weighed by world_counts.py, restricted_worlds.py or enumeration.py"
        for relation in held
    ]
    texts += [f"-- {step.name}\n{engine.text(step)};" for step in after]
    return "\n\n".join(texts) + "\n"


def prepared(question: Question, engine: Engine, prefix: str = "") -> Analysis:
    """Read the definitions against the base and lay out the connectivity graph."""
    if question.model not in MODELS:
        raise UsageError(f"no model {question.model!r}; there are {', '.join(MODELS)}")
    if not question.views:
        raise UsageError('name the published views, each with --view "SELECT columns FROM base"')
    source, types = engine.find_source(question.base)
    base = Base.of(list(types), question.base)
    views = tuple(read_view(sql, base, number) for number, sql in enumerate(question.views, start=1))
    graph = connect(views, read_secret(question.secret, base))
    _refuse_nested(graph, types)
    layout = Layout(graph, source, prefix or fresh_prefix())
    if graph.chained:
        enumerate_lines(layout, LARGEST_JOIN + 1)
        return Analysis(question, engine, views, layout, simple=False, weighted=False)
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


def run(layout: Layout, engine: Engine) -> None:
    """Create what was laid out and does not stand yet."""
    for statement in layout.waiting():
        log.info("making %s", statement.name)
        engine.create(statement)


def _answer(analysis: Analysis) -> None:
    if analysis.layout.graph.chained:
        analysis.layout.add("enumerated", yields="breach")
    else:
        weigh(analysis.layout, analysis.question.model, analysis.simple)


def _enumerated(analysis: Analysis) -> list[tuple[str, pd.DataFrame]]:
    """Write the worlds down one by one, where they are few: what they tell of every association, by its number."""
    layout, engine = analysis.layout, analysis.engine
    if engine.dialect != "duckdb":
        raise UsageError(f"views that share different columns pairwise are analysed on DuckDB, not on {engine.name}")
    ours = names(layout.graph)
    parts = [tuple(ours[column] for column in part.columns) for part in layout.graph.parts]
    lines = engine.rows(f"select * from {layout.relations['line']}")
    if len(lines) > LARGEST_JOIN:
        raise too_large()
    counted = Enumeration(candidates(lines, parts), 0, 0 if layout.graph.together else 1)
    found = []
    for row in engine.rows(f"select * from {layout.relations['numbered']}"):
        finding = counted.find(row["identifier"], row["property"])
        restricted = finding.restricted if analysis.question.model == "restricted" else None
        share = finding.unrestricted if restricted is None else restricted
        reason = ALONE if analysis.question.model == "restricted" and finding.restricted is None else None
        m, n = (", ".join(str(pair[side]) for pair in finding.sizes) for side in (0, 1))
        found.append((row["number"], m, n, finding.cover, float(share), float(share) * 2.0**-53, reason))
    columns = ["number", "m", "n", "cover", "probability", "error_bound", "note"]
    frame = pd.DataFrame(found, columns=columns).astype({"m": "str", "n": "str", "note": "object"})
    return [("found", frame)]


def _shape_texts(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the queries that fetch the shapes of components: all that leaves the database."""
    if analysis.layout.graph.chained:
        return []
    wanted = ["shape", *(["simple_shape"] if analysis.simple else [])]
    wanted += ["rival_shape", "held_shape"] if analysis.weighted else []
    return [(name, analysis.layout.render(name, parts=analysis.layout.numbers)) for name in wanted]


def _frames(analysis: Analysis) -> list[tuple[str, pd.DataFrame]]:
    """Weigh every different shape once; return the tables that the answer joins with."""
    found = {name: analysis.engine.frame(sql) for name, sql in _shape_texts(analysis)}
    free = [found[name] for name in ("shape", "simple_shape") if name in found]
    parts = len(analysis.layout.numbers)
    frames = [("chance", chances(pd.concat(free).drop_duplicates(ignore_index=True), parts))]
    if analysis.weighted:
        frames += [("weight", weights(found["rival_shape"], parts)), ("hidden", hidden(found["held_shape"], parts))]
    return frames


def _notes(analysis: Analysis) -> list[str]:
    """Say what the data holds that the model does not see: repeated rows, ids with several properties."""
    layout, engine = analysis.layout, analysis.engine
    notes: list[str] = []
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
    located = layout.relations["base" if layout.graph.chained else "located"]
    several = int(
        engine.rows(layout.render(template, **({} if analysis.simple else {"located": located})))[0]["several_ids"]
    )
    if several:
        notes.append(f"{several:,} ids have several properties in the base; the model assumes one")
    return notes


def _repetition(layout: Layout, number: int, view: View) -> str:
    for place, part in enumerate(layout.graph.parts, start=1):
        if f"size_{place}" in layout.relations and part.view == number and set(part.columns) == set(view.columns):
            return layout.render("node_repetition", size=layout.relations[f"size_{place}"])
    columns = [layout.source.expression(column) for column in view.columns]
    return layout.render("repetition", relation=Sql(layout.source.relation), columns=columns)
