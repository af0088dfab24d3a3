"""Is `attack` the strongest attack? python tests/benchmarks/strongest.py SOURCE SENSITIVE QUASI [L …] [--tables 50].

Beside its attacks stands the value that most of so many completed tables show, over people whose quasi values are their
own, and how often the fitted model is right by how sure it is.
"""

import argparse
import time
from itertools import pairwise

import duckdb

import sqlanon
from sqlanon.attacks import fitted_model
from sqlanon.forms.qit_st.view import GroupView

LIMITS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.01)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="a Parquet file, or a query in brackets")
    parser.add_argument("sensitive")
    parser.add_argument("quasi", help="columns, commas between")
    parser.add_argument("levels", nargs="*", type=int, default=[5], help="of diversity")
    parser.add_argument("--tables", type=int, default=50)
    return parser.parse_args()


def match(names: list[str], one: str, other: str) -> str:
    return " and ".join(f'{one}."{name}" is not distinct from {other}."{name}"' for name in names)


def count_modal(con: duckdb.DuckDBPyConnection, release: sqlanon.Release, quasi: list[str], tables: int) -> None:
    """Print how many people the value is right of that most completed tables show, and how many rows hold their own."""
    completed = release.complete(tables, seed=1)
    con.execute("create or replace table shown as select * from alone where false").fetchall()
    for number in range(1, tables + 1):
        con.register("completed_rows", completed.table(number).to_arrow_table())
        con.execute(f"insert into shown select alone.* replace (completed_rows.value as value) from completed_rows"
                    f" join alone on {match(quasi, 'completed_rows', 'alone')}").fetchall()  # fmt: skip
    (own,) = con.execute("select avg((shown.value = alone.value)::int) from shown join alone using (person)").fetchone()
    (right,) = con.execute(
        "select avg((value = (select mode(value) from shown where shown.person = alone.person))::int) from alone"
    ).fetchone()
    print(f"  {tables} completed tables: most often shown {right:.3f}; own value in a table {own:.3f}, said"
          f" {completed.own_value_share or 0:.3f}")  # fmt: skip


def count_calibration(con: duckdb.DuckDBPyConnection, release: sqlanon.Release, quasi: list[str]) -> None:
    """Print how often the fitted model is right of people who are alone with their quasi values, by confidence."""
    view = GroupView(release.engine, release.tables, release.manifest)
    fitted_model.learn_groups(view, None, None)
    best = view.relations["fitted_best_0"]
    named = (
        f"select person.*, best.confidence, value.value from {best} best join {view.people()} person"
        f" using (person_number) join {view.values()} value using (value_number)"
    )
    columns = [f'person."{ours}" is not distinct from alone."{name}"' for name, ours in view.quasi.items()]
    rows = con.execute(f"select person.confidence, (person.value = alone.value)::int as right from ({named}) person"
                       f" join alone on {' and '.join(columns)}").df()  # fmt: skip
    print(f"  fitted model: right {rows['right'].mean():.3f}, own confidence {rows['confidence'].mean():.3f}")
    for low, high in pairwise(LIMITS):
        part = rows[(rows["confidence"] > low) & (rows["confidence"] <= high)]
        if len(part):
            print(f"    sure {part['confidence'].mean():.2f}: right {part['right'].mean():.2f} of {len(part):,}")
    view.close()


def main() -> None:
    """Print the figures of every l."""
    asked = read_arguments()
    con, quasi = duckdb.connect(), asked.quasi.split(",")
    source = asked.source if asked.source.startswith("(") else f"'{asked.source}'"
    columns = ", ".join(f'"{name}"' for name in quasi)
    value = f'"{asked.sensitive}"'
    con.execute(f"create table people as select row_number() over () as person, {columns}, {value} as value"
                f" from {source} where {value} is not null").fetchall()  # fmt: skip
    con.execute(f"create table alone as select {columns}, min(value) as value, min(person) as person from people"
                f" group by {columns} having count(*) = 1").fetchall()  # fmt: skip
    for l in asked.levels:
        release = sqlanon.anatomy(con, "people", quasi=quasi, sensitive="value", id="person", key=f"{l:02x}" * 32, l=l)
        start, used = time.perf_counter(), time.process_time()
        found = sqlanon.attack(release, against="people", id="person")
        print(
            f"l = {l}: attack took {time.perf_counter() - start:.0f} s, {time.process_time() - used:.0f} s of processor"
        )
        for one in found.findings:
            if one.headline and one.reached is not None:
                print(f"  {one.attack}: {one.reached:.3f}")
        count_calibration(con, release, quasi)
        if asked.tables:
            count_modal(con, release, quasi, asked.tables)


if __name__ == "__main__":
    main()
