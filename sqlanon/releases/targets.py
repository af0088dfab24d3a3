"""What every place that a release goes to can do, and how a release's files are called."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from sqlanon.plans.manifest import Manifest
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql

MANIFEST = "release.json"


class Target(Protocol):
    """Take the tables of one release, then its manifest; nothing is visible before `commit`.

    Making a target refuses what cannot be written; entering it begins, leaving it without `commit` undoes.
    """

    def __enter__(self) -> "Target":
        """Begin."""

    def __exit__(self, *failure: object) -> None:
        """Undo what was not committed."""

    def write(self, output: Statement) -> Sql:
        """Keep a published table; return SQL that reads what was written, in its order."""

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of each table (rows; for files also bytes and sha256)."""

    def commit(self, manifest: Manifest) -> None:
        """Make the release visible."""


def table_files(files: Iterable[str], table: str) -> list[str]:
    """Return the files of a release that hold one of its tables, in the order of their names."""
    return sorted(name for name in files if re.fullmatch(rf"{re.escape(table)}(-\d+)?\.parquet", name))


def file_sha256(path: Path) -> str:
    """Return a file's sha256 as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
