"""Kill publications at random moments: nothing is half visible, nothing that stood is lost, the next run cleans up.

    python -m tests.benchmarks.kills [--kills 1000] [--rows 30000] [--seed 1]

Runs write a directory, a schema, and both of these under a ledger in turn, each over an earlier release, in processes
forked from one that has imported sqlanon. The moment is drawn evenly from the time that such a run takes, measured
again and again, for other work changes it. After each kill the release at the target must verify, and be the old one
or the new one, and the ledger must be in step with it; in the end a run to each target leaves no file of the dead.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import duckdb

from tests.command import Shell

ROLES = ("--quasi", "age,zip", "--sensitive", "disease", "--id", "ssn", "--database", "hospital.duckdb", "--overwrite")
PEOPLE = (
    "create table patients as select i as ssn, (i * 7 % 80)::integer as age, 10000 + hash(i) % 90 as zip,"
    " 'd' || hash(i + 7) % 20 as disease from range({rows}) t(i)"
)
KEY = ("--key", "5e" * 32)
MEASURED = 10  # kills of a target until its time is measured again


@dataclass
class Target:
    """Where a run writes, what opens it, and which release stands there: its l, or its number in the ledger."""

    to: tuple[str, ...]
    opened: tuple[str, ...]
    standing: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def follows(self) -> bool:
        """Tell whether releases are in step with a ledger, which wants the same l of all."""
        return "--ledger" in self.to

    @property
    def new(self) -> int:
        """Return what the next release is known by: 4 and 5 in turn, or the next number."""
        return self.standing + 1 if self.follows else 9 - (self.standing or 5)

    def run(self, shell: Shell, kill_after: float | None = None) -> bool:
        """Publish; return whether the run was killed. Without a moment to kill it at, measure it."""
        l, began = 4 if self.follows else self.new, time.monotonic()
        words = ("publish", "anatomy", "patients", *ROLES, "-l", l, *self.to)
        done = shell(*words, kill_after=kill_after)
        if kill_after is None:
            self.seconds.append(time.monotonic() - began)
        if done.returncode not in ((0,) if kill_after is None else (0, -9)):
            raise ValueError(f"exit code {done.returncode}: {done.stderr}")
        return done.returncode != 0

    def found(self, shell: Shell) -> int:
        """Return which release stands there; raise ValueError where it does not hold, or the ledger is out of step."""
        verified = shell("verify", *self.opened)
        if verified.returncode:
            raise ValueError(verified.stdout + verified.stderr)
        if "--into" in self.to:
            with duckdb.connect(str(shell.folder / "hospital.duckdb"), read_only=True) as connection:
                ((text,),) = connection.execute(f"select manifest from {self.opened[0]}.manifest").fetchall()
        else:
            text = (shell.folder / self.opened[0] / "release.json").read_text()
        parameters = json.loads(text)["parameters"]
        if not self.follows:
            return int(parameters["l"])
        ledger = self.to[self.to.index("--ledger") + 1]
        checked = shell("ledger", ledger, "--check", *self.opened[1:], "--releases", ".", SQLANON_KEY=KEY[1])
        if checked.returncode:
            raise ValueError(f"not sealed, or not the newest: {checked.stdout}{checked.stderr}")
        told = shell("ledger", ledger, "--format", "json")  # mends what a dead run left
        if told.returncode or json.loads(told.stdout)["releases"] != parameters["release"]:
            raise ValueError(f"out of step with release {parameters['release']}: {told.stdout}{told.stderr}")
        return int(parameters["release"])


def targets() -> dict[str, Target]:
    """Return where runs write, by name."""
    return {
        "directory": Target(("--out", "release"), ("release",)),
        "schema": Target(("--into", "ward"), ("ward", "--database", "hospital.duckdb")),
        "directory and ledger": Target(("--ledger", "ward.ledger", *KEY, "--out", "followed"), ("followed",)),
        "schema and ledger": Target(
            ("--ledger", "schema.ledger", *KEY, "--into", "kept"), ("kept", "--database", "hospital.duckdb")
        ),
    }


def kill(shell: Shell, target: Target, chance: random.Random) -> list[str]:
    """Kill one run, unless it ends before; return what was found."""
    expected = target.new
    try:
        was_killed = target.run(shell, chance.uniform(0, 1.05 * median(target.seconds[-5:])))
        standing = target.found(shell)
    except (OSError, ValueError, KeyError, TimeoutError, duckdb.Error) as error:
        print(target.opened[0], repr(error), file=sys.stderr, flush=True)
        return ["lost or half visible"]
    if standing not in (target.standing, expected) or (standing != expected and not was_killed):
        return ["lost or half visible"]
    target.standing = standing
    which = "the new release stood" if standing == expected else "the old release stood"
    return ["killed", which] if was_killed else ["ended before"]


def people(shell: Shell, rows: int) -> None:
    """Lay the source into a shell's folder."""
    with duckdb.connect(str(shell.folder / "hospital.duckdb")) as connection:
        connection.execute(PEOPLE.format(rows=rows))


def kill_all(
    shell: Shell, places: dict[str, Target], kills: int, chance: random.Random
) -> tuple[dict[str, Counter[str]], set[str]]:
    """Kill so many runs of all targets together; return how often what was found, by target, and what is left."""
    before = shell.left()
    found = {name: Counter({"killed": 0, "lost or half visible": 0}) for name in places}
    turn = 0
    while sum(one["killed"] + one["lost or half visible"] for one in found.values()) < kills:
        name = list(places)[turn % len(places)]
        target = places[name]
        if turn // len(places) % MEASURED == 0:
            target.run(shell)
            target.standing = target.found(shell)
        found[name].update(kill(shell, target, chance))
        turn += 1
    for name, target in places.items():
        target.run(shell)
        found[name]["milliseconds of a run"] = round(1000 * median(target.seconds))
    kept = {"release", "followed", *(f"{one}.ledger{end}" for one in ("ward", "schema") for end in ("", ".last"))}
    return found, shell.left() - before - kept


def main() -> None:
    """Kill, look, and print how often what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        shell = Shell(Path(name))
        (shell.folder / "tmp").mkdir()
        people(shell, asked.rows)
        shell("guide")  # what all runs are forked from has imported everything by then
        began = time.monotonic()
        found, left = kill_all(shell, targets(), asked.kills, random.Random(asked.seed))
        for target, one in found.items():
            print(json.dumps({"target": target, **one}))
        print(json.dumps({"files left by the dead": sorted(left), "seconds": round(time.monotonic() - began)}))


if __name__ == "__main__":
    main()
