"""release.json: what a release says of itself. It never holds a key, a path, or anything of identifiers."""

import datetime
import json
import re
from collections.abc import Collection, Mapping
from typing import Any

import sqlanon.version
from sqlanon.errors import ReleaseError
from sqlanon.plans.plan import Publication

FORMAT = 1
MOST_ROWS = 2**62  # sums of two counts stay within a bigint
Manifest = dict[str, Any]
# what only a publisher could find, by comparing with the source
_OF_THE_SOURCE = ("quasi_rows", "quasi_values", "sensitive_counts", "retention", "published_counts")
_COMPARED = {
    "format",
    "method",
    "parameters",
    "columns",
    "rows",
    "groups",
    "dropped_rows",
    "guarantee",
    "verified",
    "files",
}
_ROLES = ("quasi", "sensitive", "group", "count", "label", "qiid", "alternatives", "values")
_TEXTS = {
    "engine": r"(duckdb|spark|postgres) [\w.+-]{1,40}|by hand",
    "sqlanon": r"[\w.+-]{1,40}",
    "created": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00",
}
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
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError):
        raise ReleaseError(f"the manifest of {where} is not JSON") from None
    if not isinstance(manifest, dict):
        raise ReleaseError(f"the manifest of {where} is not an object")
    for key, kind in _REQUIRED.items():
        if not isinstance(manifest.get(key), kind) or isinstance(manifest[key], bool):
            raise ReleaseError(f"the manifest of {where} has no {key}")  # true and false are int in Python
    _check_columns(manifest["columns"], where)
    if manifest["format"] < 1 or not all(0 <= manifest[name] < MOST_ROWS for name in ("rows", "dropped_rows")):
        raise ReleaseError(f"the manifest of {where} counts what no table holds")
    if not all(isinstance(entry, dict) for entry in manifest["files"].values()):
        raise ReleaseError(f"the manifest of {where} does not describe its files")
    if manifest["format"] > FORMAT:
        raise ReleaseError(
            f"{where} has format {manifest['format']}; this sqlanon reads format {FORMAT}: install a newer one"
        )
    return manifest


def foreign_texts(manifest: Manifest, found: Collection[str]) -> list[str]:
    """Return the names in a manifest whose values are not what a release says there: they could hold anything.

    found: what was compared with the tables already, `verified diversity` among it.
    """
    wrong = [name for name in manifest if name not in _TEXTS and name not in _COMPARED]
    wrong += [f"columns {role}" for role in manifest["columns"] if role not in _ROLES]
    wrong += [name for name, kind in _TEXTS.items() if not re.fullmatch(kind, str(manifest.get(name, "")))]
    verified = manifest.get("verified", {})
    if not isinstance(verified, dict):
        return [*wrong, "verified"]
    for name, value in verified.items():
        if f"verified {name}" not in found and not (name in _OF_THE_SOURCE and _is_count(value)):
            wrong.append(f"verified {name}")
    return wrong


def _is_count(value: object) -> bool:
    """Tell whether this is what a comparison with the source finds: numbers of rows, or that it holds."""
    if isinstance(value, dict):
        return set(value) == {"added_rows", "missing_rows"} and all(type(count) is int for count in value.values())
    return value in ("holds", "not run")


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
