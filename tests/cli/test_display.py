"""What is shown while something runs: the step, on a terminal only."""

import io
import logging

import numpy as np
import pytest
from rich.console import Console

from sqlanon.cli import display
from sqlanon.cli.console import console
from sqlanon.estimation.answered import Answered


@pytest.mark.parametrize(("terminal", "colours_forced"), [(True, False), (False, False), (False, True)])
def test_steps_are_shown_on_a_terminal_only(monkeypatch, terminal, colours_forced):
    text = io.StringIO()
    monkeypatch.setattr(text, "isatty", lambda: terminal)
    forced = terminal or colours_forced  # as FORCE_COLOR does in notebooks
    monkeypatch.setattr(display, "console", lambda stderr: Console(file=text, force_terminal=forced, soft_wrap=True))
    log = logging.getLogger("sqlanon")
    level = log.level
    with display.progress():
        log.info("checking %s", "sizes\x1b[31m")
    assert log.level == level
    assert ("checking sizes\\x1b[31m" in text.getvalue()) == terminal
    assert terminal or not text.getvalue()


def test_words_are_printed_as_they_are(capsys):
    for stderr in (False, True):
        console(stderr).print("no column ':heart:' in '[red]people'")
    assert set(capsys.readouterr()) == {"no column ':heart:' in '[red]people'\n"}


def test_a_key_that_is_null_is_told_from_a_figure_that_is_not_known(capsys):
    columns = {"job": np.array(["nurse", None], object), "expected": np.array([np.nan, 2.0])}
    display.show_answer(Answered(columns, [], [], {"job"}), "table")
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [words for words in printed if words[:1] == ["nurse"]] == [["nurse"]]
    assert [words[:1] for words in printed if words[-1:] == ["2.0"] or words[-1:] == ["2"]] == [["NULL"]]
