"""Measure the accuracy of the estimators on releases of real data.

    python tests/benchmarks/accuracy.py CENSUS.parquet [--queries 2000] [--releases 10]
    python tests/benchmarks/accuracy.py CENSUS.parquet --method robust --background sex --background sex,education

The workload: qd quasi attributes drawn at random and the sensitive one; each predicate is a set of
ceil(|A| s^(1/(qd+1))) random values of its domain A. Queries whose truth is 0 are left out of the relative
errors and counted. Printed per l, qd and s: mean and median relative error by estimator, and how often its
95 % interval holds the truth (the count in the microdata, rows that a release leaves out included). With --method
robust, an Anatomy release of l = r answers the same queries, and every mean stands beside Anatomy's (ridge beside its
shrinkage). The queries are shared out among several releases: the interval is about a release's draws, which all
queries to one release share, so that one release's coverage says little.
"""

import argparse
import logging
import math
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.estimation.qit_st.session import GroupSession
from sqlanon.forms import form_of_method
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql, ident, literal

QUASI = ("age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth")
SENSITIVE = "occupation_code"
CASES = ((10, 1, 0.05), (10, 3, 0.05), (10, 3, 0.01), (5, 1, 0.05), (5, 3, 0.05), (5, 2, 0.002))
ROBUST_CASES = tuple((r, qd, s) for r in (3, 5) for qd in (1, 3) for s in (0.05, 0.01))


def published(
    con: duckdb.DuckDBPyConnection, relation: str, quasi, sensitive, size, prefix, backgrounds=()
) -> GroupSession:
    """Make an l-diverse release (r-robust where backgrounds are given) in the session and open it for estimation."""
    engine = DuckDBEngine(con)
    request = Request(Source(Sql(relation), numbering=Sql("rowid")), Roles(tuple(quasi), (sensitive,)))
    if backgrounds:
        plan = METHODS["robust"].plan(request, r=size, background_from=backgrounds, max_suppressed=0.02, prefix=prefix)
    else:
        plan = METHODS["anatomy"].plan(request, l=size, prefix=prefix)
    with run_plan(plan, engine, Key.fresh()) as found:
        for output in plan.outputs:
            engine.create(replace(output, relation=f'"kept_{prefix}{output.name}"'))
        dropped = plan.dropped_rows(found)
    tables = {output.name: Sql(f'"kept_{prefix}{output.name}"') for output in plan.outputs}
    manifest = {"method": plan.method, "columns": dict(plan.publication.columns), "parameters": dict(plan.parameters)}
    estimators = form_of_method(plan.method).estimators
    return GroupSession(engine, tables, manifest | {"dropped_rows": dropped}, estimators)


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


def measure(
    kinds: dict[str, list[GroupSession]], con, domains, qd: int, selectivity: float, queries: int
) -> pd.DataFrame:
    """Ask `queries` queries with a positive truth of releases of every kind; return a line per kind and estimator."""
    random = np.random.default_rng(20060912)
    found, asked, zeros = [], 0, 0
    for where in workload(random, domains, qd, selectivity):
        (truth,) = con.execute(f"select count(*) from microdata where {where}").fetchone()
        if truth == 0:
            zeros += 1
            continue
        for kind, sessions in kinds.items():
            session = sessions[asked * len(sessions) // queries]
            for name in session.estimators:
                row = session.answer(f"select count(*) from release where {where}", name).iloc[0]
                inside = row["count_low"] - 1e-9 <= truth <= row["count_high"] + 1e-9
                found.append((kind, name, abs(row["count"] - truth) / truth, inside))
        asked += 1
        if asked == queries:
            break
    frame = pd.DataFrame(found, columns=["kind", "estimator", "error", "inside"])
    grouped = frame.groupby(["kind", "estimator"], sort=False)
    table = grouped.agg(mean=("error", "mean"), median=("error", "median"), holds=("inside", "mean"))
    return table.assign(truth_0=zeros)


def shown(table: pd.DataFrame, size: int, qd: int, selectivity: float) -> str:
    """Write one cell of the table as lines: figures by kind and estimator, ratios to Anatomy's own."""
    lines = []
    for (kind, name), row in table.iterrows():
        line = f"{size} | {qd}, {selectivity:.1%} | {kind} {name} | {row['mean']:.4f} | {row['median']:.4f}"
        line += f" | {row['holds']:.3f}" if name != "uniform" else " | "
        if kind != "anatomy":
            line += f" | {row['mean'] / table.loc[('anatomy', {'ridge': 'shrinkage'}.get(name, name)), 'mean']:.2f}"
        lines.append(f"| {line} |")
    return "\n".join(lines)


def main() -> None:
    """Run every case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--method", choices=("anatomy", "robust"), default="anatomy")
    parser.add_argument("--background", action="append", default=[], help="quasi columns that a distribution is by")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    if (asked.method == "robust") != bool(asked.background):
        parser.error("--background goes with --method robust, and --method robust with --background")
    backgrounds = [columns.split(",") for columns in asked.background]
    con = duckdb.connect()
    con.execute(f"create table microdata as from {literal(asked.source)} where occupation_code <> 0").fetchall()
    domains = {}
    for name in (*QUASI, SENSITIVE):
        sql = f"select distinct {name} from microdata where {name} is not null order by 1"
        rows = con.execute(sql).fetchall()
        domains[name] = [value for (value,) in rows]
    cases = ROBUST_CASES if backgrounds else CASES
    kinds = {"anatomy": (), **({"robust": backgrounds} if backgrounds else {})}
    print("| l or r | qd, s | release, estimator | mean | median | 95 % interval holds | beside Anatomy |", flush=True)
    for size in dict.fromkeys(case[0] for case in cases):
        sessions = {
            kind: [
                published(con, "microdata", QUASI, SENSITIVE, size, f"{kind}_{size}_{number}_", known)
                for number in range(asked.releases)
            ]
            for kind, known in kinds.items()
        }
        for _, qd, selectivity in (case for case in cases if case[0] == size):
            print(
                shown(measure(sessions, con, domains, qd, selectivity, asked.queries), size, qd, selectivity),
                flush=True,
            )


if __name__ == "__main__":
    main()
