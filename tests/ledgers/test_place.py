"""A ledger and a release appear together or not at all, wherever the run is killed."""

import json
import os
import signal
from pathlib import Path

import pytest

from sqlanon import atomic_files
from sqlanon.atomic_files import DirectoryExchange, recover_directory
from sqlanon.errors import TargetError
from sqlanon.ledgers import place
from sqlanon.ledgers.place import LedgerFile, mend, note_directory, read_note

MOST_STEPS = 80


def publish(folder, number, target="ward"):
    """Write a release, a ledger and the note beside it that say the same number, as publishing does."""
    ledger = LedgerFile(folder / "ward.ledger")
    try:
        exchange = DirectoryExchange(folder / target)
        try:
            (exchange.new / "release.json").write_text(str(number), encoding="utf-8")
            ledger.new.write_text(str(number), encoding="utf-8")
            ledger.appear(note_directory(exchange.new), str(number))
            try:
                exchange.commit(frozenset({"release.json"}))
            except BaseException:
                ledger.settle()
                raise
            ledger.place_note()
        finally:
            exchange.close()
    finally:
        ledger.close()


def numbers(folder, target="ward"):
    """Return what the ledger and the release say, None for what is not there."""
    release, ledger = folder / target / "release.json", folder / "ward.ledger"
    return tuple(int(path.read_text()) if path.is_file() else None for path in (ledger, release))


def noted(folder):
    """Return what is noted beside the ledger, None for nothing."""
    text = read_note(folder / "ward.ledger")
    return None if text is None else int(text)


def kill_at(step, folder, number, target):
    """Publish in a process of its own that kills itself before the given step on the disk; return whether it died."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    count = [0]

    def counted(function):
        def call(*arguments, **named):
            count[0] += 1
            if count[0] == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        return call

    for name in ("replace", "rename", "write_text", "unlink", "mkdir", "chmod"):
        setattr(Path, name, counted(getattr(Path, name)))
    os.link = counted(os.link)
    for module in (atomic_files, place):
        module.flush, module.shutil.rmtree = counted(module.flush), counted(module.shutil.rmtree)
    atomic_files.exchange_names = counted(atomic_files.exchange_names)
    atomic_files.rename_to_absent = counted(atomic_files.rename_to_absent)
    try:
        publish(folder, number, target)
    finally:
        os._exit(0)


@pytest.mark.parametrize(("before", "target"), [(False, "ward"), (True, "ward"), (True, "ward_2")])
def test_killed_at_every_step_both_stand_or_neither(tmp_path, before, target):
    for step in range(1, MOST_STEPS):
        folder = tmp_path / f"{step}"
        folder.mkdir()
        if before:
            publish(folder, 1)
        died = kill_at(step, folder, 2, target)
        # the next run looks at the ledger first, then at its target
        mend(folder / "ward.ledger")
        recover_directory(folder / target)
        none = (1, None if target != "ward" else 1) if before else (None, None)
        assert numbers(folder, target) in ((2, 2), none), step
        # what is noted is neither ahead of the ledger nor behind it
        assert noted(folder) == numbers(folder, target)[0], step
        publish(folder, 3, target)
        assert numbers(folder, target) == (3, 3)
        assert {path.name for path in folder.iterdir()} == {"ward.ledger", "ward.ledger.last", "ward", target} - (
            set() if before else {"ward"} - {target}
        )
        if not died:
            break
    assert step > 12 and not died


def test_a_release_that_cannot_appear_leaves_the_ledger_of_before(tmp_path, monkeypatch):
    publish(tmp_path, 1)

    def full(*_):
        raise OSError(28, "No space left on device")

    for broken in ("rename_to_absent", "exchange_names"):
        with monkeypatch.context() as patch:
            patch.setattr(atomic_files, broken, full)
            with pytest.raises(TargetError, match="No space left"):
                publish(tmp_path, 2, "ward" if broken == "exchange_names" else "other")
        assert numbers(tmp_path) == (1, 1) and noted(tmp_path) == 1
    with monkeypatch.context() as patch:
        patch.setattr(place, "flush", full)
        with pytest.raises(TargetError, match=r"cannot write .*ward.ledger.*No space left"):
            publish(tmp_path, 2)
    assert numbers(tmp_path) == (1, 1)
    assert (tmp_path / "ward.ledger").stat().st_mode & 0o777 == 0o600


def test_a_first_ledger_goes_with_its_release(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_files, "rename_to_absent", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(TargetError):
        publish(tmp_path, 1)
    assert numbers(tmp_path) == (None, None) and not list(tmp_path.iterdir())


def test_where_the_staged_release_is_gone_the_new_ledger_stays(tmp_path):
    # somebody else published to the same directory and cleaned up: nobody saw the release, which is no harm
    publish(tmp_path, 1)
    ledger = LedgerFile(tmp_path / "ward.ledger")
    exchange = DirectoryExchange(tmp_path / "ward_2")
    ledger.new.write_text("2")
    ledger.appear(note_directory(exchange.new), "2")
    exchange.close()
    ledger._owned._lock_file.close()  # as the kernel does when the process dies
    mend(tmp_path / "ward.ledger")
    assert numbers(tmp_path) == (2, 1) and noted(tmp_path) == 2


def test_a_ledger_that_was_put_there_since_is_not_undone(tmp_path):
    publish(tmp_path, 1)
    ledger = LedgerFile(tmp_path / "ward.ledger")
    exchange = DirectoryExchange(tmp_path / "ward_2")
    ledger.new.write_text("2")
    ledger.appear(note_directory(exchange.new), "2")
    ledger._owned._lock_file.close()
    restored = tmp_path / "backup"
    restored.write_text("7")
    restored.replace(tmp_path / "ward.ledger")
    mend(tmp_path / "ward.ledger")
    # nor is it noted that the dead run's stands
    assert numbers(tmp_path) == (7, 1) and noted(tmp_path) == 1
    exchange.close()


def test_one_run_at_a_time_publishes_under_a_ledger(tmp_path):
    ledger = LedgerFile(tmp_path / "ward.ledger")
    with pytest.raises(TargetError, match="another run publishes under"):
        LedgerFile(tmp_path / "ward.ledger")
    ledger.close()
    LedgerFile(tmp_path / "ward.ledger").close()
    assert not list(tmp_path.iterdir())


def test_a_ledger_is_a_file_of_its_own(tmp_path):
    (tmp_path / "real").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("link", ""):
        with pytest.raises(TargetError, match="is no file; a ledger is a file of its own"):
            LedgerFile(tmp_path / name) if name else LedgerFile(tmp_path)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "ledger.json").write_text("{}")
    with pytest.raises(TargetError, match=r"old' is a ledger of 0\.2\.0: ledger=DIRECTORY was removed"):
        LedgerFile(tmp_path / "old")
    with pytest.raises(TargetError, match="no directory"):
        LedgerFile(tmp_path / "nowhere" / "ward.ledger")
    assert json.loads((tmp_path / "real").read_text()) == 1
