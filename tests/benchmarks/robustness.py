"""Attack plain Anatomy and r-robust releases with learned distributions, and time the grouping of both.

    python tests/benchmarks/robustness.py census_income_kdd.parquet census_like.sql [--rows 1000000] [--repeat 5]

First table: the census rows with an occupation (7 quasi columns, occupation_code), r = l = 3 and 5, backgrounds
learned from sex, from education, from both together: the share of rows whose exact posterior is above 1/r and the
largest posterior, for plain Anatomy and for the robust release, and the share of rows that the latter leaves out.
Second: 20,000 of these rows, and a table by age, sex and education that lies between what is learned from them (weight
0) and the same mean for everybody (weight 1), r = 3: rows left out, rows a group, and the largest posterior.
Third: the seconds from the source's table to the table of groups, in turn, and their ratio pair by pair.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

import duckdb

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.key import Key
from sqlanon.publishing.release_request import ReleaseRequest, prepare

QUASI = ["age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth"]
SETS = {"sex": ["sex"], "education": ["education"], "both": ["sex,education"]}
GENERATED = ("age", "gender", "education", "marital_status", "race", "work_class", "country")
SIGNATURES = ("gender", "gender,education", "age,gender,education")


def attacked(census: Path, folder: Path) -> None:
    """Print the first table."""
    con = duckdb.connect()
    con.execute(f"create view census as select * from '{census}' where occupation_code <> 0").fetchall()
    print(
        "| r, backgrounds | Anatomy: rows above 1/r, largest"
        " | robust: rows above 1/r, largest | left out | verified in |"
    )
    print("|---|---|---|---|---|")
    for r in (3, 5):
        plain = sqlanon.anatomy(con, "census", quasi=QUASI, sensitive="occupation_code", l=r)
        for name, sets in SETS.items():
            files = [folder / f"{r}_{name}_{number}.parquet" for number, _ in enumerate(sets)]
            robust = sqlanon.robust(
                con, "census", quasi=QUASI, sensitive="occupation_code", r=r, background_from=sets,
                save_background=files, max_suppressed=0.02,
            )  # fmt: skip
            known = [str(file) for file in files]
            before, (_, _) = exposed(plain, known, r)
            after, (rows, seconds) = exposed(robust, known, r)
            left = robust.manifest["dropped_rows"] / (rows + robust.manifest["dropped_rows"])
            print(f"| {r} {name} | {before} | {after} | {left:.2%} | {seconds:.1f} s |", flush=True)


def flattened(census: Path) -> None:
    """Print the second table."""
    con = duckdb.connect()
    con.execute(f"create table census as from '{census}' where occupation_code <> 0 limit 20000").fetchall()
    by = "age, sex, education"
    con.execute(f"create table own as select {by}, occupation_code, count(*) as n from census group by all").fetchall()
    con.execute(
        f"create table prior as select {by}, occupation_code,"
        f" coalesce(n, 0) / sum(n) over (partition by {by}) as learned,"
        " sum(n) over (partition by occupation_code) / 20000 as mean"
        f" from (select distinct {by} from own) cross join (select distinct occupation_code from own)"
        f" left join own using ({by}, occupation_code)"
    ).fetchall()
    print("| weight of the mean | left out | rows a group | largest posterior | seconds |")
    print("|---|---|---|---|---|")
    for weight in (0, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1):
        con.execute(
            f"create or replace table known as select {by}, occupation_code,"
            f" {weight} * mean + (1 - {weight}) * learned as probability from prior"
        ).fetchall()
        start = time.monotonic()
        release = sqlanon.robust(
            con, "census", quasi=QUASI, sensitive="occupation_code", r=3, background="known", max_suppressed=0.2,
            key="0f" * 32,
        )  # fmt: skip
        seconds, rows = time.monotonic() - start, release.manifest["rows"]
        (found,) = release.verify(background="known", r=3).posterior
        print(
            f"| {weight} | {1 - rows / 20000:.2%} | {rows / release.manifest['groups']:.1f}"
            f" | {found['largest_posterior']:.4f} | {seconds:.1f} s |",
            flush=True,
        )


def exposed(release: sqlanon.Release, known: list[str], r: float) -> tuple[str, tuple[int, float]]:
    """Return the worst over the backgrounds in words, the rows, and the seconds of the verification."""
    start = time.monotonic()
    report = release.verify(background=known, r=r)
    seconds = time.monotonic() - start
    share, largest = (max(one[figure] for one in report.posterior) for figure in ("share_above", "largest_posterior"))
    return f"{share:.2%}, {largest:.4f}", (report.figures["rows"], seconds)


def timed(generator: Path, rows: int, repeat: int) -> None:
    """Print the third table."""
    con = duckdb.connect()
    con.execute(generator.read_text())
    con.execute(f"create table census_like_rows as from census_like({rows}, 42)").fetchall()
    engine = DuckDBEngine(con)

    def grouped(method: str, **parameters: object) -> float:
        start = time.monotonic()
        asked = ReleaseRequest(method, "census_like_rows", GENERATED, ("occupation",))
        with (
            prepare(asked, engine, "timed_", **parameters) as (plan, _),
            engine.snapshot(),
            run_plan(plan, engine, Key.fresh()),
        ):
            return time.monotonic() - start

    grouped("anatomy", l=5)  # warm-up
    for signature in SIGNATURES:
        asked = {"r": 5, "background_from": ((signature,),), "max_suppressed": 0.9}
        pairs = [(grouped("anatomy", l=5), grouped("robust", **asked)) for _ in range(repeat)]
        plain, robust = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios = sorted(pair[1] / pair[0] for pair in pairs)
        print(
            f"{rows:,} rows, {signature}: Anatomy {plain:.2f} s, robust {robust:.2f} s,"
            f" ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("census", type=Path)
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    print(
        f"{platform.platform()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )
    with tempfile.TemporaryDirectory() as name:
        attacked(asked.census, Path(name))
    flattened(asked.census)
    timed(asked.generator, asked.rows, asked.repeat)


if __name__ == "__main__":
    main()
