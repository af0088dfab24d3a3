"""Read a release that may be replaced meanwhile: everything read belongs to one release, the old or the new one."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlanon.errors import ReleaseError, SqlanonError
from sqlanon.releases.targets import MANIFEST, State

T = TypeVar("T")
_TURNS, _PAUSE = 3, 0.2  # how often a reader begins, and seconds in between


def directory_state(directory: Path) -> State | None:
    """Return what tells a directory's release from another at the same place, None where there is none now."""
    try:
        place, manifest = directory.stat(), (directory / MANIFEST).stat()
    except OSError:
        return None
    return place.st_ino, manifest.st_ino, manifest.st_size, manifest.st_mtime_ns


def read_steadily(
    directory: Path | None, opened: State | None, read: Callable[[], T], reopen: Callable[[], State | None]
) -> T:
    """Return what `read` returns; where another release has taken the directory's place, reopen it and read again.

    opened: the state in which the release was opened; reopen: opens it anew and returns its state.
    Raises ReleaseError where it is replaced again and again, and whatever `read` raises of a release that stays.
    """
    if directory is None:
        return read()
    for turn in range(_TURNS):
        failure: Exception | None = None
        try:
            if turn:  # an exchange in two renames leaves the place empty for a moment
                time.sleep(_PAUSE * (turn - 1))
                opened = reopen()
            result = read()
        except (SqlanonError, OSError) as error:
            failure = error
        if directory_state(directory) == opened:
            if failure is not None:
                raise failure
            return result
    raise ReleaseError(f"{str(directory)!r} is replaced while it is read; try again when its publisher has ended")
