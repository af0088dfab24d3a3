"""A release as a directory: Parquet files and release.json, in place with one rename."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.atomic_files import DirectoryExchange, recover_directory
from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, TargetError
from sqlanon.plans.manifest import Manifest, manifest_text, parse_manifest
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.releases.targets import MANIFEST, file_sha256
from sqlanon.wording import option


class DirectoryTarget:
    """Parquet files and release.json in a directory that appears in one rename."""

    def __init__(self, engine: Engine, path: str | Path, overwrite: bool) -> None:
        """Refuse an existing target unless `overwrite` and it is a release, and a missing parent."""
        self.engine = engine
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
        if not self.path.parent.is_dir():
            raise TargetError(f"no directory {str(self.path.parent)!r} to write {self.path.name!r} in")
        # first put back what a dead run had set aside: it may be the release that stands in the way
        recover_directory(self.path)
        self._replaced = _replaceable_files(self.path, overwrite)
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise TargetError(f"no right to write in {str(self.path.parent)!r}")
        self._written: dict[Path, int] = {}

    def __enter__(self) -> "DirectoryTarget":
        """Open the private folder that the files are written to."""
        self._exchange = DirectoryExchange(self.path)
        return self

    def __exit__(self, *failure: object) -> None:
        """Remove the private folder; a committed release has left it."""
        self._exchange.close()

    def write(self, output: Statement) -> Sql:
        """Write one Parquet file or several; return SQL that reads them in the order of their names."""
        written = self.engine.write_parquet(output.sql, self._exchange.new / f"{output.name}.parquet")
        self._written |= written
        return self.engine.read_parquet(sorted(written))

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return rows, bytes and sha256 of each file."""
        return {
            path.name: {"rows": count, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
            for path, count in self._written.items()
        }

    def commit(self, manifest: Manifest) -> None:
        """Write release.json and let the directory appear."""
        try:
            (self._exchange.new / MANIFEST).write_text(manifest_text(manifest), encoding="utf-8")
        except OSError as error:
            raise TargetError(f"cannot write {MANIFEST}: {error.strerror}") from None
        self._exchange.commit(self._replaced)


def _replaceable_files(target: Path, overwrite: bool) -> frozenset[str]:
    """Return the files that a release at `target` may lose; refuse what is not to be replaced."""
    if not os.path.lexists(target):
        return frozenset()
    if not overwrite:
        raise TargetError(f"{str(target)!r} exists; choose another {option('out')} or say {option('overwrite', True)}")
    if target.is_symlink() or not target.is_dir():
        raise TargetError(f"{str(target)!r} is not a directory; remove it or choose another {option('out')}")
    if not any(target.iterdir()):
        return frozenset()
    try:
        manifest = parse_manifest((target / MANIFEST).read_text(encoding="utf-8"), str(target))
    except (OSError, UnicodeDecodeError, ReleaseError):
        raise TargetError(
            f"{str(target)!r} holds files but no release; {option('overwrite', True)} replaces releases only:"
            f" choose another {option('out')}"
        ) from None
    # what else lies in the directory is its owner's: it stays
    return frozenset({MANIFEST, *manifest["files"]})
