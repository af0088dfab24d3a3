"""Publish the same people again and again: what releases tell together, how accurate they stay, how long they take.

    python -m tests.benchmarks.republication history adult.parquet [--releases 5] [--turnover 0.05] [--l 3]
    python -m tests.benchmarks.republication speed [--rows 1000000] [--memory-limit 2GB]

history: releases of Adult with and without a ledger, the occupation sensitive, everybody known by a number; how many
people all releases together fix to one value, and the mean relative error of random counts on the last release
beside a fresh release of the same people. speed: a first release, and one after 1 % arrivals, 1 % departures and 0.5 %
changes, out of a DuckDB file; the memory is the largest until then. Runs that are killed: `tests.benchmarks.kills`.
"""

import argparse
import random
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import sqlanon

KEY = "5e" * 32
ADULT = ["age", "sex", "education", "race", "native_country", "workclass", "marital_status"]
SPREAD = {"age": 70, "sex": 2, "region": 50, "job": 20, "education": 16, "marital": 7, "country": 40}


def history(data: str, releases: int, turnover: float, l: int) -> None:
    """Print what composition reaches, and the errors, with and without a ledger."""
    con = duckdb.connect()
    con.execute(
        "create table everybody as select row_number() over () as id, id as number, *, hash(fnlwgt, age,"
        f" hours_per_week, education, relationship) % 1000000 / 1e6 as place from '{data}' where occupation is not null"
    )
    # everybody is there for a stretch of time: the first releases lack the last comers, the last ones the first
    span = 1 - turnover * releases
    # who knows people tells them apart, so that nobody is taken for somebody else who came instead
    given = {"quasi": [*ADULT, "number"], "sensitive": "occupation", "id": "id", "l": l, "unique_quasi": "keep"}
    with TemporaryDirectory() as folder:
        followed, alone = [], []
        for number in range(releases):
            low = number * turnover
            con.execute(
                f"create or replace table people as from everybody where place >= {low} and place < {low + span}"
            )
            out = f"{folder}/{number}"
            sqlanon.anatomy(con, "people", **given, key=KEY, ledger=f"{folder}/ledger", out=f"{out}_followed")
            sqlanon.anatomy(con, "people", **given, key=f"{number:02x}" * 32, out=f"{out}_alone")
            followed.append(sqlanon.open(f"{out}_followed", con=con))
            alone.append(sqlanon.open(f"{out}_alone", con=con))
        for name, all_of_them in (("under a ledger", followed), ("independent", alone)):
            for count in range(2, releases + 1):
                found = sqlanon.attack(all_of_them[0], others=all_of_them[1:count])
                (fixed,) = [one for one in found.findings if one.family == "composition"]
                print(f"{name}, {count} releases: {fixed.reached:.2%} fixed to one value; {fixed.whom}")
        departed = followed[-1].manifest["verified"]["departed"]
        print(f"departed in the last release: {departed:,} of {departed + followed[-1].manifest['rows']:,}")
        print(f"withheld in the last release: {followed[-1].manifest['dropped_rows']:,}")
        errors = [mean_error(con, one) for one in (followed[-1], alone[-1])]
        print(f"mean relative error of shrinkage: {errors[0]:.4f}, of a fresh release {errors[1]:.4f}, ratio"
              f" {errors[0] / errors[1]:.2f}")  # fmt: skip


def mean_error(con: duckdb.DuckDBPyConnection, release: sqlanon.Release, queries: int = 120) -> float:
    """Return the mean relative error of random counts of at least 50 people."""
    chance, errors = random.Random(3), []
    jobs = [job for (job,) in con.execute("select distinct occupation from people order by all").fetchall()]
    while len(errors) < queries:
        chosen = ", ".join(f"'{job}'" for job in chance.sample(jobs, 4))
        low = chance.randint(17, 55)
        where = f"occupation in ({chosen}) and age between {low} and {low + 20} and sex = '{chance.choice(SEXES)}'"
        ((truth,),) = con.execute(f"select count(*) from people where {where}").fetchall()
        if truth >= 50:
            value = release.estimate(f"SELECT COUNT(*) AS n FROM release WHERE {where}")["n"][0]
            errors.append(abs(value - truth) / truth)
    return sum(errors) / len(errors)


SEXES = ("Male", "Female")


def speed(rows: int, memory_limit: str) -> None:
    """Print seconds and memory of a first release, of those that follow, and of one without a ledger, under one key."""
    with TemporaryDirectory() as folder, duckdb.connect(f"{folder}/people.duckdb") as con:
        con.execute(f"set memory_limit = '{memory_limit}'")
        _publish_again(con, folder, rows)


def _publish_again(con: duckdb.DuckDBPyConnection, folder: str, rows: int) -> None:
    spread = ", ".join(f"(hash(i, {n}) % {many})::integer as {name}" for n, (name, many) in enumerate(SPREAD.items()))
    people = f"select i as id, {spread}, 'd' || hash(i, 9) % 20 as disease from range({{}}, {{}}) t(i)"
    con.execute(f"create table people as {people.format(0, rows)}")
    con.execute(
        "create table later as select * replace (case when hash(id, 7) % 200 = 0 then 'd0' else disease end as disease)"
        f" from people where hash(id, 8) % 100 > 0 union all {people.format(rows, rows + rows // 100)}"
    )
    given = {"quasi": list(SPREAD), "sensitive": "disease", "id": "id", "l": 5, "key": KEY}
    for name, source, options in (
        ("without a ledger", "people", {}),
        ("first release", "people", {"ledger": f"{folder}/ledger"}),
        ("second release", "later", {"ledger": f"{folder}/ledger"}),
        ("third release", "people", {"ledger": f"{folder}/ledger"}),
    ):
        start, used = time.perf_counter(), time.process_time()
        sqlanon.anatomy(con, source, **given, **options, out=f"{folder}/{name}")
        clock, processors = time.perf_counter() - start, time.process_time() - used
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{rows:,} rows, {name}: {clock:.2f} s, of the processors {processors:.2f} s, {memory:.2f} GB", flush=True
        )
    print(f"ledger: {Path(folder, 'ledger').stat().st_size / 1e6:.1f} MB")


def main() -> None:
    """Run the part that was named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("history", "speed"))
    parser.add_argument("data", nargs="?", default="adult.parquet")
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--turnover", type=float, default=0.05)
    parser.add_argument("--l", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--memory-limit", default="2GB")
    asked = parser.parse_args()
    if asked.part == "history":
        history(asked.data, asked.releases, asked.turnover, asked.l)
    else:
        speed(asked.rows, asked.memory_limit)


if __name__ == "__main__":
    main()
