"""A directory appears whole or not at all, whatever dies at whatever moment."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqlanon import atomic_files
from sqlanon.atomic_files import DirectoryExchange, OwnedFolder, recover_directory, remove_dead_folders
from sqlanon.errors import TargetError


def filled(exchange, text="new"):
    (exchange.new / "qit.parquet").write_text(text)
    (exchange.new / "release.json").write_text("{}")
    return exchange


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_committed_exchange_leaves_the_target_alone_in_its_place(tmp_path):
    exchange = filled(DirectoryExchange(tmp_path / "release"))
    assert not (tmp_path / "release").exists()
    exchange.commit(frozenset())
    exchange.close()
    assert names(tmp_path) == ["release"]
    assert names(tmp_path / "release") == ["qit.parquet", "release.json"]


def test_an_abandoned_exchange_leaves_nothing(tmp_path):
    filled(DirectoryExchange(tmp_path / "release")).close()
    assert names(tmp_path) == []


def test_foreign_files_of_an_old_target_stay(tmp_path):
    target = tmp_path / "release"
    target.mkdir()
    for name in ("qit.parquet", "old.parquet", "mine.txt"):
        (target / name).write_text("old")
    exchange = filled(DirectoryExchange(target))
    exchange.commit(frozenset({"qit.parquet", "old.parquet"}))
    exchange.close()
    assert names(target) == ["mine.txt", "qit.parquet", "release.json"]
    assert (target / "qit.parquet").read_text() == "new"


def replace_and_die(target, moment, swaps):
    """Replace in a process of its own, which leaves with 9 before its moment-th rename, with 0 after the last."""
    code = 1
    try:
        turns = itertools.count()

        def dying(rename):
            return lambda *names: os._exit(9) if next(turns) == moment else rename(*names)

        exchange = DirectoryExchange(target)
        (exchange.new / "qit.parquet").write_text("new")
        Path.rename = dying(Path.rename)
        atomic_files.exchange_names = dying(atomic_files.exchange_names) if swaps else lambda *names: False
        exchange.commit(frozenset({"qit.parquet"}))
        code = 0
    finally:
        os._exit(code)


@pytest.mark.parametrize(
    ("swaps", "moment"), [*((False, moment) for moment in range(5)), (True, 0), (True, 1), (True, 2)]
)
def test_death_at_every_moment_of_a_replacement(tmp_path, moment, swaps):
    """Stop before the moment-th rename of the exchange; then a later run finds a whole target."""
    target = tmp_path / "release"
    target.mkdir()
    (target / "qit.parquet").write_text("old")
    (target / "mine.txt").write_text("mine")
    number = os.fork()
    if not number:
        replace_and_die(target, moment, swaps)
    _, status = os.waitpid(number, 0)
    assert os.waitstatus_to_exitcode(status) == (9 if moment < (2 if swaps else 3) else 0)
    if swaps:  # at no moment is there no target
        assert (target / "qit.parquet").is_file()
    recover_directory(target)
    assert names(tmp_path) == ["release"]
    assert names(target) == ["mine.txt", "qit.parquet"]
    assert (target / "qit.parquet").read_text() == ("old" if moment < (1 if swaps else 2) else "new")


def test_a_second_run_to_one_target_is_refused_at_once(tmp_path):
    living = filled(DirectoryExchange(tmp_path / "release"))
    with pytest.raises(TargetError, match="another run is writing to"):
        DirectoryExchange(tmp_path / "release")
    DirectoryExchange(tmp_path / "other").close()
    living.commit(frozenset())
    living.close()
    assert names(tmp_path) == ["release"]


@pytest.mark.parametrize("knows", [True, False])
def test_what_has_taken_the_name_of_an_absent_target_stays(tmp_path, monkeypatch, knows):
    if not knows:
        monkeypatch.setattr(atomic_files, "_function", lambda: None)
    for make in (lambda path: path.mkdir(), lambda path: path.write_text("mine")):
        target = tmp_path / "release"
        exchange = filled(DirectoryExchange(target))
        make(target)
        with pytest.raises(TargetError, match="has appeared while this run was at work"):
            exchange.commit(frozenset())
        exchange.close()
        assert names(tmp_path) == ["release"]
        assert target.is_file() or names(target) == []
        target.rmdir() if target.is_dir() else target.unlink()


def test_old_systems_exchange_by_two_renames(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_files, "_function", lambda: None)
    test_a_committed_exchange_leaves_the_target_alone_in_its_place(tmp_path)
    for path in (tmp_path / "release").iterdir():
        path.unlink()
    (tmp_path / "release").rmdir()
    test_foreign_files_of_an_old_target_stay(tmp_path)


def test_living_runs_keep_their_folders(tmp_path):
    living = filled(DirectoryExchange(tmp_path / "release"))
    recover_directory(tmp_path / "release")
    assert living.new.is_dir()
    living.commit(frozenset())
    living.close()
    assert names(tmp_path) == ["release"]


def test_only_folders_of_ours_are_removed(tmp_path):
    stem = ".release.sqlanon-"
    (tmp_path / f"{stem}notatoken").mkdir()
    (tmp_path / f"{stem}0123456789abcdef").write_text("a file")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"{stem}fedcba9876543210").symlink_to(tmp_path / "elsewhere")
    dead = tmp_path / f"{stem}00000000000000ff"
    dead.mkdir(mode=0o700)
    (tmp_path / f"{stem}00000000000000aa").mkdir(mode=0o755)
    remove_dead_folders(tmp_path, stem)
    assert not dead.exists()
    assert len(names(tmp_path)) == 5


def test_the_folder_is_for_its_owner_alone(tmp_path):
    folder = OwnedFolder(tmp_path, "x-")
    assert folder.path.stat().st_mode & 0o077 == 0
    folder.close()
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(TargetError, match="cannot write to"):
        OwnedFolder(tmp_path / "gone", "x-")


def test_a_rename_that_fails_is_told(tmp_path, monkeypatch):
    exchange = filled(DirectoryExchange(tmp_path / "release"))
    monkeypatch.setattr(atomic_files, "flush", lambda path: Path("gone").stat())
    with pytest.raises(TargetError, match="cannot write"):
        exchange.commit(frozenset())
    exchange.close()
    assert names(tmp_path) == []


def test_a_system_without_locks_is_refused_in_one_line():
    program = (
        "import sys; sys.modules['fcntl'] = None; sys.argv = ['sqlanon', 'verify', 'ward'];"
        " from sqlanon.__main__ import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: sqlanon runs on Linux and macOS")
    assert done.stderr.endswith("inside WSL: wsl --install\n")
    assert done.stderr.count("\n") == 1
