"""What the README shows is what a user sees: its commands run, its outputs have the shape shown."""

import re
import shlex

import pytest

from sqlanon.methods import METHODS
from sqlanon.sql.translate import DIALECTS
from tests.command import Shell
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
CONSOLE = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def shape(text):
    """Return text with numbers, hashes and padding made alike: draws differ from run to run."""
    text = re.sub(r"\b[0-9a-f]{8}…", "#", text)
    text = re.sub(r"\d[\d,]*(\.\d+)?(e-\d+)?", "#", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    (folder / "tmp").mkdir()
    assert Shell(folder)("demo", "--keep", "tour").returncode == 0
    (folder / "tour" / "tmp").mkdir()
    return Shell(folder / "tour")


def test_every_console_block_runs_and_prints_what_is_shown(tour):
    ran = 0
    for block in CONSOLE:
        command, _, shown = block.partition("\n")
        words = shlex.split(command.removeprefix("$ "))
        if words[0] != "sqlanon":
            assert words[:2] == ["pip", "install"]
            continue
        done = tour(*words[1:])
        printed = done.stdout if done.returncode == 0 else done.stderr
        assert shape(printed) == shape(shown), command
        ran += 1
    assert ran >= 4


def test_the_inline_compile_example_runs(tour):
    command = re.findall(r"`sqlanon (compile .*?)`", README)[0]
    assert tour(*shlex.split(command)).returncode == 0
    assert all(f"`{dialect}`" in README for dialect in DIALECTS)


def test_the_python_block_runs(tour, monkeypatch):
    monkeypatch.chdir(tour.folder)
    if not (tour.folder / "ward").exists():
        tour("publish", "anatomy", "patients", "--database", "hospital.duckdb", "--quasi", "age,sex,zipcode",
             "--sensitive", "disease", "--id", "ssn", "-l", "4", "--out", "ward")  # fmt: skip
    names = {}
    for block in PYTHON:
        exec(compile(block, "README", "exec"), names)
    assert names["release"].verify(against="patients").holds
    names["con"].close()


def test_the_table_of_methods_is_the_list_of_methods():
    rows = re.findall(r"^\| `(\w+)` \|.*\|.*\| .* \d{4} \|$", README, re.MULTILINE)
    assert rows == list(METHODS)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
