"""Count how often 95 % intervals of r-robust releases hold the truth, by classes, kinds of count and rows left out.

    python -m tests.benchmarks.coverage census_income_kdd.parquet [--keys 20] [--rows 85109] [--by sex,education]

People with an occupation, whose sensitive value is their occupation and industry together (some 530 values), published
with r = 5 under fixed keys against adversaries who know its distribution by sex, by sex and education, by age, sex and
education (some 2,000 classes). Every release is asked the same 60 counts: ranges of age by sex, and people by marital
status and kind of employer, each with one value and with a kind of values. Printed for each background and kind: the
share of intervals that hold the microdata's count, and the count of the published rows; the median half width beside
the median truth; mean and standard deviation of the error against the published rows in standard errors; and what the
rows left out would have counted, beside all of them.
"""

import argparse
import hashlib
import logging
import time

import duckdb
import numpy as np
import pandas as pd

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.estimation.qit_st.session import GroupSession
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql, literal

QUASI = ("age", "sex", "education", "marital_status", "class_of_worker", "person")
BACKGROUNDS = ("sex", "sex,education", "age,sex,education")
R = 5
# the row's number is published so that the rows left out are known; no condition and no background reads it
PEOPLE = """
create table microdata as
select age, sex, education, marital_status, class_of_worker, occupation_code * 100 + industry_code % 13 as work,
    row_number() over (order by md5(cast(row_number as varchar))) as person
from (select *, row_number() over () as row_number from {source} where occupation_code <> 0)
order by person
limit {rows}
"""


def open_release(con: duckdb.DuckDBPyConnection, background: str, number: int) -> tuple[GroupSession, int]:
    """Publish the microdata under the key of this number; return the open release and its number of classes."""
    engine, prefix = DuckDBEngine(con), f"release_{number}_"
    request = Request(Source(Sql("microdata"), numbering=Sql("rowid")), Roles(QUASI, ("work",)), unique_quasi="keep")
    sets = (tuple(background.split(",")),)
    plan = METHODS["robust"].plan(request, r=R, background_from=sets, max_suppressed=0.3, prefix=prefix)
    with run_plan(plan, engine, Key.of(hashlib.sha256(f"{background} {number}".encode()).hexdigest())) as results:
        for output in plan.outputs:
            con.execute(f'create or replace table "kept_{prefix}{output.name}" as {output.sql}').fetchall()
        dropped = plan.dropped_rows(results)
    tables = {output.name: Sql(f'"kept_{prefix}{output.name}"') for output in plan.outputs}
    manifest = {"method": plan.method, "columns": dict(plan.publication.columns), "parameters": dict(plan.parameters)}
    (classes,) = con.execute(f'select count(*) from (select distinct {background} from "kept_{prefix}qit")').fetchone()
    return GroupSession(engine, tables, manifest | {"dropped_rows": dropped}), classes


def draw_counts(con: duckdb.DuckDBPyConnection, counts: int) -> list[tuple[str, str]]:
    """Return kinds of count and conditions, each true of 30 rows and more."""
    random, found = np.random.default_rng(529), []
    domain = {
        name: con.execute(f"select {name}, count(*) from microdata group by 1 order by 1").fetchnumpy()
        for name in ("sex", "marital_status", "class_of_worker", "work", "work // 100")
    }

    def drawn(name: str) -> str:
        values, sizes = domain[name].values()
        return literal(np.asarray(values).tolist()[random.choice(len(values), p=sizes / sizes.sum())])

    while len(found) < counts:
        column = ("work", "work // 100")[len(found) % 2]
        sensitive, kind = f"{column} = {drawn(column)}", ("value", "kind")[len(found) % 2]
        if len(found) // 2 % 2:
            quasi = f"marital_status = {drawn('marital_status')} and class_of_worker = {drawn('class_of_worker')}"
            kind = f"status, employer, {kind}"
        else:
            low = int(random.integers(16, 60))
            quasi = f"age between {low} and {low + int(random.integers(5, 25))} and sex = {drawn('sex')}"
            kind = f"age, sex, {kind}"
        (truth,) = con.execute(f"select count(*) from microdata where {quasi} and {sensitive}").fetchone()
        if truth >= 30:
            found.append((kind, f"{quasi} and {sensitive}"))
    return found


def ask(con: duckdb.DuckDBPyConnection, session: GroupSession, counts: list[tuple[str, str]]) -> pd.DataFrame:
    """Return a line for every count."""
    lines = []
    qit = session.loaded.relations["qit"]
    (left_out,) = con.execute(f"select count(*) from microdata anti join {qit} using (person)").fetchone()
    for kind, where in counts:
        (truth,) = con.execute(f"select count(*) from microdata where {where}").fetchone()
        (published,) = con.execute(
            f"select count(*) from microdata semi join {qit} using (person) where {where}"
        ).fetchone()
        row = session.answer(f"select count(*) from release where {where}").iloc[0]
        lines.append(
            (
                kind,
                where,
                truth,
                published,
                left_out,
                row["count"],
                row["count_std_error"],
                row["count_low"],
                row["count_high"],
            )
        )
    columns = ["kind", "where", "truth", "published", "left_out", "count", "error", "low", "high"]
    return pd.DataFrame(lines, columns=columns)


def summarize(frame: pd.DataFrame) -> pd.Series:
    """Return the figures of one kind of counts."""
    z = (frame["count"] - frame["published"]) / frame["error"].where(frame["error"] > 1e-9)

    def share(truth):
        return ((frame["low"] - 1e-6 <= truth) & (truth <= frame["high"] + 1e-6)).mean()

    return pd.Series(
        {
            "holds": share(frame["truth"]),
            "of the published": share(frame["published"]),
            "below": (frame["truth"] < frame["low"] - 1e-6).mean(),
            "above": (frame["truth"] > frame["high"] + 1e-6).mean(),
            "half width": ((frame["high"] - frame["low"]) / 2).median(),
            "truth": frame["truth"].median(),
            "z": z.mean(),
            "sd of z": z.std(),
            "left out here": (frame["truth"] - frame["published"]).mean(),
            "left out": frame["left_out"].mean(),
        }
    )


def main() -> None:
    """Run every background."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--rows", type=int, default=85_109)
    parser.add_argument("--counts", type=int, default=60)
    parser.add_argument("--by", action="append", default=[])
    parser.add_argument("--keep", help="a Parquet file for every answer")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    con = duckdb.connect()
    con.execute("set threads = 2").fetchall()
    con.execute(PEOPLE.format(source=literal(options.source), rows=options.rows)).fetchall()
    counts = draw_counts(con, options.counts)
    (values,) = con.execute("select count(distinct work) from microdata").fetchone()
    print(f"{options.rows} rows, {values} values, {len(counts)} counts, {options.keys} keys", flush=True)
    kept = []
    for background in options.by or BACKGROUNDS:
        frames = []
        for number in range(options.keys):
            start = time.monotonic()
            session, classes = open_release(con, background, number)
            middle = time.monotonic()
            frames.append(ask(con, session, counts))
            session.close()
            if number == 0:
                print(
                    f"{background}: {classes} classes, {middle - start:.1f} s, {time.monotonic() - middle:.1f} s",
                    flush=True,
                )
        frame = pd.concat(frames)
        kept.append(frame.assign(background=background))
        table = pd.DataFrame({kind: summarize(own) for kind, own in [*frame.groupby("kind"), ("all", frame)]}).T
        print(table.round(3).to_string(), flush=True)
    if options.keep:
        con.register("kept", pd.concat(kept))
        con.execute(f"copy kept to {literal(options.keep)}").fetchall()


if __name__ == "__main__":
    main()
