"""Let every operation on files fail, or be the last: what a command was asked for appears whole, or nothing of it.

    python -m tests.benchmarks.faults [--every 1] [--kinds ENOSPC EIO EACCES KILL]

For each command and each operation on files that it does: the operation fails with the error, or the process is killed
before it. Then the exit code is one of the contract's, no traceback is printed, what stands at the target is the old
release or the new one and verifies, and in the end a run to the same target leaves no file of the dead. Commands run
in forks of this process, which opens no database.
"""

import argparse
import functools
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults import KINDS, run_with_fault, shown
from tests.forks import warm

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")
SOURCE = ("hospital.csv",)
PEOPLE = "".join(f"{i},{20 + i * 7 % 60},{'FM'[i % 3 > 0]},d{i % 8}\n" for i in range(240))
JOB = (
    "method: anatomy\nsource: hospital.csv\nroles: {quasi: [age, sex], sensitive: disease, id: ssn}\n"
    "parameters: {l: 4}\noutput: {out: release, overwrite: true}\n"
)
SOUND: set[tuple[tuple[str, bytes], ...]] = set()  # releases that have been verified already
OUT = ("--out", "release", "--overwrite")
# a command, and what it leaves: a release that is verified, or a file
COMMANDS = {
    "publish anatomy": (("publish", "anatomy", *SOURCE, *ROLES, "-l", "4", *OUT), "release"),
    "publish splu": (("publish", "splu", *SOURCE, *ROLES, "--gamma", "4", *OUT), "release"),
    "publish mondrian": (("publish", "mondrian", *SOURCE, *ROLES, "-k", "4", *OUT), "release"),
    "run": (("run", "job.yml"), "release"),
    "check --failing": (
        ("check", *SOURCE, "--quasi", "age,sex", "-k", "9", "--failing", "rows.parquet", "--overwrite"),
        "",
    ),
    "compile": (("compile", "anatomy", "t", *ROLES, "-l", "4", "--dialect", "spark"), ""),
    "into a schema": (
        (
            *("publish", "anatomy", *SOURCE, *ROLES, "-l", "4"),
            *("--database", "ward.duckdb", "--into", "ward"),
            OUT[-1],
        ),
        "ward",
    ),
}


@functools.cache
def empty_database() -> bytes:
    """Return a DuckDB file without tables, made by a process of its own: this one opens none."""
    with TemporaryDirectory() as name:
        path = Path(name) / "empty.duckdb"
        program = "import duckdb, sys; duckdb.connect(sys.argv[1]).close()"
        subprocess.run([sys.executable, "-c", program, str(path)], check=True)
        return path.read_bytes()


def prepare(folder: Path) -> None:
    """Make the folder that a command runs in, with releases that stand already."""
    (folder / "tmp").mkdir(parents=True)
    (folder / "hospital.csv").write_text("ssn,age,sex,disease\n" + PEOPLE)
    (folder / "job.yml").write_text(JOB)
    (folder / "ward.duckdb").write_bytes(empty_database())
    for name in ("publish anatomy", "into a schema"):
        words = [word for word in COMMANDS[name][0] if word != "--overwrite"]
        made = run_with_fault(folder, words, -1, "EIO")
        assert made["code"] == 0, shown(made)


def content(release: Path) -> tuple[tuple[str, bytes], ...]:
    """Return the names and bytes of a directory's files, nothing for a schema."""
    return tuple((path.name, path.read_bytes()) for path in sorted(release.glob("*")))


def names(folder: Path) -> set[str]:
    """Return what lies in the folder, hidden files and temporary ones included."""
    return {path.name for place in (folder, folder / "tmp") for path in place.iterdir()}


def judge(folder: Path, target: str, kind: str, outcome: dict) -> str:
    """Return what was found after a fault: a word for what is allowed, or what is wrong."""
    if kind == "KILL" and outcome["code"] not in (-9, 0):
        return f"ended with {outcome['code']}"
    if kind != "KILL" and outcome["code"] not in (0, 2, 3):
        return f"exit code {outcome['code']}"
    if "Traceback" in outcome.get("err", "") or len(outcome.get("err", "").splitlines()) > 40:
        return "traceback"
    if target and (target == "ward" or content(folder / target) not in SOUND):
        words = ("verify", target) if target != "ward" else ("verify", "ward", "--database", "ward.duckdb")
        stands = run_with_fault(folder, words, -1, "EIO")
        if stands["code"] != 0:
            return f"lost or half visible: {stands['err'][-200:]}"
        SOUND.add(content(folder / target))
    return "as it should be"


def attack(folder: Path, name: str, kinds: list[str], every: int, found: Counter[str]) -> None:
    """Let each operation of a command fail in each way."""
    words, target = COMMANDS[name]
    usual = run_with_fault(folder, words, -1, "EIO")
    assert usual["code"] in (0, 3), shown(usual)
    before = names(folder)
    for number in range(usual["seen"]):
        for turn, kind in enumerate(kinds):
            if (number + turn) % every:
                continue
            begun = time.monotonic()
            outcome = run_with_fault(folder, words, number, kind)
            slow = time.monotonic() - begun > 30
            word = judge(folder, target, kind, outcome)
            found["faults"] += 1
            found["hangs over 30 s"] += slow
            if word != "as it should be":
                found["wrong"] += 1
                print(name, number, kind, word, shown(outcome), file=sys.stderr, flush=True)
    run_with_fault(folder, words, -1, "EIO")
    left = names(folder) - before
    found["files left by the dead"] += len(left)
    if left:
        print(name, "left", sorted(left), file=sys.stderr, flush=True)


def limit_files(folder: Path, name: str, found: Counter[str]) -> None:
    """Let no file grow beyond a size, as on a full disk: for all writes, the engine's as well."""
    words, target = COMMANDS[name]
    for largest in (0, 100, 1000, 4096, 10_000, 50_000, 300_000):
        outcome = run_with_fault(folder, words, -1, "EIO", largest)
        word = judge(folder, target, "EIO", outcome)
        found["faults"] += 1
        if word != "as it should be":
            found["wrong"] += 1
            print(name, "files of", largest, "bytes", word, shown(outcome), file=sys.stderr, flush=True)


def attack_all(kinds: list[str], every: int, commands: list[str]) -> Counter[str]:
    """Return how often what was found."""
    found = Counter({"faults": 0, "wrong": 0, "hangs over 30 s": 0, "files left by the dead": 0})
    warm()
    with TemporaryDirectory() as name:
        for command in commands:
            folder = Path(name) / "work"
            prepare(folder)
            limit_files(folder, command, found)
            attack(folder, command, kinds, every, found)
            shutil.rmtree(folder)
    return found


def main() -> None:
    """Attack, and print how often what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    asked = parser.parse_args()
    print(json.dumps(attack_all(asked.kinds, asked.every, asked.commands), indent=2))


if __name__ == "__main__":
    main()
