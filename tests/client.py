"""DuckDB's own command-line client (package `duckdb-cli`): a program without Python."""

import importlib.util
import json
import subprocess
import sysconfig
from pathlib import Path

import duckdb
import pytest


def program() -> Path:
    """Return the client, or skip: a file of the package, which before 1.5 is a program among the scripts."""
    package = importlib.util.find_spec("duckdb_cli")
    path = Path(package.origin).parent if package and package.origin else Path(sysconfig.get_path("scripts"))
    if not (path / "duckdb").is_file():
        pytest.skip("needs DuckDB's command-line client: pip install duckdb-cli")
    return path / "duckdb"


def new_database(path: Path, *statements: str) -> Path:
    """Make a database file that clients older than the library can open too."""
    con = duckdb.connect()
    con.execute(f"attach '{path}' as made (storage_version 'v1.4.0'); use made")
    for statement in statements:
        con.execute(statement).fetchall()
    con.close()
    return path


class Client:
    """Run SQL in the client, in a process of its own, on one database file."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        """Take the file, and the key that every session is given."""
        self.program, self.path, self.key = program(), path, key

    def run(self, sql: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run statements as a file of SQL is run: the first error ends it."""
        given = f"set variable sqlanon_key = '{self.key}';\n" if self.key is not None else ""
        command = [str(self.program), "-init", "/dev/null", "-bail", *options, str(self.path)]
        return subprocess.run(
            command, input=given + sql, capture_output=True, text=True, check=False, timeout=60, env={"HOME": "/tmp"}
        )

    def rows(self, sql: str) -> list[tuple]:
        """Run one SELECT and return its rows."""
        done = self.run(f"{sql};", "-json", "-readonly")
        assert done.returncode == 0, done.stderr
        return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]

    def refusal(self, sql: str) -> str:
        """Run one SELECT that is refused and return the words."""
        done = self.run(f"{sql};", "-readonly")
        assert done.returncode != 0, done.stdout
        assert done.stdout == ""
        (line,) = [line for line in done.stderr.splitlines() if line.strip()]
        return line.removeprefix("Invalid Input Error: ")
