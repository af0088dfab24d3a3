"""Private folders that a run owns, and a directory that appears whole or not at all.

A folder is locked while its run lives; a later run takes the lock of a dead one and cleans up after it.
"""

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

_TOKEN = re.compile(r"[0-9a-f]{16}\Z")
ASIDE = ".sqlanon-aside-"  # folders for what a publisher keeps beside a release, until it stands


class OwnedFolder:
    """A folder of this run alone, named `<stem><token>`; the run removes it, or a later one that finds it dead."""

    def __init__(self, parent: Path, stem: str) -> None:
        """Make and lock the folder; raise TargetError where `parent` is not writable."""
        # a name that nobody can guess: in /tmp a guessed one could be taken before us
        self.path = parent / f"{stem}{secrets.token_hex(8)}"
        try:
            self.path.mkdir(mode=0o700)
            self._lock_file = _lock(self.path)
        except OSError as error:
            raise TargetError(f"cannot write to {str(parent)!r}: {error.strerror}") from None

    def close(self) -> None:
        """Remove the folder and everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock_file.close()


def dead_folders(parent: Path, stem: str) -> list[tuple[Path, IO[str]]]:
    """Find and lock the folders that dead runs left in `parent`; the living keep their locks."""
    # of several runs that look at once, the lock lets one clean up
    dead = []
    for path in parent.iterdir() if parent.is_dir() else ():
        if not path.name.startswith(stem) or not _TOKEN.fullmatch(path.name[len(stem) :]):
            continue
        # in a folder that others write to, a stranger may have laid a link or a folder of this name
        if path.is_symlink() or not path.is_dir() or not _ours(path):
            continue
        try:
            dead.append((path, _lock(path)))
        except OSError:  # its run lives, or it is another user's
            continue
    return dead


def _ours(path: Path) -> bool:
    """Return whether only we can have filled the folder: a stranger's is neither put back nor removed."""
    status = path.stat()
    return status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0


def remove_dead_folders(parent: Path, stem: str) -> None:
    """Remove what dead runs left in `parent`."""
    for path, lock in dead_folders(parent, stem):
        shutil.rmtree(path, ignore_errors=True)
        lock.close()


@contextmanager
def write_atomically(path: Path, failure: str) -> Iterator[Path]:
    """Yield an empty file beside `path`, readable for its owner alone, that takes the path when the block ends well.

    What dead runs left of such files goes first. Raises TargetError, beginning with `failure`, where it cannot take
    the path.
    """
    remove_dead_folders(path.parent, ASIDE)
    folder = OwnedFolder(path.parent, ASIDE)
    try:
        place = folder.path / path.name
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise TargetError(f"cannot write {path.name}: {error.strerror}") from None
        yield place
        try:
            place.replace(path)
        except OSError as error:
            raise TargetError(f"{failure}: {error.strerror}") from None
    finally:
        folder.close()


class DirectoryExchange:
    """Fill the folder `new` beside `target`, then let it take the target's place in one rename."""

    def __init__(self, target: Path) -> None:
        """Clean up after dead runs for the same target, then make the folder."""
        self.target = target
        recover_directory(target)
        self._folder = OwnedFolder(target.parent, _stem(target))
        self.new = self._folder.path / "new"
        self.new.mkdir()

    def commit(self, replaced: frozenset[str]) -> None:
        """Let `new` appear as the target; of an old target only the files in `replaced` go."""
        folder = self._folder.path
        try:
            # on disk before the rename: after a power cut a directory must not stand with empty files in it
            for path in (*self.new.iterdir(), self.new):
                _flush(path)
            # two renames, for a directory cannot replace another: in between, `previous` tells what to put back
            if self.target.exists():
                (folder / "replaced").write_text("\n".join(sorted(replaced)), encoding="utf-8")
                self.target.rename(folder / "previous")
            self.new.rename(self.target)
            _flush(self.target.parent)
        except OSError as error:
            raise TargetError(f"cannot write {str(self.target)!r}: {error.strerror}") from None
        finally:
            _settle_exchange(folder, self.target)

    def close(self) -> None:
        """Remove what is left of the run."""
        self._folder.close()


def recover_directory(target: Path) -> None:
    """Clean up after dead runs for `target`; put back a target that one of them had set aside."""
    for path, lock in dead_folders(target.parent, _stem(target)):
        _settle_exchange(path, target)
        shutil.rmtree(path, ignore_errors=True)
        lock.close()


def _stem(target: Path) -> str:
    return f".{target.name}.sqlanon-"


def _settle_exchange(folder: Path, target: Path) -> None:
    """Undo or finish an exchange that was begun: no target is lost, no foreign file goes."""
    previous = folder / "previous"
    if not previous.is_dir():
        return
    if not target.exists():
        previous.rename(target)
        return
    listed = folder / "replaced"
    replaced = set(listed.read_text(encoding="utf-8").split("\n")) if listed.is_file() else set()
    # what the release's manifest did not name is its owner's, and moves on into the new one
    for path in previous.iterdir():
        if path.name not in replaced and not (target / path.name).exists():
            path.rename(target / path.name)


def _lock(folder: Path) -> IO[str]:
    lock = (folder / "lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise
    return lock


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
