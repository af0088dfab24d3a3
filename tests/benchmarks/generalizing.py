"""Time Mondrian on census-like rows: python tests/benchmarks/generalizing.py CENSUS_LIKE.sql [--rows 1000000].

Seven quasi columns, k = 10, one sensitive value per box at least, verified as every release is. Printed: seconds by the
clock and of the processors, boxes, and the largest resident memory of the process (the rows are in it, too).
"""

import argparse
import resource
import time
from pathlib import Path

import duckdb

import sqlanon
from sqlanon.plans.templates import literal

QUASI = ["age", "gender", "education", "marital_status", "race", "work_class", "country"]


def main() -> None:
    """Publish once for every number of rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--memory-limit", default="4GB")
    asked = parser.parse_args()
    for rows in asked.rows:
        con = duckdb.connect()
        con.execute(f"set memory_limit = {literal(asked.memory_limit)}")
        con.execute(asked.generator.read_text())
        con.execute(f"create table people as from census_like({rows}, 1)").fetchall()
        clock, processors = time.perf_counter(), time.process_time()
        release = sqlanon.mondrian(con, "people", quasi=QUASI, sensitive="occupation", k=10)
        spent = time.perf_counter() - clock, time.process_time() - processors
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        boxes = release.manifest["groups"]
        print(f"| {rows:,} | {spent[0]:.1f} s | {spent[1]:.1f} s | {boxes:,} | {peak:.2f} GB |", flush=True)
        con.close()


if __name__ == "__main__":
    main()
