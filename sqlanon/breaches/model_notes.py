"""Say what the data holds that the model does not see: repeated rows of a view, ids with several properties."""

from collections.abc import Sequence

from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import join_conditions
from sqlanon.engines.base import Engine
from sqlanon.plans.templates import Sql
from sqlanon.sql.view_definitions import View


def note_deviations(layout: StatementLayout, views: Sequence[View], engine: Engine) -> list[str]:
    """Return a sentence for each deviation of the data from the model; views are sets, an id has one property."""
    notes = _note_unseen(layout, engine)
    for number, view in enumerate(views, start=1):
        if view.distinct:
            continue
        (row,) = engine.rows(_render_repetition(layout, number, view))
        repeated = int(row["row_count"]) - int(row["different_count"])
        if repeated:
            notes.append(
                f"view {number} has {repeated:,} duplicate rows of {int(row['row_count']):,} as it is written;"
                " publishing them tells more than is counted here: publish SELECT DISTINCT"
            )
    (row,) = engine.rows(_render_several(layout))
    several = int(row["several_ids"])
    if several:
        notes.append(f"{several:,} ids have several properties in the base; the model assumes one")
    return notes


def _note_unseen(layout: StatementLayout, engine: Engine) -> list[str]:
    """Tell what stands in rows that a view's own WHERE leaves out: of these nothing is counted."""
    graph, names = layout.graph, layout.graph.column_names
    if not graph.shown:
        return []
    conditions, shown = ([one.over(names) for one in many] for many in (graph.conditions, graph.shown))
    (row,) = engine.rows(layout.render("unseen", conditions=conditions, shown=shown))
    partly, wholly = int(row["partly"]), int(row["wholly"])
    if not partly:
        return []
    return [
        f"{partly:,} associations stand in rows that not every view shows (WHERE), {wholly:,} of them nowhere else:"
        " nothing is counted for such rows"
    ]


def _render_several(layout: StatementLayout) -> str:
    if layout.graph.is_simple:
        return layout.render("several_settled")
    return layout.render("several", located=layout.relations["base" if layout.graph.chained else "located"])


def _render_repetition(layout: StatementLayout, number: int, view: View) -> str:
    """Write the count of a view's rows and of its different ones; nodes tell both where they are the view's rows."""
    for place, part in enumerate(layout.graph.parts, start=1):
        if f"size_{place}" in layout.relations and part.view == number and set(part.columns) == set(view.columns):
            return layout.render("node_repetition", size=layout.relations[f"size_{place}"])
    columns = [layout.source.expression(column) for column in view.columns]
    relation = Sql(layout.source.relation)
    if view.conditions:
        own = join_conditions(view.conditions, {name: name for part in view.conditions for name in part.columns})
        relation = Sql(f"(select * from {relation} where {own}) as selected")
    return layout.render("repetition", relation=relation, columns=columns)
