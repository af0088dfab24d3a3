"""Private folders that a run owns, and a directory that appears whole or not at all.

A folder is locked while its run lives; a later run takes the lock of a dead one and cleans up after it.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

from sqlanon.errors import TargetError, UsageError, raised_as

# renameat2 of Linux: rename only if the target does not exist, and exchange two names at once.
_AT_CWD, _NO_REPLACE, _EXCHANGE = -100, 1, 2
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)  # to the kernel, or to this file system


def rename_to_absent(source: Path, target: Path) -> None:
    """Rename a directory to a name that nothing has; raise FileExistsError where something has it."""
    if _renameat2(source, target, _NO_REPLACE):
        return
    target.mkdir()  # only one run can make it; a rename then replaces the empty directory
    try:
        source.rename(target)
    except OSError:
        target.rmdir()
        raise


def exchange_names(one: Path, other: Path) -> bool:
    """Let two names change places in one step; return False where the system cannot."""
    return _renameat2(one, other, _EXCHANGE)


def _renameat2(source: Path, target: Path, flags: int) -> bool:
    function = _function()
    if function is None:
        return False
    if function(_AT_CWD, os.fsencode(source), _AT_CWD, os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(target))


@cache
def _function() -> Any:
    """Return the C library's function, None where it has none."""
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


try:
    import fcntl
except ModuleNotFoundError:
    raise UsageError(
        "sqlanon runs on Linux and macOS, whose locks on files it needs; on Windows, install and run it inside WSL:"
        " wsl --install"
    ) from None

_TOKEN = re.compile(r"[0-9a-f]{16}\Z")
_PATIENCE = 100  # of 20 ms: how long a run waits for another that looks, too
ASIDE = ".sqlanon-aside-"  # folders for what a publisher keeps beside a release, until it stands


class OwnedFolder:
    """A folder of this run alone, named `<stem><token>`; the run removes it, or a later one that finds it dead."""

    def __init__(self, parent: Path, stem: str) -> None:
        """Make and lock the folder; raise TargetError where `parent` is not writable."""
        # an unpredictable name: in /tmp a predictable one could be taken by somebody else first
        self.path = parent / f"{stem}{secrets.token_hex(8)}"
        with raised_as(TargetError, f"cannot write to {str(parent)!r}"):
            self.path.mkdir(mode=0o700)
            self._lock_file = _lock(self.path)

    def close(self) -> None:
        """Remove the folder and everything in it."""
        if not self._lock_file.closed:
            shutil.rmtree(self.path, ignore_errors=True)
            self._lock_file.close()

    def leave(self) -> None:
        """Leave the folder to the run that comes next, as if this one had died."""
        self._lock_file.close()


def dead_folders(parent: Path, stem: str) -> list[tuple[Path, IO[str]]]:
    """Find and lock the folders that dead runs left in `parent`; the living keep their locks."""
    # if several runs look at once, the lock lets only one clean up
    dead = []
    for path in _folders(parent, stem):
        try:
            dead.append((path, _lock(path)))
        except OSError:  # its run lives, or it is another user's
            continue
    return dead


def _folders(parent: Path, stem: str) -> Iterator[Path]:
    """Yield the folders of runs, dead or living, that only we can have filled: nothing of a stranger's is moved."""
    for path in parent.iterdir() if parent.is_dir() else ():
        if not path.name.startswith(stem) or not _TOKEN.fullmatch(path.name[len(stem) :]):
            continue
        # in a folder that others write to, a stranger may have laid a link or a folder of this name
        if not path.is_symlink() and path.is_dir():
            status = path.stat()
            if status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0:
                yield path


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
        with raised_as(TargetError, f"cannot write {path.name}"):
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield place
        with raised_as(TargetError, failure):
            place.replace(path)
    finally:
        folder.close()


class DirectoryExchange:
    """Fill the folder `new` beside `target`, then let it take the target's place in one step.

    One run at a time writes to a target: its folder is locked from the beginning to the end.
    """

    def __init__(self, target: Path) -> None:
        """Clean up after dead runs for the same target, then make the folder; refuse where another run lives."""
        self.target = target
        with locked_parent(target):  # of two runs that begin at once, one makes its folder first
            _recover(target)
            if is_written(target.parent, _stem(target)):
                raise TargetError(f"another run is writing to {str(target)!r}; wait until it has ended")
            self._folder = OwnedFolder(target.parent, _stem(target))
        self._present = os.path.lexists(target)
        self.new = self._folder.path / "new"
        self.new.mkdir()

    def commit(self, replaced: frozenset[str]) -> None:
        """Let `new` appear as the target; of an old target only the files in `replaced` go.

        Raises TargetError where something has taken the name of a target that was absent when this run began.
        """
        folder = self._folder.path
        try:
            # written to disk before the rename: after a power cut a directory must not contain empty files
            for path in (*self.new.iterdir(), self.new):
                flush(path)
            if self._present and self.target.exists():
                self._replace(folder, replaced)
            else:
                rename_to_absent(self.new, self.target)
            flush(self.target.parent)
        except FileExistsError:
            raise TargetError(f"{str(self.target)!r} has appeared while this run was at work; it stays") from None
        except OSError as error:
            raise TargetError(f"cannot write {str(self.target)!r}: {error.strerror}") from None
        finally:
            _finish_exchange(folder, self.target)

    def _replace(self, folder: Path, replaced: frozenset[str]) -> None:
        (folder / "replaced").write_text("\n".join(sorted(replaced)), encoding="utf-8")
        # whoever cleans up after us tells by this number whether the two have changed places
        (folder / "number").write_text(str(self.new.stat().st_ino), encoding="utf-8")
        if exchange_names(self.new, self.target):
            return
        # two renames, for a directory cannot replace another: in between, `previous` tells what to put back
        self.target.rename(folder / "previous")
        self.new.rename(self.target)

    def close(self) -> None:
        """Remove what is left of the run."""
        self._folder.close()


def recover_directory(target: Path) -> None:
    """Clean up after dead runs for `target`; put back a target that one of them had set aside."""
    with locked_parent(target):
        _recover(target)


def _recover(target: Path) -> None:
    for path, lock in dead_folders(target.parent, _stem(target)):
        _finish_exchange(path, target)
        shutil.rmtree(path, ignore_errors=True)
        lock.close()


def _stem(target: Path) -> str:
    return f".{target.name}.sqlanon-"


def _finish_exchange(folder: Path, target: Path) -> None:
    """Undo or finish an exchange that was begun: no target is lost, no foreign file goes."""
    previous = folder / "previous"
    if not previous.is_dir():
        if not _changed_places(folder):
            return
        previous = folder / "new"
    if not target.exists():
        previous.rename(target)
        return
    listed = folder / "replaced"
    replaced = set(listed.read_text(encoding="utf-8").split("\n")) if listed.is_file() else set()
    # what the release's manifest did not name is its owner's, and moves on into the new one
    for path in previous.iterdir():
        if path.name not in replaced and not (target / path.name).exists():
            path.rename(target / path.name)


def _changed_places(folder: Path) -> bool:
    """Tell whether `new` is what stood at the target before."""
    number, new = folder / "number", folder / "new"
    return number.is_file() and new.is_dir() and str(new.stat().st_ino) != number.read_text(encoding="utf-8")


def is_written(parent: Path, stem: str) -> bool:
    """Tell whether a run that lives has a folder of this stem."""
    # what dead runs left is gone by now: a folder of ours is one whose lock is held
    return any(True for _ in _folders(parent, stem))


@contextmanager
def locked_parent(target: Path) -> Iterator[None]:
    """Let one run at a time look at a target's folders and make its own: a moment, under the kernel's lock."""
    try:
        descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # without permission to look nothing can be found, and the last rename fails if something is there
        yield
        return
    try:
        for _ in range(_PATIENCE):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:  # another run looks; or the file system knows no such locks
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _lock(folder: Path) -> IO[str]:
    lock = (folder / "lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise
    return lock


def flush(path: Path) -> None:
    """Write a file or a directory through to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
