"""Time Anatomy on DuckDB, PostgreSQL and Spark in one run, and what our layer adds to the engine's own time.

    python tests/benchmarks/engines.py census_like.sql [--rows 1000000] [--repeat 2] [--plans]

`census_like.sql` is a generator of census-like rows (a DuckDB macro census_like(rows, seed)). The same rows are
published (7 quasi columns, occupation, l = 10, a fresh key; verified, and compared with their source) by DuckDB
and Spark local[2] from Parquet to Parquet, and by a PostgreSQL server from a table into a schema. Inside each
run the calls of the engine's own client are timed; the rest of the wall clock is ours: templates, translation,
checks, hashes of files, renaming. `--plans` reads off Spark's plans where all rows would meet in one partition.
"""

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import sqlanon
from sqlanon.engines.spark.engine import SparkEngine
from sqlanon.engines.spark.session import connect
from tests.cluster import Cluster

QUASI = ["age", "gender", "education", "marital_status", "race", "work_class", "country"]
ASKED: dict[str, Any] = {"quasi": QUASI, "sensitive": "occupation", "l": 10}


class Stopwatch:
    """Add up the time inside an engine's own client, however its calls nest."""

    def __init__(self) -> None:
        self.seconds, self.depth = 0.0, 0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return `call`, timed."""

        def timed(*arguments: Any, **options: Any) -> Any:
            self.depth += 1
            start = time.perf_counter()
            try:
                return call(*arguments, **options)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += time.perf_counter() - start

        return timed

    def patch(self, owner: Any, *names: str) -> None:
        """Time these methods of a class."""
        for name in names:
            setattr(owner, name, self.around(getattr(owner, name)))


class Timed:
    """Stand for a DuckDB connection, whose own class takes no new methods."""

    __module__ = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection, watch: Stopwatch) -> None:
        self.connection, self.watch = connection, watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.connection, name)
        if name == "execute":
            return lambda *given: (self.watch.around(found)(*given), self)[1]
        return self.watch.around(found) if callable(found) else found


def made(folder: Path, generator: Path, rows: int) -> Path:
    """Write the source once."""
    path = folder / f"census_{rows}.parquet"
    con = duckdb.connect()
    con.execute(generator.read_text())
    con.execute(f"copy (select * from census_like({rows}, 42) order by id) to '{path}'").fetchall()
    con.close()
    return path


def loaded(cluster: Cluster, source: Path, folder: Path) -> Any:
    """Load the source into a PostgreSQL table; return a connection."""
    import psycopg

    con = psycopg.connect(cluster.dsn(), autocommit=True)
    columns = [name for name, *_ in duckdb.execute(f"describe from '{source}'").fetchall()]
    con.execute(f"create table census ({', '.join(f'{name} integer' for name in columns)})")
    text = folder / "census.csv"
    duckdb.execute(f"copy (from '{source}') to '{text}' (header false)").fetchall()
    with (
        con.cursor() as cursor,
        cursor.copy("copy census from stdin with (format csv)") as copy,
        text.open("rb") as file,
    ):
        while piece := file.read(1 << 20):
            copy.write(piece)
    con.execute("analyze census")
    return con


def measured(name: str, watch: Stopwatch, connection: Any, source: str, target: dict[str, Any]) -> None:
    """Run once and print the wall clock, the engine's own part and ours."""
    watch.seconds, start = 0.0, time.perf_counter()
    sqlanon.anatomy(connection, source, overwrite=True, **target, **ASKED)
    wall = time.perf_counter() - start
    print(
        f"{name:<10} {wall:7.2f} s   engine {watch.seconds:7.2f} s   ours {wall / watch.seconds - 1:6.1%}", flush=True
    )


class Reading(SparkEngine):
    """Read each plan before it runs."""

    found: list[tuple[str, str]] = []  # noqa: RUF012

    def create(self, statement: Any, lasting: bool = False) -> None:
        """Note where one partition takes everything."""
        self._look(statement.name, statement.sql)
        super().create(statement, lasting)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Note where one partition takes everything."""
        self._look(" ".join(sql.split())[:40], sql)
        return super().rows(sql)

    def write_parquet(self, sql: str, path: Path) -> dict[Path, int]:
        """Note where one partition takes everything."""
        self._look(path.stem, sql)
        return super().write_parquet(sql, path)

    def _look(self, name: str, sql: str) -> None:
        with self._set():
            plan = self._frame(sql)._jdf.queryExecution().executedPlan().toString()
        lines = plan.splitlines()
        for place, line in enumerate(lines):
            if "Exchange SinglePartition" in line:
                above = [re.sub(r"^[\s:+*()\d-]*", "", other).split(" ")[0].split("(")[0] for other in lines[:place]]
                taker = next(word for word in reversed(above) if word not in ("Sort", "WindowGroupLimit"))
                below = re.sub(r"^[\s:+*()\d-]*", "", lines[place + 1]).split(" ")[0].split("(")[0]
                self.found.append((name, f"{taker} over {below}"))


def plans(session: Any, source: Path, folder: Path) -> None:
    """Print, for 4 and 8 shuffle partitions, the steps in which one partition takes everything."""
    from sqlanon.publishing.publish import publish
    from sqlanon.publishing.release_request import ReleaseRequest

    for partitions in (4, 8):
        session.conf.set("spark.sql.shuffle.partitions", str(partitions))
        engine = Reading(session)
        Reading.found = []
        asked = ReleaseRequest("anatomy", str(source), tuple(QUASI), ("occupation",))
        publish(asked, engine, folder / f"plans_{partitions}", l=10)
        for name, how in dict.fromkeys(Reading.found):
            print(f"{partitions} partitions: {name}: {how}")


def main() -> None:
    """Make the source, run the engines in turn, print a line per run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--plans", action="store_true")
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}, {given.rows:,} rows")
    folder = Path(tempfile.mkdtemp(prefix="sqlanon-engines-"))
    session, cluster = connect("local[2]", memory_limit="4GB", temp_directory=str(folder)), Cluster()
    try:
        source = made(folder, given.generator, given.rows)
        if given.plans:
            plans(session, source, folder)
        else:
            runs(session, cluster, source, folder, given.repeat)
    finally:
        session.stop()
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def runs(session: Any, cluster: Cluster, source: Path, folder: Path, repeat: int) -> None:
    """Publish with each engine in turn, several times."""
    import psycopg
    from pyspark.sql.classic import dataframe
    from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter

    watch, con = Stopwatch(), duckdb.connect()
    timed, server = Timed(con, watch), loaded(cluster, source, folder)
    watch.patch(psycopg.Cursor, "execute", "fetchall")
    watch.patch(type(session), "sql")
    watch.patch(dataframe.DataFrame, "collect", "localCheckpoint", "createOrReplaceTempView")
    watch.patch(DataFrameReader, "parquet", "load")
    watch.patch(DataFrameWriter, "parquet")
    print(f"duckdb {duckdb.__version__}, spark {session.version} local[2], postgres {server.info.server_version}")
    for turn in range(repeat):
        print(f"turn {turn + 1}")
        measured("duckdb", watch, timed, str(source), {"out": folder / f"duckdb_{turn}"})
        measured("postgres", watch, server, "census", {"into": "release"})
        measured("spark", watch, session, str(source), {"out": folder / f"spark_{turn}"})


if __name__ == "__main__":
    main()
