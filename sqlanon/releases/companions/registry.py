"""The texts that lie in a release beside its tables, made from it alone.

README.md describes the release in words, from its manifest and the types of its tables, for whoever receives it.
"""

import shlex
from pathlib import Path

from sqlanon.forms import form_of
from sqlanon.plain_values import visible
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.plans.templates import ident
from sqlanon.prose import code, write
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.companions.column_types import TableTypes, read_types
from sqlanon.wording import spoken

_TITLES = {
    "promised": "Promised",
    "against": "Against whom",
    "not promised": "Not promised",
    "published": "What it holds",
    "method": "How it was made",
    "dropped rows": "Rows left out",
    "uncertain": "Uncertain",
    "suppressed": "Suppressed",
}


COMPANIONS = ("README.md", "estimate.sql")


def write_readme(manifest: Manifest, types: TableTypes, expected: str = "") -> str:
    """Return what a release says of itself, in Markdown; expected: what an attack is expected to reach."""
    form = form_of(manifest)
    lines = form.summary(manifest, "this directory")
    sensitive = ident(manifest["columns"]["sensitive"][0])
    values = {
        "expected": expected,
        "version": manifest["sqlanon"],
        "lines": [(title, spoken(lines[name], "recipient")) for name, title in _TITLES.items() if name in lines],
        "columns": list(describe_columns(manifest, types, code)),
        "query": shlex.quote(f"SELECT {sensitive}, COUNT(*) FROM release GROUP BY {sensitive}"),
        "warning": f"{form.warning}.j2",
        **form.warning_values(manifest),
    }
    return visible(spoken(write("releases/companions/readme.md", values), "recipient"))


def write_companions(directory: Path, manifest: Manifest, expected: str = "") -> dict[str, str]:
    """Return by name the texts of the release whose table files lie in `directory`; expected: as for its README.md."""
    tables = form_of(manifest).table_names(manifest)
    # every part of a table has the same columns
    firsts = {table: table_files(manifest["files"], table)[0] for table in tables}
    types = {table: read_types(directory / name) for table, name in firsts.items()}
    readme, script = write_readme(manifest, types, expected), form_of(manifest).write_script(manifest)
    texts = zip(COMPANIONS, (readme, script), strict=True)
    return {name: text for name, text in texts if text is not None}
