"""Measure how long a query to an opened release takes, beside the same count on the microdata in Parquet.

    python tests/benchmarks/latency.py census_like.sql [--rows 500000] [--l 10] [--estimator ridge]
    python tests/benchmarks/latency.py census_like.sql --l 3 --background gender,education  (r-robust, r = l)

The argument defines the table macro census_like(rows, seed).
"""

import argparse
import logging
import tempfile
import time
from pathlib import Path

import duckdb
from accuracy import published

from sqlanon.plans.templates import literal

QUASI = ("age", "gender", "education", "marital_status", "race", "work_class", "country")
QUERY = "select count(*) from {} where age between {} and 40 and gender = 'M' and occupation = {}"
TABLES = {
    "group by sensitive": "select occupation, count(*) from release where gender = 'M' group by occupation",
    "three keys": "select gender, education, occupation, count(*) from release group by all",
    "average of values": "select avg(occupation) from release where gender = 'M' and age > 30",
    "mixed condition": "select count(*) from release where age > occupation",
}


def best(run, times: int = 15) -> str:
    """Run several times; return the least and the median in milliseconds."""
    taken = []
    for number in range(times):
        start = time.perf_counter()
        run(number)
        taken.append(1000 * (time.perf_counter() - start))
    taken.sort()
    return f"least {taken[0]:.1f} ms, median {taken[times // 2]:.1f} ms"


def main() -> None:
    """Publish, warm up, measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("generator")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--l", type=int, default=10)
    parser.add_argument("--background", action="append", default=[], help="quasi columns that a distribution is by")
    parser.add_argument("--estimator")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    con = duckdb.connect()
    con.execute(Path(asked.generator).read_text(encoding="utf-8"))
    con.execute(
        "create table microdata as select * replace (case when gender = 0 then 'M' else 'F' end as gender)"
        f" from census_like({asked.rows}, 42)"
    )
    backgrounds = [columns.split(",") for columns in asked.background]
    session = published(con, "microdata", QUASI, "occupation", asked.l, "release_", backgrounds)
    systems = session.loaded.load_systems() if backgrounds else None
    print("classes:", 1 if systems is None else len(systems.rows))

    def ask(sql: str) -> None:
        session.answer(sql, asked.estimator)

    with tempfile.TemporaryDirectory() as folder:
        path = literal(f"{folder}/microdata.parquet")
        con.execute(f"copy microdata to {path}")
        print("count on Parquet:", best(lambda n: con.execute(QUERY.format(path, 25, 7)).fetchall()))
    print("first query:", best(lambda n: ask(QUERY.format("release", 25, 7)), 1))
    print("same query:", best(lambda n: ask(QUERY.format("release", 25, 7))))
    print("new quasi part:", best(lambda n: ask(QUERY.format("release", 20 + n, 7))))
    print("new asked set:", best(lambda n: ask(QUERY.format("release", 25, 20 + n))))
    for name, sql in TABLES.items():
        first = best(lambda n, sql=sql: ask(sql), 1)
        print(f"{name}: first {first}; again {best(lambda n, sql=sql: ask(sql), 3)}")


if __name__ == "__main__":
    main()
