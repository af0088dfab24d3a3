"""Let every operation on files fail, or be the last: what a command was asked for appears whole, or nothing of it.

    python -m tests.benchmarks.faults [--every 1] [--kinds ENOSPC EIO EACCES KILL] [--commands …]
    unshare -rm python -m tests.benchmarks.faults --full

For each command and each operation on files that it does: the operation fails with the error, or the process is killed
before it. Then the exit code is one of the contract's, no traceback is printed, what stands at the target is the old
release or the new one and verifies, and in the end a run to the same target leaves no file of the dead. Commands run
in forks of this process, which opens no database. --full: on a small file system of their own, with ever more of it
free, where writes of the engine fail as well; mounting it needs the right to, which `unshare -rm` gives.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fault_targets import COMMANDS, Command, prepare
from tests.faults import KINDS, run_with_fault, shown
from tests.forks import warm

SIZES = (0, 100, 1000, 4096, 10_000, 50_000, 300_000)  # bytes beyond which no file grows
FREE = (*range(0, 64, 4), *range(64, 256, 32), *range(256, 2200, 256))  # kilobytes left on a full disk
DISK = 24  # megabytes


def names(folder: Path) -> set[str]:
    """Return what lies in the folder, hidden files and temporary ones included."""
    return {path.name for place in (folder, folder / "tmp") for path in place.iterdir()}


def judge(folder: Path, command: Command, kind: str, outcome: dict) -> str | None:
    """Return what is wrong after a fault, None where nothing is."""
    if outcome["code"] not in ((-9, 0, 3) if kind == "KILL" else (0, 2, 3)):
        return f"exit code {outcome['code']}"
    if "Traceback" in outcome["err"] or len(outcome["err"].splitlines()) > 40:
        return "traceback"
    return command.fault_of(folder, command.target)


class Attack:
    """One command, attacked in its folder; what was found is counted, and what is wrong printed."""

    def __init__(self, folder: Path, name: str, found: Counter[str]) -> None:
        """Run the command as it is, to learn what it leaves and how many operations it does."""
        self.folder, self.name, self.command, self.found = folder, name, COMMANDS[name], found
        usual = run_with_fault(folder, self.command.words, -1, "EIO")
        assert usual["code"] in (0, 3), shown(usual)
        self.operations, self._before = usual["seen"], names(folder)

    def run(self, number: int, kind: str, *largest: int) -> None:
        """Run once with a fault, and judge."""
        begun = time.monotonic()
        outcome = run_with_fault(self.folder, self.command.words, number, kind, *largest)
        self.found["hangs over 30 s"] += time.monotonic() - begun > 30
        wrong = judge(self.folder, self.command, kind, outcome)
        self.found["faults"] += 1
        self.found[f"ended with {outcome['code']}"] += 1
        if wrong is not None:
            self.found["wrong"] += 1
            print(self.name, number, kind, *largest, wrong, shown(outcome), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Run as usual, and count what the dead have left."""
        run_with_fault(self.folder, self.command.words, -1, "EIO")
        left = names(self.folder) - self._before
        self.found["files left by the dead"] += len(left)
        if left:
            print(self.name, "left", sorted(left), file=sys.stderr, flush=True)


def attack(one: Attack, kinds: list[str], every: int) -> None:
    """Let each operation of a command fail in each way, and no file grow beyond each of the sizes."""
    for largest in SIZES:
        one.run(-1, "EIO", largest)
    for number in range(one.operations):
        for turn, kind in enumerate(kinds):
            if (number + turn) % every == 0:
                one.run(number, kind)


def fill(one: Attack) -> None:
    """Let the disk be full but for some kilobytes."""
    ballast = one.folder.parent / "ballast"
    for free in FREE:
        room = os.statvfs(one.folder)
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, room.f_bavail * room.f_frsize - free * 1024))
        one.run(-1, f"{free} KB free")
        ballast.unlink()


@contextmanager
def disk(place: Path) -> Iterator[None]:
    """Mount a small file system."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def main() -> None:
    """Attack, and print how often what was found, command by command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--full", action="store_true")
    asked = parser.parse_args()
    warm()
    for name in asked.commands:
        found = Counter({"faults": 0, "wrong": 0, "hangs over 30 s": 0, "files left by the dead": 0})
        begun = time.monotonic()
        with TemporaryDirectory() as top:
            folder = Path(top) / "disk" / "work"
            with disk(folder.parent) if asked.full else TemporaryDirectory():
                prepare(folder, name)
                one = Attack(folder, name, found)
                fill(one) if asked.full else attack(one, asked.kinds, asked.every)
                one.close()
        told = {"operations": one.operations, **found, "seconds": round(time.monotonic() - begun)}
        print(json.dumps({"command": name, **told}), flush=True)


if __name__ == "__main__":
    main()
