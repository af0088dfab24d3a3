"""Write releases of uncertain data by hand: the paper's Table 8 (run as a module), and small ones for tests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import ident, literal
from sqlanon.releases.targets import file_sha256
from tests.databases import connect, insert

ALTERNATIVES = "struct(attribute varchar, count integer)[]"
EDUCATION = [
    ["University", "Education"],
    ["School", "Education"],
    ["Bachelor", "University"],
    ["Master", "University"],
    ["Ph.D", "University"],
    ["Primary School", "School"],
    ["Second School", "School"],
]
WEIGHTS = {
    **{"flu": 0.11, "insomnia": 0.13, "lung cancer": 0.91},
    **{"mammary cancer": 0.92, "obesity": 0.12, "short breath": 0.31},
}
STAR = ("*", "*", "*")
TABLE_8 = {
    "quasi": {"education": "VARCHAR", "age": "BIGINT", "sex": "VARCHAR"},
    "people": [
        ("t1", {"education": 2}, ("University", 25, "M"), 1),
        ("t2", {}, ("Bachelor", 21, "M"), 1),
        ("t3", {}, STAR, 2),
        ("t4", {"education": 2, "age": 2}, ("University", 48, "M"), 3),
        ("t5", {}, ("Master", 45, "M"), 3),
        ("t6", {}, STAR, 2),
    ],
    "lines": [
        (1, ("insomnia",), 1),
        (1, ("obesity", "flu"), 1),
        (2, ("mammary cancer",), 2),
        (3, ("lung cancer",), 1),
        (3, ("short breath", "obesity"), 1),
    ],
    "weights": WEIGHTS,
    "hierarchies": {"education": EDUCATION},
    "label": "num",
}


def write_release(
    folder: Path,
    quasi: Mapping[str, str],
    people: Sequence[tuple[str, Mapping[str, int], tuple[Any, ...], int]],
    lines: Sequence[tuple[int, tuple[Any, ...], int]],
    weights: Mapping[Any, float],
    hierarchies: Mapping[str, list[list[str]]],
    label: str | None = None,
    sensitive: str = "disease",
    sensitive_type: str = "VARCHAR",
    **parameters: Any,
) -> Path:
    """Write qit.parquet, st.parquet and release.json as a publication does, sorted; return the folder.

    quasi: column → type of its values. people: label, alternatives of uncertain cells, published values, group.
    lines: group, sensitive alternatives, count.
    """
    con = connect()
    folder.mkdir(parents=True, exist_ok=True)
    starred = any(values == ("*",) * len(quasi) for _, _, values, _ in people)
    shown = {name: "VARCHAR" if starred or name in hierarchies else kind for name, kind in quasi.items()}
    names = list(quasi)
    taken = [*names, sensitive, *([label] if label else [])]
    qiid, alternatives, group, count = (
        free_name(name, taken) for name in ("qiid", "alternatives", "group_id", "count")
    )
    qit = [(label, "VARCHAR")] if label else []
    qit += [(qiid, "VARCHAR"), (alternatives, ALTERNATIVES), *shown.items(), (group, "BIGINT")]
    rows = []
    for person, counts, values, of in people:
        marked = [(names.index(name) + 2, name, counts[name]) for name in names if name in counts]
        code = "".join(f"{field}{number}" for field, _, number in marked) or "0"
        listed = [{"attribute": name, "count": number} for _, name, number in marked]
        rows.append([*([person] if label else []), code, listed, *values, of])
    _table(con, folder, "qit", qit, rows, [name for name, _ in qit if name != alternatives])
    widest = max(len(values) for _, values, _ in lines)
    disease = [f"{sensitive}{place}" for place in range(1, widest + 1)]
    st = [(group, "BIGINT"), *((name, sensitive_type) for name in disease), (count, "BIGINT")]
    padded = [[of, *values, *[None] * (widest - len(values)), number] for of, values, number in lines]
    _table(con, folder, "st", st, padded, [name for name, _ in st])
    held = {value if value is None else str(value) for _, values, _ in lines for value in values}
    asked = {"k": 2, "l": 2, "threshold": 0.3, "undiverse": "suppress"} | parameters
    manifest = {
        "format": 1,
        "method": "uncertain",
        "parameters": {
            **asked,
            **{"refine": 0, "max_alternatives": 16, "order_alternatives": "given"},
            # of values that occur, as a publication says them
            "weights": [{"value": value, "weight": weight} for value, weight in weights.items() if value in held],
            **{"hierarchies": dict(hierarchies), "types": dict(quasi), "draws": "keyed"},
        },
        "columns": {
            **({"label": label} if label else {}),
            **{"quasi": names, "sensitive": [sensitive], "qiid": qiid, "alternatives": alternatives},
            **{"group": group, "values": disease, "count": count},
        },
        **{"rows": len(people), "groups": len({group for *_, group in people}), "dropped_rows": 0},
        "guarantee": {name: asked[name] for name in ("k", "l", "threshold")},
        "verified": {},
        "files": {name: _described(folder / name, count) for name, count in (
            ("qit.parquet", len(rows)), ("st.parquet", len(padded)),
        )},
        **{"engine": "by hand", "sqlanon": "none", "created": "2012-09-26T00:00:00+00:00"},
    }  # fmt: skip
    (folder / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return folder


def _table(con, folder, name, columns, rows, order):
    declared = ", ".join(f"{ident(column)} {kind}" for column, kind in columns)
    con.execute(f"create table {name} ({declared})").fetchall()
    insert(con, name, rows)
    keys = ", ".join(f"{ident(column)} asc nulls last" for column in order)
    target = literal(str(folder / f"{name}.parquet"))
    con.execute(
        f"copy (select * from {name} order by {keys}) to {target} (format parquet, compression zstd)"
    ).fetchall()


def _described(path, rows):
    return {"rows": rows, "bytes": path.stat().st_size, "sha256": file_sha256(path)}


if __name__ == "__main__":
    from tests.conftest import PAPERS

    write_release(PAPERS / "uncertain" / "release", **TABLE_8)
    source = str(PAPERS / "uncertain" / "table_6.parquet")
    duckdb.sql(
        "select * from (values ('t1', ['Bachelor', 'Master'], [25], 'M', ['insomnia']),"
        " ('t2', ['Bachelor'], [21], 'M', ['obesity', 'flu']), ('t3', ['Ph.D'], [35], 'F', ['mammary cancer']),"
        " ('t4', ['Master', 'Ph.D'], [41, 48], 'M', ['short breath', 'obesity']),"
        " ('t5', ['Master'], [45], 'M', ['lung cancer']), ('t6', ['Ph.D'], [36], 'F', ['mammary cancer']))"
        " as table_6(num, education, age, sex, disease)"
    ).write_parquet(source)
