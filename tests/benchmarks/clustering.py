"""Judge the clusters of uncertain rows by greedy k-member clustering: what both lose, of samples of Adult.

    python -m tests.benchmarks.clustering adult_arx.parquet hierarchies [--samples 20] [--rows 2000]

`adult_arx.parquet` is ARX's cut of UCI's Adult, `hierarchies` the folder of its hierarchies (`adult__education.csv`
…, one column per level from the leaf to the root). Samples have a tenth of the quasi cells uncertain (2 or 3
alternatives), K = 5, L = 3, an importance of its own for each attribute and sample. Times: `tests.benchmarks.shuffles`.
"""

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.key import Key
from sqlanon.methods.uncertain.hierarchy import read_hierarchy
from sqlanon.plans.plan import Beside, Plan
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from tests.oracles.k_member import Attribute, distances, greedy, merged, objective
from tests.workloads import uncertain

K, L, SHARE, ALTERNATIVES = 5, 3, 0.1, 3
PREFIX = "judged_"
QUASI = ("sex", "age", "race", "marital_status", "education", "native_country", "workclass")
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
    with prepare(asked, engine, PREFIX, k=K, l=L, **beside, **parameters) as (made, _):
        return made


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


def main() -> None:
    """Judge as many samples as were asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("hierarchies", type=Path)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--rows", type=int, default=2000)
    asked = parser.parse_args()
    quality(asked.adult, asked.hierarchies, asked.samples, asked.rows)


if __name__ == "__main__":
    main()
