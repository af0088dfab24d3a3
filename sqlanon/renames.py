"""Renames that the plain one cannot do: only where nothing stands, and two names at once (renameat2 of Linux)."""

import ctypes
import errno
import os
from functools import cache
from pathlib import Path
from typing import Any

_AT_CWD, _NO_REPLACE, _EXCHANGE = -100, 1, 2
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)  # to the kernel, or to this file system


def rename_to_absent(source: Path, target: Path) -> None:
    """Rename a directory to a name that nothing has; raise FileExistsError where something has it."""
    if _renameat2(source, target, _NO_REPLACE):
        return
    target.mkdir()  # a name is taken once; an empty directory is replaced by a rename
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
