"""What a publisher keeps beside a release is not handed on, replaces nothing that is read, and is his alone."""

import stat

import duckdb
import pytest

ASKED = ["--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "--out", "kept", "--overwrite"]
ROBUST = ["publish", "robust", "patients", "--database", "hospital.duckdb", *ASKED]
ROBUST += ["-r", "2", "--max-suppressed", "0.2", "--background-from", "sex"]
UNCERTAIN = ["publish", "uncertain", "patients.parquet", *ASKED]
UNCERTAIN += ["-k", "2", "-L", "2", "--threshold", "0.9", "--influence", "learn"]


def test_files_that_would_be_lost_or_handed_on_are_refused(shell):
    asked, names = UNCERTAIN, ["kept/influence.csv", "key.csv", "folder.csv", "patients.parquet"]
    (shell.folder / "key.csv").write_text("ab" * 32)
    (shell.folder / "folder.csv").mkdir()
    before = (shell.folder / "patients.parquet").read_bytes()
    assert shell(*asked, "--key-file", "key.csv").returncode == 0
    published = sorted(path.name for path in (shell.folder / "kept").iterdir())
    for name in names:
        done = shell(*asked, "--key-file", "key.csv", "--save-influence", name)
        assert done.returncode == 2 and name in done.stderr, done.stderr
        assert (shell.folder / "patients.parquet").read_bytes() == before
        assert (shell.folder / "key.csv").read_text() == "ab" * 32
        assert sorted(path.name for path in (shell.folder / "kept").iterdir()) == published


@pytest.mark.parametrize(("asked", "option"), [(ROBUST, "--save-background"), (UNCERTAIN, "--save-influence")])
def test_what_is_kept_is_its_owners_alone_and_dead_runs_leave_nothing(shell, asked, option):
    dead = shell.folder / f".sqlanon-aside-{'0' * 16}"
    dead.mkdir(mode=0o700)
    (dead / "secret.csv").write_text("what a dead run left")
    assert shell(*asked, option, "mine.csv").returncode == 0
    assert stat.S_IMODE((shell.folder / "mine.csv").stat().st_mode) == 0o600
    assert duckdb.sql(f"select count(*) from '{shell.folder}/mine.csv'").fetchall()[0][0] > 0
    assert not list(shell.folder.glob(".sqlanon*"))
