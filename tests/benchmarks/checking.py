"""Time `check` against COUNT(DISTINCT (…)) over the same columns: python tests/benchmarks/checking.py [ROWS]."""

import sys
import time

import duckdb

import sqlanon

COLUMNS = ["age", "sex", "region", "job"]


def main() -> None:
    """Print seconds of each, medians of three alternating pairs, and their ratio."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    con = duckdb.connect()
    con.execute(
        "create table people as select (18 + hash(i) % 70)::integer as age, (hash(i, 1) % 2)::integer as sex,"
        " (hash(i, 2) % 50)::integer as region, (hash(i, 3) % 20)::integer as job, 'd' || hash(i, 4) % 30 as disease"
        f" from range({rows}) t(i)"
    ).fetchall()
    ours, scans = [], []
    for _ in range(3):
        start = time.perf_counter()
        con.execute(f"select count(distinct ({', '.join(COLUMNS)})) from people").fetchall()
        middle = time.perf_counter()
        sqlanon.check(con, "people", quasi=COLUMNS, sensitive="disease", recursive=(3, 4))
        ours.append(time.perf_counter() - middle)
        scans.append(middle - start)
    check, scan = sorted(ours)[1], sorted(scans)[1]
    print(f"{rows:,} rows: check {check:.2f} s, count(distinct) {scan:.2f} s, ratio {check / scan:.1f}")


if __name__ == "__main__":
    main()
