"""Look at a release's files and tables beside its manifest: are they the ones it describes?"""

from collections.abc import Mapping
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
from sqlanon.verification.types import find_wrong_type


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
    layout = form_of(published.manifest).layout(published.manifest)
    required = {table: [*columns] for table, columns in layout.items()}
    types = {name: published.columns(name) for name in required}
    names = {table: list(columns) for table, columns in types.items()}
    wrong_type = find_wrong_type(layout, types) if names == required else None
    return Check("columns", required, wrong_type or names, names == required and wrong_type is None)


def check_manifest_figures(manifest: Manifest, report: Report) -> Check:
    """Compare what the manifest says of rows, groups and its promise with what the tables hold."""
    figures, form, files = report.figures, form_of(manifest), manifest["files"]
    tables = form.table_names(manifest)
    pairs: dict[str, tuple[Any, Any]] = {"rows": (figures["rows"], manifest["rows"])}  # as counted, as claimed
    if "groups" in figures:
        pairs["groups"] = figures["groups"], manifest.get("groups")
    for table in tables:
        # files of a directory, or the table itself in a schema
        rows = [
            files[name].get("rows") for name in table_files(files, table) or [name for name in files if name == table]
        ]
        claimed = sum(rows) if all(type(count) is int for count in rows) else None
        pairs[f"rows of {table}"] = figures[f"{table}_rows"], claimed
    if figures["rows"]:
        pairs["guarantee"] = form.guarantee(manifest, figures["rows"]), manifest.get("guarantee")
    said, told = manifest.get("verified"), report.manifest_entries(tables, form.tells_figures)
    verified = said if isinstance(said, dict) else {}
    for name, figure in told.items():
        # what the publisher compared with the source is not known here
        if name in verified:
            pairs[f"verified {name}"] = _counted(figure, verified[name]), verified[name]
    # and figures that were neither counted in the tables nor can only be had from the source
    unproved = sorted(f"verified {name}" for name in verified if name not in (*told, *form.of_source))
    unknown = list(dict.fromkeys([*map(shown_path, manifest_faults(manifest)), *unproved]))
    # each value that the tables hold has a weight, and no other
    weights = [line for line in manifest["parameters"].get("weights", ()) if line["value"] is not None]
    unknown += ["parameters weights"] if len(weights) > figures.get("held_values", len(weights)) else []
    if unknown:
        pairs["nothing else"] = "", unknown
    differing = {name: pair for name, pair in pairs.items() if not equal_figures(*pair)}
    if differing:
        required, found = ({name: pair[side] for name, pair in differing.items()} for side in (0, 1))
        return Check("manifest", required, found, False)
    return Check("manifest", "rows, groups and promise as the tables have them", "as the tables have them", True)


def _counted(figure: Any, claim: Any) -> Any:
    """Return of a figure what a claim says anything of: an earlier version counted less."""
    if isinstance(figure, Mapping) and isinstance(claim, Mapping) and claim.keys() < figure.keys():
        return {name: figure[name] for name in claim}
    return figure
