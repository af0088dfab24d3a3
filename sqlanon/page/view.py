"""What one tab shows of a step: controls, and pieces of HTML that look at the state again when it has changed."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.element import Element

from sqlanon.page.state import State
from sqlanon.text_tables import write_paragraphs, write_text
from sqlanon.verdicts import Verdict

if TYPE_CHECKING:
    from sqlanon.page.steps import Step

_STALE = "This is about another choice than the one that stands now."
OFTEN = 0.2  # seconds between two looks at the state


class Control(Element, component="control.js"):  # type: ignore[call-arg]
    """A native control with its label: text, lines, select, check, button, cancel (shown while it can), or copy."""


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

    def live(self, write: Callable[[], str], tag: str = "div", **attributes: str) -> None:
        """Show HTML that is written anew when the state has changed; whoever writes it has escaped it."""
        shown = [write()]
        element = _html(shown[0], tag, attributes)

        def update() -> None:
            if (text := write()) != shown[0]:  # what a reader has unfolded stays so
                shown[0] = text
                element.set_content(text)

        self._updates.append(update)

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
        choices: Iterable[str | tuple[str, str]] = (),
        hint: str = "",
        blocked: Callable[[], bool] = lambda: False,
    ) -> None:
        """Show a control.

        value: what the state holds; edit: takes what was typed or chosen; press: Enter, or a click. choices: words, or
        each with what it is called.
        """
        element = Control()
        pairs = [(choice, choice) if isinstance(choice, str) else choice for choice in choices]
        element.props.update(kind=kind, label=label, hint=hint, value=value(), choices=pairs, blocked=blocked())
        if edit is not None:
            element.on("edit", lambda event: edit(str(event.args)))
        if press is not None:
            element.on("press", lambda _: press())

        def update() -> None:
            now = {"value": value(), "blocked": blocked()}
            if any(element.props[name] != held for name, held in now.items()):
                element.props.update(now)
                element.update()

        self._updates.append(update)

    def field(
        self, name: str, label: str, press: Callable[[], None] | None = None, hint: str = "", kind: str = "text"
    ) -> None:
        """Show a control for a choice of the state's, by its name."""
        self.control(kind, label, lambda: getattr(self.state, name), partial(self.state.edit, name), press, hint=hint)

    # -- a step ----------------------------------------------------------------------------------

    def show(self, steps: "tuple[Step, ...]", step: "Step") -> None:
        """Show one step: the way through all of them, its controls, its run, what came of it, and what to do next."""
        state, number = self.state, steps.index(step)
        self.live(lambda: "".join(self._entry(steps, each, each is step) for each in steps), "nav", aria_label="steps")
        with ui.element("section").props('aria-labelledby="step"'):
            put(f"{number + 1}. {step.title}", "h2", id="step")
            self.live(lambda: self._fault(step), role="alert")
            self.live(lambda: "" if (verdict := self._verdict(step)) is None else verdict.html())
            put(step.about)
            step.controls(self)
            if step.label:
                going = partial(state.work.goes_on, step.name)
                self.control("button", step.label, press=partial(state.start, step.name), blocked=going)
                self.control("cancel", f"Cancel {step.label.lower()}", press=partial(state.work.cancel, step.name),
                             blocked=lambda: not going())  # fmt: skip
                self.live(lambda: self._status(step), role="status", aria_live="polite")
                self.live(lambda: self._progress(step))
                self.live(lambda: self._outcome(step))
            self.live(lambda: write_paragraphs([f"Next: {self._further(step)}"]))
            self._copies(step)
        ways = {"Back": steps[:number][-1:], "Next": steps[number + 1 :][:1]}
        links = [
            f'<a class="{words}" href="{each.address}">{words}: {write_text(each.title)}</a>'
            for words, to in ways.items()
            for each in to
        ]
        _html("".join(links), "p", {}).classes("ways")

    def _entry(self, steps: "tuple[Step, ...]", step: "Step", shown: bool) -> str:
        verdict = self._verdict(step)
        colour, said = ("", "") if verdict is None else (verdict.colour, verdict.said or "Done")
        current = ' aria-current="step"' if shown else ""
        return (
            f'<a href="{step.address}"{current} class="{colour}">{steps.index(step) + 1}. {write_text(step.title)}'
            f"<small>{said}</small></a>"
        )

    def _verdict(self, step: "Step") -> Verdict | None:
        if step.label:
            value = self.state.result(step.name)
            return None if value is None else step.verdict(self.state, value)
        return step.verdict(self.state, None) if self.state.columns else None

    def _further(self, step: "Step") -> str:
        verdict = self._verdict(step)
        return step.stop if step.stop and verdict is not None and verdict.colour == "red" else step.further

    def _status(self, step: "Step") -> str:
        """Say what a run is at, without figures that change: a screen reader says each change."""
        run = self.state.work.runs.get(step.name)
        if run is None or run.fault:
            return ""
        if run.goes_on:
            return f"<p>{'Cancelling' if run.cancelled else write_text(run.part)} …</p>"
        return (
            "<p>Cancelled. Nothing was published; what stood there stands.</p>" if run.value is None else "<p>Done.</p>"
        )

    def _progress(self, step: "Step") -> str:
        run = self.state.work.runs.get(step.name)
        if run is None or not run.goes_on:
            return ""
        bar = "" if run.share is None else f'<progress value="{run.share}" aria-label="how far it has come"></progress>'
        return f"<p>{bar} {run.seconds:.0f} s</p>"

    def _fault(self, step: "Step") -> str:
        run = self.state.work.runs.get(step.name)
        words = self.state.fault.get(step.name) or (run.fault if run is not None else "")
        return f'<p class="bad">{write_text(words)}</p>' if words else ""

    def _outcome(self, step: "Step") -> str:
        run = self.state.work.runs.get(step.name)
        if run is None or run.value is None:
            return ""
        written = step.write(self.state, run.value)
        return f'<div class="stale"><p>{_STALE}</p>{written}</div>' if self.state.is_stale(run) else written

    def _copies(self, step: "Step") -> None:
        """Show what to type in the place of a step, a command to a line, with a button that copies it."""

        def text() -> str:
            inputs = self.state.inputs(step.name) if step.label else None
            return "" if inputs is None else "\n".join(call.command for call in inputs[0])

        def build() -> None:
            if text():
                put(text(), "pre", tabindex="0", role="region", aria_label="Command")
                self.control("copy", "Copy: Command", text)

        if step.label:
            with ui.element("details").classes("copies"):
                put("The same, to type", "summary")
                self.rebuilt(text, build)
