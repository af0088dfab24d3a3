"""Look at what lies in a release beside its manifest: is it what that describes, and nothing else?

In a Parquet file what is foreign are columns of other names and types, and metadata beside them. How a file is packed
is not looked at: `adopt` writes anew what comes from elsewhere.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import MOST_BYTES, file_sha256
from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, raised_as
from sqlanon.forms import form_of
from sqlanon.models.shapes import shown_path
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.read_places import MANIFEST
from sqlanon.releases.companions import COMPANIONS, foreign_comments, read_file
from sqlanon.releases.manifest_schema import manifest_faults
from sqlanon.releases.opening import Place
from sqlanon.verification.checks import Check, PublishedTables, Report, equal_figures, find_wrong_type

# what Spark says beside the rows: its version, and names and types of the columns, single values or marks
_VERSION = re.compile(r"\d{1,2}(\.\d{1,4}){1,3}(-(preview|amzn-|SNAPSHOT)\d{0,6})?")
_FIELD = r'\{{"name":{},"type":{},"nullable":(true|false),"metadata":\{{\}}\}}'
_TYPE = r'"[a-z]+(_ntz)?(\(\d{1,2},\d{1,2}\))?"'
_PARTS = ",".join([_FIELD.format('"attribute"', '"string"'), _FIELD.format('"count"', '"integer"')])
_MARKS = (
    r'\{"type":"array","elementType":\{"type":"struct","fields":\[' + _PARTS + r'\]\},"containsNull":(true|false)\}'
)
_DESCRIBED = {"rows", "bytes", "sha256"}


def check_files(engine: Engine, manifest: Manifest, place: Place) -> Check:
    """Compare what lies in a release's place with what the manifest says of it: that, and nothing else."""
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
    digests = {name: _digest(_file_path(directory, name), entry.get("bytes")) for name, entry in files.items()}
    changed = {name: digest for name, digest in digests.items() if digest != files[name].get("sha256")}
    tables = form_of(manifest).table_names(manifest)
    return changed | {f"{table}.parquet": "not in the manifest" for table in tables if not table_files(files, table)}


def _file_path(directory: Path, name: str) -> Path:
    """Return the path of a release's file; refuse a name that leads elsewhere."""
    # a stranger's manifest may name any file of this machine, and its digest would be shown
    if Path(name).name != name or name in (".", "..") or len(name) > 200 or "\0" in name:
        raise ReleaseError(f"the manifest names a file outside the release: {name[:80]!r}")
    return directory / name


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


def foreign_files(directory: Path, manifest: Manifest) -> dict[str, Any]:
    """Return by name what a directory holds beside the release, and what its files hold beside their tables.

    The files that the manifest names are there, with the sha256 that it says.
    """
    files = manifest["files"]
    tables = {table: table_files(files, table) for table in form_of(manifest).table_names(manifest)}
    ours = {name for listed in tables.values() for name in listed}
    faults: dict[str, Any] = {}
    for path in sorted(directory.iterdir()):
        if path.name not in (MANIFEST, *files):
            faults[path.name] = "not in the manifest"
    for name, described in files.items():
        size = (directory / name).stat().st_size
        if described.get("bytes", size) != size:
            faults[name] = f"{size} bytes, not {described['bytes']}"
        elif set(described) - (_DESCRIBED if name in ours else _DESCRIBED - {"rows"}):
            faults[name] = f"described by {', '.join(sorted(set(described) - _DESCRIBED))}"
    for table, listed in tables.items():
        faults |= foreign_parts([directory / name for name in listed])
        if listed != [f"{table}.parquet"]:  # from 0 on, all with as many digits: a number tells nothing
            parts = [f"{number:0{max(5, len(str(len(listed))))}d}" for number in range(len(listed))]
            pairs = zip(listed, parts, strict=True)
            faults |= {name: f"not the part {part}" for name, part in pairs if name != f"{table}-{part}.parquet"}
    return faults | {name: "no table of the release" for name in files if name not in (*ours, *COMPANIONS)}


def foreign_parts(paths: Sequence[Path]) -> dict[str, str]:
    """Return what is wrong with the files of one table, by name: each holds the rows of the same columns alone."""
    from duckdb import Error  # slow to load: whoever asks looks at digests alone

    faults: dict[str, str] = {}
    first: Mapping[str, str] = {}
    for path in paths:
        try:
            columns, metadata = read_file(path)
        except Error:
            faults[path.name] = "no Parquet file of a table"
            continue
        first = first or columns
        words = [f"the metadata {key[:60]!r}" for key, value in metadata if not _is_known(key, value, columns)]
        if [*columns.items()] != [*first.items()]:
            words.append(f"its columns are not those of {paths[0].name}")
        if words:
            faults[path.name] = "; ".join(words)
    return faults


def _is_known(key: str, value: str, columns: Mapping[str, str]) -> bool:
    """Tell whether metadata is what Spark writes, and says no more than the columns do."""
    if key == "org.apache.spark.version":
        return bool(_VERSION.fullmatch(value))
    names = [re.escape(json.dumps(name, ensure_ascii=False)) for name in columns]
    fields = ",".join(_FIELD.format(name, f"({_TYPE}|{_MARKS})") for name in names)
    is_row = key == "org.apache.spark.sql.parquet.row.metadata"
    return is_row and bool(re.fullmatch(rf'\{{"type":"struct","fields":\[{fields}\]\}}', value))


def foreign_entries(engine: Engine, schema: str, manifest: Manifest) -> dict[str, str]:
    """Return what a schema holds beside the release's tables: by kind and name, `not in the manifest`."""
    tables = (*form_of(manifest).table_names(manifest), "manifest")
    expected = {("table", name) for name in tables}
    entries = set(engine.contents(schema) or ()) - expected
    names = set(manifest["files"]) - set(tables)
    faults = {f"{kind} {name}": "not in the manifest" for kind, name in sorted(entries)}
    faults |= {f"table {name}": "no table of the release" for name in sorted(names)}
    described = {name: set(entry) - {"rows"} for name, entry in manifest["files"].items()}
    faults |= {name: f"described by {', '.join(sorted(keys))}" for name, keys in described.items() if keys}
    return faults | foreign_comments(manifest, engine.comments(schema))


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
    pairs["groups"] = figures.get("groups"), manifest.get("groups")
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
