"""What README and the guides show is what a user sees: commands run and print what is shown.

`UPDATE_README=1` writes the outputs anew whose shape has changed.
"""

import functools
import hashlib
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from sqlanon.cli import app
from sqlanon.forms import form_of_method
from sqlanon.methods import METHODS
from tests import documents
from tests.command import Shell
from tests.conftest import ROOT
from tests.documents import DOCUMENTS, GUIDES, Command, blocks, commands, text_of
from tests.lacking import LACKS

ENGINES = ("duckdb", "postgres", "spark")

NAMED_FILE = re.compile(r"# (\w+\.\w+)\n")  # the first line of a block that is a file
TRUE = re.compile(r"^(\S.*\S)  # True$", re.MULTILINE)
OTHER_TESTS = {"jobs", "macros"}  # whose blocks run in tests of their own, in DuckDB's client and cron
SLOW = {"README", "attack", "check", "ledger"}  # whose commands take seconds
NOT_RUN = {
    ("attack", "text"): "lines of an output above",
    ("estimate", "py"): "statsmodels is in no extra",
    ("estimate", "r"): "needs R with mice and nanoparquet",
    ("estimate", "text"): "a grammar, and a message",
    ("ledger", "sh"): "needs a PostgreSQL server: tests/test_readme_schedulers.py",
    ("publish", "sql"): "needs DuckDB's shell: tests/test_readme_schedulers.py",
}
RUN = {"console", "python", "sh"}
METHOD_ROW = re.compile(r"^\| \[?`(\w+)`\]?.*\|.*\|.* \d{4} \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def kept_tour(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    (folder / "tmp").mkdir()
    assert Shell(folder)("demo", "--keep", "tour").returncode == 0
    return folder / "tour"


@pytest.fixture
def tour(kept_tour, tmp_path):
    """Return a runner in a copy of the tour, so that documents do not depend on one another."""
    folder = tmp_path / "tour"
    shutil.copytree(kept_tour, folder)
    (folder / "tmp").mkdir()
    return Shell(folder)


def printed(tour: Shell, command: Command) -> str:
    """Run a command in the tour and return what a terminal shows; `cat FILE` makes the file that it shows.

    Of a command that answers and succeeds that is the answer: what it says beside it is left out.
    """
    words = shlex.split(command.line.replace("$(openssl rand -hex 32)", secrets.token_hex(32)))
    given = {}
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        given[name] = value
    if words[0] == "cat":
        (tour.folder / words[1]).write_text(command.shown)
        return command.shown
    if words[0] != "sqlanon":
        assert words[0] == "openssl", "only known commands run here"
        if shutil.which(words[0]) is None:
            pytest.skip(f"needs the command {words[0]}")
        done = subprocess.run(command.line, shell=True, cwd=tour.folder, capture_output=True, text=True, check=True)
        return done.stdout
    if words[1] == "publish" and not {"--key", "--key-file"} & {*words}:
        # what an attack reaches depends on the key; no two releases have the same
        given.setdefault("SQLANON_KEY", hashlib.sha256(command.line.encode()).hexdigest())
    done = tour(*words[1:], **given)
    return done.stdout if done.returncode == 0 and done.stdout else done.stdout + done.stderr


def run_python(tour: Shell, text: str) -> None:
    """Run a block in the tour's folder; an expression beside `# True` has to be so."""
    code = TRUE.sub(r"assert \1", text)
    before, names = Path.cwd(), {}
    os.chdir(tour.folder)
    try:
        exec(compile(code, "document", "exec"), names)
    finally:
        os.chdir(before)
        if "con" in names:
            names["con"].close()


def run_shell(tour: Shell, text: str) -> None:
    """Run a block that shows no output, line by line as a shell does."""
    text = re.sub(r"^sqlanon ", f"{shlex.quote(sys.executable)} -m sqlanon ", text, flags=re.MULTILINE)
    done = subprocess.run(
        ["/bin/sh", "-e", "-c", text],
        check=False,
        cwd=tour.folder,
        env=tour.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (name in SLOW)) for name in DOCUMENTS]
)
def test_every_block_runs_and_prints_what_is_shown(tour, name):
    changed = {}
    for block in blocks(name):
        if block.language == "python":
            run_python(tour, block.text)
        if block.language == "sh" and (name, "sh") not in NOT_RUN and name not in OTHER_TESTS:
            run_shell(tour, block.text)
        if named := NAMED_FILE.match(block.text):
            (tour.folder / named[1]).write_text(block.text)
        for command in commands(block) if block.language == "console" else ():
            if command.line.startswith("pip install "):  # the test of the package builds and installs it
                continue
            output = printed(tour, command)
            if not documents.agrees(output, command.shown):
                changed[command.start, command.end] = documents.anew(output, command.shown)
                if not os.environ.get("UPDATE_README"):
                    assert documents.shape(output) == documents.shape(command.shown), command.line
    if changed:
        documents.rewrite(name, changed)


def test_what_does_not_run_here_is_listed_with_its_reason():
    left = {(name, block.language) for name in DOCUMENTS if name not in OTHER_TESTS for block in blocks(name)}
    left = {(name, language) for name, language in left if language not in RUN}
    assert left == {(name, language) for name, language in NOT_RUN if language not in RUN}
    fences = {name: len(re.findall(r"^```", text_of(name), re.MULTILINE)) for name in DOCUMENTS}
    assert fences == {name: 2 * len(blocks(name)) for name in DOCUMENTS}, "a block of no language runs nowhere"


def inline_commands() -> list[str]:
    spans = {span for name in DOCUMENTS for span in re.findall(r"`sqlanon ([a-z][^`]*)`", text_of(name))}
    return sorted(spans)


typed = functools.cache(typer.main.get_command)


@pytest.mark.parametrize("line", inline_commands())
def test_a_command_in_a_sentence_can_be_typed(line):
    """Its verb and its options exist and take what stands there; `…` stands for what a reader fills in."""
    words = shlex.split(line)
    command, context = typed(app), None
    while hasattr(command, "list_commands"):
        context = typer.Context(command, parent=context, info_name=command.name)
        inner = command.get_command(context, words[0]) if words else None
        if inner is None:
            break
        command = inner
        words.pop(0)
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options
    if words and "…" not in words:  # a verb alone is its name
        command.make_context(command.name, words, parent=context)


def test_the_table_of_methods_is_the_list_of_methods():
    assert METHOD_ROW.findall(text_of("README")) == list(METHODS)


def test_readme_is_read_in_five_minutes():
    lines = text_of("README").splitlines()
    assert len(lines) <= 150
    (picture,) = [number for number, line in enumerate(lines, 1) if line.startswith("![")]
    assert picture < 15


@pytest.mark.parametrize("name", DOCUMENTS)
def test_lines_of_prose_fit_a_screen(name):
    assert [line for line in documents.prose(name) if len(line) > 120] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", text_of(name)):
        assert (DOCUMENTS[name].parent / target).exists(), target


def test_every_method_has_a_guide():
    assert set(METHODS) <= set(GUIDES)


def test_tests_that_a_guide_names_exist():
    named = [found for guide in GUIDES for found in re.findall(r"`(tests/\S+\.py)::(\w+)`", text_of(guide))]
    assert len(named) >= 15
    for path, test in named:
        assert f"\ndef {test}(" in (documents.README.parent / path).read_text(encoding="utf-8"), (path, test)


def test_readme_lists_every_guide():
    text = text_of("README")
    listed = re.findall(r"\]\((sqlanon/[^)#]+\.md)\)", text)
    assert {(DOCUMENTS["README"].parent / path) for path in listed} == set(GUIDES.values())
    assert all(f"[`{topic}`]" in text for topic in GUIDES)


class Marks:
    """Cells of the guide's tables, and the notes below them: what is marked as not there has a number."""

    def __init__(self):
        self.notes = []

    def cell(self, mark, there="yes"):
        if mark is None:
            return there
        if str(mark) not in self.notes:
            self.notes.append(str(mark))
        return f"no ({self.notes.index(str(mark)) + 1})"


def write_marks() -> str:
    """Return the tables of the guide of engines, as methods, forms and engines declare what they lack."""
    marks, places = Marks(), (*ENGINES, "script", "macros")
    lines = ["| | DuckDB | PostgreSQL | Spark | script | macros | ledger |", "|---|---|---|---|---|---|---|"]
    for name, method in METHODS.items():
        lacks = method.lacks
        macros = marks.cell(lacks.get("macros"), ", ".join(f"`{macro.name}`" for macro in method.macros))
        cells = [f"`{name}`", *["yes"] * (len(ENGINES) + 1), macros, marks.cell(lacks.get("ledger"))]
        lines.append(f"| {' | '.join(cells)} |")
    said = {
        "breach": ("yes", "`breach_unrestricted`, `breach_restricted`"),
        "check": ("", "`l_diversity`"),
    }
    said |= dict.fromkeys(("verify", "estimate"), ("`--sql`", ""))
    for verb in ("breach", "check", "verify", "estimate", "attack", "report", "compare", "complete"):
        words = dict(zip(places[-2:], said.get(verb, ("", "")), strict=True))
        cells = [marks.cell(LACKS[place].get(verb), words.get(place, "yes")) for place in places]
        lines.append(f"| `{verb}` | {' | '.join(cells)} | |")
    verbs = ("verify --voters", "verify --background", "compare", "complete")
    lines += ["", f"| release of | {' | '.join(f'`{verb}`' for verb in verbs)} |", f"|---|{'---|' * len(verbs)}"]
    for name, method in METHODS.items():
        form = form_of_method(name).lacks
        lacking = [form.get("voters"), form.get("background"), method.lacks.get("compare"), form.get("complete")]
        lines.append(f"| `{name}` | {' | '.join(map(marks.cell, lacking))} |")
    notes = [f"{number}. {note}" for number, note in enumerate(marks.notes, start=1)]
    return "\n".join([*lines, "", *notes])


def test_the_guide_says_what_is_not_there_and_why():
    """That it is so is what other tests show: `test_what_is_marked_is_refused`, and those of each engine."""
    path, heading, end = ROOT / "sqlanon/engines/engines.md", "## What runs where\n\n", "\n\n* A **script**"
    before, _, rest = path.read_text(encoding="utf-8").partition(heading)
    shown, _, after = rest.partition(end)
    if os.environ.get("UPDATE_README"):
        path.write_text(f"{before}{heading}{write_marks()}{end}{after}", encoding="utf-8")
    else:
        assert shown == write_marks(), "UPDATE_README=1 writes it anew"
