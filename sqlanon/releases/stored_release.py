"""Find the tables and the manifest of a release: files in a directory, or tables in a schema of a database."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, UsageError
from sqlanon.methods import METHODS
from sqlanon.plans.manifest import Manifest, parse_manifest
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.database_targets import read_schema_manifest
from sqlanon.releases.forms import form_of
from sqlanon.releases.targets import MANIFEST, table_files


class StoredRelease(NamedTuple):
    """A release where it lies: SQL that reads each of its tables, and what its manifest says."""

    tables: Mapping[str, Sql]
    manifest: Manifest
    directory: Path | None = None


def find_in_directory(directory: Path, engine: Engine) -> StoredRelease:
    """Find the release in a directory; raise ReleaseError where there is none that this version can read."""
    path = directory / MANIFEST
    try:
        if not path.is_file():  # a pipe or a device would be read for ever
            raise FileNotFoundError(path)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ReleaseError(f"{str(directory)!r} holds no readable {MANIFEST}: it is not a release") from None
    manifest = _read_manifest(text, str(directory), engine)
    names = form_of(manifest).verification.TABLES
    # a table that the manifest does not list is looked for all the same: verification says what is missing
    files = {name: table_files(manifest["files"], name) or [f"{name}.parquet"] for name in names}
    tables = {name: engine.read_parquet([directory / file for file in listed]) for name, listed in files.items()}
    return StoredRelease(tables, manifest, directory)


def find_in_schema(schema: str, engine: Engine) -> StoredRelease:
    """Find the release in a schema; raise ReleaseError where there is none that this version can read."""
    if "manifest" not in (engine.tables(schema) or ()):
        raise ReleaseError(f"no release in the schema {schema!r}: it has no table manifest")
    manifest = _read_manifest(read_schema_manifest(engine, schema), f"schema {schema}", engine)
    names = form_of(manifest).verification.TABLES
    return StoredRelease({name: Sql(f"{ident(schema)}.{ident(name)}") for name in names}, manifest)


def _read_manifest(text: str, where: str, engine: Engine) -> Manifest:
    """Refuse a method that this version lacks, and what its form does not understand: a manifest, an engine."""
    manifest = parse_manifest(text, where)
    if manifest["method"] not in METHODS:
        raise ReleaseError(f"{where} was made by the method {manifest['method']!r}, which this sqlanon does not know")
    form = form_of(manifest)
    if form.dialects and engine.dialect not in form.dialects:
        raise UsageError(
            f"a release of {manifest['method']} holds lists, which are read with {', '.join(form.dialects)}, not with"
            f" {engine.dialect}"
        )
    form.verification.check_manifest(manifest, where)
    return manifest
