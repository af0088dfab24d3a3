"""Look at a release's files and tables beside its manifest: are they the ones it describes?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.plans.manifest import Manifest
from sqlanon.releases.forms import form_of
from sqlanon.releases.targets import MANIFEST, sha256, table_files
from sqlanon.verification.checks import Check, Published, Report


def inside(directory: Path, name: str) -> Path:
    """Return the path of a release's file; refuse a name that leads elsewhere."""
    if Path(name).name != name or name in (".", "..") or len(name) > 200 or "\0" in name:
        raise ReleaseError(f"the manifest names a file outside the release: {name[:80]!r}")
    return directory / name


def file_check(directory: Path | None, manifest: Manifest) -> Check:
    """Compare the files with the sha256 and the bytes that the manifest says of them; links are no files."""
    files = manifest["files"]
    if directory is None:
        return Check("files", sorted(files), sorted(files), True)
    required = {name: said.get("sha256") for name, said in files.items()}
    found = {name: _digest(inside(directory, name)) for name in files}
    wrong = {name: found[name] for name in files if found[name] != required[name]}
    tables = form_of(manifest).verification.TABLES
    wrong |= {f"{table}.parquet": "not in the manifest" for table in tables if not table_files(files, table)}
    if wrong:
        return Check("files", {name: required.get(name, "in the manifest") for name in wrong}, wrong, False)
    return Check("files", required, "as the manifest says", True)


def _digest(path: Path) -> str:
    if path.is_symlink():
        return "a link, not a file"
    return sha256(path) if path.is_file() else "missing"


def unlisted_files(directory: Path | None, manifest: Manifest) -> list[str]:
    """Return the names beside the release that its manifest does not know: nothing is promised of them."""
    if directory is None:
        return []
    return sorted(path.name for path in directory.iterdir() if path.name not in {MANIFEST, *manifest["files"]})


def column_check(published: Published) -> Check:
    """Compare the tables' columns with those that the manifest declares, in order, and look at their types."""
    whole_form = form_of(published.manifest)
    form, allowed = whole_form.verification, whole_form.nested_columns(published.manifest)
    required = form.published_columns(published.manifest)
    types = {name: published.engine.columns(f"select * from {published.tables[name]}") for name in form.TABLES}
    found = {name: list(columns) for name, columns in types.items()}
    if found != required:
        return Check("columns", required, found, False)
    nested = [column for columns in types.values() for column, kind in columns.items() if _nested(kind)]
    nested = [column for column in nested if column not in allowed]
    fault = f"nested values in {', '.join(nested)}" if nested else form.check_types(published)
    return Check("columns", required, fault or found, fault is None)


def _nested(kind: str) -> bool:
    return kind.endswith("]") or kind.upper().startswith(("STRUCT", "MAP", "LIST", "UNION", "ARRAY", "VARIANT"))


def manifest_check(manifest: Manifest, report: Report) -> Check:
    """Compare what the manifest says of rows, groups and its promise with what the tables hold."""
    figures = report.figures
    form = form_of(manifest).verification
    required: dict[str, Any] = {"rows": figures["rows"]}
    found: dict[str, Any] = {"rows": manifest["rows"]}
    if "groups" in figures:
        required["groups"], found["groups"] = figures["groups"], manifest.get("groups")
    for table in form.TABLES:
        names = table_files(manifest["files"], table) or [name for name in manifest["files"] if name == table]
        required[f"rows of {table}"] = figures[f"{table}_rows"]
        found[f"rows of {table}"] = _sum(manifest["files"], names)
    if figures["rows"]:
        required["guarantee"] = form.guarantee(manifest, figures["rows"])
        found["guarantee"] = manifest.get("guarantee")
    differing = [name for name in required if required[name] != found[name]]
    if differing:
        picked = {name: required[name] for name in differing}, {name: found[name] for name in differing}
        return Check("manifest", *picked, False)
    return Check("manifest", "rows, groups and promise as the tables have them", "as the tables have them", True)


def _sum(files: Mapping[str, Any], names: list[str]) -> int | None:
    rows = [files[name].get("rows") for name in names]
    return sum(rows) if all(type(count) is int for count in rows) else None
