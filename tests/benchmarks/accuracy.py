"""Measure the accuracy of the estimators on releases of real data.

    python tests/benchmarks/accuracy.py CENSUS.parquet [--queries 2000] [--releases 10]

The workload: qd quasi attributes drawn at random and the sensitive one; each predicate is a set of
ceil(|A| s^(1/(qd+1))) random values of its domain A. Queries whose truth is 0 are left out of the relative
errors and counted. Printed per l, qd and s: mean and median relative error by estimator, and how often the
95 % interval holds the truth. The queries are shared out among several releases: the interval is about a
release's draws, which all queries to one release share, so that one release's coverage says little.
"""

import argparse
import math

import duckdb
import numpy as np

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.estimation import Session
from sqlanon.methods import anatomy
from sqlanon.plan import Check, Request, Source
from sqlanon.roles import Roles
from sqlanon.secret import Key
from sqlanon.templates import Sql, ident, literal

QUASI = ("age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth")
SENSITIVE = "occupation_code"
CASES = ((10, 1, 0.05), (10, 3, 0.05), (10, 3, 0.01), (5, 1, 0.05), (5, 3, 0.05), (5, 2, 0.002))


def published(con: duckdb.DuckDBPyConnection, relation: str, quasi, sensitive, size, prefix) -> Session:
    """Make an l-diverse release in the session and open it for estimation."""
    engine = DuckDBEngine(con)
    request = Request(Source(Sql(relation), numbering=Sql("rowid")), Roles(tuple(quasi), (sensitive,)))
    plan = anatomy.plan(request, size, prefix=prefix)
    engine.keep_key(plan.key, Key.fresh())
    for step in plan.steps:
        if not isinstance(step, Check):
            engine.create(step)
    for output in plan.outputs:
        engine.create(output)
    tables = {output.name: Sql(output.relation) for output in plan.outputs}
    return Session(engine, tables, {"method": "anatomy", "columns": dict(plan.columns)})


def workload(random, domains, qd: int, selectivity: float):
    """Yield WHERE clauses for ever."""
    while True:
        drawn = [*random.choice(QUASI, qd, replace=False), SENSITIVE]
        conditions = []
        for name in drawn:
            domain = domains[name]
            size = math.ceil(len(domain) * selectivity ** (1 / (qd + 1)))
            values = random.choice(len(domain), size, replace=False)
            chosen = ", ".join(literal(domain[i]) for i in values)
            conditions.append(f"{ident(str(name))} in ({chosen})")
        yield " and ".join(conditions)


def measure(sessions: list[Session], con, domains, qd: int, selectivity: float, queries: int) -> dict[str, object]:
    """Ask `queries` queries with a positive truth; return relative errors and coverage."""
    random = np.random.default_rng(20060912)
    errors: dict[str, list[float]] = {"uniform": [], "least_squares": [], "shrinkage": []}
    covered, zeros = [], 0
    for where in workload(random, domains, qd, selectivity):
        (truth,) = con.execute(f"select count(*) from microdata where {where}").fetchone()
        if truth == 0:
            zeros += 1
            continue
        session = sessions[len(covered) * len(sessions) // queries]
        for name, found in errors.items():
            row = session.answer(f"select count(*) from release where {where}", name).iloc[0]
            found.append(abs(row["count"] - truth) / truth)
        covered.append(row["count_low"] - 1e-9 <= truth <= row["count_high"] + 1e-9)
        if len(covered) == queries:
            break
    figures = {}
    for name, found in errors.items():
        figures[f"{name} mean"] = round(float(np.mean(found)), 3)
        figures[f"{name} median"] = round(float(np.median(found)), 3)
    return figures | {"covered": round(float(np.mean(covered)), 3), "truth 0": zeros}


def main() -> None:
    """Run every case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--releases", type=int, default=10)
    asked = parser.parse_args()
    con = duckdb.connect()
    con.execute(f"create table microdata as from {literal(asked.source)} where occupation_code <> 0")
    domains = {}
    for name in (*QUASI, SENSITIVE):
        sql = f"select distinct {name} from microdata where {name} is not null order by 1"
        rows = con.execute(sql).fetchall()
        domains[name] = [value for (value,) in rows]
    sessions = {
        size: [
            published(con, "microdata", QUASI, SENSITIVE, size, f"release_{size}_{number}_")
            for number in range(asked.releases)
        ]
        for size in (5, 10)
    }
    for size, qd, selectivity in CASES:
        found = measure(sessions[size], con, domains, qd, selectivity, asked.queries)
        print(f"l = {size}, qd = {qd}, s = {selectivity:.1%}:", found, flush=True)


if __name__ == "__main__":
    main()
