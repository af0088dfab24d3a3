"""Ask randomized releases about ranges, sets and single values; compare answers and intervals with the truth.

    python -m tests.benchmarks.randomized_ranges --data ../shared/data [--keys 10] [--questions 50] [--rows 15000]
        [--tables years,wages,…] [--gammas 3,5] [--estimators shrinkage,closed_form]

Every table is published by splu with each gamma under each key, and asked the questions of `questions`; `years` is an
invented table in which wages depend on year, hours and sex, `even` one in which they depend on nothing. Printed by
estimator, kind of question (aggregate, and condition on the sensitive attribute) and size (how many rows count): how
many figures, those with an interval, the share of intervals that hold the truth, the error's root mean square beside
that of the truth, the mean absolute error beside the mean truth, mean and spread of z, and how far averages are from
sums over counts.
"""

import argparse
import collections
import time
import warnings

import duckdb
import numpy as np

import sqlanon
from tests.benchmarks.questions import DRAWS, SIZES, TABLES, Asker

YEARS = """
select i as person, 1970 + floor(u2 * 48)::int as year, if(u1 < .55, 'M', 'F') as gender,
    if(u3 < .7, 40 + floor(u4 * 15), 5 + floor(u4 * 35))::int as hours,
    ['north', 'south', 'east', 'west'][1 + floor(u5 * 4)::int] as region,
    {wage} as wage
from (select i, {draws} from range({rows}) as r(i))
"""
TREND = """(25 * floor(exp(5.4 + .025 * floor(u2 * 48) + .25 * (u1 < .55)::int + .8 * (u3 < .7)::int
        + .5 * sqrt(-2 * ln(u6 + 1e-9)) * cos(6.2832 * u7)) / 25))::int"""
NONE = "(25 * floor(exp(6.8 + .6 * sqrt(-2 * ln(u6 + 1e-9)) * cos(6.2832 * u7)) / 25))::int"
OWN = {
    "years": (YEARS.replace("{wage}", TREND), "wage"),
    "even": (YEARS.replace("{wage}", NONE), "wage"),
    **{name: (sql, sensitive) for name, (sql, sensitive, *_) in TABLES.items()},
}
LARGEST = {"hours": 2, "adult": 6}  # gamma


def ask(release, question, estimator):
    """Return the answer's lines by their keys."""
    asked = release.estimate(question, estimator=estimator)
    names = [name for name in asked.columns if name.partition("_")[0] not in ("n", "both")]
    return {tuple(row[name] for name in names): row for row in asked.to_dict("records")}


def main():
    """Publish, ask, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--tables", default=",".join(OWN))
    parser.add_argument("--gammas", default="5")
    parser.add_argument("--estimators", default="shrinkage,closed_form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--by-table", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", sqlanon.AnswerWarning)
    figures, spent = collections.defaultdict(list), collections.Counter()
    for table in given.tables.split(","):
        sql, sensitive = OWN[table]
        con = duckdb.connect(config={"threads": 1})  # rows come in their order
        con.execute("create table microdata as " + sql.format(data=given.data, rows=given.rows, draws=DRAWS))
        asker = Asker(con, sensitive, np.random.default_rng(given.seed))
        questions = [asker.draw() for _ in range(given.questions)]
        for key, gamma in ((key, gamma) for key in range(given.keys) for gamma in given.gammas.split(",")):
            release = sqlanon.splu(
                con, "microdata", quasi=asker.quasi, sensitive=sensitive, id="person", key=f"{key + 1:064x}",
                gamma=min(int(gamma), LARGEST.get(table, 9)), unique_sensitive="keep",
            )  # fmt: skip
            for kind, question in questions:
                truth = con.execute(question.format(size=", count(*) as size", relation="microdata")).fetchall()
                for estimator in given.estimators.split(","):
                    begun = time.process_time()
                    found = ask(release, question.format(size="", relation="release"), estimator)
                    spent[estimator] += time.process_time() - begun
                    for *keys, n, size in truth:
                        row = found.get(tuple(keys))
                        if row is None or n is None or row["n"] is None:
                            continue
                        line = (float(n), *(float(row[c]) for c in ("n", "n_std_error", "n_low", "n_high")))
                        bucket = next(number for number, most in enumerate(SIZES) if size < most)
                        named = f"{table}, {kind}" if given.by_table else kind
                        figures[estimator, named, bucket].append(line)
                        figures[estimator, named.replace(kind, "all of all kinds"), bucket].append(line)
    words = [*(f"below {size:g}" for size in SIZES[:-1]), f"{SIZES[-2]:g} and more"]
    head = f"{'question':28}{'size':16}{'estimator':14}{'n':>6}{'barred':>8}{'holds':>7}"
    print(f"{head}{'rms':>8}{'mean':>8}{'bars':>8}{'z':>7}{'sd z':>6}")
    for (estimator, kind, bucket), lines in sorted(figures.items(), key=lambda item: (item[0][1:], item[0][0])):
        truth, value, error, low, high = np.array(lines).T
        slack = 1e-6 * np.maximum(np.abs(truth), 1)
        holds = (low - slack <= truth) & (truth <= high + slack)
        barred, known = ~np.isnan(low), np.isfinite(low) & np.isfinite(high)
        size = max(np.sqrt(np.mean(truth**2)), 1e-9)
        z = ((value - truth) / np.where(error > 0, error, np.nan))[np.isfinite(error) & (error > 0)]
        rms, bars = np.sqrt(np.nanmean((value - truth) ** 2)) / size, np.mean((high - low)[known]) / 2 / size
        mean = np.nanmean(np.abs(value - truth)) / max(np.mean(np.abs(truth)), 1e-9)
        print(f"{kind:28}{words[bucket]:16}{estimator:14}{len(lines):6}{barred.mean():8.3f}{holds[barred].mean():7.3f}{rms:8.3f}{mean:8.3f}"
              f"{bars:8.3f}{np.mean(z) if len(z) else 0:7.2f}{np.std(z) if len(z) else 0:6.2f}")  # fmt: skip
    print("; ".join(f"{estimator}: {seconds:.0f} s of the processors" for estimator, seconds in spent.items()))


if __name__ == "__main__":
    main()
