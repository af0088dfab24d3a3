"""People with several values: how long they take to publish, and how near answers about them come.

    python -m tests.benchmarks.persons [--keys 3]

Invented reports: 203,445 people with about 658,000 symptoms, 900 different ones, sets up to 60, the most frequent
symptom of about 23 %; symptoms depend on age, sex, and on each other (25 clusters). Published with l = 3 and 4 and by
r-robust groups; beside it one value a person, and two columns. Printed: seconds of the processors, who is left out;
then answers by size of the truth: how often intervals hold, errors of the default and of the paper's estimate, and of
the same table published row by row. Last, 12,000 people of whom the youngest have one of 90 symptoms, the oldest nine.
"""

import argparse
import collections
import resource
import tempfile
import time
import warnings

import duckdb
import numpy as np
import pandas as pd

import sqlanon

PEOPLE, SYMPTOMS, CLUSTERS, LARGEST = 203_445, 900, 25, 60
SIZES = ((0, 1), (1, 30), (30, 300), (300, 3_000), (3_000, 10**9))
WHERES = (
    "sex = 'm'", "age >= 70", "age < 30 and sex = 'f'", "state = 7", "age = 30", "state < 5 and age between 40 and 49",
)  # fmt: skip
ROLES = {"quasi": "age,sex,state", "sensitive": "symptom"}


ASKED = (
    ("several rows a person, l = 3", "anatomy", {"l": 3, "id": "id"}),
    ("several rows a person, l = 4", "anatomy", {"l": 4, "id": "id"}),
    ("several rows a person, r = 3 by sex", "robust", {"r": 3, "background_from": "sex", "id": "id"}),
    ("each row by itself, l = 4", "anatomy", {"l": 4, "id": "id", "unit": "row"}),
)


def reports(seed: int = 1) -> pd.DataFrame:
    """Return the reports: id, age, sex, state, symptom, a row a symptom."""
    draws = np.random.default_rng(seed)
    age, sex = draws.integers(18, 90, PEOPLE), draws.integers(0, 2, PEOPLE)
    state, cluster = draws.integers(0, 50, PEOPLE), draws.integers(0, CLUSTERS, PEOPLE)
    rate = 1 / (np.arange(SYMPTOMS) + 2.2) ** 1.02
    rate *= 0.236 / rate[0]
    rate[0] *= 1.24
    sizes = np.minimum(LARGEST, 1 + draws.negative_binomial(0.9, 0.9 / (0.9 + 2.23), PEOPLE))
    trend, by_sex = draws.normal(0, 0.8, SYMPTOMS), draws.normal(0, 0.5, SYMPTOMS)
    own = draws.integers(0, CLUSTERS, SYMPTOMS)
    person, symptom = [], []
    for start in range(0, PEOPLE, 5_000):
        some = np.arange(start, min(PEOPLE, start + 5_000))
        score = np.log(rate) + np.outer((age[some] - 54) / 36, trend) + np.outer(sex[some] - 0.5, by_sex)
        score += (own[None, :] == cluster[some][:, None]) * 1.2
        order = np.argsort(-(score + draws.gumbel(size=score.shape)), axis=1)
        person += [np.repeat(some, sizes[some])]
        symptom += [np.concatenate([order[line, :size] for line, size in enumerate(sizes[some])])]
    people, values = np.concatenate(person), np.concatenate(symptom)
    return pd.DataFrame({
        "id": people, "age": age[people], "sex": np.where(sex[people] == 1, "m", "f"), "state": state[people],
        "symptom": np.char.add("s", values.astype(str)),
    })  # fmt: skip


def uneven(seed: int = 1) -> pd.DataFrame:
    """Return reports of the same columns in which how many symptoms somebody has goes with age, and which too."""
    draws = np.random.default_rng(seed)
    age, sex, state = draws.integers(18, 90, 12_000), draws.integers(0, 2, 12_000), draws.integers(0, 50, 12_000)
    score = np.log(1 / (np.arange(90) + 9)) + np.outer((age - 54) / 36, draws.normal(0, 0.8, 90))
    order = np.argsort(-(score + draws.gumbel(size=score.shape)), axis=1)
    sizes = 1 + (age - 18) // 8
    people = np.repeat(np.arange(12_000), sizes)
    symptom = np.concatenate([order[line, :size] for line, size in enumerate(sizes)])
    return pd.DataFrame({
        "id": people, "age": age[people], "sex": np.where(sex[people] == 1, "m", "f"), "state": state[people],
        "symptom": np.char.add("s", symptom.astype(str)),
    })  # fmt: skip


def seconds() -> float:
    """Return the seconds of the processors so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(con, words, method, source, **asked):
    """Publish to a directory, as a publisher does; print what it takes and who is left out."""
    before, start = seconds(), time.monotonic()
    release = getattr(sqlanon, method)(con, source, out=f"{tempfile.mkdtemp()}/release", **asked)
    rows, dropped = release.manifest["rows"], release.manifest["dropped_rows"]
    print(f"{words:44} {seconds() - before:6.1f} s of the processors, {time.monotonic() - start:5.1f} s;"
          f" {rows:,} published, {dropped:,} left out", flush=True)  # fmt: skip
    return release


def judge(con, release, facts):
    """Return by size of the truth: whether the interval holds, and the errors of the default and of the paper's."""
    told = collections.defaultdict(list)
    for where in WHERES:
        query = f"SELECT symptom, COUNT(*) AS n FROM {{}} WHERE {where} GROUP BY symptom"
        truth = con.execute(query.format(facts)).df().set_index("symptom")["n"]
        answer = release.estimate(query.format("release")).set_index("symptom")
        paper = release.estimate(query.format("release"), estimator="uniform").set_index("symptom")["n"]
        truth = truth.reindex(answer.index, fill_value=0)
        for low, high in SIZES:
            some = (truth >= low) & (truth < high)
            holds = (answer["n_low"] - 1e-6 <= truth) & (truth <= answer["n_high"] + 1e-6)
            told[low].append(np.stack([holds, (answer["n"] - truth).abs(), (paper - truth).abs()], axis=1)[some])
    return {low: np.concatenate(lines) for low, lines in told.items()}


def main() -> None:
    """Publish, ask, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", type=int, default=3)
    keys = parser.parse_args().keys
    warnings.simplefilter("ignore")
    con = duckdb.connect()
    con.register("frame", reports())
    con.execute("create table reports as select * from frame")
    con.execute("create table single as select id, any_value(age) as age, any_value(sex) as sex, any_value(state) as"
                " state, min(symptom) as symptom, max(symptom) as other from reports group by id"
                " having min(symptom) <> max(symptom)")  # fmt: skip
    facts, people, most = con.execute(
        "select sum(n), (select count(distinct id) from reports), max(n)"
        " from (select symptom, count(distinct id) as n from reports group by all)"
    ).fetchone()
    print(f"DuckDB {duckdb.__version__}: {people:,} people, {facts:,} facts, a symptom of {most / people:.1%}")
    timed(con, "one value a person, l = 3", "anatomy", "single", l=3, **ROLES)
    timed(con, "two columns, l = 3", "anatomy", "single", l=3, quasi=ROLES["quasi"], sensitive="symptom,other")
    compare_answers(con, "reports", keys, ASKED)
    con.register("drawn", uneven())
    con.execute("create table uneven_reports as select * from drawn")
    compare_answers(con, "uneven_reports", keys, (ASKED[0], ASKED[2]))


def compare_answers(con, source, keys, asked):
    """Publish several times, and print how near answers come."""
    print(f"\n{source}")
    releases = collections.defaultdict(list)
    for _ in range(keys):
        for words, method, parameters in asked:
            releases[words].append(timed(con, words, method, source, **ROLES, **parameters))
    print("\nnumbers of people with a symptom, by their size: intervals that hold, error, the paper's error")
    for words, made in releases.items():
        facts = f"(select distinct id, age, sex, state, symptom from {source})"
        told = [judge(con, release, facts) for release in made]
        for low, high in SIZES:
            lines = np.concatenate([each[low] for each in told])
            if len(lines):
                holds, error, paper = lines.mean(axis=0)
                figures = f"{len(lines):7,} figures {holds:6.3f} {error:8.1f} {paper:8.1f}"
                print(f"{words:36} {low:6,} to {high:13,} {figures}")


if __name__ == "__main__":
    main()
