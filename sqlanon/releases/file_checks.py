"""Look at a release's files and tables beside its manifest: are they the ones it describes?"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import MOST_BYTES
from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, raised_as
from sqlanon.forms import form_of
from sqlanon.plans.json_schema import shown_path
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.releases.manifest_schema import manifest_faults
from sqlanon.releases.targets import Place, file_sha256
from sqlanon.verification.checks import Check, PublishedTables, Report, equal_figures


def file_path(directory: Path, name: str) -> Path:
    """Return the path of a release's file; refuse a name that leads elsewhere."""
    # a stranger's manifest may name any file of this machine, and its digest would be shown
    if Path(name).name != name or name in (".", "..") or len(name) > 200 or "\0" in name:
        raise ReleaseError(f"the manifest names a file outside the release: {name[:80]!r}")
    return directory / name


def check_files(engine: Engine, manifest: Manifest, place: Place) -> Check:
    """Compare what lies in a release's place with what the manifest says of it: that, and nothing else."""
    from sqlanon.releases.foreign_content import foreign_entries, foreign_files  # estimating asks for digests alone

    files = manifest["files"]
    if place.directory is None:  # tables, which the database keeps whole
        foreign = {}
        if place.schema is not None:
            foreign = foreign_entries(engine, place.schema, manifest)
        return Check("files", sorted(files), foreign or sorted(files), not foreign)
    required = {name: entry.get("sha256") for name, entry in files.items()}
    # the inside of a file is looked at where it is the publisher's
    changed = changed_files(place.directory, manifest) or foreign_files(place.directory, manifest)
    if changed:
        return Check("files", {name: required.get(name, "nothing else") for name in changed}, changed, False)
    return Check("files", required, "as the manifest says", True)


def changed_files(directory: Path | None, manifest: Manifest) -> dict[str, str]:
    """Return the files that are not those of the manifest, each with its digest or what it is instead."""
    if directory is None:
        return {}
    files = manifest["files"]
    digests = {name: _digest(file_path(directory, name), entry.get("bytes")) for name, entry in files.items()}
    changed = {name: digest for name, digest in digests.items() if digest != files[name].get("sha256")}
    tables = form_of(manifest).table_names(manifest)
    return changed | {f"{table}.parquet": "not in the manifest" for table in tables if not table_files(files, table)}


def _digest(path: Path, claimed_size: Any) -> str:
    """Return a file's digest, or what it is instead. claimed_size: how many bytes the manifest says it has."""
    if path.is_symlink():
        return "a link, not a file"
    if not path.is_file():
        return "missing"
    size = path.stat().st_size
    # a sparse file would be read for hours
    if size > MOST_BYTES and isinstance(claimed_size, int) and size != claimed_size:
        return f"{size:,} bytes, and not {claimed_size:,}"
    with raised_as(ReleaseError, f"cannot read {str(path)!r}"):
        return file_sha256(path)


def check_columns(published: PublishedTables) -> Check:
    """Compare the tables' columns with those that the manifest declares, in order, and look at their types."""
    form = form_of(published.manifest)
    allowed = form.nested_columns(published.manifest)
    required = form.verification.published_columns(published.manifest)
    types = {name: published.columns(name) for name in required}
    names = {table: list(columns) for table, columns in types.items()}
    if names != required:
        return Check("columns", required, names, False)
    # a nested value could hold anything: columns of the source, whole rows
    nested = [column for columns in types.values() for column, sql_type in columns.items() if _is_nested(sql_type)]
    nested = [column for column in nested if column not in allowed]
    fault = f"nested values in {', '.join(nested)}" if nested else form.verification.check_types(published)
    return Check("columns", required, fault or names, fault is None)


def _is_nested(sql_type: str) -> bool:
    return sql_type.endswith("]") or sql_type.upper().startswith(("STRUCT", "MAP", "LIST", "UNION", "ARRAY", "VARIANT"))


def check_manifest_figures(manifest: Manifest, report: Report) -> Check:
    """Compare what the manifest says of rows, groups and its promise with what the tables hold."""
    figures = report.figures
    form = form_of(manifest)
    required: dict[str, Any] = {"rows": figures["rows"]}
    claimed: dict[str, Any] = {"rows": manifest["rows"]}
    if "groups" in figures:
        required["groups"], claimed["groups"] = figures["groups"], manifest.get("groups")
    for table in form.table_names(manifest):
        # files of a directory, or the table itself in a schema
        names = table_files(manifest["files"], table) or [name for name in manifest["files"] if name == table]
        required[f"rows of {table}"] = figures[f"{table}_rows"]
        files = manifest["files"]
        rows = [files[name].get("rows") for name in names]
        claimed[f"rows of {table}"] = sum(rows) if all(type(count) is int for count in rows) else None
    if figures["rows"]:
        required["guarantee"] = form.verification.guarantee(manifest, figures["rows"])
        claimed["guarantee"] = manifest.get("guarantee")
    verified = manifest.get("verified")
    for name, figure in report.manifest_entries(form.table_names(manifest), form.tells_figures).items():
        # what the publisher compared with the source is not known here
        if isinstance(verified, dict) and name in verified:
            required[f"verified {name}"], claimed[f"verified {name}"] = _counted(figure, verified[name]), verified[name]
    unknown = list(dict.fromkeys(map(shown_path, manifest_faults(manifest))))
    unknown += [name for name in _unproved(manifest, set(required)) if name not in unknown]
    # each value that the tables hold has a weight, and no other
    weights = [line for line in manifest["parameters"].get("weights", ()) if line["value"] is not None]
    unknown += ["parameters weights"] if len(weights) > figures.get("held_values", len(weights)) else []
    if unknown:
        required["nothing else"], claimed["nothing else"] = "", unknown
    differing = [name for name in required if not equal_figures(required[name], claimed[name])]
    if differing:
        differing_required, differing_claimed = (
            {name: values[name] for name in differing} for values in (required, claimed)
        )
        return Check("manifest", differing_required, differing_claimed, False)
    return Check("manifest", "rows, groups and promise as the tables have them", "as the tables have them", True)


def _counted(figure: Any, claim: Any) -> Any:
    """Return of a figure what a claim says anything of: an earlier version counted less."""
    if isinstance(figure, Mapping) and isinstance(claim, Mapping) and claim.keys() < figure.keys():
        return {name: figure[name] for name in claim}
    return figure


def _unproved(manifest: Manifest, proved: Collection[str]) -> list[str]:
    """Return the figures that were neither counted in the tables nor can only be had from the source."""
    verified = manifest.get("verified")
    names, of_source = verified if isinstance(verified, dict) else (), form_of(manifest).of_source
    figures = {f"verified {name}" for name in names if name not in of_source}
    return sorted(figures - {*proved})
