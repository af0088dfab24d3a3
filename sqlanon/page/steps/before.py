"""Before publishing: the data, the roles of its columns, what they risk, and what candidates cost."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from sqlanon.charts.drawing import INSTALL, is_installed
from sqlanon.charts.figure import draw_image
from sqlanon.charts.risk_utility import WHAT, draw_risk_utility
from sqlanon.html_tables import write_paragraphs, write_table
from sqlanon.page.state import ROLES, State
from sqlanon.page.view import View, notes, put, tables, wide

ENDINGS = (".parquet", ".csv", ".json", ".jsonl", ".duckdb", ".db")
MOST_FILES = 40


def show_data(view: View) -> None:
    """Show where the data lies, and what is found there."""
    state = view.state
    with view.step(1, "Data"):
        files = _files_beside(state.folder)
        if files:
            put(f"Files where this page was started: {files}")
        view.control(
            "text", "File or table", lambda: state.typed_source, partial(state.edit, "typed_source"), state.open_source,
            hint="Parquet, CSV or JSON; a pattern such as 2024/*.parquet; or the name of a table or view",
        )  # fmt: skip
        view.control(
            "text", "Database file", lambda: state.typed_database, partial(state.edit, "typed_database"),
            state.open_source,
            hint="For a table: the DuckDB file that holds it. Nothing is uploaded, and nothing written to it",
        )  # fmt: skip
        view.control("button", "Look at it", press=state.open_source)
        view.outcome("data", _write_data)
        view.copies("data")


def _files_beside(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())
    more = f" and {len(names) - MOST_FILES:,} more" if len(names) > MOST_FILES else ""
    return ", ".join(names[:MOST_FILES]) + more


def _write_data(profile: Any) -> str:
    figures = [[key.replace("_", " "), value] for key, value in profile.figures.items()]
    return wide(write_table([], [*figures, ["columns", len(profile.columns)]]), "rows and columns")


def show_roles(view: View) -> None:
    """Show a line for each column, with the role that is chosen for it."""
    state = view.state

    def build() -> None:
        if not state.columns:
            put("Look at a table first.")
            return
        heads = ("column", "role", "type", "values", "NULLs", "unique rows", "why suggested")
        box = ui.element("div").classes("wide").props('role=region tabindex=0 aria-label="columns and roles"')
        with box, ui.element("table"):
            with ui.element("thead"), ui.element("tr"):
                for head in heads:
                    put(head, "th", scope="col")
            with ui.element("tbody"):
                for line in state.columns:
                    _show_column(view, line)

    with view.step(2, "Roles"):
        put(
            "quasi: others may know it of people, and it is published. sensitive: what nobody shall learn. identifier:"
            " tells people apart, and is never published."
        )
        view.rebuilt(lambda: (state.source, state.database, len(state.columns)), build)


def _show_column(view: View, line: dict[str, Any]) -> None:
    state, name = view.state, line["column"]
    with ui.element("tr"):
        put(name, "th", scope="row")
        with ui.element("td"):
            view.control("select", f"Role of {name}", lambda: state.roles.get(name, ROLES[0]),
                         lambda role: state.set_role(name, role), choices=ROLES, hidden=True)  # fmt: skip
        for part in ("type", "values", "nulls", "unique_rows", "why"):
            put(line[part], "td")


def show_risks(view: View) -> None:
    """Show what the table risks with these roles; it is checked whenever they change."""
    with view.step(3, "Risks"):
        put("Of the table as it is, before anything is done to it: people with equal quasi values are a class.")
        view.outcome("risks", lambda check: tables(check.tables()) + notes(check.notes))
        view.copies("risks")


def show_choice(view: View) -> None:
    """Show what candidates cost, and what attacks reach on them; one of them can be taken."""
    state = view.state

    def build() -> None:
        run = state.work.runs.get("compare")
        for line in () if run is None or run.value is None else run.value.overall:
            label = f"Use {line['candidate']}, {line['parameter']}"
            taken = partial(state.use, line["candidate"], line["arguments"], line["without"])
            view.control("button", label, press=taken)

    with view.step(4, "Choose"):
        put("Each candidate is published for a moment, asked, attacked, and forgotten: that takes minutes.")
        view.control("text", "Largest share of people whose value an attack may name", lambda: state.resist,
                     partial(state.edit, "resist"), state.compare_methods,
                     hint="For example 30%; empty: attacked all the same, and nothing is searched")  # fmt: skip
        show_run(view, "compare", "Compare", state.compare_methods, partial(_write_comparison, state=state))
        view.rebuilt(lambda: _finished(state, "compare"), build)
        view.copies("compare")


def _finished(state: State, step: str) -> object:
    run = state.work.runs.get(step)
    return None if run is None else run.ended


def show_run(view: View, step: str, label: str, press: Any, write: Callable[[Any], str]) -> None:
    """Show the button that begins a run, the one that cancels it, and what comes of it; write: its value as HTML."""
    runs = view.state.work.runs

    def goes_on() -> bool:
        return step in runs and runs[step].goes_on

    view.control("button", label, press=press, blocked=goes_on)
    view.control("button", f"Cancel {label.lower()}", press=lambda: view.state.work.cancel(step),
                 blocked=lambda: not goes_on())  # fmt: skip
    view.outcome(step, write)


def _write_comparison(comparison: Any, state: State) -> str:
    points = [point for point in comparison.candidates() if point["reached"] is not None]
    drawn = draw_image(lambda: draw_risk_utility(points, comparison.resist), WHAT) if points else ""
    if points and not is_installed():
        drawn = write_paragraphs([f"The map of risk and accuracy needs altair and vl-convert; type: {INSTALL}"])
    return (
        write_paragraphs([comparison.summary])
        + drawn
        + wide(write_table(*comparison.shown()), "candidates")
        + notes(comparison.notes)
    )
