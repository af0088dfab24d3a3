"""What is printed where the terminal's encoding lacks letters: replaced, never a fault."""

import json

import pytest


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


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_letters_that_an_encoding_lacks_are_replaced(accented, encoding):
    for code, *words in COMMANDS:
        done = accented(*words, PYTHONIOENCODING=encoding)
        assert done.returncode == code, (words, done.stderr)
        assert "fault" not in done.stderr
    told = json.loads(accented(*ASKED, "--format", "json", PYTHONIOENCODING=encoding).stdout)
    assert [row["maladie"] for row in told] == [f"é😀{number}" for number in range(5)]
