"""The release: publish it, verify it, attack it, report about it, and ask it what its recipient would."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.forms import form_of
from sqlanon.html_tables import write_paragraphs, write_table
from sqlanon.methods import METHODS
from sqlanon.methods.parameter_types import Choice, Switch
from sqlanon.page.state import State
from sqlanon.page.steps.before import show_run
from sqlanon.page.view import View, notes, put, wide
from sqlanon.plain_values import records
from sqlanon.wording import spoken

VIEWS = ("public", "internal")
_GRAMMAR = "As in: SELECT sex, COUNT(*) AS n FROM release WHERE age < 60 GROUP BY sex; counts, sums and averages"


def show_publication(view: View) -> None:
    """Show method, parameters, thresholds and target, as the method declares them."""
    state = view.state

    def build() -> None:
        for name, parameter in state.parameters.items():
            parameter_type, hint = parameter.type, spoken(parameter.help, "python")
            has_usual = not parameter.required and parameter.default not in ((), {}, None)
            shown = f" Default: {parameter_type.shown(parameter.default)}." if has_usual else ""
            choices = list(parameter_type.words) if isinstance(parameter_type, Choice) else []
            choices = ["", *choices] if choices and parameter.default is None else choices
            usual = str(parameter.default) if parameter.default in choices else ""
            view.control(
                "select" if choices else "check" if isinstance(parameter_type, Switch) else "text",
                name + ("" if not parameter.required else " (required)"),
                partial(_typed, state, name, usual),
                partial(state.set_text, name),
                choices=choices,
                hint=hint + shown,
            )

    with view.step(5, "Publish"):
        view.control("select", "Method", lambda: state.method, partial(state.edit, "method"), choices=list(METHODS))
        view.live(lambda: write_paragraphs([f"{state.declared.sentence} ({state.declared.paper})"]))
        with ui.element("fieldset"):
            put("Parameters", "legend")
            view.rebuilt(lambda: state.method, build)
        view.control("lines", "Thresholds", lambda: state.require, partial(state.edit, "require"),
                     hint="One to a line, as in rows >= 500: nothing is published where one is missed")  # fmt: skip
        view.control("text", "Directory", lambda: state.out, partial(state.edit, "out"), state.publish,
                     hint="It appears whole or not at all, in the folder where this page was started")  # fmt: skip
        view.control("check", "Replace an older release there", lambda: "yes" if state.overwrite else "",
                     lambda text: state.edit("overwrite", text == "yes"))  # fmt: skip
        show_run(view, "publish", "Publish", state.publish, partial(_write_release, state=state))
        view.copies("publish")


def _typed(state: State, name: str, usual: str) -> str:
    return state.texts.get(name, "") or usual


def _write_release(release: Any, state: State) -> str:
    form = form_of(release.manifest)
    summary = [[name, spoken(text)] for name, text in form.summary(release.manifest, state.out).items()]
    parts = [wide(write_table([], summary), "the release")]
    for title, heads, rows, closing in form.tables(release.manifest):
        parts += [write_paragraphs([title]), wide(write_table(heads, rows), title), write_paragraphs(closing)]
    return "".join(parts) + notes(release.notes)


def _on_release(state: State, step: str, function: Callable[[Engine, Any], Any], as_it_is: bool = False) -> None:
    """Begin a run on the release that stands in the directory, in the run's own session.

    as_it_is: whether files that somebody has changed are looked at all the same.
    """
    from sqlanon import open as open_release

    path = state.target

    def run(engine: Engine) -> Any:
        release = open_release(path, con=engine)
        if not as_it_is:
            release.require_unchanged()
        return function(engine, release)

    state.start(step, run)


def show_verification(view: View) -> None:
    """Show what is proved from the published files, and by comparison with the source."""
    state = view.state

    def verify() -> None:
        against = state.original
        _on_release(state, "verify", lambda _, release: release.verify(against), as_it_is=True)

    with view.step(6, "Verify"):
        show_run(view, "verify", "Verify", verify,
                 lambda report: write_paragraphs([report.sentence]) + wide(report.html_body(), "checks"))  # fmt: skip
        view.copies("verify")


def show_attack(view: View) -> None:
    """Show what an adversary gets out of the release, beside what was promised."""
    state = view.state

    def attack() -> None:
        from sqlanon import attack as attack_release

        against, identifier = state.original, state.row_identifier
        _on_release(state, "attack", lambda _, release: attack_release(release, against=against, id=identifier))

    with view.step(7, "Attack"):
        put("As an adversary would, who has the release alone; guesses are scored against the source.")
        show_run(view, "attack", "Attack", attack,
                 lambda found: write_paragraphs([found.headline]) + wide(found.html_body(), "attacks"))  # fmt: skip
        view.copies("attack")


def show_report(view: View) -> None:
    """Show the two pages about the release: for the publisher's own eyes, and for whoever receives it."""
    state = view.state

    def write() -> None:
        from sqlanon import report

        against, identifier = state.original, state.row_identifier

        def make(_: Engine, release: Any) -> dict[str, str]:
            internal = report(release, against=against, id=identifier)
            return {"public": report(release).html, "internal": internal.html}

        _on_release(state, "report", make)

    with view.step(8, "Report"):
        show_run(view, "report", "Write the report", write, lambda _: _write_links())
        view.copies("report")


def _write_links() -> str:
    words = {"public": "for whoever receives the release", "internal": "with figures of the source: for you alone"}
    items = "".join(
        f'<li>{view}, {words[view]}: <a href="report/{view}" target="_blank" rel="noopener">'
        f"open the {view} report</a>,"
        f' <a href="report/{view}?download=1" download="report-{view}.html">download it</a></li>'
        for view in VIEWS
    )
    return f"<ul>{items}</ul>"


def show_question(view: View) -> None:
    """Show the answer that the recipient gets, with its interval, and beside it the truth for the publisher."""
    state = view.state

    def ask() -> None:
        question, source, roles = state.question, state.source, state.published or state.chosen
        _on_release(state, "ask", lambda engine, release: _answer(engine, release, question, source, roles))

    with view.step(9, "Ask"):
        view.control("lines", "Question", lambda: state.question, partial(state.edit, "question"), hint=_GRAMMAR)
        show_run(view, "ask", "Ask", ask, _write_answer)
        view.copies("ask")


def _answer(engine: Engine, release: Any, question: str, source: str, roles: dict[str, list[str]]) -> Any:
    """Return the release's answer, and the truth or why there is none."""
    from sqlanon.comparison.own_queries import true_answer

    answer = release.ask(question)
    try:
        return answer, true_answer(engine, source, roles["quasi"], roles["sensitive"], question)
    except SqlanonError as error:
        return answer, str(error)


def _write_answer(pair: Any) -> str:
    answer, truth = pair
    lines = records(answer.columns)
    remarks = list(map(spoken, answer.messages))
    heads = list(answer.columns.keys())
    if isinstance(truth, str):
        remarks.append(f"no truth beside it: {truth}")
    else:
        shape, frame = truth
        rows = {tuple(row[key] for key in shape.keys): row for row in records(frame)}
        for figure in shape.figures:
            heads.insert(heads.index(figure) + 1, f"{figure}: truth, for you alone")
        for line in lines:
            known = rows.get(tuple(line[key] for key in shape.keys), {})
            for figure in shape.figures:  # a group that nobody is in is no row of the truth
                none = 0 if figure in shape.counts else None
                line[f"{figure}: truth, for you alone"] = known.get(figure, none)
    return wide(write_table(heads, [[line[head] for head in heads] for line in lines]), "answer") + notes(remarks)


def report_of(state: State, view: str) -> str | None:
    """Return the text of a report that was written, None where there is none."""
    run = state.work.runs.get("report")
    return None if run is None or run.value is None else run.value.get(view)
