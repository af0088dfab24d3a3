"""Randomized values after people have left: whether counts stay unbiased, and intervals hold the truth.

    python -m tests.benchmarks.departing [--gamma 5] [--releases 60] [--estimator shrinkage]

3,000 people came first, 300 twice later, each entry with decoys of its own; none, 20 and 60 % of the first and half as
many of the later ones have left, whatever their values. Printed for each: the largest bias of a value's published count
in standard errors, and how many intervals of six kinds of questions hold the truth. --drift: those who came later have
the frequent values rarely and the rare ones often.
"""

import argparse

import numpy as np
import pandas as pd

from tests.estimation.randomized.test_session import session_of
from tests.oracles import decoys

SHARES = np.array([13, 12, 11, 10, 9, 9, 8, 8, 6, 5, 4, 2, 2, 1]) / 100
ENTRIES = (3000, 300, 300)
ASKED = (
    "select job, count(*) as n from release group by job order by job",
    "select sex, job, count(*) as n from release group by all order by all",
    "select sex, count(*) as n from release where job in (1, 2, 3) and age > 35 group by sex order by sex",
    "select sex, sum(age) as n from release where job in (4, 5) group by sex order by sex",
    "select sex, avg(age) as n from release where job in (1, 2, 3) group by sex order by sex",
    "select entry, count(*) as n from release where job < 4 group by entry order by entry",
)


def people(rows: int, gamma: int, drift: bool, random: np.random.Generator) -> pd.DataFrame:
    """Return people of one entry, with the values that they publish."""
    rows -= rows % gamma
    while True:
        job = random.choice(len(SHARES), rows, p=SHARES[::-1] if drift else SHARES)
        if np.bincount(job).max() <= rows // gamma:
            break
    sex = np.where(random.random(rows) < 0.3 + 0.03 * job, "M", "F")
    _, found = decoys.published(job, gamma, random)
    return pd.DataFrame({"age": 20 + 2 * job + random.integers(0, 30, rows), "sex": sex, "job": job, "found": found})


def answered(truth: pd.DataFrame, found: pd.Series, gamma: int, departed: int, estimator: str) -> list[np.ndarray]:
    """Return for each question which of its intervals hold the truth; answers that are NULL are left out."""
    session = session_of(truth.assign(job=found), ["job"], [gamma], truth, residue="drop", departed=departed)
    held = []
    for sql in ASKED:
        keys = [name for name in ("entry", "sex", "job") if f"{name}," in sql.split("from")[0]]
        true = session.con.execute(sql.replace("release", "microdata")).df().set_index(keys)["n"]
        answer = session.answer(sql, estimator).set_index(keys).dropna()
        true = true.reindex(answer.index).fillna(0)
        held.append(((answer["n_low"] <= true) & (true <= answer["n_high"])).to_numpy())
    session.con.close()
    return held


def simulate(left: float, gamma: int, releases: int, estimator: str, drift: bool) -> None:
    """Print bias and coverage where this share of those who came first has left."""
    random, off = np.random.default_rng(1), []
    held: list[list[np.ndarray]] = [[] for _ in ASKED]
    for _ in range(releases):
        entries = [people(rows, gamma, drift and entry > 0, random) for entry, rows in enumerate(ENTRIES)]
        everybody = pd.concat([one.assign(entry=number) for number, one in enumerate(entries)], ignore_index=True)
        leaving = np.where(everybody["entry"] == 0, left, left / 2)
        here = everybody[random.random(len(everybody)) >= leaving].reset_index(drop=True)
        counts = [np.bincount(here[name], minlength=len(SHARES)) for name in ("found", "job")]
        off.append(counts[0] - counts[1])
        truth = here[["entry", "age", "sex", "job"]]
        for known, found in zip(
            held, answered(truth, here["found"], gamma, len(everybody) - len(here), estimator), strict=True
        ):
            known.append(found)
    errors = np.array(off)
    bias = np.abs(errors.mean(axis=0)) / (errors.std(axis=0, ddof=1) / np.sqrt(releases))
    shares = [np.concatenate(one).mean() for one in held]
    told = ", ".join(f"{share:.3f}" for share in shares)
    print(
        f"{left:.0%} departed: bias at most {bias.max():.1f} standard errors; held {np.mean(shares):.3f} ({told})",
        flush=True,
    )


def main() -> None:
    """Simulate none, 20 and 60 % departed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gamma", type=int, default=5)
    parser.add_argument("--releases", type=int, default=60)
    parser.add_argument("--estimator", default="shrinkage")
    parser.add_argument("--drift", action="store_true")
    asked = parser.parse_args()
    for left in (0, 0.2, 0.6):
        simulate(left, asked.gamma, asked.releases, asked.estimator, asked.drift)


if __name__ == "__main__":
    main()
