"""A directory that appears whole or not at all; leftovers of dead runs are found and cleaned."""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sqlanon.errors import TargetError

_MARK = ".sqlanon-"


class Staging:
    """Hold a private folder beside `target`: `new` is filled, then takes the target's place.

    The folder is locked while its run lives, so that a later run can tell the dead from the working.
    """

    def __init__(self, target: Path) -> None:
        """Make the folder; raise TargetError where the place is not writable."""
        self.target = target
        self.folder = target.parent / f".{target.name}{_MARK}{secrets.token_hex(6)}"
        try:
            self.folder.mkdir(mode=0o700)
            self._lock = _locked(self.folder)
            self.new.mkdir()
            self.spill.mkdir(mode=0o700)
        except OSError as error:
            raise TargetError(f"cannot write to {str(target.parent)!r}: {error.strerror}") from None

    @property
    def new(self) -> Path:
        """Return the folder that becomes the target."""
        return self.folder / "new"

    @property
    def spill(self) -> Path:
        """Return a folder for an engine's temporary files; it goes with the run."""
        return self.folder / "spill"

    @property
    def previous(self) -> Path:
        """Return where the replaced target waits until the new one stands."""
        return self.folder / "previous"

    def commit(self, replaced: frozenset[str]) -> None:
        """Let `new` take the target's place; of an old target only the files in `replaced` go."""
        try:
            for path in self.new.iterdir():
                _flushed(path)
            _flushed(self.new)
            if self.target.exists():
                (self.folder / "replaced").write_text("\n".join(sorted(replaced)), encoding="utf-8")
                self.target.rename(self.previous)
            self.new.rename(self.target)
            _flushed(self.target.parent)
            _bring_back(self.folder, self.target)
        except OSError as error:
            _bring_back(self.folder, self.target)
            raise TargetError(f"cannot write {str(self.target)!r}: {error.strerror}") from None

    def close(self) -> None:
        """Remove the folder and everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


@contextmanager
def staged(target: Path) -> Iterator[Staging]:
    """Open a staging folder beside `target`, after cleaning what dead runs left there."""
    clean(target)
    staging = Staging(target)
    try:
        yield staging
    finally:
        staging.close()


def clean(target: Path) -> None:
    """Remove the staging folders of dead runs for `target`; put back a target that one had set aside."""
    pattern = re.compile(re.escape(f".{target.name}{_MARK}") + r"[0-9a-f]{12}\Z")
    if not target.parent.is_dir():
        return
    for folder in target.parent.iterdir():
        if not pattern.match(folder.name) or folder.is_symlink() or not folder.is_dir():
            continue
        try:
            lock = _locked(folder)
        except OSError:  # its run lives, or it is another user's
            continue
        _bring_back(folder, target)
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _bring_back(folder: Path, target: Path) -> None:
    """Undo or finish the exchange that a run began: no target is lost, no foreign file goes."""
    previous = folder / "previous"
    if not previous.is_dir():
        return
    if not target.exists():
        previous.rename(target)
        return
    replaced = set((folder / "replaced").read_text(encoding="utf-8").split("\n"))
    for path in previous.iterdir():
        if path.name not in replaced and not (target / path.name).exists():
            path.rename(target / path.name)


def _locked(folder: Path) -> IO[str]:
    lock = (folder / "lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise
    return lock


def _flushed(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
