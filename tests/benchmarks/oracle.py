"""Run every statement of publish, verify, estimate, attack, complete and check in several ways: rows are the same.

python -m tests.benchmarks.oracle [--methods anatomy …] [--optimizers] [--spill-rows 400000] [--limit 32MB]

Releases of one key are the same from a table, a view, a join and Parquet, and within so little memory that DuckDB
spills. --optimizers: without each of DuckDB's optimizers in turn as well.
"""

import argparse
import json
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import sqlanon
from tests.caller_settings import PEOPLE, PUBLICATIONS, QUERIES, ROLES
from tests.engine_oracle import WAYS, Difference, compared


def run(method: str, name: str, step: Callable[[], Any]) -> None:
    """Run one step with every statement compared; print how many there were, or the first that differs."""

    def compare() -> dict[str, Any]:
        with compared(tuple(WAYS)) as counts:
            step()
        return dict(counts)

    report(method, name, compare)


def report(method: str, name: str, step: Callable[[], dict[str, Any]]) -> None:
    """Run one step and print its figures, or what differs."""
    begun = time.process_time()
    try:
        ending = step()
    except Difference as difference:
        ending = {"differs": str(difference)[:2000]}
    except sqlanon.SqlanonError as error:
        ending = {"refused": str(error)}
    print(
        json.dumps({"method": method, "step": name, **ending, "seconds": round(time.process_time() - begun, 1)}),
        flush=True,
    )


def publish_sources(connection: duckdb.DuckDBPyConnection, method: str, folder: Path) -> None:
    """Publish a table, a view, a join of two and Parquet, and verify against each: equal rows, or Difference."""
    verb, roles = PUBLICATIONS[method]
    sides = "select * exclude (age, disease) from patients", "select ssn as number, age, disease from patients"
    connection.execute(f"create or replace table one_side as {sides[0]}; create or replace table other as {sides[1]}")
    joined = "select * exclude (number) from one_side inner join other on number = ssn"
    connection.execute("create or replace view looked_at as from patients").fetchall()
    connection.execute(f"create or replace view joined as {joined}").fetchall()
    connection.execute(f"copy patients to '{folder}/patients.parquet' (format parquet)").fetchall()
    expected = tables_of(verb(connection, "patients", **roles))
    for source in ("looked_at", "joined", f"{folder}/patients.parquet"):
        release = verb(connection, source, **roles)
        if tables_of(release) != expected:
            raise Difference(f"the release of {source} has other rows")
        if release.verify(against="joined").holds is False:
            raise Difference(f"the release of {source} is not verified against a join")


def spill(method: str, rows: int, little: str, folder: Path) -> dict[str, Any]:
    """Publish many rows with and without memory to spare: equal rows, or Difference; return what spilled."""
    verb, roles = PUBLICATIONS[method]
    digests, spilled = [], 0.0
    for limit in ("4GB", little):
        spill = folder / f"spilled {limit}"
        settings = {"threads": 2, "memory_limit": limit, "temp_directory": str(spill)}
        with duckdb.connect(str(folder / f"{limit}.duckdb"), config=settings) as connection:
            connection.execute(f"create table patients as {PEOPLE.replace('range(240)', f'range({rows})')}").fetchall()
            with Watch(spill) as watch:
                release = verb(connection, "patients", **roles)
            spilled = watch.most / 1e6
            # a sum of whole numbers is the same in any order
            digest = "select count(*), sum(hash(release_row::varchar)) from {} as release_row"
            digests.append([release.engine.rows(digest.format(table)) for table in release.tables.values()])
    if digests[0] != digests[1]:
        raise Difference(f"{rows} rows: another release within {little}, {spilled} MB spilled")
    return {"rows": rows, "spilled_megabytes": round(spilled)}


class Watch:
    """Look, ten times a second, how much lies in a folder; `most` is the largest size seen, in bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.most, self.ended = folder, 0, threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Watch":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.ended.wait(0.1):
            with suppress(OSError):
                self.most = max(self.most, sum(path.stat().st_size for path in self.folder.iterdir()))


def tables_of(release: sqlanon.Release) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a release's tables, in their order."""
    return {name: release.engine.rows(f"select * from {table}") for name, table in release.tables.items()}


def main() -> None:
    """Run all methods."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", nargs="+", default=list(PUBLICATIONS), choices=list(PUBLICATIONS))
    parser.add_argument("--optimizers", action="store_true")
    parser.add_argument("--spill-rows", type=int, default=400_000, help="0: publish nothing within little memory")
    parser.add_argument("--limit", default="32MB", help="the little memory")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"create table patients as {PEOPLE}").fetchall()
    if chosen.optimizers:
        for (name,) in connection.execute("select name from duckdb_optimizers()").fetchall():
            WAYS[f"without {name}"] = (f"set disabled_optimizers = '{name}'", "reset disabled_optimizers")
    for method in chosen.methods:
        verb, roles = PUBLICATIONS[method]
        run(method, "publish", lambda: verb(connection, "patients", **roles))  # noqa: B023
        release = verb(connection, "patients", **roles)
        run(method, "verify", lambda: release.verify(against="patients"))  # noqa: B023
        for name, query in QUERIES.items():
            run(method, f"estimate {name}", lambda: release.estimate(query))  # noqa: B023
        run(method, "attack", lambda: sqlanon.attack(release, against="patients"))  # noqa: B023
        with TemporaryDirectory() as folder:
            run(method, "complete", lambda: release.complete(1, seed=1).write(Path(folder, "out")))  # noqa: B023
            run(method, "sources", lambda: publish_sources(connection, method, Path(folder)))  # noqa: B023
        if chosen.spill_rows:
            with TemporaryDirectory() as folder:
                report(method, "little memory", lambda: spill(method, chosen.spill_rows, chosen.limit, Path(folder)))  # noqa: B023
    described = {name: ROLES[name] for name in ("quasi", "sensitive", "id")}
    run("", "check", lambda: sqlanon.check(connection, "patients", **described))


if __name__ == "__main__":
    main()
