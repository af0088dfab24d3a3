"""Write releases of generalized rows by hand: the Anatomy slides' table, and small ones for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlanon.plans.manifest import manifest_text
from sqlanon.plans.templates import ident, literal
from sqlanon.releases.targets import file_sha256
from tests.databases import connect, insert

YOUNG, OLD = (21, 60, '["M"]', 10001, 60000), (61, 70, '["F"]', 10001, 60000)
SLIDES = {
    "published": {
        "age": {"type": "INTEGER", "nulls": False, "low": "age_low", "high": "age_high"},
        "sex": {"type": "VARCHAR", "nulls": False, "set": "sex"},
        "zipcode": {"type": "INTEGER", "nulls": False, "low": "zipcode_low", "high": "zipcode_high"},
    },
    "rows": [
        *((*YOUNG, disease) for disease in ("dyspepsia", "dyspepsia", "pneumonia", "pneumonia")),
        *((*OLD, disease) for disease in ("bronchitis", "flu", "flu", "gastritis")),
    ],
}


def write_release(
    folder: Path,
    published: Mapping[str, Mapping[str, Any]],
    rows: Sequence[tuple[Any, ...]],
    k: int = 2,
    l: int = 1,
    hierarchies: Mapping[str, list[list[str]]] | None = None,
    sensitive: str = "disease",
) -> Path:
    """Write boxes and sensitive values, in the order given, as a release; return its folder."""
    folder.mkdir()
    columns = []
    for said in published.values():
        kinds = {"low": said["type"], "high": said["type"], "unknown": "BOOLEAN"}
        columns += [(name, kinds.get(part, "VARCHAR")) for part, name in said.items() if part not in ("type", "nulls")]
    columns.append((sensitive, "VARCHAR"))
    listed = ", ".join(f"{ident(name)} {kind}" for name, kind in columns)
    con = connect()
    con.execute(f"create table data ({listed})").fetchall()
    insert(con, "data", [list(row) for row in rows])
    con.execute(f"copy data to {literal(str(folder / 'data.parquet'))} (format parquet, compression zstd)").fetchall()
    con.close()
    boxes = len({row[:-1] for row in rows})
    entry = {
        "rows": len(rows),
        "bytes": (folder / "data.parquet").stat().st_size,
        "sha256": file_sha256(folder / "data.parquet"),
    }
    manifest = {
        "format": 1,
        "method": "mondrian",
        "parameters": {"k": k, "l": l, "partition": "strict", "published": published, "hierarchies": hierarchies or {}},
        "columns": {"quasi": list(published), "sensitive": [sensitive]},
        "rows": len(rows),
        "groups": boxes,
        "dropped_rows": 0,
        "guarantee": {"k": k, "l": l},
        "verified": {},
        "files": {"data.parquet": entry},
        "engine": "by hand",
        "sqlanon": "0.1.0",
        "created": "2026-01-01T00:00:00+00:00",
    }
    (folder / "release.json").write_text(manifest_text(manifest))
    return folder
