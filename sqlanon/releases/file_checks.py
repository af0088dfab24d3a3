"""Look at a release's files and tables beside its manifest: are they the ones it describes?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError
from sqlanon.plans.manifest import Manifest, foreign_texts
from sqlanon.releases.forms import form_of
from sqlanon.releases.targets import Place, file_sha256, table_files
from sqlanon.verification.checks import Check, PublishedTables, Report, equal_figures


def file_path(directory: Path, name: str) -> Path:
    """Return the path of a release's file; refuse a name that leads elsewhere."""
    # a foreign manifest may name any file of this machine, whose digest would then be told
    if Path(name).name != name or name in (".", "..") or len(name) > 200 or "\0" in name:
        raise ReleaseError(f"the manifest names a file outside the release: {name[:80]!r}")
    return directory / name


def check_files(engine: Engine, manifest: Manifest, place: Place) -> Check:
    """Compare what lies in a release's place with what the manifest says of it: that, and nothing else."""
    from sqlanon.releases.foreign_content import foreign_entries, foreign_files  # estimating asks for digests alone

    files = manifest["files"]
    if place.directory is None:  # tables, which the database keeps whole
        foreign = foreign_entries(engine, place.schema, manifest) if place.schema is not None else {}
        return Check("files", sorted(files), foreign or sorted(files), not foreign)
    required = {name: entry.get("sha256") for name, entry in files.items()}
    # the inside of a file is looked at where it is the publisher's
    changed = changed_files(place.directory, manifest) or foreign_files(place.directory, manifest)
    if changed:
        return Check("files", {name: required.get(name, "nothing else") for name in changed}, changed, False)
    return Check("files", required, "as the manifest says", True)


def check_texts(manifest: Manifest, place: Place) -> Check | None:
    """Compare the texts beside the tables with those that a proved manifest gives; None where none differs."""
    from sqlanon.releases.companions.registry import foreign_companions

    foreign = foreign_companions(place.directory, manifest) if place.directory is not None else {}
    if not foreign:
        return None
    return Check("files", dict.fromkeys(foreign, "made again from the manifest"), foreign, False)


def changed_files(directory: Path | None, manifest: Manifest) -> dict[str, str]:
    """Return the files that are not those of the manifest, each with its digest or what it is instead."""
    if directory is None:
        return {}
    files = manifest["files"]
    digests = {name: _digest(file_path(directory, name)) for name in files}
    changed = {name: digest for name, digest in digests.items() if digest != files[name].get("sha256")}
    tables = form_of(manifest).verification.TABLES
    return changed | {f"{table}.parquet": "not in the manifest" for table in tables if not table_files(files, table)}


def _digest(path: Path) -> str:
    if path.is_symlink():
        return "a link, not a file"
    return file_sha256(path) if path.is_file() else "missing"


def check_columns(published: PublishedTables) -> Check:
    """Compare the tables' columns with those that the manifest declares, in order, and look at their types."""
    form = form_of(published.manifest)
    allowed = form.nested_columns(published.manifest)
    required = form.verification.published_columns(published.manifest)
    types = {name: published.columns(name) for name in form.verification.TABLES}
    names = {table: list(columns) for table, columns in types.items()}
    if names != required:
        return Check("columns", required, names, False)
    # a nested value could hold anything: columns of the source, whole rows
    nested = [column for columns in types.values() for column, kind in columns.items() if _is_nested(kind)]
    nested = [column for column in nested if column not in allowed]
    fault = f"nested values in {', '.join(nested)}" if nested else form.verification.check_types(published)
    return Check("columns", required, fault or names, fault is None)


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.upper().startswith(("STRUCT", "MAP", "LIST", "UNION", "ARRAY", "VARIANT"))


def check_manifest_figures(manifest: Manifest, report: Report) -> Check:
    """Compare what the manifest says of rows, groups and its promise with what the tables hold."""
    figures = report.figures
    form = form_of(manifest).verification
    required: dict[str, Any] = {"rows": figures["rows"]}
    claimed: dict[str, Any] = {"rows": manifest["rows"]}
    if "groups" in figures:
        required["groups"], claimed["groups"] = figures["groups"], manifest.get("groups")
    for table in form.TABLES:
        # files of a directory, or the table itself in a schema
        names = table_files(manifest["files"], table) or [name for name in manifest["files"] if name == table]
        required[f"rows of {table}"] = figures[f"{table}_rows"]
        claimed[f"rows of {table}"] = _sum_rows(manifest["files"], names)
    if figures["rows"]:
        required["guarantee"] = form.guarantee(manifest, figures["rows"])
        claimed["guarantee"] = manifest.get("guarantee")
    for name, found in form.verified_figures(report).items():
        if name in manifest.get("verified", {}):  # what the publisher compared with the source is not known here
            required[f"verified {name}"], claimed[f"verified {name}"] = found, manifest["verified"][name]
    unknown = foreign_texts(manifest, set(required))
    if unknown:
        required["nothing else"], claimed["nothing else"] = "", unknown
    differing = [name for name in required if not equal_figures(required[name], claimed[name])]
    if differing:
        wanted, said = ({name: values[name] for name in differing} for values in (required, claimed))
        return Check("manifest", wanted, said, False)
    return Check("manifest", "rows, groups and promise as the tables have them", "as the tables have them", True)


def _sum_rows(files: Mapping[str, Any], names: list[str]) -> int | None:
    rows = [files[name].get("rows") for name in names]
    return sum(rows) if all(type(count) is int for count in rows) else None
