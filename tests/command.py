"""Run the command line in a process of its own, forked from one that has imported it already."""

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["sqlanon.cli", "scipy.stats"])  # scipy.stats takes a second


def _child(arguments: list[str], folder: str, environment: dict[str, str], out: str, err: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    for path, stream in ((out, sys.stdout), (err, sys.stderr)):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, stream.fileno())
    sys.argv = ["sqlanon", *arguments]
    from sqlanon.cli import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # a forked worker leaves without them, a command does not


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

    def __call__(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run to the end and return the exit code, standard output and standard error."""
        with tempfile.TemporaryDirectory() as printed:
            out, err = f"{printed}/out", f"{printed}/err"
            words = [str(argument) for argument in arguments]
            process = _FORKS.Process(
                target=_child, args=(words, str(self.folder), self.environment | environment, out, err)
            )
            process.start()
            process.join(120)
            if process.exitcode is None:
                process.kill()
                raise TimeoutError(words)
            texts = [Path(path).read_text() if Path(path).exists() else "" for path in (out, err)]
            return subprocess.CompletedProcess(words, process.exitcode, *texts)

    def left(self) -> set[str]:
        """Return the names in the folder, hidden ones and the folder of temporary files included."""
        return {path.name for path in self.folder.iterdir()} | {path.name for path in (self.folder / "tmp").iterdir()}
