"""Find what stands in a release and is not of it: a release is what its manifest names and its form allows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.forms import form_of
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.releases.companions.registry import COMPANIONS
from sqlanon.releases.companions.schema_comments import foreign_comments
from sqlanon.releases.parquet.foreign_parts import foreign_parts
from sqlanon.releases.targets import MANIFEST

_DESCRIBED = {"rows", "bytes", "sha256"}


def foreign_files(directory: Path, manifest: Manifest) -> dict[str, Any]:
    """Return by name what a directory holds beside the release, and what its files hold beside their tables.

    The files that the manifest names are there, with the sha256 that it says.
    """
    files = manifest["files"]
    tables = [table_files(files, table) for table in form_of(manifest).verification.TABLES]
    ours = {name for listed in tables for name in listed}
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
    for listed in tables:
        faults |= foreign_parts([directory / name for name in listed]) | _foreign_numbers(listed)
    # what the texts beside the tables say is compared when the manifest, which they repeat, is proved
    return faults | {name: "no table of the release" for name in files if name not in (*ours, *COMPANIONS)}


def _foreign_numbers(names: Sequence[str]) -> dict[str, str]:
    """Return the files of a table that are not numbered from 0 on, all with as many digits: a number tells nothing."""
    if len(names) == 1 and "-" not in names[0]:
        return {}
    digits = [name.removesuffix(".parquet").rpartition("-")[2] for name in names]
    usual = [f"{number:0{max(5, len(str(len(names))))}d}" for number in range(len(names))]
    return {
        name: f"not the part {part_number}"
        for name, digit, part_number in zip(names, digits, usual, strict=True)
        if digit != part_number
    }


def foreign_entries(engine: Engine, schema: str, manifest: Manifest) -> dict[str, str]:
    """Return what a schema holds beside the release's tables: by kind and name, `not in the manifest`."""
    tables = (*form_of(manifest).verification.TABLES, "manifest")
    expected = {("table", name) for name in tables}
    entries = set(engine.contents(schema) or ()) - expected
    names = set(manifest["files"]) - set(tables)
    faults = {f"{kind} {name}": "not in the manifest" for kind, name in sorted(entries)}
    faults |= {f"table {name}": "no table of the release" for name in sorted(names)}
    described = {name: set(entry) - {"rows"} for name, entry in manifest["files"].items()}
    faults |= {name: f"described by {', '.join(sorted(keys))}" for name, keys in described.items() if keys}
    return faults | foreign_comments(manifest, engine.comments(schema))
