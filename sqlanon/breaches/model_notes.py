"""Say what the data holds that the model does not see: repeated rows of a view, ids with several properties."""

from collections.abc import Sequence

from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.engines.base import Engine
from sqlanon.plans.templates import Sql
from sqlanon.sql.view_definitions import View


def note_deviations(layout: StatementLayout, views: Sequence[View], engine: Engine) -> list[str]:
    """Return a sentence for each deviation of the data from the model; views are sets, an id has one property."""
    notes: list[str] = []
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
    return layout.render("repetition", relation=Sql(layout.source.relation), columns=columns)
