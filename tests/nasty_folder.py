"""A folder with everything that nasty commands name; whatever a command does there is taken back after it."""

import json
import os
import shutil
from pathlib import Path

import duckdb

from tests.command import Shell
from tests.conftest import FEW_PATIENTS
from tests.nasty_commands import LEDGER, ROLES, UNSURE

_PATIENTS = (
    """select *, ssn as count, ssn % 7 - 3 as "quo""te","""
    """ ['; drop table patients; --', '"', '', 'NULL', '漢字'][1 + ssn % 5] as "semi;colon","""
    """ ['{{ x }}', 'a\nb', '\x1b[31mred'][1 + ssn % 3] as "'); drop table patients; --","""
    """ ['HIV', 'HIV ', '', '1:a', '%s', 'ünï'][1 + ssn // 7 % 6] as "select" """
    f"from ({FEW_PATIENTS})"
)
_BACKGROUND = (
    "select sex, disease, count(*) / (select count(*) from patients where sex = one.sex) as probability"
    " from patients as one group by sex, disease"
)
_TABLES = {
    "patients": _PATIENTS,
    "odd": "from patients",
    "background": _BACKGROUND,
    "levels": "select distinct zipcode::varchar as zipcode, left(zipcode::varchar, 4) as area from patients",
}
_RELEASES = [
    ("publish", "anatomy", "patients.parquet", *ROLES, "-l", "3", "--out", "release"),
    ("publish", "anatomy", "patients.parquet", *ROLES, "-l", "3", "--out", "first"),
    ("publish", "anatomy", "patients.parquet", *ROLES, "-l", "3", "--out", "followed", *LEDGER),
    ("publish", "splu", "patients.parquet", *ROLES, "--gamma", "3", "--out", "splu"),
    ("publish", "mondrian", "patients.parquet", *ROLES, "-k", "4", "-l", "2", "--out", "boxes"),
    ("publish", "robust", "patients.parquet", *ROLES, "-r", "2", "--background-from", "sex", "--out", "robust"),
    ("publish", "uncertain", "patients.parquet", *ROLES, *UNSURE[:-1], "influence.csv", "--out", "unsure"),
]
JOB = (
    "method: anatomy\nsource: patients.parquet\nroles: {quasi: [age, sex], sensitive: disease, id: ssn}\n"
    "parameters: {l: 3}\noutput: {out: out, overwrite: true}\n"
)


class NastyFolder:
    """A shell in a folder that is the same before each command."""

    def __init__(self, top: Path, releases: int | None = None) -> None:
        """Fill a folder below `top`, and keep a copy of it; with the first few of its releases, or all."""
        self.shell, self._copy = Shell(top / "work"), top / "copy"
        (self.shell.folder / "tmp").mkdir(parents=True)
        self._furnish(_RELEASES[:releases])
        shutil.copytree(self.shell.folder, self._copy)
        self._seen = self._look()

    def lay_job(self, text: str) -> None:
        """Write the job that `run` runs."""
        (self.shell.folder / "job.yml").write_text(text, encoding="utf-8", errors="surrogatepass")

    def restore(self) -> None:
        """Take back what a command has done."""
        if self._look() == self._seen:
            return
        shutil.rmtree(self.shell.folder)
        shutil.copytree(self._copy, self.shell.folder)
        self._seen = self._look()

    def _look(self) -> set[tuple[str, int, int]]:
        """Return names, sizes and times of all files but the job, and the names of folders."""
        found = set()
        for place, folders, files in os.walk(self.shell.folder):
            found |= {(f"{place}/{name}", 0, 0) for name in folders}
            for name in {*files} - {"job.yml"}:
                status = os.lstat(f"{place}/{name}")
                found.add((f"{place}/{name}", status.st_size, status.st_mtime_ns))
        return found

    def _furnish(self, releases: list[tuple[str, ...]]) -> None:
        folder = self.shell.folder
        with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
            for name, sql in _TABLES.items():
                connection.execute(f"create table {name} as {sql}")
                connection.execute(f"copy {name} to '{folder}/{name}.parquet' (format parquet, compression zstd)")
                connection.execute(f"copy {name} to '{folder}/{name}.csv' (format csv, header true)")
        (folder / "bad.parquet").write_bytes(b"PAR1" + bytes(range(256)) + b"PAR1")
        (folder / "bad.csv").write_bytes(b'a,"b\n\xff\xfe,1\n"')
        (folder / "bad.json").write_text(json.dumps({"age": [{"x": None}]})[:-3])
        (folder / "empty.csv").write_text("")
        (folder / "own.sql").write_text("SELECT COUNT(*) FROM release WHERE age > 40;\nSELECT SUM(age) FROM release;\n")
        (folder / "ledger.key").write_text(LEDGER[-1])
        self.lay_job(JOB)
        for words in releases:
            done = self.shell(*words)
            assert done.returncode == 0, done.stderr
