"""Print one results page: what each method costs on each engine, in shuffled copies of the same table by that engine.

    python -m tests.benchmarks.shuffles census_like.sql [--rows 1000000] [--repeat 3] [--engines duckdb,postgres,spark]
        [--methods anatomy,two_columns,splu,robust,mondrian,uncertain] [--master 'local[2]']

`census_like.sql` is a generator of census-like rows (a DuckDB macro census_like(rows, seed)). Each publication is
verified and compared with its source; DuckDB and Spark go from Parquet to Parquet, PostgreSQL from a table into a
schema. Turns of shuffle and publication alternate, after one turn that warms up; medians. A figure is processor
seconds of this process and all below it (the server's, Java's), and the clock, each over the shuffle's of its turn.
"""

import argparse
import os
import platform
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb

import sqlanon
from tests.cluster import Cluster

QUASI = ["age", "gender", "education", "marital_status", "race", "work_class", "country"]
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "anatomy": ("anatomy", {"quasi": QUASI, "sensitive": "occupation", "l": 10}),
    "two_columns": ("anatomy", {"quasi": QUASI, "sensitive": ["occupation", "salary_class"], "l": 5}),
    "splu": ("splu", {"quasi": QUASI, "sensitive": "occupation", "gamma": 10}),
    "robust": ("robust", {"quasi": QUASI, "sensitive": "occupation", "r": 10, "background_from": "gender"}),
    "mondrian": ("mondrian", {"quasi": QUASI, "sensitive": "occupation", "k": 10}),
    "uncertain": (
        "uncertain",
        {"quasi": QUASI[:2], "sensitive": "occupation", "k": 10, "l": 3, "threshold": 0.3, "influence": "learn"},
    ),
}
Costs = tuple[float, float]  # processor seconds, seconds


def processor_seconds() -> float:
    """Return what this process and all below it have used; ended ones count where their parent has noticed."""
    below: dict[int, list[tuple[int, int]]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, text = path.read_text().rpartition(")")
        except OSError:  # it has ended meanwhile
            continue
        fields = text.split()
        below.setdefault(int(fields[1]), []).append((int(path.parent.name), sum(map(int, fields[11:15]))))
    own = os.times()
    total, waiting = 0, [os.getpid()]
    while waiting:
        for process, ticks in below.get(waiting.pop(), []):
            total += ticks
            waiting.append(process)
    return own.user + own.system + total / os.sysconf("SC_CLK_TCK")


def cost(run: Callable[[], object]) -> Costs:
    """Return what one call costs."""
    before, start = processor_seconds(), time.perf_counter()
    run()
    return processor_seconds() - before, time.perf_counter() - start


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


class OnDuckDB:
    """Shuffle and publish in DuckDB, from Parquet to Parquet."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.connection, self.source, self.folder = duckdb.connect(), str(source), folder
        self.name, self.target = f"DuckDB {duckdb.__version__}", {"out": folder / "duckdb"}

    def shuffle(self) -> None:
        """Write a shuffled copy."""
        target = self.folder / "shuffled.parquet"
        self.connection.execute(f"copy (from '{self.source}' order by random()) to '{target}'").fetchall()


class OnPostgres:
    """Shuffle and publish in a server, from a table to tables."""

    def __init__(self, cluster: Cluster, source: Path, folder: Path) -> None:
        self.connection, self.source = loaded(cluster, source, folder), "census"
        version = self.connection.info.server_version
        self.name, self.target = f"PostgreSQL {version // 10000}.{version % 10000}", {"into": "release"}

    def shuffle(self) -> None:
        """Make a shuffled copy."""
        self.connection.execute("create table shuffled as select * from census order by random()")
        self.connection.execute("drop table shuffled")


class OnSpark:
    """Shuffle and publish in Spark, from Parquet to Parquet."""

    def __init__(self, master: str, source: Path, folder: Path) -> None:
        from sqlanon.engines.spark.session import connect

        self.connection = connect(master, memory_limit="4GB", temp_directory=str(folder))
        self.source, self.copy, self.target = str(source), f"file:{folder}/shuffled", {"out": folder / "spark"}
        self.name = f"Spark {self.connection.version} {master}"

    def shuffle(self) -> None:
        """Write a shuffled copy."""
        rows = self.connection.read.parquet(f"file:{self.source}").selectExpr("*", "rand() as drawn")
        rows.sort("drawn").drop("drawn").write.mode("overwrite").option("compression", "zstd").parquet(self.copy)

    def stages(self) -> int:
        """Return how many stages have run so far; 0 where Spark has forgotten its first jobs (beyond 1,000)."""
        context = self.connection._jsparkSession.sparkContext()
        context.listenerBus().waitUntilEmpty()
        jobs = context.statusStore().jobsList(None)
        whole = jobs.size() < 1000
        return sum(jobs.apply(number).numCompletedStages() for number in range(jobs.size())) if whole else 0


def measure(engine: Any, method: str, repeat: int) -> str:
    """Return one cell of the page: processors and clock, in shuffles."""

    def publish() -> None:
        name, asked = METHODS[method]
        sqlanon.publish(name, engine.connection, engine.source, overwrite=True, **engine.target, **asked)

    counted: list[tuple[float, float, int]] = []
    for _ in range(repeat + 1):
        before = cost(engine.shuffle)
        stages = engine.stages() if hasattr(engine, "stages") else 0
        whole = cost(publish)
        stages = max(engine.stages() - stages, 0) if stages else 0
        after = cost(engine.shuffle)
        processors, clock = (
            2 * one / max(left + right, 0.02) for one, left, right in zip(whole, before, after, strict=True)
        )
        counted.append((processors, clock, stages))
    processors, clock, stages = (statistics.median(column) for column in zip(*counted[1:], strict=True))
    return f"{processors:.1f} ({clock:.1f})" + (f", {stages:.0f} stages" if stages else "")


def main() -> None:
    """Make the source, measure, print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--engines", default="duckdb,postgres,spark")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--master", default="local[2]")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sqlanon-shuffles-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        source = made(folder, given.generator, given.rows)
        engines: list[Any] = []
        for name in given.engines.split(","):
            if name == "duckdb":
                engines.append(OnDuckDB(source, folder))
            elif name == "postgres":
                cluster = Cluster()
                stack.callback(cluster.close)
                engines.append(OnPostgres(cluster, source, folder))
            else:
                engines.append(OnSpark(given.master, source, folder))
                stack.callback(engines[-1].connection.stop)
        print(
            f"{given.rows:,} rows, {os.cpu_count()} cores (load {os.getloadavg()[0]:.0f}), {platform.platform()}",
            end="",
        )
        print(f", Python {platform.python_version()}. Shuffles of the processors (of the clock).\n")
        print("| method | " + " | ".join(engine.name for engine in engines) + " |\n|" + "---|" * (len(engines) + 1))
        for method in given.methods.split(","):
            cells = [measure(one, method, given.repeat) for one in engines]
            print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
