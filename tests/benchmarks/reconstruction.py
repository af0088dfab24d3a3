"""Measure the accuracy of answers from randomized releases of real data.

    python tests/benchmarks/reconstruction.py CENSUS.parquet [--queries 150] [--releases 3]

The paper's workload: conjunctions of equalities on one to three quasi columns and the sensitive one, by
selectivity (bands of 1 % to 5 % of the rows) and, apart, by small counts (1 to 10). Queries are drawn by drawing a
row and columns, so that every query has an answer; a band's queries are different ones. Printed per gamma and band:
the mean relative error by estimator, the default's over that of the paper's iteration with the paper's transition,
and how often the 95 % interval holds the truth. Every query is asked of every release.
"""

import argparse
import logging
import platform

import duckdb
import numpy as np
import pandas as pd

import sqlanon
from sqlanon.plans.templates import ident, literal

QUASI = ("age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth")
SENSITIVE = "occupation_code"
BANDS = ((0.005, 0.01), (0.01, 0.02), (0.02, 0.03), (0.03, 0.04), (0.04, 0.05))
SMALL = (1, 10)
ASKED = {
    "paper": ("iterative", {"transition": "paper"}),
    "exact": ("iterative", {"transition": "exact"}),
    "closed_form": ("closed_form", {}),
    "shrinkage": ("shrinkage", {}),
}


def released(con, gamma: int, number: int) -> sqlanon.Release:
    """Publish the table once, with a fixed key, so that figures can be had again."""
    key = f"{gamma:032x}{number:032x}"
    return sqlanon.splu(con, "microdata", quasi=QUASI, sensitive=SENSITIVE, gamma=gamma, key=key)


def workload(truth: pd.DataFrame, low: float, high: float, wanted: int, random) -> dict[str, int]:
    """Return WHERE clauses whose true count lies in [low, high], with it."""
    found: dict[str, int] = {}
    masks: dict[tuple[str, object], np.ndarray] = {}
    for _ in range(400 * wanted):
        if len(found) == wanted:
            break
        row = truth.iloc[int(random.integers(len(truth)))]
        drawn = sorted(random.choice(QUASI, int(random.integers(1, 4)), replace=False))
        if row[[*drawn, SENSITIVE]].isna().any():
            continue
        mask = np.ones(len(truth), dtype=bool)
        for name in (*drawn, SENSITIVE):
            key = (name, row[name])
            if key not in masks:
                masks[key] = (truth[name] == row[name]).to_numpy()
            mask &= masks[key]
        count = int(mask.sum())
        if low <= count <= high:
            terms = [f"{ident(str(name))} = {literal(_plain(row[name]))}" for name in (*drawn, SENSITIVE)]
            found[" and ".join(terms)] = count
    return found


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def measure(releases: list[sqlanon.Release], queries: dict[str, int], estimators) -> dict[str, float]:
    """Ask every query of every release."""
    errors: dict[str, list[float]] = {name: [] for name in estimators}
    covered = []
    for where, truth in queries.items():
        for release in releases:
            for name in estimators:
                estimator, options = ASKED[name]
                row = release.estimate(f"select count(*) from release where {where}", estimator, **options).iloc[0]
                errors[name].append(abs(row["count"] - truth) / truth)
            covered.append(row["count_low"] - 1e-9 <= truth <= row["count_high"] + 1e-9)
    found = {name: float(np.mean(error)) for name, error in errors.items()}
    return {"queries": len(queries), **found, "ratio": found["shrinkage"] / found["paper"], "covered": np.mean(covered)}


def main() -> None:
    """Run every gamma and band."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("--queries", type=int, default=150)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--gamma", type=int, nargs="*", default=[5, 10])
    parser.add_argument("--estimators", nargs="*", choices=ASKED, default=["paper", "closed_form", "shrinkage"])
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # iterations that do not converge say so, thousands of times
    con = duckdb.connect()
    columns = ", ".join((*QUASI, SENSITIVE))
    sql = f"select {columns} from {literal(asked.source)} where {SENSITIVE} <> 0"
    con.execute(f"create table microdata as {sql}").fetchall()
    truth = con.execute("select * from microdata").df()
    print(f"{len(truth):,} rows; sqlanon {sqlanon.__version__}, duckdb {duckdb.__version__}, {platform.machine()}")
    random = np.random.default_rng(2014)
    pools = {f"{low:.1%} to {high:.1%}": (low * len(truth), high * len(truth)) for low, high in BANDS}
    queries = {name: workload(truth, *ends, asked.queries, random) for name, ends in pools.items()}
    queries[f"{SMALL[0]} to {SMALL[1]} rows"] = workload(truth, *SMALL, asked.queries, random)
    for gamma in asked.gamma:
        releases = [released(con, gamma, number) for number in range(asked.releases)]
        pooled = dict.fromkeys(("shrinkage", "paper"), 0.0)
        for name, pool in queries.items():
            found = measure(releases, pool, asked.estimators)
            print(f"gamma {gamma}, {name}:", {key: round(float(x), 3) for key, x in found.items()}, flush=True)
            if "%" in name:
                for key in pooled:
                    pooled[key] += found[key] * found["queries"]
        print(f"gamma {gamma}, 0.5 % to 5 % pooled: {pooled['shrinkage'] / pooled['paper']:.3f}", flush=True)


if __name__ == "__main__":
    main()
