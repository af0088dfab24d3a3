"""Time `sqlanon publish anatomy` against a plain shuffle of the same rows by the same engine, in one run.

    python tests/benchmarks/publishing.py census_like.sql --rows 1000000 10000000 [--memory-limit 4GB] [--repeat 3]

`census_like.sql` is a generator of census-like rows (a DuckDB macro census_like(rows, seed)). For each size:
the shuffle `copy (select * from source order by random()) to … (format parquet)`, timed inside its process, then
the whole command (7 quasi columns, occupation, l = 10, Parquet to Parquet, verification and comparison with the
source included), timed from outside. Printed: medians, their ratio pair by pair, peak resident memory.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

QUASI = "age,gender,education,marital_status,race,work_class,country"
SHUFFLE = """
import sys, time, duckdb
source, target, limit = sys.argv[1:]
con = duckdb.connect(config={"memory_limit": limit, "temp_directory": target + ".spill"})
start, worked = time.monotonic(), time.process_time()
con.execute(f"copy (select * from '{source}' order by random()) to '{target}' (format parquet)").fetchall()
print(time.monotonic() - start, time.process_time() - worked)
"""


MAKE = """
import sys, duckdb
generator, rows, target = sys.argv[1:]
con = duckdb.connect()
con.execute(open(generator).read())
con.execute(f"copy (select * from census_like({rows}, 42) order by id) to '{target}' (format parquet)").fetchall()
"""


def made(folder: Path, generator: Path, rows: int) -> Path:
    """Write the source once, in another process: Linux counts this one's peak memory as that of what it starts."""
    path = folder / f"census_{rows}.parquet"
    subprocess.run([sys.executable, "-c", MAKE, str(generator), str(rows), str(path)], check=True)
    return path


def shuffled(source: Path, folder: Path, limit: str) -> tuple[float, float]:
    """Return the seconds of a plain shuffle, by the clock and of the processors."""
    command = [sys.executable, "-c", SHUFFLE, str(source), str(folder / "shuffled.parquet"), limit]
    # the last words: DuckDB draws its progress before them
    clock, processors = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-2:]
    return float(clock), float(processors)


def published(source: Path, folder: Path, limit: str) -> tuple[float, float, float]:
    """Return the seconds of the whole command, by the clock and of the processors, and its peak memory in GB."""
    out = folder / "release"
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sqlanon", "publish", "anatomy", str(source), "--quasi", QUASI]
    command += ["--sensitive", "occupation", "-l", "10", "--out", str(out), "--memory-limit", limit]
    command += ["--temp-directory", str(folder)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"publish failed with status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024**2


def main() -> None:
    """Measure every size and print a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("generator", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--memory-limit", default="8GB")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    print(
        f"{platform.platform()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        for rows in asked.rows:
            source = made(folder, asked.generator, rows)
            shuffled(source, folder, asked.memory_limit)  # warm-up: the file is in the cache
            pairs = [
                (*shuffled(source, folder, asked.memory_limit), *published(source, folder, asked.memory_limit))
                for _ in range(asked.repeat)
            ]
            plain, plain_work, whole, work, memory = (statistics.median(one) for one in zip(*pairs, strict=True))
            ratios = sorted(pair[2] / pair[0] for pair in pairs)
            print(
                f"{rows:>11,} rows: shuffle {plain:.2f} s, publish {whole:.2f} s ({whole / rows * 1e6:.2f} µs a row),"
                f" ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), peak {memory:.2f} GB;"
                f" of the processors {plain_work:.1f} and {work:.1f} s, ratio {work / plain_work:.2f}"
            )
            source.unlink()


if __name__ == "__main__":
    main()
