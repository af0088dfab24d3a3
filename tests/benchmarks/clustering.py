"""Judge the clusters of uncertain rows by greedy k-member clustering, and time them against Anatomy's grouping.

    python -m tests.benchmarks.clustering quality adult_arx.parquet hierarchies [--samples 20] [--rows 2000]
    python -m tests.benchmarks.clustering time census_like.sql [--rows 1000000] [--repeat 3]
    python -m tests.benchmarks.clustering publish census_like.sql [--rows 1000000] [--repeat 3]

`adult_arx.parquet` is ARX's cut of UCI's Adult, `hierarchies` the folder of its hierarchies (`adult__education.csv`
…, one column per level from the leaf to the root); `census_like.sql` is a generator of census-like rows. Quality:
samples with a tenth of the quasi cells uncertain (2 or 3 alternatives), K = 5, L = 3, an importance of its own for
each attribute and sample. Time: what makes the clusters, from the rows on, and what makes Anatomy's groups, in turn.
Publish: whole publications to files beside Anatomy's, weights learned, in turn; verified, compared with the source.
"""

import argparse
import csv
import itertools
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.key import Key
from sqlanon.methods.uncertain.hierarchy import read_hierarchy
from sqlanon.plans.plan import Beside, Plan, Publication, Report
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from tests.oracles.k_member import Attribute, distances, greedy, merged, objective
from tests.workloads import uncertain

K, L, SHARE, ALTERNATIVES = 5, 3, 0.1, 3
PREFIX = "judged_"
QUASI = ("sex", "age", "race", "marital_status", "education", "native_country", "workclass")
CENSUS = ("age", "gender", "education", "marital_status", "race", "work_class", "country")
INVENTED = {"education": (17, 4, 16), "country": (83, 10, 40), "work_class": (10, 4), "marital_status": (6, 3)}
NEVER, ALWAYS = 1.0, 0.0001  # thresholds that no weight of ours reaches (clusters as they were cut), that all do
WAYS = {
    "cut": {"threshold": NEVER},
    "merged": {"threshold": ALWAYS},
}


def matrix(con: duckdb.DuckDBPyConnection, quasi: Sequence[str], importance: Sequence[float]) -> None:
    """Make `influence`: an attribute counts the same for every value of the sensitive column."""
    columns = ", ".join(f"{value} as {name}" for name, value in zip(quasi, importance, strict=True))
    values = "(select distinct occupation from rows)"
    con.execute(
        f"create or replace table influence as select occupation, {columns},"
        f" row_number() over (order by occupation) / 1000 as weight from {values} as value"
    ).fetchall()


def plan(
    engine: DuckDBEngine,
    source: str,
    quasi: Sequence[str],
    trees: Mapping[str, Path],
    **parameters: Any,
) -> Plan:
    """Return the plan of a release of `source`."""
    asked = ReleaseRequest("uncertain", source, tuple(quasi), ("occupation",), nulls="drop")
    hierarchy = {name: Beside(str(path), fetched=True, as_text=True) for name, path in trees.items()}
    beside = {"influence": Beside("influence", fetched=True, as_text=True), "hierarchy": hierarchy}
    return prepare(asked, engine, PREFIX, k=K, l=L, **beside, **parameters)[0]


def clusters(con: duckdb.DuckDBPyConnection, engine: DuckDBEngine, made: Plan) -> tuple[list[Any], list[list[int]]]:
    """Run a plan; return the deterministic rows and the clusters as lists of their places."""
    quasi = ", ".join(f"quasi_{place}" for place in range(1, len(QUASI) + 1))
    with run_plan(made, engine, Key("0f" * 32, given=True)):
        found = con.execute(
            f"select cluster, {quasi} from {PREFIX}determined as determined"
            f" join {PREFIX}clustered as clustered using (row_number) order by row_number"
        ).fetchall()
    members: dict[int, list[int]] = {}
    for place, (cluster, *_) in enumerate(found):
        members.setdefault(cluster, []).append(place)
    return [row[1:] for row in found], list(members.values())


def ratios(con: duckdb.DuckDBPyConnection, adult: Path, folder: Path, sample: int, size: int) -> dict[str, float]:
    """Return the objectives of one sample's clusters over greedy k-member's; of merged ones over its merged ones."""
    engine = DuckDBEngine(con)
    trees = {name: folder / f"adult__{name}.csv" for name in QUASI if name != "age"}
    importance = np.random.default_rng(1000 + sample).exponential(size=len(QUASI))
    importance = (importance / importance.max()).round(6)
    con.execute(
        "create or replace table rows as select row_number() over () as row_number, * from"
        f" (from '{adult}' using sample reservoir({size} rows) repeatable ({sample + 1}))"
    ).fetchall()
    matrix(con, QUASI, importance)
    made = uncertain("rows", ["occupation"], QUASI, f"sample {sample}", SHARE, ALTERNATIVES)
    con.execute(f"create or replace table cells as {made}").fetchall()
    rows, members = {}, {}
    for way, parameters in WAYS.items():
        rows, members[way] = clusters(con, engine, plan(engine, "cells", QUASI, trees, **parameters))
    between = between_rows(rows, trees, importance)
    held = [value for (value,) in con.execute("select occupation from cells order by row_number").fetchall()]
    base = greedy(between, K)
    base_merged = merged(between, base, lambda cluster: len({held[row] for row in cluster}) >= L)
    judges = {way: base if parameters["threshold"] == NEVER else base_merged for way, parameters in WAYS.items()}
    found = {way: objective(between, members[way]) / objective(between, judges[way]) for way in WAYS}
    return {
        "greedy": objective(between, base),
        **found,
        "age's share": importance[QUASI.index("age")] / importance.sum(),
    }


def between_rows(rows: Sequence[Any], trees: Mapping[str, Path], importance: Sequence[float]) -> np.ndarray:
    """Return the distances of all pairs of rows."""
    ages = [row[QUASI.index("age")] for row in rows]
    spans = {"age": float(max(ages) - min(ages))}
    parents = {name: dict(read_hierarchy(name, lines(path)).parents) for name, path in trees.items()}
    return distances(
        rows,
        [
            Attribute(float(weight), spans.get(name), parents.get(name))
            for name, weight in zip(QUASI, importance, strict=True)
        ],
    )


def quality(adult: Path, folder: Path, samples: int, size: int) -> None:
    """Print the ratios of every sample, their means and the worst."""
    con = duckdb.connect()
    found = []
    for sample in range(samples):
        found.append(ratios(con, adult, folder, sample, size))
        if sample == 0:
            print("sample ", *(f"{name:>12}" for name in found[0]))
        print(f"{sample:>6} ", *(f"{value:>12.3f}" for value in found[-1].values()), flush=True)
    table = np.array([[*one.values()] for one in found])
    print("  mean ", *(f"{value:>12.3f}" for value in table.mean(axis=0)))
    print(" worst ", *(f"{value:>12.3f}" for value in table.max(axis=0)))


def lines(path: Path) -> list[dict[str, str]]:
    """Return the rows of a hierarchy's file."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def taken(made: Plan, engine: DuckDBEngine, last: str) -> tuple[float, float]:
    """Run a plan's steps up to the relation `last`; return seconds by the clock and by the processors."""
    names = [_name(step) for step in made.steps]
    steps = made.steps[: names.index(last) + 1]
    wall, used = time.perf_counter(), time.process_time()
    with run_plan(Plan(made.method, steps, Publication(()), key=made.key), engine, Key.fresh()):
        return time.perf_counter() - wall, time.process_time() - used


def _name(step: Any) -> str:
    return str(getattr(step.statement if isinstance(step, Report) else step, "name", ""))


def timing(generator: Path, size: int, repeat: int) -> None:
    """Print how long clusters take, with and without hierarchies, over Anatomy's groups."""
    con = duckdb.connect()
    engine = DuckDBEngine(con)
    con.execute(generator.read_text()).fetchall()
    con.execute(f"create table rows as from census_like({size}, 42) order by id").fetchall()
    matrix(con, CENSUS, [1, 0.4, 0.8, 0.5, 0.3, 0.7, 0.6])
    con.execute(
        "create table texts as select * replace ({}) from rows".format(
            ", ".join(f"cast({name} as varchar) as {name}" for name in INVENTED)
        )
    ).fetchall()
    with tempfile.TemporaryDirectory() as folder:
        trees = {name: Path(folder) / f"{name}.csv" for name in INVENTED}
        for name, (count, *steps) in INVENTED.items():
            levels = [[value, *(f"{name} {step}: {value // step}" for step in steps), "*"] for value in range(count)]
            with trees[name].open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([[f"level_{level}" for level in range(len(levels[0]))], *levels])
        groups = prepare(ReleaseRequest("anatomy", "rows", CENSUS, ("occupation",)), engine, PREFIX, l=K)[0]
        plans = {
            "Anatomy's groups": (groups, "grouped"),
            "clusters": (plan(engine, "rows", CENSUS, {}, threshold=0.02), "clustered"),
            "with hierarchies": (plan(engine, "texts", CENSUS, trees, threshold=0.02), "clustered"),
            "with hierarchies and their quality": (plan(engine, "texts", CENSUS, trees, threshold=0.02), "quality"),
        }
        times = {name: [taken(*asked[:1], engine, asked[1]) for asked in [one] * repeat] for name, one in plans.items()}
    base = [statistics.median(column) for column in zip(*times["Anatomy's groups"], strict=True)]
    for name, measured in times.items():
        wall, used = (statistics.median(column) for column in zip(*measured, strict=True))
        print(f"{name:>34}: {wall:6.2f} s ({wall / base[0]:.2f} x), processors {used:6.2f} s ({used / base[1]:.2f} x)")


def publishing(generator: Path, size: int, repeat: int) -> None:
    """Print what whole publications take, and over Anatomy's of the same turn; the first turn warms up."""
    con = duckdb.connect(config={"threads": 2})
    con.execute(generator.read_text()).fetchall()
    roles = {"quasi": CENSUS, "sensitive": "occupation", "overwrite": True}
    clusters = {**roles, "k": K, "l": L, "influence": "learn", "threshold": 0.02}
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/source.parquet"
        con.execute(f"copy (from census_like({size}, 42) order by id) to '{source}'").fetchall()
        runs: dict[str, Callable[[], object]] = {
            "anatomy": lambda: sqlanon.anatomy(con, source, out=f"{folder}/anatomy", l=K, **roles),
            "uncertain": lambda: sqlanon.uncertain(con, source, out=f"{folder}/uncertain", **clusters),
        }
        turns = []
        for _ in range(repeat + 1):
            used = [time.process_time()]
            for publish in runs.values():
                publish()
                used.append(time.process_time())
            turns.append([after - before for before, after in itertools.pairwise(used)])
    for place, name in enumerate(runs):
        seconds = statistics.median(turn[place] for turn in turns[1:])
        ratio = statistics.median(turn[place] / turn[0] for turn in turns[1:])
        print(f"{size:,} rows, {name:>9}: processors {seconds:6.2f} s ({ratio:.2f} x)")


def main() -> None:
    """Measure what was asked."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    judged = verbs.add_parser("quality")
    judged.add_argument("adult", type=Path)
    judged.add_argument("hierarchies", type=Path)
    judged.add_argument("--samples", type=int, default=20)
    judged.add_argument("--rows", type=int, default=2000)
    timed = verbs.add_parser("time")
    timed.add_argument("generator", type=Path)
    timed.add_argument("--rows", type=int, default=1_000_000)
    timed.add_argument("--repeat", type=int, default=3)
    whole = verbs.add_parser("publish")
    whole.add_argument("generator", type=Path)
    whole.add_argument("--rows", type=int, default=1_000_000)
    whole.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    print(
        f"{platform.platform()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )
    if asked.verb == "quality":
        quality(asked.adult, asked.hierarchies, asked.samples, asked.rows)
    elif asked.verb == "publish":
        publishing(asked.generator, asked.rows, asked.repeat)
    else:
        timing(asked.generator, asked.rows, asked.repeat)


if __name__ == "__main__":
    main()
