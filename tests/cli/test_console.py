"""What is printed where the terminal's encoding lacks letters: replaced, never a fault."""

import contextlib
import json
import os
import pty
import subprocess
import sys

import pytest

from tests.command import ROOT


@pytest.fixture
def accented(shell, con):
    """Return the runner, in whose folder lies a release with letters beyond ASCII."""
    con.execute(
        f"""copy (select i as ssn, i % 7 as "âge", 'é😀' || i % 5 as maladie from range(200) t(i))
        to '{shell.folder / "people.parquet"}'"""
    )
    columns = ("--quasi", "âge", "--sensitive", "maladie", "--id", "ssn", "-l", "3", "--out", "ward")
    assert shell("publish", "anatomy", "people.parquet", *columns).returncode == 0
    return shell


ASKED = ("estimate", "ward", "SELECT maladie, COUNT(*) FROM release GROUP BY maladie ORDER BY maladie")
COMMANDS = [
    (0, "verify", "ward"),
    (0, *ASKED),
    (0, "attack", "ward"),
    (0, "check", "people.parquet"),
    (0, "guide", "anatomy"),
    (2, "estimate", "ward", "SELECT nix, COUNT(*) FROM release GROUP BY nix"),
    (2, "publish", "anatomy", "people.parquet", "--quasi", "âge", "--sensitive", "nix", "-l", "3", "--out", "new"),
]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_letters_that_an_encoding_lacks_are_replaced(accented, encoding):
    for code, *words in COMMANDS:
        done = accented(*words, PYTHONIOENCODING=encoding)
        assert done.returncode == code, (words, done.stderr)
        assert "fault" not in done.stderr
    told = json.loads(accented(*ASKED, "--format", "json", PYTHONIOENCODING=encoding).stdout)
    assert [row["maladie"] for row in told] == [f"é😀{number}" for number in range(5)]


HARMFUL = "a\x1b[31m\x07\u202eb"


def on_a_terminal(shell, *words):
    """Return what a command writes to a terminal."""
    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "sqlanon", *words]
    environment = {**shell.environment, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(program, cwd=shell.folder, stdout=theirs, stderr=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # the end of what a terminal is told
            while part := os.read(ours, 1 << 16):
                written += part
        process.communicate()
    os.close(ours)
    return written.decode()


def test_nothing_that_a_terminal_acts_on_is_shown_or_commented(shell, con):
    con.execute(
        f"""copy (select i as ssn, i % 7 as "{HARMFUL}", '{HARMFUL}' || i % 5 as "d{HARMFUL}" from range(200) t(i))
        to '{shell.folder / "people.parquet"}'"""
    )
    roles = ("--quasi", HARMFUL, "--sensitive", f"d{HARMFUL}", "--id", "ssn", "-l", "3", "--out", "ward")
    assert shell("publish", "anatomy", "people.parquet", *roles).returncode == 0
    comments = [line for line in (shell.folder / "ward/estimate.sql").read_text().splitlines() if line.startswith("--")]
    texts = [(shell.folder / "ward/README.md").read_text(), *comments]
    texts += shell("verify", "ward", "--against", "people.parquet", "--sql").stdout.splitlines()
    shown = [text for text in texts if text.startswith(("#", "--"))]
    query = f'SELECT "d{HARMFUL}", COUNT(*) FROM release GROUP BY "d{HARMFUL}"'
    for words in (
        ("estimate", "ward", query, "--format", "csv"),
        ("estimate", "ward", query, "--sql"),
    ):
        shown.append(on_a_terminal(shell, *words))
        assert "a\\x1b[31m" in shown[-1]
    assert len(shown) > 8
    for text in shown:
        assert not {"\x1b", "\x07", "\u202e"} & set(text), text
    assert HARMFUL + "1" in shell("estimate", "ward", query, "--format", "csv").stdout  # values are kept
