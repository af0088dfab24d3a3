"""Time a recipient's questions over hundreds and thousands of sensitive values.

    python -m tests.benchmarks.wide_values [--values 529] [--method robust] [--by sex --by sex,education] [--counts 60]

Invented people, published under a fixed key with r = l = 5, by robust against adversaries who know the distribution of
values by sex (2 classes), by sex and education (32), by age, sex and education (some 2,000). Printed for each release:
seconds of the processors, start of Python and publishing left out, of the first question (what is solved once for a
release), of GROUP BY the sensitive column with COUNT and AVG, of single counts, of the same asked at once, and of a
MEDIAN; and the largest memory of the process so far. With --keep the answers go to a file, with --beside their largest
distance from those of such a file is printed, in standard errors.
"""

import argparse
import logging
import pickle
import resource
import time
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

import sqlanon

QUASI = ["age", "sex", "education", "region"]
BACKGROUNDS = ("sex", "sex,education", "age,sex,education")
# values follow one another in frequency as powers do; whom a value is frequent among depends on sex and education
PEOPLE = """
create table people as
select id, (20 + least(u_age, 1 - u_age / 2) * 60 + 8 * u)::integer as age, sex, education, region,
    (({values} * pow(u, 1.6) + sex * {values} / 9 + education * {values} / 40)::integer % {values})::integer as work
from (
    select id, (hash(id * 11 + 1) % 1000003) / 1000003.0 as u, (hash(id * 11 + 2) % 1000003) / 1000003.0 as u_age,
        (hash(id * 11 + 3) % 2)::integer as sex,
        least(hash(id * 11 + 4) % 19, hash(id * 11 + 6) % 16)::integer as education,
        (hash(id * 11 + 5) % 50)::integer as region
    from range({rows}) as people(id)
)
"""


def publish(con: duckdb.DuckDBPyConnection, method: str, background: str) -> sqlanon.Release:
    """Publish the people under a fixed key."""
    options = {"quasi": QUASI, "sensitive": "work", "id": "id", "key": "5" * 64, "unique_quasi": "keep"}
    if method == "anatomy":
        return sqlanon.anatomy(con, "people", l=5, **options)
    return sqlanon.robust(con, "people", r=5, background_from=[background.split(",")], max_suppressed=0.9, **options)


def ask(release: sqlanon.Release, values: int, counts: int, estimator: str | None) -> dict[str, list[pd.DataFrame]]:
    """Print what every kind of question takes; return the answers by kind."""
    random = np.random.default_rng(529)
    conditions = []
    for number in range(counts):
        low, value = int(random.integers(20, 50)), int(random.integers(0, values))
        sex, end = int(random.integers(0, 2)), low + int(random.integers(5, 25))
        work = f"work = {value}" if number % 2 else f"work between {value} and {value + values // 10}"
        conditions.append(f"age between {low} and {end} and sex = {sex} and {work}")
    listed = [f"select count(*) from release where {condition}" for condition in conditions]
    kinds = {
        "opening": ["select count(*) from release where age < 30 and work = 1"],
        "GROUP BY": ["select work, count(*), avg(age) from release where region < 20 group by work order by work"],
        f"{counts} counts": listed,
        "MEDIAN": ["select median(age) from release where region < 20 and work between 10 and 40"],
    }
    answers: dict[str, list[pd.DataFrame]] = {}

    def report(name: str, started: float) -> None:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"  {name}: {time.process_time() - started:.2f} s, at most {memory:.2f} GB", flush=True)

    for name, queries in kinds.items():
        started = time.process_time()
        answers[name] = [release.estimate(query, estimator=estimator) for query in queries]
        report(name, started)
    started = time.process_time()
    release.estimate_many(listed, estimator)
    report(f"{counts} counts at once", started)
    return answers


def compare(answers: dict[str, list[pd.DataFrame]], others: dict[str, list[pd.DataFrame]]) -> None:
    """Print by kind the largest distance of answers and ends of intervals, in standard errors."""
    for name, frames in answers.items():
        largest = 0.0
        for frame, other in zip(frames, others[name], strict=True):
            for error in (column for column in frame if column.endswith("_std_error")):
                scale = np.where(frame[error] > 0, frame[error], np.maximum(1.0, np.abs(frame[error[:-10]])))
                for column in (error, *(error.replace("_std_error", end) for end in ("", "_low", "_high"))):
                    distance = (np.abs(frame[column] - other[column]) / scale)[frame[column] != other[column]]
                    largest = max(largest, float(distance.max(skipna=True)) if len(distance) else 0.0)
        print(f"  {name}: {largest:.1e} standard errors away")


def main() -> None:
    """Publish, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=529)
    parser.add_argument("--rows", type=int, default=85_109)
    parser.add_argument("--method", choices=("robust", "anatomy"), default="robust")
    parser.add_argument("--by", action="append", default=[])
    parser.add_argument("--counts", type=int, default=60)
    parser.add_argument("--estimator")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--beside", type=Path)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    con = duckdb.connect()
    con.execute(PEOPLE.format(values=options.values, rows=options.rows))
    backgrounds = options.by or (BACKGROUNDS if options.method == "robust" else ("",))
    kept = pickle.loads(options.beside.read_bytes()) if options.beside else {}
    answers = {}
    for background in backgrounds:
        release = publish(con, options.method, background)
        print(f"{options.method} {background}: {options.rows:,} rows, {options.values:,} values", flush=True)
        answers[background] = ask(release, options.values, options.counts, options.estimator)
        if background in kept:
            compare(answers[background], kept[background])
    if options.keep:
        options.keep.write_bytes(pickle.dumps(answers))


if __name__ == "__main__":
    main()
