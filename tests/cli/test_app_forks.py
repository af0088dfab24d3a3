"""Tests fork their commands from a process that has imported them: they are told apart from others by nothing."""

import os
import subprocess
import sys

import pytest

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "--key", "5e" * 32)


@pytest.mark.thorough
def test_a_forked_command_does_what_a_process_of_its_own_does(shell):
    words = ("publish", "anatomy", "patients.parquet", *ROLES, "-l", "4", "--out")
    environment = shell.environment | {"PYTHONPATH": os.pathsep.join(sys.path)}
    own = subprocess.run(
        [sys.executable, "-m", "sqlanon", *words, "own_rel"],
        cwd=shell.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    forked = shell(*words, "frk_rel")
    assert (own.returncode, forked.returncode) == (0, 0)
    assert forked.stdout == own.stdout.replace("own_rel", "frk_rel")
    assert forked.stderr == own.stderr.replace("own_rel", "frk_rel")
    for name in ("qit.parquet", "st.parquet", "README.md", "estimate.sql"):
        assert (shell.folder / "frk_rel" / name).read_bytes() == (shell.folder / "own_rel" / name).read_bytes()
