"""Set every setting that a caller's connection has, to every value that it may take, and do what callers do there.

python -m tests.benchmarks.settings [--methods anatomy …] [--names default_order …]

Each step has the result that it has on a connection as DuckDB opens it, or is refused in words. Values are tried in
processes of ten each; where one dies, its values are tried again, each in a process of its own.
"""

import argparse
import json
import os
import pickle
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from tests.caller_settings import FAULT, PEOPLE, PUBLICATIONS, complaints, do_all, offered_values, set_on
from tests.forks import warm

LONGEST = 600  # seconds that a process may take
TOGETHER = 10  # values that are tried in one process, one after the other


def in_process(work: Callable[[], Any]) -> Any:
    """Return what `work` returns in a process of its own, or a text that tells how that one died."""
    reads, writes = os.pipe()
    number = os.fork()
    if not number:
        os.close(reads)
        signal.alarm(LONGEST)
        # what DuckDB prints of its own, profiles and logs, is the caller's wish
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        try:
            with os.fdopen(writes, "wb") as file:
                pickle.dump(work(), file)
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as file:
        answer = file.read()
    _, status = os.waitpid(number, 0)
    code = os.waitstatus_to_exitcode(status)
    return pickle.loads(answer) if not code else f"the process ended with {code}"


def run(name: str | None, value: str, methods: list[str]) -> dict[str, Any] | None:
    """Do all on a connection with the setting; None where DuckDB does not take the value."""
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("out").mkdir()
        connection = duckdb.connect()
        connection.execute(f"create table patients as {PEOPLE}; create schema other").fetchall()
        if name is not None and not set_on(connection, name, value):
            return None
        try:
            return do_all(connection, Path(folder, "out"), methods)
        finally:
            connection.close()


def all_values(folder: str) -> list[tuple[str, str]]:
    """Return every setting with each of its values."""
    with duckdb.connect() as connection:
        known = connection.execute("select distinct name, input_type from duckdb_settings() order by name").fetchall()
    return [(name, value) for name, kind in known for value in offered_values(name, kind, folder)]


def run_all(values: list[tuple[str, str]], methods: list[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield what each value leads to; those of a process that died are run one by one."""
    for part in (values[first : first + TOGETHER] for first in range(0, len(values), TOGETHER)):
        several = in_process(lambda part=part: [run(name, value, methods) for name, value in part])
        if isinstance(several, str):
            several = [in_process(lambda name=name, value=value: run(name, value, methods)) for name, value in part]
        print(*part[-1], file=sys.stderr, flush=True)  # so far
        for (name, value), results in zip(part, several, strict=True):
            yield name, value, results


def judge(usual: Mapping[str, Any], results: Any) -> tuple[str, list[str]]:
    """Return how a run ended, and what is wrong."""
    if isinstance(results, str):
        return "wrong", [f"{FAULT}: {results}"]
    wrong = list(complaints(usual, results))
    if wrong:
        return "wrong", wrong
    return ("same results" if dict(usual) == results else "refused"), []


def main() -> None:
    """Run, print each value that was refused or is wrong, and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", nargs="+", default=list(PUBLICATIONS), choices=list(PUBLICATIONS))
    parser.add_argument("--names", nargs="+", help="settings; all if left out")
    chosen = parser.parse_args()
    warm()
    usual = in_process(lambda: run(None, "", chosen.methods))
    assert not isinstance(usual, str), usual
    assert FAULT not in str(usual), usual
    counts, settings, begun = Counter[str](), set[str](), time.monotonic()
    with TemporaryDirectory() as folder:
        values = in_process(lambda: all_values(folder))
        for name, value, results in run_all(
            [v for v in values if not chosen.names or v[0] in chosen.names], chosen.methods
        ):
            if results is None:
                continue
            ending, wrong = judge(usual, results)
            settings.add(name)
            counts[ending] += 1
            if ending != "same results":
                refusals = [] if wrong else [str(result) for step, result in results.items() if result != usual[step]]
                shown = [text[:500] for text in wrong or refusals[:1]]
                print(json.dumps([name, value, ending, shown]), flush=True)
    seconds = round(time.monotonic() - begun)
    print(json.dumps({"settings": len(settings), "values": counts.total(), **counts, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
