"""Where a release lies, and what is read to open it: files in a directory, or tables in a schema of a database."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import UnfitFileError, read_text, require_regular
from sqlanon.engines.base import Engine
from sqlanon.errors import FormatWarning, ReleaseError, SqlanonError, UsageError, raised_as
from sqlanon.forms import form_of
from sqlanon.methods import METHODS
from sqlanon.models.shapes import UnknownMember, shown_path
from sqlanon.models.values import HERE, LISTED, Here, Kind, one_or_several
from sqlanon.plans.manifest import Manifest, follows, maker, of_people, parse_manifest, table_files
from sqlanon.plans.templates import Sql, ident
from sqlanon.read_places import MANIFEST
from sqlanon.releases.manifest_schema import manifest_faults
from sqlanon.version import VERSION
from sqlanon.wording import option

_STRANGERS = {("policy of", "manifest"), ("rule of", "manifest"), ("trigger of", "manifest")}
MOST_KEYS = 5  # that are told of a manifest, whose words are a stranger's
State = tuple[int, int, int, int]  # inode numbers of a directory and its manifest, and the manifest's size and time


def _release(value: Any, _: Here = HERE) -> Any:
    from sqlanon.releases.asked_release import AskedRelease

    if not isinstance(value, AskedRelease | str | os.PathLike):
        raise ValueError("is no release; give one that is open, or its path", value)
    return value


# a release, or its directory; one or several
RELEASE = Kind(_release)
RELEASES = Kind(lambda value, _: tuple(map(_release, one_or_several(value))), typed=LISTED)


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
        """Return the place that was asked for as `out` or `into`; raise UsageError for both."""
        if out is not None and into is not None:
            raise UsageError(f"say {option('out')} or {option('into')}, not both: a release goes to one place")
        return cls(None if out is None else Path(out), into)


StoredRelease = tuple[Mapping[str, Sql], Manifest, Place]  # SQL that reads each of its tables, what it says, where


def directory_state(directory: Path) -> State | None:
    """Return what tells a directory's release from another at the same place, None where there is none now."""
    try:
        place, manifest = directory.stat(), (directory / MANIFEST).stat()
    except OSError:
        return None
    return place.st_ino, manifest.st_ino, manifest.st_size, manifest.st_mtime_ns


def releases_in(directory: Path) -> list[str]:
    """Return the names of the folders in a directory that hold a manifest, in order; none where it cannot be read."""
    try:
        return sorted(found.parent.name for found in directory.glob(f"*/{MANIFEST}"))
    except (OSError, ValueError):
        return []


def read_manifest_text(directory: Path) -> str:
    """Return the text of a directory's release.json; raise ReleaseError where there is none that can be read."""
    if (directory / MANIFEST).is_symlink():
        raise ReleaseError(
            f"the {MANIFEST} of {str(directory)!r} is a link to another file, which is not followed: a release is files"
        )
    try:
        return read_text(directory / MANIFEST)
    except UnfitFileError as error:
        raise ReleaseError(f"the {MANIFEST} of {str(directory)!r} is none: {error.strerror}") from None
    except PermissionError as error:
        raise ReleaseError(f"cannot read {str(directory / MANIFEST)!r}: {error.strerror}") from None
    except (OSError, UnicodeDecodeError):
        inside = "".join(f", and {str(directory / name)!r} is one" for name in releases_in(directory)[:1])
        raise ReleaseError(f"{str(directory)!r} holds no readable {MANIFEST}: it is not a release{inside}") from None


def read_schema_manifest(engine: Engine, schema: str) -> str:
    """Read the one row of a schema's manifest table."""
    rows = engine.rows(f"select manifest from {engine.qualified(schema)}.manifest")
    # in a foreign database the table may be anything
    if len(rows) != 1 or not isinstance(rows[0]["manifest"], str):
        raise ReleaseError(f"the table manifest of schema {schema!r} does not hold one manifest")
    return rows[0]["manifest"]


def manifest_at(place: Place, engine: Engine | None = None) -> Manifest | None:
    """Return the manifest of the release that stands at a place, read without its tables; None where none does.

    engine: a session on the database, where it is a schema.
    """
    try:
        if place.directory is not None:
            return parse_manifest(read_manifest_text(place.directory), str(place.directory))
        if place.schema is not None and engine is not None and "schema" not in engine.lacks:
            # a view would be run, and so would a stranger's policy
            kinds = {*(engine.contents(place.schema) or ())}
            if ("table", "manifest") in kinds and not _STRANGERS & kinds:
                return parse_manifest(read_schema_manifest(engine, place.schema), place.schema)
    except (ValueError, SqlanonError):  # nothing, or what is none
        pass
    return None


def find_in_directory(directory: Path, engine: Engine) -> StoredRelease:
    """Find the release in a directory; raise ReleaseError where there is none that this version can read."""
    opened = directory_state(directory)
    manifest = _read_manifest(read_manifest_text(directory), str(directory))
    names = form_of(manifest).table_names(manifest)
    # a table that the manifest does not list is looked for all the same: verification says what is missing
    files = {name: table_files(manifest["files"], name) or [f"{name}.parquet"] for name in names}
    for file in (file for listed in files.values() for file in listed):
        with raised_as(ReleaseError, f"{file} of {str(directory)!r} is no table", UnfitFileError):
            require_regular(directory / file)
    tables = {
        name: engine.read_parquet([_literal_path(directory / file) for file in listed])
        for name, listed in files.items()
    }
    return tables, manifest, Place(directory, opened=opened)


def _literal_path(path: Path) -> Path:
    """Return a path that no engine takes for one below somebody's home: `~` is a directory's name like any other."""
    return Path.cwd() / path if str(path).startswith("~") else path


def find_in_schema(schema: str, engine: Engine) -> StoredRelease:
    """Find the release in a schema; raise ReleaseError where there is none that this version can read."""
    contents = engine.contents(schema) or ()
    # looked at before it is read: a view named manifest would be run
    if ("table", "manifest") not in contents:
        raise ReleaseError(f"no release in the schema {schema!r}: it has no table manifest")
    manifest = _read_manifest(read_schema_manifest(engine, schema), f"schema {schema}")
    names = form_of(manifest).table_names(manifest)
    # a view may answer verification and estimation differently, or read what is the reader's own
    other = [name for name in (*names, "manifest") if ("table", name) not in contents]
    if other:
        raise ReleaseError(f"no tables of a release in the schema {schema!r}: {', '.join(other)}")
    tables = {name: Sql(f"{engine.qualified(schema)}.{ident(name)}") for name in names}
    return tables, manifest, Place(schema=schema)


def _read_manifest(text: str, where: str) -> Manifest:
    """Refuse a method that this version lacks, and what its form does not understand."""
    manifest = parse_manifest(text, where)
    if manifest["method"] not in METHODS:
        raise ReleaseError(
            f"{where} was made by the method {manifest['method']!r}, which this sqlanon does not know: install"
            f" {maker(manifest)}"
        )
    faults = [*manifest_faults(manifest)]
    for wrong in (path for path in faults if not isinstance(path, UnknownMember)):
        raise ReleaseError(f"the manifest of {where} records what no release has: {shown_path(wrong)}")
    _refuse_contradictions(manifest, where)
    form_of(manifest).check_manifest(manifest, where)
    if unknown := ", ".join(map(shown_path, faults[:MOST_KEYS])):
        warnings.warn(
            f"the manifest of {where} has keys that this sqlanon {VERSION} does not know ({unknown}): answers leave"
            " them out, and verify certifies no release that has them; a newer sqlanon wrote it, or it was changed",
            FormatWarning,
            stacklevel=2,
        )
    return manifest


def _refuse_contradictions(manifest: Manifest, where: str) -> None:
    """Refuse what releases under a ledger, or of people, alone say of themselves in the manifest of another one."""
    parameters, verified = manifest["parameters"], manifest["verified"]
    of_ledger = {"release", "changed", "chain"} & parameters.keys()
    if of_ledger and not (of_ledger >= {"release", "changed"} and parameters.get("draws", "keyed") == "keyed"):
        raise ReleaseError(f"the manifest of {where} says {', '.join(sorted(of_ledger))}, but is of no ledger")
    if "departed" in verified and not follows(manifest):
        raise ReleaseError(f"the manifest of {where} says who departed, but not that releases came before it")
    if "known_size" in parameters and not of_people(manifest):
        raise ReleaseError(f"the manifest of {where} says known_size, but is not of people with several rows")
