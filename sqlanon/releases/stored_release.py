"""Find the tables and the manifest of a release: files in a directory, or tables in a schema of a database."""

import warnings
from collections.abc import Mapping
from pathlib import Path

from sqlanon.bounded_files import UnfitFileError, require_regular
from sqlanon.engines.base import Engine
from sqlanon.errors import FormatWarning, ReleaseError, SqlanonError, raised_as
from sqlanon.forms import form_of
from sqlanon.methods import METHODS
from sqlanon.plans.json_schema import UnknownMember, shown_path
from sqlanon.plans.manifest import Manifest, maker, parse_manifest, table_files
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.manifest_schema import manifest_faults
from sqlanon.releases.targets import MANIFEST, Place, State, read_manifest_text
from sqlanon.version import VERSION

_STRANGERS = {("policy of", "manifest"), ("rule of", "manifest"), ("trigger of", "manifest")}
MOST_KEYS = 5  # that are told of a manifest, whose words are a stranger's

StoredRelease = tuple[Mapping[str, Sql], Manifest, Place]  # SQL that reads each of its tables, what it says, where


def directory_state(directory: Path) -> State | None:
    """Return what tells a directory's release from another at the same place, None where there is none now."""
    try:
        place, manifest = directory.stat(), (directory / MANIFEST).stat()
    except OSError:
        return None
    return place.st_ino, manifest.st_ino, manifest.st_size, manifest.st_mtime_ns


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
    from sqlanon.releases.database_targets import read_schema_manifest  # most releases are directories

    manifest = _read_manifest(read_schema_manifest(engine, schema), f"schema {schema}")
    names = form_of(manifest).table_names(manifest)
    # a view may answer verification and estimation differently, or read what is the reader's own
    other = [name for name in (*names, "manifest") if ("table", name) not in contents]
    if other:
        raise ReleaseError(f"no tables of a release in the schema {schema!r}: {', '.join(other)}")
    tables = {name: Sql(f"{engine.qualified(schema)}.{ident(name)}") for name in names}
    return tables, manifest, Place(schema=schema)


def manifest_in_directory(named: str) -> Manifest | None:
    """Return the manifest of a release's directory, read without its tables; None where there is no such release."""
    try:
        return parse_manifest(read_manifest_text(Path(named)), named)
    except (ValueError, ReleaseError):
        return None


def manifest_in_schema(named: str, engine: Engine) -> Manifest | None:
    """Return the manifest of a release's schema, read without its tables; None where there is no such release."""
    from sqlanon.releases.database_targets import read_schema_manifest

    if "schema" in engine.lacks:
        return None
    try:
        # a view would be run, and so would a stranger's policy
        kinds = {*(engine.contents(named) or ())}
        plain = ("table", "manifest") in kinds and not _STRANGERS & kinds
        return parse_manifest(read_schema_manifest(engine, named), named) if plain else None
    except SqlanonError:
        return None


def manifest_at(place: Place, engine: Engine) -> Manifest | None:
    """Return the manifest of the release that stands at a place, read without its tables; None where none does."""
    if place.schema is not None:
        return manifest_in_schema(place.schema, engine)
    return None if place.directory is None else manifest_in_directory(str(place.directory))


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
    form_of(manifest).check_manifest(manifest, where)
    if unknown := ", ".join(map(shown_path, faults[:MOST_KEYS])):
        warnings.warn(
            f"the manifest of {where} has keys that this sqlanon {VERSION} does not know ({unknown}): answers leave"
            " them out, and verify certifies no release that has them; a newer sqlanon wrote it, or it was changed",
            FormatWarning,
            stacklevel=2,
        )
    return manifest
