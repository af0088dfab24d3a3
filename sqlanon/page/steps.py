"""The nine steps: what each is for, which controls it has, what came of it, and what to do next."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from sqlanon.methods import METHODS
from sqlanon.models.fields import Parameter
from sqlanon.page.state import ROLES, State
from sqlanon.page.view import View, put
from sqlanon.plain_values import records
from sqlanon.prose import write
from sqlanon.read_places import MANIFEST
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Section, Verdict
from sqlanon.wording import spoken

ENDINGS = (".parquet", ".csv", ".json", ".jsonl", ".duckdb", ".db")
MOST_FILES = 40
# methods by what they are for, and parameters in the words of the job: all others are for experts
PURPOSES = {
    "anatomy": "keep what others may know exact, hide each person's value in a group",
    "robust": "the same, against who knows how values are distributed",
    "splu": "publish a row for a row, with sensitive values randomized",
    "mondrian": "one table of ranges, each shared by several people",
    "uncertain": "for cells that hold several possible values",
}
LABELS = {
    "anatomy.l": "Hide everybody among at least so many different values",
    "robust.r": "Let nobody be surer of a value than 1 in",
    "splu.gamma": "Let the true value stand in 1 row of",
    "mondrian.k": "Hide everybody among at least so many rows",
    "mondrian.l": "Let no value fill more of a range than 1 in",
    "coarsen": "Make columns coarser",
    "nulls": "Where the sensitive value is missing",
    "robust.max_suppressed": "Leave out at most this share of the rows",
}


@dataclass(frozen=True)
class Step:
    """A step of the page.

    name: of its run and its address. about: what it is for. label: of the button that begins its run, '' where it has
    none of its own. controls: shows what can be chosen. verdict, write: what came of it, in short and as HTML. further:
    what to do next; stop: what, where the verdict is red.
    """

    name: str
    title: str
    about: str
    further: str
    stop: str = ""
    label: str = ""
    controls: Callable[[View], None] = lambda view: None
    verdict: Callable[[State, Any], Verdict] = lambda state, value: value.verdict
    write: Callable[[State, Any], str] = lambda state, value: "".join(part.html(3) for part in value.sections())

    @property
    def address(self) -> str:
        """Return where the step is shown, relative to the page."""
        return self.name.replace(" ", "-")


def _show_data(view: View) -> None:
    state = view.state
    names = sorted(path.name for path in Path().iterdir() if path.suffix.lower() in ENDINGS and path.is_file())
    more = f" and {len(names) - MOST_FILES:,} more" if len(names) > MOST_FILES else ""
    if names:
        put(f"Files where this page was started: {', '.join(names[:MOST_FILES])}{more}")
    look = partial(state.start, "data")
    view.field("source", "File or table", look,
               "Parquet, CSV or JSON; a pattern such as 2024/*.parquet; or the name of a table or view")  # fmt: skip
    view.field("database", "Database file", look,
               "For a table: the DuckDB file that holds it. Nothing is uploaded or written to it")  # fmt: skip


def _show_roles(view: View) -> None:
    state = view.state

    def build() -> None:
        if not state.columns:
            put("Look at a table first.")
        for line in state.columns:
            name, said = line["column"], f"{line['type']}, {line['values']:,} values, {line['nulls']:,} missing"
            with ui.element("div").classes("column"):
                view.control("select", name, partial(state.role, name), partial(state.set_role, name),
                             choices=ROLES, hint=f"{said}: {line['why']}")  # fmt: skip

    view.rebuilt(lambda: (state.source, state.database, len(state.columns)), build)


def _roles_verdict(state: State, _: Any) -> Verdict:
    said = [
        f"{role}: {', '.join(columns)}"
        for role in ROLES[1:]
        if (columns := [column for column, chosen in state.roles.items() if chosen == role])
    ]
    whole = {"quasi", "sensitive"} <= set(state.chosen)
    lacking = "" if whole else "Give at least one column the role quasi, and one sensitive. "
    return Verdict(lacking + "; ".join(said), "green" if whole else "amber")


def _show_choice(view: View) -> None:
    state = view.state

    def take(line: Any) -> None:
        state.use(line["candidate"], line["arguments"], line["without"])
        ui.navigate.to("publish")

    def build() -> None:
        found = state.result("compare")
        for line in () if found is None else found.overall:
            view.control("button", f"Use {line['candidate']}, {line['parameter']}", press=partial(take, line))

    view.field("resist", "Largest share of people whose value an attack may name", partial(state.start, "compare"),
               "For example 30%; empty: attacked all the same, and nothing is searched")  # fmt: skip
    view.rebuilt(lambda: id(state.result("compare")), build)


def _show_publication(view: View) -> None:
    state = view.state

    def build() -> None:
        labelled = {name: LABELS.get(f"{state.method}.{name}", LABELS.get(name, "")) for name in state.parameters}
        for name, parameter in state.parameters.items():
            if labelled[name] or parameter.required:
                _show_parameter(view, parameter, labelled[name] or name)
        with ui.element("details"):
            put("For experts", "summary")
            for name, parameter in state.parameters.items():
                if not labelled[name] and not parameter.required:
                    _show_parameter(view, parameter, name)
            view.field("require", "Thresholds", kind="lines",
                       hint="One to a line, as in rows >= 500: nothing is published where one is missed")  # fmt: skip

    choices = [(name, f"{name}: {PURPOSES.get(name, METHODS[name].sentence)}") for name in METHODS]
    view.control("select", "Method", lambda: state.method, partial(state.edit, "method"), choices=choices)
    view.live(lambda: write_paragraphs([METHODS[state.method].paper]))
    view.rebuilt(lambda: state.method, build)
    view.field("out", "Directory", partial(state.start, "publish"),
               "It appears whole or not at all, in the folder where this page was started")  # fmt: skip
    view.field("overwrite", "Replace an older release there", kind="check")
    view.control("button", "Look at ten rows first", press=partial(state.start, "publish", preview=True),
                 blocked=partial(state.work.goes_on, "publish"))  # fmt: skip


def _show_parameter(view: View, parameter: Parameter, label: str) -> None:
    state, name, choices = view.state, parameter.name, list(parameter.words)
    choices = ["", *choices] if choices and parameter.default is None else choices
    usual = str(parameter.default) if parameter.default in choices else ""
    told = not parameter.required and parameter.default not in ((), {}, None)
    view.control(
        "select" if choices else "check" if parameter.typed is bool else "text",
        label + (" (required)" if parameter.required else ""),
        lambda: state.texts.get(name, "") or usual,
        partial(state.set_text, name),
        choices=choices,
        hint=spoken(parameter.help, "python") + (f" Default: {parameter.shown(parameter.default)}." if told else ""),
    )


def _published(_: State, shown: Any) -> Verdict:
    if shown.published:
        return Verdict(f"Published and verified: {shown.words}", "green")
    return Verdict(f"A look only, nothing was written: {shown.words}")


def _show_question(view: View) -> None:
    hint = "As in: SELECT sex, COUNT(*) AS n FROM release WHERE age < 60 GROUP BY sex; counts, sums and averages"
    view.field("question", "Question", hint=hint, kind="lines")


def _write_answer(_: State, pair: Any) -> str:
    answer, truth = pair
    lines, heads, remarks = records(answer.columns), list(answer.columns), list(map(spoken, answer.messages))
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
    table = write_table(heads, [[line[head] for head in heads] for line in lines])
    return Section("Answer", table, folded=False).html(3) + write_paragraphs(remarks)


def _write_handover(state: State, pages: Any) -> str:
    files = pages[0].facts.manifest["files"].items()
    values = {
        "listed": [[name, entry.get("rows"), entry["bytes"]] for name, entry in files] + [[MANIFEST, None, None]],
        "source": state.source,
        "database": state.database,
        "command": state.work.runs["publish"].inputs[0][0].command if "publish" in state.work.runs else "",
    }
    return write("page/handover.html", values)


STEPS = (
    Step(
        "data", "Data", "Where the table of people lies. The engine reads it there; nothing is uploaded.",
        "say in Roles what each column is.", label="Look at it", controls=_show_data, write=lambda state, check: "",
    ),
    Step(
        "roles", "Roles",
        "quasi: others may know it of people, and it is published. sensitive: what nobody shall learn. identifier:"
        " tells people apart, and is never published. All else is left out.",
        "Risks says whom these columns single out.", controls=_show_roles, verdict=_roles_verdict,
    ),
    Step(
        "risks", "Risks", "What the table gives away as it is, before anything is done to it.",
        "Compare what each method costs; or leave out a column in Roles that singles people out and is not needed.",
        label="Look again",
    ),
    Step(
        "compare", "Compare",
        "Each candidate is published for a moment, asked, attacked, and forgotten: that takes minutes. You may pass"
        " over this step.",
        "use a candidate, the most accurate one that resists; or go on to Publish and choose yourself.",
        "no candidate resists: allow a larger share, or leave out a column in Roles.", "Compare", _show_choice,
    ),
    Step(
        "publish", "Publish", "A method, and how much it promises. The release is verified before it appears.",
        "Verify proves it from the files; Attack tells what it gives away all the same.",
        label="Publish", controls=_show_publication, verdict=_published,
    ),
    Step(
        "verify", "Verify", "What is proved from the published files, and by comparison with the source.",
        "attack it.", "do not hand it on. Publish it again.", "Verify",
    ),
    Step(
        "attack", "Attack", "As an adversary would, who has the release alone; guesses are scored against the source.",
        "ask it what its recipient will ask, or hand it over.",
        "leave out in Roles, or coarsen in Publish, the column that tells most; or promise more. Then publish and"
        " attack again.",
        "Attack",
    ),
    Step(
        "ask", "Ask", "The recipient's question, answered from the release; beside it the truth, for you alone.",
        "if answers are too far off, promise less or leave out fewer columns; if they will do, hand over.",
        label="Ask", controls=_show_question, verdict=lambda state, pair: Verdict("Answered."), write=_write_answer,
    ),
    Step(
        "hand over", "Hand over", "The release is verified and attacked once more, as it lies there, and then packed.",
        "send the zip and the recipient's page. Keep the rest.", "do not send it. Attack says what to change.",
        "Prepare", verdict=lambda state, pages: pages[1].verdict, write=_write_handover,
    ),
)  # fmt: skip
