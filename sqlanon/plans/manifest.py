"""release.json: what a release says of itself. It never holds a key, a path, or anything of identifiers."""

import datetime
import json
from collections.abc import Mapping
from typing import Any

import sqlanon.version
from sqlanon.errors import ReleaseError
from sqlanon.plans.plan import Publication

FORMAT = 1
MOST_ROWS = 2**62  # sums of two counts stay within a bigint
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
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


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


def _check_columns(columns: Manifest, where: str) -> None:
    """Refuse a manifest whose columns are not names: every one of them will stand in SQL."""
    lists = [columns.get("quasi"), columns.get("sensitive"), *([columns["values"]] if "values" in columns else [])]
    added = [name for role, name in columns.items() if role not in ("quasi", "sensitive", "values")]
    names = [name for listed in lists for name in (listed if isinstance(listed, list) else [None])] + added
    if not all(lists) or not all(isinstance(name, str) and name and "\0" not in name for name in names):
        raise ReleaseError(f"the manifest of {where} does not name its columns")
    # DuckDB takes names that differ in case for one
    if len({str(name).lower() for name in names}) < len(names):
        raise ReleaseError(f"the manifest of {where} names a column twice")
