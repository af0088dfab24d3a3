"""Every verb at several sizes: seconds of the processors, largest memory, and how both grow with the rows.

    python -m tests.benchmarks.verbs [100000 1000000] [--limit SECONDS] [--memory-limit 2GB] [--leave-out VERB …]

Invented people in a DuckDB file; four quasi columns, thirty diseases, anatomy with l = 5. Each verb is a process of its
own, the start of Python included, under the memory limit; what is slower than the limit by the clock is ended, and
said. The first line is DuckDB's own pass over the table, COUNT(DISTINCT …) of its quasi columns.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

COLUMNS = "age,sex,region,job"
PEOPLE = (
    "select (18 + hash(i) % 70)::integer as age, (hash(i, 1) % 2)::integer as sex, (hash(i, 2) % 50)::integer"
    " as region, (hash(i, 3) % 20)::integer as job, 'd' || hash(i, 4) % 30 as disease from range({rows}) t(i)"
)
ROLES = ["--quasi", COLUMNS, "--sensitive", "disease", "--id", "id"]
PASS = f"import duckdb; duckdb.connect('people.duckdb').execute('select count(distinct ({COLUMNS})) from people')"
SOURCE = ["people", "--database", "people.duckdb"]
AGAINST = ["--against", "people", "--database", "people.duckdb"]
SAMPLE = ["--sample", "200000"]
QUESTION = "select sex, count(*), avg(age) from release where disease in ('d1', 'd2') and region < 20 group by sex"
VERBS = {
    "one pass": ["-c", PASS],
    "check": ["check", *SOURCE, *ROLES],
    "publish anatomy": ["publish", "anatomy", *SOURCE, *ROLES, "-l", "5", "--out", "ward"],
    "verify": ["verify", "ward"],
    "verify --against": ["verify", "ward", *AGAINST],
    "estimate": ["estimate", "ward", QUESTION],
    "attack --sample 200000": ["attack", "ward", *SAMPLE],
    "attack --sample 200000 --against": ["attack", "ward", *SAMPLE, *AGAINST, "--id", "id"],
    "report": ["report", "ward", "--out", "ward.html"],
    "complete, 2 tables": ["complete", "ward", "--tables", "2", "--seed", "1", "--out", "completed"],
    "compare --quick": ["compare", *SOURCE, *ROLES, "--quick"],
}


def measure(command: list[str], folder: Path, limit: float) -> tuple[float, float] | str:
    """Run a command; return the processors' seconds and the largest memory in GB, or why there are none."""
    module = [] if command[0] == "-c" else ["-m", "sqlanon"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *module, *command], cwd=folder, env=environment, stdout=output, stderr=output
        )
        end = time.monotonic() + limit
        while time.monotonic() < end:
            number, status, usage = os.wait4(process.pid, os.WNOHANG)
            if number:
                process.returncode = os.waitstatus_to_exitcode(status)
                if process.returncode:
                    return f"exit code {process.returncode}: {(folder / 'output').read_text()[-100:].strip()}"
                return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6
            time.sleep(0.05)
        process.kill()
        process.wait()
        return f"not in {limit:.0f} s"


def main() -> None:
    """Print a line for every verb."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--leave-out", nargs="*", default=[], choices=list(VERBS))
    arguments = parser.parse_args()
    commands = {verb: command for verb, command in VERBS.items() if verb not in arguments.leave_out}
    figures: dict[str, list[tuple[float, float] | str]] = {verb: [] for verb in commands}
    for rows in arguments.rows:
        folder = Path(tempfile.mkdtemp(prefix="verbs_"))
        try:
            with duckdb.connect(str(folder / "people.duckdb")) as con:
                con.execute(
                    f"create table people as select row_number() over () as id, * from ({PEOPLE})".format(rows=rows)
                )
            for verb, command in commands.items():
                limits = [] if command[0] == "-c" else ["--memory-limit", arguments.memory_limit]
                figures[verb].append(measure([*command, *limits], folder, arguments.limit))
                print(f"{rows:,} rows, {verb}: {figures[verb][-1]}", file=sys.stderr)
        finally:
            shutil.rmtree(folder)
    print("| verb | " + " | ".join(f"{rows:,} rows" for rows in arguments.rows) + " |")
    for verb, cells in figures.items():
        texts = [cell if isinstance(cell, str) else f"{cell[0]:.1f} s, {cell[1]:.2f} GB" for cell in cells]
        print(f"| {verb} | " + " | ".join(texts) + " |")


if __name__ == "__main__":
    main()
