"""Time `attack` on a large release and an intersection of three: python tests/benchmarks/attacking.py [ROWS]."""

import sys
import time

import duckdb

import sqlanon

QUASI = ["age", "sex", "region", "job", "education", "marital", "country"]


def main() -> None:
    """Print seconds of both."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    con = duckdb.connect()
    spread = ", ".join(f"(hash(i, {n}) % {many})::integer as {name}" for n, (name, many) in
                       enumerate(zip(QUASI, (70, 2, 50, 20, 16, 7, 40), strict=True)))  # fmt: skip
    con.execute(f"create table people as select i as id, {spread}, 'd' || hash(i, 9) % 20 as disease"
                f" from range({rows}) t(i)").fetchall()  # fmt: skip
    releases = [
        sqlanon.anatomy(con, "people", quasi=QUASI, sensitive="disease", id="id", l=5, key=f"{n:02x}" * 32)
        for n in range(3)
    ]
    start = time.perf_counter()
    found = sqlanon.attack(releases[0])
    middle = time.perf_counter()
    both = sqlanon.attack(releases[0], others=releases[1:])
    end = time.perf_counter()
    print(f"{rows:,} rows, l = 5, {len(QUASI)} quasi columns")
    print(f"learning, exclusion, presence: {middle - start:.1f} s ({found.headline})")
    print(f"with three releases intersected: {end - middle - (middle - start):.1f} s more ({both.headline})")


if __name__ == "__main__":
    main()
