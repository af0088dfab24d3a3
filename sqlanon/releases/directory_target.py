"""A release as a directory: Parquet files and release.json, in place with one rename."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.atomic_files import DirectoryExchange, recover_directory
from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, TargetError, raised_as, undone_by
from sqlanon.interruption import hold_back
from sqlanon.plans.manifest import Manifest, manifest_text, parse_manifest
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.read_places import MANIFEST, refuse_in_any_release, require_parent
from sqlanon.releases.companions.registry import write_companions
from sqlanon.releases.targets import Target, file_sha256, read_manifest_text
from sqlanon.wording import option


class DirectoryTarget(Target):
    """Parquet files and release.json in a directory that appears in one rename."""

    def __init__(self, engine: Engine, path: str | Path, overwrite: bool) -> None:
        """Refuse an existing target unless `overwrite` and it is a release, and a missing parent."""
        self.engine = engine
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
        require_parent(self.path)
        refuse_in_any_release(self.path)
        # first restore what a dead run had set aside: it may be the release at this target
        recover_directory(self.path)
        _replaceable_files(self.path, overwrite)
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise TargetError(f"no right to write in {str(self.path.parent)!r}; choose another {option('out')}")
        self._written: dict[Path, int] = {}
        self._exchange = DirectoryExchange(self.path)
        with undone_by(self.close):  # checked again: another run may have ended since, and from now on none writes here
            self._replaced = _replaceable_files(self.path, overwrite)

    def __exit__(self, *failure: object) -> None:
        """Remove the private folder; a committed release has left it."""
        self.close()

    @property
    def staged(self) -> Path:
        """Return the directory that takes the target's place."""
        return self._exchange.new

    def close(self) -> None:
        """Let other runs write to the directory, and remove what is left of this one."""
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

    def write_companions(self, manifest: Manifest, expected: str = "") -> dict[str, Any]:
        """Write the texts that lie beside the tables; return bytes and sha256 of each."""
        described = {}
        for name, text in write_companions(self._exchange.new, manifest, expected).items():
            # what the replaced release's manifest does not name is its owner's, and stays
            if name not in self._replaced and os.path.lexists(self.path / name):
                raise TargetError(
                    f"{str(self.path / name)!r} is no file of the release that stands there, and the new one has its"
                    f" own {name}: move it away, or choose another {option('out')}"
                )
            path = self._exchange.new / name
            self._write_text(path, text)
            described[name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        return described

    def commit(self, manifest: Manifest) -> None:
        """Write release.json and let the directory appear."""
        hold_back()
        self._write_text(self._exchange.new / MANIFEST, manifest_text(manifest))
        self._exchange.commit(self._replaced)

    def _write_text(self, path: Path, text: str) -> None:
        with raised_as(TargetError, f"cannot write {path.name}"):
            path.write_text(text, encoding="utf-8", newline="\n")


def _replaceable_files(target: Path, overwrite: bool) -> frozenset[str]:
    """Return the files that a release at `target` may lose; refuse what is not to be replaced."""
    if not os.path.lexists(target):
        return frozenset()
    if target.is_symlink() or not target.is_dir():
        raise TargetError(f"{str(target)!r} is not a directory, and a release is one: choose another {option('out')}")
    held: frozenset[str] = frozenset()
    if any(target.iterdir()):
        try:
            manifest = parse_manifest(read_manifest_text(target), str(target))
        except ReleaseError:
            raise TargetError(
                f"{str(target)!r} holds files but no release; {option('overwrite', True)} replaces releases only:"
                f" choose another {option('out')}"
            ) from None
        held = frozenset({MANIFEST, *manifest["files"]})  # what else lies there is its owner's: it stays
    if not overwrite:
        raise TargetError(f"{str(target)!r} exists; choose another {option('out')} or say {option('overwrite', True)}")
    return held
