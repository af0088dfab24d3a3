"""Of every operation on files some fail, or are the last."""

import random
import tempfile

import pytest

from sqlanon.engines.duckdb import connection
from tests.benchmarks.kills import kill_all, people, targets
from tests.faults import KINDS

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "-l", 4)


@pytest.mark.parametrize(
    ("target", "places"),
    [
        (("--out", "release"), (3, 30, 48, 60, 70, 77, 84, 87)),
        (("--database", "hospital.duckdb", "--into", "ward"), (2, 8, 12, 15)),
    ],
)
def test_a_fault_at_a_file_leaves_a_whole_release_or_the_old_one(shell, target, places):
    publish = ("publish", "anatomy", "patients.parquet", *ROLES, *target)
    assert shell(*publish).returncode == 0
    before, stands = shell.left(), ("verify", target[-1], *target[:-2])
    for turn, number in enumerate(places):
        kind = KINDS[turn % len(KINDS)]
        done = shell(*publish, "--overwrite", fault=(number, kind))
        assert done.returncode in ((-9, 0) if kind == "KILL" else (0, 2)), (number, kind, done.stderr)
        assert "Traceback" not in done.stderr
        checked = shell(*stands)
        assert checked.returncode == 0, (number, kind, checked.stdout)
    assert shell(*publish, "--overwrite").returncode == 0
    assert shell.left() == before


def test_runs_that_are_killed_leave_release_and_ledger_in_step(shell):
    (shell.folder / "hospital.duckdb").unlink()
    people(shell, 2000)
    places = {name: targets()[name] for name in ("schema", "directory and ledger")}
    found, left = kill_all(shell, places, 4, random.Random(1))
    for one in found.values():
        assert one["killed"] and not one["lost or half visible"]
    assert not left


def test_associations_that_were_not_written_to_their_end_go_with_the_next_run(shell):
    views = ("--view", "SELECT ssn, age FROM base", "--view", "SELECT age, disease FROM base")
    secret = "SELECT ssn, disease FROM base WHERE age < 25"
    asked = ("breach", "--base", "patients.parquet", *views, "--secret", secret, "--out", "links.parquet")
    before = shell.left()
    for number in range(3, 90, 3):
        assert shell(*asked, fault=(number, "KILL")).returncode == -9
        if any(name.startswith(".") for name in shell.left()):  # the dead run had begun to write
            break
    assert shell.left() > before
    assert shell(*asked).returncode == 0
    assert shell.left() == before | {"links.parquet"}
    assert (shell.folder / "links.parquet").stat().st_mode & 0o777 == 0o600


def test_the_folder_of_temporary_files_is_found_without_a_file_that_could_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    monkeypatch.setenv("TEMP", str(tmp_path))
    before = tmp_path.stat().st_mtime_ns
    assert connection._system_folder() == tmp_path
    assert tmp_path.stat().st_mtime_ns == before
    monkeypatch.setenv("TEMP", "")
    assert connection._system_folder().is_dir()
