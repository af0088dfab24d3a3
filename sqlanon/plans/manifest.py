"""release.json: what a release says of itself. It never holds a key, a path, or anything of identifiers."""

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import sqlanon.version
from sqlanon.bounded_files import parse_json
from sqlanon.errors import ReleaseError, raised_as
from sqlanon.plans.plan import Publication
from sqlanon.plans.templates import Sql

FORMAT = 2  # 2: draws under a given key are of the key and of the rows
Manifest = dict[str, Any]
_REQUIRED = {
    "format": int,
    "method": str,
    "parameters": dict,
    "columns": dict,
    "rows": int,
    "dropped_rows": int,
    "files": dict,
}


def new_manifest(
    method: str, publication: Publication, engine: str, files: Mapping[str, Any], dropped_rows: int
) -> Manifest:
    """Write down what is promised; `groups`, `rows` and `verified` follow from verification."""
    return {
        "format": FORMAT,
        "method": method,
        "parameters": dict(publication.parameters),
        "columns": dict(publication.columns),
        "rows": 0,
        "groups": 0,
        "dropped_rows": dropped_rows,
        "guarantee": dict(publication.guarantee),
        "verified": {},
        "files": dict(files),
        "engine": engine,
        "sqlanon": sqlanon.version.VERSION,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds"),
    }


def follows(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a release follows others under one ledger: members of its groups may have departed."""
    return int(manifest.get("parameters", {}).get("release", 1)) > 1


def of_people(manifest: Mapping[str, Any]) -> bool:
    """Tell whether people of a release have several values each: a row of QIT is a person, one of ST a value."""
    return bool(manifest.get("parameters", {}).get("unit") == "person")


def signature_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return the quasi columns that any background reads, in the columns' order: rows that agree on them are of one
    class.
    """
    read = {name for background in manifest.get("parameters", {}).get("backgrounds", ()) for name in background}
    return [column for column in manifest["columns"]["quasi"] if column in read]


def alike_in(manifest: Mapping[str, Any]) -> list[str]:
    """Return the quasi columns in which the people of every group are alike: those of the signature.

    None where classes were joined whose distributions are alike: their people may differ in it.
    """
    return [] if manifest["parameters"].get("classes") == "distributions" else signature_of(manifest)


def departed(manifest: Mapping[str, Any]) -> int:
    """Return how many persons a release of randomized values does not show whom others of its ledger have shown."""
    return int(manifest.get("parameters", {}).get("departed", 0))


def manifest_text(manifest: Manifest) -> str:
    """Return the manifest as text, keys in their order."""
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_manifest(text: str, where: str) -> Manifest:
    """Read a manifest; raise ReleaseError for what is none, or for one of a later format.

    where: what the errors call the place it was found in. Every value of it is a stranger's.
    """
    with raised_as(ReleaseError, f"the manifest of {where} is not JSON as manifests are written", ValueError):
        manifest = parse_json(text)
        json.dumps(manifest, ensure_ascii=False).encode()  # half a letter is the name of nothing
    if not isinstance(manifest, dict):
        raise ReleaseError(f"the manifest of {where} is not an object")
    for key, python_type in _REQUIRED.items():
        if not isinstance(manifest.get(key), python_type) or isinstance(manifest[key], bool):
            raise ReleaseError(f"the manifest of {where} has no {key}")  # true and false are int in Python
        # told before the rest is looked at, which a later format may have in another way
        if key == "format" and manifest[key] > FORMAT:
            raise ReleaseError(
                f"{where} has format {manifest[key]}, and this sqlanon {sqlanon.version.VERSION} reads format {FORMAT}:"
                f" install {maker(manifest)}"
            )
    _check_columns(manifest["columns"], where)
    return manifest


def maker(manifest: Mapping[str, Any]) -> str:
    """Return what to install for a release that this version does not understand: what made it, if it says so."""
    version = manifest.get("sqlanon")
    if isinstance(version, str) and re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}", version):
        return f"sqlanon {version}, which made it, or a newer one"
    return "a newer sqlanon"


def _check_columns(columns: Manifest, where: str) -> None:
    """Refuse a manifest whose columns are not names: every one of them will stand in SQL."""
    # one column of sensitive values keeps its source's name, several are numbered
    values = [columns["values"]] if columns.get("values", columns.get("sensitive")) != columns.get("sensitive") else []
    lists = [columns.get("quasi"), columns.get("sensitive"), *values]
    added = [name for role, name in columns.items() if role not in ("quasi", "sensitive", "values")]
    names = [name for listed in lists for name in (listed if isinstance(listed, list) else [None])] + added
    if not all(lists) or not all(isinstance(name, str) and name and "\0" not in name for name in names):
        raise ReleaseError(f"the manifest of {where} does not name its columns")
    # DuckDB takes names that differ in case for one
    if len({str(name).lower() for name in names}) < len(names):
        raise ReleaseError(f"the manifest of {where} names a column twice")


def table_files(files: Iterable[str], table: str) -> list[str]:
    """Return the files of a release that hold one of its tables, in the order of their names."""
    return sorted(name for name in files if re.fullmatch(rf"{re.escape(table)}(-\d+)?\.parquet", name))


def sensitive_tables(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return by sensitive column the table that holds its values: st, st_2, st_3 …, or data, data_2 …"""
    name = "st" if "group" in manifest["columns"] else "data"
    columns = manifest["columns"]["sensitive"]
    return {column: name if number == 1 else f"{name}_{number}" for number, column in enumerate(columns, start=1)}


def one_column(
    tables: Mapping[str, Sql], manifest: Mapping[str, Any], column: str
) -> tuple[dict[str, Sql], dict[str, Any]]:
    """Return what a release is for whoever looks at one of its sensitive columns: a QIT and an ST, or boxes.

    Which other columns there are stands beside the roles: rows may be left out for want of their values.
    """
    table_names = sensitive_tables(manifest)
    first, others = next(iter(table_names.values())), [name for name in table_names if name != column]
    shared_tables = {name: relation for name, relation in tables.items() if name not in table_names.values()}
    columns = {**manifest["columns"], "sensitive": [column], "beside": others}
    return {**shared_tables, first: tables[table_names[column]]}, {**manifest, "columns": columns}


def value_lists(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables that list the values of randomized columns, each with its column; none where these are not."""
    listed = manifest.get("parameters", {}).get("values") == "list"
    columns = manifest["columns"]["sensitive"] if listed else ()
    return {f"values_{number}": column for number, column in enumerate(columns, start=1)}
