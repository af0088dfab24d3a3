"""What one tab shows: controls and pieces of HTML that look at the shared state again whenever it has changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.element import Element

from sqlanon.html_tables import write_table, write_text
from sqlanon.page.copies import write_copies
from sqlanon.page.state import State
from sqlanon.wording import spoken

_STALE = "These figures are about another choice than the one that stands now."
OFTEN = 0.2  # seconds between two looks at the state


class Control(Element, component="control.js"):  # type: ignore[call-arg]
    """A native control with its label: text, lines, select, check, button or copy."""


def put(words: str, tag: str = "p", **attributes: str) -> Any:
    """Show words in an element of HTML's, with nothing in them that a browser would act on."""
    return _html(write_text(words), tag, attributes)


def _html(text: str, tag: str, attributes: Mapping[str, str]) -> Any:
    element = ui.html(text, sanitize=False, tag=tag)
    for name, value in attributes.items():
        element.props[name.replace("_", "-")] = value
    return element


class View:
    """One tab. Everything on it is made once and brought up to date in place, so that the focus stays."""

    def __init__(self, state: State) -> None:
        """Take the state that all tabs share."""
        self.state = state
        self._updates: list[Callable[[], None]] = []
        self._seen = -1

    def refresh(self) -> None:
        """Bring everything up to date where the state has changed since."""
        going = any(run.goes_on for run in list(self.state.work.runs.values()))
        if going or self.state.version != self._seen:
            self._seen = self.state.version
            for update in list(self._updates):
                update()

    # -- pieces ----------------------------------------------------------------------------------

    def live(self, write: Callable[[], str], **attributes: str) -> Any:
        """Show HTML that is written anew when the state has changed; whoever writes it has escaped it."""
        element = _html(write(), "div", attributes)
        self._updates.append(lambda: element.set_content(write()))
        return element

    def rebuilt(self, key: Callable[[], object], build: Callable[[], None]) -> None:
        """Show controls that are other ones when the key has changed."""
        box, last, before = ui.element("div"), [key()], len(self._updates)
        with box:
            build()
        inner = self._updates[before:]
        del self._updates[before:]

        def update() -> None:
            now = key()
            if now != last[0]:
                last[0] = now
                kept, self._updates = self._updates, []
                box.clear()
                with box:
                    build()
                inner[:], self._updates = self._updates, kept
            for refresh in inner:
                refresh()

        self._updates.append(update)

    def control(
        self,
        kind: str,
        label: str,
        value: Callable[[], str] = lambda: "",
        edit: Callable[[str], None] | None = None,
        press: Callable[[], None] | None = None,
        choices: Iterable[str] = (),
        hint: str = "",
        hidden: bool = False,
        blocked: Callable[[], bool] = lambda: False,
    ) -> None:
        """Show a control. value: what the state holds; edit: takes what was typed or chosen; press: Enter, or a click.

        hidden: whether its label is for who cannot see it alone, since a table's head says the same.
        """
        element = Control()
        element.props.update(kind=kind, label=label, hint=hint, hidden=hidden, value=value(), choices=list(choices))
        element.props["blocked"] = blocked()
        if edit is not None:
            element.on("edit", partial(_take, edit))
        if press is not None:
            element.on("press", lambda _: press())

        def update() -> None:
            now = {"value": value(), "blocked": blocked()}
            if any(element.props[name] != held for name, held in now.items()):
                element.props.update(now)
                element.update()

        self._updates.append(update)

    @contextmanager
    def step(self, number: int, title: str) -> Any:
        """Show a numbered step under its heading."""
        with ui.element("section").props(f'aria-labelledby="step{number}"'):
            put(f"{number}. {title}", "h2", id=f"step{number}")
            yield

    def outcome(self, step: str, write: Callable[[Any], str]) -> None:
        """Show how a step's run goes on, and what came of it; dimmed where the choice has changed since."""
        self.live(lambda: _status(self.state, step), role="status", aria_live="polite")
        self.live(lambda: _parts(self.state, step))
        self.live(lambda: _fault(self.state, step), role="alert")
        self.live(lambda: _figures(self.state, step, write))

    def copies(self, step: str) -> None:
        """Show what to type in the place of a step, each text with a button that copies it."""

        def build() -> None:
            for what, text in write_copies(self.state, step).items():
                with ui.element("div").classes("copy"):
                    put(what, "h3")
                    put(text, "pre", tabindex="0", role="region", aria_label=what)
                    self.control("copy", f"Copy: {what}", partial(str, text))

        with ui.element("details").classes("copies"):
            put("The same, to type", "summary")
            self.rebuilt(lambda: str(write_copies(self.state, step)), build)


def _take(edit: Callable[[str], None], event: Any) -> None:
    edit(str(event.args))


def wide(body: str, what: str) -> str:
    """Let what is wider than a phone be moved, by a keyboard as well."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{write_text(what)}">{body}</div>'


def tables(titled: Iterable[tuple[str, Sequence[str], Iterable[Sequence[object]]]]) -> str:
    """Write tables under their titles."""
    return "".join(
        (f"<h3>{write_text(title)}</h3>" if title else "") + wide(write_table(heads, lines), title or "figures")
        for title, heads, lines in titled
    )


def notes(texts: Iterable[str]) -> str:
    """Write sentences as a list, nothing where there are none."""
    items = "".join(f"<li>{write_text(spoken(text))}</li>" for text in texts)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _status(state: State, step: str) -> str:
    """Say what a run is at, without figures that change: a screen reader says each change."""
    run = state.work.runs.get(step)
    if run is None:
        return ""
    if run.goes_on:
        words = "Cancelling" if run.cancelled else run.steps[-1][0] if run.steps else "Beginning"
        return f"<p>{words} …</p>"
    if run.cancelled and run.value is None:
        return "<p>Cancelled. Nothing was published; what stood there stands.</p>"
    return "" if run.fault else "<p>Done.</p>"


def _parts(state: State, step: str) -> str:
    run = state.work.runs.get(step)
    lines = [] if run is None else run.lines()
    parts = "".join(f"<li>{write_text(words)} <span>{seconds:.1f} s</span></li>" for words, seconds in lines)
    return f'<ol class="parts">{parts}</ol>' if parts else ""


def _fault(state: State, step: str) -> str:
    run = state.work.runs.get(step)
    words = state.fault.get(step) or (run.fault if run is not None else "")
    return f'<p class="bad">{write_text(words)}</p>' if words else ""


def _figures(state: State, step: str, write: Callable[[Any], str]) -> str:
    run = state.work.runs.get(step)
    if run is None or run.value is None:
        return ""
    if state.is_stale(run):
        return f'<div class="stale"><p>{_STALE}</p>{write(run.value)}</div>'
    return write(run.value)
