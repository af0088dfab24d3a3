"""Ask releases random questions; compare answers and intervals with the truth, by kind of question and size of answer.

    python -m tests.benchmarks.questions --data ../shared/data [--keys 3] [--questions 60] [--rows 15000]
        [--methods anatomy,robust,splu] [--tables adult,wages,…] [--estimators shrinkage,closed_form] [--gamma 3]

Every table is published by each method under each key, and asked questions drawn by a grammar: an aggregate (COUNT, SUM
or AVG, of a quasi-identifier or of the sensitive attribute) under a condition on the quasi-identifiers, one on the
sensitive attribute (one value, a range, a set, none), or grouped by a column. DuckDB has the truth. `years` is an
invented table in which wages depend on year, hours and sex, `even` one in which they depend on nothing. Printed by
method, estimator, aggregate, condition on the sensitive attribute and size (how many rows count): figures, the share of
95 % intervals that hold the truth, the error's root mean square beside that of the truth, the mean absolute error
beside the mean truth, the mean half width, mean and spread of z.
"""

import argparse
import collections
import time
import warnings

import duckdb
import numpy as np

import sqlanon

WAGES = """
select i as person, if(u1 < .55, 'M', 'F') as sex, 18 + floor(u2 * 52)::int as age,
    if(u3 < .7, 40 + floor(u4 * 15), 5 + floor(u4 * 35))::int as hours,
    case when u5 < .85 then 'native' when u5 < .93 then 'naturalized' else 'foreign' end as citizenship,
    (25 * floor(exp(6 + .3 * (u1 < .55)::int + .9 * (u3 < .7)::int + .55 * sqrt(-2 * ln(u6 + 1e-9)) * cos(6.2832 * u7))
        / 25))::int as wage
from (select i, {draws} from range({rows}) as r(i))
"""
DRAWS = ", ".join(f"(hash(i * 7 + {n}) % 1000003) / 1000003.0 as u{n}" for n in range(1, 8))
TABLES = {  # name: rows to publish, quasi-identifiers, sensitive attribute, l, background
    "adult": (
        "select row_number() over () as person, age, sex, race, education_num, marital_status, occupation from"
        " '{data}/adult.parquet' where occupation is not null order by hash(person) limit {rows}",
        "occupation", 4, "sex",
    ),
    "hours": (
        "select row_number() over () as person, age, sex, race, education_num, occupation, hours_per_week from"
        " '{data}/adult.parquet' where occupation is not null order by hash(person) limit {rows}",
        "hours_per_week", 2, "sex",
    ),
    "census": (
        "select row_number() over () as person, age, sex, race, education, class_of_worker, occupation_code * 100 +"
        " industry_code % 13 as work from '{data}/census_income_kdd.parquet' where occupation_code <> 0"
        " order by hash(person) limit {rows}",
        "work", 5, "sex,education",
    ),
    "wages": (WAGES, "wage", 3, "sex"),
    "born": (
        "select person, sex, hours, citizenship, wage // 100 as wage, date '2020-01-01' - (age * 12 + hash(person)"
        f" % 12)::int * 30 as born from ({WAGES})",
        "born", 4, "sex",
    ),
}  # fmt: skip
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
TABLES |= {
    name: (YEARS.replace("{wage}", wage), "wage", 5, "gender") for name, wage in (("years", TREND), ("even", NONE))
}
LARGEST = {"hours": 2, "adult": 6}  # gamma
SIZES = (30, 300, 3000, float("inf"))


class Asker:
    """Draw questions about one table."""

    def __init__(self, con, sensitive, rng):
        """Read the columns' values."""
        described = con.execute("describe microdata").fetchall()
        self.kinds = {name: kind for name, kind, *_ in described if name != "person"}
        self.values = {
            name: [
                value
                for (value,) in con.execute(f"select {name} from microdata order by hash(person) limit 4000").fetchall()
            ]
            for name in self.kinds
        }
        self.sensitive, self.rng = sensitive, rng
        self.quasi = [name for name in self.kinds if name != sensitive]

    def is_number(self, name):
        return self.kinds[name] in ("INTEGER", "BIGINT")

    def some(self, name):
        return self.values[name][self.rng.integers(len(self.values[name]))]

    def write(self, value):
        return str(value) if isinstance(value, int) else f"'{value}'"

    def limit(self, name, kind):
        """Return a condition on one column: `one` value, a `range`, or a `set`."""
        if kind == "one":
            return f"{name} = {self.write(self.some(name))}"
        if kind == "range" and self.kinds[name] != "VARCHAR":
            low, high = sorted([self.some(name), self.some(name)])
            return f"{name} between {self.write(low)} and {self.write(high)}"
        some = sorted({self.write(self.some(name)) for _ in range(self.rng.integers(2, 5))})
        return f"{name} in ({', '.join(some)})"

    def draw(self):
        """Return a kind and a question with a place for the relation."""
        rng, numbers = self.rng, [name for name in self.quasi if self.is_number(name)]
        aggregates = ["count(*)"] * 3 + [f"{f}({name})" for f in ("sum", "avg") for name in numbers[:1]]
        if self.is_number(self.sensitive):
            aggregates += [f"sum({self.sensitive})", f"avg({self.sensitive})"]
        aggregate = str(rng.choice(aggregates))
        of_sensitive = self.sensitive in aggregate
        asked = str(rng.choice(["one", "range", "set", "none"] if of_sensitive else ["one", "range", "set"]))
        terms = [self.limit(self.sensitive, asked)] if asked != "none" else []
        keys = [str(rng.choice([name for name in self.quasi if len(set(self.values[name])) < 12]))]
        keys = keys if rng.random() < 0.4 else []
        names = [name for name in rng.permutation(self.quasi) if name not in keys][: rng.integers(1, 3) - len(keys)]
        terms += [self.limit(str(name), str(rng.choice(["range", "set"]))) for name in names]
        tail = f" where {' and '.join(terms)}" if terms else ""
        group = f" group by {keys[0]} order by {keys[0]}" if keys else ""
        kind = f"{aggregate.partition('(')[0]}{' of sensitive' if of_sensitive else ''}, {asked}"
        listed = f"{keys[0]}, " if keys else ""
        return kind, f"select {listed}{aggregate} as n{{size}} from {{relation}}{tail}{group}"


def main():
    """Publish, ask, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--keys", type=int, default=3)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--methods", default="anatomy,robust")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--estimators", help="between commas; each method's own first choice if not given")
    parser.add_argument("--gamma", type=int, help="of splu; the table's l if not given")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore", sqlanon.AnswerWarning)
    figures, started = collections.defaultdict(list), time.process_time()
    spent, estimators = collections.Counter(), given.estimators.split(",") if given.estimators else [None]
    for table in given.tables.split(","):
        sql, sensitive, l, background = TABLES[table]
        con = duckdb.connect(config={"threads": 1})  # rows come in their order
        con.execute("create table microdata as " + sql.format(data=given.data, rows=given.rows, draws=DRAWS))
        asker = Asker(con, sensitive, np.random.default_rng(given.seed))
        questions = [asker.draw() for _ in range(given.questions)]
        for key, method in ((key, method) for key in range(given.keys) for method in given.methods.split(",")):
            options = {"quasi": asker.quasi, "sensitive": sensitive, "id": "person", "key": f"{key + 1:064x}"}
            options |= {
                "anatomy": {"l": l},
                "robust": {"r": l, "background_from": [background], "max_suppressed": 0.5},
                "splu": {"gamma": min(given.gamma or l, LARGEST.get(table, 9)), "unique_sensitive": "keep"},
            }[method]
            release = getattr(sqlanon, method)(con, "microdata", **options)
            for kind, question in questions:
                truth = con.execute(question.format(size=", count(*) as size", relation="microdata")).fetchall()
                for estimator in estimators:
                    begun = time.process_time()
                    asked = release.estimate(question.format(size="", relation="release"), estimator=estimator)
                    by = f"{method} {estimator}" if estimator else method
                    spent[by] += time.process_time() - begun
                    names = [name for name in asked.columns if name != "n" and not name.startswith("n_")]
                    found = {tuple(row[name] for name in names): row for row in asked.to_dict("records")}
                    for *keys, n, size in truth:
                        row = found.get(tuple(keys))
                        if row is not None and n is not None and row["n"] is not None:
                            line = (float(n), *(float(row[c]) for c in ("n", "n_std_error", "n_low", "n_high")))
                            bucket = next(number for number, most in enumerate(SIZES) if size < most)
                            figures[by, kind, bucket].append(line)
                            figures[by, kind, len(SIZES)].append(line)
                            figures[f"{by} {table}", "all", len(SIZES)].append(line)
    words = [*(f"below {size:g}" for size in SIZES[:-1]), f"{SIZES[-2]:g} and more", "all"]
    head = f"{'method':24}{'question':26}{'size':16}{'n':>6}{'barred':>8}{'holds':>7}"
    print(f"{head}{'rms':>8}{'mean':>8}{'bars':>8}{'z':>7}{'sd z':>6}")
    for (method, kind, bucket), lines in sorted(figures.items()):
        truth, value, error, low, high = np.array(lines).T
        slack = 1e-6 * np.maximum(np.abs(truth), 1)
        holds = (low - slack <= truth) & (truth <= high + slack)
        barred, known = ~np.isnan(low), np.isfinite(low) & np.isfinite(high)
        size = max(np.sqrt(np.mean(truth**2)), 1e-9)
        z = ((value - truth) / np.where(error > 0, error, np.nan))[np.isfinite(error) & (error > 0)]
        rms, bars = np.sqrt(np.nanmean((value - truth) ** 2)) / size, np.mean((high - low)[known]) / 2 / size
        mean = np.nanmean(np.abs(value - truth)) / max(np.mean(np.abs(truth)), 1e-9)
        print(f"{method:24}{kind:26}{words[bucket]:16}{len(lines):6}{barred.mean():8.3f}{holds[barred].mean():7.3f}{rms:8.3f}{mean:8.3f}{bars:8.3f}"
              f"{np.mean(z) if len(z) else 0:7.2f}{np.std(z) if len(z) else 0:6.2f}")  # fmt: skip
    for method, seconds in spent.items():
        print(f"{method}: {seconds:.0f} s of the processors for answers")
    print(f"{time.process_time() - started:.0f} s of the processors in all")


if __name__ == "__main__":
    main()
