"""Time many queries of an Anatomy release with their truths: python tests/benchmarks/many_queries.py CENSUS_LIKE.sql.

The rows are census-like, the queries those of `compare` (half sets, half conjunctions). Printed: seconds by the clock
and of the processors for drawing and counting in the source, and for each estimator's answers.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import duckdb

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.estimation.release_tables import Workspace
from sqlanon.plans.templates import Sql
from sqlanon.risks.workload import Microdata, draw_queries

QUASI = ("age", "gender", "education", "marital_status", "race", "work_class", "country")


def timed(name: str, run: Callable[[], list]) -> list:
    """Print what a step takes, and return what it returns."""
    clock, processors = time.perf_counter(), time.process_time()
    found = run()
    spent = time.perf_counter() - clock, time.process_time() - processors
    print(f"| {name} | {spent[0]:.1f} s | {spent[1]:.1f} s |", flush=True)
    return found


def main() -> None:
    """Publish, draw, count, ask."""
    parser = argparse.ArgumentParser()
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--l", type=int, default=10)
    asked = parser.parse_args()
    con = duckdb.connect()
    con.execute(asked.generator.read_text())
    con.execute(f"create table people as from census_like({asked.rows}, 1)").fetchall()
    types = {row[0]: row[1] for row in con.execute("describe people").fetchall()}
    space = Workspace(DuckDBEngine(con))
    data = Microdata(space, Sql("people"), "people", QUASI, ("occupation",), types)
    release = sqlanon.anatomy(con, "people", quasi=QUASI, sensitive="occupation", l=asked.l)
    warnings.simplefilter("ignore")
    queries = timed("drawing and truths", lambda: [one.text for one in draw_queries(data, asked.queries, 1)])
    for name in ("ridge", "uniform"):
        timed(name, lambda: release.estimate_many(queries, name))  # noqa: B023 - it runs at once
    alone = queries[:: max(len(queries) // 100, 1)]
    timed(f"{len(alone)} of them one by one", lambda: [release.estimate(one) for one in alone])


if __name__ == "__main__":
    main()
