"""What every place that a release goes to can do, and how a release's files are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from sqlanon.bounded_files import UnfitFileError, file_sha256, read_text
from sqlanon.errors import ReleaseError
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.read_places import MANIFEST

__all__ = ["MANIFEST", "Place", "State", "Target", "file_sha256", "read_manifest_text"]
State = tuple[int, int, int, int]  # inode numbers of a directory and its manifest, and the manifest's size and time


@dataclass(frozen=True)
class Place:
    """Where a release lies or goes: a directory, a schema of the engine's database, or neither, in the session.

    opened: the state of a directory before anything in it was read.
    """

    directory: Path | None = None
    schema: str | None = None
    opened: State | None = None

    @classmethod
    def of(cls, out: str | Path | None, into: str | None) -> "Place":
        """Return the place that was asked for as `out` or `into`."""
        return cls(None if out is None else Path(out), into)


class Target(Protocol):
    """Take the tables of one release, then its manifest; nothing is visible before `commit`.

    Making a target refuses what cannot be written and keeps other runs away from it until it is closed; entering it
    begins, leaving it without `commit` undoes.
    """

    def close(self) -> None:
        """Let other runs write there; nothing keeps them away from tables of a session."""
        return

    def __enter__(self) -> Self:
        """Begin; where files wait in a folder of their own, it is there already."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Undo what was not committed."""

    def write(self, output: Statement) -> Sql:
        """Keep a published table; return SQL that reads what was written, in its order."""

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of each table (rows; for files also bytes and sha256)."""
        return {name: {"rows": count} for name, count in rows.items()}

    def write_companions(self, manifest: Manifest, expected: str = "") -> dict[str, Any]:
        """Write the texts that lie beside the tables; return what the manifest says of each (bytes, sha256).

        expected: what an attack is expected to reach. Tables of a database have none.
        """
        return {}

    def commit(self, manifest: Manifest) -> None:
        """Make the release visible; tables of a session are already."""
        return


def releases_in(directory: Path) -> list[str]:
    """Return the names of the folders in a directory that hold a manifest, in order; none where it cannot be read."""
    try:
        return sorted(found.parent.name for found in directory.glob(f"*/{MANIFEST}"))
    except (OSError, ValueError):
        return []


def read_manifest_text(directory: Path) -> str:
    """Return the text of a directory's release.json; raise ReleaseError where there is none that can be read."""
    try:
        return read_text(directory / MANIFEST)
    except UnfitFileError as error:
        raise ReleaseError(f"the {MANIFEST} of {str(directory)!r} is none: {error.strerror}") from None
    except PermissionError as error:
        raise ReleaseError(f"cannot read {str(directory / MANIFEST)!r}: {error.strerror}") from None
    except (OSError, UnicodeDecodeError):
        inside = "".join(f", and {str(directory / name)!r} is one" for name in releases_in(directory)[:1])
        raise ReleaseError(f"{str(directory)!r} holds no readable {MANIFEST}: it is not a release{inside}") from None
