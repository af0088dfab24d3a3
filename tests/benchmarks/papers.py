"""The papers' experiments once more: Anatomy against generalization, SPLU-Gen against Anatomy, DBR and Laplace noise.

    python tests/benchmarks/papers.py anatomy CENSUS_LIKE.sql [--rows 100000] [--queries 300]
    python tests/benchmarks/papers.py splu CENSUS.parquet [--queries 60]
    python tests/benchmarks/papers.py diabetes DIABETES.parquet [--queries 60] [--only bands]

anatomy: figures 4 to 9 of VLDB 2006, on census-like rows, l = 10; sets of values on qd quasi columns and the sensitive
one, expected selectivity s; mean relative error of queries with a positive truth, Mondrian (k = 10, l = 10) beside it.
splu: figures 4, 5, 7, 8, 9 of the 2014 paper, on the UCI census; diabetes: its figures 10 and 11 (one row per patient,
diag_1, for a table of diseases that is not public). Conjunctions of equalities, by bands of the true count.
"""

import argparse
import itertools
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.estimation.release_tables import Workspace
from sqlanon.methods.splu.binomial import large_sums, small_sums
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.risks.workload import AskedQuery, Microdata, ask, count_truths, draw_queries
from tests.oracles import rivals

CENSUS_LIKE = ("age", "gender", "education", "marital_status", "race", "work_class", "country")
CENSUS = ("age", "sex", "education", "marital_status", "race", "class_of_worker", "country_of_birth")
DIABETES = ("age", "gender", "race", "admission_type", "time_in_hospital", "number_diagnoses")
SMALL = ((1, 10),)


def microdata(con: duckdb.DuckDBPyConnection, table: str, quasi: Sequence[str], sensitive: str) -> Microdata:
    """Return a table as comparisons read it."""
    types = {row[0]: row[1] for row in con.execute(f"describe {table}").fetchall()}
    return Microdata(Workspace(DuckDBEngine(con)), Sql(table), table, tuple(quasi), (sensitive,), types)


def line(*cells: object) -> None:
    """Print a line of a table."""
    print(
        "| " + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True
    )


# -- Anatomy's paper --------------------------------------------------------------------------------


def draw_sets(data: Microdata, qd: int, selectivity: float, wanted: int) -> tuple[list[str], np.ndarray]:
    """Return queries of the paper's workload whose truth is positive, and these truths."""
    random, (sensitive,) = np.random.default_rng(20060912), data.sensitive
    domains = {
        name: [row[0] for row in data.workspace.engine.connection.execute(
            f"select distinct {ident(name)} from {data.relation} order by 1").fetchall()]
        for name in (*data.quasi, sensitive)
    }  # fmt: skip
    queries = []
    for _ in range(2 * wanted):
        terms = []
        for name in map(str, (*random.choice(data.quasi, qd, replace=False), sensitive)):
            size = math.ceil(len(domains[name]) * selectivity ** (1 / (qd + 1)))
            chosen = random.choice(len(domains[name]), size, replace=False)
            values = ", ".join(literal(domains[name][place]) for place in chosen)
            terms.append((name, Sql(f"{ident(name)} in ({values})")))
        queries.append(tuple(terms))
    truths = np.array(count_truths(data, queries), dtype=float)
    texts = [f"select count(*) as n from release where {' and '.join(term for _, term in one)}" for one in queries]
    kept = np.nonzero(truths)[0][:wanted]
    return [texts[place] for place in kept], truths[kept]


def errors(release: sqlanon.Release, queries: Sequence[str], truths: np.ndarray, estimator: str | None = None) -> float:
    """Return the mean relative error of a release's answers."""
    answers = np.array([float(one["n"].iloc[0]) for one in release.estimate_many(queries, estimator)])
    return float((np.abs(answers - truths) / truths).mean())


def compare_with_boxes(con, table: str, quasi, sensitive: str, points, queries: int, titles) -> None:
    """Publish both ways, ask at every point (qd, s), print a line each."""
    clock = time.process_time()
    groups = sqlanon.anatomy(con, table, quasi=list(quasi), sensitive=sensitive, l=10)
    middle = time.process_time()
    boxes = sqlanon.mondrian(con, table, quasi=list(quasi), sensitive=sensitive, k=10, l=10)
    spent = middle - clock, time.process_time() - middle
    data = microdata(con, table, quasi, sensitive)
    for qd, selectivity in points:
        asked, truths = draw_sets(data, qd, selectivity, queries)
        found = (errors(groups, asked, truths, "uniform"), errors(groups, asked, truths), errors(boxes, asked, truths))
        line(*titles, len(quasi), qd, f"{selectivity:.1%}", len(truths), *found, found[2] / found[0], *spent)
    groups.close()
    boxes.close()


def run_anatomy(source: Path, rows: int, queries: int) -> None:
    """Vary d, qd, s and N."""
    con = duckdb.connect()
    con.execute(source.read_text())
    line("figure", "sensitive", "N", "d", "qd", "s", "queries", "Anatomy, uniform", "Anatomy, shrinkage", "Mondrian",
         "Mondrian / uniform", "seconds of Anatomy", "of Mondrian")  # fmt: skip
    con.execute(f"create table people as from census_like({rows}, 1)").fetchall()
    for sensitive in ("occupation", "salary_class"):
        for d in range(3, 8):
            compare_with_boxes(con, "people", CENSUS_LIKE[:d], sensitive, [(d, 0.05)], queries, ("4", sensitive, rows))
        points = [(qd, 0.05) for qd in (1, 2, 3, 5)] + [(3, s) for s in (0.01, 0.02, 0.1)]
        compare_with_boxes(con, "people", CENSUS_LIKE, sensitive, points, queries, ("5, 6", sensitive, rows))
    for n in (2 * rows, 3 * rows):
        con.execute(f"create or replace table people as from census_like({n}, 1)").fetchall()
        compare_with_boxes(con, "people", CENSUS_LIKE[:5], "occupation", [(5, 0.05)], queries, ("7", "occupation", n))


# -- SPLU-Gen's paper -------------------------------------------------------------------------------


def draw_pool(data: Microdata, bands: Sequence[tuple[float, float]], wanted: int) -> list[list[AskedQuery]]:
    """Return up to `wanted` conjunctions for each band of true counts (both ends belong to it)."""
    drawn = [one for one in draw_queries(data, 12_000, 1) if one.workload == "conjunctions"]
    random = np.random.default_rng(1)
    pools = []
    for low, high in bands:
        inside = [one for one in drawn if low <= one.truth["n"].iloc[0] <= high]
        pools.append([inside[place] for place in random.permutation(len(inside))[:wanted]])
    return pools


def measure(answers, asked: Sequence[AskedQuery]) -> float:
    """Return the mean relative error of answers."""
    pairs = zip(answers, asked, strict=True)
    return float(np.mean([abs(float(a["n"].iloc[0]) - b.truth["n"].iloc[0]) / b.truth["n"].iloc[0] for a, b in pairs]))


def answers_of(con, data: Microdata, gamma: int, asked: Sequence[AskedQuery]) -> Iterator[float]:
    """Yield mean errors: SPLU-Gen by the paper's iteration and the default, Anatomy likewise, DBR, Laplace."""
    roles = {"quasi": list(data.quasi), "sensitive": data.sensitive[0]}
    texts = [one.text for one in asked]
    randomized = sqlanon.splu(con, data.name, **roles, gamma=gamma)
    yield measure(randomized.estimate_many(texts, "iterative"), asked)
    yield measure(randomized.estimate_many(texts), asked)
    randomized.close()
    groups = sqlanon.anatomy(con, data.name, **roles, l=gamma)
    yield measure(groups.estimate_many(texts, "uniform"), asked)
    yield measure(groups.estimate_many(texts), asked)
    groups.close()
    random, frame = np.random.default_rng(1), con.execute(f"select * from {data.relation}").df()
    frame[data.sensitive[0]] = rivals.distribution_based(frame[data.sensitive[0]].to_numpy(), random)
    con.register("redrawn_frame", frame)
    con.execute("create or replace temp table redrawn as select * from redrawn_frame")
    again = replace(data, relation=Sql("redrawn"), name="redrawn")
    yield measure((ask(again, text, "redrawn").truth for text in texts), asked)
    truth = np.array([float(one.truth["n"].iloc[0]) for one in asked])
    for epsilon in rivals.PAPER_EPSILONS[:2]:
        yield float(np.mean(np.abs(rivals.laplace(truth, epsilon, random) - truth) / truth))


def run_splu(con, data: Microdata, gammas: Sequence[int], usual: int, bands: Sequence[float], queries: int) -> None:
    """Print errors of small counts by gamma, and of large ones by band."""
    rows = con.execute(f"select count(*) from {data.relation}").fetchone()[0]
    shares = list(itertools.pairwise(bands))
    small, *pools = draw_pool(data, [*SMALL, *((low * rows, high * rows) for low, high in shares)], queries)
    line("counts", "gamma = l", "queries", "SPLU-Gen, iteration", "SPLU-Gen, default", "Anatomy, uniform",
         "Anatomy, shrinkage", "DBR", "Laplace, ln 3", "Laplace, ln 2")  # fmt: skip
    for gamma in gammas:
        line("1 to 10 rows", gamma, len(small), *answers_of(con, data, gamma, small))
    for (low, high), pool in zip(shares, pools, strict=True):
        if pool:
            line(f"{low:.1%} to {high:.1%}", usual, len(pool), *answers_of(con, data, usual, pool))


def print_thresholds() -> None:
    """Print figures 4 and 5: exact thresholds of large sums, exact chances of small ones (epsilon = 0.3)."""
    for gamma in (5, 10):
        line("T_f at T_E", f"gamma {gamma}", *(f"{e}: {large_sums(gamma, 0.3, e)}" for e in (0.05, 0.1, 0.2, 0.3)))
        chances = (f"{count}: {small_sums(count, gamma, 0.3):.3f}" for count in (1, 2, 3, 5, 10))
        line("T_P at alpha", f"gamma {gamma}", *chances)


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser()
    parser.add_argument("which", choices=("anatomy", "splu", "diabetes"))
    parser.add_argument("source", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=0)
    parser.add_argument("--only", choices=("bands",), help="of diabetes: figure 11 without figure 10")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    con = duckdb.connect()
    if asked.which == "anatomy":
        run_anatomy(asked.source, asked.rows, asked.queries or 300)
    elif asked.which == "splu":
        print_thresholds()
        con.execute(f"create table people as from {literal(str(asked.source))} where occupation_code <> 0").fetchall()
        data = microdata(con, "people", CENSUS, "occupation_code")
        run_splu(con, data, (2, 4, 6, 8, 10), 5, (0.005, 0.01, 0.02, 0.03, 0.04, 0.05), asked.queries or 60)
    else:
        con.execute(
            "create table people as select * from (select *, row_number() over (partition by patient_nbr order by"
            f" encounter_id) as visit from {literal(str(asked.source))}) where visit = 1 and diag_1 is not null"
        ).fetchall()
        data = microdata(con, "people", DIABETES, "diag_1")
        gammas = () if asked.only == "bands" else (2, 4, 6, 9)
        run_splu(con, data, gammas, 9, [one / 100 for one in range(1, 10)], asked.queries or 60)


if __name__ == "__main__":
    main()
