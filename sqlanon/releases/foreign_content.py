"""Find what lies in a release and does not belong to it: everything that its manifest and form do not name.

In a Parquet file that is columns of other names and types, and metadata beside them. How a file is packed is not
looked at: `adopt` writes anew what comes from elsewhere.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb.connection import connect_beside
from sqlanon.forms import form_of
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.releases.companions.column_types import literal_path, read_columns
from sqlanon.releases.companions.registry import COMPANIONS
from sqlanon.releases.companions.schema_comments import foreign_comments
from sqlanon.releases.targets import MANIFEST

# what Spark says beside the rows: its version, and names and types of the columns, single values or marks
_VERSION = re.compile(r"\d{1,2}(\.\d{1,4}){1,3}(-(preview|amzn-|SNAPSHOT)\d{0,6})?")
_FIELD = r'\{{"name":{},"type":{},"nullable":(true|false),"metadata":\{{\}}\}}'
_TYPE = r'"[a-z]+(_ntz)?(\(\d{1,2},\d{1,2}\))?"'
_PARTS = ",".join([_FIELD.format('"attribute"', '"string"'), _FIELD.format('"count"', '"integer"')])
_MARKS = (
    r'\{"type":"array","elementType":\{"type":"struct","fields":\[' + _PARTS + r'\]\},"containsNull":(true|false)\}'
)


def foreign_parts(paths: Sequence[Path]) -> dict[str, str]:
    """Return what is wrong with the files of one table, by name: each holds the rows of the same columns alone."""
    faults: dict[str, str] = {}
    first: Mapping[str, str] = {}
    for path in paths:
        try:
            columns, metadata = read_columns(path), _read_metadata(path)
        except duckdb.Error:
            faults[path.name] = "no Parquet file of a table"
            continue
        first = first or columns
        words = [f"the metadata {key[:60]!r}" for key, value in metadata if not _is_known(key, value, columns)]
        if [*columns.items()] != [*first.items()]:
            words.append(f"its columns are not those of {paths[0].name}")
        if words:
            faults[path.name] = "; ".join(words)
    return faults


def _read_metadata(path: Path) -> list[tuple[str, str]]:
    with closing(connect_beside()) as connection:
        rows = connection.execute(f"select key, value from parquet_kv_metadata({literal_path(path)})").fetchall()
    return [(key.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for key, value in rows]


def _is_known(key: str, value: str, columns: Mapping[str, str]) -> bool:
    """Tell whether metadata is what Spark writes, and says no more than the columns do."""
    if key == "org.apache.spark.version":
        return bool(_VERSION.fullmatch(value))
    names = [re.escape(json.dumps(name, ensure_ascii=False)) for name in columns]
    fields = ",".join(_FIELD.format(name, f"({_TYPE}|{_MARKS})") for name in names)
    is_row = key == "org.apache.spark.sql.parquet.row.metadata"
    return is_row and bool(re.fullmatch(rf'\{{"type":"struct","fields":\[{fields}\]\}}', value))


_DESCRIBED = {"rows", "bytes", "sha256"}


def foreign_files(directory: Path, manifest: Manifest) -> dict[str, Any]:
    """Return by name what a directory holds beside the release, and what its files hold beside their tables.

    The files that the manifest names are there, with the sha256 that it says.
    """
    files = manifest["files"]
    tables = [table_files(files, table) for table in form_of(manifest).table_names(manifest)]
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
    tables = (*form_of(manifest).table_names(manifest), "manifest")
    expected = {("table", name) for name in tables}
    entries = set(engine.contents(schema) or ()) - expected
    names = set(manifest["files"]) - set(tables)
    faults = {f"{kind} {name}": "not in the manifest" for kind, name in sorted(entries)}
    faults |= {f"table {name}": "no table of the release" for name in sorted(names)}
    described = {name: set(entry) - {"rows"} for name, entry in manifest["files"].items()}
    faults |= {name: f"described by {', '.join(sorted(keys))}" for name, keys in described.items() if keys}
    return faults | foreign_comments(manifest, engine.comments(schema))
