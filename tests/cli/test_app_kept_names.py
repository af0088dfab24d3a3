"""Every verb, option and Python name of an earlier version is there: `fixtures/releases/VERSION/surface.json`."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import typer.main

import sqlanon
from sqlanon.cli.verbs.guide import topics
from sqlanon.removed import removed
from tests.conftest import ROOT

FOLDER = ROOT / "fixtures" / "releases"
SURFACES = sorted(FOLDER.glob("*/surface.json"))


def options_of(words: str) -> set[str]:
    from sqlanon import cli
    from sqlanon.cli.app import app

    assert cli.app is app  # importing the package adds the verbs
    command = typer.main.get_command(app)
    for word in words.split():
        command = command.get_command(command.context_class(command), word)
        assert command is not None, f"no verb {words}"
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("path", SURFACES, ids=lambda path: path.parent.name)
def test_what_could_be_typed_can_be_typed(path):
    surface = json.loads(path.read_text(encoding="utf-8"))
    assert len(surface["commands"]) > 10
    for verb, options in surface["commands"].items():
        if removed(*verb.split()[:2]):
            continue
        lost = {option for option in options if not (removed(option) or removed(verb, option))} - options_of(verb)
        assert not lost, f"sqlanon {verb} had {', '.join(sorted(lost))}"
    assert not set(surface["python"]) - {*sqlanon.__all__}
    assert all(hasattr(sqlanon, name) for name in surface["python"])


def test_the_changelog_has_a_heading_for_every_version():
    text = Path(topics()["changelog"]).read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (?:\d{4}-\d\d-\d\d|unreleased)$", text, re.MULTILINE)
    assert re.findall(r"^## ", text, re.MULTILINE) == ["## "] * len(headings)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] in headings[:2] and text.count("unreleased") == headings.index(project["version"])
    assert headings == sorted(headings, key=lambda version: [*map(int, version.split("."))], reverse=True)
    assert {path.parent.name for path in SURFACES} <= {*headings}
