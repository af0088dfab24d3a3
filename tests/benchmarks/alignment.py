"""What share of groups in the order of a column is found, by rows: python -m tests.benchmarks.alignment [--sound 300].

Groups of three; a share of the groups are neighbours by the first of three columns, with the values in its order, and
the others are drawn. Beside the share of releases that are refused stands how many people the order names
right, and from how many on the check says that it would see an order. --sound: so many releases of 30 to 300 rows are
published as they should be, with values that depend on the columns, and none of them may be refused.
"""

import argparse

import duckdb
import numpy as np

import sqlanon
from sqlanon.forms.qit_st.order_randomization import LEVEL, PlacedPeople, judge_orders

L = 3
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)


def relink(rows: int, share: float, random: np.random.Generator) -> PlacedPeople:
    """Return people in groups of neighbours by the first column, of whom a share has the values in its order."""
    groups = rows // L
    columns = {f"column {number}": random.permutation(groups * L) for number in range(1, 4)}
    group, value = np.empty((2, groups * L), dtype=np.int64)
    members = np.argsort(columns["column 1"]).reshape(groups, L)
    values = random.permuted(np.tile(np.arange(L), (groups, 1)), axis=1)
    is_ordered = random.random(groups) < share
    values[is_ordered] = np.arange(L)
    group[members], value[members] = np.arange(1, groups + 1)[:, None], values
    # groups that are not in order are drawn: whoever have one value change places
    for number in range(L):
        people = np.flatnonzero((value == number) & ~is_ordered[group - 1])
        group[people] = random.permutation(group[people])
    return PlacedPeople(group, value, [value, (value + 1) % L], columns)


def count_named(people: PlacedPeople) -> float:
    """Return the share of people who have the value at their place in the group."""
    order = np.lexsort((people.columns["column 1"], people.group))
    return float((people.value_ranks[0][order].reshape(-1, L) == np.arange(L)).mean())


def print_power(rows: int, repeats: int) -> None:
    """Print what is found of each share."""
    refused, named, seen = [], [], []
    for share in SHARES:
        random = np.random.default_rng([rows, round(100 * share)])
        releases = [relink(rows, share, random) for _ in range(repeats)]
        outcomes = [judge_orders(people, number) for number, people in enumerate(releases)]
        refused.append(sum("column 1" in outcome.aligned for outcome in outcomes) / repeats)
        named.append(sum(map(count_named, releases)) / repeats)
        seen += [outcome.seen_from for outcome in outcomes]
    cells = [f"{part:.0%} ({right:.0%})" for part, right in zip(refused, named, strict=True)]
    print(f"| {rows:,} | {' | '.join(cells)} | {np.mean(seen):.0%} |", flush=True)


def print_sound(releases: int) -> None:
    """Print how many sound releases are refused."""
    refused = 0
    for number in range(releases):
        con, rows = duckdb.connect(), (30, 60, 100, 300)[number % 4]
        con.execute(f"create table people as select i as id, hash(i, {number}) % 80 as age, hash(i, 1, {number}) % 9000"
                    f" as zip, 'v' || least(hash(i, {number}) % 80 // 20, hash(i, 2, {number}) % 5) as value"
                    f" from range({rows}) t(i)").fetchall()  # fmt: skip
        con.execute("delete from people where value in (select value from people group by value"
                    " having count(*) > (select count(*) from people) // 3)").fetchall()  # fmt: skip
        try:
            release = sqlanon.anatomy(con, "people", quasi=["age", "zip"], sensitive="value", id="id", l=L,
                                      unique_quasi="keep")  # fmt: skip
        except sqlanon.DataError:
            continue
        report = release.verify(against="people")
        refused += any(check.name == "rank_alignment" and check.holds is False for check in report.checks)
    print(f"{refused} of {releases:,} sound releases refused; expected {LEVEL * releases:.2g}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[30, 100, 300, 1000, 3000])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--sound", type=int, default=0)
    asked = parser.parse_args()
    print(f"| rows | {' | '.join(f'{share:.0%}' for share in SHARES)} | said to be seen from |")
    for rows in asked.rows:
        print_power(rows, asked.repeats if rows <= 300 else max(1, asked.repeats // 2))
    if asked.sound:
        print_sound(asked.sound)


if __name__ == "__main__":
    main()
