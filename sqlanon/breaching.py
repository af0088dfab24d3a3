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
from sqlanon.layout import Layout, columns_read, construct, locate, meet, split, weigh
from sqlanon.projection import Base, View, read_secret, read_view
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


def analyse(question: Question, engine: Engine) -> Breach:
    """Analyse; the relation of associations stays in the database as long as the session, or until `close`.

    Raises UsageError (QueryError for a definition) for what cannot be right on any data.
    """
    analysis = _prepared(question, engine, fresh_prefix())
    layout = analysis.layout
    kept: list[str] = []
    try:
        _run(layout, engine)
        engine.keep_frame(layout.hold("chance"), _chances(analysis))
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
    layout, numbers = analysis.layout, analysis.layout.numbers
    before = list(layout.statements)
    shapes = [Statement(name, sql, "query") for name, sql in _shape_texts(analysis)]
    chance = layout.hold("chance")
    parts = ", ".join(f"size_{number}, match_{number}" for number in numbers)
    weigh(layout, question.model, analysis.simple)
    after = layout.statements[len(before) :]
    texts = [f"-- {step.name}\n{engine.text(step)};" for step in (*before, *shapes)]
    texts.append(f"-- {chance} ({parts}, absence, error_bound): a row per shape, computed by sqlanon/views.py")
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
    locate(layout)
    simple = split(layout)
    construct(layout, simple)
    meet(layout, simple)
    return Analysis(question, engine, views, layout, simple)


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
    names = ["shape", "simple_shape"] if analysis.simple else ["shape"]
    return [(name, analysis.layout.render(name, parts=analysis.layout.numbers)) for name in names]


def _chances(analysis: Analysis) -> pd.DataFrame:
    """Give every different shape of a component its probability."""
    found = [analysis.engine.frame(sql) for _, sql in _shape_texts(analysis)]
    return chances(pd.concat(found).drop_duplicates(ignore_index=True), len(analysis.layout.numbers))


def chances(shapes: pd.DataFrame, parts: int) -> pd.DataFrame:
    """Give every shape (m_i, a_i of each part) the share of worlds without the association, and its error."""
    columns = [[f"{kind}_{number}" for number in range(1, parts + 1)] for kind in ("size", "match")]
    sizes, matches = (shapes[names].to_numpy(dtype=np.int64) for names in columns)
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
