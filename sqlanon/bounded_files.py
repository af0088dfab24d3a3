"""Read files that a stranger may have placed: only regular files of bounded size, only JSON of bounded depth.

A pipe or a device would never end, a sparse file would fill memory, and JSON with thousands of brackets or digits would
take minutes. Every file that is read whole is read here.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

MOST_BYTES = 2**26  # of a file that is read whole; the longest manifests hold hierarchies, and a few megabytes
_MOST_DIGITS = 40  # of a number: a double's are 17, and its exponent
_DEEPEST = 100  # objects and lists in one another
_SPECIAL_FILES = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
}


class UnfitFileError(OSError):
    """What is there is no regular file, or too long to be read whole; its `strerror` says which."""


def read_text(path: str | os.PathLike[str], most: int = MOST_BYTES) -> str:
    """Return the text of a regular file; raise OSError where it is none, or longer than `most` bytes.

    Raises UnicodeDecodeError for what is not UTF-8.
    """
    return read_bytes(path, most).decode("utf-8")


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a regular file; raise OSError where it is none, or longer than `most` bytes."""
    # opened without waiting for a writer, and looked at behind its name: another file may take the name meanwhile
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unfit(path, status.st_mode)
        if status.st_size > most:
            words = f"it has {status.st_size:,} bytes, and at most {most:,} are read"
            raise UnfitFileError(errno.EFBIG, words, path)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def file_sha256(path: Path) -> str:
    """Return a file's sha256 as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_regular(path: str | os.PathLike[str]) -> None:
    """Raise UnfitFileError where a name leads to a pipe, a device or a socket; nothing for what is not there."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _unfit(path, mode)


def _unfit(path: str | os.PathLike[str], mode: int) -> UnfitFileError:
    what = _SPECIAL_FILES.get(stat.S_IFMT(mode), "no regular file")
    return UnfitFileError(errno.EINVAL, f"it is {what}, which is not read", path)


def parse_json(text: str) -> Any:
    """Return what a JSON text says; raise ValueError, in words, where it is none or says more than can be meant.

    Each key once, numbers of few digits, no NaN, objects and lists in one another at most a hundred times.
    """
    try:
        value = json.loads(
            text, parse_int=partial(_parse, int), parse_float=partial(_parse, float), parse_constant=_refuse,
            object_pairs_hook=_members,
        )  # fmt: skip
        too_deep = _is_deep(value, _DEEPEST)
    except RecursionError:
        too_deep = True
    except json.JSONDecodeError:
        raise ValueError("no JSON") from None
    if too_deep:
        raise ValueError(f"brackets within brackets, more than {_DEEPEST}")
    return value


def _is_deep(value: Any, levels: int) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not levels or any(_is_deep(member, levels - 1) for member in members)


def _parse(read: Callable[[str], float], digits: str) -> float:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return read(digits)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant}, which is no number")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):  # readers differ in which of two they take
        raise ValueError("a key twice")
    return members
