"""Give every verb nasty commands, drawn from a grammar: each ends in one of the contract's exit codes, and soon.

python -m tests.benchmarks.nasty [--examples 1000] [--verbs estimate run …] [--seed 1]
"""

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.command import Shell
from tests.nasty_commands import VALID, commands, complaint, furnish, jobs

PATIENTS = (
    "select i as ssn, (20 + i * 7 % 60)::integer as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " 10000 + i % 11 as zipcode, 'd' || i % 8 as disease from range(240) t(i)"
)


def furnished(folder: Path) -> Shell:
    """Return a shell in a folder with everything that the commands name."""
    (folder / "tmp").mkdir()
    with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
        connection.execute(f"create table patients as {PATIENTS}")
        connection.execute(f"copy patients to '{folder}/patients.parquet' (format parquet)")
    shell = Shell(folder)
    furnish(shell)
    return shell


def ended(shell: Shell, words: list[str], found: Counter[str]) -> None:
    """Run one command, count how it ended, print what is wrong, and clear away what it made."""
    before, begun = shell.left(), time.monotonic()
    try:
        done = shell(*words)
        faults = list(complaint(done, time.monotonic() - begun))
        found[f"exit code {done.returncode}"] += 1
    except TimeoutError:
        faults = ["did not end"]
    found["commands"] += 1
    for fault in faults:
        found[f"wrong: {fault.split(' of ')[0]}"] += 1
        print(json.dumps([fault, words])[:1500], file=sys.stderr, flush=True)
    for name in shell.left() - before:
        for place in (shell.folder / name, shell.folder / "tmp" / name):
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


def draw(shell: Shell, verb: str, examples: int, number: int, found: Counter[str]) -> None:
    """Run so many commands of a verb."""
    how = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    @seed(number)
    @how
    @given(commands(verb), jobs())
    def run(words: list[str], job: str) -> None:
        (shell.folder / "job.yml").write_text(job, encoding="utf-8", errors="surrogatepass")
        ended(shell, words, found)

    run()


def main() -> None:
    """Run, and print how often what was found, verb by verb."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--verbs", nargs="+", default=list(VALID), choices=list(VALID))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        shell = furnished(Path(name))
        for verb in asked.verbs:
            found, begun = Counter[str](), time.monotonic()
            draw(shell, verb, asked.examples, asked.seed, found)
            seconds = round(time.monotonic() - begun)
            print(json.dumps({"verb": verb, **dict(sorted(found.items())), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
