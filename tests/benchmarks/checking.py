"""Time `check` against COUNT(DISTINCT (…)) over the same columns, and against pycanon in an environment of its own.

    python tests/benchmarks/checking.py [ROWS] [--peer OTHER/bin/python]

`--peer` is a Python that has pycanon 1.3.6 and duckdb; it computes k, distinct l and t of the same rows, then checks
that both find the same figures. Printed: seconds by the clock and of the processors, medians of three turns.
"""

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

import duckdb

import sqlanon

COLUMNS = "age,sex,region,job"
PEOPLE = (
    "select (18 + hash(i) % 70)::integer as age, (hash(i, 1) % 2)::integer as sex, (hash(i, 2) % 50)::integer"
    " as region, (hash(i, 3) % 20)::integer as job, 'd' || hash(i, 4) % 30 as disease from range({rows}) t(i)"
)
PEER = """
import json, sys, time, duckdb
from pycanon import anonymity
frame = duckdb.connect().execute(sys.argv[1]).df()
quasi, sensitive = json.loads(sys.argv[2]), ["disease"]
clock, processors = time.perf_counter(), time.process_time()
found = [anonymity.k_anonymity(frame, quasi), anonymity.l_diversity(frame, quasi, sensitive),
         anonymity.t_closeness(frame, quasi, sensitive)]
spent = [time.perf_counter() - clock, time.process_time() - processors]
print(json.dumps({"spent": spent, "found": [float(one) for one in found]}))
"""


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds of a run, by the clock and of the processors."""
    clock, processors = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - clock, time.process_time() - processors


def say(name: str, spent: list[tuple[float, float]], beside: list[tuple[float, float]]) -> None:
    """Print medians, and the median ratios to what was measured beside it."""
    clock, processors = (statistics.median(one) for one in zip(*spent, strict=True))
    ratios = [
        statistics.median(a[n] / b[n] for a, b in zip(spent, beside, strict=True)) for n in (0, 1)
    ]  # each turn by itself: a busy machine slows both
    print(f"| {name} | {clock:.2f} s | {processors:.2f} s | {ratios[0]:.2f} | {ratios[1]:.2f} |", flush=True)


def main() -> None:
    """Measure in turn."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="?", type=int, default=10_000_000)
    parser.add_argument("--columns", default=COLUMNS, help="of age, sex, region, job; between commas")
    parser.add_argument("--peer", help="a Python that has pycanon and duckdb")
    asked = parser.parse_args()
    columns = asked.columns.split(",")
    con = duckdb.connect()
    people = PEOPLE.format(rows=asked.rows)
    con.execute(f"create table people as {people}").fetchall()
    distinct = f"select count(distinct ({', '.join(columns)})) from people"
    roles: dict[str, Any] = {"quasi": columns, "sensitive": "disease"}
    print("| | clock | processors | ratio by the clock | of the processors |", flush=True)
    scans, checks = [], []
    for _ in range(3):
        scans.append(timed(lambda: con.execute(distinct).fetchall()))
        checks.append(timed(lambda: sqlanon.check(con, "people", **roles, recursive=(3, 4))))
    say("count(distinct)", scans, scans)
    say("check, all measures", checks, scans)
    if asked.peer:
        line = [asked.peer, "-W", "ignore", "-c", PEER, people, json.dumps(columns)]
        run = subprocess.run(line, capture_output=True, text=True, check=True)
        theirs = json.loads(run.stdout.splitlines()[-1])
        say("pycanon: k, l, t", [theirs["spent"]], checks[-1:])
        own = {one.name: one.found for one in sqlanon.check(con, "people", **roles).measures}
        print("found by both:", theirs["found"], [own.get(name) for name in ("k", "l", "t")])


if __name__ == "__main__":
    main()
