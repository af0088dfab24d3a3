"""Faults of the file system: every operation on files below a folder fails with an error, or is where the run dies.

Python tells an audit hook of each file that it opens, makes, renames or removes, before it does; what it tells nobody
(fsync, writes, the exchange of two names) is wrapped. The engine's own writes meet a limit on the size of files.
"""

import atexit
import errno
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.forks import run

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


def run_with_fault(
    folder: Path, words: Sequence[str], number: int, kind: str, largest: int | None = None
) -> dict[str, Any]:
    """Run a command in a process of its own; return its exit code (negative: a signal), what it printed, operations.

    largest: the most bytes that a file may have, for the engine's writes as well.
    """
    pipes = {name: os.pipe() for name in ("out", "err", "seen")}
    child = os.fork()
    if not child:
        _become(folder, words, Fault(folder, number, kind), {name: told for name, (_, told) in pipes.items()}, largest)
    texts = {}
    for name, (heard, told) in pipes.items():
        os.close(told)
        with os.fdopen(heard, errors="replace") as stream:
            texts[name] = stream.read()
    _, status = os.waitpid(child, 0)
    return texts | {"code": os.waitstatus_to_exitcode(status), "seen": int(texts["seen"] or number + 1)}


def _become(folder: Path, words: Sequence[str], fault: Fault, told: dict[str, int], largest: int | None) -> None:
    """Be the command, in its folder; leave without returning."""
    code = 1
    gc.freeze()  # a collection would copy every page of what was imported
    # what the process that forked has to do at its end is not the command's: its temporary folder stays
    atexit._clear()
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    weakref.finalize._registered_with_atexit = False  # type: ignore[attr-defined]
    try:
        os.chdir(folder)
        os.environ["TMPDIR"], tempfile.tempdir = str(folder / "tmp"), None
        os.dup2(told["out"], sys.stdout.fileno())
        os.dup2(told["err"], sys.stderr.fileno())
        if largest is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        fault.install()
        code = run(list(words))
        atexit._run_exitfuncs()  # os._exit leaves them out, a command does not
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.write(told["seen"], str(fault.seen).encode())
    finally:
        os._exit(code)


def shown(outcome: dict[str, Any]) -> str:
    """Return an outcome in one line."""
    return json.dumps(outcome)[:400]
