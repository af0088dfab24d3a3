"""A folder with everything that nasty commands name; whatever a command does there is taken back after it."""

import contextlib
import json
import os
import shutil
import socket
from pathlib import Path

import duckdb

from tests.command import Shell
from tests.conftest import FEW_PATIENTS
from tests.nasty_commands import LEDGER, ROLES, UNSURE, VALID, options_of
from tests.nasty_words import MEANT

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
    ("attack", "release", "--format", "json"),
    (
        "compare",
        "patients.parquet",
        *ROLES,
        "--queries",
        "2",
        "--l",
        "3",
        "--methods",
        "anatomy",
        "--quick",
        "--out",
        "compared",
    ),
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
            if words[0] == "attack":
                (folder / "attack.json").write_text(done.stdout)


_KINDS = ("pipe", "zero", "socket", "folder", "loop", "sparse")
_INSIDE = ("release.json", "qit.parquet", "st.parquet", "data.parquet")
_WRITTEN = {"out", "out.csv", "out.html", "new"}


def lay_special(path: Path) -> None:
    """Lay the special file that a path's stem names; one that is as it should be stays."""
    kind = path.stem
    if kind == "pipe" and not path.is_fifo():
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    elif kind == "socket" and not path.is_socket():
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
            made.bind(path.name)  # of at most a hundred letters
    elif kind in ("zero", "loop") and not path.is_symlink():
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/zero" if kind == "zero" else path.name)
    elif kind == "folder":
        path.mkdir(exist_ok=True)
    elif kind == "sparse" and not (path.is_file() and path.stat().st_size == 2**40):
        path.unlink(missing_ok=True)
        with path.open("wb") as file:
            file.truncate(2**40)


class SpecialFiles:
    """Files that are none, of every ending, and releases that hold one, in a folder beside the commands' own."""

    def __init__(self, work: Path) -> None:
        """Make the folder; work: the commands' folder, whose releases are copied."""
        self._work, self._place = work, work.parent / "special"
        self._place.mkdir()

    def lay(self) -> None:
        """Lay what is not there, or was replaced."""
        endings = ("", ".parquet", ".csv", ".json", ".html", ".duckdb", ".ledger", ".yml", ".sql", ".key")
        for kind in _KINDS:
            for ending in endings:
                lay_special(self._place / f"{kind}{ending}")
            for inside in _INSIDE:
                holder = self._place / f"{kind} {inside}"
                if not holder.exists():
                    source = "splu" if inside == "data.parquet" else "release"
                    shutil.copytree(self._work / source, holder)
                    (holder / inside).unlink()
                    lay_special(holder / f"{kind}.x")
                    (holder / f"{kind}.x").rename(holder / inside)

    def commands(self, verb: str) -> set[tuple[str, ...]]:
        """Return a verb's valid commands with each special file in the place of each path, and of each other option."""
        made: set[tuple[str, ...]] = set()
        for words in VALID[verb]:
            full = (*verb.split(), *words)
            for number, word in enumerate(full):
                for other in self._in_place_of(word) if number >= len(verb.split()) else ():
                    made.add((*full[:number], other, *full[number + 1 :]))
            for option, takes in options_of(verb).items():
                likely = next((word for word in MEANT.get(option, ()) if self._is_place(word)), None)
                if takes and likely is not None and option not in words:
                    made |= {(*full, option, other) for other in self._in_place_of(likely)}
        return made

    def _is_place(self, word: str) -> bool:
        return word in _WRITTEN or (len(word) < 200 and (self._work / word).exists() and word not in ("", "."))

    def _in_place_of(self, word: str) -> list[str]:
        if not self._is_place(word):
            return []
        named = [f"../special/{kind}{Path(word).suffix}" for kind in _KINDS]
        holds = (self._work / word / "release.json").exists()
        return named + [f"../special/{kind} {inside}" for kind in _KINDS for inside in _INSIDE if holds]
