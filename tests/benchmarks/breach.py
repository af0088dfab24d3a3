"""Measure breach analysis: a large base beside its two GROUP BY queries, many shapes.

python tests/benchmarks/breach.py [--rows 10000000] [--values 50000] [--properties 1000] [--shapes 1000] [--threads 2]
    [--memory-limit 8GB] [--components-per-id 1] [--model unrestricted]
"""

import argparse
import resource
import statistics
import tempfile
import time

import duckdb

import sqlanon
from sqlanon.breaches.chapters import worlds
from sqlanon.plans.build import build
from sqlanon.plans.templates import Sql

VIEWS = ("SELECT id, place FROM patients", "SELECT place, disease FROM patients")
SECRET = "SELECT id, disease FROM patients"
COUNTS = (
    "create or replace temporary table m as select place, count(distinct id) as m from patients group by place",
    "create or replace temporary table n as select place, count(distinct disease) as n from patients group by place",
)


def seconds(run) -> float:
    """Run once; return how long it took."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def base(con, asked) -> None:
    """Fill patients: ids with one row, or `components_per_id` rows of one disease in different places."""
    con.execute(
        "create table patients as with person as (select i, hash(i, 1) % $3 as disease from range($1 // $4) as r(i))"
        " select i as id, hash(i, j, 7) % $2 as place, disease from person, range($4) as s(j)",
        [asked.rows, asked.values, asked.properties, asked.components_per_id],
    ).fetchall()


def large(asked) -> None:
    """Print what all associations take, and the two queries alone, three times each."""
    con = duckdb.connect(
        config={
            "threads": str(asked.threads),
            "memory_limit": asked.memory_limit,
            "temp_directory": tempfile.mkdtemp(prefix="sqlanon-benchmark-"),
        }
    )
    base(con, asked)
    ratios = []
    for _ in range(3):
        alone = seconds(lambda: [con.execute(sql).fetchall() for sql in COUNTS])
        found = []
        taken = seconds(
            lambda found=found: found.append(
                sqlanon.breach(con, base="patients", views=VIEWS, secret=SECRET, model=asked.model)
            )
        )
        ratios.append(taken / alone)
        print(f"two queries {alone:.2f} s, breach {taken:.2f} s, {taken / alone:.2f} times", found[0].summary)
        found[0].close()
    print(f"median {statistics.median(ratios):.2f} times the two queries")


def shapes(asked) -> None:
    """Print what so many different shapes (m, n) take, and the largest error bound."""
    con = duckdb.connect(config={"threads": asked.threads})
    con.execute(f"""create table meeting as select m, n, m as o, n as h, 1::bigint as a, 1::bigint as b
        from range(1, {asked.shapes + 1}) as one(m), range(1, {asked.shapes + 1}) as other(n)""").fetchall()
    steps = build([worlds(simple=False, weighed=False)], "x_", {"meeting": Sql("meeting")})
    taken = seconds(lambda: [con.execute(f"create table {step.relation} as {step.sql}").fetchall() for step in steps])
    (bound,) = con.execute('select max(error_bound) from "x_chance"').fetchone()
    print(f"{asked.shapes**2:,} pairs (m, n): {taken:.2f} s, largest error bound {bound:.1e}")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--values", type=int, default=50_000)
    parser.add_argument("--properties", type=int, default=1_000)
    parser.add_argument("--components-per-id", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=1_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory-limit", default="8GB")
    parser.add_argument("--model", default="unrestricted")
    asked = parser.parse_args()
    shapes(asked)
    large(asked)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak resident memory {peak:.1f} GB; duckdb {duckdb.__version__}")


if __name__ == "__main__":
    main()
