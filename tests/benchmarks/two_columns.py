"""Time releases of two sensitive columns beside those of the first of them alone, in one process.

    python tests/benchmarks/two_columns.py census_like.sql --rows 300000 1000000 [--repeat 3]
    python tests/benchmarks/two_columns.py census_income_kdd.parquet

`census_like.sql` is a generator of census-like rows (a DuckDB macro census_like(rows, seed)). Anatomy with l = 5 and
r-robust groups with r = 5 against an adversary who knows values by sex, in memory, with verification and the comparison
with the source. Printed: seconds of the processors and by the clock (the run with the least of the processors), their
ratio, rows left out.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

import sqlanon

CENSUS = (
    "select * exclude (file_row_number), file_row_number as id from read_parquet('{path}', file_row_number = true)"
    " where occupation_code <> 0"
)
OF_CENSUS = (
    ["age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth"],
    ["occupation_code", "industry_code"],
    "sex",
)
OF_GENERATOR = (
    ["age", "gender", "education", "marital_status", "race", "work_class", "country"],
    ["occupation", "salary_class"],
    "gender",
)


def least(publish: Callable[[], sqlanon.Release], repeat: int) -> tuple[float, float, int]:
    """Return the seconds of the processors and by the clock of the run that took least, and the rows left out."""
    runs = []
    for _ in range(repeat):
        begun, worked = time.perf_counter(), time.process_time()
        release = publish()
        runs.append((time.process_time() - worked, time.perf_counter() - begun, release.manifest["dropped_rows"]))
    return min(runs)


def compare(con: duckdb.DuckDBPyConnection, columns: tuple[list[str], list[str], str], repeat: int) -> None:
    """Print what each method takes for one column and for two."""
    quasi, sensitive, known = columns
    asked = {
        "anatomy": lambda names: sqlanon.anatomy(con, "people", quasi=quasi, sensitive=names, l=5),
        "robust": lambda names: sqlanon.robust(
            con, "people", quasi=quasi, sensitive=names, r=5, background_from=known, max_suppressed=0.05
        ),
    }
    for method, publish in asked.items():
        publish(sensitive[0])  # warm-up
        one, both = (least(partial(publish, names), repeat) for names in (sensitive[0], sensitive))
        print(
            f"  {method:8} {one[0]:6.2f} and {both[0]:6.2f} s of the processors, ratio {both[0] / one[0]:.2f};"
            f" by the clock {one[1]:.2f} and {both[1]:.2f} s; {both[2]:,} rows left out"
        )


def main() -> None:
    """Measure one file, or every number of rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[300_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    generates = asked.source.suffix == ".sql"
    for rows in asked.rows if generates else [None]:
        con = duckdb.connect(config={"threads": 2})
        if generates:
            con.execute(asked.source.read_text(encoding="utf-8"))
        made = f"select * from census_like({rows}, 42) order by id" if rows else CENSUS.format(path=asked.source)
        con.execute(f"create table people as {made}")
        ((count,),) = con.execute("select count(*) from people").fetchall()
        print(f"{count:,} rows, DuckDB {duckdb.__version__}")
        compare(con, OF_GENERATOR if generates else OF_CENSUS, asked.repeat)


if __name__ == "__main__":
    main()
