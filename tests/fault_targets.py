"""Commands whose operations on files fail, the folder that they run in, and whether what they leave there is whole."""

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults import run_with_fault, shown

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")
PEOPLE = "".join(f"{i},{20 + i * 7 % 60},{'FM'[i % 3 > 0]},d{i % 8}\n" for i in range(240))
JOB = (
    "method: anatomy\nsource: hospital.csv\nroles: {quasi: [age, sex], sensitive: disease, id: ssn}\n"
    "parameters: {l: 4}\noutput: {out: release, overwrite: true}\n"
)
OUT = ("--out", "release", "--overwrite")
ANATOMY = ("publish", "anatomy", "hospital.csv", *ROLES, "-l", "4")
VIEWS = ("--view", "SELECT ssn, age FROM base", "--view", "SELECT age, disease FROM base")
ENDS = {".parquet": b"PAR1", ".html": b"</html>\n", ".json": b"}"}  # of files that were written to their end

_VERIFIED: set[tuple[tuple[str, bytes], ...]] = set()


@dataclass(frozen=True)
class Command:
    """A command, what it writes, and a look at that: None where it is whole, else what is wrong."""

    words: tuple[str, ...]
    target: str
    fault_of: Callable[[Path, str], str | None]


def fault_of_release(folder: Path, target: str) -> str | None:
    """Verify a directory; those of the same bytes are verified once."""
    content = tuple((path.name, path.read_bytes()) for path in sorted((folder / target).glob("*")))
    if content not in _VERIFIED:
        wrong = _failed(folder, "verify", target)
        if wrong:
            return wrong
        _VERIFIED.add(content)
    return None


def fault_of_schema(folder: Path, target: str) -> str | None:
    """Verify a schema."""
    return _failed(folder, "verify", target, "--database", "ward.duckdb")


def fault_of_step(folder: Path, target: str) -> str | None:
    """Verify a directory under a ledger, and compare its number with the ledger's."""
    return fault_of_release(folder, target) or _out_of_step(
        folder, "ward.ledger", (folder / target / "release.json").read_text()
    )


def fault_of_schema_in_step(folder: Path, target: str) -> str | None:
    """Verify a schema under a ledger, and compare its number with the ledger's."""
    wrong = fault_of_schema(folder, target)
    if wrong:
        return wrong
    # in a process of its own: this one opens no database
    program = f"import duckdb; print(*duckdb.connect('ward.duckdb').execute('from {target}.manifest').fetchone())"
    told = subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True, text=True)
    return _out_of_step(folder, "schema.ledger", told.stdout)


def _out_of_step(folder: Path, ledger: str, manifest: str) -> str | None:
    told = run_with_fault(folder, ("ledger", ledger, "--format", "json"), -1, "EIO")
    number = json.loads(manifest)["parameters"]["release"]
    in_step = told["code"] == 0 and json.loads(told["out"])["releases"] == number
    return None if in_step else f"release {number} out of step: {shown(told)}"


def fault_of_files(folder: Path, target: str) -> str | None:
    """Look whether a file, or each of a directory, is there to its end; it may be absent."""
    place = folder / target
    for path in sorted(place.iterdir()) if place.is_dir() else [place] if place.exists() else []:
        if not path.stat().st_size or not path.read_bytes().endswith(ENDS.get(path.suffix, b"")):
            return f"half of {path.name}"
    return None


def _failed(folder: Path, *words: str) -> str | None:
    done = run_with_fault(folder, words, -1, "EIO")
    return None if done["code"] == 0 else f"lost or half visible: {shown(done)}"


COMMANDS = {
    "publish anatomy": Command((*ANATOMY, *OUT), "release", fault_of_release),
    "publish splu": Command(
        ("publish", "splu", "hospital.csv", *ROLES, "--gamma", "4", *OUT), "release", fault_of_release
    ),
    "publish mondrian": Command(
        ("publish", "mondrian", "hospital.csv", *ROLES, "-k", "4", *OUT), "release", fault_of_release
    ),
    "run": Command(("run", "job.yml"), "release", fault_of_release),
    "into a schema": Command(
        (*ANATOMY, "--database", "ward.duckdb", "--into", "ward", "--overwrite"), "ward", fault_of_schema
    ),
    "under a ledger": Command(
        (*ANATOMY, "--ledger", "ward.ledger", "--key", "5e" * 32, "--out", "followed", "--overwrite"),
        *("followed", fault_of_step),
    ),
    "into a schema under a ledger": Command(
        (
            *(*ANATOMY, "--ledger", "schema.ledger", "--key", "5e" * 32),
            *("--database", "ward.duckdb", "--into", "kept", "--overwrite"),
        ),
        *("kept", fault_of_schema_in_step),
    ),
    "publish robust": Command(
        (
            *("publish", "robust", "hospital.csv", *ROLES, "-r", "2", "--background-from", "sex"),
            *("--save-background", "background.parquet", *OUT),
        ),
        *("background.parquet", fault_of_files),
    ),
    "check --failing": Command(
        ("check", "hospital.csv", "--quasi", "age,sex", "-k", "9", "--failing", "rows.parquet", "--overwrite"),
        *("rows.parquet", fault_of_files),
    ),
    "compile": Command(
        ("compile", "anatomy", "t", *ROLES, "-l", "4", "--dialect", "spark"), "script.sql", fault_of_files
    ),
    "complete": Command(
        ("complete", "first", "--tables", "2", "--out", "completed", "--overwrite"), "completed", fault_of_files
    ),
    "report": Command(("report", "first", "--out", "page.html", "--overwrite"), "page.html", fault_of_files),
    "breach --out": Command(
        (
            *("breach", "--base", "hospital.csv", *VIEWS, "--secret", "SELECT ssn, disease FROM base"),
            *("--out", "links.parquet", "--overwrite"),
        ),
        *("links.parquet", fault_of_files),
    ),
}


@functools.cache
def empty_database() -> bytes:
    """Return a DuckDB file without tables, made by a process of its own: this one opens none."""
    with TemporaryDirectory() as name:
        path = Path(name) / "empty.duckdb"
        program = "import duckdb, sys; duckdb.connect(sys.argv[1]).close()"
        subprocess.run([sys.executable, "-c", program, str(path)], check=True)
        return path.read_bytes()


def prepare(folder: Path, name: str) -> None:
    """Make the folder that a command runs in, with a release at the target, and one beside it."""
    (folder / "tmp").mkdir(parents=True)
    (folder / "hospital.csv").write_text("ssn,age,sex,disease\n" + PEOPLE)
    (folder / "job.yml").write_text(JOB)
    (folder / "ward.duckdb").write_bytes(empty_database())
    targets = {"publish anatomy", "into a schema", "under a ledger", "into a schema under a ledger"}
    standing = {"publish anatomy", name} & targets
    made = [tuple(word for word in COMMANDS[one].words if word != "--overwrite") for one in standing]
    for words in (*made, (*ANATOMY, "--out", "first")):
        done = run_with_fault(folder, words, -1, "EIO")
        assert done["code"] == 0, shown(done)
