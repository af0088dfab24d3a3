"""Time Mondrian on census-like rows, or set its loss beside the paper's recursion.

    python tests/benchmarks/generalizing.py CENSUS_LIKE.sql [--rows 1000000]
    python -m tests.benchmarks.generalizing CENSUS_LIKE.sql --rows 20000 --loss

Seven quasi columns, k = 10, one sensitive value per box at least, verified as every release is. Printed: seconds by the
clock and of the processors, boxes, and the largest resident memory of the process (the rows are in it, too); with
--loss the normalized certainty penalty beside that of a literal recursion, for l = 1 and l = 5, strict and relaxed.
"""

import argparse
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb

import sqlanon
from sqlanon.plans.templates import literal

QUASI = ["age", "gender", "education", "marital_status", "race", "work_class", "country"]


def print_losses(con: duckdb.DuckDBPyConnection, count: int) -> None:
    """Print the penalty of boxes, and of the boxes that the paper's recursion makes of the same rows."""
    from tests.oracles.mondrian import partitions, penalty

    places = range(len(QUASI))
    rows = con.execute(f"select {', '.join(QUASI)}, occupation from people").fetchall()
    whole = [max(row[n] for row in rows) - min(row[n] for row in rows) for n in places]
    for l, partition in ((1, "strict"), (5, "strict"), (1, "relaxed"), (5, "relaxed")):
        release = sqlanon.mondrian(con, "people", quasi=QUASI, sensitive="occupation", k=10, l=l, partition=partition)
        terms = [f"avg({name}_high - {name}_low)" for name in QUASI]
        (widths,) = con.execute(f"select {', '.join(terms)} from {release.tables['data']}").fetchall()
        ours = sum(width / most for width, most in zip(widths, whole, strict=True)) / len(QUASI)

        def allowed(part: Sequence[Sequence[int]], l: int = l) -> bool:
            return len(part) >= 10 and len({row[-1] for row in part}) >= l

        literal_parts = partitions(rows, len(QUASI), allowed, relaxed=partition == "relaxed")
        theirs = penalty(literal_parts, len(QUASI))
        groups = f"{release.manifest['groups']:,} | {len(literal_parts):,}"
        print(
            f"| {count:,} | {l} | {partition} | {groups} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.3f} |",
            flush=True,
        )


def main() -> None:
    """Publish once for every number of rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--memory-limit", default="4GB")
    parser.add_argument("--loss", action="store_true", help="print losses instead of times")
    asked = parser.parse_args()
    for rows in asked.rows:
        con = duckdb.connect()
        con.execute(f"set memory_limit = {literal(asked.memory_limit)}")
        con.execute(asked.generator.read_text())
        con.execute(f"create table people as from census_like({rows}, 1)").fetchall()
        if asked.loss:
            print_losses(con, rows)
            continue
        clock, processors = time.perf_counter(), time.process_time()
        release = sqlanon.mondrian(con, "people", quasi=QUASI, sensitive="occupation", k=10)
        spent = time.perf_counter() - clock, time.process_time() - processors
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        boxes = release.manifest["groups"]
        print(f"| {rows:,} | {spent[0]:.1f} s | {spent[1]:.1f} s | {boxes:,} | {peak:.2f} GB |", flush=True)
        con.close()


if __name__ == "__main__":
    main()
