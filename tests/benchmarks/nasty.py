"""Give every verb nasty commands, drawn from a grammar: each ends in one of the contract's exit codes, and soon.

python -m tests.benchmarks.nasty [--examples 1000] [--verbs estimate run …] [--seed 1]
python -m tests.benchmarks.nasty --special [--verbs …]

--special: in the place of every path, of a verb's valid commands and of each option that takes one, a pipe, a device, a
socket, a folder, a link to itself and a file of a terabyte; and releases that hold such files.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.nasty_commands import VALID, commands, complaint, jobs
from tests.nasty_folder import NastyFolder, SpecialFiles

PATIENCE = 60  # seconds until a command that does not end is killed


def ended(folder: NastyFolder, words: list[str], found: Counter[str]) -> None:
    """Run one command, count how it ended, print what is wrong, and take back what it did."""
    begun = time.monotonic()
    try:
        done = folder.shell(*words, kill_after=PATIENCE)
        faults = list(complaint(done, time.monotonic() - begun))
        found[f"exit code {done.returncode}"] += 1
    except TimeoutError:
        faults = ["did not end"]
    if any((folder.shell.folder / "tmp").iterdir()):
        faults.append("temporary files left")
    found["commands"] += 1
    for fault in faults:
        found[f"wrong: {fault.split(' of ')[0]}"] += 1
        print(json.dumps([fault, words])[:1500], file=sys.stderr, flush=True)
    folder.restore()


def draw(folder: NastyFolder, verb: str, examples: int, number: int, found: Counter[str]) -> None:
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
        if verb == "run":
            folder.lay_job(job)
        ended(folder, words, found)

    run()


def lay_specials(folder: NastyFolder, special: SpecialFiles, verb: str, found: Counter[str]) -> None:
    """Run a verb's valid commands with each special file in the place of each path."""
    for words in sorted(special.commands(verb)):
        special.lay()
        ended(folder, list(words), found)


def main() -> None:
    """Run, and print how often what was found, verb by verb."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--verbs", nargs="+", default=list(VALID), choices=list(VALID))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--special", action="store_true")
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = NastyFolder(Path(name))
        special = SpecialFiles(folder.shell.folder)
        for verb in asked.verbs:
            found, begun = Counter[str](), time.monotonic()
            if asked.special:
                lay_specials(folder, special, verb, found)
            else:
                draw(folder, verb, asked.examples, asked.seed, found)
            seconds = round(time.monotonic() - begun)
            share = f"{(found['exit code 0'] + found['exit code 3']) / found['commands']:.0%}"
            told = {"verb": verb, "at work": share, **dict(sorted(found.items())), "seconds": seconds}
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
