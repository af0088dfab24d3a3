"""Run the command line in a process of its own, forked from one that has imported it already."""

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 120  # seconds


@functools.cache
def _forks() -> "subprocess.Popen[bytes]":
    """Start the process that forks, once for all tests of this run."""
    program = [sys.executable, "-c", "from tests.forks import main; main()"]
    process = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    atexit.register(process.communicate)  # closing its input ends it
    return process


def _line(process: "subprocess.Popen[bytes]", seconds: float) -> int:
    """Read one number that the process answers with."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], seconds)[0]:
        raise TimeoutError
    return int(process.stdout.readline())


class Shell:
    """Run the command line in a folder as a user does: a process, its exit code, what it printed."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; its `tmp` serves as the system's folder of temporary files."""
        self.folder = folder

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a run, without what the tester's own shell says to sqlanon."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("SQLANON_")}
        return kept | {"TMPDIR": str(self.folder / "tmp"), "COLUMNS": "200"}

    def __call__(
        self,
        *arguments: object,
        fault: tuple[int, str] | None = None,
        kill_after: float | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end and return the exit code (negative: a signal's), standard output and standard error.

        fault: the number of an operation on files, and how it fails (`tests.faults`). kill_after: seconds after which
        the process is killed.
        """
        words = [str(argument) for argument in arguments]
        with tempfile.TemporaryDirectory() as printed:
            out, err = Path(printed, "out"), Path(printed, "err")
            command = {"arguments": words, "folder": str(self.folder), "out": str(out), "err": str(err), "fault": fault}
            process = _forks()
            assert process.stdin is not None
            line = json.dumps(command | {"environment": self.environment | environment}) + "\n"
            process.stdin.write(line.encode())
            number = _line(process, LONGEST)  # the first waits for the imports as well
            try:
                code = _line(process, LONGEST if kill_after is None else kill_after)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                    os.kill(number, signal.SIGKILL)
                code = _line(process, LONGEST)
                if kill_after is None:
                    raise TimeoutError(words) from None
            encoding = environment.get("PYTHONIOENCODING")
            texts = [path.read_text(encoding) if path.exists() else "" for path in (out, err)]
            return subprocess.CompletedProcess(words, code, *texts)

    def left(self) -> set[str]:
        """Return the names in the folder, hidden ones and the folder of temporary files included."""
        return {path.name for path in self.folder.iterdir()} | {path.name for path in (self.folder / "tmp").iterdir()}
