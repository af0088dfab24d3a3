"""Kill publications at random moments: nothing is half visible, nothing that stood is lost, the next run cleans up.

    python -m tests.benchmarks.kills [--kills 100] [--rows 100000] [--seed 1]

Half of the runs write a directory, half a schema, each over an earlier release. After each kill the release at the
target must verify, and be the old one or the new one; in the end a run to the same target leaves no file of the dead.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

ROLES = ["--quasi", "age,zip", "--sensitive", "disease", "--id", "ssn", "--database", "hospital.duckdb", "--overwrite"]
PEOPLE = (
    "create table patients as select i as ssn, (i * 7 % 80)::integer as age, 10000 + hash(i) % 90 as zip,"
    " 'd' || hash(i + 7) % 20 as disease from range({rows}) t(i)"
)
TARGETS = {"directory": ["--out", "release"], "schema": ["--into", "ward"]}
OPENED = {"directory": ["release"], "schema": ["ward", "--database", "hospital.duckdb"]}


def command(*words: str) -> list[str]:
    """Return the words that start sqlanon."""
    return [sys.executable, "-m", "sqlanon", *words]


def publication(target: str, l: int) -> list[str]:
    """Return the command that publishes to a target."""
    return command("publish", "anatomy", "patients", *ROLES, "-l", str(l), *TARGETS[target])


def stands(folder: Path, target: str) -> int:
    """Verify what stands at the target and return its l; raise where it does not hold."""
    if target == "directory":
        text = (folder / "release" / "release.json").read_text()
    else:
        with duckdb.connect(str(folder / "hospital.duckdb"), read_only=True) as connection:
            ((text,),) = connection.execute("select manifest from ward.manifest").fetchall()
    subprocess.run(command("verify", *OPENED[target]), cwd=folder, check=True, capture_output=True)
    return int(json.loads(text)["parameters"]["l"])


def kill_one(folder: Path, target: str, l: int, after: float) -> bool:
    """Start a publication, kill it after so many seconds; return whether it was still running."""
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(publication(target, l), cwd=folder, env=environment, **quiet)
    time.sleep(after)
    alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return alive


def left(folder: Path) -> set[str]:
    """Return the names in the folder and in that of temporary files."""
    return {path.name for place in (folder, folder / "tmp") for path in place.iterdir()}


def publish_all(folder: Path) -> float:
    """Publish with l = 4 to every target; return the seconds of one run."""
    began = time.monotonic()
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    for target in TARGETS:
        subprocess.run(publication(target, 4), cwd=folder, env=environment, check=True, capture_output=True)
    return (time.monotonic() - began) / len(TARGETS)


def kill_all(folder: Path, kills: int, longest: float, chance: random.Random) -> Counter[str]:
    """Kill so many runs within `longest` seconds of their start; return how often what was found."""
    found, standing = Counter[str](), dict.fromkeys(TARGETS, 4)
    for turn in range(kills):
        target = list(TARGETS)[turn % len(TARGETS)]
        new = 9 - standing[target]  # 4 and 5 in turn
        found["killed" if kill_one(folder, target, new, chance.uniform(0, longest)) else "ended before"] += 1
        try:
            standing[target] = stands(folder, target)
        except (OSError, ValueError, duckdb.Error, subprocess.CalledProcessError) as error:
            found["lost or half visible"] += 1
            print(turn, target, error, file=sys.stderr)
            continue
        found["the new release" if standing[target] == new else "the old release"] += 1
    return found


def main() -> None:
    """Kill, look, and print how often what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
            connection.execute(PEOPLE.format(rows=asked.rows))
        longest = publish_all(folder)
        before = left(folder)
        found = kill_all(folder, asked.kills, longest, random.Random(asked.seed))
        publish_all(folder)
        found["files left by the dead"] = len(left(folder) - before)
    print(json.dumps({"lost or half visible": 0, **found, "seconds of a run": round(longest, 2)}, indent=2))


if __name__ == "__main__":
    main()
