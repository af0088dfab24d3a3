"""Faults of the file system: every operation on files below a folder fails with an error, or is where the run dies.

Python tells an audit hook of each file that it opens, makes, renames or removes, before it does; what it tells nobody
(fsync, writes, the exchange of two names) is wrapped.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES}
KINDS = (*ERRORS, "KILL")
EVENTS = {
    *("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate"),
    *("os.listdir", "os.scandir"),
}


class Fault:
    """Count the operations on files below `folder`; let the one of a number fail, or be the end of the process."""

    def __init__(self, folder: Path, number: int, kind: str) -> None:
        """Take the number of the operation, from 0 on; -1 for none."""
        self.folder, self.number, self.kind, self.seen = str(folder), number, kind, 0

    def meet(self, *names: Any) -> None:
        """Count an operation on files of these names; fail or die where it is the one."""
        if not any(self._below(name) for name in names):
            return
        self.seen += 1
        if self.seen - 1 != self.number:
            return
        if self.kind == "KILL":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(ERRORS[self.kind], os.strerror(ERRORS[self.kind]), *names[:1])

    def _below(self, name: Any) -> bool:
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if isinstance(name, int):
            try:
                name = Path(f"/proc/self/fd/{name}").readlink()
            except OSError:
                return False
        return isinstance(name, str | os.PathLike) and str(Path.cwd() / name).startswith(self.folder)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Meet an operation that Python tells of."""
        if event in EVENTS:
            self.meet(*arguments[:2])

    def install(self) -> None:
        """Watch this process from now on, to its end."""
        from sqlanon import atomic_files

        os.fsync = self._wrapped(os.fsync)
        atomic_files._renameat2 = self._wrapped(atomic_files._renameat2)
        Path.write_text = self._wrapped(Path.write_text, after=True)  # type: ignore[method-assign]
        sys.addaudithook(self.hook)

    def _wrapped(self, function: Callable[..., Any], after: bool = False) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            if after:
                function(arguments[0], "", encoding="utf-8")  # the file is there by then, and empty
            self.meet(*arguments[:2])
            return function(*arguments, **named)

        return wrapped
