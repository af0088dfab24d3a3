"""Measure answers about two randomized columns at once, and about values near a column's largest gamma.

    python tests/benchmarks/several_columns.py CENSUS.parquet [--queries 60] [--releases 6]

Two columns: conjunctions of one quasi column, the age's tenth and the occupation that hold for .5 to .7 % of the
rows (all there are, or as many as asked for), at gamma = 2, 5, 8 of both. One column: one quasi column and one of the
three most frequent occupations, .5 to 5 % of the rows, at gamma = 10 (a value can have 1/gamma of the rows, and the
most frequent has 8.8 %). Releases have fixed keys, and every query is asked of each by every estimator. Printed: the
mean relative error by estimator, how often the default's 95 % interval holds the truth, and its mean width
in true counts.
"""

import argparse
import logging
import platform
from collections.abc import Sequence

import duckdb
import numpy as np

import sqlanon
from sqlanon.plans.templates import ident, literal

QUASI = ("sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth")
AGE, OCCUPATION = "age_tenth", "occupation_code"
DEFAULT = "shrinkage"
SOURCE = """
select {quasi}, ntile(10) over (order by age, file_row_number) as age_tenth, occupation_code
from read_parquet({source}, file_row_number = true)
where occupation_code <> 0
"""


def conjunctions(con, sensitive: Sequence[str], only: str, low: float, high: float) -> dict[str, int]:
    """Return the conditions on one quasi column and on `sensitive` that hold for a share of the rows, with counts."""
    (rows,) = con.execute("select count(*) from microdata").fetchone()
    found = {}
    for quasi in QUASI:
        names = (quasi, *sensitive)
        columns = ", ".join(map(ident, names))
        sql = (
            f"select {columns}, count(*) from microdata where {ident(quasi)} is not null and {only} group by all"
            " having count(*) between ? and ? order by all"
        )
        for *values, count in con.execute(sql, [low * rows, high * rows]).fetchall():
            terms = [f"{ident(name)} = {literal(value)}" for name, value in zip(names, values, strict=True)]
            found[" and ".join(terms)] = count
    return found


def measure(con, gamma: int, sensitive: Sequence[str], queries: dict[str, int], asked) -> dict[str, float]:
    """Publish with fixed keys, ask every query of every release, and return the figures."""
    errors: dict[str, list[float]] = {name: [] for name in asked.estimators}
    covered, widths = [], []
    for number in range(asked.releases):
        key = f"{gamma:032x}{number:032x}"
        release = sqlanon.splu(con, "microdata", quasi=QUASI, sensitive=sensitive, gamma=gamma, key=key)
        for where, truth in queries.items():
            for name in asked.estimators:
                row = release.estimate(f"select count(*) from release where {where}", name).iloc[0]
                errors[name].append(abs(row["count"] - truth) / truth)
                if name == DEFAULT:
                    covered.append(row["count_low"] - 1e-9 <= truth <= row["count_high"] + 1e-9)
                    widths.append((row["count_high"] - row["count_low"]) / truth)
    found = {name: float(np.mean(error)) for name, error in errors.items()}
    return {"queries": len(queries), **found, "covered": float(np.mean(covered)), "width": float(np.mean(widths))}


def main() -> None:
    """Run every gamma."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--releases", type=int, default=6)
    parser.add_argument("--gamma", type=int, nargs="*", default=[2, 5, 8])
    parser.add_argument("--gamma-of-one", type=int, nargs="*", default=[10])
    parser.add_argument("--estimators", nargs="*", default=["iterative", "closed_form", DEFAULT])
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # iterations that do not converge say so, thousands of times
    con = duckdb.connect()
    sql = SOURCE.format(quasi=", ".join(QUASI), source=literal(asked.source))
    con.execute(f"create table microdata as {sql}").fetchall()
    counted = f"select {OCCUPATION} from microdata group by 1 order by count(*) desc, 1 limit 3"
    frequent = f"{OCCUPATION} in ({counted})"
    random = np.random.default_rng(2014)
    workloads = [
        *((gamma, (AGE, OCCUPATION), "true", 0.005, 0.007) for gamma in asked.gamma),
        *((gamma, (OCCUPATION,), frequent, 0.005, 0.05) for gamma in asked.gamma_of_one),
    ]
    print(f"sqlanon {sqlanon.__version__}, duckdb {duckdb.__version__}, numpy {np.__version__}, {platform.machine()}")
    for gamma, sensitive, only, low, high in workloads:
        every = conjunctions(con, sensitive, only, low, high)
        chosen = sorted(random.permutation(len(every))[: asked.queries])
        queries = dict(np.array(list(every.items()), dtype=object)[chosen])
        found = measure(con, gamma, sensitive, queries, asked)
        print(
            f"gamma {gamma}, {' and '.join(sensitive)}:", {k: round(float(x), 3) for k, x in found.items()}, flush=True
        )


if __name__ == "__main__":
    main()
