"""Time `verify --background` on releases of Anatomy, and show what a known distribution makes of them.

    python tests/benchmarks/posteriors.py census_income_kdd.parquet [--rows 1000000] [--sizes 4 5 14 30]

First an invented table of --rows rows (60 diseases, frequencies that depend on nothing) is published with each l of
--sizes and met by backgrounds of 166 and of about 34,000 signatures, learned from it. Then the census data
(148,318 rows with an occupation) at l = 3 and 5 is met by what sex, education, and both teach. Printed: seconds,
without those of the verification itself, rows above 1/l, the largest posterior, and which method found it.
"""

import argparse
import sys
import time
from pathlib import Path

import duckdb

import sqlanon

MADE = """
create table source as
select i % 83 as age, i // 83 % 2 as sex, cast(floor(random() * 1000) as integer) as zip,
    cast(floor(random() * 17) as integer) as education,
    'd' || cast(floor(pow(random(), 1.1) * 60) as integer) as disease
from range({rows}) as t(i)
"""
QUASI = ("age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth")


def learn(con: duckdb.DuckDBPyConnection, columns: str, sensitive: str) -> str:
    """Make the background that the source teaches."""
    name = f"by_{columns.replace(', ', '_')}"
    con.execute(
        f"create or replace table {name} as"
        f" select {columns}, {sensitive}, count(*) / sum(count(*)) over (partition by {columns}) as probability"
        f" from source group by {columns}, {sensitive}"
    ).fetchall()
    return name


def measure(con: duckdb.DuckDBPyConnection, quasi: tuple[str, ...], sensitive: str, l: int, known: list[str]) -> None:
    """Publish once, and let each background meet the release."""
    release = sqlanon.anatomy(con, "source", quasi=quasi, sensitive=sensitive, l=l)
    start = time.monotonic()
    release.verify()
    plain = time.monotonic() - start
    for columns in known:
        name = learn(con, columns, sensitive)
        start = time.monotonic()
        (found,) = release.verify(background=name).posterior
        spent = time.monotonic() - start - plain
        (signatures,) = con.execute(f"select count(*) from (select distinct {columns} from source)").fetchone() or (0,)
        print(
            f"| {found['rows']:,} | {l} | {columns} ({signatures:,}) | {spent:.1f} s | {found['share_above']:.1%} |"
            f" {found['largest_posterior']:.4f} | {found['largest_by']} |"
        )
        sys.stdout.flush()


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("census", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[4, 5])
    asked = parser.parse_args()
    print(
        "| rows | l | background (signatures) | seconds | rows above 1/l | largest posterior | by |\n"
        + "|---" * 7
        + "|"
    )
    con = duckdb.connect()
    con.execute(MADE.format(rows=asked.rows)).fetchall()
    for l in asked.sizes:
        measure(con, ("age", "sex", "zip", "education"), "disease", l, ["age, sex", "zip, sex, education"])
    con.execute(
        f"create or replace table source as select {', '.join(QUASI)}, occupation_code as occupation"
        f" from '{asked.census}' where occupation_code <> 0"
    ).fetchall()
    for l in (3, 5):
        measure(con, QUASI, "occupation", l, ["sex", "education", "sex, education"])


if __name__ == "__main__":
    main()
