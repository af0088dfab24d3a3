"""Time the page about a large release: python tests/benchmarks/reporting.py [ROWS]."""

import sys
import time

import duckdb

import sqlanon

QUASI = {"age": 70, "sex": 2, "region": 50, "job": 20, "education": 16, "marital": 7, "country": 40}


def main() -> None:
    """Print seconds and bytes of the public page and of the internal one."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    con = duckdb.connect()
    spread = ", ".join(f"(hash(i, {n}) % {many})::integer as {name}" for n, (name, many) in enumerate(QUASI.items()))
    con.execute(
        f"create table people as select i as id, {spread}, 'd' || hash(i, 9) % 20 as disease from range({rows}) t(i)"
    ).fetchall()
    release = sqlanon.anatomy(con, "people", quasi=list(QUASI), sensitive="disease", id="id", l=5)
    print(f"{rows:,} rows, l = 5, {len(QUASI)} quasi columns")
    for view, source in (("public", {}), ("internal", {"against": "people", "id": "id"})):
        begin = time.perf_counter()
        page = sqlanon.report(release, **source)
        size = len(page.html.encode())
        print(f"{view}: {time.perf_counter() - begin:.1f} s, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
