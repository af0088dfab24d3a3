"""Run every statement of publish, verify, estimate, attack, complete and check in several ways: rows are the same.

python -m tests.benchmarks.oracle [--methods anatomy …] [--optimizers]

--optimizers: without each of DuckDB's optimizers in turn as well.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import sqlanon
from tests.caller_settings import PEOPLE, PUBLICATIONS, QUERIES, ROLES
from tests.engine_oracle import WAYS, Difference, compared


def run(method: str, name: str, step: Callable[[], Any]) -> None:
    """Run one step with every statement compared; print how many there were, or the first that differs."""
    begun = time.process_time()
    try:
        with compared(tuple(WAYS)) as counts:
            step()
        ending = dict(counts)
    except Difference as difference:
        ending = {"differs": str(difference)[:2000]}
    except sqlanon.SqlanonError as error:
        ending = {"refused": str(error)}
    print(json.dumps({"method": method, "step": name, **ending, "seconds": round(time.process_time() - begun, 1)}))


def main() -> None:
    """Run all methods."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", nargs="+", default=list(PUBLICATIONS), choices=list(PUBLICATIONS))
    parser.add_argument("--optimizers", action="store_true")
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
    described = {name: ROLES[name] for name in ("quasi", "sensitive", "id")}
    run("", "check", lambda: sqlanon.check(connection, "patients", **described))


if __name__ == "__main__":
    main()
